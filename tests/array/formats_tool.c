/* Arrays of all formats, on any number of ranks, which are threads, for the tests in Python. Reads
 * commands, a line each, and answers each with a line: ok, and more, or error CODE FILE: TEXT.
 *   write RANKS DIMENSION PATH FORMAT TYPE C|F SHAPE TILE SHARD CODEC FILL IN
 *   read RANKS DIMENSION PATH SECTION OUT          answers type, order and shape
 *   change RANKS DIMENSION PATH SECTION IN
 * Ranks divide what they access along a dimension. IN and OUT are files of elements by rows, FORMAT
 * is npy, zarr, zarr2 or that of the name, SHAPE and such are 3,4 or (), SECTION is 0:9:2,1:3:1 or
 * (), FILL the bytes of an element as hexadecimal digits; a word that is - is not said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "base/arith.h"
#include "check.h"
#include "transport/local.h"

enum { MOST_RANKS = 16, WORDS = 16, LINE = 16384 };

typedef struct task {
    char *word[WORDS];
    int ranks, dimension;
    weir_array_info info;
    int64_t tile[WEIR_MAX_DIMENSIONS], shard[WEIR_MAX_DIMENSIONS];
    char fill[16];
    bool filled, whole;
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], step[WEIR_MAX_DIMENSIONS];
    char *data; /* of all ranks */
    int64_t bytes;
    int codes[MOST_RANKS];
    weir_error error;
    char told[LINE];
} task;

static bool is_said(const char *word)
{
    return strcmp(word, "-") != 0;
}

/* Numbers that are joined by commas; how many. */
static int take_sizes(const char *text, int64_t *out)
{
    int count = 0;
    char *end = (char *)text;
    if (!strcmp(text, "()"))
        return 0;
    for (; count < WEIR_MAX_DIMENSIONS; text = end + 1) {
        out[count++] = strtoll(text, &end, 10);
        CHECK(end > text && (*end == ',' || !*end));
        if (!*end)
            break;
    }
    return count;
}

static void take_section(task *k, const char *text)
{
    k->whole = !strcmp(text, "()");
    for (int d = 0; !k->whole && *text; d++) {
        long long lo, hi, step;
        CHECK(sscanf(text, "%lld:%lld:%lld", &lo, &hi, &step) == 3);
        k->lo[d] = lo;
        k->hi[d] = hi;
        k->step[d] = step;
        text += strcspn(text, ",");
        text += *text == ',';
    }
}

static void take_fill(task *k, const char *text)
{
    k->filled = is_said(text);
    for (int i = 0; k->filled && text[2 * i]; i++) {
        unsigned byte = 0;
        CHECK(i < (int)sizeof k->fill && sscanf(text + (ptrdiff_t)2 * i, "%2x", &byte) == 1);
        k->fill[i] = (char)byte;
    }
}

static void load(task *k, const char *path)
{
    FILE *f = fopen(path, "rb");
    CHECK(f && !fseek(f, 0, SEEK_END));
    k->bytes = ftell(f);
    k->data = calloc(1, (size_t)k->bytes + 1);
    rewind(f);
    CHECK(k->data && fread(k->data, 1, (size_t)k->bytes, f) == (size_t)k->bytes);
    fclose(f);
}

static void store(const task *k, const char *path)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(k->data, 1, (size_t)k->bytes, f) == (size_t)k->bytes && !fclose(f));
}

/* --- what a rank does --- */

/* The part of a rank, and where it is in the data. */
typedef struct part {
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], stride[WEIR_MAX_DIMENSIONS];
    int64_t offset;
    bool some;
} part;

static int64_t count_taken(const task *k, int d)
{
    return k->hi[d] <= k->lo[d] ? 0 : (k->hi[d] - k->lo[d] + k->step[d] - 1) / k->step[d];
}

/* Without a section all of it is one. */
static int64_t settle_section(task *k, const weir_array_info *info)
{
    int64_t all = weir_type_bytes(info->type);
    for (int d = 0; d < info->dimensions; d++) {
        if (k->whole) {
            k->lo[d] = 0;
            k->hi[d] = info->shape[d];
            k->step[d] = 1;
        }
        all *= count_taken(k, d);
    }
    return all;
}

static part find_part(const task *k, const weir_array_info *info, int rank)
{
    part p = {.some = true};
    int64_t stride = weir_type_bytes(info->type);
    memcpy(p.lo, k->lo, sizeof p.lo);
    memcpy(p.hi, k->hi, sizeof p.hi);
    for (int d = info->dimensions - 1; d >= 0; d--) {
        p.stride[d] = stride;
        stride *= count_taken(k, d);
    }
    if (!info->dimensions) {
        p.some = rank == 0;
        return p;
    }
    const int d = k->dimension % info->dimensions;
    const wr_span own = wr_share(count_taken(k, d), rank, k->ranks);
    p.some = own.lo < own.hi;
    p.lo[d] = k->lo[d] + own.lo * k->step[d];
    p.hi[d] = p.some ? k->lo[d] + (own.hi - 1) * k->step[d] + 1 : p.lo[d];
    p.offset = own.lo * p.stride[d];
    return p;
}

static int access_part(task *k, weir_array *a, int rank, bool write)
{
    const weir_array_info *info = weir_array_get_info(a);
    const part p = find_part(k, info, rank);
    const weir_selection s = {.lo = p.lo, .hi = p.hi, .step = k->step};
    const weir_layout layout = {.stride = info->dimensions ? p.stride : NULL};
    const weir_selection *some = p.some ? &s : NULL;
    return write ? weir_array_write_all(a, some, &layout, k->data + p.offset, NULL)
                 : weir_array_read_all(a, some, &layout, k->data + p.offset, NULL);
}

static int write_array(task *k, wr_world *w)
{
    weir_array *a;
    const weir_array_options options = {.overwrite = 1, .fill = k->filled ? k->fill : NULL};
    int code = wr_array_create(w, k->word[3], &k->info, &options, "", &a);
    if (code)
        return code;
    code = access_part(k, a, w->transport->rank, true);
    if (!code)
        return weir_array_close(a);
    const weir_error error = *weir_error_last();
    weir_array_discard(a);
    return wr_error_raise(&error);
}

static void tell(task *k, const weir_array_info *info)
{
    int at = snprintf(k->told, sizeof k->told, "%s%s %s %d", info->swapped ? ">" : "<",
                      weir_type_name(info->type), info->columns ? "F" : "C", info->format);
    for (int d = 0; d < info->dimensions; d++)
        at +=
            snprintf(k->told + at, sizeof k->told - (size_t)at, " %lld", (long long)info->shape[d]);
}

static int open_and_access(task *k, wr_world *w)
{
    const bool write = *k->word[0] == 'c';
    const int rank = w->transport->rank;
    weir_array *a;
    int code = wr_array_open(w, k->word[3], write ? WEIR_READ | WEIR_WRITE : WEIR_READ, "", &a);
    if (code)
        return code;
    if (!rank) {
        const int64_t bytes = settle_section(k, weir_array_get_info(a));
        tell(k, weir_array_get_info(a));
        CHECK(!write || bytes == k->bytes);
        if (!write) {
            k->bytes = bytes;
            k->data = malloc((size_t)bytes + 1);
            CHECK(k->data);
        }
    }
    CHECK(!wr_agree(w->transport, 0, 0));
    code = access_part(k, a, rank, write);
    const weir_error error = *weir_error_last();
    CHECK(!weir_array_close(a));
    return code ? wr_error_raise(&error) : 0;
}

static void rank_body(wr_transport *t, void *user)
{
    task *k = user;
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    k->codes[t->rank] = *k->word[0] == 'w' ? write_array(k, w) : open_and_access(k, w);
    if (!t->rank)
        k->error = *weir_error_last();
    CHECK(!wr_agree(t, 0, 0));
    wr_world_release(w);
}

/* --- commands --- */

static void take_new(task *k)
{
    char **word = k->word;
    static const char *const formats[] = {[WEIR_ZARR] = "zarr", [WEIR_ZARR2] = "zarr2"};
    CHECK(word[12]);
    for (int i = 0; i < (int)(sizeof formats / sizeof *formats); i++)
        if (formats[i] && !strcmp(word[4], formats[i]))
            k->info.format = i;
    k->info.type = weir_type_find(word[5]);
    k->info.columns = *word[6] == 'F';
    k->info.dimensions = take_sizes(word[7], k->info.shape);
    if (is_said(word[8])) {
        take_sizes(word[8], k->tile);
        k->info.tile = k->tile;
    }
    if (is_said(word[9])) {
        take_sizes(word[9], k->shard);
        k->info.shard = k->shard;
    }
    k->info.codec = is_said(word[10]) ? word[10] : NULL;
    take_fill(k, word[11]);
    k->whole = true;
    settle_section(k, &k->info);
    load(k, word[12]);
}

static void answer(char *line)
{
    static const task none;
    static task k; /* large */
    int words = 0;
    k = none;
    for (char *at = strtok(line, " \n"); at && words < WORDS - 1; at = strtok(NULL, " \n"))
        k.word[words++] = at;
    CHECK(words > 5);
    const bool write = *k.word[0] == 'w', read = *k.word[0] == 'r';
    k.ranks = atoi(k.word[1]);
    k.dimension = atoi(k.word[2]);
    CHECK(k.ranks > 0 && k.ranks <= MOST_RANKS);
    if (write)
        take_new(&k);
    else
        take_section(&k, k.word[4]);
    if (!write && !read)
        load(&k, k.word[5]);
    CHECK(!wr_local_run(k.ranks, &(wr_tunables){0}, rank_body, &k));
    for (int r = 1; r < k.ranks; r++)
        CHECK_EQUAL(k.codes[r], k.codes[0]);
    if (k.codes[0])
        printf("error %d %s: %s\n", k.codes[0], k.error.file, k.error.text);
    else
        printf("ok %s\n", k.told);
    if (read && !k.codes[0])
        store(&k, k.word[5]);
    free(k.data);
    fflush(stdout);
}

int main(void)
{
    static char line[LINE];
    while (fgets(line, sizeof line, stdin))
        answer(line);
    return 0;
}
