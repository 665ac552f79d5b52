/* One buffer that doubles. */
#include "format/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"

void wr_text_add(wr_text *text, const char *bytes, int64_t count)
{
    if (!text->code && text->used + count >= text->most)
        text->code = wr_fail(WEIR_ERANGE, "%s would be longer than %lld bytes", text->name,
                             (long long)text->most);
    if (!text->code)
        text->code = wr_grow((void **)&text->bytes, &text->room, text->used + count + 1, 1);
    if (text->code)
        return;
    memcpy(text->bytes + text->used, bytes, (size_t)count);
    text->used += count;
    text->bytes[text->used] = '\0';
}

void wr_text_put(wr_text *text, const char *format, ...)
{
    char piece[256];
    va_list args;
    va_start(args, format);
    int count = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    wr_text_add(text, piece, wr_clamp(count, 0, sizeof piece - 1));
}

int wr_text_take(wr_text *text, char **bytes, int64_t *length)
{
    if (text->code) {
        wr_free(text->bytes);
        return text->code;
    }
    *bytes = text->bytes;
    *length = text->used;
    return 0;
}
