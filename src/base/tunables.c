/* Parsing and printing of tunables; the three ways in share one setter. */
#include "base/tunables.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arith.h"
#include "base/error.h"

enum { KEY = 64 };

static const wr_tunable *find(const char *name)
{
    for (const wr_tunable *t = wr_tunable_table; t->name; t++)
        if (!strcmp(t->name, name))
            return t;
    return NULL;
}

static const wr_tunable_alias *find_alias(const char *key)
{
    for (const wr_tunable_alias *a = wr_tunable_aliases; a->key; a++)
        if (!strcmp(a->key, key))
            return a;
    return NULL;
}

static int bad_value(const char *key, const char *value, const char *wanted)
{
    return wr_fail(WEIR_EINVAL, "%s=%s: %s", key, value, wanted);
}

/* A sign or none, digits, then one of K, M, G, T (powers of 1024) if `units`; the whole text must
 * be used. */
static bool parse_number(const char *text, bool units, int64_t *out)
{
    static const char letters[] = "KkMmGgTt";
    if (!isdigit((unsigned char)text[*text == '-']))
        return false;
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno)
        return false;
    int64_t scale = 1;
    if (units && *end) {
        const char *letter = strchr(letters, *end);
        if (!letter)
            return false;
        scale <<= 10 * ((letter - letters) / 2 + 1);
        end++;
    }
    return !*end && wr_mul(value, scale, out);
}

static int parse_choice(const wr_tunable *t, const char *value, wr_choice *out)
{
    size_t length = strcspn(value, ":");
    int64_t which = 0;
    for (const char *c = t->choices; *c; which++) {
        size_t word = strcspn(c, ":|"), all = strcspn(c, "|");
        if (word == length && !strncasecmp(c, value, word)) {
            wr_choice choice = {which, 0};
            bool takes = c[word] == ':', given = value[length] == ':';
            if (takes != given)
                return bad_value(t->name, value, takes ? "needs a number" : "takes no number");
            if (given && (!parse_number(value + length + 1, true, &choice.number) ||
                          choice.number < t->min || choice.number > t->max))
                return bad_value(t->name, value, "the number is not valid");
            *out = choice;
            return 0;
        }
        c += all + (c[all] == '|');
    }
    char wanted[160];
    snprintf(wanted, sizeof wanted, "must be one of %s", t->choices);
    return bad_value(t->name, value, wanted);
}

static int parse_ranged(const wr_tunable *t, const char *value, int64_t *out)
{
    int64_t number;
    if (!parse_number(value, t->kind == WR_SIZE, &number))
        return bad_value(t->name, value,
                         t->kind == WR_SIZE ? "must be a size such as 65536, 64K or 2M"
                                            : "must be a whole number");
    if (number < t->min || number > t->max) {
        char wanted[80];
        snprintf(wanted, sizeof wanted, "must be between %lld and %lld", (long long)t->min,
                 (long long)t->max);
        return bad_value(t->name, value, wanted);
    }
    *out = number;
    return 0;
}

static int set_one(wr_tunables *tunables, const wr_tunable *t, const char *value)
{
    char *place = (char *)tunables + t->place;
    switch (t->kind) {
    case WR_CHOICE:
        return parse_choice(t, value, (wr_choice *)(void *)place);
    case WR_TEXT:
        if (strlen(value) >= WR_TUNABLE_TEXT)
            return bad_value(t->name, "...", "is too long");
        memset(place, 0, WR_TUNABLE_TEXT); /* so that equal tunables are equal bytes */
        memcpy(place, value, strlen(value));
        return 0;
    default:
        return parse_ranged(t, value, (int64_t *)(void *)place);
    }
}

int64_t wr_tunables_stripe(const wr_tunables *tunables)
{
    const int64_t usual = 1 << 20;
    return tunables->striping_unit ? wr_min(tunables->striping_unit, WR_STRIPE_MAX) : usual;
}

int64_t wr_tunables_disks(const wr_tunables *tunables)
{
    int64_t count = *tunables->disks != 0;
    for (const char *c = tunables->disks; *c; c++)
        count += *c == ':';
    return count;
}

void wr_tunables_init(wr_tunables *tunables)
{
    memset(tunables, 0, sizeof *tunables);
    for (const wr_tunable *t = wr_tunable_table; t->name; t++)
        set_one(tunables, t, t->initial); /* a unit test proves that every default parses */
}

static const char *translate(const wr_tunable_alias *alias, const char *value)
{
    for (const char *const *v = alias->values; v && *v; v += 2)
        if (!strcasecmp(v[0], value))
            return v[1];
    return value;
}

static int set_alias(wr_tunables *tunables, const wr_tunable_alias *alias, const char *value)
{
    wr_tunables changed = *tunables;
    int code = alias->set ? alias->set(&changed, value) : 0;
    for (int i = 0; !code && !alias->set && i < 2 && alias->names[i]; i++)
        code = set_one(&changed, find(alias->names[i]), translate(alias, value));
    if (!code)
        *tunables = changed;
    else if (strcmp(alias->key, alias->names[0]))
        wr_error_prefix(alias->key);
    return code;
}

int wr_tunables_set(wr_tunables *tunables, const char *name, const char *value)
{
    const wr_tunable *t = find(name);
    if (t)
        return set_one(tunables, t, value);
    const wr_tunable_alias *alias = find_alias(name);
    if (alias)
        return set_alias(tunables, alias, value);
    const char *similar = wr_tunables_similar(name);
    return wr_fail(WEIR_EINVAL, "no tunable is called %s%s%s%s", name,
                   similar ? ": is it to be " : "", similar ? similar : "", similar ? "?" : "");
}

int wr_tunables_set_pair(wr_tunables *tunables, const char *key, const char *value)
{
    static const char prefix[] = "weir_";
    if (!strncmp(key, prefix, sizeof prefix - 1))
        return wr_tunables_set(tunables, key + sizeof prefix - 1, value);
    const wr_tunable_alias *alias = find_alias(key);
    return alias && alias->foreign ? set_alias(tunables, alias, value) : 1;
}

/* One "name=value" of length `length`, spaces around either part dropped. */
static int set_hint(wr_tunables *tunables, const char *hint, size_t length)
{
    char text[KEY + WR_TUNABLE_TEXT];
    while (length && isspace((unsigned char)hint[length - 1]))
        length--;
    while (length && isspace((unsigned char)*hint))
        hint++, length--;
    if (!length)
        return 0;
    if (length >= sizeof text)
        return wr_fail(WEIR_EINVAL, "hints: an entry is too long");
    memcpy(text, hint, length);
    text[length] = '\0';
    char *value = strchr(text, '=');
    if (!value)
        return wr_fail(WEIR_EINVAL, "hints: \"%.60s\" is not NAME=VALUE", text);
    char *end = value;
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    for (value++; isspace((unsigned char)*value); value++)
        ;
    return wr_tunables_set(tunables, text, value);
}

int wr_tunables_set_hints(wr_tunables *tunables, const char *hints)
{
    wr_tunables changed = *tunables;
    for (size_t length; *hints; hints += length + (hints[length] == ';')) {
        length = strcspn(hints, ";");
        int code = set_hint(&changed, hints, length);
        if (code)
            return code;
    }
    *tunables = changed;
    return 0;
}

static const char *variable(const char *name)
{
    char key[KEY] = "WEIR_";
    size_t length = strlen(key);
    for (; *name && length + 1 < sizeof key; name++)
        key[length++] = (char)toupper((unsigned char)*name);
    key[length] = '\0';
    return getenv(key);
}

const char *wr_tunables_hint_file(bool *wanted)
{
    const char *path = getenv("ROMIO_HINTS");
    *wanted = path != NULL;
    return path ? path : "/etc/romio-hints";
}

int wr_tunables_set_variable(wr_tunables *tunables, const char *name)
{
    const char *value = variable(name);
    return value ? wr_tunables_set(tunables, name, value) : 0;
}

int wr_tunables_set_environment(wr_tunables *tunables)
{
    wr_tunables changed = *tunables;
    const char *hints = getenv("WEIR_HINTS");
    int code = hints ? wr_tunables_set_hints(&changed, hints) : 0;
    for (const wr_tunable_alias *a = wr_tunable_aliases; !code && a->key; a++) {
        const char *value = a->foreign ? NULL : variable(a->key);
        if (value)
            code = set_alias(&changed, a, value);
    }
    for (const wr_tunable *t = wr_tunable_table; !code && t->name; t++) {
        const char *value = variable(t->name);
        if (value)
            code = set_one(&changed, t, value);
    }
    if (!code)
        *tunables = changed;
    return code;
}

bool wr_tunables_costs_folder(const wr_tunables *tunables, char *out, size_t size)
{
    const char *own = tunables->costs_folder, *cache = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    int length = -1;
    if (*own)
        length = strcmp(own, "none") != 0 ? snprintf(out, size, "%s", own) : -1;
    else if (cache && *cache == '/')
        length = snprintf(out, size, "%s/weir", cache);
    else if (home && *home == '/')
        length = snprintf(out, size, "%s/.cache/weir", home);
    return length >= 0 && (size_t)length < size;
}

int wr_tunables_settle(wr_tunables *t)
{
    if (!t->write_behind.which)
        return 0;
    switch (t->realms.which) {
    case WR_REALMS_EVEN:
    case WR_REALMS_CYCLIC:
    case WR_REALMS_PERSISTENT:
        break;
    default:
        return wr_fail(WEIR_EINVAL, "write_behind needs realms=persistent");
    }
    t->realms = (wr_choice){WR_REALMS_PERSISTENT, 0};
    return 0;
}

static void print_choice(const wr_tunable *t, wr_choice choice, char *text, size_t size)
{
    const char *c = t->choices;
    for (int64_t i = 0; i < choice.which; i++)
        c += strcspn(c, "|") + 1;
    int word = (int)strcspn(c, ":|");
    if (c[word] == ':')
        snprintf(text, size, "%.*s:%lld", word, c, (long long)choice.number);
    else
        snprintf(text, size, "%.*s", word, c);
}

int wr_tunables_get(const wr_tunables *tunables, const char *name, char *text, size_t size)
{
    const wr_tunable *t = find(name);
    if (!t)
        return wr_fail(WEIR_EINVAL, "no tunable is called %s", name);
    const char *place = (const char *)tunables + t->place;
    if (t->kind == WR_CHOICE)
        print_choice(t, *(const wr_choice *)(const void *)place, text, size);
    else if (t->kind == WR_TEXT)
        snprintf(text, size, "%s", place);
    else
        snprintf(text, size, "%lld", (long long)*(const int64_t *)(const void *)place);
    return 0;
}
