/* The header is read once, from the first byte on. Numbers are unsigned and big-endian; counts and
 * lengths have 8 bytes in CDF-5 and 4 before, offsets 4 in CDF-1 only. Once something is not there
 * the parser reads zeros, and says so at the end of a list. */
#include "format/netcdf.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"

enum { DIMENSION = 10, VARIABLE = 11, ATTRIBUTE = 12, NAMES = 120 };

typedef struct parser {
    const unsigned char *byte;
    int64_t at, end;
    int version;
    bool cut; /* something lies behind the end */
    int64_t records, record_dimensions;
    int64_t dimensions, *length;
} parser;

/* One of the variables. */
typedef struct variable {
    const char *name;
    int64_t name_length;
    int64_t dimensions, first; /* where the numbers of its dimensions are */
    int64_t type, begin;
} variable;

/* Record variables together. */
typedef struct records {
    int64_t count, bytes, begin;
    bool fits;
} records;

bool wr_netcdf_begins(const void *start, int64_t bytes)
{
    const unsigned char *b = start;
    return bytes >= WR_NETCDF_START && !memcmp(b, "CDF", 3) &&
           (b[3] == 1 || b[3] == 2 || b[3] == 5);
}

static int malformed(const parser *p, const char *what)
{
    return wr_fail(WEIR_EFORMAT, "NetCDF header: %s at byte %lld", what, (long long)p->at);
}

/* --- numbers and names --- */

/* What is above INT64_MAX is that. */
static int64_t number(parser *p, int64_t bytes)
{
    uint64_t value = 0;
    if (p->cut || bytes > p->end - p->at) {
        p->cut = true;
        return 0;
    }
    for (int64_t i = 0; i < bytes; i++)
        value = value << 8 | p->byte[p->at + i];
    p->at += bytes;
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int64_t word(parser *p)
{
    return number(p, 4);
}

static int64_t count(parser *p)
{
    return number(p, p->version == 5 ? 8 : 4);
}

static void skip(parser *p, int64_t bytes)
{
    if (p->cut || bytes > p->end - p->at)
        p->cut = true;
    else
        p->at += bytes;
}

/* Everything is padded to 4 bytes. */
static const char *name(parser *p, int64_t *length)
{
    *length = count(p);
    const char *text = (const char *)p->byte + p->at;
    skip(p, *length > p->end ? *length : wr_round_up(*length, 4));
    return text;
}

/* How many a list has; the tag may be 0 where there are none. */
static int64_t list(parser *p, int64_t tag, int *code)
{
    const int64_t found = word(p), items = count(p);
    if (!p->cut && found != tag && (found || items))
        *code = malformed(p, "another list than the one that belongs there");
    return *code || p->cut ? 0 : items;
}

/* --- types --- */

enum { TYPES = 12, TYPES_OF_2 = 7 }; /* the others came with CDF-5 */

static const int types[TYPES] = {0,       WEIR_I1, 0,       WEIR_I2, WEIR_I4, WEIR_F4,
                                 WEIR_F8, WEIR_U1, WEIR_U2, WEIR_U4, WEIR_I8, WEIR_U8};

static int type_of(int64_t type)
{
    return type < TYPES ? types[type] : 0;
}

static int64_t type_bytes(int64_t type)
{
    enum { TEXT = 2 };
    return type == TEXT ? 1 : weir_type_bytes(type_of(type));
}

/* --- lists --- */

static int skip_attributes(parser *p)
{
    int code = 0;
    int64_t length, items = list(p, ATTRIBUTE, &code);
    for (; items > 0 && !p->cut && !code; items--) {
        name(p, &length);
        const int64_t bytes = type_bytes(word(p)), values = count(p);
        if (!p->cut && !bytes)
            code = malformed(p, "an attribute of unknown type");
        skip(p, values > p->end ? values : wr_round_up(values * bytes, 4));
    }
    return code;
}

static int read_dimensions(parser *p)
{
    int code = 0;
    int64_t length, items = list(p, DIMENSION, &code);
    if (code || !items)
        return code;
    if (items > (p->end - p->at) / 8) { /* none takes less */
        p->cut = true;
        return 0;
    }
    p->length = wr_alloc_array(items, sizeof *p->length);
    if (!p->length)
        return WEIR_ENOMEM;
    for (; p->dimensions < items && !p->cut; p->dimensions++) {
        name(p, &length);
        p->length[p->dimensions] = count(p);
        p->record_dimensions += !p->cut && !p->length[p->dimensions];
    }
    return !p->cut && p->record_dimensions > 1 ? malformed(p, "two record dimensions") : 0;
}

static int read_variable(parser *p, variable *v)
{
    v->name = name(p, &v->name_length);
    v->dimensions = count(p);
    v->first = p->at;
    const int64_t each = p->version == 5 ? 8 : 4;
    skip(p, v->dimensions > p->end ? v->dimensions : v->dimensions * each);
    int code = skip_attributes(p);
    v->type = word(p);
    count(p); /* its size, which follows from the rest, and is wrong where it has no room */
    v->begin = number(p, p->version == 1 ? 4 : 8);
    return code;
}

/* Length of dimension number i of a variable; -1 if there is no such dimension. */
static int64_t length_of(const parser *p, const variable *v, int64_t i)
{
    parser q = *p;
    q.at = v->first + i * (p->version == 5 ? 8 : 4);
    const int64_t d = count(&q);
    return d < p->dimensions ? p->length[d] : -1;
}

/* --- variables --- */

static bool is_record(const parser *p, const variable *v)
{
    return v->dimensions && !length_of(p, v, 0);
}

/* Bytes of a variable, or of a record of it; false if they do not fit. */
static bool measure(const parser *p, const variable *v, int64_t *bytes)
{
    *bytes = type_bytes(v->type);
    for (int64_t i = is_record(p, v); i < v->dimensions; i++)
        if (!wr_mul(*bytes, wr_max(0, length_of(p, v, i)), bytes))
            return false;
    return true;
}

static void add_record(const parser *p, const variable *v, records *r)
{
    int64_t bytes;
    if (!is_record(p, v))
        return;
    r->begin = r->count++ ? wr_min(r->begin, v->begin) : v->begin;
    r->fits = r->fits && measure(p, v, &bytes) && bytes < INT64_MAX - 4 &&
              wr_add(r->bytes, wr_round_up(bytes, 4), &r->bytes);
}

/* Records that a file has whose header leaves that open. */
static int64_t count_records(const parser *p, const records *r, int64_t size)
{
    const int64_t open = p->version == 5 ? INT64_MAX : UINT32_MAX;
    if (p->records != open)
        return p->records;
    return r->bytes && size > r->begin ? (size - r->begin) / r->bytes : 0;
}

static int describe(const parser *p, const variable *v, records *r, int64_t size,
                    wr_description *out)
{
    wr_description d = {.type = type_of(v->type),
                        .data_offset = v->begin,
                        .swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                        .format = WEIR_NETCDF};
    int64_t own;
    if (!d.type)
        return wr_fail(WEIR_EUNSUPPORTED, type_bytes(v->type) ? "the variable holds text"
                                                              : "the variable's type is unknown");
    if (v->dimensions > WR_DIMENSIONS)
        return wr_fail(WEIR_EUNSUPPORTED, "%lld dimensions, at most %d are possible",
                       (long long)v->dimensions, WR_DIMENSIONS);
    d.dimensions = (int)v->dimensions;
    for (int i = 0; i < d.dimensions; i++) {
        d.shape[i] = length_of(p, v, i);
        if (d.shape[i] < 0 || (i && !d.shape[i]))
            return malformed(p, "a variable over a dimension that is not there");
    }
    if (is_record(p, v)) {
        if (!r->fits || !measure(p, v, &own))
            return wr_fail(WEIR_ERANGE, "records of the file are too large");
        if (r->count == 1) /* alone they are not padded */
            r->bytes = own;
        d.shape[0] = count_records(p, r, size);
        d.record = r->bytes;
    }
    d.swapped = d.swapped && weir_type_bytes(d.type) > 1;
    const int code = wr_description_settle(&d);
    if (!code)
        *out = d;
    return code;
}

/* --- all of it --- */

/* Names of variables, as many as there is room for. */
static void tell_name(const variable *v, char *names)
{
    const size_t used = strlen(names);
    int64_t room = NAMES - 1 - (int64_t)used;
    if (room < 6) {
        memcpy(names + wr_min((int64_t)used, NAMES - 4), "...", 4);
        return;
    }
    char *to = names + used;
    if (used)
        *to++ = ',', *to++ = ' ', room -= 2;
    for (int64_t i = 0; i < v->name_length && i < room; i++)
        *to++ = isprint((unsigned char)v->name[i]) ? v->name[i] : '?';
    *to = 0;
}

static bool has_name(const variable *v, const char *wanted)
{
    return wanted && v->name_length == (int64_t)strlen(wanted) &&
           !memcmp(v->name, wanted, (size_t)v->name_length);
}

static int find(parser *p, const char *wanted, int64_t size, wr_description *out)
{
    int code = 0;
    char names[NAMES] = "";
    variable found = {0};
    bool is_there = false;
    records r = {.fits = true};
    int64_t items = list(p, VARIABLE, &code);
    for (; items > 0 && !p->cut && !code; items--) {
        variable v;
        code = read_variable(p, &v);
        if (code || p->cut)
            break;
        add_record(p, &v, &r);
        tell_name(&v, names);
        if (has_name(&v, wanted)) {
            found = v;
            is_there = true;
        }
    }
    if (code || p->cut)
        return code;
    if (!is_there)
        return wr_fail(WEIR_ENOENT, "%s; it has %s",
                       wanted ? "there is no such variable in the file"
                              : "of a NetCDF file one variable is named, as FILE:/NAME",
                       *names ? names : "none");
    return describe(p, &found, &r, size, out);
}

/* All that is before the variables; p->length is to be freed, whatever comes of it. */
static int begin(parser *p, const wr_netcdf_head *head)
{
    *p = (parser){.byte = head->bytes, .end = head->length};
    if (!wr_netcdf_begins(head->bytes, head->length))
        return wr_fail(WEIR_EFORMAT, "not a classic NetCDF file");
    p->version = p->byte[3];
    p->at = WR_NETCDF_START;
    p->records = count(p);
    int code = read_dimensions(p);
    return code ? code : skip_attributes(p);
}

int64_t wr_netcdf_variables(const wr_netcdf_head *head)
{
    parser p;
    int code = begin(&p, head);
    int64_t found = code ? -1 : list(&p, VARIABLE, &code);
    wr_free(p.length);
    return code || p.cut ? -1 : found;
}

int wr_netcdf_parse(const wr_netcdf_head *head, const char *name, wr_description *out, bool *cut)
{
    parser p;
    *cut = false;
    int code = begin(&p, head);
    if (!code)
        code = find(&p, name, head->size, out);
    wr_free(p.length);
    if (!code && p.cut) {
        *cut = head->length < head->size;
        code = malformed(&p, "the end");
    }
    return code;
}

/* --- writing --- */

typedef struct writer {
    char *at;
    int version;
} writer;

static void put(writer *w, int64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *w->at++ = (char)((uint64_t)value >> 8 * i);
}

static void put_count(writer *w, int64_t value)
{
    put(w, value, w->version == 5 ? 8 : 4);
}

static void put_list(writer *w, int tag, int64_t items)
{
    put(w, items ? tag : 0, 4);
    put_count(w, items);
}

static void put_name(writer *w, const char *name)
{
    const size_t length = strlen(name);
    put_count(w, (int64_t)length);
    memcpy(w->at, name, length); /* padded by the zeros that are there */
    w->at += wr_round_up((int64_t)length, 4);
}

/* The number of a type here; 0: there is none. */
static int number_of(int type)
{
    for (int i = 1; i < TYPES; i++)
        if (types[i] == type)
            return i;
    return 0;
}

static int check_can_write(const wr_description *d, const char *name)
{
    enum { LONGEST_NAME = 256 };
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

/* A size of 0 makes the first dimension that of records, of which there are none. */
int wr_netcdf_build(const wr_description *d, const char *name, char header[WR_NETCDF_WRITTEN])
{
    char text[16];
    writer w = {.at = header + 3};
    const int type = number_of(d->type);
    int code = check_can_write(d, name);
    if (code)
        return code;
    w.version = type < TYPES_OF_2 && d->bytes < INT32_MAX - 3 ? 2 : 5;
    memset(header, 0, WR_NETCDF_WRITTEN);
    memcpy(header, "CDF", 3);
    put(&w, w.version, 1);
    put_count(&w, 0);
    put_list(&w, DIMENSION, d->dimensions);
    for (int i = 0; i < d->dimensions; i++) {
        snprintf(text, sizeof text, "dim_%d", i);
        put_name(&w, text);
        put_count(&w, d->shape[i]);
    }
    put_list(&w, ATTRIBUTE, 0);
    put_list(&w, VARIABLE, 1);
    put_name(&w, name);
    put_count(&w, d->dimensions);
    for (int i = 0; i < d->dimensions; i++)
        put_count(&w, i);
    put_list(&w, ATTRIBUTE, 0);
    put(&w, type, 4);
    put_count(&w, wr_round_up(d->bytes, 4));
    put(&w, WR_NETCDF_WRITTEN, 8);
    return 0;
}
