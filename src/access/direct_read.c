/* Windows in turn: some are on their way from the device while one is copied. A window is a number
 * of pieces, whole pages of the file, in the order of the file. */
#include "access/direct_read.h"

#include <string.h>
#include <unistd.h>

#include "access/readahead.h"
#include "base/arith.h"
#include "base/task.h"
#include "base/timer.h"
#include "pattern/pack.h"

enum { WINDOW = WR_DIRECT_WINDOW, PIECES = 1024, WINDOWS = WR_DIRECT_WINDOWS, DEPTH = 128 };

typedef struct window {
    char *buffer;
    int64_t used;              /* bytes of the buffer */
    int64_t end;               /* data position of the access that it goes to */
    int count, left;           /* pieces, and those that have not come */
    bool good;                 /* those that have are whole */
    wr_transfer piece[PIECES]; /* offset and run are multiples of a page */
    int64_t wanted[PIECES];    /* bytes of each that must come: the file may end in its last page */
} window;

struct wr_direct_reader {
    wr_storage *storage;
    int64_t size;
    int64_t read;   /* bytes, since it was opened */
    wr_watch watch; /* its own: it is used while others use the file's storage */
    char *memory;
    window windows[WINDOWS];
};

bool wr_direct_reader_open(wr_direct_reader **reader, const wr_storage *s)
{
    if (*reader || s->plain_fd < 0 || s->facts.direct || !s->facts.local)
        return *reader;
    wr_direct_reader *c = wr_alloc(sizeof *c);
    if (!c)
        return false;
    memset(c, 0, sizeof *c);
    if (s->watch)
        c->watch = (wr_watch){
            .tally = s->watch->tally, .profile = s->watch->profile, .file = s->watch->file};
    wr_tunables tunables = *s->tunables;
    tunables.io_depth = wr_max(tunables.io_depth, DEPTH);
    tunables.direct.which = WR_SWITCH_ALWAYS;
    tunables.storage.which = WR_STORAGE_AUTO;
    const wr_origin same = {.file = s->plain_fd};
    wr_storage_options options = {.tunables = &tunables,
                                  .log = s->log,
                                  .budget = s->budget,
                                  .watch = s->watch ? &c->watch : NULL,
                                  .origin = &same,
                                  .as_it_is = true};
    int code = wr_storage_open(s->path, WR_OPEN_READ, &options, &c->storage);
    if (!code)
        code = wr_storage_get_size(c->storage, &c->size);
    c->memory = code ? NULL : wr_alloc(WINDOWS * (int64_t)WINDOW + wr_page_bytes());
    if (!c->memory || !c->storage->facts.direct) {
        wr_direct_reader_close(c);
        return false;
    }
    char *start = (char *)(uintptr_t)wr_round_up((int64_t)(uintptr_t)c->memory, wr_page_bytes());
    for (int i = 0; i < WINDOWS; i++)
        c->windows[i].buffer = start + i * (int64_t)WINDOW;
    *reader = c;
    return true;
}

void wr_direct_reader_close(wr_direct_reader *c)
{
    if (!c)
        return;
    wr_storage_close(c->storage);
    wr_free(c->memory);
    wr_free(c);
}

bool wr_direct_reader_is_over(const wr_direct_reader *c)
{
    const int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * wr_page_bytes();
    return c && c->size < memory / 2 && c->read >= c->size;
}

/* --- filling a window --- */

typedef struct filling {
    window *w;
    bool full;
} filling;

/* Adds whole pages; what the latest piece has already is not added again. */
static bool add_stretch(void *user, int64_t lo, int64_t hi)
{
    filling *f = user;
    window *w = f->w;
    wr_transfer *last = w->count ? &w->piece[w->count - 1] : NULL;
    const int64_t reached = last ? last->offset + last->run : INT64_MIN, end = hi;
    const int64_t page = wr_page_bytes();
    lo = wr_round_down(lo, page);
    hi = wr_round_up(hi, page);
    const bool joins = last && lo <= reached && lo >= last->offset;
    const int64_t more = joins ? wr_max(0, hi - reached) : hi - lo;
    if (w->used + more > WINDOW || (!joins && w->count == PIECES)) {
        f->full = true;
        return false;
    }
    if (joins)
        last->run += more;
    else
        w->piece[w->count++] = (wr_transfer){.direction = WR_READ,
                                             .offset = lo,
                                             .run = more,
                                             .count = 1,
                                             .memory = w->buffer + w->used,
                                             .user = w};
    int64_t *wanted = &w->wanted[w->count - 1];
    *wanted = wr_max(joins ? *wanted : 0, end - w->piece[w->count - 1].offset);
    w->used += more;
    return true;
}

/* As much of the access as a window takes, submitted. */
static void fill(wr_direct_reader *c, wr_cursor *file, window *w)
{
    filling f = {.w = w};
    wr_batch b;
    w->used = w->count = 0;
    w->good = true;
    while (!f.full && wr_cursor_peek(file, &b)) {
        wr_batch_cut(&b, true); /* so that it is in a window or not */
        if (wr_batch_stretches(&b, add_stretch, &f))
            wr_cursor_skip(file, b.run * b.count);
    }
    w->end = wr_cursor_data(file);
    w->left = w->count;
    for (int i = 0; i < w->count; i++)
        w->piece[i].next = i + 1 < w->count ? &w->piece[i + 1] : NULL;
    if (w->count)
        wr_storage_submit(c->storage, w->piece);
}

/* Waits for a window; what comes of others meanwhile is theirs. */
static bool collect(wr_direct_reader *c, const window *wanted)
{
    while (wanted->left) {
        const wr_transfer *t = wr_storage_reap(c->storage, true);
        window *w = t ? t->user : NULL;
        if (!w)
            return false;
        w->left--;
        w->good = w->good && !t->error && t->done >= w->wanted[t - w->piece];
    }
    return wanted->good;
}

/* --- emptying it --- */

static void copy(const wr_access_request *a, const window *w, wr_cursor *file, wr_cursor *memory)
{
    const wr_transfer *piece = w->piece;
    wr_batch b;
    while (wr_cursor_data(file) < w->end && wr_cursor_peek(file, &b)) {
        wr_batch_cut(&b, true);
        int64_t hi = b.offset + (b.count - 1) * b.stride + b.run;
        while (piece->offset + piece->run < hi)
            piece++;
        const char *zero = wr_at(piece->memory, -piece->offset);
        wr_copy_cursors(file, zero, memory, a->base, b.run * b.count);
    }
}

bool wr_direct_reader_read(wr_direct_reader *c, const wr_access_request *a)
{
    wr_cursor ahead, file, memory;
    bool good = true;
    wr_cursor_init(&ahead, a->file);
    wr_cursor_limit(&ahead, a->begin, a->end);
    file = ahead;
    wr_cursor_init(&memory, a->memory);
    const wr_visit first = wr_watch_begin(&c->watch);
    for (int i = 0; i < WINDOWS - 1; i++)
        fill(c, &ahead, &c->windows[i]);
    wr_watch_end(&c->watch, first);
    c->windows[WINDOWS - 1].count = 0;
    for (int64_t k = 0; c->windows[k % WINDOWS].count; k++) {
        const wr_visit visit = wr_watch_begin(&c->watch);
        window *now = &c->windows[k % WINDOWS], *next = &c->windows[(k + WINDOWS - 1) % WINDOWS];
        good = collect(c, now) && good;
        next->count = 0;
        if (good)
            fill(c, &ahead, next);
        wr_watch_end(&c->watch, visit);
        if (good)
            copy(a, now, &file, &memory);
        c->read += now->used;
        if (wr_task_current())
            wr_task_yield();
    }
    return good && wr_cursor_data(&file) == a->end;
}
