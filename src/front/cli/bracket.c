/* A recursive-descent parser for NumPy's basic indexing, with one list of indices; what NumPy would
 * do differently is refused, not done otherwise. */
#include "bracket.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const char *text, *at;
    const char *item; /* the one at hand */
    const char *part; /* of that: a bound or a step */
    const char *list; /* of indices */
    const char *problem;
} parser;

static char message[500];

/* What is wrong, and at which character of the bracket. */
__attribute__((format(printf, 3, 4))) static void fail_at(parser *p, const char *at,
                                                          const char *format, ...)
{
    va_list arguments;
    if (p->problem)
        return;
    int length = snprintf(message, sizeof message, "\"%.300s\": ", p->text);
    va_start(arguments, format);
    length += vsnprintf(message + length, sizeof message - (size_t)length, format, arguments);
    va_end(arguments);
    snprintf(message + length, sizeof message - (size_t)length, " at character %d",
             (int)(at - p->text) + 1);
    p->problem = message;
}

static char peek(parser *p)
{
    p->at += strspn(p->at, " \t");
    return *p->at;
}

static int64_t between(int64_t lo, int64_t value, int64_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/* Numbers beyond 64 bits become the nearest that fit, which changes no slice. */
static int64_t number(parser *p)
{
    char *end;
    char first = peek(p);
    if (!isdigit((unsigned char)p->at[first == '-' || first == '+'])) {
        fail_at(p, p->at, "a number is missing");
        return 0;
    }
    int64_t value = strtoll(p->at, &end, 10);
    p->at = end;
    return value;
}

/* One bound of a slice, counted from the end if negative. */
static int64_t bound(int64_t value, int64_t size, bool forward)
{
    value = value < 0 ? between(-1, value + size, size) : value;
    return forward ? between(0, value, size) : between(-1, value, size - 1);
}

static void set_slice(const bool given[3], const int64_t value[3], int64_t size, int d,
                      cli_bracket *out)
{
    /* Longer steps than the dimension take its first index only. */
    const int64_t most = size ? size : 1, step = given[2] ? between(-most, value[2], most) : 1;
    const bool forward = step > 0;
    int64_t lo = forward ? 0 : size - 1, hi = forward ? size : -1;
    lo = given[0] ? bound(value[0], size, forward) : lo;
    hi = given[1] ? bound(value[1], size, forward) : hi;
    int64_t length = forward ? hi - lo : lo - hi, by = forward ? step : -step;
    out->lo[d] = lo;
    out->step[d] = step;
    out->count[d] = length > 0 ? (length - 1) / by + 1 : 0;
}

/* An index of dimension d, from its start. */
static int64_t checked(parser *p, int64_t index, int64_t size, int d)
{
    int64_t from_start = index < 0 ? index + size : index;
    if (from_start < 0 || from_start >= size)
        fail_at(p, p->item, "index %.*s is outside dimension %d, which has %lld,",
                (int)strspn(p->item, "+-0123456789"), p->item, d, (long long)size);
    return from_start;
}

static void set_index(parser *p, int64_t index, int64_t size, int d, cli_bracket *out)
{
    out->lo[d] = checked(p, index, size, d);
    out->step[d] = out->count[d] = 1;
    out->dropped[d] = true;
}

static bool at_end_of_item(parser *p)
{
    char c = peek(p);
    return c == ',' || c == ']' || !c;
}

/* "[0, 2]"; NumPy would pair the indices of two lists, which is no section. */
static void list_item(parser *p, int64_t size, int d, cli_bracket *out)
{
    int64_t count = 0;
    size_t room = 1;
    if (out->list) {
        fail_at(p, p->at, "one list of indices at most: a second");
        return;
    }
    for (const char *at = p->at; *at && *at != ']'; at++)
        room += *at == ',';
    out->list = malloc(room * sizeof *out->list);
    if (!out->list) {
        fail_at(p, p->at, "no memory for a list");
        return;
    }
    p->list = p->at++;
    while (!p->problem && peek(p) != ']') {
        p->item = p->at;
        out->list[count++] = checked(p, number(p), size, d);
        if (peek(p) != ',' && peek(p) != ']')
            fail_at(p, p->at, "a list has indices and commas only: not understood");
        p->at += *p->at == ',';
    }
    p->at += !p->problem;
    out->listed = d;
    out->lo[d] = 0;
    out->step[d] = 1;
    out->count[d] = count;
}

/* An index, a list of them, or start:stop:step, every part optional. */
static void item(parser *p, int64_t size, int d, cli_bracket *out)
{
    bool given[3] = {false};
    int64_t value[3] = {0};
    int parts = 0;
    p->item = p->at;
    if (*p->at == '[') {
        list_item(p, size, d, out);
        return;
    }
    for (bool more = true; more && parts < 3 && !p->problem; parts++) {
        given[parts] = peek(p) != ':' && (!parts || !at_end_of_item(p));
        p->part = p->at;
        if (given[parts])
            value[parts] = number(p);
        more = peek(p) == ':' && parts < 2;
        p->at += more;
    }
    if (!p->problem && given[2] && !value[2])
        fail_at(p, p->part, "a step is 0");
    if (p->problem)
        return;
    if (parts == 1)
        set_index(p, value[0], size, d, out);
    else
        set_slice(given, value, size, d, out);
}

/* Items between commas, of which one may be "..."; a comma may follow the last. */
static int count_items(const char *text)
{
    int items = 0, depth = 0;
    bool blank = true;
    for (const char *at = text + 1; *at && (depth || *at != ']'); at++) {
        bool comma = *at == ',' && !depth;
        depth += (*at == '[') - (*at == ']');
        items += comma;
        blank = comma || (blank && strchr(" \t", *at));
    }
    return items + !blank;
}

/* Item n, "..." not counted; there must be as many. */
static const char *nth_item(const char *text, int n)
{
    const char *at = text + 1;
    for (int depth = 0;; at++) {
        if (!depth && (at == text + 1 || at[-1] == ',')) {
            at += strspn(at, " \t");
            n -= strncmp(at, "...", 3) != 0;
            if (n < 0)
                return at;
        }
        depth += (*at == '[') - (*at == ']');
    }
}

/* Where slices, or "..." before dimension `dots`, part a list from an index, NumPy puts the
 * list's dimension before all others; it is refused unless it is there anyway. */
static void check_order(parser *p, const cli_bracket *b, int dots)
{
    bool parted = false, behind = false;
    int before = -1; /* the last dimension with an index or the list */
    for (int d = 0; d < b->dimensions; d++) {
        if (d < b->listed && !b->dropped[d])
            behind = true;
        if (!b->dropped[d] && d != b->listed)
            continue;
        if (before >= 0)
            parted = parted || before + 1 < d || dots == d;
        before = d;
    }
    if (parted && behind)
        fail_at(p, p->list, "a list must be beside the indices, or come first: not as");
}

static void parse_items(parser *p, const int64_t *shape, cli_bracket *out)
{
    const int items = count_items(p->text);
    const char *dots = strstr(p->text, "..."), *again = dots ? strstr(dots + 3, "...") : NULL;
    const int given = items - (dots != NULL);
    int seen = -1; /* the dimension before which the dots are */
    p->at++;
    if (!items)
        fail_at(p, p->at, "an index is missing");
    if (again)
        fail_at(p, again, "... comes twice: again");
    else if (given > out->dimensions)
        fail_at(p, nth_item(p->text, out->dimensions),
                "%d indices, but the array has %d dimensions: one too many", given,
                out->dimensions);
    for (int i = 0, d = 0; i < items && !p->problem; i++) {
        peek(p);
        if (!strncmp(p->at, "...", 3)) {
            p->at += 3;
            seen = d;
            d += out->dimensions - (items - 1);
        } else if (d < out->dimensions) { /* or the dots are not where they could be */
            item(p, shape[d], d, out);
            d++;
        }
        if (!at_end_of_item(p))
            fail_at(p, p->at, "not understood");
        p->at += *p->at == ',';
    }
    if (!p->problem && (peek(p) != ']' || p->at[1]))
        fail_at(p, p->at, "not understood");
    if (!p->problem && out->list)
        check_order(p, out, seen);
}

const char *cli_bracket_parse(const char *text, int dimensions, const int64_t *shape,
                              cli_bracket *out)
{
    parser p = {.text = text, .at = text};
    *out = (cli_bracket){.dimensions = dimensions};
    for (int d = 0; d < dimensions; d++) {
        out->step[d] = 1;
        out->count[d] = shape[d];
    }
    if (*text && strcmp(text, "[()]") != 0) /* no index: everything */
        parse_items(&p, shape, out);
    return p.problem;
}

const char *cli_bracket_find(const char *text)
{
    const char *end = text + strlen(text), *at = end;
    int depth = 0;
    if (end == text || end[-1] != ']')
        return end;
    do {
        at--;
        depth += (*at == ']') - (*at == '[');
    } while (depth && at != text);
    return depth ? end : at;
}

const char *cli_bracket_extra(const char *text)
{
    int depth = 0;
    for (const char *at = strchr(text, '['); at && *at; at++) {
        depth += (*at == '[') - (*at == ']');
        if (depth < 0)
            return at;
    }
    return NULL;
}

void cli_bracket_release(cli_bracket *b)
{
    free(b->list);
    b->list = NULL;
}

int cli_bracket_shape(const cli_bracket *b, int64_t *shape)
{
    int kept = 0;
    for (int d = 0; d < b->dimensions; d++)
        if (!b->dropped[d])
            shape[kept++] = b->count[d];
    return kept;
}

void cli_bracket_map(const cli_bracket *b, const int64_t *lo, const int64_t *hi, cli_section *out)
{
    for (int d = 0, kept = 0; d < b->dimensions; d++) {
        int64_t first = b->dropped[d] ? 0 : lo[kept], last = b->dropped[d] ? 0 : hi[kept] - 1;
        out->lo[d] = b->lo[d] + first * b->step[d];
        out->hi[d] = b->lo[d] + last * b->step[d] + (b->step[d] > 0 ? 1 : -1);
        out->step[d] = b->step[d];
        kept += !b->dropped[d];
    }
}
