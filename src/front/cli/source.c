/* Opening and reading of sections. */
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
    snprintf(error.text, sizeof error.text,
             "weir does not read %s, only .npy files and sets of local arrays", format);
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

int cli_source_open(const char *command, const char *text, const char *hints, cli_source *out)
{
    const char *bracket = cli_bracket_find(text);
    int status = open_array(command, text, (size_t)(bracket - text), hints, &out->array);
    if (status)
        return status;
    out->info = weir_array_get_info(out->array);
    const char *problem =
        cli_bracket_parse(bracket, out->info->dimensions, out->info->shape, &out->bracket);
    if (problem) {
        weir_array_close(out->array);
        return cli_usage(command, problem);
    }
    out->dimensions = cli_bracket_shape(&out->bracket, out->shape);
    out->elements = 1;
    for (int d = 0; d < out->dimensions; d++)
        if (!out->shape[d])
            out->elements = 0;
    for (int d = 0; d < out->dimensions && out->elements; d++)
        out->elements *= out->shape[d]; /* at most the array's */
    return 0;
}

int cli_source_read(const cli_source *s, const int64_t *lo, const int64_t *hi,
                    const int64_t *stride, void *base)
{
    cli_section part;
    int64_t bytes[WEIR_MAX_DIMENSIONS];
    cli_bracket_map(&s->bracket, lo, hi, &part);
    for (int d = 0, kept = 0; d < s->info->dimensions; d++)
        bytes[d] = (s->bracket.dropped[d] ? 1 : stride[kept++]) * weir_type_bytes(s->info->type);
    weir_array_section section = {.lo = part.lo, .hi = part.hi, .step = part.step, .stride = bytes};
    return weir_array_read(s->array, &section, base);
}
