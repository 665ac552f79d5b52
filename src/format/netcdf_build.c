/* New headers. */
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/attribute.h"
#include "format/convert.h"
#include "format/json.h"
#include "format/netcdf.h"
#include "format/netcdf_types.h"

enum { LONGEST_NAME = 256, MOST_ATTRIBUTES = 8192 };

typedef struct writer {
    wr_text out;
    int version, type;    /* of the file, and of the variable, as numbers of NetCDF */
    int64_t attributes;   /* so far */
    int64_t *name, names; /* where their names are, and room for that */
} writer;

static void encode(int64_t value, int bytes, char *to)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (char)((uint64_t)value >> 8 * (bytes - 1 - i));
}

static void put(writer *w, int64_t value, int bytes)
{
    char word[8];
    encode(value, bytes, word);
    wr_text_add(&w->out, word, bytes);
}

static int count_bytes(const writer *w)
{
    return w->version == 5 ? 8 : 4;
}

static void put_count(writer *w, int64_t value)
{
    put(w, value, count_bytes(w));
}

static void put_list(writer *w, int tag, int64_t items)
{
    put(w, items ? tag : 0, 4);
    put_count(w, items);
}

/* Everything is padded to 4 bytes. */
static void put_padded(writer *w, const char *bytes, int64_t count)
{
    static const char zeros[4];
    wr_text_add(&w->out, bytes, count);
    wr_text_add(&w->out, zeros, wr_round_up(count, 4) - count);
}

static void put_name(writer *w, const char *name)
{
    const int64_t length = (int64_t)strlen(name);
    put_count(w, length);
    put_padded(w, name, length);
}

/* The number of a type here; 0: there is none. */
static int number_of(int type)
{
    for (int i = 1; i < WR_NETCDF_TYPES; i++)
        if (wr_netcdf_types[i] == type)
            return i;
    return 0;
}

static int check_can_write(const wr_description *d, const char *name)
{
    const size_t length = strlen(name);
    if (!length || length > LONGEST_NAME || strchr(name, '/'))
        return wr_fail(WEIR_EINVAL, "\"%.40s\" is no name for a variable", name);
    if (!number_of(d->type))
        return wr_fail(WEIR_EUNSUPPORTED, "NetCDF has no type %s", weir_type_name(d->type));
    if (d->columns && d->dimensions > 1)
        return wr_fail(WEIR_EUNSUPPORTED, "NetCDF stores by rows only");
    for (int i = 1; i < d->dimensions; i++)
        if (!d->shape[i])
            return wr_fail(WEIR_EUNSUPPORTED, "NetCDF has no dimension of size 0 but the first");
    return 0;
}

/* --- attributes --- */

/* Characters that names cannot have become others. */
static bool fit_name(char *name)
{
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '/' || *at == 0x7f)
            *at = '_';
    return strlen(name) <= LONGEST_NAME;
}

/* Whether there is none of that name yet. */
static bool is_new(const writer *w, const char *name)
{
    const size_t length = strlen(name);
    for (int64_t i = 0; i < w->attributes; i++) {
        const char *other = w->out.bytes + w->name[i];
        char size[8];
        encode((int64_t)length, count_bytes(w), size);
        if (!memcmp(other, size, (size_t)count_bytes(w)) &&
            !memcmp(other + count_bytes(w), name, length))
            return false;
    }
    return true;
}

static void put_attribute(writer *w, const wr_attribute *a)
{
    const int64_t bytes = a->type ? weir_type_bytes(a->type) : 1;
    const int64_t count = a->type ? a->count : (int64_t)strlen(a->data);
    put_name(w, a->name);
    put(w, a->type ? number_of(a->type) : WR_NETCDF_TEXT, 4);
    put_count(w, count);
    if (a->type && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        wr_swap_here(&(wr_elements){a->type, a->data, bytes}, count);
    put_padded(w, a->data, count * bytes);
}

static int add_attribute(writer *w, wr_attribute *a)
{
    if (!fit_name(a->name) || !is_new(w, a->name))
        return 0;
    const int code = wr_grow((void **)&w->name, &w->names, w->attributes + 1, sizeof *w->name);
    if (code)
        return code;
    w->name[w->attributes] = w->out.used;
    put_attribute(w, a);
    w->attributes += !w->out.code;
    return w->out.code;
}

static int put_attributes(writer *w, const wr_labels *l)
{
    const wr_attribute_form form = {wr_netcdf_types[w->type], false, w->version == 5};
    const int64_t head = w->out.used;
    wr_attribute a;
    wr_json rest;
    put_list(w, WR_NETCDF_ATTRIBUTE, 0);
    if (w->out.code || !l->attributes ||
        wr_json_check(l->attributes, (int64_t)strlen(l->attributes), &rest))
        return w->out.code;
    int more = 1;
    while (more > 0 && w->attributes < MOST_ATTRIBUTES) {
        more = wr_attribute_next(&rest, &form, &a);
        if (more <= 0)
            break;
        const int code = add_attribute(w, &a);
        wr_attribute_release(&a);
        more = code ? code : 1;
    }
    if (more >= 0 && w->attributes) {
        encode(WR_NETCDF_ATTRIBUTE, 4, w->out.bytes + head);
        encode(w->attributes, count_bytes(w), w->out.bytes + head + 4);
    }
    return more < 0 ? more : 0;
}

/* --- all of it --- */

/* A size of 0 makes the first dimension that of records, of which there are none. */
static void put_dimensions(writer *w, const wr_description *d, const wr_names *n, int *number)
{
    int own = 0;
    for (int i = 0; i < d->dimensions; i++)
        number[i] = n->first[i] == i ? own++ : number[n->first[i]];
    put_list(w, WR_NETCDF_DIMENSION, own);
    for (int i = 0; i < d->dimensions; i++)
        if (n->first[i] == i) {
            put_name(w, n->name[i]);
            put_count(w, d->shape[i]);
        }
}

static void put_place(writer *w, const wr_description *d)
{
    static const char zeros[WR_NETCDF_WRITTEN];
    put(w, w->type, 4);
    put_count(w, wr_round_up(d->bytes, 4));
    const int64_t end = wr_round_up(w->out.used + 8, WR_NETCDF_WRITTEN);
    put(w, end, 8);
    wr_text_add(&w->out, zeros, end - w->out.used);
}

static int build(writer *w, const wr_description *d, const char *name, const wr_labels *labels)
{
    int number[WR_DIMENSIONS];
    wr_names names;
    const int code = wr_names_list(labels, d, &names);
    if (code)
        return code;
    wr_text_add(&w->out, "CDF", 3);
    put(w, w->version, 1);
    put_count(w, 0);
    put_dimensions(w, d, &names, number);
    put_list(w, WR_NETCDF_ATTRIBUTE, 0);
    put_list(w, WR_NETCDF_VARIABLE, 1);
    put_name(w, name);
    put_count(w, d->dimensions);
    for (int i = 0; i < d->dimensions; i++)
        put_count(w, number[i]);
    return put_attributes(w, labels);
}

int wr_netcdf_build(const wr_description *d, const char *name, const wr_labels *labels,
                    char **header, int64_t *length)
{
    writer w = {.out = {.name = "the header", .most = WR_NETCDF_LONGEST},
                .type = number_of(d->type)};
    int code = check_can_write(d, name);
    if (code)
        return code;
    w.version = w.type < WR_NETCDF_TYPES_OF_2 && d->bytes < INT32_MAX - 3 ? 2 : 5;
    code = build(&w, d, name, labels);
    wr_free(w.name);
    if (code) {
        wr_free(w.out.bytes);
        return code;
    }
    put_place(&w, d);
    return wr_text_take(&w.out, header, length);
}
