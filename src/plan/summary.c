/* Summaries: of a request, of the ranks of a node, of nodes. */
#include <string.h>

#include "base/arith.h"
#include "plan/plan.h"

/* The outermost loop that the data [begin, end) take more than one step of. */
static void find_steps(const weir_pattern *p, int64_t begin, int64_t end, wr_summary *out)
{
    const wr_node *n = wr_pattern_root(p);
    out->step_at = p->origin;
    while (n->kind == WR_LOOP) {
        const wr_node *step = &p->node[n->child];
        int64_t first = begin / step->bytes, last = (end - 1) / step->bytes;
        if (first < last) {
            out->stride = n->stride;
            out->steps = last - first + 1;
            out->step_bytes = step->bytes;
            out->step_runs = step->runs;
            out->step_span = out->step_hi = step->hi;
            return;
        }
        out->step_at += first * n->stride;
        begin -= first * step->bytes;
        end -= first * step->bytes;
        n = step;
    }
}

void wr_summary_set(wr_summary *out, const weir_pattern *pattern, int64_t begin, int64_t end)
{
    memset(out, 0, sizeof *out);
    if (begin >= end)
        return;
    const wr_node *root = wr_pattern_root(pattern);
    out->bytes = end - begin;
    out->active = out->apart = 1;
    /* the share of the runs that the share of the data has, at least one */
    out->runs = root->runs == 1 ? 1 : wr_max(1, out->bytes / wr_max(1, root->bytes / root->runs));
    out->most_runs = wr_min(root->runs, out->bytes);
    out->once_runs = out->runs;
    wr_pattern_bounds_of(pattern, begin, end, &out->lo, &out->hi);
    out->spans = out->hi - out->lo;
    out->once_bytes = wr_min(out->bytes, out->spans);
    find_steps(pattern, begin, end, out);
}

/* Where all are loops of one stride, what a step of them together spans. */
static void join_steps(wr_summary *all, const wr_summary *part)
{
    if (all->stride != part->stride || all->stride <= 0) {
        all->stride = 0;
        return;
    }
    int64_t shift = part->step_at - all->step_at;
    shift -= wr_div_floor(shift, all->stride) * all->stride;
    if (shift > all->stride / 2)
        shift -= all->stride;
    all->steps += part->steps;
    all->step_lo = wr_min(all->step_lo, shift);
    all->step_hi = wr_max(all->step_hi, shift + part->step_hi);
    all->step_span = wr_max(all->step_span, part->step_span);
    all->step_bytes = wr_max(all->step_bytes, part->step_bytes);
    all->step_runs = wr_max(all->step_runs, part->step_runs);
}

int64_t wr_summary_steps(const wr_summary *w)
{
    return wr_min(w->steps, (w->hi - w->lo) / w->stride + 1);
}

int64_t wr_summary_step(const wr_summary *w)
{
    return wr_min(w->step_hi - w->step_lo, w->stride);
}

/* Ranks that begin at the same place of a stride want the same runs; others fill what their step
 * spans, or have as many runs as they say. */
static void estimate_once(wr_summary *all)
{
    int64_t span = all->hi - all->lo, bytes;
    all->once_bytes = wr_min(all->bytes, span);
    all->once_runs = all->bytes < span ? all->runs : 1;
    if (all->stride <= 0)
        return;
    int64_t steps = wr_summary_steps(all);
    bool same = wr_summary_step(all) == all->step_span;
    if (wr_mul(steps, same ? all->step_bytes : wr_summary_step(all), &bytes))
        all->once_bytes = wr_min(all->once_bytes, bytes);
    if (same)
        all->once_runs = wr_min(all->runs, steps * all->step_runs);
    else if (all->bytes / steps >= wr_summary_step(all))
        all->once_runs = wr_min(all->runs, steps);
}

void wr_summary_add(wr_summary *all, const wr_summary *part)
{
    if (part->lo == part->hi)
        return;
    if (!all->active) {
        *all = *part;
        return;
    }
    int64_t spans, most;
    all->apart = all->apart && part->apart && part->lo >= all->hi;
    join_steps(all, part);
    all->lo = wr_min(all->lo, part->lo);
    all->hi = wr_max(all->hi, part->hi);
    all->bytes += part->bytes;
    all->runs += part->runs;
    all->most_runs = wr_add(all->most_runs, part->most_runs, &most) ? most : INT64_MAX;
    all->spans = wr_add(all->spans, part->spans, &spans) ? spans : INT64_MAX;
    all->active += part->active;
    estimate_once(all);
}

/* --- nodes --- */

static int64_t modulo(int64_t x, int64_t size)
{
    return x - wr_div_floor(x, size) * size;
}

/* Where a place of the steps lies in a stride. */
static int64_t place_of(const wr_summary *w, int64_t step)
{
    return modulo(modulo(w->step_at, w->stride) + modulo(step, w->stride), w->stride);
}

/* What the steps of the nodes span: one node's after the other's, in the order of nodes, or all the
 * same, or, where neither is so, a whole stride. Only sums and what is sticky is kept, so that any
 * grouping of adjacent nodes gives the same. */
static void join_node_steps(wr_summary *all, const wr_summary *next)
{
    if (all->stride != next->stride || all->stride <= 0) {
        all->loose |= WR_STEPS_MEET | WR_STEPS_DIFFER;
        all->stride = all->steps = all->step_bytes = all->step_runs = 0;
        all->step_span = all->step_lo = all->step_hi = all->step_at = 0;
        return;
    }
    const int64_t stride = all->stride;
    const int64_t own = all->step_hi - all->step_lo, theirs = next->step_hi - next->step_lo;
    const int64_t gap = modulo(place_of(next, next->step_lo) - place_of(all, all->step_hi), stride);
    if (own > stride || theirs > stride || own + gap > stride - theirs)
        all->loose |= WR_STEPS_MEET;
    if (own != theirs || place_of(all, all->step_lo) != place_of(next, next->step_lo))
        all->loose |= WR_STEPS_DIFFER;
    if (!(all->loose & WR_STEPS_MEET))
        all->step_hi = all->step_lo + own + gap + theirs;
    else if (all->loose & WR_STEPS_DIFFER)
        all->step_hi = all->step_lo + stride;
    all->steps += next->steps;
    all->step_span = wr_max(all->step_span, next->step_span);
    all->step_bytes = wr_max(all->step_bytes, next->step_bytes);
    all->step_runs = wr_max(all->step_runs, next->step_runs);
}

void wr_summary_add_node(wr_summary *all, const wr_summary *next)
{
    if (next->lo == next->hi)
        return;
    if (!all->active) {
        *all = *next;
        return;
    }
    int64_t spans, most;
    all->loose |= next->loose | (next->lo < all->hi ? WR_NOT_ASCENDING : 0) |
                  (all->lo < next->hi ? WR_NOT_DESCENDING : 0);
    all->apart = all->apart && next->apart && !wr_summary_nodes_mix(all);
    join_node_steps(all, next);
    all->lo = wr_min(all->lo, next->lo);
    all->hi = wr_max(all->hi, next->hi);
    all->bytes += next->bytes;
    all->runs += next->runs;
    all->most_runs = wr_add(all->most_runs, next->most_runs, &most) ? most : INT64_MAX;
    all->spans = wr_add(all->spans, next->spans, &spans) ? spans : INT64_MAX;
    all->active += next->active;
    all->once_bytes += next->once_bytes;
    all->once_runs += next->once_runs;
}

void wr_summary_end_nodes(wr_summary *all)
{
    const int64_t bytes = all->once_bytes, runs = all->once_runs;
    if (!all->active)
        return;
    estimate_once(all);
    all->once_bytes = wr_min(all->once_bytes, bytes);
    all->once_runs = wr_min(all->once_runs, runs);
}
