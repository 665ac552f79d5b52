/* Elements as the widest numbers of their kind, and back. */
#include "kernels/operands.h"

#include <math.h>
#include <string.h>

#include "format/convert.h"

/* f2, which the library does not convert elsewhere. */
static double widen(const char *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    const int exponent = half >> 10 & 31, digits = half & 1023;
    double v = exponent == 31 ? (digits ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(1024 + digits, exponent - 25)
                              : ldexp(digits, -24);
    return half >> 15 ? -v : v;
}

const void *wr_operands_load(int type, const char *from, int as, void *room, int64_t count)
{
    const int64_t size = weir_type_bytes(type);
    double *to = room;
    if (type == as)
        return from;
    if (type == WEIR_F2)
        for (int64_t i = 0; i < count; i++)
            to[i] = widen(from + i * size);
    else
        wr_convert(&(wr_elements){type, (void *)from, size},
                   &(wr_elements){as, room, sizeof(int64_t)}, count);
    return room;
}

/* A number that f2 has. */
static uint16_t narrow(double v)
{
    const int sign = signbit(v) ? 1 << 15 : 0;
    int exponent;
    if (v != v)
        return 0x7e00;
    if (isinf(v))
        return (uint16_t)(sign | 31 << 10);
    const double digits = frexp(fabs(v), &exponent);
    const bool small = v == 0 || exponent + 14 < 1;
    return (uint16_t)(sign | (small ? (int)ldexp(fabs(v), 24)
                                    : (exponent + 14) << 10 | ((int)ldexp(digits, 11) & 1023)));
}

void wr_operands_store(int as, const void *from, int type, char *to, int64_t count)
{
    const double *numbers = from;
    if (type != WEIR_F2) {
        wr_convert(&(wr_elements){as, (void *)from, sizeof(int64_t)},
                   &(wr_elements){type, to, weir_type_bytes(type)}, count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const uint16_t half = narrow(numbers[i]);
        memcpy(to + i * (int64_t)sizeof half, &half, sizeof half);
    }
}
