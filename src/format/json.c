/* One scanner checks the text and finds where values end; on text that was checked it cannot fail.
 * A value is scanned once for each block that is read around it. */
#include "format/json.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { DEEPEST = 500, DIGITS = 400 };

typedef struct scanner {
    const char *at, *end;
} scanner;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static void skip_space(scanner *s)
{
    while (s->at < s->end && *s->at && strchr(" \t\r\n", *s->at))
        s->at++;
}

static bool take(scanner *s, char c)
{
    bool there = s->at < s->end && *s->at == c;
    s->at += there;
    return there;
}

static bool take_word(scanner *s, const char *word)
{
    size_t length = strlen(word);
    bool there = (size_t)(s->end - s->at) >= length && !memcmp(s->at, word, length);
    s->at += there ? length : 0;
    return there;
}

static bool take_digits(scanner *s)
{
    const char *first = s->at;
    while (s->at < s->end && is_digit(*s->at))
        s->at++;
    return s->at > first;
}

/* After a backslash. */
static bool scan_escape(scanner *s)
{
    if (!take(s, 'u')) {
        bool known = s->at < s->end && *s->at && strchr("\"\\/bfnrt", *s->at);
        s->at += known;
        return known;
    }
    for (int i = 0; i < 4; i++, s->at++)
        if (s->at == s->end || !is_hex(*s->at))
            return false;
    return true;
}

static bool scan_string(scanner *s)
{
    if (!take(s, '"'))
        return false;
    while (s->at < s->end && *s->at != '"') {
        if (take(s, '\\')) {
            if (!scan_escape(s))
                return false;
        } else if ((unsigned char)*s->at < ' ') {
            return false;
        } else {
            s->at++;
        }
    }
    return take(s, '"');
}

static bool scan_number(scanner *s)
{
    if (take_word(s, "NaN"))
        return true;
    take(s, '-');
    if (take_word(s, "Infinity"))
        return true;
    if (!take(s, '0') && !take_digits(s))
        return false;
    if (take(s, '.') && !take_digits(s))
        return false;
    if (!take(s, 'e') && !take(s, 'E'))
        return true;
    if (!take(s, '+'))
        take(s, '-');
    return take_digits(s);
}

static bool scan_value(scanner *s, int depth);

static bool scan_key(scanner *s)
{
    skip_space(s);
    if (!scan_string(s))
        return false;
    skip_space(s);
    return take(s, ':');
}

static bool scan_block(scanner *s, char close, int depth)
{
    s->at++;
    skip_space(s);
    if (depth > DEEPEST)
        return false;
    if (take(s, close))
        return true;
    do {
        if (close == '}' && !scan_key(s))
            return false;
        if (!scan_value(s, depth))
            return false;
        skip_space(s);
    } while (take(s, ','));
    return take(s, close);
}

static bool scan_value(scanner *s, int depth)
{
    skip_space(s);
    if (s->at == s->end)
        return false;
    switch (*s->at) {
    case '{':
        return scan_block(s, '}', depth + 1);
    case '[':
        return scan_block(s, ']', depth + 1);
    case '"':
        return scan_string(s);
    case 't':
        return take_word(s, "true");
    case 'f':
        return take_word(s, "false");
    case 'n':
        return take_word(s, "null");
    default:
        return scan_number(s);
    }
}

int wr_json_check(const char *text, int64_t length, wr_json *out)
{
    scanner s = {text, text + length};
    skip_space(&s);
    const char *first = s.at;
    bool sound = scan_value(&s, 0);
    const char *last = s.at;
    if (sound)
        skip_space(&s);
    if (!sound || s.at < s.end)
        return wr_fail(WEIR_EFORMAT, "malformed JSON at byte %lld", (long long)(s.at - text));
    *out = (wr_json){first, last};
    return 0;
}

char wr_json_kind(wr_json value)
{
    if (strchr("{[\"tn", *value.at))
        return *value.at;
    return *value.at == 'f' ? 't' : '0';
}

bool wr_json_next(wr_json *rest, wr_json *key, wr_json *value)
{
    static const char no_key[] = "\"\"";
    /* rest is at the bracket, a comma, or what closes it; by J1 no scan fails. */
    scanner s = {rest->at + 1, rest->end};
    if (s.at == s.end)
        return false;
    skip_space(&s);
    if (s.at + 1 == s.end)
        return false;
    *key = (wr_json){no_key, no_key + 2};
    if (rest->end[-1] == '}') {
        key->at = s.at;
        scan_string(&s);
        key->end = s.at;
        skip_space(&s);
        take(&s, ':');
        skip_space(&s);
    }
    value->at = s.at;
    scan_value(&s, 0);
    value->end = s.at;
    skip_space(&s);
    rest->at = s.at;
    return true;
}

int64_t wr_json_count(wr_json block)
{
    wr_json key, value;
    int64_t count = 0;
    while (wr_json_next(&block, &key, &value))
        count++;
    return count;
}

/* The next character of a string, as wr_json_name has it. */
static char next_plain(const char **at)
{
    char c = *(*at)++;
    if (c != '\\')
        return c >= ' ' && c <= '~' ? c : '?';
    c = *(*at)++;
    if (c != 'u')
        return strchr("\"\\/", c) ? c : '?';
    const char digits[] = {(*at)[0], (*at)[1], (*at)[2], (*at)[3], '\0'};
    *at += 4;
    long code = strtol(digits, NULL, 16);
    return code >= ' ' && code <= '~' ? (char)code : '?';
}

void wr_json_name(wr_json value, char name[WR_JSON_NAME])
{
    const bool string = *value.at == '"';
    const char *at = value.at + string, *end = value.end - string;
    int used = 0;
    while (at < end && used < WR_JSON_NAME - 1)
        name[used++] = next_plain(&at);
    name[used] = '\0';
    if (at < end)
        memcpy(name + WR_JSON_NAME - 4, "...", 4);
}

bool wr_json_is(wr_json value, const char *name)
{
    char own[WR_JSON_NAME];
    wr_json_name(value, own);
    return *value.at == '"' && !strcmp(own, name);
}

bool wr_json_true(wr_json value)
{
    return *value.at == 't';
}

bool wr_json_double(wr_json value, double *out)
{
    char digits[DIGITS];
    size_t length = (size_t)(value.end - value.at);
    if (wr_json_kind(value) != '0' || length >= sizeof digits)
        return false;
    memcpy(digits, value.at, length);
    digits[length] = '\0';
    /* Other locales may have a comma where JSON has a point. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    *out = strtod(digits, NULL);
    uselocale(before);
    if (plain)
        freelocale(plain);
    return true;
}

static bool fraction_integer(wr_json value, bool *negative, uint64_t *magnitude)
{
    double v;
    if (!wr_json_double(value, &v) || !(fabs(v) < 0x1p53) || v != trunc(v))
        return false;
    *negative = v < 0;
    *magnitude = (uint64_t)fabs(v);
    return true;
}

bool wr_json_integer(wr_json value, bool *negative, uint64_t *magnitude)
{
    const char *at = value.at + (*value.at == '-');
    uint64_t sum = 0;
    for (; at < value.end && is_digit(*at); at++)
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum))
            return false;
    if (at < value.end)
        return fraction_integer(value, negative, magnitude);
    *negative = *value.at == '-' && sum;
    *magnitude = sum;
    return true;
}

bool wr_json_within(wr_json value, int64_t lo, int64_t hi, int64_t *out)
{
    bool negative;
    uint64_t magnitude;
    if (!wr_json_integer(value, &negative, &magnitude) || magnitude > INT64_MAX)
        return false;
    int64_t v = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    if (v < lo || v > hi)
        return false;
    *out = v;
    return true;
}

static int wrong_kind(const wr_json_key *key)
{
    static const struct {
        char kind;
        const char *name;
    } all[] = {{'{', "an object"}, {'[', "a list"},        {'"', "a string"},
               {'0', "a number"},  {'t', "true or false"}, {'n', "null"}};
    char wanted[96] = "";
    for (size_t i = 0, used = 0; i < sizeof all / sizeof *all; i++)
        if (strchr(key->kinds, all[i].kind))
            used += (size_t)snprintf(wanted + used, sizeof wanted - used, "%s%s",
                                     used ? " or " : "", all[i].name);
    return wr_fail(WEIR_EFORMAT, "\"%s\" is not %s", key->name, wanted);
}

static int collect_one(wr_json key, wr_json value, const wr_json_form *form, wr_json *items)
{
    char name[WR_JSON_NAME];
    wr_json_name(key, name);
    for (int k = 0; k < form->count; k++) {
        const wr_json_key *wanted = &form->keys[k];
        if (strcmp(name, wanted->name) != 0)
            continue;
        if (items[k].at)
            return wr_fail(WEIR_EFORMAT, "\"%s\" stands there twice", name);
        if (!strchr(wanted->kinds, wr_json_kind(value)))
            return wrong_kind(wanted);
        items[k] = value;
        return 0;
    }
    return form->open ? 0 : wr_fail(WEIR_EUNSUPPORTED, "\"%s\" is not known here", name);
}

int wr_json_collect(wr_json object, const wr_json_form *form, wr_json *items)
{
    wr_json key, value;
    int code = 0;
    for (int k = 0; k < form->count; k++)
        items[k] = (wr_json){0};
    while (!code && wr_json_next(&object, &key, &value))
        code = collect_one(key, value, form, items);
    for (int k = 0; !code && k < form->count; k++)
        if (!items[k].at && !form->keys[k].optional)
            code = wr_fail(WEIR_EFORMAT, "\"%s\" is missing", form->keys[k].name);
    return code;
}
