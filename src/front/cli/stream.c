/* Reads a section in boxes that are whole along the last dimensions, or in its corners. */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

bool cli_stream_is_cut(const cli_stream *s, int d)
{
    return s->shown[d] < s->source->shape[d];
}

/* Where elements of what is in the buffer are, by dimension. */
static void set_strides(const cli_stream *s, const int64_t *count, int64_t *stride)
{
    int64_t elements = 1;
    memset(stride, 0, WEIR_MAX_DIMENSIONS * sizeof *stride);
    for (int d = s->source->dimensions - 1; d >= 0; d--) {
        stride[d] = elements;
        elements *= count[d];
    }
}

/* Corner k: bit d says whether it is at the end of dimension d. */
static void read_corner(cli_stream *s, unsigned k)
{
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], stride[WEIR_MAX_DIMENSIONS], at = 0;
    set_strides(s, s->shown, stride);
    for (int d = 0; d < s->source->dimensions; d++) {
        const bool cut = cli_stream_is_cut(s, d), end = k >> d & 1;
        if (end && !cut)
            return;
        lo[d] = end ? s->source->shape[d] - CLI_CORNER : 0;
        hi[d] = cut ? lo[d] + CLI_CORNER : s->source->shape[d];
        at += end ? CLI_CORNER * stride[d] : 0;
    }
    const int64_t bytes = weir_type_bytes(s->source->info->type);
    s->code = cli_source_read(s->source, lo, hi, stride, s->buffer + at * bytes);
}

static void read_corners(cli_stream *s)
{
    for (unsigned k = 0; k < 1U << s->source->dimensions && !s->code; k++)
        read_corner(s, k);
    s->held = s->elements;
}

typedef struct box {
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], stride[WEIR_MAX_DIMENSIONS];
} box;

/* The box that has element number `first` as its first one; returns how many it has. */
static int64_t find_box(const cli_stream *s, int64_t first, box *out)
{
    const cli_source *from = s->source;
    int64_t count[WEIR_MAX_DIMENSIONS], rest = first / s->inner, elements = s->inner;
    for (int d = from->dimensions - 1; d >= 0; d--) {
        out->lo[d] = d > s->split ? 0 : rest % from->shape[d];
        rest /= d > s->split ? 1 : from->shape[d];
        out->hi[d] = d > s->split ? from->shape[d] : out->lo[d] + 1;
        if (d == s->split) {
            const int64_t left = from->shape[d] - out->lo[d];
            out->hi[d] = out->lo[d] + (left < s->block ? left : s->block);
            elements *= out->hi[d] - out->lo[d];
        }
        count[d] = out->hi[d] - out->lo[d];
    }
    set_strides(s, count, out->stride);
    return elements;
}

static void tell(const cli_stream *s)
{
    if (s->tell)
        s->tell(s->user, s->passed * s->elements + s->at, s->passes * s->elements);
}

const char *cli_stream_next(cli_stream *s)
{
    if (s->code || s->at == s->elements)
        return NULL;
    if (s->at >= s->first + s->held || s->at < s->first) {
        box b;
        s->held = find_box(s, s->at, &b);
        s->first = s->at;
        tell(s);
        s->code = cli_source_read(s->source, b.lo, b.hi, b.stride, s->buffer);
    }
    if (s->code)
        return NULL;
    return s->buffer + (s->at++ - s->first) * weir_type_bytes(s->source->info->type);
}

int cli_stream_put(cli_stream *s, const void *element)
{
    box b;
    const int64_t bytes = weir_type_bytes(s->source->info->type);
    if (s->at == s->first + s->held)
        s->first = s->at;
    s->held = find_box(s, s->first, &b);
    memcpy(s->buffer + (s->at++ - s->first) * bytes, element, (size_t)bytes);
    if (s->at == s->first + s->held) {
        s->code = cli_source_write(s->source, b.lo, b.hi, b.stride, s->buffer);
        tell(s);
    }
    return s->code;
}

void cli_stream_rewind(cli_stream *s)
{
    s->at = 0;
    s->passed++;
}

/* As many of the last dimensions as fit are whole. */
static void set_boxes(cli_stream *s, int64_t room)
{
    s->inner = 1;
    s->split = -1;
    for (int d = s->source->dimensions - 1; d >= 0; d--) {
        s->split = d;
        s->block = room / s->inner;
        if (s->block < s->source->shape[d] || !d)
            break;
        s->inner *= s->source->shape[d];
    }
}

int cli_stream_open(cli_stream *s, const cli_source *source, bool corners, int64_t memory)
{
    const int64_t element = weir_type_bytes(source->info->type);
    int64_t room = memory / element, least;
    *s = (cli_stream){.source = source, .elements = source->elements ? 1 : 0, .passes = 1};
    for (int d = 0; d < source->dimensions; d++) {
        const int64_t size = source->shape[d];
        s->shown[d] = corners && size > CLI_CORNERS ? CLI_CORNERS : size;
        s->elements *= s->shown[d];
    }
    least = element * (corners ? s->elements : 1);
    if (room < 1 || (corners && room < s->elements))
        return cli_fail(WEIR_EBUDGET, weir_array_where(source->array), 0,
                        "memory is too little: the least that would do is %lld bytes",
                        (long long)least);
    room = room > s->elements ? s->elements : room;
    if (!s->elements)
        return 0;
    s->buffer = malloc((size_t)(room * element));
    if (!s->buffer)
        return WEIR_ENOMEM;
    set_boxes(s, room);
    if (corners)
        read_corners(s);
    return s->code;
}

void cli_stream_close(cli_stream *s)
{
    free(s->buffer);
    s->buffer = NULL;
}
