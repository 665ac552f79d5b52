/* HDF5 itself is in a module that is loaded once, from the folder of this library, and kept. What
 * it says is not trusted: a tile or data that do not lie in the file are WEIR_EFORMAT. */
#include "format/hdf5.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/limit.h"
#include "base/memory.h"
#include "format/attribute.h"
#include "format/json_text.h"
#include "hdf5/module.h"

/* So that a damaged file cannot take all memory. */
#define MOST_TILES (INT64_C(1) << 27)

/* --- the module --- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* HDF5 has no threads */
static const wr_hdf5_module *loaded;
static char why_not[160];

/* Where the module should be: `folder` is of PATH_MAX. */
static bool find_folder(char *folder)
{
    Dl_info info;
    if (!dladdr(why_not, &info) || !info.dli_fname || !realpath(info.dli_fname, folder))
        return false;
    char *end = strrchr(folder, '/');
    if (!end)
        return false;
    end[1] = 0;
    return true;
}

/* Programs that have the library inside them find it by name. */
static void load(void)
{
    static char folder[PATH_MAX], path[PATH_MAX + sizeof WR_HDF5_MODULE];
    const bool found = find_folder(folder);
    snprintf(path, sizeof path, "%s" WR_HDF5_MODULE, found ? folder : "");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *reason = handle ? "it is of another version" : dlerror();
    if (!handle && access(path, F_OK))
        reason = WR_HDF5_MODULE " is not beside the library";
    snprintf(why_not, sizeof why_not, "%s", reason ? reason : "no reason given");
    if (!handle)
        handle = dlopen(WR_HDF5_MODULE, RTLD_NOW | RTLD_LOCAL);
    loaded = handle ? dlsym(handle, WR_HDF5_SYMBOL) : NULL;
    if (loaded && loaded->version != WR_HDF5_VERSION)
        loaded = NULL;
}

/* NULL, with WEIR_EUNSUPPORTED raised; else it is the caller's until leave(). */
static const wr_hdf5_module *enter(void)
{
    pthread_once(&once, load);
    if (!loaded) {
        wr_fail(WEIR_EUNSUPPORTED, "this build has no HDF5: %s", why_not);
        return NULL;
    }
    pthread_mutex_lock(&one_at_a_time);
    return loaded;
}

/* Raises what the module said, if it failed and not a function of ours that it called. */
static int leave(int code, const char *text, const char *path)
{
    pthread_mutex_unlock(&one_at_a_time);
    if (code && *text)
        wr_fail(code, "%s", text);
    if (code)
        wr_error_note_file(path, -1);
    return code;
}

/* --- reading --- */

typedef struct looker {
    wr_hdf5 *h;
    int64_t size; /* of the file */
    wr_text attributes, names;
    int named; /* dimensions whose names are known, or left out */
} looker;

bool wr_hdf5_begins(const void *start, int64_t bytes)
{
    return bytes >= WR_HDF5_START && !memcmp(start, "\211HDF\r\n\032\n", WR_HDF5_START);
}

static int take_filter(const wr_hdf5_filter *filter, wr_codecs *codecs)
{
    wr_codec *codec = &codecs->codec[codecs->count];
    if (codecs->count == WR_CODECS)
        return wr_fail(WEIR_EUNSUPPORTED, "the dataset has more than %d filters", WR_CODECS);
    *codec = (wr_codec){0};
    if (filter->id == WR_HDF5_DEFLATE) {
        codec->kind = WR_CODEC_ZLIB;
        codec->level = filter->parameter > 9 ? 9 : (int)filter->parameter;
    } else if (filter->id == WR_HDF5_SHUFFLE) {
        if (filter->parameter < 1 || filter->parameter > WR_TILE_MOST)
            return wr_fail(WEIR_EFORMAT, "the filter shuffle is for elements of %u bytes",
                           filter->parameter);
        codec->kind = WR_CODEC_SHUFFLE;
        codec->element = (int)filter->parameter;
    } else if (filter->id == WR_HDF5_FLETCHER32) {
        codec->kind = WR_CODEC_FLETCHER32;
    } else {
        return wr_fail(WEIR_EUNSUPPORTED, "the dataset has the filter %.39s (number %d)",
                       *filter->name ? filter->name : "without a name", filter->id);
    }
    codecs->count++;
    return 0;
}

static int take_tiling(const wr_hdf5_facts *f, wr_tiling *t)
{
    int code = 0;
    *t = (wr_tiling){.levels = 1};
    for (int i = 0; i < f->dimensions; i++) {
        t->tile[i] = f->tile[i];
        t->order[i] = i;
    }
    for (int i = 0; i < f->filters && !code; i++)
        code = take_filter(&f->filter[i], &t->codecs);
    return code;
}

static int take_run(const looker *l, const wr_hdf5_facts *f)
{
    wr_description *d = &l->h->what;
    if (!d->bytes)
        return 0;
    if (f->offset < 0)
        return wr_fail(WEIR_EUNSUPPORTED, "the dataset has no data yet");
    if (f->offset > l->size || d->bytes > l->size - f->offset)
        return wr_fail(WEIR_EFORMAT, "the dataset ends behind the end of the file");
    d->data_offset = f->offset;
    return 0;
}

static int take_table(wr_hdf5 *h, int64_t size)
{
    const int64_t tiles = h->what.tiling.shards;
    if (tiles > MOST_TILES || tiles > (1 << 20) + size) /* of a small file not that many */
        return wr_fail(WEIR_EUNSUPPORTED, "the dataset has more than %lld chunks",
                       (long long)MOST_TILES);
    h->tile = wr_alloc_array(tiles, sizeof *h->tile);
    if (!h->tile)
        return WEIR_ENOMEM;
    memset(h->tile, 0, (size_t)tiles * sizeof *h->tile);
    h->tiles = tiles;
    return 0;
}

static int take_facts(void *user, const wr_hdf5_facts *f)
{
    looker *l = user;
    wr_description *d = &l->h->what;
    if (f->dimensions > WR_DIMENSIONS)
        return wr_fail(WEIR_EUNSUPPORTED, "%d dimensions, at most %d are possible", f->dimensions,
                       WR_DIMENSIONS);
    *d = (wr_description){
        .type = f->type, .dimensions = f->dimensions, .swapped = f->swapped, .format = WEIR_HDF5};
    memcpy(d->shape, f->shape, (size_t)f->dimensions * sizeof *d->shape);
    memcpy(l->h->fill, f->fill, sizeof l->h->fill);
    int code = f->tiled ? take_tiling(f, &d->tiling) : 0;
    if (!code)
        code = wr_description_settle(d);
    if (!code)
        code = f->tiled ? take_table(l->h, l->size) : take_run(l, f);
    return code;
}

static int take_tile(void *user, int64_t number, int64_t offset, int64_t bytes, unsigned skipped)
{
    looker *l = user;
    const wr_tiling *t = &l->h->what.tiling;
    const unsigned all = (1U << t->codecs.count) - 1;
    if (number >= l->h->tiles || offset < 0 || offset > l->size || bytes > l->size - offset)
        return wr_fail(WEIR_EFORMAT, "chunk %lld does not lie in the file", (long long)number);
    if ((skipped & all) == all && bytes != t->tile_bytes)
        return wr_fail(WEIR_EFORMAT, "chunk %lld has %lld bytes, not %lld", (long long)number,
                       (long long)bytes, (long long)t->tile_bytes);
    l->h->tile[number] = (wr_tile_place){offset, bytes, skipped & all};
    return 0;
}

/* --- labels --- */

static void print_value(const wr_hdf5_attribute *a, int64_t i, wr_text *text)
{
    if (a->type)
        wr_json_number(a->type, (const char *)a->data + i * weir_type_bytes(a->type), text);
    else
        wr_json_quote(a->text[i], (int64_t)strlen(a->text[i]), text);
}

/* Only a lack of memory is an error; what is too long is left out at the end. */
static int code_of(const wr_text *text)
{
    return text->code == WEIR_ERANGE ? 0 : text->code;
}

static int take_attribute(void *user, const wr_hdf5_attribute *a)
{
    wr_text *text = &((looker *)user)->attributes;
    wr_text_put(text, text->used ? ", " : "{");
    wr_json_quote(a->name, (int64_t)strlen(a->name), text);
    wr_text_put(text, a->list ? ": [" : ": ");
    for (int64_t i = 0; i < a->count && !text->code; i++) {
        wr_text_put(text, i ? ", " : "");
        print_value(a, i, text);
    }
    wr_text_put(text, a->list ? "]" : "");
    return code_of(text);
}

/* Dimensions before this one have no name. */
static void skip_names(looker *l, int dimension)
{
    for (; l->named < dimension; l->named++)
        wr_text_put(&l->names, "%snull", l->named ? ", " : "[");
}

static int take_name(void *user, int dimension, const char *name)
{
    looker *l = user;
    skip_names(l, dimension);
    wr_text_put(&l->names, l->named++ ? ", " : "[");
    wr_json_quote(name, (int64_t)strlen(name), &l->names);
    return code_of(&l->names);
}

static int take_labels(looker *l, wr_labels *out)
{
    int code = 0;
    if (l->named)
        skip_names(l, l->h->what.dimensions);
    if (l->attributes.used) {
        wr_text_put(&l->attributes, "}");
        code = wr_labels_take(&l->attributes, &out->attributes);
        l->attributes.bytes = NULL;
    }
    if (!code && l->named) {
        wr_text_put(&l->names, "]");
        code = wr_labels_take(&l->names, &out->names);
        l->names.bytes = NULL;
    }
    return code;
}

/* What HDF5 would not tell apart: no such file, or no permission. */
static int measure(const char *path, int64_t *size)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return wr_fail_system(errno, path, -1, "open");
    const int error = fstat(fd, &info) ? errno : 0;
    close(fd);
    if (error)
        return wr_fail_system(error, path, -1, "look at");
    *size = info.st_size;
    return 0;
}

int wr_hdf5_look(const char *path, const char *name, wr_hdf5 *out, wr_labels *labels)
{
    char text[WR_HDF5_TEXT] = "";
    wr_hdf5 h = {0};
    wr_labels said = {0};
    looker l = {.h = &h,
                .attributes = {.name = "attributes", .most = WR_LABELS_LONGEST},
                .names = {.name = "names of dimensions", .most = WR_LABELS_LONGEST}};
    wr_hdf5_listener listener = {.user = &l, .facts = take_facts, .tile = take_tile};
    if (labels) {
        listener.attribute = take_attribute;
        listener.name = take_name;
    }
    int code = measure(path, &l.size);
    if (code)
        return code;
    const wr_hdf5_module *module = enter();
    if (!module)
        return WEIR_EUNSUPPORTED;
    code = leave(module->look(path, name ? name : "", &listener, text), text, path);
    if (!code)
        code = take_labels(&l, &said);
    wr_free(l.attributes.bytes);
    wr_free(l.names.bytes);
    if (code) {
        wr_hdf5_release(&h);
        wr_labels_release(&said);
        return code;
    }
    *out = h;
    if (labels)
        *labels = said;
    return 0;
}

int wr_hdf5_count(const char *path)
{
    char text[WR_HDF5_TEXT] = "";
    const wr_hdf5_module *module = enter();
    if (!module)
        return WEIR_EUNSUPPORTED;
    const int count = module->count(path, text);
    const int code = leave(count < 0 ? count : 0, text, path);
    return code ? code : count;
}

/* A dataset, told of when HDF5 is free again: who is told may open it. */
typedef struct listed {
    struct listed *next;
    int type, swapped, dimensions;
    int64_t shape[WR_DIMENSIONS];
    char *problem; /* behind the name; NULL: none */
    char name[];
} listed;

typedef struct lister {
    listed *first, **last;
} lister;

static int note_one(void *user, const char *name, const wr_hdf5_facts *f, const char *text)
{
    lister *l = user;
    const size_t own = strlen(name) + 1, more = f ? 0 : strlen(text) + 1;
    listed *one = wr_alloc((int64_t)(sizeof *one + own + more));
    if (!one)
        return WEIR_ENOMEM;
    *one = (listed){0};
    memcpy(one->name, name, own);
    if (!f) {
        one->problem = memcpy(one->name + own, text, more);
    } else {
        one->type = f->type;
        one->swapped = f->swapped;
        one->dimensions = f->dimensions;
        memcpy(one->shape, f->shape,
               (size_t)wr_min(f->dimensions, WR_DIMENSIONS) * sizeof *f->shape);
    }
    *l->last = one;
    l->last = &one->next;
    return 0;
}

static int tell_one(const listed *one, wr_hdf5_listed *each, void *user)
{
    wr_description d = {.format = WEIR_HDF5};
    int code = one->problem ? wr_fail(WEIR_EUNSUPPORTED, "%s", one->problem) : 0;
    if (!code && one->dimensions > WR_DIMENSIONS)
        code = wr_fail(WEIR_EUNSUPPORTED, "%d dimensions, at most %d are possible", one->dimensions,
                       WR_DIMENSIONS);
    if (!code) {
        d.type = one->type;
        d.swapped = one->swapped;
        d.dimensions = one->dimensions;
        memcpy(d.shape, one->shape, (size_t)one->dimensions * sizeof *d.shape);
        code = wr_description_settle(&d);
    }
    return each(user, one->name, code ? NULL : &d);
}

int wr_hdf5_list(const char *path, wr_hdf5_listed *each, void *user)
{
    char text[WR_HDF5_TEXT] = "";
    lister l = {.last = &l.first};
    int64_t size;
    int code = measure(path, &size);
    const wr_hdf5_module *module = code ? NULL : enter();
    if (!module)
        return code ? code : WEIR_EUNSUPPORTED;
    code = module->list(path, note_one, &l, text);
    pthread_mutex_unlock(&one_at_a_time);
    if (code && *text) {
        wr_fail(code, "%s", text);
        wr_error_note_file(path, -1);
    }
    const weir_error error = *weir_error_last();
    int told = 0; /* also of a file that is damaged further on */
    for (listed *one = l.first, *next; one; one = next) {
        next = one->next;
        if (!told)
            told = tell_one(one, each, user);
        wr_free(one);
    }
    return told || !code ? told : wr_error_raise(&error);
}

/* --- writing --- */

static int give_filter(const wr_codec *codec, int64_t element, wr_hdf5_filter *filter)
{
    if (codec->kind == WR_CODEC_ZLIB && codec->level >= 0 && codec->level <= 9)
        *filter = (wr_hdf5_filter){.id = WR_HDF5_DEFLATE, .parameter = (unsigned)codec->level};
    else if (codec->kind == WR_CODEC_SHUFFLE && codec->element == element)
        *filter = (wr_hdf5_filter){.id = WR_HDF5_SHUFFLE, .parameter = (unsigned)element};
    else if (codec->kind == WR_CODEC_FLETCHER32)
        *filter = (wr_hdf5_filter){.id = WR_HDF5_FLETCHER32};
    else
        return wr_fail(WEIR_EUNSUPPORTED,
                       "of codecs HDF5 has zlib of levels 0 to 9, shuffle of "
                       "%lld bytes, and fletcher32",
                       (long long)element);
    return 0;
}

static int give_tiling(const wr_description *d, wr_hdf5_facts *f)
{
    const wr_tiling *t = &d->tiling;
    int code = 0;
    if (!t->levels)
        return 0;
    if (t->levels > 1)
        return wr_fail(WEIR_EUNSUPPORTED, "HDF5 has no shards");
    if (!d->dimensions)
        return wr_fail(WEIR_EUNSUPPORTED, "HDF5 has no chunks of a single value");
    f->tiled = 1;
    for (int i = 0; i < d->dimensions; i++) {
        f->tile[i] = t->tile[i];
        if (t->order[i] != i)
            return wr_fail(WEIR_EUNSUPPORTED, "HDF5 stores by rows only");
    }
    for (; f->filters < t->codecs.count && !code; f->filters++)
        code = give_filter(&t->codecs.codec[f->filters], weir_type_bytes(d->type),
                           &f->filter[f->filters]);
    return code;
}

static int give_facts(const wr_hdf5 *h, wr_hdf5_facts *f)
{
    wr_description d = h->what;
    d.data_offset = 0;
    int code = wr_description_settle(&d);
    if (code)
        return code;
    if ((d.columns && d.dimensions > 1) || d.record)
        return wr_fail(WEIR_EUNSUPPORTED, "HDF5 stores by rows only");
    *f = (wr_hdf5_facts){.type = d.type, .swapped = d.swapped, .dimensions = d.dimensions};
    memcpy(f->shape, d.shape, sizeof d.shape);
    memcpy(f->fill, h->fill, sizeof h->fill);
    return give_tiling(&d, f);
}

static int create(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return wr_fail_system(errno, path, -1, "create");
    close(fd);
    return 0;
}

/* Labels as the module has them; `own` are the attributes, whose data they borrow. */
typedef struct giver {
    wr_attribute *own;
    wr_hdf5_attribute *attribute;
    int64_t count, room, room_own;
    wr_names names;
    const char *name[WR_DIMENSIONS];
    wr_hdf5_labels labels;
} giver;

static void giver_release(giver *g)
{
    for (int64_t i = 0; i < g->count; i++) {
        wr_attribute_release(&g->own[i]);
        wr_free((void *)g->attribute[i].text);
    }
    wr_free(g->own);
    wr_free(g->attribute);
}

/* Strings one after the other get pointers. */
static int list_strings(const wr_attribute *a, const char ***out)
{
    const char **text = wr_alloc_array(a->count, sizeof *text), *at = a->data;
    for (int64_t i = 0; text && i < a->count; i++, at += strlen(at) + 1)
        text[i] = at;
    *out = text;
    return text ? 0 : WEIR_ENOMEM;
}

static int give_attribute(giver *g, wr_attribute *a)
{
    const char **text = NULL;
    int code = wr_grow((void **)&g->own, &g->room_own, g->count + 1, sizeof *g->own);
    if (!code)
        code = wr_grow((void **)&g->attribute, &g->room, g->count + 1, sizeof *g->attribute);
    if (!code && !a->type)
        code = list_strings(a, &text);
    if (code) {
        wr_attribute_release(a);
        return code;
    }
    g->own[g->count] = *a;
    g->attribute[g->count++] = (wr_hdf5_attribute){.name = a->name,
                                                   .type = a->type,
                                                   .list = a->list,
                                                   .count = a->count,
                                                   .data = a->data,
                                                   .text = text};
    return 0;
}

static int give_labels(const wr_labels *labels, const wr_description *d, giver *g)
{
    const wr_attribute_form form = {d->type, true, true};
    wr_attribute a;
    wr_json rest;
    int code = 0;
    if (labels->attributes &&
        !wr_json_check(labels->attributes, (int64_t)strlen(labels->attributes), &rest))
        while (!code && (code = wr_attribute_next(&rest, &form, &a)) > 0)
            code = give_attribute(g, &a);
    if (!code)
        code = wr_names_list(labels, d, &g->names);
    for (int i = 0; i < d->dimensions; i++)
        g->name[i] = g->names.name[i];
    g->labels = (wr_hdf5_labels){g->count, g->attribute, labels->names ? g->name : NULL};
    return code;
}

static int make(const char *path, const char *name, const char *room, const wr_hdf5 *h)
{
    char text[WR_HDF5_TEXT] = "";
    wr_hdf5_facts facts;
    int code = give_facts(h, &facts);
    if (code)
        return code;
    const wr_hdf5_module *module = enter();
    if (!module)
        return WEIR_EUNSUPPORTED;
    code = room ? 0 : create(path);
    if (code)
        return leave(code, text, path);
    code = leave(module->make(path, name, room, &facts, text), text, path);
    if (code && !room)
        unlink(path);
    return code;
}

static int finish(const char *path, const char *name, const char *other, const wr_hdf5 *h,
                  const wr_labels *labels)
{
    char text[WR_HDF5_TEXT] = "";
    giver g = {0};
    int code = give_labels(labels, &h->what, &g);
    const wr_hdf5_module *module = code ? NULL : enter();
    if (!code)
        code = module ? leave(module->finish(path, name, other, &g.labels, text), text, path)
                      : WEIR_EUNSUPPORTED;
    giver_release(&g);
    return code;
}

/* It is looked at afterwards, which tells places, and that all of it lies in the file. */
static int look_again(const char *path, const char *name, wr_hdf5 *h)
{
    wr_hdf5 made;
    const int code = wr_hdf5_look(path, name, &made, NULL);
    if (code)
        return code;
    wr_hdf5_release(h);
    *h = made;
    return 0;
}

int wr_hdf5_make(const char *path, const char *name, wr_hdf5 *h, const wr_labels *labels)
{
    int code = make(path, name, NULL, h);
    if (code)
        return code;
    if (labels->attributes || labels->names)
        code = finish(path, name, NULL, h, labels);
    if (!code)
        code = look_again(path, name, h);
    if (code)
        unlink(path);
    return code;
}

/* HDF5 leaves a file that it cannot write damaged, so there is space for what it will write, and
 * for `growth` bytes that need not be there yet. Where space cannot be had before it is needed, it
 * may still lack. */
static int make_room(const char *path, int64_t bytes, int64_t growth)
{
    enum { RECORDS = 128 << 10 };
    struct stat info = {0};
    int64_t end;
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    int error = fd < 0 || fstat(fd, &info) ? errno : 0;
    if (!error && (!wr_add(info.st_size, bytes + RECORDS, &end) || !wr_add(end, growth, &end) ||
                   end > wr_file_limit()))
        error = EFBIG;
    if (!error && fallocate(fd, FALLOC_FL_KEEP_SIZE, info.st_size, bytes + RECORDS) &&
        (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        error = errno;
    if (fd >= 0)
        close(fd);
    return error ? wr_fail_system(error, path, -1, "write") : 0;
}

/* What was not needed of it is free again; nobody writes the file by HDF5 meanwhile. */
static void give_room_back(const char *path)
{
    struct stat info;
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &info) && ftruncate(fd, info.st_size))
        errno = 0; /* it stays taken */
    close(fd);
}

/* What HDF5 notes of each chunk, and may leave free before it. */
static int64_t records_of(const wr_hdf5 *h)
{
    enum { RECORD = 128, GAP = 4096, LARGE = 64 << 10 };
    const wr_tiling *t = &h->what.tiling;
    const int64_t each = RECORD + (t->tile_bytes >= LARGE ? GAP : 0);
    return t->levels ? wr_min(t->shards, INT64_MAX / each / 2) * each : 0;
}

int wr_hdf5_join(const char *path, const char *made, const char *name, wr_hdf5 *h)
{
    const wr_tiling *t = &h->what.tiling;
    int64_t before;
    const int64_t bytes = !t->levels        ? h->what.bytes
                          : t->codecs.count ? 0
                                            : t->shards * t->shard_bytes;
    int code = measure(path, &before);
    if (!code)
        code = make_room(path, records_of(h), bytes);
    if (!code) {
        code = make(path, made, name, h);
        give_room_back(path);
    }
    if (!code && (code = look_again(path, made, h))) {
        const weir_error error = *weir_error_last();
        wr_hdf5_remove(path, made);
        wr_error_raise(&error);
    }
    if (code || !h->what.bytes || h->what.tiling.codecs.count)
        return code;
    h->reused = !h->tiles && h->what.data_offset < before;
    for (int64_t i = 0; i < h->tiles; i++)
        h->reused = h->reused || h->tile[i].offset < before;
    return 0;
}

int wr_hdf5_name(const char *path, const char *made, const char *name, const wr_hdf5 *h,
                 const wr_labels *labels)
{
    const int64_t said = (labels->attributes ? (int64_t)strlen(labels->attributes) : 0) +
                         (labels->names ? (int64_t)strlen(labels->names) : 0);
    int code = make_room(path, 4 * said, 0);
    if (code)
        return code;
    code = finish(path, made, name, h, labels);
    give_room_back(path);
    return code;
}

int wr_hdf5_remove(const char *path, const char *made)
{
    char text[WR_HDF5_TEXT] = "";
    const wr_hdf5_module *module = enter();
    return module ? leave(module->remove(path, made, text), text, path) : WEIR_EUNSUPPORTED;
}

int wr_hdf5_pack(const char *path, const char *name, const wr_hdf5 *h, const wr_hdf5_tiles *tiles)
{
    char text[WR_HDF5_TEXT] = "";
    if (!h->what.tiling.codecs.count)
        return wr_fail(WEIR_EINVAL, "the dataset has no codecs");
    int code = make_room(path, tiles->bytes + records_of(h), 0);
    if (code)
        return code;
    const wr_hdf5_module *module = enter();
    if (!module)
        return WEIR_EUNSUPPORTED;
    code = leave(module->pack(path, name, tiles->next, tiles->user, text), text, path);
    give_room_back(path);
    return code;
}

void wr_hdf5_release(wr_hdf5 *h)
{
    wr_free(h->tile);
    *h = (wr_hdf5){0};
}
