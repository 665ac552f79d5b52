/* Numbers of type f2, for which C11 has no type. */
#ifndef WR_CLI_HALF_H
#define WR_CLI_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The nearest f2, ties to even. */
static inline uint16_t cli_half_of(float value)
{
    uint32_t bits, half;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    if (size > 0x7f800000)
        half = 0x7e00; /* not a number */
    else if (size >= 0x477ff000)
        half = 0x7c00; /* 65520 and more: infinite */
    else if (size >= 0x38800000)
        half = ((size + 0xfff + (size >> 13 & 1)) >> 13) - (112 << 10);
    else { /* below 2^-14: beside 0.5 a float has steps of 2^-24, as f2 has here */
        float shifted;
        memcpy(&shifted, &size, sizeof shifted);
        shifted += 0.5F;
        memcpy(&half, &shifted, sizeof half);
        half -= 0x3f000000;
    }
    return (uint16_t)(sign | half);
}

static inline double cli_half_value(uint16_t half)
{
    int exponent = half >> 10 & 31, digits = half & 1023;
    double size = exponent == 31 ? (digits ? (double)NAN : (double)INFINITY)
                  : exponent     ? (1024 + digits) * (double)(1U << (exponent - 1)) * 0x1p-24
                                 : digits * 0x1p-24;
    return half & 0x8000 ? -size : size;
}

#endif
