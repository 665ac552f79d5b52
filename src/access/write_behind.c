/* Write-behind. "A New Flexible MPI Collective I/O Implementation", section 6.4: a cache of the
 * client that need not be coherent, because realms persist. */
#include "access/write_behind.h"

#include <string.h>

#include "access/handle.h"
#include "base/arith.h"
#include "base/task.h"
#include "base/timer.h"

enum {
    CHUNK = 1 << 20,
    LEAST_PAGE = 4096,
    BITS = 64,
    MARKS = CHUNK / 8, /* bytes of a chunk's bits */
    RUNS = 64,         /* transfers at a time */
    SPAN = 16          /* chunks that are written before others get a turn */
};

typedef struct wr_chunk {
    int64_t offset;  /* in the file, a multiple of CHUNK */
    char *data;      /* its bytes, then `dirty`; or NULL */
    uint64_t *dirty; /* a bit for each byte, */
    int64_t lo, hi;  /* and where those that are set lie */
    int64_t pages;   /* that take memory, */
    uint64_t touched[(CHUNK + MARKS) / LEAST_PAGE / BITS + 1]; /* these */
} wr_chunk;

/* Besides its pages: with its place in the table, which grows by doubling. */
enum { CHUNK_COST = sizeof(wr_chunk) + 2 * sizeof(wr_chunk *) };

/* Bytes on their way into a chunk. */
typedef struct piece {
    int64_t offset, bytes;
    char *data;
} piece;

/* How locks are had. LEAVE: what is busy is not written. */
enum locking { WAIT, LEAVE, TRY, LAST };

void wr_write_behind_init(wr_write_behind *b, int64_t limit)
{
    b->page = wr_max(LEAST_PAGE, wr_page_bytes());
    wr_budget_init(&b->budget, limit);
}

/* --- bits --- */

static uint64_t mask_of(int64_t from, int64_t count)
{
    return (count == BITS ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << from;
}

static void set_bits(uint64_t *bits, int64_t from, int64_t to, bool on)
{
    while (from < to) {
        int64_t at = from % BITS, part = wr_min(to - from, BITS - at);
        uint64_t *word = &bits[from / BITS], mask = mask_of(at, part);
        if (at == 0 && to - from >= BITS) {
            part = wr_round_down(to - from, BITS);
            memset(word, on ? 0xff : 0, (size_t)part / 8);
        } else {
            *word = on ? *word | mask : *word & ~mask;
        }
        from += part;
    }
}

/* The first bit from `from` on that is set, or is not; `to` if there is none before. */
static int64_t find_bit(const uint64_t *bits, int64_t from, int64_t to, bool on)
{
    while (from < to) {
        int64_t at = from % BITS;
        uint64_t word = on ? bits[from / BITS] : ~bits[from / BITS];
        word &= ~UINT64_C(0) << at;
        if (word)
            return wr_min(to, from - at + __builtin_ctzll(word));
        from += BITS - at;
    }
    return to;
}

/* --- chunks --- */

/* Where the chunk that holds `offset` is, or would be. */
static int64_t place_of(const wr_write_behind *b, int64_t offset)
{
    int64_t lo = 0, hi = b->count;
    if (hi && b->chunk[hi - 1]->offset + CHUNK <= offset)
        return hi;
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (b->chunk[mid]->offset + CHUNK <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The first page of a chunk's bytes, or bits, and the one behind the last. */
static void pages_of(const wr_write_behind *b, int64_t lo, int64_t hi, int64_t *first, int64_t *end)
{
    *first = lo / b->page;
    *end = wr_div_ceil(hi, b->page);
}

/* How many of these pages take no memory yet. */
static int64_t count_fresh(const uint64_t *touched, int64_t first, int64_t end)
{
    int64_t fresh = 0;
    for (int64_t i = first; i < end; i++)
        fresh += !(touched[i / BITS] >> i % BITS & 1);
    return fresh;
}

/* Takes memory for the bytes [lo, hi) of a chunk. */
static int touch(wr_write_behind *b, wr_chunk *c, int64_t lo, int64_t hi)
{
    int64_t first[2], end[2], fresh = 0;
    pages_of(b, lo, hi, &first[0], &end[0]);
    pages_of(b, CHUNK + lo / 8, CHUNK + wr_div_ceil(hi, 8), &first[1], &end[1]);
    for (int i = 0; i < 2; i++)
        fresh += count_fresh(c->touched, first[i], end[i]);
    int code = fresh ? wr_budget_take(&b->budget, fresh * b->page) : 0;
    if (code)
        return code;
    for (int i = 0; i < 2 && fresh; i++)
        set_bits(c->touched, first[i], end[i], true);
    c->pages += fresh;
    return 0;
}

/* Gives up a chunk's bytes; it stays in the table until it is swept. */
static void empty(wr_write_behind *b, wr_chunk *c)
{
    wr_pages_free(c->data, CHUNK + MARKS);
    wr_budget_give(&b->budget, c->pages * b->page);
    *c = (wr_chunk){.offset = c->offset};
}

/* Removes empty chunks. */
static void sweep(wr_write_behind *b)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < b->count; i++) {
        if (b->chunk[i]->data) {
            b->chunk[kept++] = b->chunk[i];
            continue;
        }
        wr_free(b->chunk[i]);
        wr_budget_give(&b->budget, CHUNK_COST);
    }
    b->count = kept;
}

void wr_write_behind_release(wr_write_behind *b)
{
    for (int64_t i = 0; i < b->count; i++)
        empty(b, b->chunk[i]);
    sweep(b);
    wr_free(b->chunk);
    b->chunk = NULL;
    b->room = 0;
}

static int insert(wr_write_behind *b, int64_t place, int64_t offset)
{
    int code = wr_budget_take(&b->budget, CHUNK_COST);
    if (code)
        return code;
    wr_chunk *c = wr_alloc(sizeof *c);
    code =
        c ? wr_grow((void **)&b->chunk, &b->room, b->count + 1, sizeof(wr_chunk *)) : WEIR_ENOMEM;
    if (code || !c) {
        wr_free(c);
        wr_budget_give(&b->budget, CHUNK_COST);
        return code;
    }
    *c = (wr_chunk){.offset = offset};
    memmove(b->chunk + place + 1, b->chunk + place,
            (size_t)(b->count - place) * sizeof(wr_chunk *));
    b->chunk[place] = c;
    b->count++;
    return 0;
}

/* The chunk at `offset`, made if it is not there. */
static int get_chunk(wr_write_behind *b, int64_t offset, wr_chunk **out)
{
    int64_t place = place_of(b, offset);
    int code = 0;
    if (place == b->count || b->chunk[place]->offset > offset)
        code = insert(b, place, wr_round_down(offset, CHUNK));
    if (code)
        return code;
    wr_chunk *c = b->chunk[place];
    if (!c->data) {
        c->data = wr_pages_alloc(CHUNK + MARKS);
        if (!c->data)
            return WEIR_ENOMEM;
        c->dirty = (uint64_t *)(void *)(c->data + CHUNK);
        c->lo = CHUNK;
    }
    *out = c;
    return 0;
}

/* Keeps a piece that lies in one chunk. */
static int keep(wr_write_behind *b, const piece *p)
{
    wr_chunk *c;
    int64_t lo = p->offset % CHUNK, hi = lo + p->bytes;
    int code = get_chunk(b, p->offset, &c);
    if (code)
        return code;
    code = touch(b, c, lo, hi);
    if (code && !c->pages)
        empty(b, c);
    if (code)
        return code;
    memcpy(c->data + lo, p->data, (size_t)p->bytes);
    set_bits(c->dirty, lo, hi, true);
    c->lo = wr_min(c->lo, lo);
    c->hi = wr_max(c->hi, hi);
    return 0;
}

/* --- flushing --- */

/* What is dirty in a few adjacent chunks. */
typedef struct span {
    int64_t lo, hi;
} span;

/* The next one from `at` on; false if there is none. */
static bool find_span(wr_handle *handle, int64_t at, span *out)
{
    const wr_write_behind *b = &handle->write_behind;
    pthread_mutex_lock(&handle->moving);
    int64_t i = place_of(b, at), end;
    while (i < b->count && !b->chunk[i]->data)
        i++;
    bool found = i < b->count;
    for (end = i; end < b->count && end - i < SPAN; end++) {
        const wr_chunk *c = b->chunk[end];
        if (!c->data || c->offset != b->chunk[i]->offset + (end - i) * CHUNK)
            break;
        out->lo = end == i ? c->offset + c->lo : out->lo;
        out->hi = c->offset + c->hi;
    }
    pthread_mutex_unlock(&handle->moving);
    return found;
}

/* A place among the dirty runs of a span. */
typedef struct walk {
    const wr_write_behind *b;
    int64_t place; /* of a chunk */
    int64_t at;    /* in the file */
    int64_t end;
} walk;

/* The next dirty run, within a chunk, as a transfer. */
static bool next_run(walk *w, wr_transfer *out)
{
    for (; w->place < w->b->count && w->b->chunk[w->place]->offset < w->end; w->place++) {
        const wr_chunk *c = w->b->chunk[w->place];
        int64_t from = wr_max(w->at - c->offset, c->lo), to = wr_min(w->end - c->offset, c->hi);
        int64_t lo = c->data ? find_bit(c->dirty, from, to, true) : to;
        if (lo >= to)
            continue;
        int64_t hi = find_bit(c->dirty, lo, to, false);
        w->at = c->offset + hi;
        *out = (wr_transfer){.direction = WR_WRITE,
                             .offset = c->offset + lo,
                             .run = hi - lo,
                             .count = 1,
                             .stride = hi - lo,
                             .memory = c->data + lo,
                             .memory_stride = hi - lo};
        return true;
    }
    return false;
}

/* Bytes that are in the file are not dirty any more. */
static void clean(wr_write_behind *b, const wr_transfer *t)
{
    const wr_chunk *c = b->chunk[place_of(b, t->offset)];
    set_bits(c->dirty, t->offset - c->offset, t->offset - c->offset + t->done, false);
}

/* Chunks of a span that are clean are given up. */
static void empty_span(wr_write_behind *b, const span *s)
{
    for (int64_t i = place_of(b, s->lo); i < b->count && b->chunk[i]->offset < s->hi; i++) {
        wr_chunk *c = b->chunk[i];
        if (!c->data)
            continue;
        c->lo = find_bit(c->dirty, c->lo, c->hi, true);
        if (c->lo == c->hi)
            empty(b, c);
    }
}

/* The error of the first failure of several. */
static void note(weir_error *first, int code)
{
    if (code < 0 && !first->code)
        *first = *weir_error_last();
}

/* What fails is left, and the rest written. */
static void write_span(wr_handle *handle, const span *s, weir_error *first)
{
    wr_transfer transfers[RUNS];
    wr_write_behind *b = &handle->write_behind;
    int64_t valid = INT64_MAX;
    int used = RUNS;
    pthread_mutex_lock(&handle->moving);
    const wr_visit visit = wr_watch_begin(&handle->watch);
    walk w = {b, place_of(b, s->lo), s->lo, s->hi};
    while (used == RUNS) {
        for (used = 0; used < RUNS && next_run(&w, &transfers[used]); used++)
            wr_storage_submit(handle->storage, &transfers[used]);
        wr_handle_reap_all(handle);
        note(first, wr_handle_look(handle, used, transfers, &valid));
        for (int i = 0; i < used; i++)
            clean(b, &transfers[i]);
    }
    empty_span(b, s);
    wr_watch_end(&handle->watch, visit);
    pthread_mutex_unlock(&handle->moving);
}

/* 0, 1: it was not locked because it need not or cannot be; WR_BUSY or a negative code. */
static int lock(wr_handle *handle, const span *s, enum locking how)
{
    if (handle->sole)
        return 1;
    if (how == WAIT)
        return wr_handle_lock(handle, WR_LOCK_SHARED, s->lo, s->hi);
    int code = wr_handle_try(handle, WR_LOCK_SHARED, s->lo, s->hi);
    if (code == WR_BUSY && how == LEAVE)
        return WEIR_EIO; /* as the first that was waited for has said */
    if (code == WR_BUSY && how == TRY) {
        handle->write_behind.busy_lo = s->lo;
        handle->write_behind.busy_hi = s->hi;
    }
    return how == LAST && code ? 1 : code;
}

static int flush(wr_handle *handle, enum locking how)
{
    weir_error first = {0};
    span s = {0};
    int locked = 0;
    for (int64_t at = 0; locked != WR_BUSY && find_span(handle, at, &s);) {
        locked = lock(handle, &s, how);
        note(&first, locked);
        if (how == WAIT && locked < 0)
            how = LEAVE;
        if (locked == 0 || locked == 1)
            write_span(handle, &s, &first);
        if (!locked)
            wr_handle_unlock(handle, s.lo, s.hi);
        if (wr_task_current() && how != LAST)
            wr_task_yield();
        at = wr_round_up(s.hi, CHUNK);
    }
    pthread_mutex_lock(&handle->moving);
    sweep(&handle->write_behind);
    pthread_mutex_unlock(&handle->moving);
    if (first.code)
        return wr_error_raise(&first);
    return locked == WR_BUSY ? WR_BUSY : 0;
}

/* Asked before every access of a rank alone, so without a lock: what was kept before the access
 * began was counted before. */
static bool is_empty(const wr_handle *handle)
{
    return atomic_load_explicit(&handle->write_behind.count, memory_order_acquire) == 0;
}

int wr_write_behind_flush(wr_handle *handle)
{
    return is_empty(handle) ? 0 : flush(handle, WAIT);
}

int wr_write_behind_flush_last(wr_handle *handle)
{
    return flush(handle, LAST);
}

/* --- keeping --- */

/* Nothing is kept any more, and still there is no room. */
static int write_through(wr_handle *handle, const piece *p)
{
    wr_run_pattern run;
    const span s = {p->offset, p->offset + p->bytes};
    int64_t valid;
    int locked = lock(handle, &s, TRY);
    if (locked < 0 || locked == WR_BUSY)
        return locked;
    int code = wr_handle_move(handle, WR_WRITE, wr_run_pattern_set(&run, p->offset, p->bytes),
                              p->data, &valid);
    if (!locked)
        wr_handle_unlock(handle, s.lo, s.hi);
    return code;
}

static int put_piece(wr_handle *handle, const piece *p)
{
    for (int tries = 0;; tries++) {
        pthread_mutex_lock(&handle->moving);
        int code = keep(&handle->write_behind, p);
        pthread_mutex_unlock(&handle->moving);
        if (!code)
            return 0;
        code = tries ? write_through(handle, p) : flush(handle, TRY);
        if (code || tries)
            return code;
    }
}

int wr_write_behind_put(wr_handle *handle, const weir_pattern *cover, char *buffer, int64_t *done)
{
    wr_cursor c;
    wr_batch b;
    wr_cursor_init(&c, cover);
    wr_cursor_skip(&c, *done);
    while (wr_cursor_next_run(&c, INT64_MAX, &b))
        for (int64_t at = 0, part; at < b.run; at += part) {
            int64_t offset = b.offset + at;
            part = wr_min(b.run - at, CHUNK - offset % CHUNK);
            int code = put_piece(handle, &(piece){offset, part, buffer + b.data + at});
            if (code)
                return code;
            *done = b.data + at + part;
        }
    return 0;
}
