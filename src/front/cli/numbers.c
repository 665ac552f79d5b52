/* One loop for each kind of numbers and each type, because they must keep up with the storage. */
#include "numbers.h"

#include <string.h>

#include "half.h"

typedef struct c8 {
    float re, im;
} c8;

typedef struct c16 {
    double re, im;
} c16;

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t hash(uint64_t seed, uint64_t k)
{
    return mix(seed + (k + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

static inline float single_of(uint64_t x)
{
    return (float)(int32_t)(x >> 40) * 0x1p-24F;
}

static inline double double_of(uint64_t x)
{
    return (double)(int64_t)(x >> 11) * 0x1p-53;
}

static inline uint16_t half_of(uint64_t x)
{
    return cli_half_of((float)(int32_t)(x >> 53) * 0x1p-11F);
}

static inline c8 make_c8(float re, float im)
{
    return (c8){re, im};
}

static inline c16 make_c16(double re, double im)
{
    return (c16){re, im};
}

#define DEFINE_NUMBERS(name, type, from_number, from_hash)                                         \
    static void iota_##name(void *out, int64_t count, uint64_t k, uint64_t step, uint64_t seed)    \
    {                                                                                              \
        (void)seed;                                                                                \
        for (int64_t i = 0; i < count; i++, k += step) {                                           \
            type v = from_number;                                                                  \
            memcpy((char *)out + i * (int64_t)sizeof v, &v, sizeof v);                             \
        }                                                                                          \
    }                                                                                              \
    static void random_##name(void *out, int64_t count, uint64_t k, uint64_t step, uint64_t seed)  \
    {                                                                                              \
        seed = mix(seed);                                                                          \
        for (int64_t i = 0; i < count; i++, k += step) {                                           \
            type v = from_hash;                                                                    \
            memcpy((char *)out + i * (int64_t)sizeof v, &v, sizeof v);                             \
        }                                                                                          \
    }

#define REAL hash(seed, 2 * k)
#define IMAGINARY hash(seed, 2 * k + 1)
DEFINE_NUMBERS(bool, uint8_t, k != 0, (uint8_t)(hash(seed, k) >> 63))
DEFINE_NUMBERS(1, uint8_t, (uint8_t)k, (uint8_t)hash(seed, k))
DEFINE_NUMBERS(2, uint16_t, (uint16_t)k, (uint16_t)hash(seed, k))
DEFINE_NUMBERS(4, uint32_t, (uint32_t)k, (uint32_t)hash(seed, k))
DEFINE_NUMBERS(8, uint64_t, k, hash(seed, k))
DEFINE_NUMBERS(f2, uint16_t, cli_half_of((float)(int64_t)k), half_of(hash(seed, k)))
DEFINE_NUMBERS(f4, float, (float)(int64_t)k, single_of(hash(seed, k)))
DEFINE_NUMBERS(f8, double, (double)(int64_t)k, double_of(hash(seed, k)))
DEFINE_NUMBERS(c8, c8, make_c8((float)(int64_t)k, 0),
               make_c8(single_of(REAL), single_of(IMAGINARY)))
DEFINE_NUMBERS(c16, c16, make_c16((double)(int64_t)k, 0),
               make_c16(double_of(REAL), double_of(IMAGINARY)))

static const struct {
    cli_numbers *iota, *random;
} by_type[] = {
    [WEIR_BOOL] = {iota_bool, random_bool}, [WEIR_I1] = {iota_1, random_1},
    [WEIR_I2] = {iota_2, random_2},         [WEIR_I4] = {iota_4, random_4},
    [WEIR_I8] = {iota_8, random_8},         [WEIR_U1] = {iota_1, random_1},
    [WEIR_U2] = {iota_2, random_2},         [WEIR_U4] = {iota_4, random_4},
    [WEIR_U8] = {iota_8, random_8},         [WEIR_F2] = {iota_f2, random_f2},
    [WEIR_F4] = {iota_f4, random_f4},       [WEIR_F8] = {iota_f8, random_f8},
    [WEIR_C8] = {iota_c8, random_c8},       [WEIR_C16] = {iota_c16, random_c16},
};

cli_numbers *cli_numbers_iota(int type)
{
    return by_type[type].iota;
}

cli_numbers *cli_numbers_random(int type)
{
    return by_type[type].random;
}
