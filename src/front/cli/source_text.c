/* Printing of sections, read in boxes that are whole along the last dimensions. */
#include <stdio.h>
#include <stdlib.h>

#include "element_text.h"
#include "source.h"

typedef struct printing {
    const cli_source *source;
    int64_t block[WEIR_MAX_DIMENSIONS]; /* size of boxes */
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], stride[WEIR_MAX_DIMENSIONS];
    int64_t row, slice; /* elements of a row, and of a 2-d slice */
    int64_t done;
    char *buffer;
} printing;

static void print_elements(printing *p, int64_t count)
{
    const int type = p->source->info->type;
    for (int64_t i = 0; i < count; i++, p->done++) {
        if (p->done)
            fputs(p->done % p->row ? " " : p->done % p->slice ? "\n" : "\n\n", stdout);
        cli_element_print(stdout, type, p->buffer + i * weir_type_bytes(type));
    }
}

static int print_box(printing *p)
{
    int64_t count = 1;
    for (int d = p->source->dimensions - 1; d >= 0; d--) {
        p->stride[d] = count;
        count *= p->hi[d] - p->lo[d];
    }
    int code = cli_source_read(p->source, p->lo, p->hi, p->stride, p->buffer);
    if (!code)
        print_elements(p, count);
    return code;
}

static int print_from(printing *p, int d)
{
    int code = 0;
    if (d == p->source->dimensions)
        return print_box(p);
    const int64_t size = p->source->shape[d], block = p->block[d];
    for (int64_t at = 0; at < size && !code && !ferror(stdout); at += block) {
        p->lo[d] = at;
        p->hi[d] = size - at < block ? size : at + block;
        code = print_from(p, d + 1);
    }
    return code;
}

int cli_source_print(const cli_source *s, int64_t memory)
{
    const int64_t element = weir_type_bytes(s->info->type);
    int64_t room = memory / element;
    printing p = {.source = s};
    if (!s->elements)
        return 0;
    room = room < 1 ? 1 : room > s->elements ? s->elements : room;
    p.buffer = malloc((size_t)(room * element));
    if (!p.buffer)
        return WEIR_ENOMEM;
    p.row = s->dimensions > 0 ? s->shape[s->dimensions - 1] : 1;
    p.slice = s->dimensions > 1 ? p.row * s->shape[s->dimensions - 2] : s->elements;
    for (int d = s->dimensions - 1; d >= 0; d--) {
        p.block[d] = s->shape[d] < room ? s->shape[d] : room;
        room /= p.block[d];
    }
    int code = print_from(&p, 0);
    if (p.done)
        putchar('\n');
    free(p.buffer);
    return code;
}
