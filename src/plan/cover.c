/* The walk over windows, and the choice of an access method for each. "A New Flexible MPI
 * Collective I/O Implementation", sections 5.1 and 6.3: the method below the collective buffer may
 * change from window to window; the rule of section 6.3 is access=extent. */
#include "plan/cover.h"

#include "base/arith.h"
#include "base/error.h"
#include "pattern/meet.h"
#include "plan/course.h"
#include "plan/union.h"

enum { SAMPLE = 8 };

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

/* Data of one rank in [lo, hi). */
static int64_t data_within(const wr_want *want, int64_t lo, int64_t hi)
{
    int64_t from = wr_max(wr_pattern_data_below(want->pattern, lo), want->begin);
    int64_t to = wr_min(wr_pattern_data_below(want->pattern, hi), want->end);
    return wr_max(0, to - from);
}

/* What all ranks want in [lo, hi): bytes, and an estimate of runs. */
static void measure(const wr_windows *w, int64_t lo, int64_t hi, int64_t *bytes, int64_t *runs)
{
    *bytes = *runs = 0;
    for (int64_t i = 0; i < w->count; i++) {
        const wr_node *root = wr_pattern_root(w->wants[i].pattern);
        int64_t data = data_within(&w->wants[i], lo, hi);
        *bytes += data;
        *runs += data ? data / wr_max(1, root->bytes / root->runs) + 1 : 0;
    }
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

/* The furthest end at which what is wanted fits the window and its runs are few enough to list. */
static int64_t list_end(const wr_windows *w, int64_t lo, int64_t least)
{
    int64_t good = least, bad = realm_end(w, lo, INT64_MAX / 2) + 1, bytes, runs;
    while (bad - good > 1) {
        int64_t mid = good + (bad - good) / 2;
        measure(w, lo, mid, &bytes, &runs);
        if (bytes <= w->plan->window && runs <= WR_PIECES / 2)
            good = mid;
        else
            bad = mid;
    }
    return good;
}

static int64_t price(int64_t calls, int64_t bytes, int64_t call_ns, int64_t mib_ns)
{
    return calls * call_ns + ((bytes >> 6) * mib_ns >> 14);
}

static int64_t innermost_stride(const wr_want *want, int64_t lo)
{
    wr_cursor c;
    wr_batch b = {0};
    wr_cursor_init(&c, want->pattern);
    wr_cursor_limit(&c, want->begin, want->end);
    wr_cursor_seek_offset(&c, lo);
    wr_cursor_peek(&c, &b);
    return b.count > 1 ? b.stride : b.run;
}

/* The rule of section 6.3: sieve where pieces are close, one call a piece where they are far apart.
 */
static bool within_extent(const wr_windows *w, int64_t lo)
{
    for (int64_t i = 0; i < w->count; i++)
        if (innermost_stride(&w->wants[i], lo) > w->in->access_extent)
            return false;
    return true;
}

/* Runs closer than this are joined: a gap costs less than a call. When writing, what is joined must
 * also be read before. */
static int64_t gap_worth(const wr_windows *w)
{
    const wr_plan_input *in = w->in;
    if (in->access == WR_ACCESS_LIST || in->access == WR_ACCESS_NAIVE ||
        in->access == WR_ACCESS_EXTENT || in->blind)
        return 0;
    int64_t mib_ns = in->mib_ns;
    if (in->direction == WR_WRITE)
        mib_ns = wr_min(in->mib_ns, in->read_mib_ns) + 2 * in->read_mib_ns;
    int64_t call_ns = in->call_ns - (in->direction == WR_WRITE ? in->read_call_ns : 0);
    return call_ns > 0 ? (call_ns << 20) / wr_max(1, mib_ns) : 0;
}

/* By the first part of the window, which is listed to see: 1, 0 or a negative code. */
static int sieve_is_cheaper(wr_windows *w, int64_t lo, int64_t hi)
{
    const wr_plan_input *in = w->in;
    bool write = in->direction == WR_WRITE;
    int64_t bytes, runs;
    measure(w, lo, hi, &bytes, &runs);
    if (2 * bytes >= hi - lo || runs <= 1)
        return 1;
    wr_window part = {.lo = lo, .hi = lo + wr_max(1, (hi - lo) / SAMPLE)};
    int code = wr_union_count(w, gap_worth(w), &part, &runs, &bytes);
    if (code)
        return code;
    int64_t span = part.hi - part.lo;
    int64_t list = price(runs, bytes, in->call_ns, in->mib_ns);
    int64_t exists = write ? wr_min(in->mib_ns, in->read_mib_ns) : in->mib_ns;
    int64_t sieve = price(1, span, in->call_ns / SAMPLE, exists);
    if (write && part.holes)
        list += price(runs, bytes, in->read_call_ns, in->read_mib_ns);
    if (write)
        sieve += price(1, span, in->read_call_ns / SAMPLE, in->read_mib_ns);
    return sieve <= list;
}

static int choose_sieve(wr_windows *w, int64_t lo, int64_t hi, wr_window *out)
{
    int sieve;
    switch (w->in->blind ? WR_ACCESS_LIST : w->in->access) {
    case WR_ACCESS_SIEVE:
        out->reason = "access=sieve";
        sieve = true;
        break;
    case WR_ACCESS_LIST:
        out->reason = w->in->blind ? "the file cannot be read" : "access=list";
        sieve = false;
        break;
    case WR_ACCESS_NAIVE:
        out->reason = "access=naive";
        sieve = false;
        break;
    case WR_ACCESS_EXTENT:
        sieve = within_extent(w, lo);
        out->reason = sieve ? "stride within the extent" : "stride beyond the extent";
        break;
    default:
        sieve = sieve_is_cheaper(w, lo, hi);
        out->reason = sieve ? "one call is cheaper than many" : "wide gaps cost more than calls";
    }
    out->method = sieve ? "sieve" : "list";
    return sieve;
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
    out->hi = realm_end(w, out->lo, w->plan->window);
    int code = choose_sieve(w, out->lo, out->hi, out);
    if (code == 0) {
        out->hi = list_end(w, out->lo, out->hi);
        code = wr_union_list(w, gap_worth(w), out);
        while (code == 1 && w->in->blind && out->hi - out->lo > 1) {
            out->hi = out->lo + (out->hi - out->lo) / 2;
            code = wr_union_list(w, 0, out);
        }
        if (code == 1) { /* more runs than can be listed */
            out->hi = realm_end(w, out->lo, w->plan->window);
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
        code = w->number < w->course->count;
        if (code)
            *out = w->course->window[w->number];
    } else {
        code = make_next(w, out);
        if (w->course)
            wr_course_note(w->course, code, out);
    }
    if (code != 1)
        return code;
    w->number++;
    w->at = out->hi;
    return 1;
}

bool wr_windows_end(const wr_windows *w)
{
    int64_t lo;
    return w->repeats ? w->number >= w->course->count : !find_start(w, &lo);
}
