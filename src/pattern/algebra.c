/* Overlap and union. */
#include "pattern/algebra.h"

#include <stdlib.h>

#include "base/arith.h"
#include "base/error.h"
#include "pattern/build.h"
#include "pattern/meet.h"

enum {
    STEPS = 64,    /* pairs of loops compared before giving up */
    SEEKS = 64,    /* steps of a search for a common byte before giving up */
    FEW_RUNS = 64, /* runs that are sorted rather than reasoned about */
};

/* Where a node stands. */
typedef struct part {
    const weir_pattern *p;
    const wr_node *n;
    int64_t base;
} part;

static part root_part(const weir_pattern *p)
{
    return (part){p, wr_pattern_root(p), p->origin};
}

static part loop_body(part x)
{
    return (part){x.p, &x.p->node[x.n->child], x.base};
}

static bool apart(part a, part b)
{
    return a.base + a.n->hi <= b.base || b.base + b.n->hi <= a.base;
}

static enum wr_answer overlap(part a, part b, int *steps);

/* Two loops of one stride whose iterations do not reach into one another: the first iteration of
 * one, moved by whole strides next to an iteration of the other, tells it all. */
static enum wr_answer overlap_in_step(part a, part b, int *steps)
{
    int64_t stride = a.n->stride, shift = wr_div_floor(b.base - a.base, stride);
    enum wr_answer answer = WR_NO;
    for (int64_t q = shift; q <= shift + 1; q++) {
        /* iteration j of b meets iteration j + q of a, for some j in both ranges */
        if (q > a.n->count - 1 || q < 1 - b.n->count)
            continue;
        part x = loop_body(a), y = loop_body(b);
        x.base += q * stride;
        enum wr_answer one = overlap(x, y, steps);
        if (one == WR_YES)
            return WR_YES;
        if (one == WR_MAYBE)
            answer = WR_MAYBE;
    }
    return answer;
}

/* Two loops: no byte in common if their bodies miss each other at every distance that multiples of
 * the strides' greatest common divisor allow. */
static bool miss_by_divisor(part a, part b)
{
    int64_t step = wr_gcd(a.n->stride, b.n->stride);
    const wr_node *x = loop_body(a).n, *y = loop_body(b).n;
    if (step == 0)
        return false;
    int64_t distance = b.base - a.base - wr_div_floor(b.base - a.base, step) * step;
    return distance >= x->hi && distance + y->hi <= step;
}

static enum wr_answer overlap(part a, part b, int *steps)
{
    if (apart(a, b))
        return WR_NO;
    if (--*steps < 0)
        return WR_MAYBE;
    if (a.n->kind == WR_LEAF && b.n->kind == WR_LEAF)
        return WR_YES;
    if (a.n->kind != WR_LOOP || b.n->kind != WR_LOOP)
        return WR_MAYBE;
    if (miss_by_divisor(a, b))
        return WR_NO;
    bool in_step = a.n->stride == b.n->stride && loop_body(a).n->hi <= a.n->stride &&
                   loop_body(b).n->hi <= b.n->stride;
    return in_step ? overlap_in_step(a, b, steps) : WR_MAYBE;
}

/* Leapfrog for a common byte, for a limited number of seeks. */
static enum wr_answer search(const weir_pattern *a, const weir_pattern *b)
{
    wr_cursor x, y;
    wr_batch r, s;
    wr_cursor_init(&x, a);
    wr_cursor_init(&y, b);
    for (int i = 0; i < SEEKS; i++) {
        if (!wr_cursor_peek(&x, &r) || !wr_cursor_peek(&y, &s))
            return WR_NO;
        if (r.offset + r.run <= s.offset)
            wr_cursor_seek_offset(&x, s.offset);
        else if (s.offset + s.run <= r.offset)
            wr_cursor_seek_offset(&y, r.offset);
        else
            return WR_YES;
    }
    return WR_MAYBE;
}

enum wr_answer wr_pattern_overlap(const weir_pattern *a, const weir_pattern *b)
{
    if (!weir_pattern_bytes(a) || !weir_pattern_bytes(b))
        return WR_NO;
    int steps = STEPS;
    enum wr_answer answer = overlap(root_part(a), root_part(b), &steps);
    return answer == WR_MAYBE ? search(a, b) : answer;
}

static int compare_runs(const void *a, const void *b)
{
    const wr_term *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorts runs and joins those that touch or overlap; returns how many are left. */
static int64_t merge_runs(wr_term *runs, int64_t count)
{
    int64_t kept = 0;
    qsort(runs, (size_t)count, sizeof *runs, compare_runs);
    for (int64_t i = 0; i < count; i++) {
        wr_term *last = kept ? &runs[kept - 1] : NULL;
        if (last && runs[i].offset <= last->offset + last->run)
            last->run = wr_max(last->run, runs[i].offset + runs[i].run - last->offset);
        else
            runs[kept++] = runs[i];
    }
    return kept;
}

/* All runs of a part, appended to runs[*used]. */
static void list_runs(part x, wr_term *runs, int64_t *used)
{
    if (x.n->kind == WR_LEAF) {
        runs[(*used)++] = wr_term_run(x.base, x.n->count);
        return;
    }
    for (int64_t i = 0; i < x.n->count; i++) {
        wr_entry e = wr_entry_get(x.p, x.n, i);
        if (e.child)
            list_runs((part){x.p, e.child, x.base + e.place}, runs, used);
        else
            runs[(*used)++] = wr_term_run(x.base + e.place, e.run);
    }
}

static int unite_runs(wr_builder *b, int64_t count, const part *parts, int64_t runs, wr_term *out)
{
    wr_term *terms = wr_build_terms(b, runs);
    int64_t used = 0;
    if (!terms)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < count; i++)
        list_runs(parts[i], terms, &used);
    return wr_build_list(b, merge_runs(terms, used), terms, out);
}

/* Whether all parts are loops of one count and stride that together fit into one stride. */
static bool in_step(int64_t count, const part *parts)
{
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (int64_t i = 0; i < count; i++) {
        const wr_node *n = parts[i].n;
        if (n->kind != WR_LOOP || n->count != parts[0].n->count || n->stride != parts[0].n->stride)
            return false;
        lo = wr_min(lo, parts[i].base);
        hi = wr_max(hi, parts[i].base + loop_body(parts[i]).n->hi);
    }
    return hi - lo <= parts[0].n->stride;
}

/* Consumes `parts`. */
static int unite(wr_builder *b, int64_t count, part *parts, wr_term *out)
{
    int64_t runs = 0;
    for (int64_t i = 0; i < count && runs <= FEW_RUNS; i++)
        runs = parts[i].n->runs > FEW_RUNS ? FEW_RUNS + 1 : runs + parts[i].n->runs;
    if (runs <= FEW_RUNS)
        return unite_runs(b, count, parts, runs, out);
    if (!in_step(count, parts))
        return 1;
    int64_t times = parts[0].n->count, stride = parts[0].n->stride;
    for (int64_t i = 0; i < count; i++)
        parts[i] = loop_body(parts[i]);
    wr_term body;
    int code = unite(b, count, parts, &body);
    return code ? code : wr_build_loop(b, times, stride, body, out);
}

int wr_pattern_union(int64_t count, const weir_pattern *const *patterns, weir_pattern **out)
{
    wr_builder b = {0};
    wr_term all = WR_TERM_EMPTY;
    part *parts = wr_arena_alloc(&b.scratch, count * (int64_t)sizeof *parts);
    int64_t used = 0;
    int code = parts ? 0 : WEIR_ENOMEM;
    for (int64_t i = 0; !code && i < count; i++)
        if (weir_pattern_bytes(patterns[i]))
            parts[used++] = root_part(patterns[i]);
    if (!code)
        code = unite(&b, used, parts, &all);
    return wr_build_end(&b, code, all, out);
}
