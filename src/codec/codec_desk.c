/* A tile on its way through a chain of codecs: from one of two buffers into the other, the last
 * step of decoding straight to where the caller wants it. No step is given more room than what the
 * codecs before it can have made of a tile. */
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/codec.h"
#include "codec/codec_line.h"

struct wr_codec_desk {
    int64_t bytes, bound;     /* of a tile; of one encoded, and so of a buffer */
    unsigned char *buffer[2]; /* NULL until needed */
    int count;
    wr_coder coder[WR_CODECS];
};

static wr_codecs first_codecs(const wr_codecs *codecs, int count)
{
    wr_codecs first = *codecs;
    first.count = count;
    return first;
}

int wr_codec_desk_new(const wr_codecs *codecs, int64_t bytes, wr_codec_desk **out)
{
    int code = wr_codecs_check(codecs);
    if (code)
        return code;
    const int64_t bound = bytes < 0 ? -1 : wr_codecs_bound(codecs, bytes);
    if (bound < 0)
        return wr_fail(WEIR_ERANGE, "tiles of %lld bytes are too large for their codecs",
                       (long long)bytes);
    wr_codec_desk *desk = wr_alloc(sizeof *desk);
    if (!desk)
        return WEIR_ENOMEM;
    *desk = (wr_codec_desk){.bytes = bytes, .bound = bound, .count = codecs->count};
    for (int i = 0; i < codecs->count; i++) {
        const wr_codecs before = first_codecs(codecs, i);
        desk->coder[i] = (wr_coder){.line = wr_codec_line_get(codecs->codec[i].kind),
                                    .codec = codecs->codec[i],
                                    .most = wr_codecs_bound(&before, bytes)};
    }
    *out = desk;
    return 0;
}

void wr_codec_desk_free(wr_codec_desk *desk)
{
    if (!desk)
        return;
    for (int i = 0; i < desk->count; i++)
        if (desk->coder[i].line->release)
            desk->coder[i].line->release(&desk->coder[i]);
    wr_free(desk->buffer[1]);
    wr_free(desk->buffer[0]);
    wr_free(desk);
}

int64_t wr_codec_desk_bytes(const wr_codecs *codecs, int64_t bytes)
{
    const int64_t bound = wr_codecs_bound(codecs, bytes);
    int64_t total = sizeof(wr_codec_desk), buffers;
    if (bound < 0 || !wr_mul(bound, wr_min(codecs->count, 2), &buffers) ||
        !wr_add(total, buffers, &total))
        return INT64_MAX;
    for (int i = 0; i < codecs->count; i++) {
        const wr_codecs before = first_codecs(codecs, i);
        const wr_codec_line *line = wr_codec_line_get(codecs->codec[i].kind);
        const int64_t most = wr_codecs_bound(&before, bytes);
        if (line->memory && !wr_add(total, line->memory(&codecs->codec[i], most), &total))
            return INT64_MAX;
    }
    return total;
}

/* A buffer that does not hold `taken`; NULL: no memory. */
static unsigned char *other_buffer(wr_codec_desk *desk, const unsigned char *taken)
{
    unsigned char **buffer = &desk->buffer[taken && taken == desk->buffer[0]];
    if (!*buffer)
        *buffer = wr_alloc(desk->bound);
    return *buffer;
}

int wr_codecs_encode(wr_codec_desk *desk, const void *from, const void **out, int64_t *length)
{
    /* an address even of nothing: libraries are given it */
    wr_codec_step step = {.from = from ? from : "", .length = desk->bytes, .room = desk->bound};
    for (int i = 0; i < desk->count; i++) {
        wr_coder *coder = &desk->coder[i];
        const bool stays = coder->line->tail > 0 && step.to;
        if (!stays)
            step.to = other_buffer(desk, step.to);
        if (!step.to)
            return WEIR_ENOMEM;
        int code = coder->line->encode(coder, &step);
        if (code)
            return code;
        step.from = step.to;
        step.length = step.done;
    }
    *out = desk->count ? step.from : from;
    *length = step.length;
    return 0;
}

/* The most bytes that codec `place` was given; *exact: it was that many. */
static int64_t size_before(const wr_codec_desk *desk, unsigned skipped, int place, bool *exact)
{
    int64_t bytes = desk->bytes;
    *exact = true;
    for (int i = 0; i < place; i++)
        if (!(skipped >> i & 1)) {
            const wr_coder *coder = &desk->coder[i];
            bytes = coder->line->bound(&coder->codec, bytes);
            *exact = *exact && coder->line->tail >= 0;
        }
    return bytes;
}

static int fail_size(const wr_coder *coder, int64_t got, int64_t wanted)
{
    return wr_fail(WEIR_EFORMAT, "%s: decodes to %lld bytes, not %lld", coder->line->name,
                   (long long)got, (long long)wanted);
}

/* Step.to is NULL if the codec leaves its bytes where they are. */
static int decode_step(wr_coder *coder, wr_codec_step *step, bool exact)
{
    const int tail = coder->line->tail;
    if (tail >= 0 && step->length < tail)
        return wr_fail(WEIR_EFORMAT, "%s: %lld bytes cannot end with a checksum", coder->line->name,
                       (long long)step->length);
    if (tail >= 0 && step->length - tail > step->room)
        return fail_size(coder, step->length - tail, step->room);
    int code = coder->line->decode(coder, step);
    if (code)
        return code;
    if (exact && step->done != step->room)
        return fail_size(coder, step->done, step->room);
    step->length = step->done;
    step->from = step->to ? step->to : step->from;
    return 0;
}

int wr_codecs_decode(wr_codec_desk *desk, unsigned skipped, const void *from, int64_t length,
                     void *to)
{
    unsigned char none;
    wr_codec_step step = {.from = from ? from : "", .length = length};
    to = to ? to : &none;
    for (int i = desk->count - 1; i >= 0; i--) {
        wr_coder *coder = &desk->coder[i];
        if (skipped >> i & 1)
            continue;
        bool exact, last = !(~skipped & ((1u << i) - 1));
        step.room = size_before(desk, skipped, i, &exact);
        step.to = NULL;
        if (coder->line->tail <= 0 && !(step.to = last ? to : other_buffer(desk, step.from)))
            return WEIR_ENOMEM;
        int code = decode_step(coder, &step, exact);
        if (code)
            return code;
    }
    if (step.length != desk->bytes)
        return wr_fail(WEIR_EFORMAT, "a tile of %lld bytes, not %lld", (long long)step.length,
                       (long long)desk->bytes);
    if (step.from != to)
        memcpy(to, step.from, (size_t)step.length);
    return 0;
}
