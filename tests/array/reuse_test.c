/* What is in memory is not read again: with reuse, with a cache, of repeated indices, and of what
 * several ranks want. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "chosen.h"
#include "io_count.h"
#include "transport/local.h"

static char path[100];

static void put(wr_world *w, const naive *a)
{
    weir_array *array;
    weir_array_options options = naive_options(a);
    CHECK(!wr_array_create(w, path, &a->info, &options, "", &array));
    CHECK(!weir_array_write_all(array, w->transport->rank ? NULL : &(weir_selection){0}, NULL,
                                a->data, NULL));
    CHECK(!weir_array_close(array));
}

/* --- pairs of sections --- */

typedef struct pair {
    naive array;
    chosen wanted, held;
    io_count count;
} pair;

/* Whether what is in common is found, by the words of array.h: range by range, steps multiples. */
static bool is_found(const pair *p)
{
    const weir_selection *w = &p->wanted.section, *h = &p->held.section;
    bool plain = !p->array.info.members || w->local;
    for (int d = 0; d < p->array.info.dimensions; d++) {
        int64_t step = w->step ? w->step[d] : 1, by = h->step ? h->step[d] : 1;
        plain = plain && step % by == 0;
    }
    return plain && w->local == h->local;
}

/* Bytes of what is wanted and not held. */
static int64_t count_rest(const pair *p)
{
    int64_t rest = 0;
    for (int64_t i = 0; i < p->wanted.elements; i++) {
        bool held = false;
        for (int64_t k = 0; k < p->held.elements && !held; k++)
            held = p->held.number[k] == p->wanted.number[i];
        rest += !held;
    }
    return rest * p->array.element;
}

static void pair_body(wr_transport *t, void *user)
{
    pair *p = user;
    const chosen *c = &p->wanted;
    wr_tunables tunables;
    wr_world *w;
    weir_array *array;
    char *before = malloc((size_t)p->held.bytes), *after = calloc(1, (size_t)c->bytes);
    char *wanted = calloc(1, (size_t)c->bytes);
    CHECK(before && after && wanted);
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    put(w, &p->array);
    if (p->array.info.swapped) {
        p->array.info.swapped = 0;
        naive_swap_files(&p->array, path);
    }
    io_count_watch(w, &p->count);
    CHECK(!wr_array_open(w, path, WEIR_READ, "access=naive", &array));
    chosen_fetch(&p->held, &p->array, before);
    chosen_fetch(c, &p->array, wanted);
    const weir_held held = {.selection = chosen_section(&p->held),
                            .layout = &p->held.layout,
                            .base = before + p->held.base};
    CHECK(!weir_array_read_reuse(array, &c->section, &c->layout, after + c->base, &held));
    CHECK(!memcmp(after, wanted, (size_t)c->bytes));
    CHECK(!weir_array_close(array));
    wr_world_release(w);
    free(before);
    free(after);
    free(wanted);
}

static void test_pair(rng *r)
{
    pair p;
    choice how = {.ranges = true, .plain = true};
    memset(&p, 0, sizeof p);
    do
        naive_random(r, &p.array);
    while (p.array.info.format); /* tiles are read again */
    naive_settle(&p.array);
    random_elements(r, p.array.info.type, p.array.data, p.array.elements);
    p.array.info.swapped = p.array.element > 1 && rng_chance(r, 20);
    do {
        chosen_release(&p.wanted);
        chosen_random(r, &p.array, &how, &p.wanted);
    } while (p.wanted.nothing);
    chosen_random(r, &p.array, &how, &p.held);
    CHECK(!wr_local_run(1, &(wr_tunables){0}, pair_body, &p));
    int64_t all = p.wanted.elements * p.array.element, rest = count_rest(&p);
    CHECK(p.count.read[0].bytes == rest || !is_found(&p) || p.held.nothing);
    CHECK(p.count.read[0].bytes == rest || p.count.read[0].bytes == all);
    chosen_release(&p.wanted);
    chosen_release(&p.held);
    naive_release(&p.array);
    remove_tree(path);
}

/* --- the cache --- */

enum { ROWS = 300, COLUMNS = 500 };

static io_count counts[4];

static void check_columns(const double *got, int64_t first, int64_t count, double add)
{
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < count; k++)
            CHECK(got[i * count + k] == (double)(i * COLUMNS + first + k) + add);
}

/* Columns of an array by rows: many pieces, in few blocks. Reads them twice, then writes. */
static void cache_body(wr_transport *t, void *user)
{
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, COLUMNS}};
    static double all[ROWS * COLUMNS], some[ROWS * 40];
    int64_t lo[] = {0, 100}, hi[] = {ROWS, 140};
    weir_selection s = {.lo = lo, .hi = hi};
    wr_tunables tunables;
    wr_world *w;
    weir_array *a;
    (void)user;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    io_count_watch(w, &counts[0]);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        all[i] = (double)i;
    CHECK(!wr_array_create(w, path, &info, NULL, "cache=4M", &a));
    CHECK(!weir_array_write(a, &(weir_selection){0}, NULL, all, NULL));
    for (int i = 0; i < 2; i++) { /* phases 1 and 2 */
        io_count_next(w);
        memset(some, 0, sizeof some);
        CHECK(!weir_array_read(a, &s, NULL, some, NULL));
        check_columns(some, 100, 40, 0);
    }
    for (int64_t i = 0; i < ROWS * 40; i++)
        some[i] += 0.5;
    CHECK(!weir_array_write(a, &s, NULL, some, NULL));
    memset(some, 0, sizeof some);
    io_count_next(w);
    CHECK(!weir_array_read(a, &s, NULL, some, NULL));
    check_columns(some, 100, 40, 0.5);
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

static void test_cache(void)
{
    memset(counts, 0, sizeof counts);
    CHECK(!wr_local_run(1, &(wr_tunables){0}, cache_body, NULL));
    CHECK(counts[0].read[1].bytes > 0);
    CHECK_EQUAL(counts[0].read[2].requests, 0);
    CHECK(counts[0].read[3].bytes > 0);
    remove_tree(path);
}

/* --- once for all --- */

/* Every index four times; then the same columns for all ranks, in forms that are collective. */
static void once_body(wr_transport *t, void *user)
{
    weir_array_info info = {.type = WEIR_I4, .dimensions = 2, .shape = {64, 32}};
    int32_t all[64 * 32], got[64 * 32];
    int64_t rows[64], count[] = {64, 0}, lo[] = {0, 8}, hi[] = {64, 24};
    const int64_t *index[] = {rows, NULL};
    weir_array *a;
    wr_world *w;
    for (int i = 0; i < 64 * 32; i++)
        all[i] = i;
    for (int i = 0; i < 64; i++)
        rows[i] = i * 7 % 16;
    CHECK(!wr_world_open(t, user, &w));
    CHECK(!wr_array_create(w, path, &info, NULL, "", &a));
    CHECK(!weir_array_write_all(a, t->rank ? NULL : &(weir_selection){0}, NULL, all, NULL));
    CHECK(!weir_array_close(a));
    io_count_watch(w, &counts[t->rank]);
    CHECK(!wr_array_open(w, path, WEIR_READ, "access=list;collective=always", &a));
    CHECK(!weir_array_read_all(a, &(weir_selection){.index = index, .count = count}, NULL, got,
                               NULL));
    for (int i = 0; i < 64 * 32; i++)
        CHECK_EQUAL(got[i], rows[i / 32] * 32 + i % 32);
    io_count_next(w);
    CHECK(!weir_array_read_all(a, &(weir_selection){.lo = lo, .hi = hi}, NULL, got, NULL));
    for (int i = 0; i < 64 * 16; i++)
        CHECK_EQUAL(got[i], i / 16 * 32 + 8 + i % 16);
    io_count_next(w);
    CHECK(!weir_array_read_all(a, t->rank % 2 ? &(weir_selection){0} : NULL, NULL, got, NULL));
    CHECK(t->rank % 2 == 0 || !memcmp(got, all, sizeof all));
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

static void test_once(int ranks, int64_t per_node)
{
    int64_t bytes[3] = {0};
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = per_node;
    memset(counts, 0, sizeof counts);
    CHECK(!wr_local_run(ranks, &tunables, once_body, &tunables));
    for (int i = 0; i < ranks; i++)
        for (int phase = 0; phase < 3; phase++)
            bytes[phase] += counts[i].read[phase].bytes;
    CHECK_EQUAL(bytes[0], 16 * 32 * 4);
    CHECK_EQUAL(bytes[1], 64 * 16 * 4);
    CHECK_EQUAL(bytes[2], ranks > 1 ? 64 * 32 * 4 : 0);
    remove_tree(path);
}

/* --- halos of slabs --- */

enum { SLICES = 61, SLICE = 20, HALO = 2, HALO_RANKS = 3 };

static int64_t slices[HALO_RANKS]; /* that a rank must have read */

/* Slabs are several whole slices, and fewer than a rank has. */
static void halo_body(wr_transport *t, void *user)
{
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {SLICES, SLICE}};
    weir_array *a;
    weir_slabs *slabs;
    weir_slab slab;
    wr_tunables tunables;
    wr_world *w;
    int64_t lo = SLICES, hi = 0;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    io_count_watch(w, &counts[t->rank]);
    CHECK(!wr_array_create(w, path, &info, NULL, user, &a));
    weir_slabs_options o = {.inputs = 1, .input = &a, .halo = {HALO}, .block = {3}};
    CHECK(!weir_slabs_begin(&o, &slabs));
    while (weir_slabs_next(slabs, &slab) == 1) {
        CHECK(slab.hi[0] - slab.lo[0] <= 3 && slab.hi[1] - slab.lo[1] == SLICE);
        lo = slab.in_lo[0] < lo ? slab.in_lo[0] : lo;
        hi = slab.in_hi[0] > hi ? slab.in_hi[0] : hi;
    }
    slices[t->rank] = hi - lo;
    CHECK(!weir_slabs_end(slabs));
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

static void test_halo(void)
{
    for (int prefetch = 0; prefetch < 4; prefetch++) {
        char hints[100];
        snprintf(hints, sizeof hints, "access=naive;prefetch=%d", prefetch);
        memset(counts, 0, sizeof counts);
        CHECK(!wr_local_run(HALO_RANKS, &(wr_tunables){0}, halo_body, hints));
        for (int i = 0; i < HALO_RANKS; i++)
            CHECK_EQUAL(counts[i].read[0].bytes, slices[i] * SLICE * 8);
        remove_tree(path);
    }
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(300, 10000);
    snprintf(path, sizeof path, "reuse-test-%d", (int)getpid());
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        test_pair(&r);
    }
    test_cache();
    test_once(1, 0);
    test_once(4, 0);
    test_once(4, 1);
    test_once(4, 2);
    test_halo();
    return 0;
}
