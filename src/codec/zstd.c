/* Zstandard: frames with the length of their content, by libzstd. */
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "codec/codec_line.h"

enum { LEVEL_LEAST = -131072, LEVEL_STANDARD = 3, LEVEL_MOST = 22 };

static bool take(wr_codec *codec, int place, const char *option)
{
    if (!strcmp(option, "checksum") && place <= 1 && !codec->checksum) {
        codec->checksum = 1;
        return true;
    }
    return !codec->checksum && wr_codec_take_level(codec, place, option);
}

static void print(const wr_codec *codec, char *text, size_t size)
{
    snprintf(text, size, ":%d%s", codec->level, codec->checksum ? ":checksum" : "");
}

static int check(const wr_codec *codec)
{
    if (codec->checksum != 0 && codec->checksum != 1)
        return wr_fail(WEIR_EINVAL, "zstd: checksum is %d, neither 0 nor 1", codec->checksum);
    return wr_codec_check_level(codec, LEVEL_LEAST, LEVEL_MOST);
}

/* What levels up to `level` take: a tile of 1 MiB, and the most memory for encoding. */
static const struct {
    int level;
    wr_codec_price price;
    int64_t mib;
} levels[] = {
    {-1, {130000, 30000}, 2},
    {2, {1100000, 560000}, 2},
    {3, {3400000, 570000}, 4},
    {4, {5100000, 580000}, 4},
    {6, {11700000, 680000}, 4},
    {9, {14300000, 720000}, 16},
    {12, {19300000, 720000}, 64},
    {15, {70000000, 730000}, 64},
    {18, {264000000, 1700000}, 64},
    {19, {264000000, 1800000}, 96},
    {LEVEL_MOST, {275000000, 1800000}, 768},
};

static int find_level(const wr_codec *codec)
{
    const int level = codec->level ? codec->level : LEVEL_STANDARD;
    int i = 0;
    while (level > levels[i].level && levels[i].level < LEVEL_MOST)
        i++;
    return i;
}

static wr_codec_price price(const wr_codec *codec)
{
    return levels[find_level(codec)].price;
}

#ifdef WR_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

static int64_t bound(const wr_codec *codec, int64_t bytes)
{
    (void)codec;
    const size_t most = ZSTD_compressBound((size_t)bytes);
    return ZSTD_isError(most) || most > INT64_MAX ? -1 : (int64_t)most;
}

/* It fits its tables to the bytes, if there are few: measured, rounded up. */
static int64_t memory(const wr_codec *codec, int64_t bytes)
{
    const int64_t most = levels[find_level(codec)].mib << 20, least = INT64_C(1) << 19;
    return bytes < most / 24 ? wr_min(most, least + 24 * bytes) + least : most + least;
}

static int start_encoder(wr_coder *coder)
{
    ZSTD_CCtx *c = coder->encoder = ZSTD_createCCtx();
    if (!c)
        return wr_fail(WEIR_ENOMEM, "zstd: no memory for its encoder");
    /* both are known to be in range */
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, coder->codec.level);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, coder->codec.checksum);
    return 0;
}

static int encode(wr_coder *coder, wr_codec_step *step)
{
    int code = coder->encoder ? 0 : start_encoder(coder);
    if (code)
        return code;
    size_t done = ZSTD_compress2(coder->encoder, step->to, (size_t)step->room, step->from,
                                 (size_t)step->length);
    if (ZSTD_isError(done))
        return wr_fail(WEIR_ENOMEM, "zstd: %s", ZSTD_getErrorName(done));
    step->done = (int64_t)done;
    return 0;
}

/* Frames of versions before 1.0 have other decoders in the library, which nobody needs. */
static bool is_modern(const wr_codec_step *step)
{
    for (size_t at = 0, all = (size_t)step->length, frame; at < all; at += frame) {
        const unsigned char *b = step->from + at;
        if (all - at < 4)
            return false;
        const uint32_t magic =
            b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        const bool skippable = (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
        if (magic != ZSTD_MAGICNUMBER && !skippable)
            return false;
        frame = ZSTD_findFrameCompressedSize(b, all - at);
        if (ZSTD_isError(frame) || !frame)
            return false;
    }
    return step->length > 0;
}

static int decode(wr_coder *coder, wr_codec_step *step)
{
    if (!is_modern(step))
        return wr_fail(WEIR_EFORMAT, "zstd: no frame, or cut short");
    if (!coder->decoder && !(coder->decoder = ZSTD_createDCtx()))
        return wr_fail(WEIR_ENOMEM, "zstd: no memory for its decoder");
    size_t done = ZSTD_decompressDCtx(coder->decoder, step->to, (size_t)step->room, step->from,
                                      (size_t)step->length);
    if (ZSTD_getErrorCode(done) == ZSTD_error_dstSize_tooSmall)
        return wr_codec_too_long(coder, step);
    if (ZSTD_isError(done))
        return wr_fail(WEIR_EFORMAT, "zstd: %s", ZSTD_getErrorName(done));
    step->done = (int64_t)done;
    return 0;
}

static void release(wr_coder *coder)
{
    ZSTD_freeCCtx(coder->encoder);
    ZSTD_freeDCtx(coder->decoder);
}
#endif

const wr_codec_line wr_line_zstd = {
    .name = "zstd",
    .help = "zstd[:LEVEL][:checksum], -131072 to 22",
    .tail = WR_TAIL_VARIES,
    .standard = {.level = LEVEL_STANDARD},
    .take = take,
    .print = print,
    .check = check,
    .price = price,
#ifdef WR_HAVE_ZSTD
    .bound = bound,
    .memory = memory,
    .encode = encode,
    .decode = decode,
    .release = release,
#endif
};
