/* A recursive-descent parser for sections, in the papers' notation (1-based, inclusive, with p and
 * P) and in NumPy's. */
#include "section_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const char *text, *at;
    int rank, ranks;
    const char *problem;
} parser;

/* Two of them can be added, and one more. */
static const int64_t MOST = INT64_MAX / 4;

static char message[200];

static const char *fail(parser *p, const char *what)
{
    if (!p->problem) {
        snprintf(message, sizeof message, "section \"%.80s\": %s at character %d", p->text, what,
                 (int)(p->at - p->text) + 1);
        p->problem = message;
    }
    return p->problem;
}

/* Of a whole range, where it begins. */
static void fail_from(parser *p, const char *begin, const char *what)
{
    p->at = begin;
    fail(p, what);
}

static void skip_spaces(parser *p)
{
    p->at += strspn(p->at, " \t");
}

/* One term: digits, p, P, or digits before p or P. */
static int64_t term(parser *p)
{
    char *end;
    skip_spaces(p);
    bool digits = isdigit((unsigned char)*p->at);
    int64_t value = digits ? strtoll(p->at, &end, 10) : 1;
    if (digits)
        p->at = end;
    bool large = false;
    if (*p->at == 'p' || *p->at == 'P')
        large = __builtin_mul_overflow(value, *p->at++ == 'p' ? p->rank : p->ranks, &value);
    else if (!digits)
        fail(p, "a number is missing");
    if (large || value > MOST)
        fail(p, "a number is too large");
    skip_spaces(p);
    return p->problem ? 0 : value;
}

static int64_t sum(parser *p)
{
    skip_spaces(p);
    int64_t sign = *p->at == '-' ? -1 : 1;
    p->at += *p->at == '-';
    int64_t value = sign * term(p);
    while (!p->problem && (*p->at == '+' || *p->at == '-')) {
        sign = *p->at++ == '-' ? -1 : 1;
        value += sign * term(p);
        if (value > MOST || value < -MOST)
            fail(p, "a number is too large");
    }
    return value;
}

/* lower:upper:stride, 1-based and inclusive. */
static void paper_range(parser *p, int64_t size, int64_t *lo, int64_t *hi, int64_t *step)
{
    skip_spaces(p);
    const char *begin = p->at;
    *lo = sum(p) - 1;
    *hi = *lo + 1;
    *step = 1;
    if (*p->at == ':') {
        p->at++;
        *hi = sum(p);
    }
    if (*p->at == ':') {
        p->at++;
        *step = sum(p);
    }
    if (!p->problem && *step < 1)
        fail(p, "the stride must be at least 1");
    if (!p->problem && (*lo < 0 || *hi > size))
        fail_from(p, begin, "outside the array");
}

/* start:stop:step as in Python, every part optional; an index alone takes one element. */
static void numpy_range(parser *p, int64_t size, int64_t *lo, int64_t *hi, int64_t *step)
{
    skip_spaces(p);
    const char *begin = p->at;
    bool given[3] = {false};
    int64_t value[3] = {0, size, 1};
    int parts = 0;
    for (bool more = true; more && parts < 3 && !p->problem; parts++) {
        skip_spaces(p);
        if (*p->at == '[')
            fail(p, "a plan takes no lists of indices, as");
        given[parts] = !p->problem && *p->at != ':' && (!parts || (*p->at != ',' && *p->at != ']'));
        if (given[parts])
            value[parts] = sum(p);
        more = *p->at == ':';
        p->at += more;
    }
    *step = value[2];
    if (!p->problem && *step < 1)
        fail(p, "the step must be at least 1 here");
    for (int i = 0; i < 2; i++)
        value[i] += given[i] && value[i] < 0 ? size : 0;
    *lo = value[0];
    *hi = parts == 1 ? *lo + 1 : value[1] < size ? value[1] : size;
    if (!p->problem && (*lo < 0 || *hi > size || (parts == 1 && *lo >= size)))
        fail_from(p, begin, "outside the array");
}

/* How many ranges follow "...". */
static int ranges_behind(const char *at)
{
    int ranges = 0;
    for (at += 3; *at && *at != ']'; at++)
        ranges += *at == ',' && at[1 + strspn(at + 1, " \t")] != ']';
    return ranges;
}

/* Dimensions from *d on that are whole: all that are left at the end, those that "..." stands
 * for; true if there are no ranges at this place. */
static bool skip_whole(parser *p, int dimensions, int *d, bool first)
{
    skip_spaces(p);
    if (*p->at == ']' && !first) {
        *d = dimensions;
        return true;
    }
    if (strncmp(p->at, "...", 3) != 0)
        return false;
    if (strstr(p->at + 3, "..."))
        fail(p, "... comes twice, first");
    int last = dimensions - ranges_behind(p->at);
    *d = last > *d ? last : *d;
    p->at += 3;
    return true;
}

static void numpy_ranges(parser *p, int dimensions, const int64_t *shape, cli_section *out)
{
    int d = 0;
    for (int i = 0; i < dimensions; i++) {
        out->lo[i] = 0;
        out->hi[i] = shape[i];
        out->step[i] = 1;
    }
    p->at++;
    for (bool first = true, more = true; more && !p->problem; first = false) {
        if (!skip_whole(p, dimensions, &d, first)) {
            if (d == dimensions)
                fail(p, "more ranges than dimensions");
            else
                numpy_range(p, shape[d], &out->lo[d], &out->hi[d], &out->step[d]);
            d++;
        }
        skip_spaces(p);
        more = *p->at == ',';
        p->at += more;
    }
    if (*p->at != ']')
        fail(p, "a comma or ] is missing");
    p->at += *p->at == ']';
}

static void paper_ranges(parser *p, int dimensions, const int64_t *shape, cli_section *out)
{
    for (int d = 0; d < dimensions && !p->problem; d++) {
        paper_range(p, shape[d], &out->lo[d], &out->hi[d], &out->step[d]);
        skip_spaces(p);
        if (!p->problem && d + 1 < dimensions && *p->at != ',')
            fail(p, *p->at ? "a comma is missing" : "fewer ranges than dimensions: it ends");
        p->at += *p->at == ',';
    }
}

const char *cli_section_parse(const char *text, int dimensions, const int64_t *shape, int rank,
                              int ranks, cli_section *out)
{
    parser p = {.text = text, .at = text, .rank = rank, .ranks = ranks};
    skip_spaces(&p);
    (*p.at == '[' ? numpy_ranges : paper_ranges)(&p, dimensions, shape, out);
    skip_spaces(&p);
    if (!p.problem && *p.at)
        fail(&p, "more than the array's dimensions, or something not understood");
    return p.problem;
}
