#include "naive_array.h"

#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arith.h"

void naive_settle(naive *a)
{
    a->element = weir_type_bytes(a->info.type);
    a->elements = 1;
    for (int d = 0; d < a->info.dimensions; d++)
        a->elements *= a->info.shape[d];
    a->info.bytes = a->elements * a->element;
    a->info.tile = a->tiled ? a->tile : NULL;
    a->info.shard = a->sharded ? a->shard : NULL;
    a->info.codec = a->codec;
    a->data = calloc((size_t)a->elements + 1, (size_t)a->element);
    CHECK(a->data);
}

int distribution_places(const weir_distribution *d, int dimensions)
{
    int places = 1;
    for (int i = 0; i < dimensions; i++)
        places *= d->grid[i] ? d->grid[i] : 1;
    return places;
}

void random_distribution(rng *r, const weir_array_info *info, int most, weir_distribution *out)
{
    int places = 1;
    memset(out, 0, sizeof *out);
    for (int d = 0; d < info->dimensions; d++) {
        int64_t grid = rng_chance(r, 40) ? rng_within(r, 0, 5) : 0;
        if (grid * places > most)
            grid = 0;
        out->grid[d] = (int)grid;
        places *= grid ? (int)grid : 1;
        out->block[d] = rng_chance(r, 50) ? 0 : rng_within(r, 1, rng_chance(r, 50) ? 2 : 15);
    }
}

/* Tiles may reach beyond the array, but not by so much, in many dimensions, that all time goes by
 * with what nobody wants. */
void naive_cut(rng *r, naive *a)
{
    int64_t tile = 1, shard = 1; /* elements */
    for (int d = 0; d < a->info.dimensions && a->info.format; d++) {
        a->tile[d] = rng_within(r, 1, a->info.shape[d] + 1);
        if (tile * a->tile[d] > 2 * NAIVE_MOST)
            a->tile[d] = 1;
        tile *= a->tile[d];
        a->shard[d] = rng_chance(r, 50) ? 0 : a->tile[d] * rng_within(r, 1, 3);
        if (shard * a->shard[d] > 8 * NAIVE_MOST)
            a->shard[d] = 0;
        shard *= wr_max(a->shard[d], a->tile[d]);
    }
}

/* A Zarr array. */
static void random_tiles(rng *r, naive *a)
{
    static const char *const codecs[] = {
        NULL, NULL, "zstd:1", "gzip:1", "blosc:lz4:1:shuffle", "blosc:zstd:1:bitshuffle"};
    a->info.format = rng_chance(r, 60) ? WEIR_ZARR : WEIR_ZARR2;
    a->tiled = rng_chance(r, 90);
    a->sharded = a->tiled && a->info.format == WEIR_ZARR && rng_chance(r, 50);
    a->codec = codecs[rng_within(r, 0, 5)];
    naive_cut(r, a);
}

void naive_random(rng *r, naive *a)
{
    int64_t product = 1;
    const bool many = rng_chance(r, 10);
    memset(a, 0, sizeof *a);
    a->info.type = (int)rng_within(r, WEIR_BOOL, WEIR_C16);
    a->info.dimensions = (int)(many ? rng_within(r, 6, 16) : rng_within(r, 0, 5));
    a->info.columns = rng_chance(r, 50);
    for (int d = 0; d < a->info.dimensions; d++) {
        int64_t most = many ? 2 : 12;
        while (most > 1 && most * product > NAIVE_MOST)
            most--;
        a->info.shape[d] = rng_within(r, rng_chance(r, 5) ? 0 : 1, most);
        product *= a->info.shape[d] ? a->info.shape[d] : 1;
    }
    if (rng_chance(r, 35)) {
        random_tiles(r, a);
        return;
    }
    if (!rng_chance(r, 50))
        return;
    random_distribution(r, &a->info, 12, &a->info.distribution);
    a->info.members = distribution_places(&a->info.distribution, a->info.dimensions);
    a->disks = rng_chance(r, 30);
}

void naive_release(naive *a)
{
    free(a->data);
    a->data = NULL;
}

static int64_t block_of(const weir_array_info *info, const weir_distribution *by, int d)
{
    int64_t grid = by->grid[d] ? by->grid[d] : 1, even = (info->shape[d] + grid - 1) / grid;
    return by->block[d] ? by->block[d] : even ? even : 1;
}

int64_t naive_owned(const weir_array_info *info, const weir_distribution *by, int d, int g,
                    int64_t k)
{
    const int64_t grid = by->grid[d] ? by->grid[d] : 1, block = block_of(info, by, d);
    for (int64_t i = 0; i < info->shape[d]; i++)
        if (i / block % grid == g && k-- == 0)
            return i;
    return -1;
}

void naive_place(const weir_distribution *by, int dimensions, int place, int *out)
{
    for (int d = dimensions - 1; d >= 0; d--) {
        int grid = by->grid[d] ? by->grid[d] : 1;
        out[d] = place % grid;
        place /= grid;
    }
}

int64_t naive_number(const naive *a, const int64_t *index)
{
    int64_t number = 0;
    for (int d = 0; d < a->info.dimensions; d++)
        number = number * a->info.shape[d] + index[d];
    return number;
}

void naive_index(const naive *a, int64_t number, int64_t *index)
{
    for (int d = a->info.dimensions - 1; d >= 0; d--) {
        index[d] = number % a->info.shape[d];
        number /= a->info.shape[d];
    }
}

void random_elements(rng *r, int type, char *out, int64_t count)
{
    for (int64_t i = 0; i < count * weir_type_bytes(type); i++)
        out[i] = (char)(type == WEIR_BOOL ? rng_next(r) & 1 : rng_next(r));
}

/* --- files --- */

weir_array_options naive_options(const naive *a)
{
    static const char *const disk[NAIVE_DISKS] = {"d0", "d1"};
    if (!a->disks)
        return (weir_array_options){0};
    return (weir_array_options){.disks = NAIVE_DISKS, .disk = disk};
}

/* The file of a member, or of the whole array where there are none. */
static void file_of(const naive *a, const char *path, int member, char *out, size_t room)
{
    if (!a->info.members)
        snprintf(out, room, "%s", path);
    else if (!a->disks)
        snprintf(out, room, "%s/local-%d.npy", path, member);
    else {
        char pattern[400];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/d%d/*-%d.npy", path, member % NAIVE_DISKS, member);
        CHECK(!glob(pattern, 0, NULL, &found));
        CHECK_EQUAL((int64_t)found.gl_pathc, 1);
        snprintf(out, room, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
}

/* A whole file; to be freed. */
static char *load(const char *path, int64_t *bytes)
{
    FILE *f = fopen(path, "r");
    CHECK(f && !fseek(f, 0, SEEK_END));
    *bytes = ftell(f);
    CHECK(*bytes >= 0 && !fseek(f, 0, SEEK_SET));
    char *text = malloc((size_t)*bytes + 1);
    CHECK(text && fread(text, 1, (size_t)*bytes, f) == (size_t)*bytes);
    fclose(f);
    return text;
}

static int64_t header_bytes(const char *file)
{
    return 10 + (unsigned char)file[8] + 256 * (unsigned char)file[9];
}

/* Reverses the bytes of elements, or of their halves. */
static void reverse(int type, char *at, int64_t elements)
{
    const int64_t parts = type == WEIR_C8 || type == WEIR_C16 ? 2 : 1;
    const int64_t size = weir_type_bytes(type) / parts;
    for (int64_t i = 0; i < elements * parts; i++)
        for (int64_t b = 0; b < size / 2; b++) {
            char kept = at[i * size + b];
            at[i * size + b] = at[i * size + size - 1 - b];
            at[i * size + size - 1 - b] = kept;
        }
}

/* Shape of a member's file. */
static void member_shape(const naive *a, int member, int64_t *shape, int *place)
{
    naive_place(&a->info.distribution, a->info.dimensions, member, place);
    for (int d = 0; d < a->info.dimensions; d++)
        for (shape[d] = 0;
             naive_owned(&a->info, &a->info.distribution, d, place[d], shape[d]) >= 0;)
            shape[d]++;
}

/* The element of the whole array that is at position k of a member's data. */
static int64_t number_at(const naive *a, const int64_t *shape, const int *place, int64_t k)
{
    int64_t index[WEIR_MAX_DIMENSIONS];
    for (int i = 0; i < a->info.dimensions; i++) {
        int d = a->info.columns ? i : a->info.dimensions - 1 - i;
        index[d] = k % shape[d];
        k /= shape[d];
        if (a->info.members)
            index[d] = naive_owned(&a->info, &a->info.distribution, d, place[d], index[d]);
    }
    return naive_number(a, index);
}

static void check_file(const naive *a, const char *path, int member)
{
    char name[500];
    int64_t bytes, shape[WEIR_MAX_DIMENSIONS], elements = 1;
    int place[WEIR_MAX_DIMENSIONS];
    file_of(a, path, member, name, sizeof name);
    char *file = load(name, &bytes);
    memcpy(shape, a->info.shape, sizeof shape);
    if (a->info.members)
        member_shape(a, member, shape, place);
    for (int d = 0; d < a->info.dimensions; d++)
        elements *= shape[d];
    CHECK(bytes > 10 && !memcmp(file, "\x93NUMPY\x01", 7));
    CHECK_EQUAL(bytes, header_bytes(file) + elements * a->element);
    char *data = file + header_bytes(file);
    if (a->info.swapped)
        reverse(a->info.type, data, elements);
    for (int64_t k = 0; k < elements; k++)
        CHECK(!memcmp(data + k * a->element, a->data + number_at(a, shape, place, k) * a->element,
                      (size_t)a->element));
    free(file);
}

/* The file of an element's tile, and its number there; of tiles that are as they are. */
static int64_t find_in_tile(const naive *a, int64_t number, const char *path, char *name)
{
    int64_t index[WEIR_MAX_DIMENSIONS], at = 0;
    const int n = a->info.dimensions, old = a->info.format == WEIR_ZARR2;
    name += sprintf(name, "%s/%s", path, old ? n ? "" : "0" : "c");
    naive_index(a, number, index);
    for (int d = 0; d < n; d++)
        name += sprintf(name, "%s%lld",
                        !old ? "/"
                        : d  ? "."
                             : "",
                        (long long)(index[d] / a->tile[d]));
    for (int i = 0; i < n; i++) {
        const int d = a->info.columns ? n - 1 - i : i;
        at = at * a->tile[d] + index[d] % a->tile[d];
    }
    return at;
}

/* What is there; tiles that are missing are fill, which is not known here. */
static void check_tiles(const naive *a, const char *path)
{
    char name[1000];
    for (int64_t i = 0; i < a->elements && a->tiled && !a->sharded && !a->codec; i++) {
        char one[16];
        const int64_t at = find_in_tile(a, i, path, name);
        FILE *f = fopen(name, "r");
        if (!f)
            continue;
        CHECK(!fseek(f, at * a->element, SEEK_SET));
        CHECK(fread(one, (size_t)a->element, 1, f) == 1);
        CHECK(!memcmp(one, a->data + i * a->element, (size_t)a->element));
        fclose(f);
    }
}

void naive_check_files(const naive *a, const char *path)
{
    if (a->info.format) {
        check_tiles(a, path);
        CHECK_EQUAL(count_names(path), 1);
        return;
    }
    for (int m = 0; m < (a->info.members ? a->info.members : 1); m++)
        check_file(a, path, m);
    CHECK_EQUAL(count_names(path), 1);
}

void naive_swap_files(naive *a, const char *path)
{
    if (a->element == 1 || a->info.type == WEIR_BOOL || a->info.format)
        return;
    for (int m = 0; m < (a->info.members ? a->info.members : 1); m++) {
        char name[500];
        int64_t bytes;
        file_of(a, path, m, name, sizeof name);
        char *file = load(name, &bytes), *mark = strpbrk(file + 10, "<>");
        CHECK(mark);
        *mark = *mark == '<' ? '>' : '<';
        int64_t header = header_bytes(file);
        reverse(a->info.type, file + header, (bytes - header) / a->element);
        FILE *f = fopen(name, "w");
        CHECK(f && fwrite(file, 1, (size_t)bytes, f) == (size_t)bytes && !fclose(f));
        free(file);
    }
    a->info.swapped = !a->info.swapped;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s;
    (void)kind;
    (void)where;
    return remove(path);
}

void remove_tree(const char *path)
{
    nftw(path, remove_one, 10, FTW_DEPTH | FTW_PHYS);
}

int count_names(const char *path)
{
    char pattern[500];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s*", path);
    int code = glob(pattern, 0, NULL, &found), count = code ? 0 : (int)found.gl_pathc;
    CHECK(!code || code == GLOB_NOMATCH);
    globfree(&found);
    return count;
}
