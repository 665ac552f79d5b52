/* Elements to text with as many digits as tell them apart, and back with range checks. */
#include "element_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"

/* Any element, at any address. */
typedef union element {
    int8_t i1;
    int16_t i2;
    int32_t i4;
    int64_t i8;
    uint8_t u1;
    uint16_t u2;
    uint32_t u4;
    uint64_t u8;
    float f4[2];
    double f8[2];
} element;

static const char beyond[] = "is beyond what the type can hold";

static int64_t signed_value(const element *e, int type)
{
    return type == WEIR_I1 ? e->i1 : type == WEIR_I2 ? e->i2 : type == WEIR_I4 ? e->i4 : e->i8;
}

static uint64_t unsigned_value(const element *e, int type)
{
    return type == WEIR_U2 ? e->u2 : type == WEIR_U4 ? e->u4 : type == WEIR_U8 ? e->u8 : e->u1;
}

void cli_element_text(int type, const void *bytes, char *text)
{
    element e;
    memcpy(&e, bytes, (size_t)weir_type_bytes(type));
    if (type >= WEIR_I1 && type <= WEIR_I8)
        snprintf(text, CLI_ELEMENT_TEXT, "%lld", (long long)signed_value(&e, type));
    else if (type < WEIR_F2)
        snprintf(text, CLI_ELEMENT_TEXT, "%llu", (unsigned long long)unsigned_value(&e, type));
    else if (type == WEIR_F2)
        snprintf(text, CLI_ELEMENT_TEXT, "%.5g", cli_half_value(e.u2));
    else if (type == WEIR_F4)
        snprintf(text, CLI_ELEMENT_TEXT, "%.9g", (double)e.f4[0]);
    else if (type == WEIR_F8)
        snprintf(text, CLI_ELEMENT_TEXT, "%.17g", e.f8[0]);
    else if (type == WEIR_C8)
        snprintf(text, CLI_ELEMENT_TEXT, "(%.9g%+.9gj)", (double)e.f4[0], (double)e.f4[1]);
    else
        snprintf(text, CLI_ELEMENT_TEXT, "(%.17g%+.17gj)", e.f8[0], e.f8[1]);
}

static void store_integer(uint64_t value, int type, void *out)
{
    element e = {.u8 = value};
    int64_t bytes = weir_type_bytes(type);
    if (bytes == 1)
        e.u1 = (uint8_t)value;
    else if (bytes == 2)
        e.u2 = (uint16_t)value;
    else if (bytes == 4)
        e.u4 = (uint32_t)value;
    memcpy(out, &e, CLI_ELEMENT);
}

/* The power of ten that "e3" says, 0 for nothing; false for anything else. */
static bool parse_power(const char *text, int64_t *power)
{
    char *end;
    *power = 0;
    if (!*text)
        return true;
    const char *digits = text + 1 + (text[1] == '+' || text[1] == '-');
    if ((*text != 'e' && *text != 'E') || !isdigit((unsigned char)*digits))
        return false;
    const long long said = strtoll(text + 1, &end, 10);
    *power = said > INT32_MAX ? INT32_MAX : said < -INT32_MAX ? -INT32_MAX : said;
    return !*end;
}

/* "1500", "1500.0" or "1.5e3", with all digits: a double would not hold them. */
static const char *parse_whole(const char *text, uint64_t *out)
{
    static const char problem[] = "must be a whole number for this type", digits[] = "0123456789";
    const int64_t before = (int64_t)strspn(text, digits);
    const char *fraction = text + before + (text[before] == '.');
    const int64_t after = fraction > text + before ? (int64_t)strspn(fraction, digits) : 0;
    int64_t power;
    if (!before || !parse_power(fraction + after, &power))
        return problem;
    *out = 0;
    for (int64_t i = 0; i < before + after || (i < before + power && *out); i++) {
        const char digit = i < before ? text[i] : i < before + after ? fraction[i - before] : '0';
        if (i >= before + power && digit != '0')
            return problem;
        if (i < before + power && (__builtin_mul_overflow(*out, 10, out) ||
                                   __builtin_add_overflow(*out, (uint64_t)(digit - '0'), out)))
            return beyond;
    }
    return NULL;
}

static const char *parse_integer(const char *text, int type, void *out)
{
    const char *digits = text + (*text == '-');
    const bool negative = digits != text, is_signed = type >= WEIR_I1 && type <= WEIR_I8;
    const int bits = 8 * (int)weir_type_bytes(type);
    uint64_t most = is_signed ? (UINT64_C(1) << (bits - 1)) - !negative : UINT64_MAX >> (64 - bits);
    uint64_t size;
    const char *problem = parse_whole(digits, &size);
    if (!problem && (size > most || (negative && !is_signed && size)))
        problem = beyond;
    if (!problem)
        store_integer(negative ? 0 - size : size, type, out);
    return problem;
}

/* As get prints it, or as JSON has it; or a number. */
static const char *parse_truth(const char *text, void *out)
{
    const bool yes = !strcmp(text, "True") || !strcmp(text, "true");
    uint64_t number = yes;
    if (!yes && strcmp(text, "False") != 0 && strcmp(text, "false") != 0 &&
        (parse_whole(text, &number) || number > 1))
        return "must be 0 or 1, or False or True";
    store_integer(number, WEIR_BOOL, out);
    return NULL;
}

/* "1.5", or, complex, also "2j" and "1.5-2j", and these in parentheses. */
static const char *parse_number(const char *text, bool complex, double part[2])
{
    static const char problem[] = "must be a number of the type";
    char *end;
    const bool closed = complex && *text == '(';
    text += closed;
    errno = 0;
    part[0] = strtod(text, &end);
    part[1] = 0;
    if (end == text || isspace((unsigned char)*text))
        return problem;
    if (complex && *end == 'j') {
        part[1] = part[0];
        part[0] = 0;
        end++;
    } else if (complex && (*end == '+' || *end == '-')) {
        const char *second = end;
        part[1] = strtod(second, &end);
        if (end == second || *end++ != 'j')
            return problem;
    }
    if (closed && *end++ != ')')
        return problem;
    if (*end)
        return problem;
    return errno && (isinf(part[0]) || isinf(part[1])) ? beyond : NULL;
}

static bool fits(double part, int type)
{
    double kept = part;
    if (type == WEIR_F2)
        kept = cli_half_value(cli_half_of((float)part));
    else if (type == WEIR_F4 || type == WEIR_C8)
        kept = (double)(float)part;
    return isfinite(kept) || !isfinite(part);
}

const char *cli_element_parse(const char *text, int type, void *out)
{
    double part[2];
    if (type == WEIR_BOOL)
        return parse_truth(text, out);
    if (type < WEIR_F2)
        return parse_integer(text, type, out);
    const char *problem = parse_number(text, type >= WEIR_C8, part);
    element e = {.f8 = {part[0], part[1]}};
    if (problem)
        return problem;
    if (!fits(part[0], type) || !fits(part[1], type))
        return beyond;
    if (type == WEIR_F2)
        e.u2 = cli_half_of((float)part[0]);
    else if (type == WEIR_F4 || type == WEIR_C8)
        e = (element){.f4 = {(float)part[0], (float)part[1]}};
    memcpy(out, &e, CLI_ELEMENT);
    return NULL;
}
