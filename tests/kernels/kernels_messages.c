/* Messages that go wrong in the middle of operators, with ranks as threads: whichever it is of one
 * rank, and at whichever end, all ranks return the same error in time, and the operator works when
 * it is tried again. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "array/array.h"
#include "check.h"
#include "transport/bad_messages.h"
#include "transport/local.h"
#include "weir/kernels.h"

enum { RANKS = 3, SIDE = 40, ARRAYS = 3, ITERATIONS = 2 };

enum deed { GAXPY, RELAX, DEEDS };

typedef double matrix[SIDE][SIDE];

typedef struct scene {
    enum deed deed;
    int direct, victim;
    int64_t memory;
    enum bad_kind kind;
    bool gone_wrong; /* a message, at last */
    char path[ARRAYS][100];
    wr_tunables tunables;
    int64_t failed[DEEDS];
    matrix from, result;
} scene;

/* --- what must come of it --- */

static void multiply(const scene *s, matrix out)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            out[i][j] = 0;
            for (int k = 0; k < SIDE; k++)
                out[i][j] += s->from[i][k] * s->from[k][j];
        }
}

static void relax(const matrix in, matrix out)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            const bool inner = i > 0 && i < SIDE - 1 && j > 0 && j < SIDE - 1;
            out[i][j] =
                inner ? (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]) / 4 : in[i][j];
        }
}

static void compute(scene *s)
{
    matrix between;
    for (int i = 0; i < SIDE * SIDE; i++)
        s->from[i / SIDE][i % SIDE] = i * 7 % 11;
    if (s->deed == GAXPY) {
        multiply(s, s->result);
    } else {
        relax(s->from, between);
        relax(between, s->result);
    }
}

/* --- one rank --- */

static void make(const scene *s, wr_world *w, weir_array **x)
{
    const weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {SIDE, SIDE}};
    for (int i = 0; i < ARRAYS; i++)
        CHECK(!wr_array_create(w, s->path[i], &info, NULL, "", &x[i]));
    const weir_selection all = {0};
    for (int i = 0; i < ARRAYS - 1; i++)
        CHECK(!weir_array_write_all(x[i], w->transport->rank ? NULL : &all, NULL, s->from, NULL));
}

/* The result is always in the last of them. */
static int act(const scene *s, weir_array **x)
{
    int last;
    weir_relaxation r = {.iterations = ITERATIONS, .exchange = 1};
    const weir_work work = {.memory = s->memory, .direct = s->direct};
    return s->deed == GAXPY ? weir_array_multiply(x[0], x[1], x[2], WEIR_GAXPY, &work)
                            : weir_array_relax(x[0], x + 1, &r, &work, &last);
}

/* [collective] That of the next channel to be opened. */
static int next_tag(wr_world *w)
{
    wr_channel c = {0};
    CHECK(!wr_channel_open(w, &c));
    const int tag = c.tag;
    wr_channel_close(&c);
    return tag;
}

static void check_result(const scene *s, weir_array *a)
{
    matrix found;
    CHECK(!weir_array_read(a, &(weir_selection){0}, NULL, found, NULL));
    for (int i = 0; i < SIDE * SIDE; i++)
        CHECK(found[i / SIDE][i % SIDE] == s->result[i / SIDE][i % SIDE]);
}

/* [collective] One message goes wrong, if there is one with that number; returns whether. */
static bool try_one(scene *s, wr_world *w, weir_array **x, bad_messages *bad, int64_t k)
{
    wr_transport *t = w->transport;
    const int tag = next_tag(w);
    if (t->rank == s->victim)
        bad_messages_set(bad, tag, s->kind, k);
    const int code = act(s, x);
    CHECK(!code || weir_error_last()->code == code);
    if (t->rank == s->victim)
        s->gone_wrong = bad->gone_wrong;
    bad_messages_set(bad, -1, s->kind, 0);
    CHECK(!wr_agree(t, 0, 0));
    const bool wrong = s->gone_wrong;
    CHECK_EQUAL(code, wrong ? WEIR_ETRANSPORT : 0);
    if (wrong)
        CHECK(!act(s, x));
    CHECK(!wr_agree(t, 0, 0));
    check_result(s, x[ARRAYS - 1]);
    return wrong;
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    weir_array *x[ARRAYS];
    bad_messages bad;
    wr_world *w;
    int64_t k = 0;
    bad_messages_wrap(&bad, t);
    CHECK(!wr_world_open(t, &s->tunables, &w));
    make(s, w, x);
    while (try_one(s, w, x, &bad, k))
        k++;
    if (t->rank == 0)
        s->failed[s->deed] += k;
    CHECK(!wr_agree(t, 0, 0));
    for (int i = 0; i < ARRAYS; i++)
        CHECK(!weir_array_discard(x[i]));
    wr_world_release(w);
    bad_messages_unwrap(&bad, t);
}

/* --- all of them --- */

static void check_one(void *user, const int *choice)
{
    static const int64_t memory[] = {18 << 10, 64 << 10};
    scene *s = user;
    s->deed = (enum deed)choice[0];
    s->direct = choice[1];
    s->victim = choice[2];
    s->kind = (enum bad_kind)choice[3];
    s->memory = memory[choice[4]];
    compute(s);
    check_within(60);
    CHECK(!wr_local_run(RANKS, &s->tunables, rank_body, s));
}

int main(void)
{
    rng r = {test_seed()};
    int levels[] = {DEEDS, 2, RANKS, BAD_KINDS, 2};
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    for (int i = 0; i < ARRAYS; i++)
        snprintf(s->path[i], sizeof s->path[i], "kernels-messages-%d-%d", (int)getpid(), i);
    wr_tunables_init(&s->tunables);
    test_pairwise(&r, 5, levels, check_one, s);
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "failed: %lld products, %lld relaxations\n", (long long)s->failed[GAXPY],
                (long long)s->failed[RELAX]);
    CHECK(s->failed[GAXPY] > 10 && s->failed[RELAX] > 20);
    free(s);
    return 0;
}
