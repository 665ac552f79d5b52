/* Bytes of elements that mean the same side by side: plane b has byte b of every element. What is
 * no whole element stays behind.
 *
 * The fast way takes 16 elements of 2^k bytes at a time, as 2^k vectors of 16. Interleaving the two
 * halves of them, byte by byte, moves the highest bit of each byte's place to the lowest. A place
 * is 4 bits of element, then k of plane; four times, and it is plane, then element. Back it is k
 * times. */
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "codec/codec_line.h"

enum { GROUP = 16, ELEMENT_FAST = 16, BLOCK = 512 };

typedef struct planes {
    int64_t element, count;
} planes;

/* Elements [lo, hi), a block at a time so that planes far apart stay in cache. */
static void split_plain(planes p, wr_span span, const unsigned char *from, unsigned char *to)
{
    for (int64_t lo = span.lo; lo < span.hi; lo += BLOCK)
        for (int64_t b = 0; b < p.element; b++)
            for (int64_t e = lo; e < wr_min(lo + BLOCK, span.hi); e++)
                to[b * p.count + e] = from[e * p.element + b];
}

static void join_plain(planes p, wr_span span, const unsigned char *from, unsigned char *to)
{
    for (int64_t lo = span.lo; lo < span.hi; lo += BLOCK)
        for (int64_t b = 0; b < p.element; b++)
            for (int64_t e = lo; e < wr_min(lo + BLOCK, span.hi); e++)
                to[e * p.element + b] = from[b * p.count + e];
}

#ifdef __SSE2__
#include <emmintrin.h>

/* Unrolled for each `size`, or the vectors would not be in registers. */
#define INLINE static inline __attribute__((always_inline))

INLINE void interleave(__m128i *v, int64_t size)
{
    __m128i out[ELEMENT_FAST];
    for (int64_t i = 0; i < size / 2; i++) {
        out[2 * i] = _mm_unpacklo_epi8(v[i], v[i + size / 2]);
        out[2 * i + 1] = _mm_unpackhi_epi8(v[i], v[i + size / 2]);
    }
    for (int64_t i = 0; i < size; i++)
        v[i] = out[i];
}

INLINE void split_size(int64_t size, int64_t count, const unsigned char *from, unsigned char *to)
{
    for (int64_t e = 0; e + GROUP <= count; e += GROUP) {
        __m128i v[ELEMENT_FAST];
        for (int64_t i = 0; i < size; i++)
            v[i] = _mm_loadu_si128((const __m128i *)(const void *)(from + e * size + i * GROUP));
        for (int pass = 0; pass < 4; pass++)
            interleave(v, size);
        for (int64_t i = 0; i < size; i++)
            _mm_storeu_si128((__m128i *)(void *)(to + i * count + e), v[i]);
    }
}

INLINE void join_size(int64_t size, int64_t count, const unsigned char *from, unsigned char *to)
{
    for (int64_t e = 0; e + GROUP <= count; e += GROUP) {
        __m128i v[ELEMENT_FAST];
        for (int64_t i = 0; i < size; i++)
            v[i] = _mm_loadu_si128((const __m128i *)(const void *)(from + i * count + e));
        for (int64_t half = size; half > 1; half /= 2)
            interleave(v, size);
        for (int64_t i = 0; i < size; i++)
            _mm_storeu_si128((__m128i *)(void *)(to + e * size + i * GROUP), v[i]);
    }
}

/* Elements that were done. */
static int64_t split_fast(planes p, const unsigned char *from, unsigned char *to)
{
    switch (p.element) {
    case 2:
        split_size(2, p.count, from, to);
        break;
    case 4:
        split_size(4, p.count, from, to);
        break;
    case 8:
        split_size(8, p.count, from, to);
        break;
    case 16:
        split_size(16, p.count, from, to);
        break;
    default:
        return 0;
    }
    return wr_round_down(p.count, GROUP);
}

static int64_t join_fast(planes p, const unsigned char *from, unsigned char *to)
{
    switch (p.element) {
    case 2:
        join_size(2, p.count, from, to);
        break;
    case 4:
        join_size(4, p.count, from, to);
        break;
    case 8:
        join_size(8, p.count, from, to);
        break;
    case 16:
        join_size(16, p.count, from, to);
        break;
    default:
        return 0;
    }
    return wr_round_down(p.count, GROUP);
}
#else
static int64_t split_fast(planes p, const unsigned char *from, unsigned char *to)
{
    (void)p, (void)from, (void)to;
    return 0;
}

static int64_t join_fast(planes p, const unsigned char *from, unsigned char *to)
{
    (void)p, (void)from, (void)to;
    return 0;
}
#endif

/* What both directions do: all but the elements, of which it says how many there are. */
static planes copy_rest(const wr_coder *coder, wr_codec_step *step)
{
    const planes p = {coder->codec.element, step->length / coder->codec.element};
    const int64_t whole = p.element * p.count;
    memcpy(step->to + whole, step->from + whole, (size_t)(step->length - whole));
    step->done = step->length;
    return p;
}

static int encode(wr_coder *coder, wr_codec_step *step)
{
    const planes p = copy_rest(coder, step);
    const int64_t done = split_fast(p, step->from, step->to);
    split_plain(p, (wr_span){done, p.count}, step->from, step->to);
    return 0;
}

static int decode(wr_coder *coder, wr_codec_step *step)
{
    const planes p = copy_rest(coder, step);
    const int64_t done = join_fast(p, step->from, step->to);
    join_plain(p, (wr_span){done, p.count}, step->from, step->to);
    return 0;
}

static int check(const wr_codec *codec)
{
    if (codec->element < 1)
        return wr_fail(WEIR_EINVAL, "shuffle: elements of %d bytes", codec->element);
    return 0;
}

static int64_t bound(const wr_codec *codec, int64_t bytes)
{
    (void)codec;
    return bytes;
}

static wr_codec_price price(const wr_codec *codec)
{
    const int element = codec->element;
    const bool fast = element <= ELEMENT_FAST && !(element & (element - 1));
    return fast ? (wr_codec_price){60000, 30000} : (wr_codec_price){580000, 300000};
}

const wr_codec_line wr_line_shuffle = {
    .name = "shuffle",
    .help = "shuffle, without options",
    .tail = 0,
    .check = check,
    .price = price,
    .bound = bound,
    .encode = encode,
    .decode = decode,
};
