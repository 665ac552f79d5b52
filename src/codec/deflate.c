/* Deflate in its two wrappers, gzip and zlib, by libdeflate, which is fast because it wants the
 * whole of a tile at once. */
#include "base/arith.h"
#include "base/error.h"
#include "codec/codec_line.h"

enum { LEVEL_OWN = -1, LEVEL_STANDARD = 6, LEVEL_MOST = 9 };

/* What zlib takes, so that others can read the level too; -1 is "as you like". */
static int check(const wr_codec *codec)
{
    return wr_codec_check_level(codec, LEVEL_OWN, LEVEL_MOST);
}

/* Measured with smooth f4 in tiles of 1 MiB, as all such figures of this room. */
static wr_codec_price price(const wr_codec *codec)
{
    static const wr_codec_price prices[LEVEL_MOST + 1] = {
        {40000, 40000},      {8300000, 2100000},  {12200000, 2400000}, {12200000, 2400000},
        {12200000, 2400000}, {14600000, 2600000}, {14600000, 2600000}, {14600000, 2600000},
        {15100000, 2600000}, {15600000, 2600000}};
    return prices[codec->level < 0 ? LEVEL_STANDARD : codec->level];
}

#ifdef WR_HAVE_DEFLATE
#include <libdeflate.h>

static int64_t bound(const wr_codec *codec, int64_t bytes)
{
    return (int64_t)(codec->kind == WR_CODEC_GZIP
                         ? libdeflate_gzip_compress_bound(NULL, (size_t)bytes)
                         : libdeflate_zlib_compress_bound(NULL, (size_t)bytes));
}

/* What it takes up to level 9, and for decoding, rounded up. */
static int64_t memory(const wr_codec *codec, int64_t bytes)
{
    (void)codec;
    (void)bytes;
    return INT64_C(1) << 20;
}

static int encode(wr_coder *coder, wr_codec_step *step)
{
    const wr_codec *codec = &coder->codec;
    if (!coder->encoder)
        coder->encoder =
            libdeflate_alloc_compressor(codec->level < 0 ? LEVEL_STANDARD : codec->level);
    if (!coder->encoder)
        return wr_fail(WEIR_ENOMEM, "%s: no memory for its encoder", coder->line->name);
    size_t done =
        (codec->kind == WR_CODEC_GZIP ? libdeflate_gzip_compress : libdeflate_zlib_compress)(
            coder->encoder, step->from, (size_t)step->length, step->to, (size_t)step->room);
    if (!done)
        return wr_fail(WEIR_ERANGE, "%s: %lld bytes do not fit %lld", coder->line->name,
                       (long long)step->length, (long long)step->room);
    step->done = (int64_t)done;
    return 0;
}

/* One stream at the start of what is left; *used and *made are its bytes before and after. */
static int decode_stream(wr_coder *coder, const wr_codec_step *left, size_t *used, size_t *made)
{
    enum libdeflate_result result = (coder->codec.kind == WR_CODEC_GZIP
                                         ? libdeflate_gzip_decompress_ex
                                         : libdeflate_zlib_decompress_ex)(
        coder->decoder, left->from, (size_t)left->length, left->to, (size_t)left->room, used, made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
        return WEIR_ERANGE;
    return result == LIBDEFLATE_SUCCESS ? 0 : WEIR_EFORMAT;
}

/* Gzip may have several members, which follow each other in the data, too. */
static int decode(wr_coder *coder, wr_codec_step *step)
{
    wr_codec_step left = *step;
    if (!coder->decoder)
        coder->decoder = libdeflate_alloc_decompressor();
    if (!coder->decoder)
        return wr_fail(WEIR_ENOMEM, "%s: no memory for its decoder", coder->line->name);
    do {
        size_t used = 0, made = 0;
        int code = decode_stream(coder, &left, &used, &made);
        if (code == WEIR_ERANGE)
            return wr_codec_too_long(coder, step);
        if (code)
            return wr_fail(WEIR_EFORMAT, "%s: malformed, or its checksum does not match",
                           coder->line->name);
        left.from += used;
        left.length -= (int64_t)used;
        left.to += made;
        left.room -= (int64_t)made;
    } while (left.length && coder->codec.kind == WR_CODEC_GZIP);
    if (left.length)
        return wr_fail(WEIR_EFORMAT, "%s: %lld bytes behind its end", coder->line->name,
                       (long long)left.length);
    step->done = step->room - left.room;
    return 0;
}

static void release(wr_coder *coder)
{
    libdeflate_free_compressor(coder->encoder);
    libdeflate_free_decompressor(coder->decoder);
}
#endif

const wr_codec_line wr_line_gzip = {
    .name = "gzip",
    .help = "gzip[:LEVEL], -1 to 9",
    .tail = WR_TAIL_VARIES,
    .standard = {.level = LEVEL_STANDARD},
    .take = wr_codec_take_level,
    .print = wr_codec_print_level,
    .check = check,
    .price = price,
#ifdef WR_HAVE_DEFLATE
    .bound = bound,
    .memory = memory,
    .encode = encode,
    .decode = decode,
    .release = release,
#endif
};

const wr_codec_line wr_line_zlib = {
    .name = "zlib",
    .help = "zlib[:LEVEL], -1 to 9",
    .tail = WR_TAIL_VARIES,
    .standard = {.level = LEVEL_STANDARD},
    .take = wr_codec_take_level,
    .print = wr_codec_print_level,
    .check = check,
    .price = price,
#ifdef WR_HAVE_DEFLATE
    .bound = bound,
    .memory = memory,
    .encode = encode,
    .decode = decode,
    .release = release,
#endif
};
