/* Opens the array a text names, applies the brackets behind it, and reads boxes of the result. */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "foreign.h"

/* Says of a name such as "a.h5" what it is that cannot be read. */
static int name_format(const char *path, int code)
{
    const char *format = cli_foreign_format(path);
    weir_error error = *weir_error_last();
    if (code != WEIR_EFORMAT || !format)
        return code;
    snprintf(error.text, sizeof error.text, "weir does not read %s, only " CLI_FORMATS, format);
    return weir_error_raise(&error);
}

int cli_array_open(const char *command, const char *path, int mode, const char *hints,
                   weir_array **out)
{
    int code = weir_array_open(MPI_COMM_WORLD, path, mode, hints, out);
    return cli_settle(command, name_format(path, code));
}

static int open_array(const char *command, const char *text, size_t length, const char *hints,
                      weir_array **out)
{
    char *path = strndup(text, length);
    int code = path ? 0 : WEIR_ENOMEM, status = cli_settle(command, code);
    if (!status) /* mapped pages would look like memory beyond --memory */
        status = cli_array_open(command, path, WEIR_READ, hints ? hints : "map=16M", out);
    free(path);
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

int cli_source_open(const char *command, const char *text, const char *hints, cli_source *out)
{
    const char *bracket = cli_bracket_find(text);
    int status = open_array(command, text, (size_t)(bracket - text), hints, &out->array);
    if (status)
        return status;
    out->info = weir_array_get_info(out->array);
    const char *problem =
        cli_bracket_parse(bracket, out->info->dimensions, out->info->shape, &out->bracket);
    if (!problem)
        problem = set_shape(out);
    if (problem) {
        cli_source_close(out);
        return cli_usage(command, problem);
    }
    return 0;
}

void cli_source_close(cli_source *s)
{
    cli_bracket_release(&s->bracket);
    weir_array_close(s->array);
}

int cli_source_read(const cli_source *s, const int64_t *lo, const int64_t *hi,
                    const int64_t *stride, void *base)
{
    cli_section part;
    int64_t bytes[WEIR_MAX_DIMENSIONS], count[WEIR_MAX_DIMENSIONS] = {0};
    const int64_t *index[WEIR_MAX_DIMENSIONS] = {NULL};
    cli_bracket_map(&s->bracket, lo, hi, &part);
    for (int d = 0, kept = 0; d < s->info->dimensions; d++)
        bytes[d] = (s->bracket.dropped[d] ? 1 : stride[kept++]) * weir_type_bytes(s->info->type);
    weir_selection selection = {.lo = part.lo, .hi = part.hi, .step = part.step};
    const weir_layout layout = {.stride = bytes};
    if (s->bracket.list) {
        const int d = s->bracket.listed;
        index[d] = s->bracket.list + part.lo[d];
        count[d] = part.hi[d] - part.lo[d];
        selection.index = index;
        selection.count = count;
        part.lo[d] = 0;
        part.hi[d] = 1;
    }
    return weir_array_read(s->array, &selection, &layout, base, NULL);
}
