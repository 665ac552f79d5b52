/* Unions of what ranks want in a window. Pieces of all ranks are merged in order and joined across
 * small gaps; where there are too many to list, a bitmap of granules tells whether holes or overlap
 * are left. */
#include "plan/union.h"

#include <assert.h>
#include <string.h>

#include "base/arith.h"
#include "pattern/meet.h"

enum { BITS = 64, MOST_WORDS = 32 << 10 };

/* [lo, hi) of the file. */
typedef struct wr_piece {
    int64_t lo, hi;
} wr_piece;

/* How pieces are joined. */
typedef struct wr_joining {
    int64_t gap, spare;
} wr_joining;

/* What one rank wants of the window and the realm, as batches. */
static void start(const wr_windows *w, const wr_want *want, const wr_window *at, wr_meet *meet)
{
    wr_meet_init(meet, want->pattern, w->realm);
    wr_cursor_limit(&meet->a, want->begin, want->end);
    wr_cursor_clip(&meet->a, at->lo, at->hi);
}

void *wr_union_room(wr_windows *w)
{
    static_assert(sizeof *w->pieces * 2 * WR_PIECES == WR_UNION_ROOM, "pieces, and as many spare");
    if (!w->pieces)
        w->pieces = wr_alloc(WR_UNION_ROOM);
    return w->pieces;
}

/* Merges two sorted stretches, [0, half) and [half, count), through `spare`. */
static void merge(wr_piece *pieces, int64_t half, int64_t count, wr_piece *spare)
{
    int64_t left = 0, right = half, out = 0;
    memcpy(spare, pieces, (size_t)half * sizeof *spare);
    while (left < half && right < count)
        pieces[out++] = pieces[right].lo < spare[left].lo ? pieces[right++] : spare[left++];
    memcpy(pieces + out, spare + left, (size_t)(half - left) * sizeof *spare);
}

/* Sorts by merging neighbours of the stretches that are in order already: one for each rank. */
static void sort_pieces(wr_piece *pieces, int64_t count, wr_piece *spare)
{
    for (bool again = true; again;) {
        again = false;
        for (int64_t at = 0; at < count;) {
            int64_t half = at + 1, end;
            while (half < count && pieces[half].lo >= pieces[half - 1].lo)
                half++;
            for (end = half + 1; end < count && pieces[end].lo >= pieces[end - 1].lo; end++)
                ;
            if (half < count)
                merge(pieces + at, half - at, end - at, spare);
            again = again || (half < count && end < count);
            at = end;
        }
    }
}

static bool is_same(const wr_want *x, const wr_want *y)
{
    return x->begin == y->begin && x->end == y->end &&
           wr_hash_equal(x->pattern->hash, y->pattern->hash);
}

static void mark_same(wr_windows *w, int64_t i)
{
    w->same[i / BITS] |= UINT64_C(1) << i % BITS;
    w->twice = true;
}

/* Of few wants, by comparing all. */
static void find_same_few(wr_windows *w)
{
    w->same = &w->few_same;
    for (int64_t i = 1; i < w->count; i++)
        for (int64_t k = 0; k < i; k++)
            if (is_same(&w->wants[k], &w->wants[i])) {
                mark_same(w, i);
                break;
            }
}

/* Of many, by a table of the first ones of each kind, of size `mask` + 1; 0 is an empty place. */
static void find_same_many(wr_windows *w, int32_t *table, uint64_t mask)
{
    memset(table, 0, (size_t)(mask + 1) * sizeof *table);
    for (int64_t i = 0; i < w->count; i++) {
        const wr_want *want = &w->wants[i];
        uint64_t place = want->pattern->hash.half[0] + (uint64_t)want->begin * 31 +
                         (uint64_t)want->end * UINT64_C(0x9e3779b97f4a7c15);
        for (place ^= place >> 32; table[place & mask]; place++)
            if (is_same(&w->wants[table[place & mask] - 1], want))
                break;
        if (table[place & mask])
            mark_same(w, i);
        else
            table[place & mask] = (int32_t)(i + 1);
    }
}

/* Marks wants that are the same as one before: whose pieces stand for both. */
static int find_same(wr_windows *w)
{
    if (w->count <= WR_FEW_WANTS) {
        find_same_few(w);
        return 0;
    }
    int64_t size = 64, words = wr_div_ceil(w->count, BITS);
    while (size < 2 * w->count)
        size *= 2;
    int32_t *table = wr_alloc_array(size, sizeof *table);
    w->same = table ? wr_alloc_array(words, sizeof *w->same) : NULL;
    if (w->same) {
        memset(w->same, 0, (size_t)words * sizeof *w->same);
        find_same_many(w, table, (uint64_t)size - 1);
    }
    wr_free(table);
    return w->same ? 0 : WEIR_ENOMEM;
}

/* Joins sorted pieces across gaps; what is said of the cover follows. Returns how many are left. A
 * last piece that the window's end may have cut, of at most `spare` bytes, is left to the next
 * window: covers of whole runs are regular, and copied in large batches. */
static int64_t join(wr_piece *pieces, int64_t count, wr_joining how, wr_window *out)
{
    int64_t kept = 0;
    bool holes = false, overlap = false; /* up to the last piece */
    out->holes = out->overlap = false;
    for (int64_t i = 0; i < count; i++) {
        wr_piece *last = kept ? &pieces[kept - 1] : NULL;
        if (last && pieces[i].lo - last->hi <= how.gap) {
            out->overlap = out->overlap || pieces[i].lo < last->hi;
            out->holes = out->holes || pieces[i].lo > last->hi;
            last->hi = wr_max(last->hi, pieces[i].hi);
        } else {
            holes = out->holes;
            overlap = out->overlap;
            pieces[kept++] = pieces[i];
        }
    }
    if (kept > 1 && pieces[kept - 1].hi == out->hi && out->hi - pieces[kept - 1].lo <= how.spare) {
        out->hi = pieces[--kept].lo;
        out->holes = holes;
        out->overlap = overlap;
    }
    return kept;
}

/* The realm's part of the joined pieces; only a gap can reach outside it. */
static int build(wr_windows *w, int64_t count, wr_window *out)
{
    int64_t *words = wr_alloc_array(2 * count, sizeof *words);
    if (!words)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < count; i++) {
        words[i] = w->pieces[i].lo;
        words[count + i] = w->pieces[i].hi - w->pieces[i].lo;
    }
    int code = weir_pattern_runs(count, words, words + count, &out->cover);
    wr_free(words);
    return code;
}

/* Joins what pieces there are so far, where a window must be listed and cannot be smaller: then
 * bytes that several ranks want do not count again. Whether there is room now. */
static bool squeeze(wr_windows *w, const wr_window *at, int64_t *used, bool *overlap)
{
    wr_window so_far = {.hi = at->hi};
    if (!at->fixed || !wr_plan_is_exact(w->in))
        return false;
    sort_pieces(w->pieces, *used, w->pieces + WR_PIECES);
    *used = join(w->pieces, *used, (wr_joining){0}, &so_far);
    *overlap = *overlap || so_far.overlap;
    return *used <= WR_PIECES / 2;
}

/* Appends one rank's pieces; 1 if they do not fit. */
static int list_want(wr_windows *w, const wr_want *want, const wr_window *at, int64_t *used,
                     bool *overlap)
{
    wr_meet meet;
    wr_meeting m;
    for (start(w, want, at, &meet); wr_meet_next(&meet, &m);)
        for (int64_t i = 0; i < m.count; i++) {
            if (*used == WR_PIECES && !squeeze(w, at, used, overlap))
                return 1;
            int64_t lo = m.offset + i * m.stride;
            w->pieces[(*used)++] = (wr_piece){lo, lo + m.run};
        }
    return 0;
}

/* The joined pieces of all ranks in a window; how many in *used. 1 if there are too many. */
static int join_all(wr_windows *w, int64_t gap, wr_window *at, int64_t *used)
{
    const wr_queued *one;
    int code =
        wr_union_room(w) ? wr_want_queue_reach(&w->queue, at->lo, at->hi, INT64_MAX) : WEIR_ENOMEM;
    if (!code && !w->same)
        code = find_same(w);
    bool overlap = false;
    *used = 0;
    for (int64_t i = 0; !code && (one = wr_want_queue_get(&w->queue, i, at->hi)); i++)
        if (!(w->same[one->want / BITS] >> one->want % BITS & 1))
            code = list_want(w, &w->wants[one->want], at, used, &overlap);
    if (code)
        return code;
    sort_pieces(w->pieces, *used, w->pieces + WR_PIECES);
    /* what lies between two dealt blocks is another realm's */
    const wr_joining how = {.gap = wr_plan_is_scattered(w->plan, at->lo, at->hi) ? 0 : gap,
                            .spare = at->hi < w->plan->hi && !at->fixed ? w->plan->window / 8 : 0};
    *used = join(w->pieces, *used, how, at);
    at->overlap = at->overlap || overlap || w->twice;
    return 0;
}

int wr_union_list(wr_windows *w, int64_t gap, wr_window *out)
{
    int64_t used;
    int code = join_all(w, gap, out, &used);
    if (!code)
        code = build(w, used, out);
    if (!code && (weir_pattern_bytes(out->cover) > w->plan->window ||
                  weir_pattern_footprint(out->cover) > WR_COVER_BYTES)) {
        weir_pattern_free(out->cover);
        out->cover = NULL;
        return 1;
    }
    return code;
}

/* Appends the granules of the realm in [lo, hi) that one rank wants something of; 1 if they do not
 * fit. Nothing between them is walked. */
static int list_granules(wr_windows *w, const wr_want *want, int64_t lo, int64_t hi, int64_t *used)
{
    const wr_want realm = {.pattern = w->realm, .end = weir_pattern_bytes(w->realm)};
    int64_t first, there;
    while (wr_want_first(want, lo, &first) && first < hi) {
        const int64_t at = wr_plan_down(w->in, first);
        if (!wr_want_first(&realm, at, &there))
            break;
        lo = there > at ? there : at + w->in->granule;
        if (there > at)
            continue;
        if (*used == WR_PIECES)
            return 1;
        w->pieces[(*used)++] = (wr_piece){at, lo};
    }
    return 0;
}

/* The same of all ranks, joined; *used are there already, of what lies before. */
static int join_granules(wr_windows *w, wr_window *out, int64_t lo, int64_t *used)
{
    const wr_queued *one;
    int code = wr_want_queue_reach(&w->queue, out->lo, out->hi, INT64_MAX);
    for (int64_t i = 0; !code && (one = wr_want_queue_get(&w->queue, i, out->hi)); i++)
        code = list_granules(w, &w->wants[one->want], lo, out->hi, used);
    if (code)
        return code;
    sort_pieces(w->pieces, *used, w->pieces + WR_PIECES);
    *used = join(w->pieces, *used, (wr_joining){0}, out);
    return 0;
}

/* Ends the window where `most` bytes are full; returns how many there are. */
static int64_t cut_pieces(wr_windows *w, wr_window *out, int64_t most, int64_t *used)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < *used; i++) {
        wr_piece *one = &w->pieces[i];
        bytes += one->hi - one->lo;
        if (bytes < most)
            continue;
        one->hi -= bytes - most;
        out->hi = one->hi;
        *used = i + 1;
        return most;
    }
    return bytes;
}

/* Where what is read lies far apart, the window goes on until its buffer is full. One that is
 * written is locked from end to end. */
static int fill_granules(wr_windows *w, int64_t end, wr_window *out, int64_t *used)
{
    int code = join_granules(w, out, out->lo, used);
    while (!code && !out->fixed && w->in->direction == WR_READ && out->hi < end &&
           *used < WR_PIECES / 4 && cut_pieces(w, out, w->plan->window, used) < w->plan->window) {
        const int64_t before = *used, lo = out->hi;
        out->hi = wr_min(end, wr_plan_up(w->in, out->hi + (out->hi - out->lo)));
        code = join_granules(w, out, lo, used);
        if (code == 1) { /* too many: it ends where it did */
            *used = before;
            out->hi = lo;
            return 0;
        }
    }
    if (!code && !out->fixed)
        cut_pieces(w, out, w->plan->window, used);
    return code;
}

int wr_union_granules(wr_windows *w, int64_t end, wr_window *out)
{
    int64_t used = 0, hi = out->hi;
    int code = wr_union_room(w) ? fill_granules(w, end, out, &used) : WEIR_ENOMEM;
    if (!code)
        code = build(w, used, out);
    if (!code && weir_pattern_footprint(out->cover) > WR_COVER_BYTES) {
        weir_pattern_free(out->cover);
        out->cover = NULL;
        code = 1;
    }
    if (code == 1)
        out->hi = hi;
    out->holes = out->overlap = true;
    if (!code && w->in->direction == WR_WRITE)
        code = wr_union_survey(w, out);
    return code;
}

int wr_union_count(wr_windows *w, int64_t gap, wr_window *range, int64_t *runs, int64_t *bytes)
{
    int code = join_all(w, gap, range, runs);
    *bytes = 0;
    for (int64_t i = 0; !code && i < *runs; i++)
        *bytes += w->pieces[i].hi - w->pieces[i].lo;
    return code;
}

/* The largest granule all pieces of the window are made of, and their bytes in all. */
static int64_t find_granule(const wr_windows *w, const wr_window *at, int64_t *bytes)
{
    const wr_queued *one;
    int64_t granule = 0;
    *bytes = 0;
    for (int64_t i = 0; (one = wr_want_queue_get(&w->queue, i, at->hi)); i++) {
        wr_meet meet;
        wr_meeting m;
        for (start(w, &w->wants[one->want], at, &meet); wr_meet_next(&meet, &m);) {
            granule = wr_gcd(wr_gcd(granule, m.offset - at->lo), m.run);
            granule = m.count > 1 ? wr_gcd(granule, m.stride) : granule;
            *bytes += m.run * m.count;
        }
    }
    return wr_max(granule, 1);
}

static void set_bits(uint64_t *bits, int64_t from, int64_t count)
{
    while (count > 0) {
        int64_t shift = from % BITS, part = wr_min(count, BITS - shift);
        uint64_t mask = part == BITS ? ~UINT64_C(0) : ((UINT64_C(1) << part) - 1) << shift;
        bits[from / BITS] |= mask;
        from += part;
        count -= part;
    }
}

static void mark(wr_windows *w, const wr_window *at, int64_t granule)
{
    const wr_queued *one;
    for (int64_t i = 0; (one = wr_want_queue_get(&w->queue, i, at->hi)); i++) {
        wr_meet meet;
        wr_meeting m;
        for (start(w, &w->wants[one->want], at, &meet); wr_meet_next(&meet, &m);)
            for (int64_t k = 0; k < m.count; k++)
                set_bits(w->bits, (m.offset + k * m.stride - at->lo) / granule, m.run / granule);
    }
}

int wr_union_survey(wr_windows *w, wr_window *out)
{
    int64_t bytes, lo, hi, granule = find_granule(w, out, &bytes);
    weir_pattern_bounds(out->cover, &lo, &hi);
    int64_t words = ((hi - lo) / granule + BITS) / BITS + 1, marked = 0;
    if (words > MOST_WORDS)
        return 0;
    int code = wr_grow((void **)&w->bits, &w->bit_words, words, sizeof *w->bits);
    if (code)
        return code;
    memset(w->bits, 0, (size_t)words * sizeof *w->bits);
    mark(w, out, granule);
    for (int64_t i = 0; i < words; i++)
        marked += __builtin_popcountll(w->bits[i]);
    out->holes = marked * granule < weir_pattern_bytes(out->cover);
    out->overlap = marked * granule < bytes;
    return 0;
}
