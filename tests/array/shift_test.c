/* Boundary data of neighbours, sections for several ranks, disk maps, and distributions as numbers,
 * against naive ones, with ranks as threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array_scene.h"
#include "transport/local.h"

enum { RANKS = 12 };

typedef struct scene {
    int ranks;
    naive array;
    weir_distribution by;
    weir_shift shift;
    chosen section; /* for who gets it */
    unsigned gets;  /* a bit for each rank */
    char hints[600], path[100];
    wr_tunables tunables;
} scene;

/* The rank whose boundary `rank` gets, or -1. */
static int neighbour_of(const scene *s, int rank)
{
    const int dimensions = s->array.info.dimensions, along = s->shift.dimension;
    const int grid = s->by.grid[along] ? s->by.grid[along] : 1;
    int place[WEIR_MAX_DIMENSIONS], other[WEIR_MAX_DIMENSIONS];
    naive_place(&s->by, dimensions, rank, place);
    int wanted = place[along] + (s->shift.count > 0 ? 1 : -1);
    if (s->shift.wrap)
        wanted = (wanted + grid) % grid;
    for (int i = 0; i < distribution_places(&s->by, dimensions); i++) {
        bool same = true;
        naive_place(&s->by, dimensions, i, other);
        for (int d = 0; d < dimensions; d++)
            same = same && other[d] == (d == along ? wanted : place[d]);
        if (same)
            return i;
    }
    return -1;
}

/* What a rank must get, dense by rows; the number of its elements. */
static int64_t model_shift(const scene *s, int rank, char *out, int64_t *shape)
{
    const naive *a = &s->array;
    const int dimensions = a->info.dimensions, along = s->shift.dimension;
    const int there = distribution_places(&s->by, dimensions);
    const int from = rank < there ? neighbour_of(s, rank) : -1;
    int place[WEIR_MAX_DIMENSIONS];
    int64_t all = 1, first = 0, most = s->shift.count;
    most = most == INT64_MIN ? INT64_MAX : llabs(most);
    memset(shape, 0, WEIR_MAX_DIMENSIONS * sizeof *shape);
    if (from < 0)
        return 0;
    naive_place(&s->by, dimensions, from, place);
    for (int d = 0; d < dimensions; d++) {
        while (naive_owned(&a->info, &s->by, d, place[d], shape[d]) >= 0)
            shape[d]++;
        if (d == along && most < shape[d]) {
            first = s->shift.count > 0 ? 0 : shape[d] - most;
            shape[d] = most;
        }
        all *= shape[d];
    }
    for (int64_t k = 0; k < all; k++) {
        int64_t index[WEIR_MAX_DIMENSIONS], rest = k;
        for (int d = dimensions - 1; d >= 0; d--) {
            int64_t i = rest % shape[d] + (d == along ? first : 0);
            rest /= shape[d];
            index[d] = naive_owned(&a->info, &s->by, d, place[d], i);
        }
        memcpy(out + k * a->element, a->data + naive_number(a, index) * a->element,
               (size_t)a->element);
    }
    return all;
}

static void check_shift(const scene *s, weir_array *array, int rank)
{
    const naive *a = &s->array;
    int64_t shape[WEIR_MAX_DIMENSIONS], wanted[WEIR_MAX_DIMENSIONS];
    char *out = calloc((size_t)a->elements + 1, (size_t)a->element);
    char *model = calloc((size_t)a->elements + 1, (size_t)a->element);
    CHECK(out && model);
    model_shift(s, rank, model, wanted);
    CHECK(!weir_array_shift(array, &s->shift, out, shape));
    for (int d = 0; d < a->info.dimensions; d++)
        CHECK_EQUAL(shape[d], wanted[d]);
    CHECK(!memcmp(out, model, (size_t)((a->elements + 1) * a->element)));
    free(out);
    free(model);
}

static void check_multicast(const scene *s, weir_array *array, int rank)
{
    const chosen *c = &s->section;
    const int gets = (int)(s->gets >> rank & 1);
    char *after = calloc(1, (size_t)c->bytes), *wanted = calloc(1, (size_t)c->bytes);
    CHECK(after && wanted);
    if (gets)
        chosen_fetch(c, &s->array, wanted);
    CHECK(!weir_array_read_all(array, gets ? chosen_section(c) : NULL, &c->layout, after + c->base,
                               NULL));
    CHECK(!memcmp(after, wanted, (size_t)c->bytes));
    free(after);
    free(wanted);
}

static void rank_body(wr_transport *t, void *user)
{
    const scene *s = user;
    weir_array *a;
    wr_world *w;
    int64_t shape[WEIR_MAX_DIMENSIONS];
    weir_array_options options = naive_options(&s->array);
    weir_shift bad = s->shift;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK(!wr_array_create(w, s->path, &s->array.info, &options, s->hints, &a));
    CHECK(
        !weir_array_write_all(a, t->rank ? NULL : &(weir_selection){0}, NULL, s->array.data, NULL));
    if (s->array.info.dimensions)
        check_shift(s, a, t->rank);
    bad.count = 0;
    CHECK_FAILS(weir_array_shift(a, &bad, NULL, shape), WEIR_EINVAL, "shift");
    bad.count = 1;
    bad.dimension = s->array.info.dimensions;
    CHECK_FAILS(weir_array_shift(a, &bad, NULL, shape), WEIR_EINVAL, "shift");
    check_multicast(s, a, t->rank);
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

static void run_case(rng *r, scene *s)
{
    s->ranks = (int)rng_within(r, 1, RANKS);
    do {
        naive_random(r, &s->array);
        s->by = s->array.info.distribution;
    } while (s->array.info.members > s->ranks);
    naive_settle(&s->array);
    random_elements(r, s->array.info.type, s->array.data, s->array.elements);
    s->shift = (weir_shift){.count = rng_within(r, 1, 15), .wrap = rng_chance(r, 50)};
    s->shift.count = rng_chance(r, 3)    ? INT64_MIN
                     : rng_chance(r, 50) ? -s->shift.count
                                         : s->shift.count;
    if (s->array.info.dimensions)
        s->shift.dimension = (int)rng_within(r, 0, s->array.info.dimensions - 1);
    if (!s->array.info.members || rng_chance(r, 50)) {
        random_distribution(r, &s->array.info, s->ranks, &s->by);
        s->shift.distribution = &s->by;
    }
    chosen_random(r, &s->array, &(choice){0}, &s->section);
    s->gets = (unsigned)rng_next(r);
    random_array_hints(r, &(hint_limits){0}, s->hints, sizeof s->hints);
    wr_tunables_init(&s->tunables);
    s->tunables.ranks_per_node = rng_chance(r, 30) ? rng_within(r, 1, 3) : 0;
    check_within(60);
    CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
    chosen_release(&s->section);
    naive_release(&s->array);
    remove_tree(s->path);
}

/* --- numbers --- */

static void test_disk_map(void)
{
    int map[40];
    CHECK_FAILS(weir_disk_map(0, 3, 0, map), WEIR_EINVAL, "disks");
    CHECK_FAILS(weir_disk_map(2, -1, 0, map), WEIR_EINVAL, "disks");
    CHECK(!weir_disk_map(3, 0, 1, map));
    for (int disks = 1; disks < 12; disks++)
        for (int members = 1; members < 40; members++) {
            int count[12] = {0};
            CHECK(!weir_disk_map(disks, members, 0, map));
            for (int m = 0; m < members; m++)
                CHECK_EQUAL(map[m], m % disks);
            CHECK(!weir_disk_map(disks, members, 1, map));
            for (int m = 0; m < members; m++) {
                CHECK(map[m] >= (m ? map[m - 1] : 0) && map[m] < disks);
                count[map[m]]++;
            }
            for (int d = 0; d < disks; d++) /* as even as can be */
                CHECK(count[d] >= members / disks && count[d] <= (members + disks - 1) / disks);
        }
}

static void check_place(const weir_array_info *info, const weir_distribution *by, int rank)
{
    int place[WEIR_MAX_DIMENSIONS], wanted[WEIR_MAX_DIMENSIONS];
    naive_place(by, info->dimensions, rank, wanted);
    CHECK(!weir_distribution_place(by, info->dimensions, rank, place));
    for (int d = 0; d < info->dimensions; d++) {
        CHECK_EQUAL(place[d], wanted[d]);
        for (int64_t k = 0; k < 14; k++)
            CHECK_EQUAL(weir_distribution_index(by, d, info->shape[d], place[d], k),
                        naive_owned(info, by, d, place[d], k));
        CHECK_EQUAL(weir_distribution_index(by, d, info->shape[d], place[d], -1), -1);
    }
}

static void test_shapes(rng *r)
{
    for (int i = 0; i < 300; i++) {
        naive a;
        weir_distribution by;
        int64_t part[WEIR_MAX_DIMENSIONS], elements = 0;
        naive_random(r, &a);
        naive_settle(&a);
        random_distribution(r, &a.info, 60, &by);
        int places = distribution_places(&by, a.info.dimensions);
        for (int p = 0; p < places; p++)
            check_place(&a.info, &by, p);
        for (int p = -1; p <= places; p++) {
            int64_t all = 1;
            CHECK(!weir_distribution_shape(&by, a.info.dimensions, a.info.shape, p, part));
            for (int d = 0; d < a.info.dimensions; d++)
                all *= part[d];
            elements += p >= 0 && p < places ? all : 0;
            CHECK((p >= 0 && p < places) || !a.info.dimensions || !all);
        }
        CHECK_EQUAL(elements, a.elements);
        naive_release(&a);
    }
}

/* Sizes at their ends: sums of parts are the whole, and nothing overflows. */
static void test_large_shapes(void)
{
    const int64_t large = INT64_C(1) << 61, sizes[] = {large, large - 1, INT64_C(1) << 40, 7};
    const int64_t blocks[] = {0, 1, 3, INT64_C(1) << 39, large, INT64_MAX};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 6; k++) {
            weir_distribution by = {.grid = {1000}, .block = {blocks[k]}};
            int64_t sum = 0, part;
            for (int p = 0; p < 1000; p++) {
                CHECK(!weir_distribution_shape(&by, 1, &sizes[i], p, &part));
                sum += part;
            }
            CHECK_EQUAL(sum, sizes[i]);
        }
}

static void test_grids(void)
{
    int grid[4] = {0, 3, 0, 0};
    CHECK(!weir_distribution_grid(24, 4, grid));
    CHECK(grid[1] == 3 && grid[0] * grid[2] * grid[3] == 8 && grid[0] == 2);
    CHECK_FAILS(weir_distribution_grid(25, 4, (int[4]){0, 3, 0, 0}), WEIR_EINVAL, "cannot have");
    CHECK_FAILS(weir_distribution_grid(6, 1, (int[1]){3}), WEIR_EINVAL, "does not have");
    CHECK_FAILS(weir_distribution_grid(0, 1, (int[1]){0}), WEIR_EINVAL, "grid");
    CHECK_FAILS(weir_distribution_grid(2, 0, grid), WEIR_EINVAL, "does not have");
    CHECK(!weir_distribution_grid(1, 0, grid));
    for (int ranks = 1; ranks < 200; ranks++) {
        int free_grid[3] = {0, 0, 0};
        CHECK(!weir_distribution_grid(ranks, 3, free_grid));
        CHECK_EQUAL(free_grid[0] * free_grid[1] * free_grid[2], ranks);
    }
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(80, 3000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    snprintf(s->path, sizeof s->path, "shift-test-%d", (int)getpid());
    test_disk_map();
    test_grids();
    test_large_shapes();
    test_shapes(&(rng){seed});
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        run_case(&r, s);
    }
    free(s);
    return 0;
}
