/* Opens the array a text names, applies the brackets behind it, and reads boxes of the result. */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "failure.h"
#include "foreign.h"

enum { ITSELF = 1, OTHER };

/* The first array that is told of is enough. */
static int find_first(void *user, const char *name, const weir_array_info *info)
{
    (void)info;
    return strcmp(name, *(const char *const *)user) ? OTHER : ITSELF;
}

/* Whether a folder that cannot be opened as an array is one of arrays. */
static bool is_group(const char *path)
{
    struct stat s;
    if (stat(path, &s) || !S_ISDIR(s.st_mode))
        return false;
    const int found = weir_array_list(path, find_first, &path);
    return !found || found == OTHER;
}

/* Says of a name such as "a.h5" what it is that cannot be read. */
static int name_format(const char *path, int code)
{
    const char *format = cli_foreign_format(path);
    weir_error error = *weir_error_last();
    if (code == WEIR_ENOENT && strchr(path, '[')) {
        error.errnum = 0;
        const char *extra = cli_bracket_extra(path);
        if (extra)
            snprintf(error.text, sizeof error.text,
                     "there is no such array; \"%.100s\": a ] too many at character %d",
                     strchr(path, '['), (int)(extra - strchr(path, '[')) + 1);
        else
            snprintf(error.text, sizeof error.text, "there is no such array%s",
                     path[strlen(path) - 1] == ']' ? ", and no section is taken here"
                                                   : "; is a ] missing?");
        return weir_error_raise(&error);
    }
    if (code != WEIR_EFORMAT)
        return code;
    if (cli_rank() == 0 && is_group(path))
        snprintf(error.text, sizeof error.text,
                 "a group of Zarr arrays, which weir ls %.200s lists", path);
    else if (format)
        snprintf(error.text, sizeof error.text, "weir does not read %s, only " CLI_FORMATS, format);
    return weir_error_raise(&error);
}

int cli_array_open(const char *command, const char *path, int mode, const char *hints,
                   weir_array **out)
{
    int code = weir_array_open(MPI_COMM_WORLD, path, mode, hints, out);
    return cli_settle(command, name_format(path, cli_fail_inside(path, code)));
}

static int open_array(const char *command, const char *path, int mode, const char *hints,
                      weir_array **out)
{
    /* mapped pages look like memory beyond --memory; the last value of a tunable counts */
    char *bounded;
    if (asprintf(&bounded, "map=4M;%s", hints ? hints : "") < 0)
        bounded = NULL;
    int status = cli_array_open(command, path, mode, bounded ? bounded : hints, out);
    free(bounded);
    return status;
}

/* NULL, or what is wrong. */
static const char *set_shape(cli_source *s)
{
    s->dimensions = cli_bracket_shape(&s->bracket, s->shape);
    s->elements = 1;
    for (int d = 0; d < s->dimensions; d++)
        if (!s->shape[d])
            s->elements = 0;
    for (int d = 0; d < s->dimensions; d++) /* a list may have indices twice */
        if (__builtin_mul_overflow(s->elements, s->shape[d], &s->elements))
            return "too many elements";
    return NULL;
}

static int open_source(const char *command, const char *text, int mode, const char *hints,
                       cli_source *out)
{
    const char *bracket = cli_bracket_find(text);
    char *path = strndup(text, (size_t)(bracket - text));
    int status = cli_settle(command, path ? 0 : WEIR_ENOMEM);
    if (!path || status)
        return free(path), status;
    status = open_array(command, path, mode, hints, &out->array);
    if (status)
        return free(path), status;
    out->info = weir_array_get_info(out->array);
    const char *problem =
        cli_bracket_parse(bracket, out->info->dimensions, out->info->shape, &out->bracket);
    if (!problem)
        problem = set_shape(out);
    if (problem) {
        cli_source_close(out);
        status = cli_usage_of(command, path, problem);
    }
    free(path);
    return status;
}

int cli_source_open(const char *command, const char *text, const char *hints, cli_source *out)
{
    return open_source(command, text, WEIR_READ, hints, out);
}

int cli_source_open_writing(const char *command, const char *text, const char *hints,
                            cli_source *out)
{
    return open_source(command, text, WEIR_READ | WEIR_WRITE, hints, out);
}

void cli_source_close(cli_source *s)
{
    cli_bracket_release(&s->bracket);
    weir_array_close(s->array);
}

void cli_source_choose(const cli_source *s, const int64_t *lo, const int64_t *hi, cli_chosen *out)
{
    static const int64_t zeros[WEIR_MAX_DIMENSIONS];
    *out = (cli_chosen){0};
    cli_bracket_map(&s->bracket, lo ? lo : zeros, hi ? hi : s->shape, &out->part);
    out->selection =
        (weir_selection){.lo = out->part.lo, .hi = out->part.hi, .step = out->part.step};
    if (s->bracket.list) {
        const int d = s->bracket.listed;
        out->index[d] = s->bracket.list + out->part.lo[d];
        out->count[d] = out->part.hi[d] - out->part.lo[d];
        out->selection.index = out->index;
        out->selection.count = out->count;
        out->part.lo[d] = 0;
        out->part.hi[d] = 1;
    }
}

weir_layout cli_source_layout(const cli_source *s, const int64_t *stride, int type, int64_t *bytes)
{
    for (int d = 0, kept = 0; d < s->info->dimensions; d++)
        bytes[d] = (s->bracket.dropped[d] ? 1 : stride[kept++]) * weir_type_bytes(type);
    return (weir_layout){.stride = bytes, .type = type};
}

int cli_source_read(const cli_source *s, const int64_t *lo, const int64_t *hi,
                    const int64_t *stride, void *base)
{
    cli_chosen chosen;
    int64_t bytes[WEIR_MAX_DIMENSIONS];
    const weir_layout layout = cli_source_layout(s, stride, s->info->type, bytes);
    cli_source_choose(s, lo, hi, &chosen);
    return weir_array_read(s->array, &chosen.selection, &layout, base, NULL);
}

int cli_source_write(const cli_source *s, const int64_t *lo, const int64_t *hi,
                     const int64_t *stride, const void *base)
{
    cli_chosen chosen;
    int64_t bytes[WEIR_MAX_DIMENSIONS];
    const weir_layout layout = cli_source_layout(s, stride, s->info->type, bytes);
    cli_source_choose(s, lo, hi, &chosen);
    return weir_array_write(s->array, &chosen.selection, &layout, base, NULL);
}
