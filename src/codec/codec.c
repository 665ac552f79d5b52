/* The table of codecs, and what follows from its lines for a chain of them. */
#include "codec/codec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "codec/codec_line.h"

static const wr_codec_line *const table[WR_CODEC_KINDS] = {
    [WR_CODEC_GZIP] = &wr_line_gzip,
    [WR_CODEC_ZLIB] = &wr_line_zlib,
    [WR_CODEC_ZSTD] = &wr_line_zstd,
    [WR_CODEC_BLOSC] = &wr_line_blosc,
    [WR_CODEC_CRC32C] = &wr_line_crc32c,
    [WR_CODEC_SHUFFLE] = &wr_line_shuffle,
    [WR_CODEC_FLETCHER32] = &wr_line_fletcher32,
};

const wr_codec_line *wr_codec_line_get(int kind)
{
    return kind > 0 && kind < WR_CODEC_KINDS ? table[kind] : NULL;
}

int wr_codecs_check(const wr_codecs *codecs)
{
    if (codecs->count < 0 || codecs->count > WR_CODECS)
        return wr_fail(WEIR_EINVAL, "%d codecs; there can be 0 to %d", codecs->count, WR_CODECS);
    for (int i = 0; i < codecs->count; i++) {
        const wr_codec *codec = &codecs->codec[i];
        const wr_codec_line *line = wr_codec_line_get(codec->kind);
        if (!line)
            return wr_fail(WEIR_EINVAL, "codec %d is of no kind there is: %d", i, codec->kind);
        int code = line->check ? line->check(codec) : 0;
        if (code)
            return code;
        if (!line->encode)
            return wr_fail(WEIR_EUNSUPPORTED, "this build has no %s", line->name);
    }
    return 0;
}

int64_t wr_codecs_bound(const wr_codecs *codecs, int64_t bytes)
{
    const int64_t most = INT64_C(1) << 62;
    for (int i = 0; i < codecs->count && bytes >= 0; i++) {
        const wr_codec_line *line = wr_codec_line_get(codecs->codec[i].kind);
        bytes = line && line->bound && bytes <= most ? line->bound(&codecs->codec[i], bytes) : -1;
    }
    return bytes <= most ? bytes : -1;
}

int64_t wr_codecs_encode_ns(const wr_codecs *codecs)
{
    int64_t ns = 0;
    for (int i = 0; i < codecs->count; i++)
        ns += table[codecs->codec[i].kind]->price(&codecs->codec[i]).encode_ns;
    return ns;
}

int64_t wr_codecs_decode_ns(const wr_codecs *codecs)
{
    int64_t ns = 0;
    for (int i = 0; i < codecs->count; i++)
        ns += table[codecs->codec[i].kind]->price(&codecs->codec[i]).decode_ns;
    return ns;
}

bool wr_codec_take_number(const char *option, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(option, &end, 10);
    if (end == option || *end || errno || strchr(" \t\n\v\f\r", *option))
        return false;
    *out = value;
    return true;
}

bool wr_codec_take_level(wr_codec *codec, int place, const char *option)
{
    int64_t level;
    if (place > 0 || !wr_codec_take_number(option, &level) || level < INT_MIN || level > INT_MAX)
        return false;
    codec->level = (int)level;
    return true;
}

void wr_codec_print_level(const wr_codec *codec, char *text, size_t size)
{
    snprintf(text, size, ":%d", codec->level);
}

int wr_codec_check_level(const wr_codec *codec, int lo, int hi)
{
    if (codec->level >= lo && codec->level <= hi)
        return 0;
    return wr_fail(WEIR_EINVAL, "%s: level %d is not one of %d to %d", table[codec->kind]->name,
                   codec->level, lo, hi);
}

int wr_codec_too_long(const wr_coder *coder, const wr_codec_step *step)
{
    return wr_fail(WEIR_EFORMAT, "%s: decodes to more than %lld bytes", coder->line->name,
                   (long long)step->room);
}

enum { SUM = 4 };

void wr_codec_put_sum(wr_codec_step *step, uint32_t sum)
{
    if (step->to != step->from)
        memcpy(step->to, step->from, (size_t)step->length);
    for (int i = 0; i < SUM; i++)
        step->to[step->length + i] = (unsigned char)(sum >> (8 * i) & 0xff);
    step->done = step->length + SUM;
}

uint32_t wr_codec_get_sum(const wr_codec_step *step)
{
    uint32_t sum = 0;
    for (int i = 0; i < SUM; i++)
        sum |= (uint32_t)step->from[step->length - SUM + i] << (8 * i);
    return sum;
}

int64_t wr_codec_bound_sum(const wr_codec *codec, int64_t bytes)
{
    (void)codec;
    return bytes + SUM;
}
