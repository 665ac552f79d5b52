/* Options by table: each has a parser that stores into the subcommand's struct and returns what is
 * wrong, or NULL. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits only; *end is what follows them. */
static int parse_digits(const char *text, int64_t *out, const char **end)
{
    char *stop;
    if (!isdigit((unsigned char)*text))
        return -1;
    errno = 0;
    *out = strtoll(text, &stop, 10);
    *end = stop;
    return errno ? -1 : 0;
}

const char *cli_parse_text(const char *text, void *out)
{
    *(const char **)out = text;
    return NULL;
}

const char *cli_parse_count(const char *text, void *out)
{
    int64_t value = 0;
    const char *end = "";
    if (parse_digits(text, &value, &end) || *end || value < 1 || value > 1000000)
        return "must be a count from 1 to 1000000";
    *(int *)out = (int)value;
    return NULL;
}

const char *cli_parse_seed(const char *text, void *out)
{
    char *end;
    cli_seed *seed = out;
    errno = 0;
    *seed = (cli_seed){1, strtoull(text, &end, 10)};
    return isdigit((unsigned char)*text) && !*end && !errno ? NULL : "must be a number from 0 up";
}

const char *cli_parse_bytes(const char *text, void *out)
{
    static const char problem[] = "must be a size such as 64M", letters[] = "KkMmGgTt";
    const char *end;
    int64_t value, scale = 1;
    if (parse_digits(text, &value, &end))
        return problem;
    if (*end) {
        const char *letter = strchr(letters, *end++);
        if (!letter || *end)
            return problem;
        scale <<= 10 * ((letter - letters) / 2 + 1);
    }
    if (value < 1 || value > INT64_MAX / scale)
        return problem;
    *(int64_t *)out = value * scale;
    return NULL;
}

const char *cli_parse_sizes(const char *text, void *out)
{
    static const char problem[] = "must be sizes such as 4096,4096";
    cli_sizes *sizes = out;
    *sizes = (cli_sizes){.given = 1};
    if (!strcmp(text, "()"))
        return NULL;
    for (const char *at = text;; at++) {
        if (sizes->count == WEIR_MAX_DIMENSIONS)
            return "has too many dimensions";
        if (parse_digits(at, &sizes->size[sizes->count++], &at) || (*at && *at != ','))
            return problem;
        if (!*at)
            return NULL;
    }
}

const char *cli_parse_whole(const char *text, void *out)
{
    if (strcmp(text, "all") != 0)
        return cli_parse_sizes(text, out);
    *(cli_sizes *)out = (cli_sizes){.given = 1, .count = -1};
    return NULL;
}

const char *cli_parse_type(const char *text, void *out)
{
    /* A byte order would not be obeyed. */
    int type = *text && strchr("<>|=", *text) ? 0 : weir_type_find(text);
    *(int *)out = type;
    return type ? NULL : "must be bool, i1 to i8, u1 to u8, f2, f4, f8, c8 or c16";
}

const char *cli_parse_columns(const char *text, void *out)
{
    int columns = !strcmp(text, "F");
    *(int *)out = columns;
    return columns || !strcmp(text, "C") ? NULL : "must be C or F";
}

/* "-5" and "-inf" are no options. */
static int is_option(const char *text)
{
    char *end;
    strtod(text, &end);
    return *text == '-' && end == text;
}

static const char *parse_option(const cli_option *option, const char *value, void *out)
{
    void *member = (char *)out + option->at;
    if (option->parse)
        return value ? option->parse(value, member) : "needs a value";
    *(int *)member = 1;
    return NULL;
}

const char *cli_options_parse(int argc, char **argv, const cli_option *table, void *out,
                              int *arguments)
{
    static char text[160];
    *arguments = 0;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *problem = "unknown option";
        if (!is_option(name)) {
            argv[++*arguments] = argv[i];
            continue;
        }
        const cli_option *option = table;
        while (option->name && strcmp(option->name, name) != 0)
            option++;
        if (option->name) {
            problem = parse_option(option, i + 1 < argc ? argv[i + 1] : NULL, out);
            i += option->parse != NULL;
        }
        if (problem) {
            snprintf(text, sizeof text, "%.40s: %s", name, problem);
            return text;
        }
    }
    return NULL;
}
