/* Two loops of one stride are compared by one pair of iterations, loops of other strides by their
 * greatest common divisor; what is left is searched, for a limited time. */
#include "pattern/overlap.h"

#include "base/arith.h"
#include "pattern/meet.h"

enum {
    STEPS = 64, /* pairs of loops compared before giving up */
    SEEKS = 64, /* steps of a search for a common byte before giving up */
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
    int64_t distance = b.base - a.base - wr_round_down(b.base - a.base, step);
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
