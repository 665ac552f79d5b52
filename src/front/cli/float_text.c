/* Shortest digits by trial: fewer than a type surely keeps are never needed, and of those it keeps
 * the C library's rounding is the nearest. */
#include "float_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

#include "half.h"

enum { MOST_DIGITS = 17 };

/* 0.d1 d2 d3 ... times ten to the power of `point`. */
typedef struct digits {
    char digit[MOST_DIGITS + 1];
    int count, point;
} digits;

/* Digits that every number of a type keeps, and that suffice; the least that has them all. */
static const struct {
    int kept, enough;
    double normal;
} limits[] = {
    [WEIR_F2] = {3, 5, 0x1p-14}, [WEIR_F4] = {6, 9, 0x1p-126}, [WEIR_F8] = {15, 17, 0x1p-1022}};

static bool reads_back(int type, double value, const char *text)
{
    if (type == WEIR_F2)
        return cli_half_value(cli_half_of(strtof(text, NULL))) == value;
    return (type == WEIR_F4 ? (double)strtof(text, NULL) : strtod(text, NULL)) == value;
}

/* Of "d.ddde+xx". */
static digits split(const char *text)
{
    digits d = {.point = atoi(strchr(text, 'e') + 1) + 1};
    for (; *text != 'e'; text++)
        if (*text != '.')
            d.digit[d.count++] = *text;
    while (d.count > 1 && d.digit[d.count - 1] == '0')
        d.count--;
    return d;
}

/* A power of two is nearer to the number below it, so that of the decimals in between one that is
 * not the nearest may be the one: the next above. */
static bool next_above(int type, double value, char *text)
{
    int exponent;
    char *at = strchr(text, 'e') - 1;
    if (frexp(value, &exponent) != 0.5)
        return false;
    for (; at > text && (*at == '9' || *at == '.'); at--)
        if (*at == '9')
            *at = '0';
    return *at != '9' && (++*at, reads_back(type, value, text));
}

/* Of a finite number, not negative. */
static digits shortest(int type, double value)
{
    char text[CLI_FLOAT];
    if (value == 0)
        return (digits){.digit = "0", .count = 1, .point = 1};
    for (int count = value < limits[type].normal ? 1 : limits[type].kept;; count++) {
        snprintf(text, sizeof text, "%.*e", count - 1, value);
        if (count >= limits[type].enough || reads_back(type, value, text) ||
            next_above(type, value, text))
            return split(text);
    }
}

static void trim(char *text)
{
    size_t length = strlen(text);
    while (length && text[length - 1] == '0')
        length--;
    text[length] = 0;
}

static void write_positional(digits d, double value, char *text)
{
    if (signbit(value))
        *text++ = '-';
    if (d.point <= 0)
        *text++ = '0';
    for (int i = 0; i < d.point; i++)
        *text++ = i < d.count ? d.digit[i] : '0';
    *text++ = '.';
    for (int i = d.point; i < 0; i++)
        *text++ = '0';
    for (int i = d.point > 0 ? d.point : 0; i < d.count; i++)
        *text++ = d.digit[i];
    *text = 0;
}

void cli_float_positional(int type, double value, int places, char *text)
{
    const digits d = shortest(type, fabs(value));
    if (d.count < d.point) { /* not zeros, but the number's own digits */
        snprintf(text, CLI_FLOAT, "%#.0f", value);
    } else if (d.count - d.point > places) {
        snprintf(text, CLI_FLOAT, "%.*f", places, value);
        trim(text);
    } else {
        write_positional(d, value, text);
    }
}

void cli_float_scientific(int type, double value, int places, char *text)
{
    char digit[CLI_FLOAT];
    digits d = shortest(type, fabs(value));
    if (d.count - 1 > places) {
        snprintf(digit, sizeof digit, "%.*e", places, fabs(value));
        d = split(digit);
    }
    snprintf(text, CLI_FLOAT, "%s%c.%.*se%+03d", signbit(value) ? "-" : "", d.digit[0], d.count - 1,
             d.digit + 1, value == 0 ? 0 : d.point - 1);
}

/* Without the point where nothing is behind it. */
static void drop_point(char *text)
{
    char *point = strchr(text, '.');
    if (point && (point[1] == 'e' || !point[1]))
        memmove(point, point + 1, strlen(point));
}

void cli_float_print(int type, double value, char *text)
{
    const double size = fabs(value);
    if (isnan(value))
        snprintf(text, CLI_FLOAT, "nan");
    else if (isinf(value))
        snprintf(text, CLI_FLOAT, "%s", value < 0 ? "-inf" : "inf");
    else if (size == 0 || (size >= 1e-4 && size < 1e16)) {
        write_positional(shortest(type, size), value, text);
        const size_t length = strlen(text);
        if (text[length - 1] == '.')
            memcpy(text + length, "0", 2);
    } else {
        cli_float_scientific(type, value, 400, text);
        drop_point(text);
    }
}
