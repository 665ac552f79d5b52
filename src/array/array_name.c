/* Names are taken apart from their end, because paths may have colons. */
#include "array/array_name.h"

#include <stdio.h>
#include <string.h>

#include "array/array_names.h"
#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/netcdf.h"
#include "format/npy.h"
#include "storage/paths.h"

/* --- raw: --- */

/* The last part of text[0, *length), which ends before its colon then; NULL: there is none. */
static const char *last_part(const char *text, size_t *length, size_t *part)
{
    size_t at = *length;
    while (at && text[at - 1] != ':')
        at--;
    if (!at)
        return NULL;
    *part = *length - at;
    *length = at - 1;
    return text + at;
}

/* Digits up to `end`, which it must be followed by. */
static const char *parse_size(const char *at, const char *end, int64_t *out)
{
    const char *first = at;
    for (*out = 0; at < end && *at >= '0' && *at <= '9'; at++)
        if (!wr_mul(*out, 10, out) || !wr_add(*out, *at - '0', out))
            return NULL;
    return at > first ? at : NULL;
}

static bool parse_shape(const char *at, size_t length, wr_description *d)
{
    const char *end = at + length;
    d->dimensions = 0;
    if (length == 2 && !strncmp(at, "()", 2))
        return true;
    while (at && d->dimensions < WR_DIMENSIONS) {
        at = parse_size(at, end, &d->shape[d->dimensions++]);
        if (at == end)
            return true;
        if (at && *at++ != ',')
            return false;
    }
    return false;
}

static bool parse_type(const char *at, size_t length, wr_description *d)
{
    char name[8];
    const char other = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<';
    if (!length || length >= sizeof name)
        return false;
    memcpy(name, at, length);
    name[length] = 0;
    d->type = weir_type_find(name);
    d->swapped = *name == other && weir_type_bytes(d->type) > 1;
    return d->type;
}

/* TYPE:SHAPE at the end of text[0, *length). */
static bool parse_element(const char *text, size_t *length, wr_description *d)
{
    size_t part, rest = *length;
    const char *at = last_part(text, &rest, &part);
    if (!at || !parse_shape(at, part, d))
        return false;
    at = last_part(text, &rest, &part);
    if (!at || !parse_type(at, part, d))
        return false;
    *length = rest;
    return true;
}

static bool parse_raw(const char *text, size_t *length, wr_description *d)
{
    size_t part, rest = *length;
    *d = (wr_description){.format = WEIR_RAW};
    if (rest > 2 && (!strncmp(text + rest - 2, ":F", 2) || !strncmp(text + rest - 2, ":C", 2))) {
        d->columns = text[rest - 1] == 'F';
        rest -= 2;
    }
    *length = rest;
    if (parse_element(text, length, d))
        return true;
    const char *at = last_part(text, &rest, &part);
    if (!at || parse_size(at, at + part, &d->data_offset) != at + part)
        return false;
    *length = rest;
    return parse_element(text, length, d);
}

/* --- names --- */

static int take_file(const char *text, size_t length, wr_array_name *out)
{
    if (length >= sizeof out->file)
        return wr_fail(WEIR_ERANGE, "a name of %lld bytes", (long long)length);
    memcpy(out->file, text, length);
    out->file[length] = 0;
    return 0;
}

static int take_raw(const char *text, wr_array_name *out)
{
    size_t length = strlen(text);
    out->kind = WR_NAME_RAW;
    if (!parse_raw(text, &length, &out->raw) || !length)
        return wr_fail(WEIR_EINVAL, "what begins with raw: is raw:PATH:TYPE:SHAPE[:OFFSET][:F], as "
                                    "raw:x.bin:f8:100,200");
    int code = wr_description_settle(&out->raw);
    return code ? code : take_file(text, length, out);
}

int wr_array_name_parse(const char *text, wr_array_name *out)
{
    static const char raw[] = "raw:";
    const char *colon = strstr(text, ":/");
    wr_folder_entry found;
    memset(out, 0, sizeof *out);
    if (!strncmp(text, raw, sizeof raw - 1))
        return take_raw(text + sizeof raw - 1, out);
    if (!colon || colon == text || !colon[2])
        return take_file(text, strlen(text), out);
    int code = take_file(text, (size_t)(colon - text) + 1, out);
    if (!code && !wr_folder_look(&wr_folder_here, out->file, true, &found) &&
        found.kind == WR_ENTRY_FOLDER)
        return take_file(text, strlen(text), out);
    out->kind = WR_NAME_INSIDE;
    out->file[colon - text] = 0;
    out->inner = colon + 2;
    return code;
}

/* --- what is there --- */

int wr_netcdf_head_use(const char *path, wr_netcdf_user *use, void *user)
{
    int64_t room = 64 << 10;
    bool cut = true;
    int code = 0;
    for (; cut && room <= WR_NETCDF_LONGEST; room *= 4) {
        wr_netcdf_head head;
        char *bytes = wr_alloc(room);
        if (!bytes)
            return WEIR_ENOMEM;
        head.bytes = bytes;
        cut = false;
        code = wr_path_head(path, room, bytes, &head.length, &head.size);
        if (!code)
            code = use(user, &head, &cut);
        wr_free(bytes);
    }
    return code;
}

typedef struct netcdf_look {
    const char *name;
    wr_netcdf *found;
} netcdf_look;

static int parse_netcdf(void *user, const wr_netcdf_head *head, bool *cut)
{
    const netcdf_look *look = user;
    const wr_description *out = &look->found->what;
    int code = wr_netcdf_parse(head, look->name, look->found, cut);
    if (!code && out->bytes && head->size < wr_description_end(out))
        code = wr_fail(WEIR_EFORMAT,
                       "the file is cut short: it has %lld bytes, its header tells of %lld",
                       (long long)head->size, (long long)wr_description_end(out));
    return code;
}

static int look_netcdf(const char *path, const char *name, wr_netcdf *found)
{
    int code = wr_netcdf_head_use(path, parse_netcdf, &(netcdf_look){name, found});
    if (code)
        wr_labels_release(&found->labels);
    return code;
}

static int look_raw(const wr_array_name *n, const char *path, wr_description *out)
{
    int64_t got, size;
    char none;
    int code = wr_path_head(path, 0, &none, &got, &size);
    *out = n->raw;
    if (!code && out->bytes && size < wr_description_end(out))
        code = wr_fail(WEIR_EFORMAT, "the file has %lld bytes, %lld were named", (long long)size,
                       (long long)wr_description_end(out));
    return code;
}

/* HDF5 begins where a program's own header ends. */
static bool is_hdf5(const char *start, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at = at ? 2 * at : 512)
        if (wr_hdf5_begins(start + at, bytes - at))
            return true;
    return false;
}

/* A .npy file is what most are, so that is tried before anything else. */
int wr_array_name_look(const wr_array_name *n, const char *path, wr_hdf5 *found, wr_labels *labels)
{
    char start[4096];
    int64_t got = 0, size;
    wr_description *out = &found->what;
    wr_netcdf netcdf = {0};
    *found = (wr_hdf5){0};
    *labels = (wr_labels){0};
    if (n->kind == WR_NAME_RAW)
        return wr_blame(look_raw(n, path, out), path);
    int code = n->kind == WR_NAME_PATH ? wr_npy_look(path, out) : WEIR_EFORMAT;
    if (code != WEIR_EFORMAT)
        return code;
    const weir_error no_npy = *weir_error_last();
    code = wr_path_head(path, sizeof start, start, &got, &size);
    if (!code && wr_netcdf_begins(start, got))
        code = look_netcdf(path, n->inner, &netcdf);
    else if (!code && is_hdf5(start, got))
        code = wr_hdf5_look(path, n->inner, found, labels);
    else if (!code && n->kind == WR_NAME_PATH)
        code = wr_error_raise(&no_npy);
    else if (!code)
        code = wr_fail(WEIR_EFORMAT, "PATH:/NAME is for NetCDF and HDF5 files, and this is none");
    if (!code && netcdf.what.type) {
        *out = netcdf.what;
        *labels = netcdf.labels;
    }
    return wr_blame(code, path);
}

/* --- what is made --- */

static bool is_same(const wr_description *a, const wr_description *b)
{
    return a->type == b->type && a->dimensions == b->dimensions && a->columns == b->columns &&
           !memcmp(a->shape, b->shape, (size_t)a->dimensions * sizeof *a->shape);
}

int wr_array_name_describe(const wr_array_name *n, const wr_labels *labels, wr_description *d)
{
    static const int format[] = {
        [WR_NAME_PATH] = WEIR_NPY, [WR_NAME_RAW] = WEIR_RAW, [WR_NAME_INSIDE] = WEIR_NETCDF};
    d->format = d->format ? d->format : format[n->kind];
    d->data_offset = WR_NPY_WRITTEN;
    if (n->kind == WR_NAME_RAW && !is_same(&n->raw, d))
        return wr_fail(WEIR_EINVAL, "its name tells of another type, shape or order");
    if (n->kind == WR_NAME_RAW) {
        d->data_offset = n->raw.data_offset;
        d->swapped = n->raw.swapped;
    } else if (n->kind == WR_NAME_INSIDE) {
        char *header;
        int code = wr_description_settle(d);
        if (!code)
            code = wr_netcdf_build(d, n->inner, labels, &header, &d->data_offset);
        if (code)
            return code;
        wr_free(header);
        d->swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && weir_type_bytes(d->type) > 1;
    }
    return wr_description_settle(d);
}

int wr_array_name_make(const wr_array_name *n, const wr_new_file *file, const wr_description *d,
                       const wr_labels *labels)
{
    char *header = NULL;
    wr_content content = {.exclusive = true, .owner = file->owner};
    if (n->kind == WR_NAME_PATH)
        return wr_npy_make(file->in, file->name, d, file->owner);
    content.size = wr_description_end(d);
    int code = 0;
    if (n->kind == WR_NAME_INSIDE) {
        code = wr_netcdf_build(d, n->inner, labels, &header, &content.bytes);
        content.size = wr_round_up(content.size, 4);
    }
    content.data = header;
    if (!code)
        code = wr_folder_put(file->in, file->name, &content);
    wr_free(header);
    return code;
}

enum { ENDINGS = 4 };
static const char *const endings[ENDINGS] = {".h5", ".hdf5", ".he5", ".nc4"};

bool wr_array_name_is_unsure(const wr_array_name *n)
{
    char start[16];
    for (size_t i = 0; n->kind == WR_NAME_PATH && i < ENDINGS; i++) {
        snprintf(start, sizeof start, "%s:", endings[i]);
        if (strstr(n->file, start))
            return true;
    }
    return n->kind == WR_NAME_PATH && strstr(n->file, ".nc:");
}

bool wr_array_name_is_hdf5(const wr_array_name *n)
{
    const size_t length = strlen(n->file);
    for (size_t i = 0; n->kind == WR_NAME_INSIDE && i < ENDINGS; i++) {
        const size_t end = strlen(endings[i]);
        if (length > end && !strcmp(n->file + length - end, endings[i]))
            return true;
    }
    return false;
}

static bool has_one_dataset(const wr_folder *in, const char *file)
{
    char path[WR_PATH];
    return !wr_path_join(in->path, file, path, sizeof path) && wr_hdf5_count(path) == 1;
}

int wr_array_file_is_one(const wr_folder *in, const char *file, bool *is_one)
{
    enum { ROOM = 64 << 10 };
    int64_t length;
    wr_netcdf_head head = {0};
    char *start = wr_alloc(ROOM);
    if (!start)
        return WEIR_ENOMEM;
    int code = wr_folder_head(in, file, ROOM, start, &head.length, &head.size);
    head.bytes = start;
    *is_one =
        !code && ((head.length >= WR_NPY_START && !wr_npy_measure(start, head.length, &length)) ||
                  wr_netcdf_variables(&head) == 1 ||
                  (is_hdf5(start, head.length) && has_one_dataset(in, file)));
    wr_free(start);
    return code;
}

int wr_array_file_begins(const wr_folder *in, const char *file, bool *begins)
{
    char start[4096];
    int64_t got = 0, size, length;
    int code = wr_folder_head(in, file, sizeof start, start, &got, &size);
    *begins = !code && ((got >= WR_NPY_START && !wr_npy_measure(start, got, &length)) ||
                        wr_netcdf_begins(start, got) || is_hdf5(start, got));
    return code;
}
