/* A window that moves by one loses a column and gets one (Huang, Yang and Tang, "A Fast
 * Two-Dimensional Median Filtering Algorithm"). Their histogram needs few values: here elements of
 * a tile are sorted first, and its ranks take the place of values, so that what a window has is a
 * set of bits, for all types alike. A tile is walked to and fro, for windows never to be begun
 * again. A median takes time with the window's side, not its area. */
#include "kernels/median_select.h"

#include <string.h>

#include "weir/type.h"

enum { DIGIT = 8, DIGITS = 1 << DIGIT, WORD = 64, MANY = 1024 };

/* --- keys --- */

typedef union bits {
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
} bits;

static uint64_t load(const char *at, int64_t size)
{
    bits b;
    memcpy(&b, at, (size_t)size);
    return size == 1 ? b.b1 : size == 2 ? b.b2 : size == 4 ? b.b4 : b.b8;
}

static void store(char *to, int64_t size, uint64_t value)
{
    bits b = {.b8 = value};
    if (size == 1)
        b.b1 = (uint8_t)value;
    else if (size == 2)
        b.b2 = (uint16_t)value;
    else if (size == 4)
        b.b4 = (uint32_t)value;
    memcpy(to, &b, (size_t)size);
}

/* Keys order like elements: -0 before 0; what is not a number last, and without its sign. */
static uint64_t key_of(const wr_selector *s, uint64_t value)
{
    const uint64_t digits = s->sign - 1;
    if (s->infinity && (value & digits) > s->infinity)
        return value | s->sign;
    return s->infinity && (value & s->sign) ? ~value & (s->sign | digits) : value ^ s->sign;
}

static uint64_t value_of(const wr_selector *s, uint64_t key)
{
    const bool negative = s->infinity && !(key & s->sign);
    return negative ? ~key & (s->sign | (s->sign - 1)) : key ^ s->sign;
}

/* --- ranks --- */

/* By digits, the last first; equal keys stay in order, so that every element has its own rank. */
static void sort_places(wr_selector *s, int64_t count)
{
    uint32_t *from = s->place, *to = s->rank;
    for (int64_t i = 0; i < count; i++)
        from[i] = (uint32_t)i;
    for (int shift = 0; shift < 8 * s->element; shift += DIGIT) {
        uint32_t start[DIGITS + 1] = {0};
        for (int64_t i = 0; i < count; i++)
            start[(s->key[i] >> shift) % DIGITS + 1]++;
        for (int d = 0; d < DIGITS; d++)
            start[d + 1] += start[d];
        for (int64_t i = 0; i < count; i++)
            to[start[(s->key[from[i]] >> shift) % DIGITS]++] = from[i];
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != s->place)
        memcpy(s->place, from, (size_t)count * sizeof *from);
    for (int64_t i = 0; i < count; i++)
        s->rank[s->place[i]] = (uint32_t)i;
}

/* As many elements as a window has in a line come into it, or leave it. */
static void flip(wr_selector *s, int64_t first, int64_t step, int by)
{
    for (int64_t i = 0; i < s->window; i++) {
        const uint32_t rank = s->rank[first + i * step];
        s->present[rank / WORD] ^= UINT64_C(1) << rank % WORD;
        s->many[rank / MANY] += (uint32_t)by;
    }
}

/* The rank that has so many below it in the window. */
static int64_t find(const wr_selector *s, int64_t below)
{
    int64_t i = 0;
    for (; below >= s->many[i]; i++)
        below -= s->many[i];
    i *= MANY / WORD;
    for (int each; below >= (each = __builtin_popcountll(s->present[i])); i++)
        below -= each;
    uint64_t word = s->present[i];
    for (; below; below--)
        word &= word - 1;
    return i * WORD + __builtin_ctzll(word);
}

/* --- tiles --- */

/* The part [lo, hi) of an image. */
typedef struct tile_box {
    int64_t lo[2], hi[2];
    int64_t pitch; /* from row to row, with what windows need */
} tile_box;

static void load_tile(wr_selector *s, const wr_image *m, const tile_box *t)
{
    const int64_t half = s->window / 2, rows = t->hi[0] - t->lo[0] + s->window - 1;
    uint64_t *key = s->key;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < t->pitch; c++) {
            const char *at = wr_image_at(m, t->lo[0] - half + r, t->lo[1] - half + c);
            *key++ = key_of(s, load(at, s->element));
        }
    const int64_t count = rows * t->pitch;
    sort_places(s, count);
    memset(s->present, 0, (size_t)wr_div_ceil(count, WORD) * sizeof *s->present);
    memset(s->many, 0, (size_t)wr_div_ceil(count, MANY) * sizeof *s->many);
}

static void put_median(const wr_selector *s, const wr_image *m, int64_t row, int64_t column)
{
    const int64_t rank = find(s, s->window * s->window / 2);
    store(wr_image_to(m, row, column), s->element, value_of(s, s->key[s->place[rank]]));
}

/* `at` is the place of the window's first element. */
static void walk_tile(wr_selector *s, const wr_image *m, const tile_box *t)
{
    const int64_t w = s->window, pitch = t->pitch, wide = t->hi[1] - t->lo[1];
    for (int64_t r = 0; r < w; r++)
        flip(s, r * pitch, 1, 1);
    int64_t at = 0;
    for (int64_t row = t->lo[0];;) {
        const bool forth = (row - t->lo[0]) % 2 == 0;
        put_median(s, m, row, forth ? t->lo[1] : t->hi[1] - 1);
        for (int64_t n = 1; n < wide; n++) {
            at += forth ? 1 : -1;
            flip(s, forth ? at - 1 : at + w, pitch, -1);
            flip(s, forth ? at + w - 1 : at, pitch, 1);
            put_median(s, m, row, forth ? t->lo[1] + n : t->hi[1] - 1 - n);
        }
        if (++row == t->hi[0])
            return;
        flip(s, at, 1, -1);
        at += pitch;
        flip(s, at + (w - 1) * pitch, 1, 1);
    }
}

void wr_selector_run(wr_selector *s, const wr_image *m)
{
    for (int64_t row = m->lo[0]; row < m->hi[0]; row += s->tile)
        for (int64_t column = m->lo[1]; column < m->hi[1]; column += s->tile) {
            tile_box t = {
                .lo = {row, column},
                .hi = {wr_min(row + s->tile, m->hi[0]), wr_min(column + s->tile, m->hi[1])}};
            t.pitch = t.hi[1] - t.lo[1] + s->window - 1;
            load_tile(s, m, &t);
            walk_tile(s, m, &t);
        }
}

/* --- memory --- */

int64_t wr_selector_bytes(int64_t window, int64_t tile)
{
    const int64_t side = tile + window - 1, places = side * side;
    return places * (int64_t)(sizeof(uint64_t) + 2 * sizeof(uint32_t)) +
           wr_div_ceil(places, WORD) * (int64_t)sizeof(uint64_t) +
           wr_div_ceil(places, MANY) * (int64_t)sizeof(uint32_t);
}

void wr_selector_init(wr_selector *s, int type, int64_t window, int64_t tile, void *memory)
{
    const int64_t side = tile + window - 1, places = side * side;
    *s = (wr_selector){.window = window, .tile = tile, .element = weir_type_bytes(type)};
    if (type == WEIR_F2 || type == WEIR_F4 || type == WEIR_F8)
        s->infinity = type == WEIR_F2   ? 0x7c00
                      : type == WEIR_F4 ? 0x7f800000
                                        : UINT64_C(0x7ff0000000000000);
    if (s->infinity || (type >= WEIR_I1 && type <= WEIR_I8))
        s->sign = UINT64_C(1) << (8 * s->element - 1);
    s->key = memory;
    s->present = s->key + places;
    s->place = (uint32_t *)(void *)(s->present + wr_div_ceil(places, WORD));
    s->rank = s->place + places;
    s->many = s->rank + places;
}
