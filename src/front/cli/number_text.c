/* The rules of numpy.array2string with its defaults: 8 digits at most behind the point; exponents
 * where numbers are large, small or far apart. */
#include "number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

#include "element_text.h"
#include "float_text.h"
#include "half.h"

enum { PLACES = 8 };

static int longer(int a, int b)
{
    return a > b ? a : b;
}

/* One part of an element of a type of floats, at any address. */
static double part_of(int type, const void *element, int part)
{
    const char *at = element;
    uint16_t half;
    float single;
    double value;
    if (type == WEIR_F2) {
        memcpy(&half, at, sizeof half);
        return cli_half_value(half);
    }
    if (type == WEIR_F4 || type == WEIR_C8) {
        memcpy(&single, at + (size_t)part * sizeof single, sizeof single);
        return (double)single;
    }
    memcpy(&value, at + (size_t)part * sizeof value, sizeof value);
    return value;
}

cli_numbers_format cli_numbers_begin(int type)
{
    cli_numbers_format f = {.type = type};
    if (type >= WEIR_F2)
        f.part[0].type = type == WEIR_C8 ? WEIR_F4 : type == WEIR_C16 ? WEIR_F8 : type;
    if (type >= WEIR_C8) {
        f.part[1].type = f.part[0].type;
        f.part[1].signs = true;
    }
    return f;
}

/* --- one column --- */

static void look(cli_column *c, double value)
{
    const double size = fabs(value);
    if (!isfinite(value)) {
        c->odd = true;
        c->below = c->below || value < 0;
        return;
    }
    c->finite = true;
    if (size == 0)
        return;
    c->least = c->most == 0 || size < c->least ? size : c->least;
    c->most = size > c->most ? size : c->most;
}

/* The quotient as a number of the type. */
static bool far_apart(const cli_column *c)
{
    if (c->type == WEIR_F2)
        return cli_half_value(cli_half_of((float)(c->most / c->least))) > 1000;
    if (c->type == WEIR_F4)
        return (float)c->most / (float)c->least > 1000;
    return c->most / c->least > 1000;
}

static void settle(cli_column *c)
{
    c->scientific = c->most > 0 && (c->most >= 1e8 || c->least < 1e-4 || far_apart(c));
}

static void measure(cli_column *c, double value)
{
    char text[CLI_FLOAT];
    if (!isfinite(value))
        return;
    if (c->scientific)
        cli_float_scientific(c->type, value, PLACES, text);
    else
        cli_float_positional(c->type, value, PLACES, text);
    const int point = (int)strcspn(text, "."), end = (int)strcspn(text, "e");
    c->left = longer(c->left, point + (c->signs && !signbit(value)));
    if (c->scientific) {
        c->places = longer(c->places, end - point - 1);
        c->power = longer(c->power, (int)strlen(text) - end - 2);
    } else {
        c->right = longer(c->right, end - point - 1);
    }
}

static void finish(cli_column *c)
{
    if (c->scientific)
        c->right = c->power + 2 + c->places;
    if (c->odd) {
        const int infinite = 3 + (c->signs || c->below);
        c->left = longer(c->left, longer(3, infinite) - (c->right + 1));
    }
}

/* Places behind those that tell a number from its neighbours have its digits, too, not zeros. */
static void write_scientific(const cli_column *c, double value, char *text)
{
    cli_float_scientific(c->type, value, c->places, text);
    if ((int)(strcspn(text, "e") - strcspn(text, ".")) <= c->places)
        snprintf(text, CLI_FLOAT, "%.*e", c->places, value);
    char *power = strchr(text, 'e') + 1;
    const int size = atoi(power);
    snprintf(power, 16, "%c%0*d", size < 0 ? '-' : '+', c->power, abs(size));
}

static void write_column(const cli_column *c, double value, char *out)
{
    char text[2 * CLI_FLOAT];
    const bool sign = c->signs && (isnan(value) ? true : !signbit(value));
    if (!isfinite(value)) {
        snprintf(text, sizeof text, "%s%s",
                 value < 0  ? "-"
                 : c->signs ? "+"
                            : "",
                 isnan(value) ? "nan" : "inf");
        sprintf(out, "%*s", c->left + c->right + 1, text);
        return;
    }
    if (c->scientific) {
        write_scientific(c, value, text);
    } else {
        cli_float_positional(c->type, value, PLACES, text);
    }
    const int point = (int)strcspn(text, ".");
    sprintf(out, "%*s%s%-*s", c->left - point - sign, "", sign ? "+" : "", point + 1 + c->right,
            text);
}

/* --- elements --- */

static void each_part(cli_numbers_format *f, const void *element,
                      void (*with)(cli_column *, double))
{
    for (int i = 0; i < 2 && f->part[i].type; i++)
        with(&f->part[i], part_of(f->type, element, i));
}

void cli_numbers_look(cli_numbers_format *f, const void *element)
{
    char text[CLI_NUMBER];
    each_part(f, element, look);
    if (f->part[0].type || f->type == WEIR_BOOL)
        return;
    cli_element_text(f->type, element, text);
    f->width = longer(f->width, (int)strlen(text));
}

void cli_numbers_settle(cli_numbers_format *f)
{
    for (int i = 0; i < 2; i++)
        settle(&f->part[i]);
}

void cli_numbers_measure(cli_numbers_format *f, const void *element)
{
    each_part(f, element, measure);
}

void cli_numbers_done(cli_numbers_format *f)
{
    for (int i = 0; i < 2; i++)
        finish(&f->part[i]);
}

void cli_numbers_write(const cli_numbers_format *f, const void *element, char *text)
{
    char number[CLI_NUMBER];
    if (f->type == WEIR_BOOL) {
        snprintf(text, CLI_NUMBER, "%s", *(const char *)element ? " True" : "False");
    } else if (!f->part[0].type) {
        cli_element_text(f->type, element, number);
        sprintf(text, "%*s", f->width, number);
    } else {
        write_column(&f->part[0], part_of(f->type, element, 0), text);
        if (!f->part[1].type)
            return;
        write_column(&f->part[1], part_of(f->type, element, 1), number);
        int digits = (int)strlen(number);
        while (digits && number[digits - 1] == ' ')
            digits--;
        sprintf(text + strlen(text), "%.*sj%s", digits, number, number + digits);
    }
}

/* Without ".0". */
static void write_part(int type, double value, char *text)
{
    cli_float_print(type, value, text);
    const size_t length = strlen(text);
    if (length > 2 && !strcmp(text + length - 2, ".0"))
        text[length - 2] = 0;
}

static void write_complex(int type, const void *element, char *text)
{
    char part[2][CLI_FLOAT];
    const int real = type == WEIR_C8 ? WEIR_F4 : WEIR_F8;
    const double re = part_of(type, element, 0), im = part_of(type, element, 1);
    write_part(real, re, part[0]);
    write_part(real, im, part[1]);
    if (re == 0 && !signbit(re))
        sprintf(text, "%sj", part[1]);
    else
        sprintf(text, "(%s%s%sj)", part[0], *part[1] == '-' ? "" : "+", part[1]);
}

void cli_number_alone(int type, const void *element, char *text)
{
    if (type == WEIR_BOOL)
        snprintf(text, CLI_NUMBER, "%s", *(const char *)element ? "True" : "False");
    else if (type >= WEIR_C8)
        write_complex(type, element, text);
    else if (type >= WEIR_F2)
        cli_float_print(type, part_of(type, element, 0), text);
    else
        cli_element_text(type, element, text);
}
