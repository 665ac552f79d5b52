/* Options by table: each has a parser that stores into the subcommand's struct and returns what is
 * wrong, or NULL. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

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

const char *cli_parse_tolerance(const char *text, void *out)
{
    char *end;
    const double value = strtod(text, &end);
    *(double *)out = value;
    return end == text || *end || !(value >= 0) ? "must be a number from 0 up" : NULL;
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
    static const char problem[] = "must be a size such as 64M", letters[] = "KMGT";
    const char *end;
    int64_t value, scale = 1;
    if (parse_digits(text, &value, &end))
        return problem;
    if (*end) {
        const char *letter = strchr(letters, toupper((unsigned char)*end++));
        const bool decimal = !strcmp(end, "B");
        if (!letter || (*end && !decimal && strcmp(end, "iB") != 0))
            return problem;
        for (const char *at = letters; at <= letter; at++)
            scale *= decimal ? 1000 : 1024;
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
        if (parse_digits(at, &sizes->size[sizes->count++], &at) || (*at && !strchr(",x", *at)))
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

/* "f8" of "float64", as NumPy says, or of "double"; all else as it is. */
static const char *short_type(const char *text)
{
    static const char *const names[][2] = {
        {"int8", "i1"},      {"int16", "i2"},    {"int32", "i4"},       {"int64", "i8"},
        {"uint8", "u1"},     {"uint16", "u2"},   {"uint32", "u4"},      {"uint64", "u8"},
        {"float16", "f2"},   {"float32", "f4"},  {"float64", "f8"},     {"float", "f8"},
        {"complex64", "c8"}, {"complex", "c16"}, {"complex128", "c16"}, {"half", "f2"},
        {"single", "f4"},    {"double", "f8"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i][0]))
            return names[i][1];
    return text;
}

const char *cli_parse_type(const char *text, void *out)
{
    /* A byte order would not be obeyed. */
    int type = *text && strchr("<>|=", *text) ? 0 : weir_type_find(short_type(text));
    *(int *)out = type;
    return type ? NULL : "must be bool, i1 to i8, u1 to u8, f2, f4, f8, c8 or c16, or as float64";
}

/* "-" is none, nor "-5" and "-inf" where there may be a number. */
static bool is_option(const char *command, const char *text)
{
    char *end;
    strtod(text, &end);
    return *text == '-' && text[1] &&
           (end == text || !strstr(cli_command_find(command)->arguments, "VALUE"));
}

/* The option that "--name", "--name=value" or "-n" is; or NULL. */
static const cli_option *find_option(const cli_option *table, const char *text)
{
    const size_t length = strcspn(text, "=");
    for (; table && table->name; table++)
        if ((!strncmp(table->name, text, length) && !table->name[length]) ||
            (table->letter && text[1] == table->letter && !text[2]))
            return table;
    return NULL;
}

static const char *unknown_option(const cli_option *table, const char *name)
{
    static char text[100];
    const char *names[64] = {"--help"}, *nearest;
    for (int i = 0; i < 62 && table && table[i].name; i++)
        names[i + 1] = table[i].name;
    nearest = cli_nearest(name, names);
    snprintf(text, sizeof text, nearest ? "unknown option, perhaps %s" : "unknown option", nearest);
    return text;
}

/* One of the words between the bars, by its number. */
static const char *parse_choice(const char *words, const char *text, int *out)
{
    enum { MOST = 15 };
    static char copy[100], problem[200];
    const char *names[MOST + 1] = {NULL}, *nearest;
    int count = 0, used;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *rest = copy; rest && count < MOST; count++)
        names[count] = strsep(&rest, "|");
    for (*out = 0; *out < count; ++*out)
        if (!strcmp(names[*out], text))
            return NULL;
    used = snprintf(problem, sizeof problem, "must be %s", names[0]);
    for (int i = 1; i < count; i++)
        used += snprintf(problem + used, sizeof problem - (size_t)used, "%s%s",
                         i + 1 < count ? ", " : " or ", names[i]);
    nearest = cli_nearest(text, names);
    if (nearest)
        snprintf(problem + used, sizeof problem - (size_t)used, ", perhaps %s", nearest);
    return problem;
}

static const char *parse_option(const cli_option *option, const char *value, void *out)
{
    void *member = (char *)out + option->at;
    if (option->value && !value)
        return "needs a value";
    if (option->parse)
        return option->parse(value, member);
    if (option->value)
        return parse_choice(option->value, value, member);
    *(int *)member = 1;
    return NULL;
}

/* One word, and the next, if it is there, as its value: *used is set to 1 if it is. */
static const char *parse_word(const cli_option *table, const char *word, const char *next,
                              void *out, int *used)
{
    const char *inside = strchr(word, '=');
    const cli_option *option = find_option(table, word);
    if (!option)
        return unknown_option(table, word);
    if (inside && !option->value)
        return "takes no value";
    *used = option->value && !inside;
    return parse_option(option, inside ? inside + 1 : next, out);
}

/* "-al" is "-a -l", "-n3" is "-n 3". */
static const char *parse_letters(const cli_option *table, const char *word, const char *next,
                                 void *out, int *used)
{
    const char *problem = NULL;
    for (const char *at = word + 1; *at && !problem; at++) {
        const char one[] = {'-', *at, 0};
        const cli_option *option = find_option(table, one);
        if (!option)
            return unknown_option(table, word);
        *used = option->value && !at[1];
        problem = parse_option(option, option->value && at[1] ? at + 1 : next, out);
        if (option->value)
            break;
    }
    return problem;
}

const char *cli_options_parse(int argc, char **argv, const cli_option *table, void *out,
                              int *arguments)
{
    static char text[200];
    int open = 1; /* until "--" */
    *arguments = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        int used = 0;
        if (open && !strcmp(word, "--")) {
            open = 0;
            continue;
        }
        if (!open || !is_option(argv[0], word)) {
            argv[++*arguments] = argv[i];
            continue;
        }
        const char *problem =
            (word[1] == '-' ? parse_word : parse_letters)(table, word, next, out, &used);
        if (problem) {
            snprintf(text, sizeof text, "%.40s: %s", word, problem);
            return text;
        }
        i += used;
    }
    return NULL;
}
