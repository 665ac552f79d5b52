/* Median filter ("PASSION Runtime Library for Parallel I/O", section 4.1).
 *
 * Large windows are left to median_select.h. For others a network of comparators (network.h) runs
 * over a strip of many windows at once. The columns of a
 * strip are sorted first: each belongs to as many windows as it has neighbours. Elements are turned
 * into keys, of types that processors find the lesser of quickly, which order like them: -0 before
 * 0, and what is not a number last. Floats are their own keys in strips that have neither. */
#include <string.h>

#include "base/arith.h"
#include "kernels/median_select.h"
#include "kernels/network.h"
#include "kernels/walk.h"

/* Bytes of a wire; of a row of a strip, which has half a window more on both sides; and of a block:
 * loops over one have constant bounds, which is what compilers vectorise. */
enum { WIRE = 256, ROW = 2 * WIRE, BLOCK = 64 };
_Static_assert(ROW >= WIRE + (WR_NETWORK_MOST - 1) * 8, "a row has all columns of its windows");

/* Wires begin every `wire` bytes and have so many blocks. */
typedef void run_function(const wr_network *network, char *wires, int64_t wire, int blocks);
typedef void key_function(void *row, int blocks);

/* How a type is ordered. */
typedef struct order {
    key_function *to_keys, *from_keys;             /* or NULL: elements are keys */
    run_function *run;                             /* on keys */
    bool (*is_plain)(const void *row, int blocks); /* or NULL: never */
    run_function *run_plain;                       /* on elements of rows that are */
} order;

typedef struct filter {
    const weir_array *from;
    int64_t window, element;
    const order *order;
    wr_network sort, median;
    char *rows, *wires; /* of a strip, and of the network */
    wr_selector selector;
    int64_t tile; /* of the selector */
    void *memory;
} filter;

/* --- orders --- */

#define DEFINE_KEEP(name, type, each)                                                              \
    static void keep_low_##name(type low[restrict], const type high[restrict], int blocks)         \
    {                                                                                              \
        for (int k = 0; k < blocks * (each); k += (each))                                          \
            for (int i = k; i < k + (each); i++)                                                   \
                low[i] = low[i] < high[i] ? low[i] : high[i];                                      \
    }                                                                                              \
    static void keep_high_##name(const type low[restrict], type high[restrict], int blocks)        \
    {                                                                                              \
        for (int k = 0; k < blocks * (each); k += (each))                                          \
            for (int i = k; i < k + (each); i++)                                                   \
                high[i] = low[i] > high[i] ? low[i] : high[i];                                     \
    }                                                                                              \
    static void keep_both_##name(type low[restrict], type high[restrict], int blocks)              \
    {                                                                                              \
        for (int k = 0; k < blocks * (each); k += (each))                                          \
            for (int i = k; i < k + (each); i++) {                                                 \
                type a = low[i], b = high[i];                                                      \
                low[i] = a < b ? a : b;                                                            \
                high[i] = a > b ? a : b;                                                           \
            }                                                                                      \
    }

#define DEFINE_RUN(name, type)                                                                     \
    DEFINE_KEEP(name, type, (int)(BLOCK / sizeof(type)))                                           \
    static void run_##name(const wr_network *n, char *wires, int64_t wire, int blocks)             \
    {                                                                                              \
        for (int i = 0; i < n->count; i++) {                                                       \
            void *low = wires + n->at[i].low * wire, *high = wires + n->at[i].high * wire;         \
            if (n->at[i].keep == WR_KEEP_LOW)                                                      \
                keep_low_##name(low, high, blocks);                                                \
            else if (n->at[i].keep == WR_KEEP_HIGH)                                                \
                keep_high_##name(low, high, blocks);                                               \
            else                                                                                   \
                keep_both_##name(low, high, blocks);                                               \
        }                                                                                          \
    }

#define DEFINE_KEYS(name, type, key_of)                                                            \
    static void name##_of(type v[], int count)                                                     \
    {                                                                                              \
        enum { EACH = BLOCK / sizeof(type) };                                                      \
        for (int k = 0; k < count; k += EACH)                                                      \
            for (int i = k; i < k + EACH; i++)                                                     \
                v[i] = (type)(key_of);                                                             \
    }                                                                                              \
    static void name(void *row, int blocks)                                                        \
    {                                                                                              \
        name##_of(row, blocks *(int)(BLOCK / sizeof(type)));                                       \
    }

/* A float's bits without sign order like numbers; a sign turns them round, but for what is not a
 * number, where it means nothing and is dropped. */
#define TURNED(v, most) ((v) < 0 ? (v) ^ (most) : (v))
#define KEY(v, infinity, most) (((v) & (most)) > (infinity) ? (v) & (most) : TURNED(v, most))
#define DEFINE_FLOAT(name, type, infinity, most)                                                   \
    DEFINE_KEYS(to_##name, type, KEY(v[i], infinity, most))                                        \
    DEFINE_KEYS(from_##name, type, TURNED(v[i], most))

#define DEFINE_PLAIN(name, type, infinity, most)                                                   \
    static bool is_plain_##name##_of(const type v[], int count)                                    \
    {                                                                                              \
        enum { EACH = BLOCK / sizeof(type) };                                                      \
        type odd = 0;                                                                              \
        for (int k = 0; k < count; k += EACH)                                                      \
            for (int i = k; i < k + EACH; i++)                                                     \
                odd |= (v[i] & (most)) > (infinity) || v[i] == -(most)-1;                          \
        return !odd;                                                                               \
    }                                                                                              \
    static bool is_plain_##name(const void *row, int blocks)                                       \
    {                                                                                              \
        return is_plain_##name##_of(row, blocks * (int)(BLOCK / sizeof(type)));                    \
    }

DEFINE_RUN(u1, uint8_t)
DEFINE_RUN(i2, int16_t)
DEFINE_RUN(i4, int32_t)
DEFINE_RUN(i8, int64_t)
DEFINE_RUN(f4, float)
DEFINE_RUN(f8, double)
DEFINE_KEYS(turn_1, uint8_t, v[i] ^ 0x80)
DEFINE_KEYS(turn_2, uint16_t, v[i] ^ 0x8000)
DEFINE_KEYS(turn_4, uint32_t, v[i] ^ UINT32_C(0x80000000))
DEFINE_KEYS(turn_8, uint64_t, v[i] ^ UINT64_C(0x8000000000000000))
DEFINE_FLOAT(f2, int16_t, 0x7c00, INT16_MAX)
DEFINE_FLOAT(f4, int32_t, 0x7f800000, INT32_MAX)
DEFINE_FLOAT(f8, int64_t, INT64_C(0x7ff0000000000000), INT64_MAX)
DEFINE_PLAIN(f4, int32_t, 0x7f800000, INT32_MAX)
DEFINE_PLAIN(f8, int64_t, INT64_C(0x7ff0000000000000), INT64_MAX)

static const order orders[] = {
    [WEIR_BOOL] = {.run = run_u1},
    [WEIR_I1] = {turn_1, turn_1, run_u1, NULL, NULL},
    [WEIR_I2] = {.run = run_i2},
    [WEIR_I4] = {.run = run_i4},
    [WEIR_I8] = {.run = run_i8},
    [WEIR_U1] = {.run = run_u1},
    [WEIR_U2] = {turn_2, turn_2, run_i2, NULL, NULL},
    [WEIR_U4] = {turn_4, turn_4, run_i4, NULL, NULL},
    [WEIR_U8] = {turn_8, turn_8, run_i8, NULL, NULL},
    [WEIR_F2] = {to_f2, from_f2, run_i2, NULL, NULL},
    [WEIR_F4] = {to_f4, from_f4, run_i4, is_plain_f4, run_f4},
    [WEIR_F8] = {to_f8, from_f8, run_i8, is_plain_f8, run_f8},
};

/* --- strips --- */

static void repeat(char *to, const char *element, int64_t size, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * size, element, (size_t)size);
}

/* Elements [first, first + count) of a row of the slab, repeated beyond its ends: what is missing
 * there is beyond the array's, or is not looked at. */
static void load_row(const filter *f, const wr_image *m, int64_t row, int64_t first, char *to)
{
    const int64_t size = f->element, count = WIRE / size + f->window - 1;
    const int64_t lo = m->in_lo[1], hi = m->in_hi[1];
    const char *from = wr_image_at(m, row, lo);
    const int64_t left = wr_clamp(lo - first, 0, count), right = wr_clamp(hi - first, left, count);
    repeat(to, from, size, left);
    memcpy(to + left * size, from + (first + left - lo) * size, (size_t)((right - left) * size));
    repeat(to + right * size, from + (hi - lo - 1) * size, size, count - right);
}

/* Loads all rows of a strip; returns whether its elements are their own keys. */
static bool load_strip(const filter *f, const wr_image *m, int64_t row, int64_t first, int blocks)
{
    const int64_t half = f->window / 2;
    bool plain = f->order->is_plain || !f->order->to_keys;
    for (int64_t r = 0; r < f->window; r++) {
        load_row(f, m, row + r - half, first - half, f->rows + r * ROW);
        if (plain && f->order->is_plain)
            plain = f->order->is_plain(f->rows + r * ROW, blocks);
    }
    for (int64_t r = 0; r < f->window && !plain; r++)
        f->order->to_keys(f->rows + r * ROW, blocks);
    return plain;
}

/* The medians from (row, first) on, as many as a wire has. */
static const char *filter_strip(const filter *f, const wr_image *m, int64_t row, int64_t first)
{
    const int64_t bytes = WIRE + (f->window - 1) * f->element;
    const int blocks = (int)wr_div_ceil(bytes, BLOCK);
    const bool plain = load_strip(f, m, row, first, blocks);
    run_function *run = plain && f->order->run_plain ? f->order->run_plain : f->order->run;
    run(&f->sort, f->rows, ROW, blocks);
    for (int64_t c = 0; c < f->window; c++)
        for (int64_t r = 0; r < f->window; r++)
            memcpy(f->wires + (c * f->window + r) * WIRE, f->rows + r * ROW + c * f->element, WIRE);
    run(&f->median, f->wires, WIRE, WIRE / BLOCK);
    char *out = f->wires + (int64_t)f->median.output * WIRE;
    if (!plain)
        f->order->from_keys(out, WIRE / BLOCK);
    return out;
}

static void filter_image(const filter *f, const wr_image *m)
{
    for (int64_t row = m->lo[0]; row < m->hi[0]; row++)
        for (int64_t at = m->lo[1], count; at < m->hi[1]; at += count) {
            count = wr_min(WIRE / f->element, m->hi[1] - at);
            const char *medians = filter_strip(f, m, row, at);
            memcpy(wr_image_to(m, row, at), medians, (size_t)(count * f->element));
        }
}

/* --- the operator --- */

/* From where on selection is faster, measured; networks compare more elements at once where these
 * are narrow. */
static bool is_large(const filter *f)
{
    return f->window > (f->element < 8 ? WR_NETWORK_MOST : 7);
}

static void filter_slab(void *user, const weir_slab *slab)
{
    filter *f = user;
    wr_image m = {.element = f->element, .in = slab->in[0], .out = slab->out[0]};
    for (int i = 0; i < 2; i++) {
        const int d = f->from->body.order[i];
        m.lo[i] = slab->lo[d];
        m.hi[i] = slab->hi[d];
        m.in_lo[i] = slab->in_lo[d];
        m.in_hi[i] = slab->in_hi[d];
        m.in -= (slab->lo[d] - slab->in_lo[d]) * slab->in_stride[d] * f->element;
    }
    if (is_large(f))
        wr_selector_run(&f->selector, &m);
    else
        filter_image(f, &m);
}

static int64_t network_bytes(int64_t window)
{
    return window * window * WIRE + window * ROW +
           2 * wr_network_room(window) * (int64_t)sizeof(wr_comparator);
}

static void make_networks(filter *f)
{
    char *at = f->memory;
    memset(at, 0, (size_t)network_bytes(f->window));
    f->wires = at;
    at += f->window * f->window * WIRE;
    f->rows = at;
    at += f->window * ROW;
    wr_comparator *room = (wr_comparator *)(void *)at;
    wr_network_sort((int)f->window, room, &f->sort);
    wr_network_median((int)f->window, room + wr_network_room(f->window), &f->median);
}

/* Whether it can be done. Tiles that are much larger than windows gain little; they shrink where
 * slabs would get less than half of the memory, or too little. */
static int plan(filter *f, wr_walk *w)
{
    enum { TILE = 64 };
    const int64_t *shape = f->from->info.shape;
    w->slabs.besides = network_bytes(f->window);
    if (!is_large(f))
        return wr_walk_check(w);
    f->tile = wr_clamp(wr_max(shape[0], shape[1]), 1, wr_max(TILE, f->window + 1));
    for (;; f->tile /= 2) {
        w->slabs.besides = wr_selector_bytes(f->window, f->tile);
        if (f->tile > 1 && w->slabs.besides > w->work.memory / 2)
            continue;
        int code = wr_walk_check(w);
        if (code != WEIR_EBUDGET || f->tile == 1)
            return code;
    }
}

static int prepare(filter *f, int64_t bytes)
{
    f->memory = wr_alloc(bytes);
    if (!f->memory)
        return WEIR_ENOMEM;
    if (is_large(f))
        wr_selector_init(&f->selector, f->from->info.type, f->window, f->tile, f->memory);
    else
        make_networks(f);
    return 0;
}

static int check(const weir_array *from, const weir_array *to, int window)
{
    if (window < 1 || window % 2 == 0 || window > WR_SELECT_MOST)
        return wr_fail(WEIR_EINVAL, "a window of %d is not odd and in 1 to %d", window,
                       WR_SELECT_MOST);
    if (from->info.dimensions != 2 || from->info.type == WEIR_C8 || from->info.type == WEIR_C16)
        return wr_fail(WEIR_EINVAL, "%s is not a matrix of real numbers", from->path);
    if (to->info.type != from->info.type || to == from)
        return wr_fail(WEIR_EINVAL, "%s and %s differ in type, or are the same", from->path,
                       to->path);
    return 0;
}

int weir_array_median(weir_array *from, weir_array *to, int window, const weir_work *work)
{
    wr_walk w = {.work = wr_work_of(work), .visit = filter_slab};
    int code = check(from, to, window);
    if (code)
        return code;
    filter f = {.from = from,
                .window = window,
                .element = from->body.element,
                .order = &orders[from->info.type]};
    w.user = &f;
    w.slabs.inputs = w.slabs.outputs = 1;
    w.slabs.input = &from;
    w.slabs.output = &to;
    w.slabs.halo[0] = w.slabs.halo[1] = window / 2;
    code = plan(&f, &w);
    if (code || w.work.estimate)
        return code;
    code = wr_walk_run(&w, prepare(&f, w.slabs.besides));
    wr_free(f.memory);
    return code;
}
