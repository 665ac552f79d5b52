/* Conversion goes by blocks through wide numbers: a block of elements is loaded into the widest
 * type of its class (int64_t, uint64_t, double), which loses nothing; brought into the class of the
 * target, where it saturates and rounds; and stored. So there is one loop for a type or a
 * pair of classes, not one for a pair of types. Complex numbers are two real ones. Loops over a
 * full, contiguous block have constant bounds, which is what compilers vectorise. */
#include "format/convert.h"

#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/wide.h"

enum { BLOCK = 256 };

typedef union block {
    int64_t i[BLOCK];
    uint64_t u[BLOCK];
    double d[BLOCK];
    float f[BLOCK];
} block;

/* TRUTH are numbers 0 and 1 in i; it and SINGLE, which is f, are for targets only: a double on the
 * way from int64_t to float would round twice. */
enum { SIGNED, UNSIGNED, DOUBLE, LOADED, SINGLE = LOADED, TRUTH, CLASSES };

typedef void load_function(const char *at, int64_t stride, int64_t count, block *out);
typedef void store_function(const block *in, char *at, int64_t stride, int64_t count);
typedef void class_function(const block *in, int64_t count, block *out);

#define INLINE static inline __attribute__((always_inline))

#define DEFINE_LOAD(name, type, member, number)                                                    \
    INLINE void load_##name##_at(const char *restrict at, int64_t stride, int64_t count,           \
                                 block *restrict out)                                              \
    {                                                                                              \
        type v;                                                                                    \
        for (int64_t k = 0; k < count; k++) {                                                      \
            memcpy(&v, at + k * stride, sizeof v);                                                 \
            out->member[k] = (number);                                                             \
        }                                                                                          \
    }                                                                                              \
    static void load_##name(const char *restrict at, int64_t stride, int64_t count,                \
                            block *restrict out)                                                   \
    {                                                                                              \
        if (stride == sizeof(type) && count == BLOCK)                                              \
            load_##name##_at(at, sizeof(type), BLOCK, out);                                        \
        else                                                                                       \
            load_##name##_at(at, stride, count, out);                                              \
    }

#define DEFINE_STORE(name, type, member, number)                                                   \
    INLINE void store_##name##_at(const block *restrict in, char *restrict at, int64_t stride,     \
                                  int64_t count)                                                   \
    {                                                                                              \
        for (int64_t k = 0; k < count; k++) {                                                      \
            type v = (type)(number(in->member[k]));                                                \
            memcpy(at + k * stride, &v, sizeof v);                                                 \
        }                                                                                          \
    }                                                                                              \
    static void store_##name(const block *restrict in, char *restrict at, int64_t stride,          \
                             int64_t count)                                                        \
    {                                                                                              \
        if (stride == sizeof(type) && count == BLOCK)                                              \
            store_##name##_at(in, at, sizeof(type), BLOCK);                                        \
        else                                                                                       \
            store_##name##_at(in, at, stride, count);                                              \
    }

#define DEFINE_CLASS(name, from, to, number)                                                       \
    INLINE void name##_of(const block *restrict in, int64_t count, block *restrict out)            \
    {                                                                                              \
        for (int64_t k = 0; k < count; k++)                                                        \
            out->to[k] = number(in->from[k]);                                                      \
    }                                                                                              \
    static void name(const block *in, int64_t count, block *out)                                   \
    {                                                                                              \
        if (count == BLOCK)                                                                        \
            name##_of(in, BLOCK, out);                                                             \
        else                                                                                       \
            name##_of(in, count, out);                                                             \
    }

DEFINE_LOAD(bool, uint8_t, i, v != 0)
DEFINE_LOAD(i1, int8_t, i, (int)v)
DEFINE_LOAD(i2, int16_t, i, v)
DEFINE_LOAD(i4, int32_t, i, v)
DEFINE_LOAD(i8, int64_t, i, v)
DEFINE_LOAD(u1, uint8_t, i, v)
DEFINE_LOAD(u2, uint16_t, i, v)
DEFINE_LOAD(u4, uint32_t, i, v)
DEFINE_LOAD(u8, uint64_t, u, v)
DEFINE_LOAD(f4, float, d, v)
DEFINE_LOAD(f8, double, d, v)

#define BETWEEN(lo, v, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
#define TO_I1(v) BETWEEN(INT8_MIN, v, INT8_MAX)
#define TO_I2(v) BETWEEN(INT16_MIN, v, INT16_MAX)
#define TO_I4(v) BETWEEN(INT32_MIN, v, INT32_MAX)
#define TO_U1(v) BETWEEN(0, v, UINT8_MAX)
#define TO_U2(v) BETWEEN(0, v, UINT16_MAX)
#define TO_U4(v) BETWEEN(0, v, (int64_t)UINT32_MAX)
#define SAME(v) (v)

DEFINE_STORE(bool, uint8_t, i, SAME)
DEFINE_STORE(i1, int8_t, i, TO_I1)
DEFINE_STORE(i2, int16_t, i, TO_I2)
DEFINE_STORE(i4, int32_t, i, TO_I4)
DEFINE_STORE(i8, int64_t, i, SAME)
DEFINE_STORE(u1, uint8_t, i, TO_U1)
DEFINE_STORE(u2, uint16_t, i, TO_U2)
DEFINE_STORE(u4, uint32_t, i, TO_U4)
DEFINE_STORE(u8, uint64_t, u, SAME)
DEFINE_STORE(f4, float, f, SAME)
DEFINE_STORE(f8, double, d, SAME)

/* Not-a-number fails every comparison; 2^63 and 2^64 are doubles, the largest integers are not. */
INLINE int64_t signed_of(double v)
{
    if (v >= -0x1p63 && v < 0x1p63)
        return (int64_t)v;
    return v < 0 ? INT64_MIN : v > 0 ? INT64_MAX : 0;
}

INLINE uint64_t unsigned_of(double v)
{
    if (v >= 0 && v < 0x1p64)
        return (uint64_t)v;
    return v > 0 ? UINT64_MAX : 0;
}

#define NOT_NEGATIVE(v) ((v) < 0 ? 0 : (uint64_t)(v))
#define NOT_ABOVE(v) ((v) > INT64_MAX ? INT64_MAX : (int64_t)(v))
#define TO_FLOAT(v) ((float)(v))
#define TO_DOUBLE(v) ((double)(v))
#define TO_TRUTH(v) ((v) != 0)

DEFINE_CLASS(unsigned_to_signed, u, i, NOT_ABOVE)
DEFINE_CLASS(double_to_signed, d, i, signed_of)
DEFINE_CLASS(signed_to_unsigned, i, u, NOT_NEGATIVE)
DEFINE_CLASS(double_to_unsigned, d, u, unsigned_of)
DEFINE_CLASS(signed_to_double, i, d, TO_DOUBLE)
DEFINE_CLASS(unsigned_to_double, u, d, TO_DOUBLE)
DEFINE_CLASS(signed_to_single, i, f, TO_FLOAT)
DEFINE_CLASS(unsigned_to_single, u, f, TO_FLOAT)
DEFINE_CLASS(double_to_single, d, f, TO_FLOAT)
DEFINE_CLASS(signed_to_truth, i, i, TO_TRUTH)
DEFINE_CLASS(unsigned_to_truth, u, i, TO_TRUTH)
DEFINE_CLASS(double_to_truth, d, i, TO_TRUTH)

/* NULL: nothing is to be done. */
static class_function *const class_functions[LOADED][CLASSES] = {
    [SIGNED] = {[UNSIGNED] = signed_to_unsigned,
                [DOUBLE] = signed_to_double,
                [SINGLE] = signed_to_single,
                [TRUTH] = signed_to_truth},
    [UNSIGNED] = {[SIGNED] = unsigned_to_signed,
                  [DOUBLE] = unsigned_to_double,
                  [SINGLE] = unsigned_to_single,
                  [TRUTH] = unsigned_to_truth},
    [DOUBLE] = {[SIGNED] = double_to_signed,
                [UNSIGNED] = double_to_unsigned,
                [SINGLE] = double_to_single,
                [TRUTH] = double_to_truth},
};

/* How real types are handled; the others have no entry. */
static const struct {
    load_function *load;
    store_function *store;
    int load_class, store_class;
} handlers[WEIR_C16 + 1] = {
    [WEIR_BOOL] = {load_bool, store_bool, SIGNED, TRUTH},
    [WEIR_I1] = {load_i1, store_i1, SIGNED, SIGNED},
    [WEIR_I2] = {load_i2, store_i2, SIGNED, SIGNED},
    [WEIR_I4] = {load_i4, store_i4, SIGNED, SIGNED},
    [WEIR_I8] = {load_i8, store_i8, SIGNED, SIGNED},
    [WEIR_U1] = {load_u1, store_u1, SIGNED, SIGNED},
    [WEIR_U2] = {load_u2, store_u2, SIGNED, SIGNED},
    [WEIR_U4] = {load_u4, store_u4, SIGNED, SIGNED},
    [WEIR_U8] = {load_u8, store_u8, UNSIGNED, UNSIGNED},
    [WEIR_F4] = {load_f4, store_f4, DOUBLE, SINGLE},
    [WEIR_F8] = {load_f8, store_f8, DOUBLE, DOUBLE},
};

static bool is_complex(int type)
{
    return type == WEIR_C8 || type == WEIR_C16;
}

int wr_convert_check(int from, int to)
{
    if (!weir_type_bytes(from) || !weir_type_bytes(to))
        return wr_fail(WEIR_EINVAL, "%d is no element type", weir_type_bytes(from) ? to : from);
    if (from == to)
        return 0;
    if (from == WEIR_F2 || to == WEIR_F2 || (is_complex(from) && !is_complex(to)))
        return wr_fail(WEIR_EINVAL, "elements of type %s cannot become %s", weir_type_name(from),
                       weir_type_name(to));
    return 0;
}

static void convert_real(wr_elements from, wr_elements to, int64_t count)
{
    class_function *change =
        class_functions[handlers[from.type].load_class][handlers[to.type].store_class];
    block loaded, changed;
    for (int64_t done = 0; done < count; done += BLOCK) {
        int64_t part = wr_min(BLOCK, count - done);
        const char *source = (const char *)from.base + done * from.stride;
        handlers[from.type].load(source, from.stride, part, &loaded);
        if (change)
            change(&loaded, part, &changed);
        handlers[to.type].store(change ? &changed : &loaded, (char *)to.base + done * to.stride,
                                to.stride, part);
    }
}

INLINE void copy_sized(const wr_elements *from, const wr_elements *to, int64_t count, size_t size)
{
    const char *source = from->base;
    char *target = to->base;
    for (int64_t k = 0; k < count; k++)
        memcpy(target + k * to->stride, source + k * from->stride, size);
}

static void copy(const wr_elements *from, const wr_elements *to, int64_t count)
{
    int64_t size = weir_type_bytes(from->type);
    if (from->base == to->base || count <= 0)
        return;
    if (from->stride == size && to->stride == size) {
        memcpy(to->base, from->base, (size_t)(count * size));
        return;
    }
    switch (size) {
    case 1:
        copy_sized(from, to, count, 1);
        break;
    case 2:
        copy_sized(from, to, count, 2);
        break;
    case 4:
        copy_sized(from, to, count, 4);
        break;
    case 8:
        copy_sized(from, to, count, 8);
        break;
    default:
        copy_sized(from, to, count, 16);
    }
}

/* The type of both parts of a complex number; a real type itself. */
static int part_type(int type)
{
    if (!is_complex(type))
        return type;
    return type == WEIR_C8 ? WEIR_F4 : WEIR_F8;
}

static wr_elements real_parts(const wr_elements *all)
{
    return (wr_elements){part_type(all->type), all->base, all->stride};
}

static wr_elements imaginary_parts(const wr_elements *all)
{
    wr_elements parts = real_parts(all);
    parts.base = (char *)parts.base + weir_type_bytes(parts.type);
    return parts;
}

/* Parts of complex numbers without gaps are twice as many real ones without gaps. */
static bool is_packed(const wr_elements *e)
{
    return is_complex(e->type) && e->stride == weir_type_bytes(e->type);
}

static wr_elements all_parts(const wr_elements *all)
{
    wr_elements parts = real_parts(all);
    parts.stride /= 2;
    return parts;
}

INLINE void clear_sized(wr_elements to, int64_t count, size_t size)
{
    for (int64_t k = 0; k < count; k++)
        memset((char *)to.base + k * to.stride, 0, size);
}

static void clear(wr_elements to, int64_t count)
{
    if (to.type == WEIR_F4)
        clear_sized(to, count, 4);
    else
        clear_sized(to, count, 8);
}

void wr_convert(const wr_elements *from, const wr_elements *to, int64_t count)
{
    if (from->type == to->type) {
        copy(from, to, count);
    } else if (is_packed(from) && is_packed(to)) {
        convert_real(all_parts(from), all_parts(to), 2 * count);
    } else {
        convert_real(real_parts(from), real_parts(to), count);
        if (is_complex(from->type))
            convert_real(imaginary_parts(from), imaginary_parts(to), count);
        else if (is_complex(to->type))
            clear(imaginary_parts(to), count);
    }
}

/* --- byte order --- */

/* A block is taken out first: source and target may be the same. */
#define DEFINE_SWAP(bits)                                                                          \
    INLINE void swap_blocks_##bits(const char *at, char *to, int64_t blocks)                       \
    {                                                                                              \
        uint##bits##_t v[BLOCK];                                                                   \
        for (int64_t i = 0; i < blocks; i++, at += sizeof v, to += sizeof v) {                     \
            memcpy(v, at, sizeof v);                                                               \
            for (int64_t k = 0; k < BLOCK; k++)                                                    \
                v[k] = __builtin_bswap##bits(v[k]);                                                \
            memcpy(to, v, sizeof v);                                                               \
        }                                                                                          \
    }                                                                                              \
    static void swap_plain_##bits(const char *at, char *to, int64_t blocks)                        \
    {                                                                                              \
        swap_blocks_##bits(at, to, blocks);                                                        \
    }                                                                                              \
    WR_WIDE static void swap_wide_##bits(const char *at, char *to, int64_t blocks)                 \
    {                                                                                              \
        swap_blocks_##bits(at, to, blocks);                                                        \
    }                                                                                              \
    static void swap_##bits(const wr_elements *from, const wr_elements *to, int64_t count)         \
    {                                                                                              \
        uint##bits##_t v;                                                                          \
        const bool packed = from->stride == sizeof v && to->stride == sizeof v;                    \
        const int64_t blocks = packed ? count / BLOCK : 0;                                         \
        (wr_has_wide() ? swap_wide_##bits : swap_plain_##bits)(from->base, to->base, blocks);      \
        for (int64_t k = blocks * BLOCK; k < count; k++) {                                         \
            memcpy(&v, (const char *)from->base + k * from->stride, sizeof v);                     \
            v = __builtin_bswap##bits(v);                                                          \
            memcpy((char *)to->base + k * to->stride, &v, sizeof v);                               \
        }                                                                                          \
    }

DEFINE_SWAP(16)
DEFINE_SWAP(32)
DEFINE_SWAP(64)

static void swap_real(wr_elements from, wr_elements to, int64_t count)
{
    switch (weir_type_bytes(from.type)) {
    case 2:
        swap_16(&from, &to, count);
        break;
    case 4:
        swap_32(&from, &to, count);
        break;
    case 8:
        swap_64(&from, &to, count);
        break;
    default:
        copy(&from, &to, count);
    }
}

void wr_swap_bytes(const wr_elements *from, const wr_elements *to, int64_t count)
{
    if (is_packed(from) && is_packed(to)) {
        swap_real(all_parts(from), all_parts(to), 2 * count);
        return;
    }
    swap_real(real_parts(from), real_parts(to), count);
    if (is_complex(from->type))
        swap_real(imaginary_parts(from), imaginary_parts(to), count);
}
