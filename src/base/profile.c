/* Filling the tables of a profile. Whoever adds takes the lock once for what it has gathered
 * before: a call, or what the storage has moved since it was last free. */
#include "base/profile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/profile_tables.h"

const char wr_no_name[] = "none";

enum { CELLS = 2 * (int)sizeof(wr_cells) };
enum { FIRST_SAVE_NS = 1000000000 };

/* The end of a path says more than its beginning. */
static void copy_name(char out[WR_PROFILE_TEXT], const char *name)
{
    size_t length = strlen(name);
    const char *from = length < WR_PROFILE_TEXT ? name : name + length - (WR_PROFILE_TEXT - 1);
    memcpy(out, from, strlen(from) + 1);
}

/* Programs go to other folders. What does not fit cannot be written. */
static bool copy_folder(char out[WR_PROFILE_TEXT], const char *folder)
{
    char here[WR_PROFILE_TEXT] = "";
    const bool relative = folder[0] != '/' && getcwd(here, sizeof here);
    const int length = snprintf(out, WR_PROFILE_TEXT, "%s%s%s", here, relative ? "/" : "", folder);
    return length < WR_PROFILE_TEXT;
}

wr_profile *wr_profile_new(const wr_identity *who)
{
    wr_profile *p = wr_alloc(sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    p->job = who->job;
    p->rank = who->rank;
    p->size = who->size;
    p->node = who->node;
    p->log = who->log;
    p->broken = !copy_folder(p->folder, who->folder);
    if (p->broken)
        wr_log_line(&p->log, WR_LOG_WARN, "no trace: the folder's name is too long");
    strncpy(p->version, who->version, sizeof p->version - 1);
    gethostname(p->host, sizeof p->host - 1);
    p->process = getpid();
    p->day = wr_clock_day_ns();
    p->start = wr_clock_ns();
    p->next = p->start + FIRST_SAVE_NS;
    p->next_closed = p->start;
    p->width = WR_FIRST_BIN;
    p->bin_end = INT64_MIN;
    p->partner[WR_PARTNERS].rank = WR_NOBODY;
    p->file[WR_PROFILED_FILES] =
        (wr_profiled_file){.name = "other", .shift = WR_FIRST_SHIFT, .latest = -1};
    for (int i = 0; i < 2; i++)
        p->class[WR_CLASSES + i] = (wr_class){.plan = -1,
                                              .kind = {.file = WR_PROFILED_FILES,
                                                       .direction = (enum wr_direction)i,
                                                       .exchange = wr_no_name,
                                                       .way = wr_no_name}};
    return p;
}

void wr_profile_free(wr_profile *p)
{
    if (!p)
        return;
    for (int i = 0; i <= WR_PROFILED_FILES; i++)
        wr_pages_free(p->file[i].cells, CELLS);
    pthread_mutex_destroy(&p->lock);
    wr_free(p);
}

/* --- time: with the lock held --- */

static void halve(int64_t bin[WR_BINS])
{
    for (size_t i = 0; i < WR_BINS / 2; i++)
        bin[i] = bin[2 * i] + bin[2 * i + 1];
    memset(bin + WR_BINS / 2, 0, WR_BINS / 2 * sizeof *bin);
}

static void halve_cells(wr_profiled_file *f)
{
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < f->bins; i++)
            for (int row = 0; row < WR_ROWS; row++) {
                const int64_t bytes = f->cells[d][i][row];
                f->cells[d][i][row] = 0;
                f->cells[d][i / 2][row] += bytes;
            }
    f->bins = (f->bins + 1) / 2;
}

static void double_width(wr_profile *p)
{
    for (int i = 0; i < WR_PHASES; i++)
        halve(p->time[i]);
    halve(p->behind);
    for (int i = 0; i <= WR_PROFILED_FILES; i++)
        halve_cells(&p->file[i]);
    p->width *= 2;
    p->bin_end = INT64_MIN;
}

int wr_profile_bin(wr_profile *p, int64_t ns)
{
    int64_t width = atomic_load_explicit(&p->width, memory_order_relaxed);
    const int64_t end = atomic_load_explicit(&p->bin_end, memory_order_relaxed),
                  since = wr_max(0, ns - p->start);
    if (ns < end && ns >= end - width)
        return p->bin;
    while (since / width >= WR_BINS) {
        double_width(p);
        width *= 2;
    }
    p->bin = (int)(since / width);
    atomic_store_explicit(&p->bin_end, p->start + (p->bin + 1) * width, memory_order_relaxed);
    return p->bin;
}

static void add_time(wr_profile *p, int64_t bin[WR_BINS], wr_span when)
{
    const int last = wr_profile_bin(p, when.hi);
    for (int i = wr_profile_bin(p, when.lo); i <= last && when.lo < when.hi; i++) {
        const int64_t end = wr_min(when.hi, p->start + (i + 1) * p->width);
        bin[i] += end - when.lo;
        when.lo = end;
    }
}

/* --- */

void wr_profile_time(wr_profile *p, enum wr_phase phase, wr_span when)
{
    pthread_mutex_lock(&p->lock);
    add_time(p, p->time[phase], when);
    pthread_mutex_unlock(&p->lock);
}

void wr_profile_behind(wr_profile *p, wr_span when)
{
    pthread_mutex_lock(&p->lock);
    add_time(p, p->behind, when);
    pthread_mutex_unlock(&p->lock);
}

int64_t wr_profile_bin_end(wr_profile *p, int64_t ns)
{
    const int64_t width = atomic_load_explicit(&p->width, memory_order_relaxed),
                  end = atomic_load_explicit(&p->bin_end, memory_order_relaxed);
    if (ns < end && ns >= end - width)
        return end;
    return p->start + ((ns - p->start) / width + 1) * width;
}

/* --- files --- */

int wr_profile_file(wr_profile *p, const char *name)
{
    char own[WR_PROFILE_TEXT];
    int i = 0;
    copy_name(own, name);
    pthread_mutex_lock(&p->lock);
    while (i < p->files && strcmp(p->file[i].name, own) != 0)
        i++;
    if (i == p->files && i < WR_PROFILED_FILES) {
        wr_profiled_file *f = &p->file[p->files++];
        memcpy(f->name, own, sizeof own);
        f->shift = WR_FIRST_SHIFT;
        f->latest = -1;
    }
    pthread_mutex_unlock(&p->lock);
    return i;
}

/* With the lock held, as are all below. Rows become so long that all of [0, size) is in one. */
static void lengthen(wr_profiled_file *f, int64_t size)
{
    int shift = 0;
    while ((size - 1) >> (f->shift + shift) >= WR_ROWS)
        shift++;
    f->shift += shift;
    for (int i = 0; shift && i < 2 * f->bins; i++) {
        int64_t *row = f->cells[i % 2][i / 2];
        for (int from = 1; from < WR_ROWS; from++) {
            const int64_t bytes = row[from];
            row[from] = 0;
            row[from >> wr_min(shift, 6)] += bytes;
        }
    }
}

/* Bytes that lie evenly in [lo, hi) of the file. */
static void add_cells(wr_profiled_file *f, const wr_watched *m, int bin)
{
    const int64_t hi = wr_max(m->hi, m->lo + 1);
    if (!f->cells)
        f->cells = wr_pages_alloc(CELLS);
    if (!f->cells)
        return;
    lengthen(f, hi);
    f->bins = (int)wr_max(f->bins, bin + 1);
    int64_t *row = f->cells[m->direction][bin], left = m->bytes;
    const int shift = f->shift;
    const int64_t first = m->lo >> shift, last = (hi - 1) >> shift;
    if (first < last) {
        const double each = (double)m->bytes / (double)(hi - m->lo);
        const int64_t head = (int64_t)(each * (double)(((first + 1) << shift) - m->lo)),
                      whole = (int64_t)(each * (double)(INT64_C(1) << shift));
        row[first] += wr_min(head, left);
        left -= wr_min(head, left);
        for (int64_t i = first + 1; i < last; i++) {
            row[i] += wr_min(whole, left);
            left -= wr_min(whole, left);
        }
    }
    row[last] += left;
}

static void add_moved(wr_profile *p, int file, const wr_watched *m, int64_t at)
{
    wr_profiled_file *f = &p->file[file];
    if (!m->bytes)
        return;
    add_cells(f, m, wr_profile_bin(p, at));
    f->size = wr_max(f->size, m->hi);
    f->moved += m->bytes;
    f->runs += m->runs;
}

static void add_waited(wr_profile *p, int rank, int64_t ns)
{
    int i = 0;
    if (!ns)
        return;
    while (i < p->partners && p->partner[i].rank != rank)
        i++;
    if (rank < 0)
        i = WR_PARTNERS;
    else if (i == p->partners && i < WR_PARTNERS)
        p->partner[p->partners++].rank = rank;
    p->partner[i].ns += ns;
}

static void add_gathered(wr_profile *p, const wr_gathered *g)
{
    const int bin = wr_profile_bin(p, g->at);
    for (int i = 0; i < WR_PHASES; i++)
        p->time[i][bin] += g->phase[i];
    add_moved(p, g->file, &g->moved, g->moved_at);
    add_waited(p, g->whom, g->waited);
    add_waited(p, WR_NOBODY, g->waited_nobody);
}

/* --- */

void wr_profile_add(wr_profile *p, const wr_gathered *g)
{
    pthread_mutex_lock(&p->lock);
    add_gathered(p, g);
    pthread_mutex_unlock(&p->lock);
}

void wr_watch_tell(wr_watch *w, int64_t now)
{
    if (!w->moved.bytes)
        return;
    pthread_mutex_lock(&w->profile->lock);
    add_moved(w->profile, w->file, &w->moved, now);
    pthread_mutex_unlock(&w->profile->lock);
    w->moved = (wr_watched){0};
}

/* What follows within a row is gathered. */
void wr_watch_note(wr_watch *w, enum wr_direction direction, wr_span where, int64_t bytes,
                   int64_t runs)
{
    wr_watched *m = &w->moved;
    const int shift = atomic_load_explicit(&w->profile->file[w->file].shift, memory_order_relaxed);
    if (m->bytes &&
        (direction != m->direction || where.lo < m->lo || (where.hi - m->lo) >> shift > 0))
        wr_watch_tell(w, wr_clock_ns());
    if (!m->bytes) {
        m->direction = direction;
        m->lo = m->hi = where.lo;
    }
    m->hi = wr_max(m->hi, where.hi);
    m->bytes += bytes;
    m->runs += runs;
}

/* --- calls --- */

static int magnitude(int64_t n)
{
    return n > 0 ? 64 - __builtin_clzll((unsigned long long)n) : 0;
}

static bool is_same(const wr_call_kind *a, const wr_call_kind *b)
{
    return a->file == b->file && a->direction == b->direction && a->together == b->together &&
           a->form == b->form && a->exchange == b->exchange && a->way == b->way &&
           a->aggregators == b->aggregators && a->window == b->window &&
           magnitude(a->run) == magnitude(b->run) && magnitude(a->stride) == magnitude(b->stride);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3) ^ hash >> 29;
}

static uint64_t hash_of(const wr_call_kind *k)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = mix(hash, (uint64_t)k->file << 4 | (uint64_t)k->form << 2 | (uint64_t)k->together << 1 |
                         (uint64_t)k->direction);
    hash = mix(hash, (uintptr_t)k->exchange);
    hash = mix(hash, (uintptr_t)k->way);
    hash = mix(hash, (uint64_t)k->aggregators);
    hash = mix(hash, (uint64_t)k->window);
    return mix(hash, (uint64_t)(magnitude(k->run) << 8 | magnitude(k->stride)));
}

enum { PLACES = 2 * WR_CLASSES };

/* Where it is, or the empty place where it belongs: half of them stay empty. */
static int find_place(const wr_profile *p, const wr_call_kind *kind, uint64_t *place)
{
    int number;
    for (uint64_t at = hash_of(kind) % PLACES;; at = (at + 1) % PLACES) {
        *place = at;
        number = atomic_load_explicit(&p->place[at], memory_order_acquire) - 1;
        if (number < 0 || is_same(&p->class[number].kind, kind))
            return number;
    }
}

static int add_class(wr_profile *p, const wr_call_kind *kind)
{
    uint64_t place;
    pthread_mutex_lock(&p->lock);
    int number = find_place(p, kind, &place);
    if (number < 0 && p->classes == WR_CLASSES) {
        number = WR_CLASSES + (kind->direction == WR_WRITE);
    } else if (number < 0) {
        number = p->classes++;
        p->class[number] = (wr_class){.kind = *kind, .plan = -1};
        atomic_store_explicit(&p->place[place], (int16_t)(number + 1), memory_order_release);
    }
    pthread_mutex_unlock(&p->lock);
    return number;
}

/* With the lock held: a place for the text of its plan, if it is worth one. Whom it replaces must
 * have cost half as much, so that two do not take turns. */
static bool take_place(wr_profile *p, int number)
{
    wr_class *c = &p->class[number];
    int least = p->plans;
    if (c->plan >= 0)
        return false;
    if (p->plans == WR_PLANS) {
        least = 0;
        for (int i = 1; i < WR_PLANS; i++)
            if (p->class[p->plan[i].class].cost < p->class[p->plan[least].class].cost)
                least = i;
        if (c->cost / 2 < p->class[p->plan[least].class].cost)
            return false;
        p->class[p->plan[least].class].plan = -1;
    } else {
        p->plans++;
    }
    p->plan[least].class = number;
    p->plan[least].text[0] = '\0';
    c->plan = least;
    return true;
}

int wr_profile_class(wr_profile *p, const wr_call_kind *kind, int64_t cost, bool *wants_plan)
{
    uint64_t place;
    int number = find_place(p, kind, &place);
    if (number < 0)
        number = add_class(p, kind);
    wr_class *c = &p->class[number];
    atomic_fetch_add_explicit(&c->cost, cost, memory_order_relaxed);
    atomic_store_explicit(&c->rounds, kind->rounds, memory_order_relaxed);
    if (!wants_plan)
        return number;
    *wants_plan = false;
    if (number < WR_CLASSES && atomic_load_explicit(&c->plan, memory_order_relaxed) < 0) {
        pthread_mutex_lock(&p->lock);
        *wants_plan = take_place(p, number);
        pthread_mutex_unlock(&p->lock);
    }
    return number;
}

void wr_profile_set_plan(wr_profile *p, int number, const char *text)
{
    pthread_mutex_lock(&p->lock);
    const int at = p->class[number].plan;
    if (at >= 0)
        strncpy(p->plan[at].text, text, WR_PLAN_TEXT - 1);
    pthread_mutex_unlock(&p->lock);
}

void wr_profile_charge(wr_profile *p, wr_profiled_file *f)
{
    if (f->latest < 0)
        return;
    p->class[f->latest].moved += f->moved;
    p->class[f->latest].runs += f->runs;
    f->moved = f->runs = 0;
}

void wr_profile_call(wr_profile *p, const wr_finished *f, const wr_gathered *g)
{
    wr_class *c = &p->class[f->class];
    wr_profiled_file *file = &p->file[f->file];
    pthread_mutex_lock(&p->lock);
    if (g)
        add_gathered(p, g);
    file->latest = f->class;
    wr_profile_charge(p, file);
    c->count++;
    c->errors += f->failed;
    c->wanted += f->failed ? 0 : f->wanted;
    c->spent.ns += f->spent.ns;
    for (int i = 0; i < WR_PHASES; i++)
        c->spent.phase[i] += f->spent.phase[i];
    c->longest = wr_max(c->longest, f->spent.ns);
    pthread_mutex_unlock(&p->lock);
}
