/* Labels, and what Zarr makes of them. */
#include "format/labels.h"

#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/attribute.h"
#include "format/json_text.h"

#define XARRAY_NAMES "_ARRAY_DIMENSIONS"

static wr_text new_text(void)
{
    return (wr_text){.name = "what is said of an array", .most = WR_LABELS_LONGEST};
}

int wr_labels_take(wr_text *text, char **out)
{
    int64_t length;
    int code = wr_text_take(text, out, &length);
    if (code)
        *out = NULL;
    return code == WEIR_ERANGE ? 0 : code;
}

static int copy_text(const char *from, char **out)
{
    wr_text text = new_text();
    *out = NULL;
    if (!from)
        return 0;
    wr_text_add(&text, from, (int64_t)strlen(from));
    return wr_labels_take(&text, out);
}

int wr_labels_copy(const wr_labels *from, bool with_names, wr_labels *out)
{
    *out = (wr_labels){0};
    int code = copy_text(from->attributes, &out->attributes);
    if (!code && with_names)
        code = copy_text(from->names, &out->names);
    if (code)
        wr_labels_release(out);
    return code;
}

void wr_labels_release(wr_labels *l)
{
    wr_free(l->attributes);
    wr_free(l->names);
    *l = (wr_labels){0};
}

/* An object or a list of which the text is known to be sound. */
static wr_json root_of(const char *text)
{
    static const char none[] = "{}";
    wr_json root;
    if (!text || wr_json_check(text, (int64_t)strlen(text), &root))
        return (wr_json){none, none + 2};
    return root;
}

/* --- names --- */

/* Leaves "" where it is no name. */
static int take_name(wr_json value, char name[WR_LABELS_NAME])
{
    wr_text text = {.name = "a name", .most = WR_LABELS_NAME};
    if (wr_json_kind(value) == '"')
        wr_json_unquote(value, &text);
    const int code = text.code;
    bool fits = !code && text.used;
    for (int64_t i = 0; fits && i < text.used; i++)
        fits = (unsigned char)text.bytes[i] >= ' ' && text.bytes[i] != '/';
    if (fits)
        memcpy(name, text.bytes, (size_t)text.used + 1);
    wr_free(text.bytes);
    return code == WEIR_ERANGE ? 0 : code;
}

/* The first dimension that has the name of dimension i. */
static int find_name(const wr_names *n, int i)
{
    int first = 0;
    while (strcmp(n->name[first], n->name[i]) != 0)
        first++;
    return first;
}

static void invent_name(wr_names *n, int dimensions, int i)
{
    bool taken = true;
    for (int k = i; taken; k++) {
        snprintf(n->name[i], sizeof n->name[i], "dim_%d", k);
        taken = false;
        for (int other = 0; other < dimensions; other++)
            taken = taken || (other != i && !strcmp(n->name[other], n->name[i]));
    }
}

int wr_names_list(const wr_labels *l, const wr_description *d, wr_names *out)
{
    wr_json rest = root_of(l->names), key, value;
    int code = 0;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < d->dimensions && !code && wr_json_next(&rest, &key, &value); i++)
        code = take_name(value, out->name[i]);
    for (int i = 0; i < d->dimensions; i++)
        if (d->shape[find_name(out, i)] != d->shape[i])
            *out->name[i] = 0;
    for (int i = 0; i < d->dimensions; i++) {
        if (!*out->name[i])
            invent_name(out, d->dimensions, i);
        out->first[i] = find_name(out, i);
    }
    return code;
}

/* --- attributes --- */

/* Those of an object but for one, if `but` is not NULL, which is *found then. */
static void add_attributes(wr_json object, const char *but, int how, wr_text *text, wr_json *found)
{
    wr_json key, value;
    while (wr_json_next(&object, &key, &value)) {
        if (but && wr_json_is(key, but)) {
            *found = value;
            continue;
        }
        wr_text_put(text, text->used > 1 ? ", " : "");
        wr_json_copy(key, 0, text);
        wr_text_put(text, ": ");
        wr_json_copy(value, how, text);
    }
}

static int end_attributes(wr_text *text, char **out)
{
    const bool some = text->used > 1;
    wr_text_put(text, "}");
    int code = wr_labels_take(text, out);
    if (!some) {
        wr_free(*out);
        *out = NULL;
    }
    return code;
}

static wr_json find_fill(const wr_labels *l)
{
    wr_json rest = root_of(l->attributes), key, value;
    while (wr_json_next(&rest, &key, &value))
        if (wr_json_is(key, WR_LABELS_FILL))
            return value;
    return (wr_json){0};
}

bool wr_labels_fill(const wr_labels *l, int type, char fill[16])
{
    const wr_json value = find_fill(l);
    return value.at && wr_attribute_element(value, type, fill);
}

/* --- from Zarr --- */

static bool are_names(wr_json list, int dimensions)
{
    wr_json key, value;
    if (!list.at || wr_json_kind(list) != '[' || wr_json_count(list) != dimensions)
        return false;
    while (wr_json_next(&list, &key, &value))
        if (wr_json_kind(value) != '"' && wr_json_kind(value) != 'n')
            return false;
    return true;
}

/* xarray, whose names these are, has a _FillValue as the fill value, and nowhere else. */
static void add_fill(const wr_zarr *z, wr_text *text)
{
    static const char zeros[16];
    if (!z->filled || z->what.type == WEIR_BOOL || z->what.type == WEIR_F2 ||
        z->what.type > WEIR_F8 || !memcmp(z->fill, zeros, (size_t)weir_type_bytes(z->what.type)))
        return;
    wr_text_put(text, "%s\"" WR_LABELS_FILL "\": ", text->used > 1 ? ", " : "");
    wr_json_number(z->what.type, z->fill, text);
}

/* Of version 3 xarray has that of floats as bits. */
static void add_fill3(wr_json value, int type, wr_text *text)
{
    char fill[16];
    wr_text_put(text, "%s\"" WR_LABELS_FILL "\": ", text->used > 1 ? ", " : "");
    if (wr_attribute_element(value, type, fill))
        wr_json_number(type, fill, text);
    else
        wr_json_copy(value, 0, text);
}

static int take_list(wr_json list, char **out)
{
    wr_text text = new_text();
    wr_json_copy(list, 0, &text);
    return wr_labels_take(&text, out);
}

int wr_labels_from_zarr(const wr_zarr *z, const char *file, wr_labels *out)
{
    const bool two = z->version == 2;
    const bool bits = z->what.type == WEIR_F4 || z->what.type == WEIR_F8;
    const char *apart = two ? XARRAY_NAMES : bits ? WR_LABELS_FILL : NULL;
    wr_json root = root_of(two ? file : z->attributes), found = {0}, names = {0};
    wr_text text = new_text();
    int code = 0;
    *out = (wr_labels){0};
    wr_text_put(&text, "{");
    if (wr_json_kind(root) == '{')
        add_attributes(root, apart, two ? 0 : WR_JSON_INFINITE, &text, &found);
    if (!two && found.at)
        add_fill3(found, z->what.type, &text);
    if (two)
        names = found;
    else if (z->names)
        names = root_of(z->names);
    if (are_names(names, z->what.dimensions))
        code = take_list(names, &out->names);
    if (two && out->names) {
        wr_labels there = {.attributes = (char *)(uintptr_t)file};
        if (!find_fill(&there).at)
            add_fill(z, &text);
    }
    if (code)
        wr_free(text.bytes);
    else
        code = end_attributes(&text, &out->attributes);
    if (code)
        wr_labels_release(out);
    return code;
}

/* --- to Zarr --- */

/* Eight bytes, little-endian: as xarray has a _FillValue of floats in version 3. */
static void add_base64(double v, wr_text *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint64_t bits;
    unsigned held = 0;
    memcpy(&bits, &v, sizeof bits);
    wr_text_put(text, "\"");
    for (int i = 0, have = 0; i < 11; i++) {
        if (have < 6) {
            held = held << 8 | (unsigned)(bits & 0xff);
            bits >>= 8;
            have += 8;
        }
        have -= 6;
        wr_text_put(text, "%c", digits[held >> have & 0x3f]);
    }
    wr_text_put(text, "=\"");
}

static void add_float_fill(wr_json value, int type, wr_text *text)
{
    char fill[16];
    float narrow;
    double v;
    if (!wr_attribute_element(value, type, fill))
        return;
    memcpy(&narrow, fill, sizeof narrow);
    memcpy(&v, fill, sizeof v);
    wr_text_put(text, "%s\"" WR_LABELS_FILL "\": ", text->used > 1 ? ", " : "");
    add_base64(type == WEIR_F4 ? (double)narrow : v, text);
}

/* As readers of Zarr want it: zarr-python takes ASCII only. */
static int print_text(const char *from, int how, char **out)
{
    wr_text text = new_text();
    *out = NULL;
    if (!from)
        return 0;
    wr_json_copy(root_of(from), how, &text);
    return wr_labels_take(&text, out);
}

static int print_attributes(wr_text *from, int how, char **out)
{
    char *all;
    int code = end_attributes(from, &all);
    if (code)
        return code;
    code = print_text(all, how, out);
    wr_free(all);
    return code;
}

static int to_zarr3(const wr_labels *l, wr_zarr *z)
{
    const int type = z->what.type;
    const bool is_float = type == WEIR_F4 || type == WEIR_F8;
    wr_text text = new_text();
    wr_json fill = {0};
    wr_text_put(&text, "{");
    add_attributes(root_of(l->attributes), is_float ? WR_LABELS_FILL : NULL, 0, &text, &fill);
    if (fill.at)
        add_float_fill(fill, type, &text);
    int code = print_attributes(&text, WR_JSON_ASCII | WR_JSON_FINITE, &z->attributes);
    return code ? code : print_text(l->names, WR_JSON_ASCII, &z->names);
}

static int to_zarr2(const wr_labels *l, wr_zarr *z)
{
    wr_text text = new_text();
    wr_names names;
    wr_json none;
    int code = 0;
    wr_text_put(&text, "{");
    add_attributes(root_of(l->attributes), XARRAY_NAMES, 0, &text, &none);
    if (l->names) {
        code = wr_names_list(l, &z->what, &names);
        wr_text_put(&text, "%s\"" XARRAY_NAMES "\": [", text.used > 1 ? ", " : "");
        for (int i = 0; i < z->what.dimensions && !code; i++) {
            wr_text_put(&text, i ? ", " : "");
            wr_json_quote(names.name[i], (int64_t)strlen(names.name[i]), &text);
        }
        wr_text_put(&text, "]");
    }
    if (code)
        wr_free(text.bytes);
    return code ? code : print_attributes(&text, WR_JSON_ASCII, &z->attributes);
}

int wr_labels_to_zarr(const wr_labels *l, wr_zarr *z)
{
    return z->version == 3 ? to_zarr3(l, z) : to_zarr2(l, z);
}
