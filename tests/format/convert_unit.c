/* Conversion against a naive model: every pair of types, strides, edges of every range. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "format/convert.h"
#include "weir/error.h"

enum { LONGEST = 700, GAP = 24, ROOM = LONGEST * (16 + GAP), FILL = 0xa5 };

/* A number as the model sees it: an integer, or else a double. */
typedef struct number {
    bool whole;
    __int128 i;
    double d;
} number;

static bool is_complex(int type)
{
    return type == WEIR_C8 || type == WEIR_C16;
}

static int part_of(int type)
{
    return type == WEIR_C8 ? WEIR_F4 : type == WEIR_C16 ? WEIR_F8 : type;
}

static bool is_float(int type)
{
    return type == WEIR_F4 || type == WEIR_F8;
}

static bool is_signed(int type)
{
    return type >= WEIR_I1 && type <= WEIR_I8;
}

/* Bytes of a number at any address, in this machine's order. */
static uint64_t bits_at(const char *at, int64_t size)
{
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    switch (size) {
    case 1:
        memcpy(&b1, at, 1);
        return b1;
    case 2:
        memcpy(&b2, at, 2);
        return b2;
    case 4:
        memcpy(&b4, at, 4);
        return b4;
    default:
        memcpy(&b8, at, 8);
        return b8;
    }
}

static void set_bits(char *at, int64_t size, uint64_t bits)
{
    uint8_t b1 = (uint8_t)bits;
    uint16_t b2 = (uint16_t)bits;
    uint32_t b4 = (uint32_t)bits;
    const void *source = size == 1 ? (void *)&b1 : size == 2 ? (void *)&b2 : (void *)&b4;
    memcpy(at, size == 8 ? (void *)&bits : source, (size_t)size);
}

static number get(int type, const char *at)
{
    float f;
    double d;
    if (type == WEIR_F4) {
        memcpy(&f, at, sizeof f);
        return (number){.d = f};
    }
    if (type == WEIR_F8) {
        memcpy(&d, at, sizeof d);
        return (number){.d = d};
    }
    int64_t size = weir_type_bytes(type);
    uint64_t bits = bits_at(at, size);
    if (type == WEIR_BOOL)
        return (number){.whole = true, .i = bits != 0};
    __int128 value = bits;
    if (is_signed(type) && bits >> (8 * size - 1))
        value -= (__int128)1 << (8 * size);
    return (number){.whole = true, .i = value};
}

/* To float straight from the integer: by way of a double it would round twice. */
static void put_float(int type, char *at, number n)
{
    float f = n.whole ? (float)n.i : (float)n.d;
    double d = n.whole ? (double)n.i : n.d;
    if (type == WEIR_F4)
        memcpy(at, &f, sizeof f);
    else
        memcpy(at, &d, sizeof d);
}

static void put(int type, char *at, number n)
{
    int64_t size = weir_type_bytes(type);
    if (is_float(type)) {
        put_float(type, at, n);
        return;
    }
    if (type == WEIR_BOOL) {
        set_bits(at, 1, n.whole ? n.i != 0 : n.d != 0);
        return;
    }
    __int128 hi = ((__int128)1 << (8 * size - is_signed(type))) - 1;
    __int128 lo = is_signed(type) ? -hi - 1 : 0, value = n.i;
    if (!n.whole) {
        if (isnan(n.d))
            value = 0;
        else
            value = n.d > 1e30 ? hi : n.d < -1e30 ? lo : (__int128)n.d;
    }
    value = value < lo ? lo : value > hi ? hi : value;
    set_bits(at, size, (uint64_t)value);
}

static void model(int from, const char *source, int to, char *target)
{
    int64_t from_size = weir_type_bytes(part_of(from)), to_size = weir_type_bytes(part_of(to));
    if (from == to) {
        memcpy(target, source, (size_t)weir_type_bytes(to));
        return;
    }
    put(part_of(to), target, get(part_of(from), source));
    if (is_complex(to)) {
        number zero = {0};
        put(part_of(to), target + to_size,
            is_complex(from) ? get(part_of(from), source + from_size) : zero);
    }
}

static double any_double(rng *r)
{
    static const double edges[] = {
        0.0,      -0.0,      0.5,     -0.5,     0.99,     -0.99,   1.5,      NAN,
        INFINITY, -INFINITY, DBL_MIN, DBL_MAX,  -DBL_MAX, FLT_MAX, 1e39,     -1e39,
        127.0,    128.0,     -128.9,  -129.0,   255.9,    256.0,   32767.5,  32768.0,
        -32769.0, 65535.9,   65536.0, 0x1p31,   -0x1p31,  0x1p32,  0x1p53,   0x1p63,
        -0x1p63,  0x1p64,    0x1p24,  16777217, 5e-324,   1e-46,   0x1.8p63, -1.0,
    };
    enum { EDGES = sizeof edges / sizeof *edges };
    double v = edges[rng_within(r, 0, EDGES - 1)];
    if (rng_chance(r, 30))
        v = nextafter(v, rng_chance(r, 50) ? INFINITY : -INFINITY);
    if (rng_chance(r, 30)) {
        uint64_t bits = rng_next(r);
        memcpy(&v, &bits, sizeof v);
    }
    return rng_chance(r, 20) ? (double)rng_within(r, -100000, 100000) / 8 : v;
}

static uint64_t any_integer(rng *r)
{
    uint64_t v = UINT64_C(1) << rng_within(r, 0, 63);
    if (rng_chance(r, 50))
        v += (uint64_t)rng_within(r, -2, 2);
    if (rng_chance(r, 30))
        v = ~v;
    return rng_chance(r, 30) ? rng_next(r) : v;
}

static void fill_part(rng *r, int type, char *at)
{
    double d = any_double(r);
    float f = (float)d;
    if (type == WEIR_F4)
        memcpy(at, &f, sizeof f);
    else if (type == WEIR_F8)
        memcpy(at, &d, sizeof d);
    else
        set_bits(at, weir_type_bytes(type), any_integer(r));
}

static void fill(rng *r, int type, char *at)
{
    int part = part_of(type);
    fill_part(r, part, at);
    if (is_complex(type))
        fill_part(r, part, at + weir_type_bytes(part));
}

/* Bytes are the same, or both are not-a-number, whose payload nobody promises. */
static bool same(int type, const char *a, const char *b)
{
    int64_t size = weir_type_bytes(type);
    if (!memcmp(a, b, (size_t)size))
        return true;
    if (is_complex(type))
        return same(part_of(type), a, b) && same(part_of(type), a + size / 2, b + size / 2);
    return is_float(type) && isnan(get(type, a).d) && isnan(get(type, b).d);
}

/* Memory of a case: elements at a random stride, negative ones too, at any alignment. */
typedef struct field {
    char bytes[ROOM];
    wr_elements e;
} field;

static void lay_out(rng *r, field *f, int type, int64_t count, int64_t stride)
{
    int64_t size = weir_type_bytes(type),
            slack = ROOM - size - (count ? count - 1 : 0) * llabs(stride);
    int64_t first = rng_within(r, 0, slack < 16 ? slack : 16);
    memset(f->bytes, FILL, sizeof f->bytes);
    if (stride < 0)
        first -= (count ? count - 1 : 0) * stride;
    f->e = (wr_elements){type, f->bytes + first, stride};
}

static char *element(const field *f, int64_t k)
{
    return (char *)f->e.base + k * f->e.stride;
}

static int64_t any_stride(rng *r, int type)
{
    int64_t size = weir_type_bytes(type);
    if (rng_chance(r, 50))
        return size;
    int64_t stride = size + rng_within(r, 0, GAP);
    return rng_chance(r, 30) ? -stride : stride;
}

static int64_t any_count(rng *r)
{
    static const int64_t edges[] = {0, 1, 255, 256, 257, 512, LONGEST};
    return rng_chance(r, 50) ? edges[rng_within(r, 0, 6)] : rng_within(r, 0, LONGEST);
}

/* Elements of `got` are those of `wanted`, and so is what lies between them. */
static void check_fields(const field *got, const field *wanted, int64_t count)
{
    static char here[ROOM];
    memcpy(here, got->bytes, sizeof here);
    for (int64_t k = 0; k < count; k++) {
        CHECK(same(got->e.type, element(got, k), element(wanted, k)));
        memcpy(here + (element(got, k) - got->bytes), element(wanted, k),
               (size_t)weir_type_bytes(got->e.type));
    }
    CHECK(!memcmp(here, wanted->bytes, sizeof here));
}

/* A copy whose elements point into itself. */
static void copy_field(field *to, const field *from)
{
    memcpy(to->bytes, from->bytes, sizeof to->bytes);
    to->e = from->e;
    to->e.base = to->bytes + ((char *)from->e.base - from->bytes);
}

static void convert_case(rng *r, int from, int to)
{
    static field source, target, wanted;
    int64_t count = any_count(r);
    lay_out(r, &source, from, count, any_stride(r, from));
    lay_out(r, &target, to, count, any_stride(r, to));
    copy_field(&wanted, &target);
    for (int64_t k = 0; k < count; k++) {
        fill(r, from, element(&source, k));
        model(from, element(&source, k), to, element(&wanted, k));
    }
    wr_convert(&source.e, &target.e, count);
    check_fields(&target, &wanted, count);
}

static void convert_in_place(rng *r, int from, int to)
{
    static field both, wanted;
    int64_t count = any_count(r);
    lay_out(r, &both, from, count, any_stride(r, from));
    for (int64_t k = 0; k < count; k++)
        fill(r, from, element(&both, k));
    copy_field(&wanted, &both);
    for (int64_t k = 0; k < count; k++)
        model(from, element(&both, k), to, element(&wanted, k));
    wr_elements source = both.e;
    both.e.type = wanted.e.type = to;
    wr_convert(&source, &both.e, count);
    check_fields(&both, &wanted, count);
}

static void test_pairs(rng *r)
{
    int64_t times = test_cases(20, 1000);
    for (int from = WEIR_BOOL; from <= WEIR_C16; from++)
        for (int to = WEIR_BOOL; to <= WEIR_C16; to++) {
            bool never = from == WEIR_F2 || to == WEIR_F2 || (is_complex(from) && !is_complex(to));
            if (from != to && never) {
                CHECK_FAILS(wr_convert_check(from, to), WEIR_EINVAL, "cannot become");
                continue;
            }
            CHECK(!wr_convert_check(from, to));
            for (int64_t k = 0; k < times; k++) {
                check_case((from * 100 + to) * 1000 + k);
                convert_case(r, from, to);
                if (weir_type_bytes(from) == weir_type_bytes(to))
                    convert_in_place(r, from, to);
            }
        }
    CHECK_FAILS(wr_convert_check(WEIR_F8, 0), WEIR_EINVAL, "0 is no element type");
    CHECK_FAILS(wr_convert_check(77, WEIR_F8), WEIR_EINVAL, "77 is no element type");
}

static void swap_case(rng *r, int type)
{
    static field f, wanted, other;
    int64_t count = any_count(r), size = weir_type_bytes(type),
            part = weir_type_bytes(part_of(type));
    lay_out(r, &f, type, count, any_stride(r, type));
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < size; i++)
            element(&f, k)[i] = (char)rng_next(r);
    copy_field(&wanted, &f);
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < size; i++)
            element(&wanted, k)[i] = element(&f, k)[i / part * part + part - 1 - i % part];
    lay_out(r, &other, type, count, any_stride(r, type));
    wr_swap_bytes(&f.e, &other.e, count);
    for (int64_t k = 0; k < count; k++)
        CHECK(!memcmp(element(&other, k), element(&wanted, k), (size_t)size));
    wr_swap_here(&f.e, count);
    CHECK(!memcmp(f.bytes, wanted.bytes, sizeof f.bytes));
}

static void test_swaps(rng *r)
{
    int64_t times = test_cases(20, 1000);
    for (int type = WEIR_BOOL; type <= WEIR_C16; type++)
        for (int64_t k = 0; k < times; k++)
            swap_case(r, type);
}

/* The rules of the header in numbers, lest the model share a mistake. */
static void test_rules(void)
{
    double d[] = {NAN, -1.5, 300.7, -INFINITY, 1e300, 0.25};
    int8_t i1[6];
    uint64_t u8[6];
    bool b[6];
    float f[6];
    wr_elements from = {WEIR_F8, d, 8}, to = {WEIR_I1, i1, 1};
    wr_convert(&from, &to, 6);
    CHECK(i1[0] == 0 && i1[1] == -1 && i1[2] == 127 && i1[3] == -128 && i1[4] == 127 && i1[5] == 0);
    to = (wr_elements){WEIR_U8, u8, 8};
    wr_convert(&from, &to, 6);
    CHECK(u8[0] == 0 && u8[1] == 0 && u8[2] == 300 && u8[3] == 0 && u8[4] == UINT64_MAX);
    to = (wr_elements){WEIR_BOOL, b, 1};
    wr_convert(&from, &to, 6);
    CHECK(b[0] && b[1] && b[2] && b[3] && b[4] && b[5]);
    to = (wr_elements){WEIR_F4, f, 4};
    wr_convert(&from, &to, 6);
    CHECK(isnan(f[0]) && f[3] < -FLT_MAX && f[4] > FLT_MAX && f[2] == 300.7F);
    int64_t i8[] = {INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1,
                    (INT64_C(1) << 54) + (1 << 30) + 1};
    from = (wr_elements){WEIR_I8, i8, 8};
    to = (wr_elements){WEIR_U8, u8, 8};
    wr_convert(&from, &to, 4);
    CHECK(u8[0] == INT64_MAX && u8[1] == 0 && u8[2] == (UINT64_C(1) << 53) + 1);
    /* halfway between two floats but for the last bit, which a double drops */
    to = (wr_elements){WEIR_F4, f, 4};
    wr_convert(&from, &to, 4);
    CHECK(f[3] == 0x1.000002p54F);
}

int main(void)
{
    rng r = {test_seed()};
    test_rules();
    test_pairs(&r);
    test_swaps(&r);
    return 0;
}
