/* Items are told apart by the commas that are in no string and in no inner block; a key has its
 * colon right behind it. */
#include "json_items.h"

#include <string.h>

static const char *skip_string(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

static const char *skip_value(const char *at)
{
    for (int depth = 0; *at && (depth || !strchr(",]}", *at));) {
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        at = *at == '"' ? skip_string(at) : at + 1;
    }
    return at;
}

/* *at is at what opens the block, or at what ended the item before. */
int cli_json_next(const char **at, cli_json_item *out)
{
    const char *from = *at + 1;
    *out = (cli_json_item){0};
    while (*from == ' ')
        from++;
    if (!*from || *from == ']' || *from == '}')
        return 0;
    if (*from == '"') {
        const char *end = skip_string(from);
        if (*end == ':') {
            out->key = from + 1;
            out->key_length = (int)(end - from) - 2;
            from = end + 2;
        }
    }
    out->value = from;
    *at = skip_value(from);
    out->length = (int)(*at - from);
    return 1;
}

int cli_json_cut(const char *text, int length, int most)
{
    if (length <= most)
        return length;
    while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}
