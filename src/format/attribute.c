/* Attributes from JSON. */
#include "format/attribute.h"

#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/json_text.h"
#include "format/labels.h"
#include "format/zarr_parts.h"

void wr_attribute_release(wr_attribute *a)
{
    wr_free(a->name);
    wr_free(a->data);
    *a = (wr_attribute){0};
}

/* --- elements --- */

/* Eight bytes, little-endian, as xarray has a _FillValue in version 3 of Zarr. */
static bool read_base64(wr_json value, double *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { DIGITS = 11 };
    const char *at = value.at + 1;
    uint64_t bits = 0;
    int byte = 0;
    if (value.end - value.at != DIGITS + 3 || at[DIGITS] != '=')
        return false;
    for (unsigned i = 0, held = 0; i < DIGITS; i++) {
        const char *digit = strchr(digits, at[i]);
        if (!digit)
            return false;
        held = (held << 6 | (unsigned)(digit - digits)) & 0xffff;
        if (i % 4)
            bits |= (uint64_t)(held >> (6 - 2 * (i % 4)) & 0xff) << 8 * byte++;
    }
    memcpy(out, &bits, sizeof *out);
    return true;
}

bool wr_attribute_element(wr_json value, int type, char element[16])
{
    double v;
    float narrow;
    if ((type == WEIR_F4 || type == WEIR_F8) && read_base64(value, &v)) {
        narrow = (float)v;
        memcpy(element, type == WEIR_F8 ? (void *)&v : &narrow, (size_t)weir_type_bytes(type));
        return true;
    }
    return !wr_zarr_fill_read(value, type, element);
}

/* --- values --- */

/* Items of a list, or the one value. */
typedef struct items {
    wr_json rest;
    bool list, over;
} items;

static items items_of(wr_json value)
{
    return (items){value, wr_json_kind(value) == '[', false};
}

static bool next(items *i, wr_json *value)
{
    wr_json key;
    if (i->list)
        return wr_json_next(&i->rest, &key, value);
    *value = i->rest;
    i->over = !i->over;
    return i->over;
}

static bool are_all(wr_json value, char kind)
{
    items i = items_of(value);
    for (wr_json item; next(&i, &item);)
        if (wr_json_kind(item) != kind)
            return false;
    return true;
}

static bool is_integer(wr_json number, bool *negative, uint64_t *magnitude)
{
    for (const char *at = number.at; at < number.end; at++)
        if (*at != '-' && (*at < '0' || *at > '9'))
            return false;
    return wr_json_integer(number, negative, magnitude);
}

/* That all of the numbers fit. */
static int choose_type(wr_json value, bool wide)
{
    uint64_t below = 0, above = 0, magnitude;
    items i = items_of(value);
    bool negative;
    for (wr_json item; next(&i, &item);) {
        if (!is_integer(item, &negative, &magnitude))
            return WEIR_F8;
        uint64_t *most = negative ? &below : &above;
        *most = magnitude > *most ? magnitude : *most;
    }
    if (above <= INT32_MAX && below <= (uint64_t)INT32_MAX + 1)
        return WEIR_I4;
    if (wide && above <= INT64_MAX && below <= (uint64_t)INT64_MAX + 1)
        return WEIR_I8;
    return wide && !below ? WEIR_U8 : WEIR_F8;
}

/* 1, 0 if some are no elements of the type, or WEIR_ENOMEM. */
static int take_numbers(wr_json value, int type, bool exact, wr_attribute *out)
{
    const int64_t size = weir_type_bytes(type);
    items i = items_of(value);
    char element[16];
    out->data = wr_alloc_array(i.list ? wr_json_count(value) : 1, (size_t)size);
    if (!out->data)
        return WEIR_ENOMEM;
    out->type = type;
    out->list = i.list;
    for (wr_json item; next(&i, &item); out->count++) {
        double v = NAN;
        if (type == WEIR_F8 && !exact) {
            wr_json_double(item, &v);
            memcpy(element, &v, sizeof v);
        } else if (!wr_attribute_element(item, type, element)) {
            wr_free(out->data);
            *out = (wr_attribute){.name = out->name};
            return 0;
        }
        memcpy(out->data + out->count * size, element, (size_t)size);
    }
    return 1;
}

/* Strings; or, if it is something else, its text. */
static int take_strings(wr_json value, bool strings, wr_attribute *out)
{
    wr_text text = {.name = "an attribute", .most = INT64_MAX};
    int64_t length;
    const char kind = wr_json_kind(value);
    items i = items_of(value);
    out->list = kind == '[' && strings && are_all(value, '"');
    if (out->list || kind == '"') {
        for (wr_json item; next(&i, &item); out->count++) {
            wr_json_unquote(item, &text);
            wr_text_add(&text, "", 1);
        }
    } else {
        wr_json_copy(value, 0, &text);
        wr_text_add(&text, "", 1);
        out->count = 1;
    }
    int code = wr_text_take(&text, &out->data, &length);
    return code ? code : 1;
}

/* --- attributes --- */

/* Values of these are elements of the array: so the conventions of NetCDF have it. */
static bool stands_for_elements(const char *name)
{
    static const char *const names[] = {WR_LABELS_FILL, "missing_value", "valid_min", "valid_max",
                                        "valid_range"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static int take_value(wr_json value, const wr_attribute_form *form, wr_attribute *out)
{
    const bool fill = !strcmp(out->name, WR_LABELS_FILL);
    const bool one = wr_json_kind(value) != '[' || wr_json_count(value) == 1;
    int taken = 0;
    if (stands_for_elements(out->name) && form->type > WEIR_BOOL && form->type < WEIR_C8 &&
        (one || !fill))
        taken = take_numbers(value, form->type, true, out);
    if (taken || fill)
        return taken;
    if (are_all(value, '0'))
        return take_numbers(value, choose_type(value, form->wide), false, out);
    return take_strings(value, form->strings, out);
}

int wr_attribute_next(wr_json *rest, const wr_attribute_form *form, wr_attribute *out)
{
    wr_json key, value;
    int64_t length;
    int taken = 0;
    while (!taken && wr_json_next(rest, &key, &value)) {
        wr_text name = {.name = "an attribute", .most = INT64_MAX};
        *out = (wr_attribute){0};
        wr_text_add(&name, "", 0);
        wr_json_unquote(key, &name);
        taken = wr_text_take(&name, &out->name, &length);
        if (!taken && length)
            taken = take_value(value, form, out);
        if (taken <= 0)
            wr_attribute_release(out);
    }
    return taken;
}
