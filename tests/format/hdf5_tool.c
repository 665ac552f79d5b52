/* The C side of hdf5_python.py: a line of words is a command, and is answered by lines up to one
 * that is empty. "-" stands for no words; lists are joined by commas.
 *     look FILE NAME
 *     make FILE NAME TYPE SWAPPED SHAPE TILE CODECS FILL    codecs: zlib:6 shuffle:4 fletcher32
 *     pack FILE NAME NUMBER=FILE...                         the bytes of tiles
 *     begins FILE
 *     list FILE                                             looks at each while it is told of it
 * Without the module it says so and ends with 77. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "format/hdf5.h"

enum { LINE = 1 << 16, WORDS = 64 };

static void say_failure(int code)
{
    printf("error %d %s\n", code, weir_error_last()->text);
}

static void print_sizes(const char *what, int count, const int64_t *size)
{
    printf("%s", what);
    for (int i = 0; i < count; i++)
        printf(" %lld", (long long)size[i]);
    printf("\n");
}

static void print(const wr_hdf5 *h)
{
    const wr_description *d = &h->what;
    printf("type %s\nswapped %d\noffset %lld\nbytes %lld\n", weir_type_name(d->type), d->swapped,
           (long long)d->data_offset, (long long)d->bytes);
    print_sizes("shape", d->dimensions, d->shape);
    if (d->tiling.levels)
        print_sizes("tile", d->dimensions, d->tiling.tile);
    for (int i = 0; i < d->tiling.codecs.count; i++) {
        const wr_codec *c = &d->tiling.codecs.codec[i];
        printf("codec %d %d %d\n", c->kind, c->level, c->element);
    }
    printf("fill ");
    for (int i = 0; i < (int)weir_type_bytes(d->type); i++)
        printf("%02x", (unsigned char)h->fill[i]);
    printf("\ntiles %lld\n", (long long)h->tiles);
    for (int64_t i = 0; i < h->tiles; i++)
        if (h->tile[i].bytes)
            printf("at %lld %lld %lld %lld\n", (long long)i, (long long)h->tile[i].offset,
                   (long long)h->tile[i].bytes, (long long)h->tile[i].skipped);
}

static const char *plain(const char *word)
{
    return strcmp(word, "-") ? word : "";
}

/* --- commands --- */

static void look(char **word)
{
    wr_hdf5 h;
    const int code = wr_hdf5_look(word[1], plain(word[2]), &h, NULL);
    if (code) {
        say_failure(code);
        return;
    }
    print(&h);
    wr_hdf5_release(&h);
}

static int read_sizes(const char *text, int64_t *size)
{
    int count = 0;
    for (char *end; *text; text = *end ? end + 1 : end)
        size[count++] = strtoll(text, &end, 10);
    return count;
}

static void read_codecs(const char *text, wr_codecs *codecs)
{
    for (; *text; text += strcspn(text, ",") + (strchr(text, ',') != NULL)) {
        wr_codec *c = &codecs->codec[codecs->count++];
        if (sscanf(text, "zlib:%d", &c->level) == 1)
            c->kind = WR_CODEC_ZLIB;
        else if (sscanf(text, "shuffle:%d", &c->element) == 1)
            c->kind = WR_CODEC_SHUFFLE;
        else
            c->kind = !strncmp(text, "fletcher32", 10) ? WR_CODEC_FLETCHER32 : WR_CODEC_ZSTD;
    }
}

static void make(char **word)
{
    wr_hdf5 h = {.what = {.type = weir_type_find(word[3]), .swapped = atoi(word[4]) != 0}};
    h.what.dimensions = read_sizes(plain(word[5]), h.what.shape);
    if (*plain(word[6])) {
        h.what.tiling.levels = 1;
        read_sizes(word[6], h.what.tiling.tile);
        for (int i = 0; i < h.what.dimensions; i++)
            h.what.tiling.order[i] = i;
        read_codecs(plain(word[7]), &h.what.tiling.codecs);
    }
    for (int i = 0; i < 16 && strlen(plain(word[8])) > 2 * (size_t)i; i++) {
        const char digits[3] = {word[8][2 * i], word[8][2 * i + 1]};
        h.fill[i] = (char)strtol(digits, NULL, 16);
    }
    const int code = wr_hdf5_make(word[1], word[2], &h, &(wr_labels){0});
    if (code)
        say_failure(code);
    else
        print(&h);
    wr_hdf5_release(&h);
}

typedef struct feeder {
    char **next; /* NUMBER=FILE */
    char *bytes;
} feeder;

static int feed(void *user, int64_t *number, const void **data, int64_t *bytes)
{
    feeder *f = user;
    char *path;
    if (!*f->next)
        return 0;
    *number = strtoll(*f->next++, &path, 10);
    FILE *file = fopen(path + 1, "rb");
    if (!file)
        return wr_fail(WEIR_ENOENT, "the feeder has no %s", path + 1);
    *bytes = (int64_t)fread(f->bytes, 1, 1 << 20, file);
    fclose(file);
    *data = f->bytes;
    return 1;
}

static void pack(char **word)
{
    wr_hdf5 h;
    feeder f = {.next = word + 3, .bytes = wr_alloc(1 << 20)};
    int code = wr_hdf5_look(word[1], word[2], &h, NULL);
    if (!code) {
        code = wr_hdf5_pack(word[1], word[2], &h, &(wr_hdf5_tiles){.next = feed, .user = &f});
        wr_hdf5_release(&h);
    }
    wr_free(f.bytes);
    if (code)
        say_failure(code);
}

static void begins(char **word)
{
    char start[WR_HDF5_START];
    FILE *file = fopen(word[1], "rb");
    if (!file)
        return;
    printf("%d\n", wr_hdf5_begins(start, (int64_t)fread(start, 1, sizeof start, file)));
    fclose(file);
}

static int look_at_told(void *user, const char *name, const wr_description *d)
{
    wr_hdf5 h;
    if (!d) {
        printf("%s %s\n", name, weir_error_last()->text);
    } else if (!wr_hdf5_look(user, name, &h, NULL)) {
        printf("%s %s %d\n", name, weir_type_name(d->type),
               d->dimensions == h.what.dimensions && d->bytes == h.what.bytes);
        wr_hdf5_release(&h);
    }
    return 0;
}

static void list(char **word)
{
    const int code = wr_hdf5_list(word[1], look_at_told, word[1]);
    if (code)
        say_failure(code);
}

static void obey(char **word, int words)
{
    if (words == 3 && !strcmp(word[0], "look"))
        look(word);
    else if (words == 9 && !strcmp(word[0], "make"))
        make(word);
    else if (words >= 3 && !strcmp(word[0], "pack"))
        pack(word);
    else if (words == 2 && !strcmp(word[0], "begins"))
        begins(word);
    else if (words == 2 && !strcmp(word[0], "list"))
        list(word);
    else
        printf("error 0 no such command\n");
    printf("\n");
    fflush(stdout);
}

int main(void)
{
    static char line[LINE];
    wr_hdf5 h;
    if (wr_hdf5_look("/dev/null", "x", &h, NULL) == WEIR_EUNSUPPORTED) {
        printf("%s\n", weir_error_last()->text);
        return 77;
    }
    while (fgets(line, sizeof line, stdin)) {
        char *word[WORDS + 1] = {0};
        int words = 0;
        for (char *w = strtok(line, " \n"); w && words < WORDS; w = strtok(NULL, " \n"))
            word[words++] = w;
        obey(word, words);
    }
    return 0;
}
