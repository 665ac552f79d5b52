/* fill_value: integers digit by digit, floats as the shortest text that means the same bits. Where
 * bits say more than "NaN" does, version 3 has them in hex; version 2 cannot. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/zarr_parts.h"

/* Of a float of so many bytes: its infinity and the one not-a-number that has a name. */
static const struct {
    int bytes, digits; /* digits that always suffice */
    uint64_t infinity, nan;
} floats[] = {
    {2, 5, 0x7c00, 0x7e00},
    {4, 9, 0x7f800000, 0x7fc00000},
    {8, 17, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000)},
};

static int float_of(int type)
{
    if (type == WEIR_F2)
        return 0;
    return type == WEIR_F4 || type == WEIR_C8 ? 1 : 2;
}

static bool is_complex(int type)
{
    return type == WEIR_C8 || type == WEIR_C16;
}

/* Rounded to the nearest, the even one of two; at least infinity's if it is too large. */
static uint64_t half_bits(double v)
{
    int exponent;
    frexp(v, &exponent);
    if (exponent > 16)
        return floats[0].infinity;
    if (v == 0 || exponent < -13)
        exponent = -13;
    /* Tiny ones and those that round up come out right: the fraction carries to the exponent. */
    return ((uint64_t)(exponent + 13) << 10) + (uint64_t)nearbyint(ldexp(fabs(v), 11 - exponent));
}

/* Of a finite number, which may become infinite. */
static uint64_t bits_of(double v, int which)
{
    uint64_t bits = 0;
    if (which == 0) {
        bits = half_bits(v) | (uint64_t)(signbit(v) ? 0x8000 : 0);
    } else if (which == 1) {
        float narrow = (float)v;
        uint32_t word;
        memcpy(&word, &narrow, sizeof word);
        bits = word;
    } else {
        memcpy(&bits, &v, sizeof bits);
    }
    return bits;
}

static double value_of(uint64_t bits, int which)
{
    double v;
    float narrow;
    uint32_t word = (uint32_t)bits;
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    if (which == 0) {
        v = ldexp(fraction + (exponent ? 1024 : 0), (exponent ? exponent : 1) - 25);
        return bits & 0x8000 ? -v : v;
    }
    memcpy(&narrow, &word, sizeof narrow);
    memcpy(&v, &bits, sizeof v);
    return which == 1 ? narrow : v;
}

static uint64_t sign_of(int which)
{
    return UINT64_C(1) << (8 * floats[which].bytes - 1);
}

static void store(uint64_t value, int64_t bytes, char *to)
{
    const uint8_t one = (uint8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    if (bytes == 1)
        memcpy(to, &one, 1);
    else if (bytes == 2)
        memcpy(to, &two, 2);
    else if (bytes == 4)
        memcpy(to, &four, 4);
    else
        memcpy(to, &value, 8);
}

static uint64_t load(const char *from, int64_t bytes)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    memcpy(&one, from, 1);
    memcpy(&two, from, 2);
    memcpy(&four, from, 4);
    memcpy(&eight, from, 8);
    if (bytes == 1)
        return one;
    if (bytes == 2)
        return two;
    return bytes == 4 ? four : eight;
}

static int wrong(wr_json value, int type)
{
    char text[WR_JSON_NAME];
    wr_json_name(value, text);
    return wr_fail(WEIR_EFORMAT, "\"fill_value\" %s is no %s", text, weir_type_name(type));
}

/* "0x7fc00000": at most as many digits as the type has. */
static bool read_hex(const char *text, int which, uint64_t *bits)
{
    size_t digits = strlen(text + 2);
    if (digits < 1 || digits > 2 * (size_t)floats[which].bytes ||
        strspn(text + 2, "0123456789abcdefABCDEF") < digits)
        return false;
    *bits = strtoull(text + 2, NULL, 16);
    return true;
}

/* A number that is written as digits must not become infinite. */
static bool finite_bits(double v, int which, uint64_t *bits)
{
    *bits = bits_of(v, which);
    return (*bits & ~sign_of(which)) < floats[which].infinity;
}

static bool read_float(wr_json value, int which, uint64_t *bits)
{
    char text[WR_JSON_NAME];
    double v;
    wr_json_name(value, text);
    if (!strcmp(text, "NaN"))
        *bits = floats[which].nan;
    else if (!strcmp(text, "Infinity"))
        *bits = floats[which].infinity;
    else if (!strcmp(text, "-Infinity"))
        *bits = floats[which].infinity | sign_of(which);
    else if (wr_json_kind(value) == '"')
        return !strncmp(text, "0x", 2) && read_hex(text, which, bits);
    else if (!wr_json_double(value, &v) || isinf(v))
        return false;
    else
        return finite_bits(v, which, bits);
    return true;
}

static bool read_part(wr_json value, int which, char *to)
{
    uint64_t bits;
    if (!read_float(value, which, &bits))
        return false;
    store(bits, floats[which].bytes, to);
    return true;
}

static bool read_complex(wr_json value, int which, char *to)
{
    wr_json key, part;
    if (wr_json_kind(value) != '[' || wr_json_count(value) != 2)
        return false;
    for (; wr_json_next(&value, &key, &part); to += floats[which].bytes)
        if (!read_part(part, which, to))
            return false;
    return true;
}

static bool read_integer(wr_json value, int type, char *to)
{
    const int64_t bytes = weir_type_bytes(type);
    const bool with_sign = type >= WEIR_I1 && type <= WEIR_I8;
    bool negative;
    uint64_t magnitude, most = UINT64_MAX >> (64 - 8 * bytes + with_sign);
    if (wr_json_kind(value) != '0' || !wr_json_integer(value, &negative, &magnitude))
        return false;
    if (type == WEIR_BOOL)
        most = 1;
    if (magnitude > most + (with_sign && negative) || (negative && !with_sign))
        return false;
    store(negative ? 0 - magnitude : magnitude, bytes, to);
    return true;
}

int wr_zarr_fill_read(wr_json value, int type, char fill[16])
{
    bool sound;
    if (type == WEIR_BOOL && wr_json_kind(value) == 't') {
        fill[0] = wr_json_true(value);
        return 0;
    }
    if (type < WEIR_F2)
        sound = read_integer(value, type, fill);
    else if (is_complex(type))
        sound = read_complex(value, float_of(type), fill);
    else
        sound = read_part(value, float_of(type), fill);
    return sound ? 0 : wrong(value, type);
}

/* The shortest digits that give the same bits. */
static void print_finite(uint64_t bits, int which, wr_text *text)
{
    char digits[40];
    double v = value_of(bits, which);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    for (int count = 1; count <= floats[which].digits; count++) {
        snprintf(digits, sizeof digits, "%.*g", count, v);
        if (bits_of(strtod(digits, NULL), which) == bits)
            break;
    }
    uselocale(before);
    if (plain)
        freelocale(plain);
    /* Readers take "-0" for an integer, which has no sign then. */
    wr_text_put(text, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

static void print_float(const char *from, int which, int version, wr_text *text)
{
    const int bytes = floats[which].bytes;
    const uint64_t bits = load(from, bytes), magnitude = bits & ~sign_of(which);
    if (magnitude < floats[which].infinity)
        print_finite(bits, which, text);
    else if (magnitude == floats[which].infinity)
        wr_text_put(text, "\"%sInfinity\"", bits == magnitude ? "" : "-");
    else if (bits == floats[which].nan || version == 2)
        wr_text_put(text, "\"NaN\"");
    else
        wr_text_put(text, "\"0x%0*llx\"", 2 * bytes, (unsigned long long)bits);
}

void wr_zarr_fill_print(const wr_zarr *zarr, wr_text *text)
{
    const int type = zarr->what.type;
    const int64_t bytes = weir_type_bytes(type);
    if (type == WEIR_BOOL) {
        wr_text_put(text, zarr->fill[0] ? "true" : "false");
    } else if (type >= WEIR_I1 && type <= WEIR_I8) {
        const int unused = (int)(64 - 8 * bytes);
        wr_text_put(text, "%lld", (long long)(load(zarr->fill, bytes) << unused) >> unused);
    } else if (type < WEIR_F2) {
        wr_text_put(text, "%llu", (unsigned long long)load(zarr->fill, bytes));
    } else {
        const int which = float_of(type);
        wr_text_put(text, is_complex(type) ? "[" : "");
        print_float(zarr->fill, which, zarr->version, text);
        if (is_complex(type)) {
            wr_text_put(text, ", ");
            print_float(zarr->fill + bytes / 2, which, zarr->version, text);
            wr_text_put(text, "]");
        }
    }
}
