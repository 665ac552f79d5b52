/* Atomic mode, with ranks as threads. Whoever writes the core, a pattern with gaps, writes all of
 * it with one byte, in one access that reaches further: so whoever reads it sees one byte. Every
 * kind of access is under way at the same time, by one group of ranks or by two, through two
 * handles each. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split_access.h"
#include "storage/storage_support.h"
#include "transport/local.h"

enum { FIRST = 1000, RUN = 9, STRIDE = 50, RUNS = 30, MORE = 8, BYTES = 3000, HANDLES = 2 };
enum { IN_FLIGHT = 3 };

/* --- locks that can fail, or be none at all, to see that the test notices --- */

static _Atomic bool locks_fail;
static bool locks_none;

int __real_wr_fd_lock(wr_storage *s, int kind, int64_t lo, int64_t hi);
int __wrap_wr_fd_lock(wr_storage *s, int kind, int64_t lo, int64_t hi);

int __wrap_wr_fd_lock(wr_storage *s, int kind, int64_t lo, int64_t hi)
{
    if (locks_none)
        return 0;
    if (locks_fail)
        return wr_fail_system(ENOLCK, s->path, lo, "lock");
    return __real_wr_fd_lock(s, kind, lo, hi);
}

/* --- one rank --- */

/* What is written or read: the core, and more below it, or above it, or in its gaps too. */
enum shape { CORE, LOWER, HIGHER, WHOLE, SHAPES };

typedef struct access {
    char data[BYTES];
    enum shape shape;
    enum wr_direction direction;
    weir_pattern *where, *memory;
    weir_request *request;
} access;

typedef struct player {
    wr_transport *t;
    wr_world *world;
    weir_file *file[HANDLES];
    rng own;           /* differs between ranks, */
    rng *common;       /* and does not */
    int64_t stamps[4]; /* bits of the bytes written in this round */
    access flight[IN_FLIGHT];
} player;

static weir_pattern *pattern_of(enum shape shape)
{
    weir_pattern *p;
    int64_t lower = shape == LOWER ? MORE : 0, higher = shape == HIGHER ? MORE : 0;
    int code = shape == WHOLE ? weir_pattern_contiguous(FIRST, (int64_t)RUNS * STRIDE, &p)
                              : weir_pattern_strided(FIRST - lower * STRIDE, RUNS + lower + higher,
                                                     RUN, STRIDE, &p);
    CHECK_EQUAL(code, 0);
    return p;
}

static void prepare(player *p, access *a, enum wr_direction direction)
{
    a->direction = direction;
    a->shape = (enum shape)rng_within(&p->own, 0, SHAPES - 1);
    a->where = pattern_of(a->shape);
    CHECK(!weir_pattern_contiguous(0, weir_pattern_bytes(a->where), &a->memory));
    unsigned char stamp = (unsigned char)rng_within(&p->own, 1, 255);
    memset(a->data, direction == WR_WRITE ? stamp : 0, sizeof a->data);
    if (direction == WR_WRITE)
        p->stamps[stamp / 64] |= (int64_t)(UINT64_C(1) << stamp % 64);
}

/* What was read is one writer's; returns whose. */
static unsigned char finish(access *a)
{
    const int64_t first = a->shape == LOWER ? MORE * RUN : 0;
    const int64_t step = a->shape == WHOLE ? STRIDE : RUN;
    const char stamp = a->data[first];
    for (int64_t i = 0; a->direction == WR_READ && i < RUNS; i++)
        for (int64_t k = 0; k < RUN; k++)
            CHECK_EQUAL(a->data[first + i * step + k], stamp);
    weir_pattern_free(a->where);
    weir_pattern_free(a->memory);
    return (unsigned char)stamp;
}

static enum wr_direction either(rng *r)
{
    return rng_chance(r, 50) ? WR_WRITE : WR_READ;
}

static weir_file *some_handle(player *p, rng *r)
{
    return p->file[rng_within(r, 0, HANDLES - 1)];
}

static void access_alone(player *p)
{
    access a;
    prepare(p, &a, either(&p->own));
    weir_file *f = some_handle(p, &p->own);
    CHECK_EQUAL(a.direction == WR_WRITE ? weir_file_write(f, a.where, a.memory, a.data, NULL, NULL)
                                        : weir_file_read(f, a.where, a.memory, a.data, NULL, NULL),
                0);
    finish(&a);
}

static void start_alone(player *p, access *a)
{
    prepare(p, a, either(&p->own));
    weir_file *f = some_handle(p, &p->own);
    CHECK_EQUAL(a->direction == WR_WRITE
                    ? weir_file_write(f, a->where, a->memory, a->data, NULL, &a->request)
                    : weir_file_read(f, a->where, a->memory, a->data, NULL, &a->request),
                0);
}

static void wait_for(access *a)
{
    CHECK_EQUAL(weir_request_wait(&a->request, NULL), 0);
    finish(a);
}

static void access_together(player *p, weir_file *f, enum wr_direction direction)
{
    access a;
    prepare(p, &a, direction);
    CHECK_EQUAL(direction == WR_WRITE
                    ? weir_file_write_all(f, a.where, a.memory, a.data, NULL, NULL)
                    : weir_file_read_all(f, a.where, a.memory, a.data, NULL, NULL),
                0);
    finish(&a);
}

/* --- rounds: the same kind on all ranks --- */

static void play_alone(player *p)
{
    for (int i = 0; i < IN_FLIGHT; i++) {
        start_alone(p, &p->flight[i]);
        access_alone(p);
    }
    for (int i = IN_FLIGHT - 1; i >= 0; i--)
        wait_for(&p->flight[i]);
}

static void play_together(player *p)
{
    weir_file *f = some_handle(p, p->common);
    start_alone(p, &p->flight[0]);
    access_together(p, f, WR_WRITE);
    start_alone(p, &p->flight[1]);
    access_together(p, f, either(p->common));
    wait_for(&p->flight[1]);
    wait_for(&p->flight[0]);
}

/* A blocking collective call behind others in flight, and waits in another order. */
static void play_nonblocking(player *p)
{
    for (int i = 0; i < IN_FLIGHT; i++) {
        access *a = &p->flight[i];
        weir_file *f = some_handle(p, p->common);
        prepare(p, a, either(p->common));
        CHECK_EQUAL(a->direction == WR_WRITE
                        ? weir_file_write_all(f, a->where, a->memory, a->data, NULL, &a->request)
                        : weir_file_read_all(f, a->where, a->memory, a->data, NULL, &a->request),
                    0);
        access_alone(p);
    }
    access_together(p, some_handle(p, p->common), either(p->common));
    for (int i = IN_FLIGHT - 1; i >= 0; i--)
        wait_for(&p->flight[i]);
}

static void play_split(player *p)
{
    access a;
    weir_file *f = some_handle(p, p->common);
    prepare(p, &a, either(p->common));
    CHECK_EQUAL(begin_all(f, wr_request_of(a.direction, a.where, a.memory, a.data), &a.request), 0);
    access_alone(p);
    wait_for(&a);
}

static void *play_beside(void *user)
{
    player *p = user;
    for (int i = 0; i < 2; i++) {
        access_alone(p);
        access_together(p, p->file[1], either(p->common));
    }
    return NULL;
}

/* Two threads, collective calls on a handle each. */
static void play_threads(player *p)
{
    player beside = *p;
    rng common = {p->common->state + 1};
    pthread_t thread;
    beside.own.state += 12345;
    beside.common = &common;
    CHECK(!pthread_create(&thread, NULL, play_beside, &beside));
    for (int i = 0; i < 2; i++) {
        access_together(p, p->file[0], either(p->common));
        access_alone(p);
    }
    CHECK(!pthread_join(thread, NULL));
    for (int i = 0; i < 4; i++)
        p->stamps[i] |= beside.stamps[i];
}

static void (*const kinds[])(player *p) = {play_alone, play_together, play_nonblocking, play_split,
                                           play_threads};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* All see the same now, unless another group writes: something of this round. */
static void check_round(player *p, bool only, int64_t *before)
{
    access a;
    CHECK(!wr_allreduce(p->t, 0, WR_OR, 4, p->stamps));
    prepare(p, &a, WR_READ);
    CHECK(!weir_file_read(p->file[0], a.where, a.memory, a.data, NULL, NULL));
    int64_t seen = finish(&a), both[] = {seen, -seen};
    CHECK(!wr_allreduce(p->t, 0, WR_MAX, 2, both));
    bool written = p->stamps[seen / 64] >> seen % 64 & 1;
    if (only)
        CHECK(both[0] == -both[1] && (written || seen == *before));
    *before = seen;
    memset(p->stamps, 0, sizeof p->stamps);
}

/* --- cases --- */

typedef struct scene {
    int ranks, groups;
    const char *path;
    char hints[300];
    wr_tunables tunables;
    uint64_t seed;
    int64_t rounds;
} scene;

static void open_all(player *p, const scene *s)
{
    wr_tunables tunables = s->tunables;
    CHECK(!wr_world_open(p->t, &tunables, &p->world));
    for (int i = 0; i < HANDLES; i++) {
        int atomic = -1;
        CHECK(!wr_file_open(p->world, s->path, WEIR_READ | WEIR_WRITE, s->hints, &p->file[i]));
        CHECK(!weir_file_get_atomic(p->file[i], &atomic) && atomic == 0);
        CHECK(!weir_file_set_atomic(p->file[i], 7));
        CHECK(!weir_file_get_atomic(p->file[i], &atomic) && atomic == 1);
    }
}

static void close_all(player *p)
{
    for (int i = 0; i < HANDLES; i++)
        CHECK(!weir_file_close(p->file[i]));
    wr_world_release(p->world);
}

static void rank_body(wr_transport *t, void *user)
{
    const scene *s = user;
    rng common = {s->seed};
    int64_t before = 0;
    player *p = calloc(1, sizeof *p);
    CHECK(p);
    *p = (player){.t = t, .own.state = s->seed * 31 + (uint64_t)t->rank, .common = &common};
    open_all(p, s);
    for (int64_t round = 0; round < s->rounds; round++) {
        kinds[rng_within(&common, 0, KINDS - 1)](p);
        check_round(p, s->groups == 1, &before);
    }
    close_all(p);
    free(p);
}

static void *run_group(void *user)
{
    scene *s = user;
    CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
    return NULL;
}

static void play(scene *s)
{
    static char zeros[BYTES];
    scene other = *s;
    pthread_t thread = pthread_self();
    other.seed += 77;
    put_file(s->path, s->hints, zeros, sizeof zeros);
    check_within(60);
    if (s->groups == 2)
        CHECK(!pthread_create(&thread, NULL, run_group, &other));
    run_group(s);
    if (s->groups == 2)
        CHECK(!pthread_join(thread, NULL));
}

static void remove_file(const scene *s)
{
    if (strstr(s->hints, "storage=mem"))
        wr_mem_unlink(s->path);
    else
        CHECK(!wr_storage_remove(s->path));
}

static void check_one(void *user, const int *choice)
{
    static const char *const storage[] = {"mem", "posix", "pool", "uring", STRIPED};
    static const char *const exchange[] = {"auto", "p2p", "leaders", "alltoall"};
    static const char *const together[] = {"auto", "always", "never"};
    static const char *const method[] = {"auto", "sieve", "list"};
    static const char *const overlap[] = {"auto", "none", "all", "io"};
    static const char *const window[] = {"400", "1M"};
    scene s = {.ranks = choice[0] + 1,
               .groups = choice[1] + 1,
               .path = test_path("engine-atomic"),
               .seed = rng_next(user),
               .rounds = test_cases(40, 300)};
    wr_tunables_init(&s.tunables);
    s.tunables.ranks_per_node = choice[2] ? 2 : 0;
    snprintf(s.hints, sizeof s.hints,
             "storage=%s;exchange=%s;collective=%s;access=%s;overlap=%s;window=%s;"
             "sieve_buffer_write=400;aggregators=%d",
             storage[choice[3]], exchange[choice[4]], together[choice[5]], method[choice[6]],
             overlap[choice[7]], window[choice[8]], (int)rng_within(user, 0, 2));
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "%d groups of %d ranks, seed %llu, %s\n", s.groups, s.ranks,
                (unsigned long long)s.seed, s.hints);
    play(&s);
    remove_file(&s);
}

/* --- what is said, and what is kept --- */

static void check_disagreement(player *p)
{
    int atomic = -1;
    CHECK(!weir_file_set_atomic(p->file[0], 0));
    if (p->t->size > 1)
        CHECK_FAILS(weir_file_set_atomic(p->file[0], p->t->rank == 1), WEIR_EDISAGREE, "atomic");
    CHECK(!weir_file_get_atomic(p->file[0], &atomic) && atomic == 0);
    CHECK(!weir_file_set_atomic(p->file[0], 1));
}

/* Whoever reads sees the file as it was or as it is, not half of both. */
static void check_size(player *p)
{
    for (int i = 0; i < 20; i++) {
        access *a = &p->flight[0];
        int64_t count;
        prepare(p, a, WR_READ);
        int64_t all = weir_pattern_bytes(a->where), lo, hi;
        weir_pattern_bounds(a->where, &lo, &hi);
        CHECK(!weir_file_read(p->file[0], a->where, a->memory, a->data, NULL, &a->request));
        CHECK(!weir_file_set_size(p->file[0], i % 2 ? BYTES : 0));
        CHECK(!weir_request_wait(&a->request, &count));
        CHECK(count == 0 || count == all);
        finish(a);
    }
}

/* Without locks nothing is written, and every rank of a collective call says why. */
static void check_no_locks(player *p)
{
    access a;
    weir_request *request;
    weir_file *f = p->file[0];
    prepare(p, &a, WR_WRITE);
    CHECK(!wr_agree(p->t, 0, 0));
    locks_fail = true;
    CHECK(!wr_agree(p->t, 0, 0));
    CHECK_FAILS(weir_file_write_all(f, a.where, a.memory, a.data, NULL, NULL), WEIR_EIO, "lock");
    CHECK_FAILS(weir_file_write(f, a.where, a.memory, a.data, NULL, NULL), WEIR_EIO, "lock");
    CHECK(!weir_file_write_all(f, a.where, a.memory, a.data, NULL, &request));
    CHECK_FAILS(weir_request_wait(&request, NULL), WEIR_EIO, "lock");
    CHECK(!wr_agree(p->t, 0, 0));
    locks_fail = false;
    CHECK(!wr_agree(p->t, 0, 0));
    finish(&a);
    prepare(p, &a, WR_READ);
    CHECK(!weir_file_read_all(f, a.where, a.memory, a.data, NULL, NULL));
    CHECK_EQUAL(finish(&a), 0);
    access_together(p, f, WR_WRITE);
}

static void said_body(wr_transport *t, void *user)
{
    rng common = {5};
    player *p = calloc(1, sizeof *p);
    CHECK(p);
    *p = (player){.t = t, .own.state = 9, .common = &common};
    open_all(p, user);
    check_disagreement(p);
    check_size(p);
    check_no_locks(p);
    close_all(p);
    free(p);
}

/* What was kept is in the file when the mode begins, and nothing is kept in it. */
static void behind_body(wr_transport *t, void *user)
{
    const scene *s = user;
    rng common = {5};
    player *p = calloc(1, sizeof *p);
    CHECK(p);
    *p = (player){.t = t, .own.state = 9, .common = &common};
    open_all(p, s);
    CHECK(!weir_file_set_atomic(p->file[0], 0));
    for (int atomic = 0; atomic < 2; atomic++) {
        access a;
        prepare(p, &a, WR_WRITE);
        CHECK(!weir_file_write_all(p->file[0], a.where, a.memory, a.data, NULL, NULL));
        if (!atomic)
            CHECK(!weir_file_set_atomic(p->file[0], 1));
        access b;
        prepare(p, &b, WR_READ);
        CHECK(!weir_file_read(p->file[1], b.where, b.memory, b.data, NULL, NULL));
        CHECK_EQUAL(finish(&b), (unsigned char)a.data[0]);
        finish(&a);
        CHECK(!wr_agree(t, 0, 0));
    }
    close_all(p);
    free(p);
}

static void check_said(int ranks, const char *hints, void (*body)(wr_transport *t, void *user))
{
    static char zeros[BYTES];
    scene s = {.path = "engine-atomic-said"};
    snprintf(s.hints, sizeof s.hints, "storage=mem;%s", hints);
    wr_tunables_init(&s.tunables);
    put_file(s.path, s.hints, zeros, sizeof zeros);
    check_within(60);
    CHECK(!wr_local_run(ranks, &s.tunables, body, &s));
    remove_file(&s);
}

int main(void)
{
    rng r = {test_seed()};
    const int levels[] = {4, 2, 2, 5, 4, 3, 3, 4, 2};
    for (int ranks = 1; ranks <= 3; ranks++) {
        check_said(ranks, "collective=always", said_body);
        check_said(ranks, "collective=never", said_body);
        check_said(ranks, "write_behind=always", behind_body);
    }
    locks_none = getenv("WEIR_TEST_NO_LOCKS");
    test_pairwise(&r, 9, levels, check_one, &r);
    return 0;
}
