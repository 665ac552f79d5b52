/* One function for each pair of sizes and direction: loops without branches, so that they run at
 * the speed of memory. */
#include "front/mpiio/external32.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

static inline uint16_t turn16(uint16_t v)
{
    return LITTLE ? __builtin_bswap16(v) : v;
}

static inline uint32_t turn32(uint32_t v)
{
    return LITTLE ? __builtin_bswap32(v) : v;
}

static inline uint64_t turn64(uint64_t v)
{
    return LITTLE ? __builtin_bswap64(v) : v;
}

typedef int64_t convert_function(int64_t n, const char *restrict from, char *restrict to);

static int64_t copy8(int64_t n, const char *restrict from, char *restrict to)
{
    memcpy(to, from, (size_t)n);
    return n;
}

/* Same size on both sides. */
#define SWAP(bits)                                                                                 \
    static int64_t swap##bits(int64_t n, const char *restrict from, char *restrict to)             \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            uint##bits##_t v;                                                                      \
            memcpy(&v, from + i * (int64_t)sizeof v, sizeof v);                                    \
            v = turn##bits(v);                                                                     \
            memcpy(to + i * (int64_t)sizeof v, &v, sizeof v);                                      \
        }                                                                                          \
        return n;                                                                                  \
    }

SWAP(16)
SWAP(32)
SWAP(64)

static int64_t swap128(int64_t n, const char *restrict from, char *restrict to)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t v[2], w[2];
        memcpy(v, from + 16 * i, sizeof v);
        w[0] = turn64(v[LITTLE ? 1 : 0]);
        w[1] = turn64(v[LITTLE ? 0 : 1]);
        memcpy(to + 16 * i, w, sizeof w);
    }
    return n;
}

/* Integers of fewer bytes in the file. What does not fit is looked for only once there is some. */
#define NARROW(name, WIDE, SHORT, short_bits)                                                      \
    static int64_t name##_narrow(int64_t n, const char *restrict from, char *restrict to)          \
    {                                                                                              \
        WIDE v, lost = 0;                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            memcpy(&v, from + i * (int64_t)sizeof v, sizeof v);                                    \
            lost |= v ^ (WIDE)(SHORT)v;                                                            \
            uint##short_bits##_t w = turn##short_bits((uint##short_bits##_t)v);                    \
            memcpy(to + i * (int64_t)sizeof w, &w, sizeof w);                                      \
        }                                                                                          \
        for (int64_t i = 0; lost && i < n; i++) {                                                  \
            memcpy(&v, from + i * (int64_t)sizeof v, sizeof v);                                    \
            if (v != (WIDE)(SHORT)v)                                                               \
                return i;                                                                          \
        }                                                                                          \
        return n;                                                                                  \
    }                                                                                              \
    static int64_t name##_widen(int64_t n, const char *restrict from, char *restrict to)           \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            uint##short_bits##_t w;                                                                \
            memcpy(&w, from + i * (int64_t)sizeof w, sizeof w);                                    \
            WIDE v = (WIDE)(SHORT)turn##short_bits(w);                                             \
            memcpy(to + i * (int64_t)sizeof v, &v, sizeof v);                                      \
        }                                                                                          \
        return n;                                                                                  \
    }

NARROW(long, int64_t, int32_t, 32)
NARROW(unsigned_long, uint64_t, uint32_t, 32)
NARROW(wide_character, uint32_t, uint16_t, 16)

/* --- the 80-bit format: 64 bits with the leading one, and 16 of sign and exponent --- */

static const uint64_t LEADING = UINT64_C(1) << 63;
enum { EXPONENTS = 0x7fff, KEPT = 49 /* bits that a quadruple fraction has more */ };

static int64_t extended_encode(int64_t n, const char *restrict from, char *restrict to)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t m, w[2];
        uint16_t head;
        memcpy(&m, from + i * (int64_t)sizeof(long double), sizeof m);
        memcpy(&head, from + i * (int64_t)sizeof(long double) + 8, sizeof head);
        uint64_t sign = head >> 15, exponent = head & EXPONENTS;
        if (exponent == 0 && m & LEADING) { /* a denormal that is none */
            exponent = 1;
        } else if (exponent && !(m & LEADING)) { /* no number at all */
            exponent = EXPONENTS;
            m = LEADING >> 1;
        }
        m &= ~LEADING;
        w[0] = turn64(sign << 63 | exponent << 48 | m >> (64 - KEPT));
        w[1] = turn64(m << KEPT);
        memcpy(to + 16 * i, w, sizeof w);
    }
    return n;
}

/* To the nearest, ties to even; a carry ends in the exponent, and so in infinity at most. */
static int64_t extended_decode(int64_t n, const char *restrict from, char *restrict to)
{
    const uint64_t half = UINT64_C(1) << (KEPT - 1);
    for (int64_t i = 0; i < n; i++) {
        uint64_t w[2];
        memcpy(w, from + 16 * i, sizeof w);
        uint64_t hi = turn64(w[0]), lo = turn64(w[1]);
        uint64_t exponent = hi >> 48 & EXPONENTS, rest = lo & (2 * half - 1);
        uint64_t m = (hi & UINT64_C(0xffffffffffff)) << (64 - KEPT) | lo >> KEPT;
        bool is_nan = exponent == EXPONENTS && (m || rest);
        if (exponent < EXPONENTS && (rest > half || (rest == half && m & 1)))
            m++;
        exponent += m >> 63;
        m = (m & ~LEADING) | (is_nan ? LEADING >> 1 : 0) | (exponent ? LEADING : 0);
        uint16_t head = (uint16_t)(hi >> 63 << 15 | exponent);
        char out[sizeof(long double)] = {0};
        memcpy(out, &m, sizeof m);
        memcpy(out + 8, &head, sizeof head);
        memcpy(to + i * (int64_t)sizeof out, out, sizeof out);
    }
    return n;
}

/* --- which function --- */

typedef struct codec {
    int memory, external32;
    convert_function *encode, *decode;
} codec;

static const codec plain[] = {{1, 1, copy8, copy8},       {2, 2, swap16, swap16},
                              {4, 4, swap32, swap32},     {8, 8, swap64, swap64},
                              {16, 16, swap128, swap128}, {0}};

static const codec signed_integers[] = {{8, 4, long_narrow, long_widen}, {0}};

static const codec unsigned_integers[] = {{8, 4, unsigned_long_narrow, unsigned_long_widen},
                                          {4, 2, wide_character_narrow, wide_character_widen},
                                          {0}};

static const codec extended[] = {{sizeof(long double), 16, extended_encode, extended_decode}, {0}};

static const codec *search(const codec *list, const wr_kind *kind)
{
    for (; list->memory; list++)
        if (list->memory * kind->parts == kind->memory &&
            list->external32 * kind->parts == kind->external32)
            return list;
    return NULL;
}

static const codec *find(const wr_kind *kind)
{
    if (kind->nature == WR_NATURE_EXTENDED && LDBL_MANT_DIG == 64)
        return search(extended, kind);
    const codec *found = search(plain, kind);
    if (!found && kind->nature == WR_NATURE_SIGNED)
        found = search(signed_integers, kind);
    if (!found && kind->nature == WR_NATURE_UNSIGNED)
        found = search(unsigned_integers, kind);
    return found;
}

static int64_t run(convert_function *convert, const wr_kind *kind, int64_t count, const char *from,
                   char *to)
{
    const int64_t all = count * kind->parts, done = convert(all, from, to);
    return done == all ? count : done / kind->parts;
}

int64_t wr_external32_encode(const wr_kind *kind, int64_t count, const char *memory, char *file)
{
    const codec *c = find(kind);
    return c ? run(c->encode, kind, count, memory, file) : 0;
}

int64_t wr_external32_decode(const wr_kind *kind, int64_t count, const char *file, char *memory)
{
    const codec *c = find(kind);
    return c ? run(c->decode, kind, count, file, memory) : 0;
}
