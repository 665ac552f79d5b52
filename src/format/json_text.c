/* JSON written. */
#include "format/json_text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "format/convert.h"

/* Bytes of the character at `at`; 0 if it is none. */
static int64_t character(const unsigned char *at, int64_t room)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int64_t bytes = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    unsigned code = bytes > 1 ? *at & (0x7fU >> bytes) : *at;
    if (bytes > room || *at > 0xf4)
        return 0;
    for (int64_t i = 1; i < bytes; i++) {
        if (at[i] >> 6 != 2)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    return code < least[bytes] || code > 0x10ffff || (code >> 11) == 0x1b ? 0 : bytes;
}

static bool is_utf8(const char *bytes, int64_t count)
{
    for (int64_t at = 0, size; at < count; at += size) {
        size = character((const unsigned char *)bytes + at, count - at);
        if (!size)
            return false;
    }
    return true;
}

static void add_character(unsigned code, wr_text *text)
{
    char out[4];
    int bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = bytes - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(bytes > 1 ? (0xf00U >> bytes & 0xff) | code : code);
    if (bytes > 1 || code)
        wr_text_add(text, out, bytes);
}

void wr_json_quote(const char *bytes, int64_t count, wr_text *text)
{
    const bool sound = is_utf8(bytes, count);
    wr_text_add(text, "\"", 1);
    for (int64_t i = 0; i < count && !text->code; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\')
            wr_text_put(text, "\\%c", c);
        else if (c && (c < ' ' || c == 0x7f))
            wr_text_put(text, "\\u%04x", c);
        else if (c >= 0x80 && !sound)
            add_character(c, text);
        else if (c)
            wr_text_add(text, bytes + i, 1);
    }
    wr_text_add(text, "\"", 1);
}

/* --- strings --- */

static unsigned hex(const char *at)
{
    const char digits[] = {at[0], at[1], at[2], at[3], '\0'};
    return (unsigned)strtoul(digits, NULL, 16);
}

/* After \u; returns where it goes on. */
static const char *add_escaped(const char *at, const char *end, wr_text *text)
{
    enum { REPLACEMENT = 0xfffd };
    unsigned code = hex(at);
    at += 4;
    if (code >> 11 == 0x1b) {
        const unsigned low =
            code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? hex(at + 2) : 0;
        const bool pair = low >> 10 == 0x37;
        code = pair ? 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff) : REPLACEMENT;
        at += pair ? 6 : 0;
    }
    add_character(code, text);
    return at;
}

void wr_json_unquote(wr_json string, wr_text *text)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *at = string.at + 1, *end = string.end - 1;
    while (at < end && !text->code) {
        const size_t plain = (size_t)(end - at);
        const char *escape = memchr(at, '\\', plain);
        wr_text_add(text, at, (escape ? escape : end) - at);
        if (!escape)
            return;
        at = escape + 2;
        const char *letter = strchr(letters, escape[1]);
        if (escape[1] == 'u')
            at = add_escaped(at, end, text);
        else
            wr_text_add(text, letter ? meant + (letter - letters) : escape + 1, 1);
    }
}

/* --- values --- */

static void add_float(double v, wr_text *text)
{
    char digits[40];
    if (!isfinite(v)) {
        wr_text_put(text, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
        return;
    }
    /* Other locales may have a comma where JSON has a point. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    for (int count = 15; count <= 17; count++) {
        snprintf(digits, sizeof digits, "%.*g", count, v);
        if (strtod(digits, NULL) == v)
            break;
    }
    uselocale(before);
    if (plain)
        freelocale(plain);
    wr_text_put(text, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

void wr_json_number(int type, const void *element, wr_text *text)
{
    const wr_elements from = {type, (void *)(uintptr_t)element, 0};
    double real = 0;
    int64_t whole = 0;
    uint64_t natural = 0;
    if (type >= WEIR_F4) {
        wr_convert(&from, &(wr_elements){WEIR_F8, &real, 0}, 1);
        add_float(real, text);
    } else if (type >= WEIR_U1) {
        wr_convert(&from, &(wr_elements){WEIR_U8, &natural, 0}, 1);
        wr_text_put(text, "%llu", (unsigned long long)natural);
    } else {
        wr_convert(&from, &(wr_elements){WEIR_I8, &whole, 0}, 1);
        wr_text_put(text, "%lld", (long long)whole);
    }
}

/* Bytes that are no character stand for themselves, as Latin-1. */
static void add_ascii(const char *at, const char *end, wr_text *text)
{
    for (int64_t size; at < end && !text->code; at += size) {
        const unsigned char *byte = (const unsigned char *)at;
        size = wr_max(1, character(byte, end - at));
        unsigned code = size > 1 ? *byte & (0x7fU >> size) : *byte;
        for (int64_t i = 1; i < size; i++)
            code = code << 6 | (byte[i] & 0x3f);
        if (code < 0x80)
            wr_text_add(text, at, 1);
        else if (code < 0x10000)
            wr_text_put(text, "\\u%04x", code);
        else
            wr_text_put(text, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
    }
}

/* A string, or a word up to what ends it. */
static const char *end_of(const char *at, const char *end)
{
    if (*at != '"') {
        do
            at++;
        while (at < end && !strchr(" \t\r\n,:]}", *at));
        return at;
    }
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

/* A string, which is no key, that stands for a number JSON does not have. */
static bool is_number(wr_json string, const char *end)
{
    const char *behind = string.end;
    while (behind < end && strchr(" \t\r\n", *behind))
        behind++;
    return (behind == end || *behind != ':') &&
           (wr_json_is(string, "NaN") || wr_json_is(string, "Infinity") ||
            wr_json_is(string, "-Infinity"));
}

static void add_word(wr_json word, const char *end, int how, wr_text *text)
{
    const char *at = word.at;
    const bool infinite = *at == 'N' || *at == 'I' || !strncmp(at, "-I", 2);
    const bool quoted = (how & WR_JSON_FINITE) && infinite;
    wr_text_add(text, "\"", quoted);
    if (*at == '"' && (how & WR_JSON_INFINITE) && is_number(word, end))
        wr_text_add(text, at + 1, word.end - at - 2);
    else if (how & WR_JSON_ASCII)
        add_ascii(at, word.end, text);
    else
        wr_text_add(text, at, word.end - at);
    wr_text_add(text, "\"", quoted);
}

void wr_json_copy(wr_json value, int how, wr_text *text)
{
    for (const char *at = value.at, *next; at < value.end && !text->code; at = next) {
        next = at + 1;
        if (strchr(" \t\r\n", *at))
            continue;
        if (strchr("[]{}", *at)) {
            wr_text_add(text, at, 1);
        } else if (*at == ',' || *at == ':') {
            wr_text_put(text, "%c ", *at);
        } else {
            next = end_of(at, value.end);
            add_word((wr_json){at, next}, value.end, how, text);
        }
    }
}
