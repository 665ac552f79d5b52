/* Headers of .npy files, as numpy/lib/format.py defines them: a magic, a version, a length, and a
 * Python dict with three keys. The parser reads that dict from left to right, once, and knows no
 * more of Python than it may contain; it takes no memory. */
#include "format/npy.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"

enum { MAGIC = 6, START_1 = 10, QUOTED = 24 };

static const unsigned char magic[MAGIC] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static bool machine_is_big(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

int wr_npy_measure(const void *start, int64_t bytes, int64_t *length)
{
    const unsigned char *b = start;
    if (bytes < MAGIC || memcmp(b, magic, MAGIC) != 0)
        return wr_fail(WEIR_EFORMAT, "not a .npy file: it does not begin with \\x93NUMPY");
    if (bytes < START_1)
        return wr_fail(WEIR_EFORMAT, ".npy header ends at byte %lld", (long long)bytes);
    int major = b[MAGIC], minor = b[MAGIC + 1];
    if (major < 1 || major > 3 || minor != 0)
        return wr_fail(WEIR_EFORMAT, ".npy version %d.%d is unknown", major, minor);
    int64_t first = major == 1 ? START_1 : WR_NPY_START;
    if (bytes < first)
        return wr_fail(WEIR_EFORMAT, ".npy header ends at byte %lld", (long long)bytes);
    int64_t total = first;
    for (int64_t i = START_1 - 2; i < first; i++)
        total += (int64_t)b[i] << (8 * (i - (START_1 - 2)));
    if (total > WR_NPY_LONGEST)
        return wr_fail(WEIR_EFORMAT, ".npy header of %lld bytes, at most %d can be read",
                       (long long)total, WR_NPY_LONGEST);
    if (bytes < WR_NPY_START && total > bytes)
        return wr_fail(WEIR_EFORMAT, ".npy header of %lld bytes ends at byte %lld",
                       (long long)total, (long long)bytes);
    *length = total;
    return 0;
}

/* Positions count from the first byte of the file. */
typedef struct parser {
    const char *text;
    int64_t at, end;
} parser;

typedef struct slice {
    const char *at;
    int64_t length;
} slice;

/* What the file says, fit for a line of text. */
typedef struct quoted {
    char text[QUOTED + 1];
} quoted;

static quoted quote(slice s)
{
    quoted q = {0};
    for (int64_t i = 0; i < s.length && i < QUOTED; i++) {
        unsigned char c = (unsigned char)s.at[i];
        q.text[i] = (char)(c >= ' ' && c < 0x7f ? c : '?');
    }
    if (s.length > QUOTED)
        memset(q.text + QUOTED - 3, '.', 3);
    return q;
}

static int malformed(const parser *p, const char *what)
{
    wr_fail(WEIR_EFORMAT, ".npy header: %s at byte %lld", what, (long long)p->at);
    return WEIR_EFORMAT;
}

/* The next byte that is no space; 0 at the end. */
static char peek(parser *p)
{
    while (p->at < p->end && p->text[p->at] && strchr(" \t\n\r\f", p->text[p->at]))
        p->at++;
    return p->at < p->end ? p->text[p->at] : '\0';
}

static bool eat(parser *p, char c)
{
    if (peek(p) != c || p->at == p->end)
        return false;
    p->at++;
    return true;
}

static bool eat_word(parser *p, const char *word)
{
    int64_t length = (int64_t)strlen(word);
    peek(p);
    if (p->end - p->at < length || memcmp(p->text + p->at, word, (size_t)length) != 0)
        return false;
    p->at += length;
    return true;
}

static int parse_string(parser *p, const char *what, slice *out)
{
    char mark = peek(p);
    if (mark != '\'' && mark != '"')
        return malformed(p, what);
    const char *first = p->text + p->at + 1;
    const char *last = memchr(first, mark, (size_t)(p->end - p->at - 1));
    if (!last)
        return malformed(p, "string without an end");
    *out = (slice){first, last - first};
    p->at += out->length + 2;
    return 0;
}

static bool slice_is(slice s, const char *text)
{
    return s.length == (int64_t)strlen(text) && !memcmp(s.at, text, (size_t)s.length);
}

/* What NumPy has and the library has not, by letter or, for lengths of numbers, by code. */
static const char *foreign_kind(slice code)
{
    static const struct {
        const char *code, *what;
    } foreign[] = {{"O", "Python objects"}, {"S", "strings"},        {"a", "strings"},
                   {"U", "strings"},        {"V", "raw bytes"},      {"m", "spans of time"},
                   {"M", "dates"},          {"f12", "long doubles"}, {"f16", "long doubles"},
                   {"c24", "long doubles"}, {"c32", "long doubles"}};
    for (size_t i = 0; code.length && i < sizeof foreign / sizeof *foreign; i++) {
        const char *its = foreign[i].code;
        if (its[1] ? slice_is(code, its) : *code.at == *its)
            return foreign[i].what;
    }
    return NULL;
}

/* The type of a NumPy code without byte order, which is our name for it but for bool; 0: none. */
static int find_type(slice code)
{
    if (slice_is(code, "b1"))
        return WEIR_BOOL;
    for (int type = WEIR_I1; type <= WEIR_C16; type++)
        if (slice_is(code, weir_type_name(type)))
            return type;
    return 0;
}

static int parse_descr(parser *p, wr_description *d)
{
    slice all, code;
    if (peek(p) == '[' || peek(p) == '(')
        return wr_fail(WEIR_EUNSUPPORTED, ".npy header: elements are structures (byte %lld)",
                       (long long)p->at);
    int64_t place = p->at;
    if (parse_string(p, "'descr' is no string", &all))
        return WEIR_EFORMAT;
    code = all;
    char order = all.length ? *all.at : '\0';
    if (order && strchr("<>|=", order))
        code = (slice){all.at + 1, all.length - 1};
    d->type = find_type(code);
    if (d->type) {
        bool other = machine_is_big() ? order == '<' : order == '>';
        d->swapped = other && weir_type_bytes(d->type) > 1;
        return 0;
    }
    const char *what = foreign_kind(code);
    if (what)
        return wr_fail(WEIR_EUNSUPPORTED, ".npy header: elements of type '%s' are %s (byte %lld)",
                       quote(all).text, what, (long long)place);
    return wr_fail(WEIR_EFORMAT, ".npy header: '%s' is no type at byte %lld", quote(all).text,
                   (long long)place);
}

static int parse_order(parser *p, wr_description *d)
{
    d->columns = eat_word(p, "True");
    if (!d->columns && !eat_word(p, "False"))
        return malformed(p, "'fortran_order' is neither True nor False");
    return 0;
}

static bool digit_next(const parser *p)
{
    return p->at < p->end && isdigit((unsigned char)p->text[p->at]);
}

static int parse_size(parser *p, int64_t *out)
{
    if (peek(p) == '-')
        return malformed(p, "negative size");
    if (!digit_next(p))
        return malformed(p, "no size");
    int64_t value = 0, first = p->at;
    while (digit_next(p)) {
        if (!wr_mul(value, 10, &value) || !wr_add(value, p->text[p->at] - '0', &value))
            return wr_fail(WEIR_ERANGE, ".npy header: size at byte %lld is too large",
                           (long long)first);
        p->at++;
    }
    /* Python 2 took these for octal, Python 3 takes them for an error. */
    if (p->text[first] == '0' && p->at > first + 1)
        return malformed(p, "size that begins with 0");
    if (p->at < p->end && p->text[p->at] == 'L')
        p->at++;
    *out = value;
    return 0;
}

static int parse_shape(parser *p, wr_description *d)
{
    bool comma = false;
    if (!eat(p, '('))
        return malformed(p, "'shape' is no tuple");
    while (!eat(p, ')')) {
        if (d->dimensions && !comma)
            return malformed(p, "no comma between sizes");
        if (d->dimensions == WR_DIMENSIONS)
            return wr_fail(WEIR_EUNSUPPORTED, ".npy header: more than %d dimensions",
                           WR_DIMENSIONS);
        int code = parse_size(p, &d->shape[d->dimensions]);
        if (code)
            return code;
        d->dimensions++;
        comma = eat(p, ',');
    }
    if (d->dimensions == 1 && !comma)
        return malformed(p, "'shape' is a number in parentheses, no tuple");
    return 0;
}

static const struct {
    const char *name;
    int (*parse)(parser *p, wr_description *d);
} keys[] = {{"descr", parse_descr}, {"fortran_order", parse_order}, {"shape", parse_shape}};

enum { KEYS = sizeof keys / sizeof *keys };

static int parse_entry(parser *p, bool seen[KEYS], wr_description *d)
{
    slice name;
    if (parse_string(p, "no key", &name))
        return WEIR_EFORMAT;
    int key = 0;
    while (key < KEYS && !slice_is(name, keys[key].name))
        key++;
    if (key == KEYS || seen[key])
        return wr_fail(WEIR_EFORMAT, ".npy header: key '%s' %s, before byte %lld", quote(name).text,
                       key == KEYS ? "is unknown" : "for the second time", (long long)p->at);
    seen[key] = true;
    if (!eat(p, ':'))
        return malformed(p, "no colon after a key");
    return keys[key].parse(p, d);
}

static int parse_dict(parser *p, wr_description *d)
{
    bool seen[KEYS] = {false}, comma = true;
    if (!eat(p, '{'))
        return malformed(p, "no dict");
    while (!eat(p, '}')) {
        if (!comma)
            return malformed(p, "neither comma nor end of the dict");
        int code = parse_entry(p, seen, d);
        if (code)
            return code;
        comma = eat(p, ',');
    }
    for (int key = 0; key < KEYS; key++)
        if (!seen[key])
            return wr_fail(WEIR_EFORMAT, ".npy header: no key '%s'", keys[key].name);
    peek(p);
    return p->at < p->end ? malformed(p, "something after the dict") : 0;
}

int wr_npy_parse(const void *header, int64_t length, wr_description *out)
{
    const unsigned char *bytes = header;
    wr_description d = {0};
    int code = wr_npy_measure(header, length, &d.data_offset);
    if (code)
        return code;
    if (d.data_offset > length)
        return wr_fail(WEIR_EFORMAT, ".npy header of %lld bytes ends at byte %lld",
                       (long long)d.data_offset, (long long)length);
    parser p = {header, bytes[MAGIC] == 1 ? START_1 : WR_NPY_START, d.data_offset};
    code = parse_dict(&p, &d);
    if (code)
        return code;
    code = wr_description_settle(&d);
    if (code) {
        wr_error_prefix(".npy header");
        return code;
    }
    *out = d;
    return 0;
}

static char order_mark(int type)
{
    if (weir_type_bytes(type) == 1)
        return '|';
    return machine_is_big() ? '>' : '<';
}

int wr_npy_build(wr_description *d, char header[WR_NPY_WRITTEN])
{
    wr_description whole = *d;
    whole.data_offset = WR_NPY_WRITTEN;
    whole.swapped = false;
    int code = wr_description_settle(&whole);
    if (code)
        return code;
    char *at = header + START_1, *end = header + WR_NPY_WRITTEN;
    at += snprintf(at, (size_t)(end - at), "{'descr': '%c%s', 'fortran_order': %s, 'shape': (",
                   order_mark(d->type), d->type == WEIR_BOOL ? "b1" : weir_type_name(d->type),
                   d->columns ? "True" : "False");
    for (int i = 0; i < d->dimensions; i++)
        at += snprintf(at, (size_t)(end - at), "%s%lld", i ? ", " : "", (long long)d->shape[i]);
    at += snprintf(at, (size_t)(end - at), "%s), }", d->dimensions == 1 ? "," : "");
    memset(at, ' ', (size_t)(end - at));
    end[-1] = '\n';
    memcpy(header, magic, MAGIC);
    header[MAGIC] = 1;
    header[MAGIC + 1] = 0;
    header[MAGIC + 2] = (char)((WR_NPY_WRITTEN - START_1) & 0xff);
    header[MAGIC + 3] = (char)((WR_NPY_WRITTEN - START_1) >> 8);
    *d = whole;
    return 0;
}
