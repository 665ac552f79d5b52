/* Writing a profile: docs/trace-format.md. Under another name first, so that whoever looks finds
 * all of it or what was there before. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limit.h"
#include "base/memory.h"
#include "base/profile_tables.h"

enum { BUFFER = 16 << 10, LINE = 512, NAME = WR_PROFILE_TEXT + 64 };
enum {
    INTERVAL_S = 5,
    CLOSED_INTERVAL_S = 1,
    SHARE = 100 /* of the time is for saving, at most */
};

typedef struct text {
    int fd, error;
    int64_t written;
    size_t used;
    char buffer[BUFFER];
} text;

static void flush(text *t)
{
    if (!t->error && t->written + (int64_t)t->used > wr_file_limit())
        t->error = EFBIG;
    for (size_t at = 0; at < t->used && !t->error;) {
        ssize_t n = write(t->fd, t->buffer + at, t->used - at);
        if (n < 0 && errno != EINTR)
            t->error = errno;
        at += n > 0 ? (size_t)n : 0;
    }
    t->written += (int64_t)t->used;
    t->used = 0;
}

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* At most LINE bytes. */
static void put(text *t, const char *format, ...)
{
    if (BUFFER - t->used < LINE)
        flush(t);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->buffer + t->used, LINE, format, args);
    va_end(args);
    t->used += n < LINE ? (size_t)n : LINE - 1;
}

/* The rest of a line that is somebody else's text. */
static void put_rest(text *t, const char *from)
{
    for (; *from; from++) {
        if (BUFFER - t->used < 4)
            flush(t);
        if (*from == '\n' || *from == '\\')
            t->buffer[t->used++] = '\\';
        t->buffer[t->used++] = (char)(*from == '\n' ? 'n' : *from);
    }
    t->buffer[t->used++] = '\n';
}

static void put_head(const wr_profile *p, text *t, int64_t now, bool complete)
{
    put(t, "weir-trace 1\njob %016llx\nrank %d %d\nhost ", (unsigned long long)p->job, p->rank,
        p->size);
    put_rest(t, p->host);
    put(t, "node %d\nversion %s\nprogram ", p->node, p->version);
    put_rest(t, program_invocation_short_name);
    put(t, "start %lld\nlength %lld\ncomplete %d\nmemory %lld\n", (long long)p->day,
        (long long)(now - p->start), complete, (long long)wr_memory_peak());
}

static void put_bins(const wr_profile *p, text *t, int count)
{
    static const char *const names[] = {"exchange", "access", "wait"};
    put(t, "bins %d %lld\n", count, (long long)p->width);
    for (int phase = 0; phase < WR_PHASES; phase++)
        for (int i = 0; i < WR_BINS; i++)
            if (p->time[phase][i])
                put(t, "time %s %d %lld\n", names[phase], i, (long long)p->time[phase][i]);
    for (int i = 0; i < WR_BINS; i++)
        if (p->behind[i])
            put(t, "behind %d %lld\n", i, (long long)p->behind[i]);
}

static void put_cells(const wr_profiled_file *f, text *t, int number, int d)
{
    for (int i = 0; i < f->bins; i++)
        for (int row = 0; row < WR_ROWS; row++)
            if (f->cells[d][i][row])
                put(t, "cell %d %s %d %d %lld\n", number, d == WR_READ ? "read" : "write", row, i,
                    (long long)f->cells[d][i][row]);
}

static void put_file(wr_profile *p, text *t, int number)
{
    wr_profiled_file *f = &p->file[number];
    wr_profile_charge(p, f);
    put(t, "file %d %lld ", number, (long long)f->size);
    put_rest(t, f->name);
    put(t, "span %d %lld\n", number, 1LL << f->shift);
    put_cells(f, t, number, WR_READ);
    put_cells(f, t, number, WR_WRITE);
}

static void put_class(const wr_profile *p, text *t, int number)
{
    static const char *const forms[] = {"blocking", "split", "nonblocking"};
    const wr_class *c = &p->class[number];
    const wr_call_kind *k = &c->kind;
    if (!c->count && !c->moved)
        return;
    put(t, "call %d %d %s %s %s %lld %lld %lld %lld", number, k->file,
        k->direction == WR_READ ? "read" : "write", k->together ? "together" : "alone",
        forms[k->form], (long long)c->count, (long long)c->wanted, (long long)c->moved,
        (long long)c->runs);
    put(t, " %lld %lld %lld %lld %lld %lld\n", (long long)c->spent.ns,
        (long long)c->spent.phase[WR_EXCHANGING], (long long)c->spent.phase[WR_ACCESSING],
        (long long)c->spent.phase[WR_WAITING], (long long)c->longest, (long long)c->errors);
    if (number < WR_CLASSES)
        put(t, "shape %d %lld %lld %lld %lld %lld %s %s\n", number, (long long)k->aggregators,
            (long long)k->window, (long long)c->rounds, (long long)k->run, (long long)k->stride,
            k->exchange, k->way);
    if (c->plan >= 0) {
        put(t, "plan %d ", number);
        put_rest(t, p->plan[c->plan].text);
    }
}

static void put_all(wr_profile *p, text *t, int64_t now, bool complete)
{
    int64_t errors = 0;
    put_head(p, t, now, complete);
    put_bins(p, t, wr_profile_bin(p, now) + 1);
    for (int i = 0; i < p->files; i++)
        put_file(p, t, i);
    if (p->file[WR_PROFILED_FILES].size)
        put_file(p, t, WR_PROFILED_FILES);
    for (int i = 0; i < WR_CLASSES + 2; i++) {
        put_class(p, t, i);
        errors += p->class[i].errors;
    }
    for (int i = 0; i <= WR_PARTNERS; i++)
        if (p->partner[i].ns)
            put(t, "waited %d %lld\n", p->partner[i].rank, (long long)p->partner[i].ns);
    put(t, "errors %lld\nend\n", (long long)errors);
}

/* --- where to --- */

static void name_file(const wr_profile *p, const char *suffix, char name[NAME])
{
    snprintf(name, NAME, "%s/%016llx.%d.%s", p->folder, (unsigned long long)p->job, p->rank,
             suffix);
}

/* Somebody has asked for it, and would find nothing after a day: rank 0 says so. */
static void give_up(wr_profile *p, const char *name, int error)
{
    char line[NAME + 128];
    p->broken = true;
    if (p->rank || p->log.sink || p->log.level >= WR_LOG_WARN) {
        wr_log_line(&p->log, p->rank ? WR_LOG_INFO : WR_LOG_WARN, "no trace: cannot write %s: %s",
                    name, strerror(error));
        return;
    }
    const int length = snprintf(line, sizeof line, "weir: no trace: cannot write %s: %.80s\n", name,
                                strerror(error));
    wr_log_write(line, length);
}

static int write_part(wr_profile *p, const char *part, int64_t now, bool complete)
{
    text *t = wr_alloc(sizeof *t);
    if (!t)
        return ENOMEM;
    t->error = 0;
    t->written = 0;
    t->used = 0;
    t->fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    int error = t->fd < 0 ? errno : 0;
    if (!error) {
        put_all(p, t, now, complete);
        flush(t);
        error = t->error;
        if (close(t->fd) && !error)
            error = errno;
    }
    wr_free(t);
    return error;
}

/* With the lock held. */
static void save(wr_profile *p, bool complete)
{
    char name[NAME], part[NAME];
    const int64_t now = wr_clock_ns();
    p->next = p->next_closed = INT64_MAX;
    if (p->broken || getpid() != p->process)
        return;
    name_file(p, "weir", name);
    name_file(p, "part", part);
    int error = mkdir(p->folder, 0777) && errno != EEXIST ? errno : 0;
    if (!error)
        error = write_part(p, part, now, complete);
    if (!error && rename(part, name))
        error = errno;
    if (error) {
        unlink(part);
        give_up(p, name, error);
        return;
    }
    p->written = true;
    const int64_t then = wr_clock_ns(), pause = SHARE * (then - now), second = 1000000000;
    p->next = then + wr_max(INTERVAL_S * second, pause);
    p->next_closed = then + wr_max(CLOSED_INTERVAL_S * second, pause);
}

void wr_profile_save(wr_profile *p, bool complete)
{
    const weir_error error = *weir_error_last(); /* of the work, which is not about this */
    pthread_mutex_lock(&p->lock);
    save(p, complete);
    pthread_mutex_unlock(&p->lock);
    wr_error_raise(&error);
}

void wr_profile_save_now_and_then(wr_profile *p, int64_t now)
{
    if (now >= atomic_load_explicit(&p->next, memory_order_relaxed))
        wr_profile_save(p, false);
}

void wr_profile_save_closed(wr_profile *p)
{
    if (wr_clock_ns() >= atomic_load_explicit(&p->next_closed, memory_order_relaxed))
        wr_profile_save(p, false);
}

void wr_profile_rename(wr_profile *p, const wr_identity *who)
{
    char name[NAME];
    const int64_t now = wr_clock_ns();
    pthread_mutex_lock(&p->lock);
    if ((p->job != who->job || p->rank != who->rank) && p->written && getpid() == p->process) {
        name_file(p, "weir", name);
        unlink(name);
        p->written = false;
        p->next_closed = now;
    }
    p->job = who->job;
    p->rank = who->rank;
    p->size = who->size;
    p->node = who->node;
    pthread_mutex_unlock(&p->lock);
}
