/* Keys of floats: those of negative numbers are their bits turned around, those of others lie above
 * them. One loop for each size, because it must keep up with the storage. */
#include "kernels/order_key.h"

#include <string.h>

#include "kernels/operands.h"

#define DEFINE_FLOATS(name, type, greatest, infinite)                                              \
    static inline type turn_##name(type bits)                                                      \
    {                                                                                              \
        const type sign = (type)((type)1 << (8 * sizeof bits - 1));                                \
        return (type)(bits & sign ? (type)~bits : (type)(bits | sign));                            \
    }                                                                                              \
    static int64_t floats_##name(const char *from, uint64_t *keys, int64_t count)                  \
    {                                                                                              \
        int64_t nans = 0;                                                                          \
        for (int64_t i = 0; i < count; i++) {                                                      \
            type bits;                                                                             \
            memcpy(&bits, from + i * (int64_t)sizeof bits, sizeof bits);                           \
            const type size = (type)(bits & (type)(greatest) >> 1);                                \
            const int nan = size > (infinite);                                                     \
            nans += nan;                                                                           \
            keys[i] = nan ? (greatest) : turn_##name(size ? bits : 0);                             \
        }                                                                                          \
        return nans;                                                                               \
    }

#define DEFINE_INTEGERS(name, type)                                                                \
    static void integers_##name(const char *from, uint64_t *keys, int64_t count, type flip)        \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            type bits;                                                                             \
            memcpy(&bits, from + i * (int64_t)sizeof bits, sizeof bits);                           \
            keys[i] = (type)(bits ^ flip);                                                         \
        }                                                                                          \
    }

DEFINE_FLOATS(2, uint16_t, UINT16_MAX, 0x7c00)
DEFINE_FLOATS(4, uint32_t, UINT32_MAX, 0x7f800000)
DEFINE_FLOATS(8, uint64_t, UINT64_MAX, UINT64_C(0x7ff0000000000000))
DEFINE_INTEGERS(1, uint8_t)
DEFINE_INTEGERS(2, uint16_t)
DEFINE_INTEGERS(4, uint32_t)
DEFINE_INTEGERS(8, uint64_t)

static int is_signed(int type)
{
    return type >= WEIR_I1 && type <= WEIR_I8;
}

int64_t wr_order_keys(int type, const char *from, uint64_t *keys, int64_t count)
{
    const int64_t bytes = weir_type_bytes(type);
    const uint64_t flip = is_signed(type) ? UINT64_C(1) << (8 * bytes - 1) : 0;
    if (wr_is_float(type))
        return bytes == 2   ? floats_2(from, keys, count)
               : bytes == 4 ? floats_4(from, keys, count)
                            : floats_8(from, keys, count);
    if (bytes == 1)
        integers_1(from, keys, count, (uint8_t)flip);
    else if (bytes == 2)
        integers_2(from, keys, count, (uint16_t)flip);
    else if (bytes == 4)
        integers_4(from, keys, count, (uint32_t)flip);
    else
        integers_8(from, keys, count, flip);
    return 0;
}

double wr_order_number(int type, uint64_t key)
{
    const int64_t bytes = weir_type_bytes(type);
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    double number;
    if (!wr_is_float(type))
        return is_signed(type) ? (double)(int64_t)(key - sign) : (double)key;
    const uint64_t bits = key & sign ? key ^ sign : ~key;
    const int64_t skip = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? (int64_t)sizeof bits - bytes : 0;
    return *(const double *)wr_operands_load(type, (const char *)&bits + skip, WEIR_F8, &number, 1);
}

double wr_order_distance(int type, uint64_t low, uint64_t high)
{
    if (!wr_is_float(type))
        return (double)(high - low);
    return wr_order_number(type, high) - wr_order_number(type, low);
}
