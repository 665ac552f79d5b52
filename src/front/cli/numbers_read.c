/* One loop for each type, because they must keep up with the storage. */
#include "numbers_read.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "half.h"

#define DEFINE_READ(name, type, value)                                                             \
    static void read_##name(const void *elements, int64_t count, double *out)                      \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            type v;                                                                                \
            memcpy(&v, (const char *)elements + i * (int64_t)sizeof v, sizeof v);                  \
            out[i] = value;                                                                        \
        }                                                                                          \
    }

DEFINE_READ(bool, uint8_t, v != 0)
DEFINE_READ(i1, int8_t, v)
DEFINE_READ(i2, int16_t, v)
DEFINE_READ(i4, int32_t, v)
DEFINE_READ(i8, int64_t, (double)v)
DEFINE_READ(u1, uint8_t, v)
DEFINE_READ(u2, uint16_t, v)
DEFINE_READ(u4, uint32_t, v)
DEFINE_READ(u8, uint64_t, (double)v)
DEFINE_READ(f2, uint16_t, cli_half_value(v))
DEFINE_READ(f4, float, (double)v)
DEFINE_READ(f8, double, v)
DEFINE_READ(c8, float complex, cabs((double complex)v))
DEFINE_READ(c16, double complex, cabs(v))

cli_numbers_read *cli_numbers_reader(int type)
{
    static cli_numbers_read *const by_type[] = {
        [WEIR_BOOL] = read_bool, [WEIR_I1] = read_i1,  [WEIR_I2] = read_i2, [WEIR_I4] = read_i4,
        [WEIR_I8] = read_i8,     [WEIR_U1] = read_u1,  [WEIR_U2] = read_u2, [WEIR_U4] = read_u4,
        [WEIR_U8] = read_u8,     [WEIR_F2] = read_f2,  [WEIR_F4] = read_f4, [WEIR_F8] = read_f8,
        [WEIR_C8] = read_c8,     [WEIR_C16] = read_c16};
    return by_type[type];
}
