#include "check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "weir/error.h"

/* What a test learns of storing is for nobody, and no test depends on what another has learned. */
__attribute__((constructor)) static void keep_no_costs(void)
{
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
}

enum { MAX_FACTORS = 16, CANDIDATES = 32 };

static _Thread_local int64_t current_case = -1;
static uint64_t current_seed;

static void stop(void)
{
    const weir_error *e = weir_error_last();
    if (e->code)
        fprintf(stderr, "  the last error: %s: %s: %s\n", e->file, e->text,
                e->errnum ? strerror(e->errnum) : "no system's");
    if (current_case >= 0)
        fprintf(stderr, "  in case %lld of seed %llu\n", (long long)current_case,
                (unsigned long long)current_seed);
    exit(1);
}

void check_case(int64_t number)
{
    current_case = number;
}

static void too_late(int signal_number)
{
    static const char text[] = "nothing came to an end in time\n";
    (void)signal_number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

void check_within(unsigned seconds)
{
    signal(SIGALRM, too_late);
    alarm(seconds);
}

void check_that(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
    stop();
}

void check_equal(int64_t got, int64_t wanted, const char *what, const char *file, int line)
{
    if (got == wanted)
        return;
    fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, what, (long long)got,
            (long long)wanted);
    stop();
}

void check_fails(int got, int code, const char *text, const char *what, const char *file, int line)
{
    const weir_error *e = weir_error_last();
    if (got == code && e->code == code && strstr(e->text, text))
        return;
    fprintf(stderr, "%s:%d: %s returned %d with \"%s\", not %d with \"%s\"\n", file, line, what,
            got, e->text, code, text);
    stop();
}

/* splitmix64 */
uint64_t rng_next(rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t rng_within(rng *r, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(rng_next(r) % ((uint64_t)(hi - lo) + 1));
}

bool rng_chance(rng *r, int percent)
{
    return rng_within(r, 0, 99) < percent;
}

uint64_t test_seed(void)
{
    const char *given = getenv("WEIR_TEST_SEED");
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t seed = ((uint64_t)t.tv_sec << 20 ^ (uint64_t)t.tv_nsec) % 1000000000;
    current_seed = given ? strtoull(given, NULL, 10) : seed;
    printf("WEIR_TEST_SEED=%llu\n", (unsigned long long)current_seed);
    fflush(stdout);
    return current_seed;
}

bool test_long(void)
{
    return getenv("WEIR_TEST_LONG") != NULL;
}

bool test_weak(void)
{
    return getenv("WEIR_TEST_WEAK") != NULL;
}

int64_t test_cases(int64_t sample, int64_t all)
{
    const char *given = getenv("WEIR_TEST_CASES"), *share = getenv("WEIR_TEST_SHARE");
    if (given)
        return strtoll(given, NULL, 10);
    if (test_long())
        return all;
    return share ? sample / strtoll(share, NULL, 10) + 1 : sample;
}

/* Which pairs (choice of factor i, choice of factor j) have met. */
typedef struct pairs {
    int factors, choices, left;
    const int *levels;
    int first[MAX_FACTORS]; /* number of a factor's first choice */
    unsigned char *met;
} pairs;

static unsigned char *pair_at(const pairs *p, const int *choice, int i, int j)
{
    return &p->met[(p->first[i] + choice[i]) * p->choices + p->first[j] + choice[j]];
}

static int count_new(const pairs *p, const int *choice)
{
    int new = 0;
    for (int i = 0; i < p->factors; i++)
        for (int j = i + 1; j < p->factors; j++)
            new += !*pair_at(p, choice, i, j);
    return new;
}

static void mark_met(pairs *p, const int *choice)
{
    for (int i = 0; i < p->factors; i++)
        for (int j = i + 1; j < p->factors; j++) {
            p->left -= !*pair_at(p, choice, i, j);
            *pair_at(p, choice, i, j) = 1;
        }
}

/* A random combination that contains some pair that has not met yet. */
static void candidate(const pairs *p, rng *r, int *choice)
{
    for (int i = 0; i < p->factors; i++)
        choice[i] = (int)rng_within(r, 0, p->levels[i] - 1);
    int start = (int)rng_within(r, 0, p->factors * p->factors - 1);
    for (int k = 0; k < p->factors * p->factors; k++) {
        int i = (start + k) % p->factors, j = (start + k) / p->factors % p->factors;
        for (int c = 0; i < j && c < p->levels[i] * p->levels[j]; c++) {
            int saved[] = {choice[i], choice[j]};
            choice[i] = c % p->levels[i];
            choice[j] = c / p->levels[i];
            if (!*pair_at(p, choice, i, j))
                return;
            choice[i] = saved[0];
            choice[j] = saved[1];
        }
    }
}

static void visit_all(int factors, const int *levels, void (*visit)(void *, const int *),
                      void *user)
{
    int choice[MAX_FACTORS] = {0};
    for (int i = 0; i < factors;) {
        visit(user, choice);
        for (i = 0; i < factors && ++choice[i] == levels[i]; i++)
            choice[i] = 0;
    }
}

void test_pairwise(rng *r, int factors, const int *levels,
                   void (*visit)(void *user, const int *choice), void *user)
{
    if (test_long()) {
        visit_all(factors, levels, visit, user);
        return;
    }
    pairs p = {.factors = factors, .levels = levels};
    for (int i = 0; i < factors; i++) {
        p.first[i] = p.choices;
        p.choices += levels[i];
        for (int j = i + 1; j < factors; j++)
            p.left += levels[i] * levels[j];
    }
    p.met = calloc((size_t)(p.choices * p.choices), 1);
    CHECK(p.met);
    while (p.left > 0) {
        int best[MAX_FACTORS], best_new = -1;
        for (int k = 0; k < CANDIDATES; k++) {
            int choice[MAX_FACTORS];
            candidate(&p, r, choice);
            int new = count_new(&p, choice);
            if (new > best_new) {
                best_new = new;
                memcpy(best, choice, sizeof best);
            }
        }
        mark_met(&p, best);
        visit(user, best);
    }
    free(p.met);
}

/* liburing maps rings by system calls of its own, so the thread sanitizer takes a new ring at an
 * old one's address for the same memory. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:io_uring_\n";
}
