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
#include "format/convert.h"
#include "format/json_text.h"
#include "format/netcdf_types.h"

enum { NAMES = 120 };

typedef struct parser {
    const unsigned char *byte;
    int64_t at, end;
    int version;
    bool cut;                                       /* something lies behind the end */
    int64_t records, record_dimensions, attributes; /* of the file */
    int64_t dimensions, *length;
} parser;

/* One of the variables. */
typedef struct variable {
    const char *name;
    int64_t name_length;
    int64_t dimensions, first; /* where the numbers of its dimensions are */
    int64_t attributes;        /* where their list is */
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

static int type_of(int64_t type)
{
    return type < WR_NETCDF_TYPES ? wr_netcdf_types[type] : 0;
}

static int64_t type_bytes(int64_t type)
{
    return type == WR_NETCDF_TEXT ? 1 : weir_type_bytes(type_of(type));
}

/* --- lists --- */

typedef struct attribute {
    const char *name;
    int64_t name_length, type, values;
    int64_t first; /* where these are */
} attribute;

static int read_attribute(parser *p, attribute *a)
{
    a->name = name(p, &a->name_length);
    a->type = word(p);
    a->values = count(p);
    a->first = p->at;
    const int64_t bytes = type_bytes(a->type);
    const int code = !p->cut && !bytes ? malformed(p, "an attribute of unknown type") : 0;
    skip(p, a->values > p->end ? a->values : wr_round_up(a->values * bytes, 4));
    return code;
}

static int skip_attributes(parser *p, int64_t *number)
{
    int code = 0;
    attribute a;
    int64_t items = list(p, WR_NETCDF_ATTRIBUTE, &code);
    for (*number = items; items > 0 && !p->cut && !code; items--)
        code = read_attribute(p, &a);
    return code;
}

static int read_dimensions(parser *p)
{
    int code = 0;
    int64_t length, items = list(p, WR_NETCDF_DIMENSION, &code);
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
    v->attributes = p->at;
    int64_t attributes;
    int code = skip_attributes(p, &attributes);
    v->type = word(p);
    count(p); /* its size, which follows from the rest, and is wrong where it has no room */
    v->begin = number(p, p->version == 1 ? 4 : 8);
    return code;
}

/* Which of the file's dimensions is number i of a variable's. */
static int64_t dimension_of(const parser *p, const variable *v, int64_t i)
{
    parser q = *p;
    q.at = v->first + i * (p->version == 5 ? 8 : 4);
    return count(&q);
}

/* Length of dimension number i of a variable; -1 if there is no such dimension. */
static int64_t length_of(const parser *p, const variable *v, int64_t i)
{
    const int64_t d = dimension_of(p, v, i);
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

/* --- labels, of a header that is whole --- */

static void print_values(const parser *p, const attribute *a, wr_text *text)
{
    const int type = type_of(a->type);
    const int64_t bytes = type_bytes(a->type);
    char value[8];
    if (a->type == WR_NETCDF_TEXT) {
        wr_json_quote((const char *)p->byte + a->first, a->values, text);
        return;
    }
    wr_text_put(text, a->values == 1 ? "" : "[");
    for (int64_t i = 0; i < a->values && !text->code; i++) {
        memcpy(value, p->byte + a->first + i * bytes, (size_t)bytes);
        if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
            wr_swap_here(&(wr_elements){type, value, bytes}, 1);
        wr_text_put(text, i ? ", " : "");
        wr_json_number(type, value, text);
    }
    wr_text_put(text, a->values == 1 ? "" : "]");
}

static int tell_attributes(const parser *p, const variable *v, char **out)
{
    int code = 0;
    parser q = *p;
    attribute a;
    wr_text text = {.name = "attributes", .most = WR_LABELS_LONGEST};
    q.at = v->attributes;
    int64_t items = list(&q, WR_NETCDF_ATTRIBUTE, &code);
    if (!items)
        return 0;
    wr_text_put(&text, "{");
    for (int64_t i = 0; i < items && !text.code; i++) {
        read_attribute(&q, &a);
        wr_text_put(&text, i ? ", " : "");
        wr_json_quote(a.name, a.name_length, &text);
        wr_text_put(&text, ": ");
        print_values(&q, &a, &text);
    }
    wr_text_put(&text, "}");
    return wr_labels_take(&text, out);
}

static void print_name(const parser *p, int64_t dimension, wr_text *text)
{
    int code = 0;
    parser q = *p;
    int64_t length = 0;
    q.at = WR_NETCDF_START;
    count(&q);
    list(&q, WR_NETCDF_DIMENSION, &code);
    for (const char *found = name(&q, &length);; found = name(&q, &length)) {
        if (!dimension--) {
            wr_json_quote(found, length, text);
            return;
        }
        count(&q);
    }
}

static int tell_labels(const parser *p, const variable *v, wr_labels *out)
{
    wr_text text = {.name = "names of dimensions", .most = WR_LABELS_LONGEST};
    int code = tell_attributes(p, v, &out->attributes);
    if (code || !v->dimensions)
        return code;
    for (int64_t i = 0; i < v->dimensions; i++) {
        wr_text_put(&text, i ? ", " : "[");
        print_name(p, dimension_of(p, v, i), &text);
    }
    wr_text_put(&text, "]");
    code = wr_labels_take(&text, &out->names);
    if (code)
        wr_labels_release(out);
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

static int find(parser *p, const char *wanted, int64_t size, wr_netcdf *out)
{
    int code = 0;
    char names[NAMES] = "";
    variable found = {0};
    bool is_there = false;
    records r = {.fits = true};
    int64_t items = list(p, WR_NETCDF_VARIABLE, &code);
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
    code = describe(p, &found, &r, size, &out->what);
    return code ? code : tell_labels(p, &found, &out->labels);
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
    return code ? code : skip_attributes(p, &p->attributes);
}

int64_t wr_netcdf_variables(const wr_netcdf_head *head)
{
    parser p;
    int code = begin(&p, head);
    int64_t found = code ? -1 : list(&p, WR_NETCDF_VARIABLE, &code);
    wr_free(p.length);
    return code || p.cut ? -1 : wr_min(found, INT64_MAX - p.attributes) + p.attributes;
}

int wr_netcdf_parse(const wr_netcdf_head *head, const char *name, wr_netcdf *out, bool *cut)
{
    parser p;
    *out = (wr_netcdf){0};
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

/* All variables of a header that is whole: `p` is before them. Records are known after the last. */
static int tell_each(parser p, const records *r, int64_t size, wr_netcdf_told *each, void *user)
{
    enum { LONGEST = 4096 };
    int code = 0;
    char name[LONGEST];
    for (int64_t items = list(&p, WR_NETCDF_VARIABLE, &code); items > 0 && !code; items--) {
        variable v;
        wr_description d;
        records own = *r;
        code = read_variable(&p, &v);
        if (code || v.name_length >= LONGEST)
            continue;
        memcpy(name, v.name, (size_t)v.name_length);
        name[v.name_length] = 0;
        code = each(user, name, describe(&p, &v, &own, size, &d) ? NULL : &d);
    }
    return code;
}

int wr_netcdf_each(const wr_netcdf_head *head, wr_netcdf_told *each, void *user, bool *cut)
{
    parser p;
    records r = {.fits = true};
    *cut = false;
    int code = begin(&p, head);
    const parser first = p;
    int64_t items = code ? 0 : list(&p, WR_NETCDF_VARIABLE, &code);
    for (; items > 0 && !p.cut && !code; items--) {
        variable v;
        code = read_variable(&p, &v);
        if (!code && !p.cut)
            add_record(&p, &v, &r);
    }
    if (!code && p.cut) {
        *cut = head->length < head->size;
        code = malformed(&p, "the end");
    }
    if (!code)
        code = tell_each(first, &r, head->size, each, user);
    wr_free(p.length);
    return code;
}
