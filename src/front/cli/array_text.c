/* Prints sections: with brackets as NumPy does, or one row a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_text.h"
#include "element_text.h"
#include "number_text.h"
#include "stream.h"

enum { THRESHOLD = 1000 };

typedef struct printing {
    FILE *out;
    cli_stream stream;
    cli_numbers_format format;
    int columns;
    char *line; /* of a row, until it is full */
    int used;   /* of it; the indent of the first line counts, but is not there */
    int begun;
} printing;

/* --- brackets --- */

static void spaces(FILE *out, int count)
{
    fprintf(out, "%*s", count, "");
}

static void put_line(printing *p)
{
    fwrite(p->line + p->begun, 1, (size_t)(p->used - p->begun), p->out);
    p->begun = 0;
}

/* A word goes into the next line where it would not fit, unless it is the first. */
static void put_word(printing *p, const char *word, int indent, int most)
{
    const int length = (int)strlen(word);
    if (p->used + length > most && p->used > indent) {
        while (p->used > p->begun && p->line[p->used - 1] == ' ')
            p->used--;
        put_line(p);
        fputc('\n', p->out);
        memset(p->line, ' ', (size_t)indent);
        p->used = indent;
    }
    memcpy(p->line + p->used, word, (size_t)length);
    p->used += length;
}

static void print_row(printing *p, int axis)
{
    const int indent = axis + 1, most = p->columns - axis - 1;
    const int64_t count = p->stream.shown[axis];
    char text[CLI_NUMBER];
    const char *element;
    p->used = p->begun = indent;
    for (int64_t i = 0; i < count; i++) {
        if (i == CLI_CORNER && cli_stream_is_cut(&p->stream, axis)) {
            put_word(p, "...", indent, most);
            p->line[p->used++] = ' ';
        }
        element = cli_stream_next(&p->stream);
        if (!element)
            return;
        cli_numbers_write(&p->format, element, text);
        put_word(p, text, indent, most);
        if (i + 1 < count)
            p->line[p->used++] = ' ';
    }
    put_line(p);
}

/* Everything from that dimension on, where all before have an index. */
static void print_nested(printing *p, int axis)
{
    const int left = p->stream.source->dimensions - axis;
    fputc('[', p->out);
    if (left == 1) {
        print_row(p, axis);
    } else {
        for (int64_t i = 0; i < p->stream.shown[axis]; i++) {
            if (p->stream.code || ferror(p->out))
                return;
            for (int k = 1; i && k < left; k++)
                fputc('\n', p->out);
            if (i)
                spaces(p->out, axis + 1);
            if (i == CLI_CORNER && cli_stream_is_cut(&p->stream, axis)) {
                fputs("...", p->out);
                for (int k = 1; k < left; k++)
                    fputc('\n', p->out);
                spaces(p->out, axis + 1);
            }
            print_nested(p, axis + 1);
        }
    }
    fputc(']', p->out);
}

/* Widths are known when all elements were looked at. */
static void find_widths(printing *p)
{
    const char *element;
    p->stream.passes = p->format.part[0].type ? 3 : 2;
    while ((element = cli_stream_next(&p->stream)))
        cli_numbers_look(&p->format, element);
    cli_numbers_settle(&p->format);
    cli_stream_rewind(&p->stream);
    while (p->format.part[0].type && (element = cli_stream_next(&p->stream)))
        cli_numbers_measure(&p->format, element);
    cli_numbers_done(&p->format);
    if (p->format.part[0].type)
        cli_stream_rewind(&p->stream);
}

static int print_brackets(printing *p)
{
    const cli_source *s = p->stream.source;
    char text[CLI_NUMBER];
    if (!s->elements) {
        fputs("[]", p->out);
    } else if (!s->dimensions) {
        const char *element = cli_stream_next(&p->stream);
        if (!element)
            return p->stream.code;
        cli_number_alone(s->info->type, element, text);
        fputs(text, p->out);
    } else {
        p->format = cli_numbers_begin(s->info->type);
        p->line = malloc((size_t)p->columns + WEIR_MAX_DIMENSIONS + CLI_NUMBER + CLI_NUMBER);
        if (!p->line)
            return WEIR_ENOMEM;
        find_widths(p);
        if (p->stream.code)
            return p->stream.code;
        print_nested(p, 0);
    }
    fputc('\n', p->out);
    return 0;
}

/* --- rows --- */

static void print_plain(printing *p)
{
    const cli_source *s = p->stream.source;
    const int64_t row = s->dimensions > 0 ? s->shape[s->dimensions - 1] : 1;
    const int64_t slice = s->dimensions > 1 ? row * s->shape[s->dimensions - 2] : s->elements;
    char text[CLI_ELEMENT_TEXT];
    const char *element;
    int64_t i = 0;
    for (; !ferror(p->out) && (element = cli_stream_next(&p->stream)); i++) {
        if (i)
            fputs(i % row ? " " : i % slice ? "\n" : "\n\n", p->out);
        cli_element_text(s->info->type, element, text);
        fputs(text, p->out);
    }
    if (i)
        fputc('\n', p->out);
}

/* Elements of one dimension make one column, as numpy.savetxt has it. */
static void print_csv(printing *p)
{
    const cli_source *s = p->stream.source;
    const int64_t row = s->dimensions == 2 ? s->shape[1] : 1;
    char text[CLI_NUMBER];
    const char *element;
    for (int64_t i = 1; !ferror(p->out) && (element = cli_stream_next(&p->stream)); i++) {
        cli_number_alone(s->info->type == WEIR_BOOL ? WEIR_U1 : s->info->type, element, text);
        fputs(text, p->out);
        fputc(i % row ? ',' : '\n', p->out);
    }
}

int cli_source_print(const cli_source *s, FILE *out, const cli_text_form *form)
{
    printing p = {.out = out, .columns = form->columns};
    const enum cli_text how = form->how;
    const bool corners = how == CLI_TEXT_SHORT && s->elements > THRESHOLD;
    int code = cli_stream_open(&p.stream, s, corners, form->memory);
    p.stream.tell = form->tell;
    p.stream.user = form->user;
    if (!code && how == CLI_TEXT_PLAIN)
        print_plain(&p);
    else if (!code && how == CLI_TEXT_CSV)
        print_csv(&p);
    else if (!code)
        code = print_brackets(&p);
    code = code ? code : p.stream.code;
    cli_stream_close(&p.stream);
    free(p.line);
    return code;
}
