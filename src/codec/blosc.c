/* Containers of Blosc 1: the bytes in blocks, shuffled, then compressed by one of several. Calls
 * with a context share nothing between threads, and keep nothing. */
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "codec/codec_line.h"

enum { LEVEL_STANDARD = 5, LEVEL_MOST = 9, ELEMENT_MOST = 255, BLOCK_MOST = 715827542 };

static const char *const inner_name[] = {
    [WR_BLOSC_LZ] = "blosclz",    [WR_BLOSC_LZ4] = "lz4",   [WR_BLOSC_LZ4HC] = "lz4hc",
    [WR_BLOSC_SNAPPY] = "snappy", [WR_BLOSC_ZLIB] = "zlib", [WR_BLOSC_ZSTD] = "zstd"};
static const char *const shuffle_name[] = {"noshuffle", "shuffle", "bitshuffle"};

enum { INNERS = sizeof inner_name / sizeof *inner_name, SHUFFLES = 3 };

static bool find_name(const char *const *names, int count, const char *name, int *out)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name)) {
            *out = i;
            return true;
        }
    return false;
}

static bool take(wr_codec *codec, int place, const char *option)
{
    switch (place) {
    case 0:
        return find_name(inner_name, INNERS, option, &codec->inner);
    case 1:
        return wr_codec_take_level(codec, 0, option);
    case 2:
        return find_name(shuffle_name, SHUFFLES, option, &codec->shuffle);
    default:
        return place == 3 && wr_codec_take_number(option, &codec->block);
    }
}

static void print(const wr_codec *codec, char *text, size_t size)
{
    char block[32] = "";
    if (codec->block)
        snprintf(block, sizeof block, ":%lld", (long long)codec->block);
    snprintf(text, size, ":%s:%d:%s%s", inner_name[codec->inner], codec->level,
             shuffle_name[codec->shuffle], block);
}

static int check(const wr_codec *codec)
{
    if (codec->inner < 0 || codec->inner >= INNERS)
        return wr_fail(WEIR_EINVAL, "blosc: compressor %d is not one of %d", codec->inner, INNERS);
    if (codec->shuffle < 0 || codec->shuffle >= SHUFFLES)
        return wr_fail(WEIR_EINVAL, "blosc: shuffle is %d, not 0 to 2", codec->shuffle);
    if (codec->element < 1 || codec->element > ELEMENT_MOST)
        return wr_fail(WEIR_EINVAL, "blosc: elements of %d bytes, not 1 to %d", codec->element,
                       ELEMENT_MOST);
    if (codec->block < 0 || codec->block > BLOCK_MOST)
        return wr_fail(WEIR_EINVAL, "blosc: blocks of %lld bytes, not 0 to %d",
                       (long long)codec->block, BLOCK_MOST);
    return wr_codec_check_level(codec, 0, LEVEL_MOST);
}

/* At level 5, shuffled. */
static wr_codec_price price(const wr_codec *codec)
{
    static const wr_codec_price prices[INNERS] = {
        [WR_BLOSC_LZ] = {160000, 120000},      [WR_BLOSC_LZ4] = {290000, 120000},
        [WR_BLOSC_LZ4HC] = {11200000, 150000}, [WR_BLOSC_SNAPPY] = {450000, 450000},
        [WR_BLOSC_ZLIB] = {12400000, 1800000}, [WR_BLOSC_ZSTD] = {7000000, 400000}};
    return prices[codec->inner];
}

#ifdef WR_HAVE_BLOSC
#include <blosc.h>

static int check_built(const wr_codec *codec)
{
    int code = check(codec);
    if (code)
        return code;
    if (blosc_compname_to_compcode(inner_name[codec->inner]) < 0)
        return wr_fail(WEIR_EUNSUPPORTED, "blosc: this build of it has no %s",
                       inner_name[codec->inner]);
    return 0;
}

static int64_t bound(const wr_codec *codec, int64_t bytes)
{
    (void)codec;
    return bytes <= BLOSC_MAX_BUFFERSIZE ? bytes + BLOSC_MAX_OVERHEAD : -1;
}

/* Three blocks, which may be as large as a tile if a container says so, and what the compressor
 * takes for one of those that we make. */
static int64_t memory(const wr_codec *codec, int64_t bytes)
{
    const int64_t block = wr_min(bytes, codec->block ? codec->block : INT64_C(1) << 20);
    const int64_t inner = codec->inner == WR_BLOSC_ZSTD ? 24 * block : 0;
    return 3 * bytes + inner + (INT64_C(1) << 20);
}

static int encode(wr_coder *coder, wr_codec_step *step)
{
    const wr_codec *c = &coder->codec;
    int done = blosc_compress_ctx(c->level, c->shuffle, (size_t)c->element, (size_t)step->length,
                                  step->from, step->to, (size_t)step->room, inner_name[c->inner],
                                  (size_t)c->block, 1);
    if (done <= 0)
        return wr_fail(WEIR_ENOMEM, "blosc: cannot encode %lld bytes", (long long)step->length);
    step->done = done;
    return 0;
}

static int decode(wr_coder *coder, wr_codec_step *step)
{
    size_t bytes;
    if (step->length < BLOSC_MIN_HEADER_LENGTH ||
        blosc_cbuffer_validate(step->from, (size_t)step->length, &bytes))
        return wr_fail(WEIR_EFORMAT, "blosc: no container of %lld bytes", (long long)step->length);
    if (bytes > (size_t)step->room)
        return wr_codec_too_long(coder, step);
    int done = bytes ? blosc_decompress_ctx(step->from, step->to, (size_t)step->room, 1) : 0;
    if (done < 0 || (size_t)done != bytes)
        return wr_fail(WEIR_EFORMAT, "blosc: malformed container");
    step->done = done;
    return 0;
}
#endif

const wr_codec_line wr_line_blosc = {
    .name = "blosc",
    .help = "blosc[:blosclz|lz4|lz4hc|snappy|zlib|zstd[:LEVEL[:noshuffle|shuffle|bitshuffle"
            "[:BLOCK]]]], 0 to 9, bytes",
    .tail = WR_TAIL_VARIES,
    .standard = {.inner = WR_BLOSC_LZ4, .level = LEVEL_STANDARD, .shuffle = 1},
    .take = take,
    .print = print,
    .price = price,
#ifdef WR_HAVE_BLOSC
    .check = check_built,
    .bound = bound,
    .memory = memory,
    .encode = encode,
    .decode = decode,
#else
    .check = check,
#endif
};
