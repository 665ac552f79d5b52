/* The walk over the windows of a realm. A window begins at the next wanted byte and ends where its
 * buffer is full; its cover is a clipped part of the realm (sieve) or a union of what is wanted
 * (list), whichever the access method picks. */
#include "plan/cover.h"

#include "base/arith.h"
#include "base/error.h"
#include "pattern/meet.h"
#include "plan/method.h"
#include "plan/union.h"
#include "plan/window_cache.h"

void wr_windows_init(wr_windows *w, const wr_plan_input *in, const wr_plan *plan,
                     const weir_pattern *realm, int64_t count, const wr_want *wants)
{
    *w = (wr_windows){.in = in, .plan = plan, .realm = realm, .count = count, .wants = wants};
    w->at = plan->lo;
}

void wr_windows_release(wr_windows *w)
{
    wr_free(w->bits);
    wr_free(w->pieces);
    w->bits = NULL;
    w->pieces = NULL;
}

/* First byte at or after x that a rank wants; false if there is none. */
static bool first_wanted(const wr_want *want, int64_t x, int64_t *offset)
{
    wr_cursor c;
    wr_batch b;
    wr_cursor_init(&c, want->pattern);
    wr_cursor_limit(&c, want->begin, want->end);
    wr_cursor_seek_offset(&c, x);
    do /* a run that `end` cuts may end before x */
        if (!wr_cursor_next_run(&c, INT64_MAX, &b))
            return false;
    while (b.offset + b.run <= x);
    *offset = wr_max(b.offset, x);
    /* the rest of a run that `begin` cuts may lie behind the start of the next one */
    if (*offset > x && !weir_pattern_is_disjoint(want->pattern) &&
        wr_cursor_next_run(&c, INT64_MAX, &b) && b.offset + b.run > x)
        *offset = wr_min(*offset, wr_max(b.offset, x));
    return true;
}

bool wr_want_touches(const wr_want *want, int64_t lo, int64_t hi)
{
    int64_t first;
    return first_wanted(want, lo, &first) && first < hi;
}

bool wr_want_meets(const wr_want *want, const weir_pattern *realm)
{
    wr_meet meet;
    wr_meeting m;
    wr_meet_init(&meet, want->pattern, realm);
    wr_cursor_limit(&meet.a, want->begin, want->end);
    return wr_meet_next(&meet, &m);
}

int64_t wr_wants_keep(const weir_pattern *realm, int64_t count, wr_want *wants)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
        if (wr_want_meets(&wants[i], realm)) {
            wr_want met = wants[i];
            wants[i] = wants[kept];
            wants[kept++] = met;
        }
    return kept;
}

/* The first wanted byte of the realm at or after w->at; false if there is none. */
static bool find_start(const wr_windows *w, int64_t *lo)
{
    int64_t x = w->at;
    const wr_want realm = {.pattern = w->realm, .end = weir_pattern_bytes(w->realm)};
    for (;;) {
        int64_t wanted = INT64_MAX, own;
        for (int64_t i = 0; i < w->count; i++) {
            int64_t first;
            if (first_wanted(&w->wants[i], x, &first))
                wanted = wr_min(wanted, first);
        }
        if (wanted == INT64_MAX || !first_wanted(&realm, wanted, &own))
            return false;
        *lo = own;
        if (own == wanted)
            return true;
        x = own;
    }
}

/* End of the last wanted byte below hi. */
static int64_t last_wanted(const wr_windows *w, int64_t lo, int64_t hi)
{
    int64_t last = lo;
    for (int64_t i = 0; i < w->count; i++) {
        const wr_want *want = &w->wants[i];
        int64_t to = wr_min(wr_pattern_data_below(want->pattern, hi), want->end), first, end;
        if (!weir_pattern_is_disjoint(want->pattern))
            end = hi; /* an earlier run may reach further */
        else if (to > want->begin)
            wr_pattern_bounds_of(want->pattern, to - 1, to, &first, &end);
        else
            continue;
        last = wr_max(last, wr_min(end, hi));
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

bool wr_windows_cell(wr_windows *w, wr_window *out)
{
    *out = (wr_window){.fixed = true};
    if (!find_start(w, &out->lo))
        return false;
    w->at = out->hi = cell_end(w, out->lo);
    return true;
}

/* The furthest end at which what is wanted fits the window and its runs are few enough to list. */
static int64_t list_end(const wr_windows *w, int64_t lo, int64_t least)
{
    int64_t good = least, bad = realm_end(w, lo, INT64_MAX / 2) + 1, bytes, runs;
    while (bad - good > 1) {
        int64_t mid = good + (bad - good) / 2;
        wr_windows_measure(w, lo, mid, &bytes, &runs);
        if (bytes <= w->plan->window && runs <= WR_PIECES / 2)
            good = mid;
        else
            bad = mid;
    }
    return good;
}

static int cover_by_sieve(wr_windows *w, wr_window *out)
{
    int64_t end = last_wanted(w, out->lo, out->hi);
    int code = wr_pattern_clip(w->realm, out->lo, end, &out->cover);
    out->holes = out->overlap = true;
    if (code || w->in->direction == WR_READ)
        return code;
    code = wr_union_survey(w, out); /* a write must know */
    if (code)
        weir_pattern_free(out->cover);
    return code;
}

static int make_next(wr_windows *w, wr_window *out)
{
    *out = (wr_window){0};
    if (!find_start(w, &out->lo))
        return 0;
    out->fixed = w->plan->cell;
    out->hi = out->fixed ? cell_end(w, out->lo) : realm_end(w, out->lo, w->plan->window);
    const int64_t end = out->hi;
    const wr_method *method = wr_method_of(w->in);
    out->reason = method->why;
    int code = method->choose ? method->choose(w, out->lo, out->hi, &out->reason) : method->sieve;
    out->method = code == 1 ? "sieve" : "list";
    if (wr_plan_is_exact(w->in))
        out->reason = w->in->write_behind ? "written behind" : "holes cannot be written back";
    if (code == 0) {
        if (!out->fixed)
            out->hi = list_end(w, out->lo, out->hi);
        code = wr_union_list(w, wr_method_gap(w), out);
        while (code == 1 && wr_plan_is_exact(w->in) && out->hi - out->lo > 1) {
            if (out->fixed)
                return wr_fail(WEIR_EUNSUPPORTED, "too many pieces in %lld bytes between nodes",
                               (long long)w->plan->cell);
            out->hi = out->lo + (out->hi - out->lo) / 2;
            code = wr_union_list(w, 0, out);
        }
        if (code == 1) { /* more runs than can be listed */
            out->hi = end;
            out->method = "sieve";
            out->reason = "too many runs to list";
        }
    }
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
    int code = wr_union_list(w, 0, &exact);
    if (code)
        return code;
    wr_window_release(window);
    *window = exact;
    return 0;
}

bool wr_windows_end(const wr_windows *w)
{
    int64_t lo;
    return w->repeats ? w->number >= w->window_cache->count : !find_start(w, &lo);
}
