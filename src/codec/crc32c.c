/* CRC-32C (Castagnoli, RFC 3720): by the processor's instruction where it has one, else by tables.
 *
 * The instruction takes three cycles, of which it keeps the unit busy for one: so three stretches
 * go at once, and their sums are joined. The sum of bytes with n zeros behind is that of the bytes
 * times x^8n modulo the polynomial; bits are kept reversed, x^0 being the highest. */
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "codec/codec_line.h"

#define POLYNOMIAL UINT32_C(0x82f63b78)
#define X0 UINT32_C(0x80000000)

enum { SLICES = 8, STRETCH = 4096, STRETCHES = 3 * STRETCH };

static uint32_t slice[SLICES][256]; /* slice[k][b]: of byte b and k zeros */
static uint32_t power;              /* x^(8 * STRETCH) */
static pthread_once_t made = PTHREAD_ONCE_INIT;

static uint32_t times_x(uint32_t a)
{
    return a >> 1 ^ (a & 1 ? POLYNOMIAL : 0);
}

static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (; a; a <<= 1) {
        product ^= a & X0 ? b : 0;
        b = times_x(b);
    }
    return product;
}

static void make_tables(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t sum = b;
        for (int bit = 0; bit < 8; bit++)
            sum = times_x(sum);
        slice[0][b] = sum;
    }
    for (int k = 1; k < SLICES; k++)
        for (int b = 0; b < 256; b++)
            slice[k][b] = slice[k - 1][b] >> 8 ^ slice[0][slice[k - 1][b] & 0xff];
    power = X0 >> 1; /* x, squared until it is x^(8 * STRETCH) */
    for (int n = 1; n < 8 * STRETCH; n *= 2)
        power = multiply(power, power);
}

static uint32_t sum_plain(uint32_t sum, const unsigned char *b, int64_t length)
{
    for (; length >= SLICES; b += SLICES, length -= SLICES)
        sum = slice[7][b[0] ^ (sum & 0xff)] ^ slice[6][b[1] ^ (sum >> 8 & 0xff)] ^
              slice[5][b[2] ^ (sum >> 16 & 0xff)] ^ slice[4][b[3] ^ sum >> 24] ^ slice[3][b[4]] ^
              slice[2][b[5]] ^ slice[1][b[6]] ^ slice[0][b[7]];
    for (; length; b++, length--)
        sum = sum >> 8 ^ slice[0][(sum ^ *b) & 0xff];
    return sum;
}

#ifdef __x86_64__
static bool has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}

static uint64_t word_at(const unsigned char *b)
{
    uint64_t word;
    memcpy(&word, b, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) static uint32_t sum_stretches(uint32_t sum,
                                                                const unsigned char *b)
{
    const unsigned char *b2 = b + STRETCH, *b3 = b2 + STRETCH;
    uint64_t first = sum, second = 0, third = 0;
    for (int i = 0; i < STRETCH; i += 8) {
        first = __builtin_ia32_crc32di(first, word_at(b + i));
        second = __builtin_ia32_crc32di(second, word_at(b2 + i));
        third = __builtin_ia32_crc32di(third, word_at(b3 + i));
    }
    const uint32_t two = multiply(power, (uint32_t)first) ^ (uint32_t)second;
    return multiply(power, two) ^ (uint32_t)third;
}

__attribute__((target("sse4.2"))) static uint32_t sum_fast(uint32_t sum, const unsigned char *b,
                                                           int64_t length)
{
    for (; length >= STRETCHES; b += STRETCHES, length -= STRETCHES)
        sum = sum_stretches(sum, b);
    for (; length >= 8; b += 8, length -= 8)
        sum = (uint32_t)__builtin_ia32_crc32di(sum, word_at(b));
    return sum_plain(sum, b, length);
}
#else
static bool has_instruction(void)
{
    return false;
}

static uint32_t sum_fast(uint32_t sum, const unsigned char *b, int64_t length)
{
    return sum_plain(sum, b, length);
}
#endif

uint32_t wr_crc32c_plain(const void *bytes, int64_t length)
{
    pthread_once(&made, make_tables);
    return ~sum_plain(UINT32_MAX, bytes, length);
}

uint32_t wr_crc32c(const void *bytes, int64_t length)
{
    if (!has_instruction())
        return wr_crc32c_plain(bytes, length);
    pthread_once(&made, make_tables);
    return ~sum_fast(UINT32_MAX, bytes, length);
}

static int encode(wr_coder *coder, wr_codec_step *step)
{
    (void)coder;
    wr_codec_put_sum(step, wr_crc32c(step->from, step->length));
    return 0;
}

static int decode(wr_coder *coder, wr_codec_step *step)
{
    step->done = step->length - coder->line->tail;
    if (wr_crc32c(step->from, step->done) != wr_codec_get_sum(step))
        return wr_fail(WEIR_EFORMAT, "crc32c: checksum does not match");
    return 0;
}

static wr_codec_price price(const wr_codec *codec)
{
    (void)codec;
    return (wr_codec_price){65000, 65000};
}

const wr_codec_line wr_line_crc32c = {
    .name = "crc32c",
    .help = "crc32c, without options",
    .tail = 4,
    .price = price,
    .bound = wr_codec_bound_sum,
    .encode = encode,
    .decode = decode,
};
