/* The walk over the windows of a realm. A window begins at the next wanted byte and ends where its
 * buffer is full; its cover is a clipped part of the realm (sieve) or a union of what is wanted
 * (list), whichever the access method picks. */
#include "plan/cover.h"

#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "plan/list_end.h"
#include "plan/method.h"
#include "plan/union.h"
#include "plan/window_cache.h"

enum { BITS = 64 };

void wr_windows_init(wr_windows *w, const wr_plan_input *in, const wr_plan *plan,
                     const weir_pattern *realm, int64_t count, const wr_want *wants)
{
    *w = (wr_windows){.in = in, .plan = plan, .realm = realm, .count = count, .wants = wants};
    w->at = plan->lo;
    const bool extent = wr_method_of(in) == &wr_methods[WR_ACCESS_EXTENT];
    wr_want_queue_init(&w->queue, count, wants, extent ? in->access_extent : INT64_MAX);
}

void wr_windows_release(wr_windows *w)
{
    wr_free(w->bits);
    wr_free(w->pieces);
    if (w->touching != w->few_touching)
        wr_free(w->touching);
    if (w->same != &w->few_same)
        wr_free(w->same);
    wr_want_queue_release(&w->queue);
    w->bits = w->same = NULL;
    w->pieces = NULL;
    w->touching = NULL;
}

/* 1 and the first wanted byte of the realm at or after w->at, 0 if there is none, or a negative
 * code. */
static int find_start(wr_windows *w, int64_t *lo)
{
    const wr_want realm = {.pattern = w->realm, .end = weir_pattern_bytes(w->realm)};
    int64_t x = w->at;
    for (;;) {
        int64_t wanted;
        int code = wr_want_queue_first(&w->queue, x, &wanted);
        if (code != 1)
            return code;
        if (!wr_want_first(&realm, wanted, lo))
            return 0;
        if (*lo == wanted)
            return 1;
        x = *lo;
    }
}

/* End of the last wanted byte below hi. */
static int64_t last_wanted(const wr_windows *w, int64_t lo, int64_t hi)
{
    const wr_queued *one;
    int64_t last = lo;
    if (w->queue.repeating)
        return hi; /* an earlier run may reach further */
    for (int64_t i = 0; (one = wr_want_queue_get(&w->queue, i, hi)); i++) {
        const wr_want *want = &w->wants[one->want];
        int64_t to = wr_min(wr_pattern_data_below(want->pattern, hi), want->end);
        last = wr_max(last, wr_pattern_offset(want->pattern, to - 1) + 1);
    }
    return last;
}

/* Where the realm, from lo on, has given `bytes` bytes: the end of the range they span. */
static int64_t realm_end(const wr_windows *w, int64_t lo, int64_t bytes)
{
    int64_t from = wr_pattern_data_below(w->realm, lo), first, end;
    int64_t to = wr_min(from + bytes, weir_pattern_bytes(w->realm));
    wr_pattern_bounds_of(w->realm, to - 1, to, &first, &end);
    return wr_min(end, w->plan->hi);
}

/* The end of the cell that has `lo`. */
static int64_t cell_end(const wr_windows *w, int64_t lo)
{
    int64_t from = wr_pattern_data_below(w->realm, lo);
    return realm_end(w, lo, w->plan->cell - from % w->plan->cell);
}

int64_t wr_windows_number(const wr_windows *w, int64_t offset)
{
    return wr_pattern_data_below(w->realm, offset) / w->plan->cell;
}

int wr_windows_cell(wr_windows *w, wr_window *out)
{
    *out = (wr_window){.fixed = true};
    int code = find_start(w, &out->lo);
    if (code == 1) {
        out->lo = wr_plan_down(w->in, out->lo);
        w->at = out->hi = cell_end(w, out->lo);
    }
    return code;
}

int wr_windows_prepare(wr_windows *w)
{
    int64_t lo;
    int code = find_start(w, &lo);
    return code < 0 ? code : 0;
}

static int cover_by_sieve(wr_windows *w, wr_window *out)
{
    int64_t end = wr_plan_up(w->in, last_wanted(w, out->lo, out->hi));
    int code = wr_pattern_clip(w->realm, out->lo, end, &out->cover);
    out->holes = out->overlap = true;
    if (!code && weir_pattern_footprint(out->cover) > WR_COVER_BYTES)
        return wr_fail(WEIR_EUNSUPPORTED, "a realm in too many pieces");
    if (code || w->in->direction == WR_READ)
        return code;
    return wr_union_survey(w, out); /* a write must know */
}

/* The granules that are wanted. */
static int cover_granules(wr_windows *w, wr_window *out)
{
    out->method = "list";
    out->reason = "whole tiles";
    int code = wr_union_granules(w, realm_end(w, out->lo, INT64_MAX / 2), out);
    if (code == 1) {
        out->method = "sieve";
        out->reason = "too many tiles to list";
    }
    return code;
}

/* What is wanted of a window, exactly or, across small gaps, more; 1: too many runs. A window that
 * must be exact becomes smaller then. */
static int cover_by_list(wr_windows *w, wr_window *out)
{
    const int64_t end = out->hi;
    int code = 0;
    if (!out->fixed)
        code = wr_list_end(w, out->lo, realm_end(w, out->lo, INT64_MAX / 2), &out->hi);
    if (!code)
        code = wr_union_list(w, wr_method_gap(w), out);
    while (code == 1 && wr_plan_is_exact(w->in) && out->hi - out->lo > 1) {
        if (out->fixed)
            return wr_fail(WEIR_EUNSUPPORTED, "too many pieces in %lld bytes between nodes",
                           (long long)w->plan->cell);
        out->hi = out->lo + (out->hi - out->lo) / 2;
        code = wr_union_list(w, 0, out);
    }
    if (code == 1) {
        out->hi = end;
        out->method = "sieve";
        out->reason = "too many runs to list";
    }
    return code;
}

static int make_next(wr_windows *w, wr_window *out)
{
    *out = (wr_window){0};
    int code = find_start(w, &out->lo);
    if (code != 1)
        return code;
    out->lo = wr_plan_down(w->in, out->lo);
    out->fixed = w->plan->cell;
    out->hi = out->fixed ? cell_end(w, out->lo) : realm_end(w, out->lo, w->plan->window);
    code = wr_want_queue_reach(&w->queue, out->lo, out->hi, INT64_MAX);
    if (code)
        return code;
    if (w->in->granule) {
        code = cover_granules(w, out);
        if (code == 1)
            code = cover_by_sieve(w, out);
        return code ? code : 1;
    }
    const wr_method *method = wr_method_of(w->in);
    out->reason = method->why;
    code = method->choose ? method->choose(w, out->lo, out->hi, &out->reason) : method->sieve;
    out->method = code == 1 ? "sieve" : "list";
    if (wr_plan_is_exact(w->in))
        out->reason = w->in->write_behind ? "written behind" : "holes cannot be written back";
    if (code == 0)
        code = cover_by_list(w, out);
    if (code == 1)
        code = cover_by_sieve(w, out);
    return code ? code : 1;
}

int wr_windows_next(wr_windows *w, wr_window *out)
{
    int code;
    if (w->repeats) {
        code = w->number < w->window_cache->count;
        if (code)
            *out = w->window_cache->window[w->number];
    } else {
        code = make_next(w, out);
        if (code < 0)
            wr_window_release(out);
        if (w->window_cache)
            wr_window_cache_note(w->window_cache, code, out);
    }
    if (code != 1)
        return code;
    w->number++;
    w->at = out->hi;
    return 1;
}

int wr_windows_list(wr_windows *w, wr_window *window)
{
    wr_window exact = {.lo = window->lo,
                       .hi = window->hi,
                       .fixed = true,
                       .method = "list",
                       .reason = "no lock in time"};
    int code = w->in->granule ? 1 : wr_union_list(w, 0, &exact);
    if (code)
        return code;
    wr_window_release(window);
    *window = exact;
    return 0;
}

/* For the numbers of all wants, and a bit for each. */
static int64_t *touching_room(wr_windows *w, int64_t words)
{
    if (!w->touching)
        w->touching = w->count <= WR_FEW_WANTS
                          ? w->few_touching
                          : wr_alloc_array(w->count + words, sizeof *w->touching);
    return w->touching;
}

int64_t wr_windows_touching(wr_windows *w, const wr_window *window, const int64_t **list)
{
    const int64_t words = wr_div_ceil(w->count, BITS);
    int64_t *numbers = touching_room(w, words), count = 0;
    int code =
        numbers ? wr_want_queue_reach(&w->queue, window->lo, window->hi, INT64_MAX) : WEIR_ENOMEM;
    if (code)
        return code;
    uint64_t *bits = (uint64_t *)(numbers + w->count);
    memset(bits, 0, (size_t)words * sizeof *bits);
    const wr_queued *one;
    for (int64_t i = 0; (one = wr_want_queue_get(&w->queue, i, window->hi)); i++)
        bits[one->want / BITS] |= UINT64_C(1) << one->want % BITS;
    for (int64_t i = 0; i < words; i++)
        for (uint64_t left = bits[i]; left; left &= left - 1)
            numbers[count++] = i * BITS + __builtin_ctzll(left);
    *list = numbers;
    return count;
}

bool wr_windows_end(wr_windows *w)
{
    int64_t lo;
    return w->repeats ? w->number >= w->window_cache->count : find_start(w, &lo) == 0;
}
