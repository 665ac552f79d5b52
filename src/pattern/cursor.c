/* Cursors. Both kinds of seeking are one descent from the root: at each node choose the entry by
 * data position or by offset, subtract what lies before it, go on in the child. */
#include "pattern/cursor.h"

#include "base/arith.h"

enum by { BY_DATA, BY_OFFSET };

/* Greatest i with positions[i] <= key; positions[0] is 0 and key >= 0. */
static int64_t search_data(const int64_t *positions, int64_t count, int64_t key)
{
    int64_t lo = 0, hi = count;
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (positions[mid] <= key)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static int64_t entry_end(const weir_pattern *p, const wr_node *n, int64_t i)
{
    wr_entry e = wr_entry_get(p, n, i);
    return e.place + (e.child ? e.child->hi : e.run);
}

/* Least i whose entry ends after offset key; the last one if none does. */
static int64_t search_offset(const weir_pattern *p, const wr_node *n, int64_t key)
{
    if (n->kind == WR_LOOP) {
        int64_t past = key - p->node[n->child].hi; /* key is below n->hi, so this fits */
        if (past < 0 || n->stride == 0)
            return 0;
        return wr_min(past / n->stride + 1, n->count - 1);
    }
    int64_t lo = -1, hi = n->count - 1;
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (entry_end(p, n, mid) > key)
            hi = mid;
        else
            lo = mid;
    }
    return hi;
}

static int64_t choose(const weir_pattern *p, const wr_node *n, enum by by, int64_t key)
{
    if (key <= 0)
        return 0;
    if (by == BY_OFFSET)
        return search_offset(p, n, key);
    if (n->child >= 0)
        return key / p->node[n->child].bytes;
    return search_data(p->word + n->word + n->count, n->count, key);
}

/* Makes `all`, the runs from entry f->index of the innermost node on, the current batch, `skip`
 * bytes into the first. f is NULL where the root is a single run. */
static void load_runs(wr_cursor *c, wr_frame *f, wr_batch all, int64_t skip)
{
    if (f) {
        all.stride = f->node->kind == WR_LOOP ? f->node->stride : all.run;
        all.count = f->node->kind == WR_LOOP ? f->node->count - f->index : 1;
        f->index += all.count - 1;
    }
    c->rest.count = 0;
    c->now = all;
    c->partial = skip > 0;
    if (!c->partial)
        return;
    c->rest =
        (wr_batch){all.offset + all.stride, all.run, all.stride, all.count - 1, all.data + all.run};
    c->now = (wr_batch){all.offset + skip, all.run - skip, all.run - skip, 1, all.data + skip};
}

/* Goes from entry at.index of at.node down to a run; `key` is relative to the node, whose data
 * start at `data`. */
static void enter(wr_cursor *c, wr_frame at, enum by by, int64_t key, int64_t data)
{
    const weir_pattern *p = c->pattern;
    for (;;) {
        wr_entry e = wr_entry_get(p, at.node, at.index);
        int64_t base = at.base + e.place;
        data += e.data;
        key -= by == BY_DATA ? e.data : e.place;
        wr_frame *f = &c->frame[c->depth++];
        *f = at;
        if (!e.child) {
            load_runs(c, f, (wr_batch){.offset = base, .run = e.run, .data = data}, key);
            return;
        }
        at = (wr_frame){e.child, choose(p, e.child, by, key), base};
    }
}

static void seek(wr_cursor *c, enum by by, int64_t key)
{
    const wr_node *root = wr_pattern_root(c->pattern);
    c->depth = 0;
    c->rest.count = 0;
    if (key >= (by == BY_DATA ? root->bytes : root->hi)) {
        c->now.count = 0;
    } else if (root->kind == WR_LEAF) {
        wr_batch all = {c->pattern->origin, root->count, root->count, 1, 0};
        load_runs(c, NULL, all, key);
    } else {
        wr_frame at = {root, choose(c->pattern, root, by, key), c->pattern->origin};
        enter(c, at, by, key, 0);
    }
}

/* The commonest way on, a loop of runs within a loop: the same runs, one outer stride further. */
static bool step_outer_loop(wr_cursor *c)
{
    if (c->depth < 2)
        return false;
    wr_frame *inner = &c->frame[c->depth - 1], *outer = inner - 1;
    if (inner->node->kind != WR_LOOP || outer->node->kind != WR_LOOP ||
        outer->index + 1 >= outer->node->count)
        return false;
    outer->index++;
    inner->base += outer->node->stride;
    c->now.offset = inner->base;
    c->now.run = c->pattern->node[inner->node->child].count;
    c->now.stride = inner->node->stride;
    c->now.count = inner->node->count;
    return true;
}

/* The next entry of a list of equal runs. */
static bool step_list(wr_cursor *c)
{
    wr_frame *f = c->depth ? &c->frame[c->depth - 1] : NULL;
    if (!f || f->node->kind != WR_LIST || f->node->child < 0 || f->index + 1 >= f->node->count)
        return false;
    f->index++;
    c->now.offset = f->base + c->pattern->word[f->node->word + f->index];
    c->now.run = c->now.stride = c->pattern->node[f->node->child].count;
    c->now.count = 1;
    return true;
}

/* The current batch is used up: on to the next one. */
static void load_next(wr_cursor *c)
{
    if (c->rest.count) {
        c->now = c->rest;
        c->rest.count = 0;
        return;
    }
    if (step_outer_loop(c) || step_list(c))
        return;
    int64_t data = c->now.data;
    while (c->depth > 0) {
        wr_frame at = c->frame[--c->depth];
        if (++at.index < at.node->count) {
            int64_t before = wr_entry_get(c->pattern, at.node, at.index).data;
            enter(c, at, BY_DATA, before, data - before);
            return;
        }
    }
    c->now.count = 0;
}

/* Uses up `count` runs of the current batch, or, if count is 0, `bytes` of its first run. */
static void advance(wr_cursor *c, int64_t count, int64_t bytes)
{
    wr_batch *now = &c->now;
    c->partial = count == 0;
    if (count) {
        now->offset += count * now->stride;
        now->data += count * now->run;
        now->count -= count;
    } else {
        if (now->count > 1)
            c->rest = (wr_batch){now->offset + now->stride, now->run, now->stride, now->count - 1,
                                 now->data + now->run};
        *now = (wr_batch){now->offset + bytes, now->run - bytes, now->run - bytes, 1,
                          now->data + bytes};
    }
    if (now->count == 0)
        load_next(c);
}

void wr_cursor_init(wr_cursor *c, const weir_pattern *pattern)
{
    c->pattern = pattern;
    c->begin = 0;
    c->end = wr_pattern_root(pattern)->bytes;
    c->lo = -WR_OFFSET_MAX;
    c->hi = WR_OFFSET_MAX;
    c->now = (wr_batch){0};
    seek(c, BY_DATA, 0);
}

void wr_cursor_limit(wr_cursor *c, int64_t begin, int64_t end)
{
    c->begin = wr_max(c->begin, wr_min(begin, c->end));
    c->end = wr_max(c->begin, wr_min(end, c->end));
    wr_cursor_seek_data(c, c->begin);
}

void wr_cursor_clip(wr_cursor *c, int64_t lo, int64_t hi)
{
    int64_t begin = wr_pattern_data_below(c->pattern, lo), end = c->end;
    if (wr_pattern_root(c->pattern)->disjoint) {
        end = wr_pattern_data_below(c->pattern, hi);
    } else {
        c->lo = wr_max(c->lo, lo);
        c->hi = wr_min(c->hi, hi);
    }
    wr_cursor_limit(c, begin, end);
}

void wr_cursor_seek_data(wr_cursor *c, int64_t data)
{
    seek(c, BY_DATA, wr_max(c->begin, wr_min(data, c->end)));
}

/* Offsets outside P1 are beyond every pattern; differences of clamped ones fit. */
static int64_t clamp(int64_t x)
{
    return wr_max(-WR_OFFSET_MAX, wr_min(x, WR_OFFSET_MAX));
}

void wr_cursor_seek_offset(wr_cursor *c, int64_t x)
{
    const wr_batch *now = &c->now;
    x = clamp(x);
    int64_t past = now->count && wr_pattern_root(c->pattern)->disjoint ? x - now->offset : -1;
    if (past >= 0 && past < (now->count - 1) * now->stride + now->run) {
        int64_t skip = past < now->run ? 0 : (past - now->run) / now->stride + 1;
        if (skip)
            advance(c, skip, 0);
        if (x > now->offset)
            advance(c, 0, x - now->offset);
        return;
    }
    seek(c, BY_OFFSET, x - c->pattern->origin);
    if (!now->count || now->data > c->end)
        seek(c, BY_DATA, c->end);
    else if (now->data < c->begin)
        seek(c, BY_DATA, c->begin);
}

int64_t wr_pattern_data_below(const weir_pattern *pattern, int64_t x)
{
    const wr_node *n = wr_pattern_root(pattern);
    int64_t key = clamp(x) - pattern->origin, data = 0, run = n->count;
    if (key <= 0)
        return 0;
    if (key >= n->hi)
        return n->bytes;
    while (n && n->kind != WR_LEAF) {
        wr_entry e = wr_entry_get(pattern, n, choose(pattern, n, BY_OFFSET, key));
        key -= e.place;
        data += e.data;
        run = e.run;
        n = e.child;
    }
    return data + wr_max(0, wr_min(key, run));
}

int64_t wr_pattern_offset(const weir_pattern *pattern, int64_t data)
{
    const wr_node *n = wr_pattern_root(pattern);
    int64_t offset = pattern->origin;
    while (n && n->kind != WR_LEAF) {
        wr_entry e = wr_entry_get(pattern, n, choose(pattern, n, BY_DATA, data));
        offset += e.place;
        data -= e.data;
        n = e.child;
    }
    return offset + data;
}

void wr_pattern_bounds_of(const weir_pattern *pattern, int64_t begin, int64_t end, int64_t *lo,
                          int64_t *hi)
{
    wr_cursor c;
    if (wr_pattern_root(pattern)->disjoint) {
        *lo = wr_pattern_offset(pattern, begin);
        *hi = wr_pattern_offset(pattern, end - 1) + 1;
        return;
    }
    wr_cursor_init(&c, pattern);
    wr_batch first = {0}, second = {0};
    wr_cursor_limit(&c, begin, end);
    *lo = c.now.offset;
    /* the rest of a run may lie behind the start of the next one */
    if (wr_cursor_next_run(&c, INT64_MAX, &first) && wr_cursor_next_run(&c, INT64_MAX, &second))
        *lo = wr_min(first.offset, second.offset);
    wr_cursor_seek_data(&c, end - 1);
    *hi = c.now.offset + c.now.run;
}

/* Cuts a single run to the offsets asked for; false if nothing is left. Ordered patterns only. */
static bool cut_run(const wr_cursor *c, wr_batch *run)
{
    int64_t lo = wr_max(run->offset, c->lo), hi = wr_min(run->offset + run->run, c->hi);
    if (lo >= hi)
        return false;
    run->data += lo - run->offset;
    run->offset = lo;
    run->run = run->stride = hi - lo;
    return true;
}

/* Clipped, and the pattern is not disjoint: then runs must be cut one by one. */
static bool confined_by_offset(const wr_cursor *c)
{
    return c->lo > -WR_OFFSET_MAX || c->hi < WR_OFFSET_MAX;
}

/* Goes forward to a run that reaches into [lo, hi), if the cursor is confined by offsets and the
 * pattern is not disjoint; then `shown` is that run alone, cut. */
static bool find_run(wr_cursor *c, wr_batch *shown)
{
    for (;;) {
        bool beyond = c->now.offset >= c->hi && !c->partial;
        if (!c->now.count || beyond || c->now.data >= c->end)
            return false;
        *shown = c->now;
        shown->count = 1;
        shown->run = wr_min(shown->run, c->end - shown->data);
        if (cut_run(c, shown))
            return true;
        advance(c, 1, 0);
    }
}

bool wr_cursor_peek(wr_cursor *c, wr_batch *out)
{
    if (!wr_pattern_root(c->pattern)->disjoint && (c->lo > -WR_OFFSET_MAX || c->hi < WR_OFFSET_MAX))
        return find_run(c, out);
    int64_t left = c->end - c->now.data;
    if (!c->now.count || left <= 0)
        return false;
    *out = c->now;
    if (left < out->run) {
        out->count = 1;
        out->run = out->stride = left;
    } else if (left < out->run * out->count) {
        out->count = left / out->run;
    }
    return true;
}

int64_t wr_cursor_data(wr_cursor *c)
{
    wr_batch b;
    return wr_cursor_peek(c, &b) ? b.data : c->end;
}

bool wr_cursor_next(wr_cursor *c, int64_t max, wr_batch *out)
{
    if (!wr_cursor_peek(c, out))
        return false;
    if (max < out->run) {
        out->count = 1;
        out->run = out->stride = max;
    } else if (max < out->run * out->count) {
        out->count = max / out->run;
    }
    int64_t bytes =
        out->data + out->run - c->now.data; /* of the first run, with what was cut off */
    if (out->count > 1 || bytes == c->now.run)
        advance(c, out->count, 0);
    else
        advance(c, 0, bytes);
    return true;
}

bool wr_cursor_next_run(wr_cursor *c, int64_t max, wr_batch *out)
{
    if (!wr_cursor_peek(c, out))
        return false;
    return wr_cursor_next(c, wr_min(max, out->run), out);
}

void wr_cursor_skip(wr_cursor *c, int64_t bytes)
{
    wr_batch b;
    if (c->now.count && bytes > c->now.run * c->now.count && !confined_by_offset(c))
        wr_cursor_seek_data(c, wr_min(bytes, c->end - c->now.data) + c->now.data);
    else
        while (bytes > 0 && wr_cursor_next(c, bytes, &b))
            bytes -= b.run * b.count;
}
