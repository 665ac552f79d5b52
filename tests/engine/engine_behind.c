/* Write-behind with ranks as threads: the random series of behind_model.h, then what the mode
 * promises point by point: what is kept is not in the file, every point that flushes puts it there,
 * an error in a flush is every rank's, and many small writes become a few large ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/behind_model.h"
#include "file/inside.h"
#include "storage/storage_support.h"
#include "transport/local.h"

enum { RANKS = 3, PIECES = 50, PIECE = 40, ROW = RANKS * PIECE + 24, BYTES = PIECES * ROW };

static const char path[] = "engine-behind";

/* Transfers that write, counted below the library. */
static _Atomic int64_t writes, most_written;

void __real_wr_storage_submit(wr_storage *s, wr_transfer *t);
void __wrap_wr_storage_submit(wr_storage *s, wr_transfer *t);

void __wrap_wr_storage_submit(wr_storage *s, wr_transfer *t)
{
    if (t->direction == WR_WRITE) {
        writes++;
        if (wr_transfer_bytes(t) > most_written)
            most_written = wr_transfer_bytes(t);
    }
    __real_wr_storage_submit(s, t);
}

/* --- random series --- */

static int64_t get_mem(const behind_play *p, char *bytes, int64_t count)
{
    return get_file(p->path, "storage=mem", bytes, count);
}

/* A series, or a scene, with the tunables of its world. */
typedef struct stage {
    wr_tunables tunables;
    behind_play *play;
    const struct scene *scene;
} stage;

static void play_body(wr_transport *t, void *user)
{
    stage *st = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &st->tunables, &w));
    behind_run(st->play, w);
    wr_world_release(w);
}

static void test_series(uint64_t seed)
{
    int64_t cases = test_cases(25, 2000);
    stage st = {.play = calloc(1, sizeof *st.play)};
    behind_play *p = st.play;
    CHECK(p);
    p->shared = true;
    p->storage = "mem";
    p->get = get_mem;
    wr_tunables_init(&st.tunables);
    snprintf(p->path, sizeof p->path, "behind-model");
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        p->ranks = (int)rng_within(&r, 1, BEHIND_RANKS);
        st.tunables.ranks_per_node = rng_within(&r, 0, 4);
        behind_make(&r, p);
        if (getenv("WEIR_TEST_SHOW"))
            fprintf(stderr, "%lld: %d ranks, %lld a node, %lld steps, %s\n", (long long)i, p->ranks,
                    (long long)st.tunables.ranks_per_node, (long long)p->steps, p->hints);
        CHECK(!wr_local_run(p->ranks, &st.tunables, play_body, &st));
        wr_mem_unlink(p->path);
    }
    free(p);
}

/* --- points that flush --- */

enum point { SYNC, SIZE, SPACE, READ, HINTS, FULL, CLOSE, ALONE, GET_SIZE, POINTS };

typedef struct scene {
    enum point point;
    const char *hints;    /* besides those of all */
    const char *fault;    /* or NULL */
    int wanted;           /* what that point returns */
    int64_t fail_after;   /* allocation that fails on rank 0, or -1 */
    int64_t *allocations; /* of that rank, while it writes */
} scene;

static const int64_t FAR = 40 << 20;

static char byte_of(int rank, int64_t i)
{
    return (char)(i * 13 + rank * 3 + 2);
}

/* The allocation of this rank that fails while it writes, or -1; how many it made then. */
static _Thread_local int64_t fail_after = -1, allocations;

/* Piece i of rank r lies at i * ROW + r * PIECE: with a hole behind each row. */
static int write_rows(weir_file *f, int rank, int64_t from)
{
    static _Thread_local char memory[PIECES * PIECE];
    weir_pattern *where, *dense;
    int64_t count = 0;
    for (int64_t i = 0; i < (int64_t)sizeof memory; i++)
        memory[i] = byte_of(rank, i);
    CHECK(!weir_pattern_strided(from + rank * PIECE, PIECES, PIECE, ROW, &where));
    CHECK(!weir_pattern_contiguous(0, sizeof memory, &dense));
    int64_t before = wr_alloc_count();
    wr_alloc_fail_after(fail_after);
    int code = weir_file_write_all(f, where, dense, memory, &count, NULL);
    wr_alloc_fail_after(-1);
    allocations = wr_alloc_count() - before;
    CHECK(code || count == (int64_t)sizeof memory);
    weir_pattern_free(where);
    weir_pattern_free(dense);
    return code;
}

static void check_rows(void)
{
    static char bytes[BYTES];
    CHECK(get_file(path, "storage=mem", bytes, BYTES) >= BYTES - 24);
    for (int64_t i = 0; i < BYTES - 24; i++) {
        int rank = (int)(i % ROW / PIECE);
        char wanted = rank < RANKS ? byte_of(rank, i / ROW * PIECE + i % ROW % PIECE) : 0;
        CHECK_EQUAL(bytes[i], wanted);
    }
}

static int read_byte(weir_file *f, bool together)
{
    weir_pattern *one, *memory;
    char byte = 0;
    CHECK(!weir_pattern_contiguous(0, 1, &one));
    CHECK(!weir_pattern_contiguous(0, 1, &memory));
    int code = (together ? weir_file_read_all : weir_file_read)(f, one, memory, &byte, NULL, NULL);
    CHECK(code || byte == byte_of(0, 0));
    weir_pattern_free(one);
    weir_pattern_free(memory);
    return code;
}

/* Those of the owner alone are made by rank 0, which is the only aggregator then. */
static int do_point(weir_file *f, const scene *s, int rank)
{
    int64_t size = 0;
    int code = 0;
    switch (s->point) {
    case SYNC:
        return weir_file_sync(f);
    case SIZE:
        return weir_file_set_size(f, BYTES);
    case SPACE:
        return wr_file_preallocate(f, 10);
    case READ:
        return read_byte(f, true);
    case HINTS:
        return wr_file_set_hints(f, "storage=mem", 0);
    case FULL:
        return write_rows(f, rank, FAR);
    case ALONE:
        return rank ? s->wanted : read_byte(f, false);
    case GET_SIZE:
        if (rank == 0)
            code = weir_file_get_size(f, &size);
        CHECK(rank || code || size == BYTES - 24);
        return rank ? s->wanted : code;
    default:
        return weir_file_close(f);
    }
}

static void scene_body(wr_transport *t, void *user)
{
    const stage *st = user;
    const scene *s = st->scene;
    wr_world *w;
    weir_file *f;
    char hints[400];
    snprintf(hints, sizeof hints, "storage=mem;write_behind=always;%s%s%s", s->hints,
             s->fault ? ";fault=" : "", s->fault ? s->fault : "");
    CHECK(!wr_world_open(t, &st->tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &f));
    CHECK_EQUAL(f->group.handle.tunables.realms.which, WR_REALMS_PERSISTENT);
    CHECK(!write_rows(f, t->rank, 0));
    CHECK(!wr_agree(t, 0, 0));
    char byte;
    CHECK_EQUAL(get_file(path, "storage=mem", &byte, 1), 0); /* all of it is kept */
    CHECK(!wr_agree(t, 0, 0));
    CHECK_EQUAL(do_point(f, s, t->rank), s->wanted);
    if (s->wanted)
        CHECK(weir_error_last()->rank >= 0 || s->point == ALONE || s->point == GET_SIZE);
    CHECK(!wr_agree(t, 0, 0));
    if (s->wanted && s->point != CLOSE) /* nothing is lost: the next one puts it there */
        CHECK_EQUAL(weir_file_sync(f), 0);
    CHECK(!wr_agree(t, 0, 0));
    if (t->rank == 0 && (!s->wanted || s->point != CLOSE))
        check_rows();
    if (s->point != CLOSE)
        CHECK_EQUAL(weir_file_close(f), 0);
    wr_world_release(w);
}

static void run_scene(const scene *s, int64_t per_node)
{
    stage st = {.scene = s};
    wr_tunables_init(&st.tunables);
    st.tunables.ranks_per_node = per_node;
    CHECK(!wr_local_run(RANKS, &st.tunables, scene_body, &st));
    wr_mem_unlink(path);
}

static void test_points(void)
{
    static const char *const faults[] = {NULL, "eio:1", "eio:7", "enospc:1", "enospc:3", "short:2"};
    static const int codes[] = {0, WEIR_EIO, WEIR_EIO, WEIR_ENOSPC, WEIR_ENOSPC, WEIR_EIO};
    static const char *const hints[] = {
        "aggregators=1;write_behind_memory=20000",
        "aggregators=2;realm_block=3000;write_behind_memory=20000",
        "aggregators=3;realm_block=1;realm_align=500;exchange=p2p;write_behind_memory=20000"};
    for (int point = 0; point < POINTS; point++)
        for (int fault = 0; fault < 6; fault++)
            for (int h = 0; h < 3; h++) {
                bool alone = point == ALONE || point == GET_SIZE;
                scene s = {.point = (enum point)point,
                           .hints = hints[h],
                           .fault = faults[fault],
                           .wanted = codes[fault],
                           .fail_after = -1};
                check_case(point * 100 + fault * 10 + h);
                if (!alone || h == 0)
                    run_scene(&s, h);
            }
}

/* --- memory --- */

static void memory_body(wr_transport *t, void *user)
{
    const stage *st = user;
    const scene *s = st->scene;
    wr_world *w;
    weir_file *f;
    CHECK(!wr_world_open(t, &st->tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE,
                        "storage=mem;write_behind=always;aggregators=1", &f));
    fail_after = t->rank == 0 ? s->fail_after : -1;
    int code = write_rows(f, t->rank, 0);
    if (t->rank == 0)
        *s->allocations = allocations;
    CHECK(code == 0 || code == WEIR_ENOMEM);
    CHECK_EQUAL(weir_file_close(f), 0);
    if (t->rank == 0 && !code)
        check_rows();
    CHECK(!wr_agree(t, 0, 0));
    wr_world_release(w);
}

/* Each allocation of the aggregator fails in turn: what cannot be kept is written. */
static void test_allocations(void)
{
    int64_t made = 0;
    scene s = {.allocations = &made};
    for (bool reached = true; reached; s.fail_after++) {
        stage st = {.scene = &s};
        wr_tunables_init(&st.tunables);
        check_case(s.fail_after);
        CHECK(!wr_local_run(RANKS, &st.tunables, memory_body, &st));
        reached = made > s.fail_after;
        wr_mem_unlink(path);
    }
    CHECK(s.fail_after > 3);
}

/* --- what it is for --- */

enum { STEPS = 32, DOTS = 64, DOT = 3200, ELEMENT = 32 };

/* Figure 6 of the paper: all steps of a point are adjacent, ranks have every n-th element. */
static void steps_body(wr_transport *t, void *user)
{
    const stage *st = user;
    static _Thread_local char memory[DOTS * DOT];
    wr_world *w;
    weir_file *f;
    CHECK(!wr_world_open(t, &st->tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE,
                        "storage=mem;write_behind=always;aggregators=2;realm_align=2M", &f));
    int64_t own = (DOT / ELEMENT - t->rank + t->size - 1) / t->size;
    weir_pattern *dot, *dots, *where, *dense;
    CHECK(!weir_pattern_strided(t->rank * ELEMENT, own, ELEMENT, (int64_t)t->size * ELEMENT, &dot));
    CHECK(!weir_pattern_repeat(dot, DOTS, (int64_t)DOT * STEPS, &dots));
    CHECK(!weir_pattern_contiguous(0, DOTS * own * ELEMENT, &dense));
    for (int64_t step = 0; step < STEPS; step++) {
        int64_t by = step * DOT;
        memset(memory, 1 + (int)step * 4 + t->rank, sizeof memory);
        CHECK(!weir_pattern_concat(1, &by, (const weir_pattern *[]){dots}, &where));
        CHECK(!weir_file_write_all(f, where, dense, memory, NULL, NULL));
        weir_pattern_free(where);
    }
    CHECK_EQUAL(writes, 0);
    CHECK(!wr_agree(t, 0, 0));
    CHECK(!weir_file_close(f));
    weir_pattern_free(dot);
    weir_pattern_free(dots);
    weir_pattern_free(dense);
    wr_world_release(w);
}

static void test_steps(void)
{
    static char bytes[DOTS * DOT * STEPS];
    stage st = {0};
    wr_tunables_init(&st.tunables);
    writes = most_written = 0;
    CHECK(!wr_local_run(4, &st.tunables, steps_body, &st));
    CHECK(writes <= (int64_t)sizeof bytes / (1 << 20) + 2);
    CHECK_EQUAL(most_written, 1 << 20);
    CHECK_EQUAL(get_file(path, "storage=mem", bytes, sizeof bytes), sizeof bytes);
    for (int64_t i = 0; i < (int64_t)sizeof bytes; i++)
        CHECK_EQUAL(bytes[i], (char)(1 + i / DOT % STEPS * 4 + i % DOT / ELEMENT % 4));
    wr_mem_unlink(path);
}

/* With `enable` long runs are kept once writing them was seen to take long. */
static void slow_body(wr_transport *t, void *user)
{
    enum { RUN = 4000, COUNT = 20 };
    const stage *st = user;
    static _Thread_local char memory[RUN * COUNT];
    wr_world *w;
    weir_file *f;
    weir_pattern *where, *dense;
    CHECK(!wr_world_open(t, &st->tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE,
                        "storage=mem;write_behind=enable;fault=delay:300", &f));
    CHECK(!weir_pattern_strided(t->rank * 40 * RUN, COUNT, RUN, (int64_t)100 * RUN, &where));
    CHECK(!weir_pattern_contiguous(0, sizeof memory, &dense));
    for (int i = 0; i < 4; i++)
        CHECK(!weir_file_write_all(f, where, dense, memory, NULL, NULL));
    int64_t kept = f->group.handle.write_behind.count;
    CHECK(!wr_allreduce(t, 0, WR_SUM, 1, &kept));
    CHECK(kept > 0);
    CHECK(!weir_file_close(f));
    weir_pattern_free(where);
    weir_pattern_free(dense);
    wr_world_release(w);
}

static void test_slow(void)
{
    stage st = {0};
    wr_tunables_init(&st.tunables);
    CHECK(!wr_local_run(RANKS, &st.tunables, slow_body, &st));
    wr_mem_unlink(path);
}

static void contrary_body(wr_transport *t, void *user)
{
    const stage *st = user;
    wr_world *w;
    weir_file *f;
    CHECK(!wr_world_open(t, &st->tunables, &w));
    CHECK_FAILS(wr_file_open(w, path, WEIR_WRITE | WEIR_CREATE,
                             "storage=mem;write_behind=always;realms=static", &f),
                WEIR_EINVAL, "needs realms=persistent");
    wr_world_release(w);
}

int main(void)
{
    uint64_t seed = test_seed();
    stage st = {0};
    wr_tunables_init(&st.tunables);
    CHECK(!wr_local_run(2, &st.tunables, contrary_body, &st));
    test_points();
    test_allocations();
    test_steps();
    test_slow();
    test_series(seed);
    return 0;
}
