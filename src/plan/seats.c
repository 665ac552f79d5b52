/* The text is read entry by entry for one host; nothing of it is kept. */
#include "plan/seats.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"

/* A part of the text. */
typedef struct word {
    const char *at;
    size_t length;
} word;

static word trimmed(const char *at, size_t length)
{
    while (length && isspace((unsigned char)*at))
        at++, length--;
    while (length && isspace((unsigned char)at[length - 1]))
        length--;
    return (word){at, length};
}

static bool is_star(word w)
{
    return w.length == 1 && *w.at == '*';
}

static bool names(word w, const char *host)
{
    if (w.length > strlen(host) || memcmp(w.at, host, w.length) != 0)
        return false;
    return host[w.length] == '\0' || host[w.length] == '.';
}

/* A number that an int holds, or a star. */
static bool parse_number(word w, int64_t *out)
{
    *out = is_star(w) ? INT64_MAX : 0;
    for (size_t i = 0; i < w.length && !is_star(w); i++) {
        if (!isdigit((unsigned char)w.at[i]))
            return false;
        *out = *out * 10 + (w.at[i] - '0');
        if (*out > INT32_MAX)
            return false;
    }
    return w.length > 0;
}

int wr_seats_of(const char *text, const char *host, int64_t *most)
{
    int64_t named = -1, others = 0, number;
    bool any = false;
    for (size_t length; *text; text += length + (text[length] == ',')) {
        length = strcspn(text, ",");
        const word entry = trimmed(text, length);
        const size_t until = entry.length ? strcspn(entry.at, ":,") : 0;
        const bool counted = until < entry.length;
        const word name = trimmed(entry.at, counted ? until : entry.length);
        number = 1;
        if (!name.length ||
            (counted &&
             !parse_number(trimmed(entry.at + until + 1, entry.length - until - 1), &number)))
            return wr_fail(WEIR_EINVAL,
                           "aggregator_hosts: \"%.*s\" is not HOST, HOST:NUMBER or "
                           "HOST:*",
                           (int)entry.length, entry.at);
        if (is_star(name) && !any) {
            others = number;
            any = true;
        } else if (!is_star(name) && named < 0 && names(name, host)) {
            named = number;
        }
    }
    *most = named >= 0 ? named : others;
    return 0;
}
