/* Faults in the life of arrays, with ranks as threads: whatever transfer fails on whatever rank, or
 * whatever allocation of one rank, every rank returns, all alike where calls are collective; a new
 * array does not get its name, and an old one of that name is intact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "check.h"
#include "naive_array.h"
#include "transport/local.h"

enum { RANKS = 3, ROWS = 12, COLUMNS = 10, FACTORS = 6 };

/* So many allocations fail one by one; of later ones only some, unless WEIR_TEST_LONG. Nor do
 * transfers fail in all ways then. */
enum { EVERY = 8 };

/* What is done in one run. */
enum deed {
    CREATE,
    WRITE_ALL,
    WRITE_BY,
    IWRITE,
    READ_ALL,
    IREAD,
    CONVERT,
    BOXES,
    REUSE,
    SLABS,
    DEEDS
};

/* What the arrays are. */
enum form { FILE_FORM, SET, TILES, SHARDS, FORMS };

typedef struct scene {
    enum deed deed;
    enum form form;
    bool together;
    char hints[200], path[100];
    int64_t fail_after; /* allocation that fails on the last rank, or -1 */
    wr_tunables tunables;
    int codes[RANKS], closes[RANKS];
    bool refused[RANKS]; /* a loop, before it began: all know, and discard what it was to fill */
    bool reached;
    bool kept; /* an old array is there, as old_body makes it */
    int64_t failed;
    rng random;
} scene;

static double old_value(int i)
{
    return i + 0.25;
}

static double new_value(int i)
{
    return -i - 1;
}

static const int64_t tile[] = {5, 4}, shard[] = {10, 4};

static weir_array_info info_of(const scene *s)
{
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, COLUMNS}};
    if (s->form == SET) {
        info.members = 4;
        info.distribution.grid[0] = info.distribution.grid[1] = 2;
        info.distribution.block[1] = 2;
    } else if (s->form != FILE_FORM) {
        info.format = WEIR_ZARR;
        info.tile = tile;
        info.shard = s->form == SHARDS ? shard : NULL;
        info.codec = "zstd";
    }
    return info;
}

/* An array of that name, with old values. */
static void old_body(wr_transport *t, void *user)
{
    const scene *s = user;
    double value[ROWS * COLUMNS];
    weir_array_info info = info_of(s);
    weir_array *a;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        value[i] = old_value(i);
    CHECK(!wr_array_create(w, s->path, &info, NULL, "", &a));
    CHECK(!weir_array_write(a, &(weir_selection){0}, NULL, value, NULL));
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

/* --- deeds --- */

static int write_some(weir_array *a, const scene *s, int rank)
{
    double value[ROWS * COLUMNS];
    weir_request *request;
    weir_distribution by = {.grid = {0, RANKS}, .block = {0, 1}};
    int64_t lo[] = {0, rank}, hi[] = {ROWS, COLUMNS}, step[] = {1, RANKS};
    weir_selection part = {.lo = lo, .hi = hi, .step = step};
    int64_t width = (COLUMNS - rank + RANKS - 1) / RANKS;
    for (int i = 0; i < ROWS * width; i++)
        value[i] = new_value((int)(i / width * COLUMNS + i % width * RANKS + rank));
    if (s->deed == WRITE_BY)
        return weir_array_write_distributed(a, &by, NULL, value);
    if (s->deed != IWRITE)
        return weir_array_write_all(a, &part, NULL, value, NULL);
    int code = s->together ? weir_array_write_all(a, &part, NULL, value, &request)
                           : weir_array_write(a, &part, NULL, value, &request);
    return code ? code : weir_request_wait(&request, NULL);
}

static void check_values(const double *value, int count, const int64_t *lo, int width)
{
    for (int i = 0; i < count; i++)
        CHECK(value[i] == old_value((int)((lo[0] + i / width) * COLUMNS + lo[1] + i % width)));
}

static int read_boxes(weir_array *a, bool together)
{
    double value[30];
    int64_t lo[] = {2, 2, 3, 1, 0, 0}, hi[] = {5, 4, 6, 5, 2, 6}, at[] = {2, 2};
    weir_selection s = {.boxes = 3, .box_lo = lo, .box_hi = hi};
    int code = together ? weir_array_read_all(a, &s, NULL, value, NULL)
                        : weir_array_read(a, &s, NULL, value, NULL);
    if (!code)
        check_values(value, 6, at, 2);
    return code;
}

static int read_again(weir_array *a)
{
    double held[16], value[ROWS * COLUMNS];
    int64_t lo[] = {3, 3}, hi[] = {7, 7}, all[] = {0, 0};
    weir_selection s = {.lo = lo, .hi = hi};
    int code = weir_array_read(a, &s, NULL, held, NULL);
    if (!code)
        code = weir_array_read_reuse(a, &(weir_selection){0}, NULL, value,
                                     &(weir_held){.selection = &s, .base = held});
    if (!code)
        check_values(value, ROWS * COLUMNS, all, COLUMNS);
    return code;
}

static int read_some(weir_array *a, const scene *s)
{
    double value[ROWS * COLUMNS];
    float converted[ROWS * COLUMNS];
    weir_request *request;
    int64_t all[] = {0, 0};
    const weir_selection whole = {0};
    const weir_layout as_float = {.type = WEIR_F4};
    int code;
    if (s->deed == CONVERT) {
        code = s->together ? weir_array_read_all(a, &whole, &as_float, converted, NULL)
                           : weir_array_read(a, &whole, &as_float, converted, NULL);
        for (int i = 0; i < ROWS * COLUMNS && !code; i++)
            CHECK(converted[i] == (float)old_value(i));
        return code;
    }
    if (s->deed == IREAD) {
        code = s->together ? weir_array_read_all(a, &whole, NULL, value, &request)
                           : weir_array_read(a, &whole, NULL, value, &request);
        code = code ? code : weir_request_wait(&request, NULL);
    } else {
        code = s->together ? weir_array_read_all(a, &whole, NULL, value, NULL)
                           : weir_array_read(a, &whole, NULL, value, NULL);
    }
    if (!code)
        check_values(value, ROWS * COLUMNS, all, COLUMNS);
    return code;
}

/* From the array to a new one. */
static int walk_slabs(weir_array *a, weir_array *to, scene *s, int rank)
{
    weir_slabs *slabs;
    weir_slab slab;
    weir_slabs_options o = {.inputs = 1,
                            .outputs = 1,
                            .input = &a,
                            .output = &to,
                            .halo = {1},
                            .block = {1},
                            .together = s->together};
    int code = weir_slabs_begin(&o, &slabs), more;
    s->refused[rank] = code != 0;
    if (code)
        return code;
    while ((more = weir_slabs_next(slabs, &slab)) == 1)
        for (int i = (int)slab.lo[1], k = 0; i < (int)slab.hi[1]; i++, k++) {
            CHECK(((const double *)slab.in[0])[k] == old_value((int)slab.lo[0] * COLUMNS + i));
            ((double *)slab.out[0])[k] = new_value((int)slab.lo[0] * COLUMNS + i);
        }
    code = weir_slabs_end(slabs);
    return code ? code : more;
}

static bool makes_new(const scene *s)
{
    return s->deed <= IWRITE || s->deed == SLABS;
}

/* --- one run --- */

static void enter(scene *s, wr_world *w, weir_array **old, weir_array **new)
{
    weir_array_info info = info_of(s);
    weir_array_options options = {.overwrite = 1, .fill = &(double){7}};
    const char *const disks[] = {"d0", "d1"};
    const int rank = w->transport->rank;
    if (s->form == SET) {
        options.disks = 2;
        options.disk = disks;
    }
    if (!makes_new(s) || s->deed == SLABS)
        s->codes[rank] = wr_array_open(w, s->path, WEIR_READ, s->hints, old);
    if (makes_new(s) && !s->codes[rank])
        s->codes[rank] = wr_array_create(w, s->path, &info, &options, s->hints, new);
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    weir_array *old = NULL, *new = NULL;
    const int rank = t->rank;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    w->process->progress.meter = wr_alloc_meter();
    s->codes[rank] = s->closes[rank] = 0;
    s->refused[rank] = false;
    int64_t before = wr_alloc_count();
    wr_alloc_fail_after(rank == RANKS - 1 ? s->fail_after : -1);
    enter(s, w, &old, &new);
    if (s->codes[rank] || s->deed == CREATE)
        ;
    else if (s->deed == SLABS)
        s->codes[rank] = walk_slabs(old, new, s, rank);
    else if (makes_new(s))
        s->codes[rank] = write_some(new, s, rank);
    else if (s->deed == BOXES)
        s->codes[rank] = read_boxes(old, s->together);
    else if (s->deed == REUSE)
        s->codes[rank] = read_again(old);
    else
        s->codes[rank] = read_some(old, s);
    if (new)
        s->closes[rank] = s->refused[rank] ? weir_array_discard(new) : weir_array_close(new);
    if (old)
        CHECK(!weir_array_close(old) || s->fail_after >= 0);
    if (rank == RANKS - 1)
        s->reached = s->fail_after >= 0 && wr_alloc_count() - before > s->fail_after;
    wr_alloc_fail_after(-1);
    CHECK(!wr_agree(t, 0, 0));
    wr_world_release(w);
}

static double wanted_value(const scene *s, bool is_new, int i)
{
    if (!is_new)
        return old_value(i);
    return s->deed == CREATE ? 7 : new_value(i);
}

/* What is encoded is looked at by the library. */
typedef struct sight {
    const scene *scene;
    bool is_new;
} sight;

static void look_body(wr_transport *t, void *user)
{
    const sight *k = user;
    double value[ROWS * COLUMNS];
    weir_array *a;
    wr_world *w;
    CHECK(!wr_world_open(t, &k->scene->tunables, &w));
    CHECK(!wr_array_open(w, k->scene->path, WEIR_READ, "", &a));
    CHECK(!weir_array_read(a, &(weir_selection){0}, NULL, value, NULL));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK(value[i] == wanted_value(k->scene, k->is_new, i));
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

/* The array under its name holds new values, or the old ones. */
static void check_array(const scene *s, bool is_new)
{
    naive a = {.info = info_of(s), .disks = s->form == SET && is_new};
    if (a.info.tile) {
        sight look = {s, is_new};
        CHECK_EQUAL(count_names(s->path), 1);
        CHECK(!wr_local_run(1, &s->tunables, look_body, &look));
        return;
    }
    naive_settle(&a);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        memcpy(a.data + (ptrdiff_t)i * 8, &(double){wanted_value(s, is_new, i)}, 8);
    naive_check_files(&a, s->path);
    naive_release(&a);
}

/* What was left under another name is told of, and removed here. */
static void remove_partial(const scene *s)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s.partial-*", s->path);
    CHECK(!system(command));
}

/* All ranks tell the same where they must. */
static bool check_codes(const scene *s)
{
    bool failed = false,
         together = s->deed == CREATE || s->deed == WRITE_ALL || s->deed == WRITE_BY || s->together;
    for (int i = 0; i < RANKS; i++) {
        failed = failed || s->codes[i] || s->closes[i];
        CHECK(s->codes[i] <= 0 && s->closes[i] <= 0);
        CHECK(!together || s->deed == REUSE || s->deed == SLABS || s->codes[i] == s->codes[0]);
        CHECK_EQUAL(!s->closes[i], !s->closes[0]);
    }
    return failed;
}

static bool run_scene(scene *s)
{
    check_within(60);
    wr_tunables_init(&s->tunables);
    if (!s->kept)
        CHECK(!wr_local_run(RANKS, &s->tunables, old_body, s));
    CHECK(!wr_local_run(RANKS, &s->tunables, rank_body, s));
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "deed %d, form %d, together %d, allocation %lld, codes %d and %d, %s\n",
                (int)s->deed, (int)s->form, s->together, (long long)s->fail_after, s->codes[0],
                s->closes[0], s->hints);
    bool failed = check_codes(s), named = !failed && makes_new(s);
    if (failed && count_names(s->path) > 1) {
        CHECK(s->closes[0] && makes_new(s)); /* only a failed write leaves something */
        remove_partial(s);
    }
    check_array(s, named);
    s->kept = !named;
    if (named)
        remove_tree(s->path);
    s->failed += failed;
    return failed;
}

static void set_scene(scene *s, const int *choice, const char *fault)
{
    static const char *const overlap[] = {"none", "all"};
    static const char *const storage[] = {"posix", "pool"};
    s->deed = (enum deed)choice[0];
    s->form = (enum form)choice[1];
    s->together = choice[2];
    s->fail_after = -1;
    snprintf(s->hints, sizeof s->hints,
             "collective=%s;window=200;exchange=%s;overlap=%s;storage=%s;access=%s;fault=%s",
             choice[2] ? "always" : "auto", choice[3] ? "p2p" : "auto", overlap[choice[4]],
             storage[choice[5]], choice[3] ? "list" : "sieve", fault);
}

/* Unless WEIR_TEST_LONG, of tiles what differs, with shards or not. */
static bool choose(scene *s, const int *from, int *choice)
{
    memcpy(choice, from, FACTORS * sizeof *choice);
    if (from[1] != TILES || test_long())
        return true;
    choice[1] += (int)rng_within(&s->random, 0, 1);
    return from[0] == CREATE || from[0] == WRITE_ALL || from[0] == READ_ALL || from[0] == SLABS;
}

static void check_one(void *user, const int *from)
{
    static const char *const faults[] = {"eio", "enospc", "short"};
    scene *s = user;
    int choice[FACTORS];
    if (!choose(s, from, choice))
        return;
    const int first = test_long() ? 0 : (int)rng_within(&s->random, 0, 2);
    for (int kind = first; kind < (test_long() ? 3 : first + 1); kind++)
        for (int64_t k = 1, missed = 0; missed < 2 && k < 60; k++) {
            char fault[40];
            snprintf(fault, sizeof fault, "%s:%lld", faults[kind], (long long)k);
            set_scene(s, choice, fault);
            missed = run_scene(s) ? 0 : missed + 1;
        }
    set_scene(s, choice, "none");
    for (s->fail_after = 0, s->reached = true; s->reached; s->fail_after++) {
        run_scene(s);
        if (s->fail_after > EVERY && !test_long())
            s->fail_after += rng_within(&s->random, 0, 3 * s->fail_after / EVERY);
    }
    CHECK_EQUAL(s->codes[0], 0);
    remove_tree(s->path);
    s->kept = false;
}

int main(void)
{
    int levels[FACTORS] = {DEEDS, test_long() ? FORMS : SHARDS, 2, 2, 2, 2};
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    s->random.state = test_seed();
    snprintf(s->path, sizeof s->path, "array-fault-%d", (int)getpid());
    test_pairwise(&s->random, FACTORS, levels, check_one, s);
    CHECK(s->failed > 100);
    free(s);
    return 0;
}
