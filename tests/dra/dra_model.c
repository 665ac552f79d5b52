/* Random sections between global arrays and disk resident ones, against a model that is an array of
 * bytes on every rank. Requests stay outstanding, up to 64, until something needs their data.
 *
 * usage: dra_model [write|check FOLDER SEED]: so arrays can be written by some number of ranks and
 * checked by another, which only imagines what the first did. */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dra/dra_support.h"

enum { DIMENSIONS = 7, ELEMENTS = 3000, MOST = 64, TYPES = 7 };

int NDRA_Create_config(int type, int ndim, dra_size_t dims[], char *name, char *filename, int mode,
                       dra_size_t reqdims[], int numfiles, int ioprocs, int *d_a);

static const int types[TYPES] = {C_INT, C_LONG, C_LONGLONG, C_FLOAT, C_DBL, C_SCPL, C_DCPL};
static const int sizes[TYPES] = {4, 8, 8, 4, 8, 8, 16};

/* An array as the model has it. */
typedef struct model {
    int n;
    int64_t shape[DIMENSIONS];
    unsigned char *bytes;
} model;

typedef struct box {
    int64_t lo[DIMENSIONS], extent[DIMENSIONS];
} box;

/* A transfer under way: the global array, and what it will hold. */
typedef struct transfer {
    int g_a, request;
    bool write;
    model global;
} transfer;

typedef struct scene {
    rng r;
    bool imagined; /* nothing is moved */
    int type, d_a, mode;
    model disk;
    char file[300];
    int count;
    transfer under_way[MOST];
} scene;

static int64_t count_of(int n, const int64_t *extent)
{
    int64_t count = 1;
    for (int i = 0; i < n; i++)
        count *= extent[i];
    return count;
}

static void random_bytes(rng *r, unsigned char *bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)rng_next(r);
}

static void make_model(scene *s, model *m, bool random)
{
    const int64_t bytes = count_of(m->n, m->shape) * sizes[s->type];
    m->bytes = calloc(1, (size_t)bytes);
    CHECK(m->bytes != NULL);
    if (random)
        random_bytes(&s->r, m->bytes, bytes);
}

/* --- sections --- */

/* Offset, in elements, of element k of a section, counted by rows. */
static int64_t place_of(const model *m, const box *b, int64_t k)
{
    int64_t at = 0, below = 1;
    for (int i = m->n - 1; i >= 0; i--) {
        at += (b->lo[i] + k % b->extent[i]) * below;
        k /= b->extent[i];
        below *= m->shape[i];
    }
    return at;
}

/* Element k of a section when its dimensions are counted the other way round. */
static int64_t place_of_transposed(const model *m, const box *b, int64_t k)
{
    int64_t stride[DIMENSIONS], at = 0, below = 1;
    for (int i = m->n - 1; i >= 0; i--) {
        stride[i] = below;
        below *= m->shape[i];
    }
    for (int i = 0; i < m->n; i++) {
        at += (b->lo[i] + k % b->extent[i]) * stride[i];
        k /= b->extent[i];
    }
    return at;
}

static void random_box(rng *r, const model *m, box *b)
{
    for (int i = 0; i < m->n; i++) {
        b->extent[i] = rng_chance(r, 30) ? m->shape[i] : rng_within(r, 1, m->shape[i]);
        b->lo[i] = rng_within(r, 0, m->shape[i] - b->extent[i]);
    }
}

/* A global array in which a section of these extents has room. */
static void room_for(rng *r, int n, const int64_t *extent, model *m, box *b)
{
    m->n = n;
    for (int i = 0; i < n; i++) {
        const int64_t more = rng_chance(r, 50) ? rng_within(r, 0, n > 4 ? 1 : 4) : 0;
        b->extent[i] = extent[i];
        b->lo[i] = rng_within(r, 0, more);
        m->shape[i] = extent[i] + more;
    }
}

/* Other extents with the same product. */
static int reshape(rng *r, int64_t count, int64_t *extent)
{
    int n = (int)rng_within(r, 1, 4);
    for (int i = 0; i < n - 1; i++) {
        int64_t divisor = rng_within(r, 1, 12);
        while (count % divisor)
            divisor--;
        extent[i] = divisor;
        count /= divisor;
    }
    extent[n - 1] = count;
    return n;
}

/* --- global arrays --- */

static int make_global(scene *s, const model *m)
{
    int dims[DIMENSIONS], block[DIMENSIONS], g_a = GA_Create_handle();
    int64_t blocks = 1;
    for (int i = 0; i < m->n; i++) {
        dims[i] = (int)m->shape[i];
        block[i] = (int)rng_within(&s->r, 1, 5);
        blocks *= (m->shape[i] + block[i] - 1) / block[i];
    }
    GA_Set_data(g_a, m->n, dims, types[s->type]);
    const int64_t kind = rng_within(&s->r, 0, 9);
    if (kind < 2 && blocks >= 2 * dra_ranks) /* with fewer GA 5.8 goes wrong */
        GA_Set_block_cyclic(g_a, block);
    else if (kind < 4)
        GA_Set_chunk(g_a, block);
    CHECK(GA_Allocate(g_a));
    return g_a;
}

static void bounds(const model *m, int *lo, int *hi, int *ld)
{
    for (int i = 0; i < m->n; i++) {
        lo[i] = 0;
        hi[i] = (int)m->shape[i] - 1;
        if (i)
            ld[i - 1] = (int)m->shape[i];
    }
}

static void fill_global(int g_a, const model *m)
{
    int lo[DIMENSIONS], hi[DIMENSIONS], ld[DIMENSIONS] = {1};
    bounds(m, lo, hi, ld);
    if (dra_rank == 0)
        NGA_Put(g_a, lo, hi, m->bytes, ld);
    GA_Sync();
}

static void check_global(int g_a, const model *m, int64_t bytes)
{
    int lo[DIMENSIONS], hi[DIMENSIONS], ld[DIMENSIONS] = {1};
    bounds(m, lo, hi, ld);
    if (dra_rank == dra_ranks - 1) {
        unsigned char *got = malloc((size_t)bytes);
        CHECK(got != NULL);
        NGA_Get(g_a, lo, hi, got, ld);
        CHECK(!memcmp(got, m->bytes, (size_t)bytes));
        free(got);
    }
    GA_Sync();
}

/* --- transfers --- */

/* What the model knows of it at once. */
static void imagine(scene *s, transfer *t, const box *global, const box *disk, bool transposed)
{
    const size_t size = (size_t)sizes[s->type];
    const int64_t count = count_of(s->disk.n, disk->extent);
    for (int64_t k = 0; k < count; k++) {
        unsigned char *there = s->disk.bytes + (size_t)place_of(&s->disk, disk, k) * size;
        int64_t at = transposed ? place_of_transposed(&t->global, global, k)
                                : place_of(&t->global, global, k);
        unsigned char *here = t->global.bytes + (size_t)at * size;
        memcpy(t->write ? there : here, t->write ? here : there, size);
    }
}

static void start(scene *s, transfer *t, const box *global, const box *disk, bool transposed)
{
    int glo[DIMENSIONS], ghi[DIMENSIONS];
    dra_size_t dlo[DIMENSIONS], dhi[DIMENSIONS];
    for (int i = 0; i < t->global.n; i++) {
        glo[i] = (int)global->lo[i];
        ghi[i] = (int)(global->lo[i] + global->extent[i]) - 1;
    }
    for (int i = 0; i < s->disk.n; i++) {
        dlo[i] = disk->lo[i];
        dhi[i] = disk->lo[i] + disk->extent[i] - 1;
    }
    if (t->write)
        DRA_OK(NDRA_Write_section(transposed, t->g_a, glo, ghi, s->d_a, dlo, dhi, &t->request));
    else
        DRA_OK(NDRA_Read_section(transposed, t->g_a, glo, ghi, s->d_a, dlo, dhi, &t->request));
}

static void begin(scene *s, bool write)
{
    transfer *t = &s->under_way[s->count++];
    box disk, global;
    int64_t extent[DIMENSIONS];
    int n = s->disk.n;
    random_box(&s->r, &s->disk, &disk);
    const bool reshaped = rng_chance(&s->r, 25), transposed = !reshaped && rng_chance(&s->r, 35);
    if (reshaped)
        n = reshape(&s->r, count_of(n, disk.extent), extent);
    for (int i = 0; i < n && !reshaped; i++)
        extent[i] = disk.extent[transposed ? n - 1 - i : i];
    *t = (transfer){.write = write};
    room_for(&s->r, n, extent, &t->global, &global);
    make_model(s, &t->global, true);
    if (!s->imagined) {
        t->g_a = make_global(s, &t->global);
        fill_global(t->g_a, &t->global);
        start(s, t, &global, &disk, transposed);
    } else {
        for (int i = 0; i <= t->global.n; i++) /* what make_global draws */
            rng_within(&s->r, 1, 5);
    }
    imagine(s, t, &global, &disk, transposed);
}

/* Waits for all, in any order, by waiting or by asking again and again. */
static void finish(scene *s)
{
    while (s->count) {
        const int64_t which = rng_within(&s->r, 0, s->count - 1);
        const bool ask = rng_chance(&s->r, 20);
        transfer *t = &s->under_way[which];
        if (!s->imagined) {
            for (int status = 0; ask && !status;)
                DRA_OK(DRA_Probe(t->request, &status));
            DRA_OK(DRA_Wait(t->request));
            check_global(t->g_a, &t->global,
                         count_of(t->global.n, t->global.shape) * sizes[s->type]);
            GA_Destroy(t->g_a);
        }
        free(t->global.bytes);
        *t = s->under_way[--s->count];
    }
}

/* --- cases --- */

static void create(scene *s, int number, const char *folder)
{
    dra_size_t dims[DIMENSIONS], request[DIMENSIONS];
    s->type = (int)rng_within(&s->r, 0, TYPES - 1);
    s->disk.n = (int)rng_within(&s->r, 1, DIMENSIONS);
    int64_t room = ELEMENTS;
    for (int i = 0; i < s->disk.n; i++) {
        const int64_t most = s->disk.n == 1 ? room : room < 60 ? room : s->disk.n > 4 ? 6 : 60;
        dims[i] = s->disk.shape[i] = rng_within(&s->r, 1, most);
        request[i] = rng_chance(&s->r, 50) ? -1 : rng_within(&s->r, 1, dims[i]);
        room /= dims[i];
    }
    const int files = rng_chance(&s->r, 25) ? (int)rng_within(&s->r, 2, 4) : 0;
    s->mode = DRA_RW;
    make_model(s, &s->disk, false);
    snprintf(s->file, sizeof s->file, "%s-%d", folder, number);
    if (!s->imagined)
        DRA_OK(NDRA_Create_config(types[s->type], s->disk.n, dims, "model", s->file, s->mode,
                                  request, files, (int)rng_within(&s->r, 0, 2), &s->d_a));
    else
        rng_within(&s->r, 0, 2);
}

static void check_whole(scene *s)
{
    transfer t = {.global = s->disk};
    const int64_t bytes = count_of(s->disk.n, s->disk.shape) * sizes[s->type];
    int type, n;
    dra_size_t dims[DIMENSIONS];
    char name[100], file[300];
    DRA_OK(DRA_Open(s->file, DRA_R, &s->d_a));
    DRA_OK(NDRA_Inquire(s->d_a, &type, &n, dims, name, file));
    CHECK_EQUAL(type, types[s->type]);
    CHECK_EQUAL(n, s->disk.n);
    CHECK(!strcmp(name, "model") && !strcmp(file, s->file));
    for (int i = 0; i < n; i++)
        CHECK_EQUAL(dims[i], s->disk.shape[i]);
    t.g_a = make_global(s, &t.global);
    DRA_OK(NDRA_Read(t.g_a, s->d_a, &t.request));
    DRA_OK(DRA_Wait(t.request));
    check_global(t.g_a, &s->disk, bytes);
    GA_Destroy(t.g_a);
}

static void run_case(uint64_t seed, int number, const char *folder, const char *part)
{
    scene *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->r = (rng){seed + (uint64_t)number * UINT64_C(0x5851f42d4c957f2d)};
    s->imagined = !strcmp(part, "check");
    check_case(number);
    check_within(60);
    create(s, number, folder);
    for (int64_t steps = rng_within(&s->r, 1, 3); steps; steps--) {
        const int64_t most = number == 5 ? MOST : rng_within(&s->r, 1, 5);
        const bool write = rng_chance(&s->r, 60);
        for (int64_t i = 0; i < most; i++)
            begin(s, write || rng_chance(&s->r, 20));
        finish(s);
    }
    if (!s->imagined)
        DRA_OK(DRA_Close(s->d_a));
    if (strcmp(part, "write") != 0) {
        check_whole(s);
        DRA_OK(DRA_Delete(s->d_a));
    }
    free(s->disk.bytes);
    free(s);
}

int main(int argc, char **argv)
{
    dra_begin(&argc, &argv);
    const char *part = argc > 3 ? argv[1] : "all";
    const char *folder = argc > 3 ? argv[2] : dra_path("model");
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : dra_rank ? 0 : test_seed();
    seed = dra_same(seed);
    DRA_OK(DRA_Init(-1, -1, -1, rng_chance(&(rng){seed}, 30) ? 1e6 : -1));
    const int64_t cases = argc > 3 ? 12 : test_cases(14, 300);
    for (int i = 0; i < cases; i++)
        run_case(seed, i, folder, part);
    DRA_OK(DRA_Terminate());
    check_within(0);
    dra_end();
    return 0;
}
