/* Characters are taken one at a time; a sequence is one only if it is as short as it can be, and
 * stands for no surrogate. */
#include "escape.h"

#include <stdint.h>
#include <string.h>

static const char unknown[] = "\xef\xbf\xbd";

/* How many bytes the next character has; 0: it is none. */
static int measure(const unsigned char *at, uint32_t *out)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int length = *at < 0x80   ? 1
                       : *at < 0xc0 ? 0
                       : *at < 0xe0 ? 2
                       : *at < 0xf0 ? 3
                       : *at < 0xf8 ? 4
                                    : 0;
    uint32_t value = length > 1 ? *at & (0x7fu >> length) : *at;
    for (int i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (at[i] & 0x3f);
    }
    *out = value;
    return length && value >= least[length] && value <= 0x10ffff && (value & 0xfffff800) != 0xd800
               ? length
               : 0;
}

/* Calls `put` for each character; `length` 0 is a byte that is none. */
static void walk(FILE *f, const char *text,
                 void (*put)(FILE *f, const char *at, int length, uint32_t value))
{
    while (*text) {
        uint32_t value = 0;
        const int length = measure((const unsigned char *)text, &value);
        put(f, text, length, value);
        text += length ? length : 1;
    }
}

static void put_html(FILE *f, const char *at, int length, uint32_t value)
{
    static const char special[] = "<>&\"'";
    if (length == 1 && strchr(special, *at))
        fprintf(f, "&#%d;", *at);
    else if (!length || (value < 0x20 && value != '\n' && value != '\t') ||
             (value >= 0x7f && value < 0xa0))
        fputs(unknown, f);
    else
        fwrite(at, 1, (size_t)length, f);
}

static void put_json(FILE *f, const char *at, int length, uint32_t value)
{
    if (!length)
        fputs(unknown, f);
    else if (value < 0x20 || value == 0x7f)
        fprintf(f, "\\u%04x", value);
    else if (value == '"' || value == '\\')
        fprintf(f, "\\%c", (char)value);
    else
        fwrite(at, 1, (size_t)length, f);
}

static void put_utf8(FILE *f, const char *at, int length, uint32_t value)
{
    (void)value;
    fwrite(length ? at : unknown, 1, length ? (size_t)length : sizeof unknown - 1, f);
}

static void put_line(FILE *f, const char *at, int length, uint32_t value)
{
    if (!length || value < 0x20 || (value >= 0x7f && value < 0xa0))
        putc('?', f);
    else
        fwrite(at, 1, (size_t)length, f);
}

void escape_html(FILE *f, const char *text)
{
    walk(f, text, put_html);
}

void escape_json(FILE *f, const char *text)
{
    putc('"', f);
    walk(f, text, put_json);
    putc('"', f);
}

void escape_line(FILE *f, const char *text)
{
    walk(f, text, put_line);
}

void escape_utf8(FILE *f, const char *text)
{
    walk(f, text, put_utf8);
}
