/* What every test program uses: checks that name their line, a seeded random generator, and the two
 * switches of a run (WEIR_TEST_SEED, WEIR_TEST_LONG). A failed check ends the program. */
#ifndef WR_TESTS_CHECK_H
#define WR_TESTS_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(got, wanted) check_equal((got), (wanted), #got, __FILE__, __LINE__)
/* The last error has this code and its text contains `text`. */
#define CHECK_FAILS(call, code, text) check_fails((call), (code), (text), #call, __FILE__, __LINE__)

void check_that(bool holds, const char *what, const char *file, int line);
void check_equal(int64_t got, int64_t wanted, const char *what, const char *file, int line);
void check_fails(int got, int code, const char *text, const char *what, const char *file, int line);

/* Printed with a failure: which of many cases it was. */
void check_case(int64_t number);

/* The program fails unless this is called again within so many seconds, 0 being the last time: what
 * hangs is a failure, too. For the main thread. */
void check_within(unsigned seconds);

/* A generator is its state: any number. */
typedef struct rng {
    uint64_t state;
} rng;

uint64_t rng_next(rng *r);

/* In [lo, hi]. */
int64_t rng_within(rng *r, int64_t lo, int64_t hi);
bool rng_chance(rng *r, int percent);

/* WEIR_TEST_SEED, or a new one at each run; prints it. */
uint64_t test_seed(void);

/* `sample` cases, or one in WEIR_TEST_SHARE, or WEIR_TEST_CASES, or `all` under WEIR_TEST_LONG. */
int64_t test_cases(int64_t sample, int64_t all);
bool test_long(void);

/* Whether a host may not see what another one wrote by itself until both sync: WEIR_TEST_WEAK. Then
 * tests do so, and look at files by opening them through the library. */
bool test_weak(void);

/* Calls `visit` with combinations of levels[i] choices for each of `factors` (at most 16) factors:
 * so many that every two choices of two factors meet at least once, or all of them under
 * WEIR_TEST_LONG. */
void test_pairwise(rng *r, int factors, const int *levels,
                   void (*visit)(void *user, const int *choice), void *user);

#endif
