/* The checksum of HDF5's filter: two sums modulo 65535 of 16-bit words, high byte first, the second
 * of the first's values; an odd byte is the high byte of a last word.
 *
 * Words go to LANES pairs of sums in turn. If lane l has the sums s1 and s2 of its words, and there
 * are R rows of them, the whole's first sum grows by s1, its second by LANES * s2 - l * s1, and by
 * LANES * R times the first sum before. Sums stay exact until the end: what is 0 modulo 65535 is
 * 65535 there, and 0 only if every word is. */
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "codec/codec_line.h"

/* So many rows cannot overflow a lane of 32 bits: 360 * 361 / 2 * 65535 < 2^32. */
enum { LANES = 8, ROW = 2 * LANES, ROWS = 360, MODULUS = 65535 };

typedef uint16_t words __attribute__((vector_size(ROW)));
typedef uint32_t lanes __attribute__((vector_size(2 * ROW)));

typedef struct sums {
    uint64_t first, second; /* at most MODULUS */
} sums;

static uint64_t fold(uint64_t x)
{
    return x ? (x - 1) % MODULUS + 1 : 0;
}

static void add_word(sums *s, uint32_t word)
{
    s->first = fold(s->first + word);
    s->second = fold(s->second + s->first);
}

static void add_rows(sums *s, const unsigned char *bytes, int64_t rows)
{
    lanes s1 = {0}, s2 = {0};
    for (int64_t r = 0; r < rows; r++) {
        words w;
        memcpy(&w, bytes + r * ROW, ROW);
        if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
            w = w << 8 | w >> 8;
        s1 += __builtin_convertvector(w, lanes);
        s2 += s1;
    }
    s->second += s->first * (uint64_t)(rows * LANES);
    for (unsigned l = 0; l < LANES; l++) {
        s->first += s1[l];
        s->second += (uint64_t)LANES * s2[l] - (uint64_t)l * s1[l];
    }
    s->first = fold(s->first);
    s->second = fold(s->second);
}

static uint32_t fletcher32(const unsigned char *bytes, int64_t length)
{
    sums s = {0, 0};
    int64_t at = 0;
    for (; length - at >= ROW; at += wr_min((length - at) / ROW, ROWS) * ROW)
        add_rows(&s, bytes + at, wr_min((length - at) / ROW, ROWS));
    for (; length - at >= 2; at += 2)
        add_word(&s, (uint32_t)bytes[at] << 8 | bytes[at + 1]);
    if (at < length)
        add_word(&s, (uint32_t)bytes[at] << 8);
    return (uint32_t)(s.second << 16 | s.first);
}

static int encode(wr_coder *coder, wr_codec_step *step)
{
    (void)coder;
    wr_codec_put_sum(step, fletcher32(step->from, step->length));
    return 0;
}

/* HDF5 before 1.6.3 had the bytes of words the other way round on some machines. */
static uint32_t old_sum(uint32_t sum)
{
    return (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
}

static int decode(wr_coder *coder, wr_codec_step *step)
{
    step->done = step->length - coder->line->tail;
    const uint32_t sum = fletcher32(step->from, step->done), kept = wr_codec_get_sum(step);
    if (sum != kept && old_sum(sum) != kept)
        return wr_fail(WEIR_EFORMAT, "fletcher32: checksum does not match");
    return 0;
}

static wr_codec_price price(const wr_codec *codec)
{
    (void)codec;
    return (wr_codec_price){212000, 212000};
}

const wr_codec_line wr_line_fletcher32 = {
    .name = "fletcher32",
    .help = "fletcher32, without options",
    .tail = 4,
    .price = price,
    .bound = wr_codec_bound_sum,
    .encode = encode,
    .decode = decode,
};
