/* Encoding and decoding of patterns. */
#include "pattern/wire.h"

#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "pattern/build.h"

enum { VERSION = 1, GROUP = 7 };

enum shape { LEAF, LOOP, UNIFORM, RUNS, MIXED, SHAPES };

static enum shape shape_of(const wr_node *n)
{
    if (n->kind != WR_LIST)
        return n->kind == WR_LEAF ? LEAF : LOOP;
    if (n->child >= 0)
        return UNIFORM;
    return n->kid >= 0 ? MIXED : RUNS;
}

/* Counts where `at` is NULL, writes otherwise: one path, so that size and bytes cannot differ. */
typedef struct writer {
    uint8_t *at;
    int64_t size;
} writer;

static void put(writer *w, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)(value & 0x7f);
        value >>= GROUP;
        if (w->at)
            *w->at++ = (uint8_t)(byte | (value ? 0x80 : 0));
        w->size++;
    } while (value);
}

static void put_signed(writer *w, int64_t value)
{
    put(w, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static void put_list(writer *w, const weir_pattern *p, const wr_node *n, enum shape shape)
{
    const int64_t *offset = p->word + n->word, *data = offset + n->count;
    for (int64_t i = 1; i < n->count; i++)
        put_signed(w, offset[i] - offset[i - 1]);
    for (int64_t i = 0; shape == RUNS && i < n->count; i++)
        put(w, (uint64_t)(data[i + 1] - data[i]));
    for (int64_t i = 0; shape == MIXED && i < n->count; i++)
        put(w, (uint64_t)p->kid[n->kid + i]);
}

static void put_pattern(writer *w, const weir_pattern *p)
{
    put(w, VERSION);
    put_signed(w, p->origin);
    put(w, (uint64_t)p->nodes);
    for (int32_t i = 0; i < p->nodes; i++) {
        const wr_node *n = &p->node[i];
        enum shape shape = shape_of(n);
        put(w, shape);
        put(w, (uint64_t)n->count);
        if (shape == LOOP)
            put_signed(w, n->stride);
        if (shape == LOOP || shape == UNIFORM)
            put(w, (uint64_t)n->child);
        if (n->kind == WR_LIST)
            put_list(w, p, n, shape);
    }
}

int64_t wr_pattern_encoded_size(const weir_pattern *pattern)
{
    writer w = {0};
    put_pattern(&w, pattern);
    return w.size;
}

void wr_pattern_encode(const weir_pattern *pattern, uint8_t *bytes)
{
    writer w = {.at = bytes};
    put_pattern(&w, pattern);
}

/* After the first failure everything reads as 0. */
typedef struct reader {
    const uint8_t *at, *end;
    bool bad;
} reader;

static uint64_t get(reader *r)
{
    uint64_t value = 0;
    for (int shift = 0; !r->bad; shift += GROUP) {
        if (r->at == r->end || shift > 63)
            break;
        uint8_t byte = *r->at++;
        if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0))
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    r->bad = true;
    return 0;
}

/* A number in [lo, hi]. */
static int64_t get_within(reader *r, int64_t lo, int64_t hi)
{
    uint64_t value = get(r);
    if (hi < lo || value > (uint64_t)hi || (int64_t)value < lo)
        r->bad = true;
    return r->bad ? lo : (int64_t)value;
}

/* Any number; 0 after a failure. */
static int64_t get_any(reader *r)
{
    uint64_t value = get(r);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static int64_t get_signed(reader *r)
{
    int64_t number = get_any(r);
    if (number > WR_OFFSET_MAX || number < -WR_OFFSET_MAX)
        r->bad = true;
    return r->bad ? 0 : number;
}

/* How much is left bounds every count, so that a few bytes cannot ask for much memory: an entry of
 * a list takes at least one byte, and so does a node. */
static int64_t left(const reader *r)
{
    return r->end - r->at;
}

/* First pass: skips a node and adds up how many words and kids all nodes need. */
static void measure_node(reader *r, int32_t number, weir_pattern *need)
{
    enum shape shape = (enum shape)get_within(r, 0, SHAPES - 1);
    int64_t count = get_within(r, shape == LEAF ? 1 : 2, WR_OFFSET_MAX);
    if (shape == LEAF)
        return;
    if (shape == LOOP)
        get_signed(r);
    if (shape == LOOP || shape == UNIFORM)
        get_within(r, 0, number - 1);
    if (shape == LOOP)
        return;
    if (count - 1 > left(r)) {
        r->bad = true;
        return;
    }
    for (int64_t i = shape == UNIFORM ? 1 : 1 - count; i < count && !r->bad; i++)
        get(r);
    need->words += shape == UNIFORM ? count : 2 * count + 1;
    need->kids += shape == MIXED ? count : 0;
}

static void read_offsets(reader *r, weir_pattern *p, int64_t count)
{
    int64_t offset = 0;
    p->word[p->words++] = 0;
    for (int64_t i = 1; i < count; i++) {
        /* two offsets may be twice as far apart as either is from 0 */
        if (!wr_add(offset, get_any(r), &offset) || offset > WR_OFFSET_MAX ||
            offset < -WR_OFFSET_MAX) {
            r->bad = true;
            offset = 0;
        }
        p->word[p->words++] = offset;
    }
}

static void read_lengths(reader *r, weir_pattern *p, wr_node *n, enum shape shape, int32_t number)
{
    int64_t data = 0;
    for (int64_t i = 0; i < n->count; i++) {
        int64_t bytes;
        if (shape == RUNS) {
            bytes = get_within(r, 1, WR_OFFSET_MAX);
        } else {
            p->kid[p->kids] = (int32_t)get_within(r, 0, number - 1);
            bytes = p->node[p->kid[p->kids++]].bytes;
        }
        p->word[p->words++] = data;
        data += bytes;
        if (data > WR_OFFSET_MAX) {
            r->bad = true;
            data = 0;
        }
    }
    p->word[p->words++] = data;
}

/* Second pass. The first one has checked shapes, counts and children of loops. */
static int read_node(reader *r, weir_pattern *p, int32_t number)
{
    enum shape shape = (enum shape)get(r);
    wr_node *n = &p->node[number];
    *n = (wr_node){.kind = shape == LEAF   ? WR_LEAF
                           : shape == LOOP ? WR_LOOP
                                           : WR_LIST,
                   .child = -1,
                   .kid = -1,
                   .count = (int64_t)get(r)};
    if (shape == LOOP)
        n->stride = get_signed(r);
    if (shape == LOOP || shape == UNIFORM)
        n->child = (int32_t)get(r);
    if (n->kind == WR_LIST) {
        n->word = p->words;
        read_offsets(r, p, n->count);
    }
    if (shape == MIXED)
        n->kid = p->kids;
    if (shape == RUNS || shape == MIXED)
        read_lengths(r, p, n, shape, number);
    return r->bad ? WEIR_EFORMAT : wr_node_complete(p, n);
}

static int malformed(void)
{
    return wr_fail(WEIR_EFORMAT, "malformed pattern");
}

/* The empty pattern is a single leaf of 0 bytes at 0, which the passes above do not know. */
static const uint8_t empty_bytes[] = {VERSION, 0, 1, LEAF, 0};

static int decode_nodes(reader *r, weir_pattern *p)
{
    p->words = p->kids = 0;
    int code = 0;
    for (int32_t i = 0; !code && i < p->nodes; i++)
        code = read_node(r, p, i);
    if (!code)
        code = wr_pattern_check_origin(p);
    return code;
}

int wr_pattern_decode(const uint8_t *bytes, int64_t size, weir_pattern **out)
{
    if (size == sizeof empty_bytes && !memcmp(bytes, empty_bytes, sizeof empty_bytes))
        return weir_pattern_contiguous(0, 0, out);
    reader r = {bytes, bytes + size, false};
    get_within(&r, VERSION, VERSION);
    int64_t origin = get_signed(&r);
    weir_pattern need = {.nodes = (int32_t)get_within(&r, 1, size < INT32_MAX ? size : INT32_MAX)};
    const reader start = r;
    for (int32_t i = 0; !r.bad && i < need.nodes; i++)
        measure_node(&r, i, &need);
    if (r.bad || left(&r))
        return malformed();
    weir_pattern *p = wr_pattern_alloc(need.nodes, need.words, need.kids);
    if (!p)
        return WEIR_ENOMEM;
    p->origin = origin;
    r = start;
    if (decode_nodes(&r, p)) {
        weir_pattern_free(p);
        return malformed();
    }
    p->hash = wr_pattern_digest(p);
    *out = p;
    return 0;
}
