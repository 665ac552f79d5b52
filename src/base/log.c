/* Log lines and events. Events are formatted into one buffer under a lock, and whole buffers are
 * written, so that an event costs well under a microsecond and no system call. Files are only
 * appended to, whole lines a call: every rank, and every communicator of a rank, writes to the
 * same one. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limit.h"
#include "base/memory.h"

enum { LINE = 512, DIGITS = 21, WHO = 64, HOST = 256, EVENT = 5 << 10, BUFFER = 30 << 10 };

struct wr_events {
    pthread_mutex_t lock;
    wr_events_sink *sink;
    void *user;
    int fd; /* ours to close, or -1 */
    int error;
    char who[WHO]; /* fields of every line */
    int64_t used;
    char buffer[BUFFER];
};

/* 0 or an errno. */
static int write_all(int fd, const char *text, int64_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, text, (size_t)length);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            text += n;
            length -= n;
        }
    }
    return 0;
}

void wr_log_line(const wr_log *log, int level, const char *format, ...)
{
    static const char *const names[] = {[WR_LOG_NONE] = "none",
                                        [WR_LOG_ERROR] = "error",
                                        [WR_LOG_WARN] = "warning",
                                        [WR_LOG_INFO] = "info",
                                        [WR_LOG_DEBUG] = "debug"};
    if (!log || level > log->level)
        return;
    char line[LINE];
    int head = snprintf(line, sizeof line, "weir: %s: ", names[level]);
    va_list args;
    va_start(args, format);
    int body = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    va_end(args);
    int length = head + body < LINE - 2 ? head + body : LINE - 2;
    line[length++] = '\n';
    if (log->sink)
        log->sink(log->user, line, length);
    else
        write_all(STDERR_FILENO, line, length);
}

void wr_log_write(const char *text, int64_t length)
{
    write_all(STDERR_FILENO, text, length);
}

int wr_events_new(wr_events **out, wr_events_sink *sink, void *user)
{
    wr_events *events = wr_alloc(sizeof *events);
    if (!events)
        return WEIR_ENOMEM;
    events->sink = sink;
    events->user = user;
    events->fd = -1;
    events->error = 0;
    events->who[0] = '\0';
    events->used = 0;
    pthread_mutex_init(&events->lock, NULL);
    *out = events;
    return 0;
}

static int file_sink(void *user, const char *lines, int64_t length)
{
    const wr_events *events = user;
    const int64_t at = lseek(events->fd, 0, SEEK_END); /* others append too; -1: a pipe */
    if (at >= 0 && at + length > wr_file_limit())
        return EFBIG;
    return write_all(events->fd, lines, length);
}

/* The path with the host's name for each %h. */
static int expand(const char *path, char *out, size_t size)
{
    char host[HOST] = "";
    size_t used = 0;
    gethostname(host, sizeof host - 1);
    while (*path) {
        bool named = path[0] == '%' && path[1] == 'h';
        size_t length = named ? strlen(host) : 1;
        if (used + length >= size)
            return wr_fail(WEIR_EINVAL, "the name of the file of events is too long");
        memcpy(out + used, named ? host : path, length);
        used += length;
        path += named ? 2 : 1;
    }
    out[used] = '\0';
    return 0;
}

int wr_events_open(wr_events **out, const char *path, int rank)
{
    char name[PATH_MAX];
    int code = expand(path, name, sizeof name);
    if (code)
        return code;
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return wr_fail_system(errno, name, -1, "open the file of events");
    code = wr_events_new(out, file_sink, NULL);
    if (code) {
        close(fd);
        return code;
    }
    (*out)->user = *out;
    (*out)->fd = fd;
    snprintf((*out)->who, WHO, " rank=%d pid=%ld", rank, (long)getpid());
    return 0;
}

static void flush(wr_events *events)
{
    if (!events->error && events->used > 0)
        events->error = events->sink(events->user, events->buffer, events->used);
    events->used = 0;
}

static char *put_text(char *at, const char *end, const char *text)
{
    size_t length = strlen(text), room = (size_t)(end - at);
    length = length < room ? length : room;
    memcpy(at, text, length);
    return at + length;
}

/* Last, because a name may have spaces; a line stays one. */
static char *put_file(char *at, const char *end, const char *file)
{
    char *from = at = put_text(at, end, " file=");
    at = put_text(at, end, file);
    for (; from < at; from++)
        *from = *from == '\n' ? '?' : *from;
    return at;
}

/* snprintf costs ten times as much, and an event is mostly numbers. */
static char *put_number(char *at, const char *end, int64_t value)
{
    char digits[DIGITS];
    char *d = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *--d = '\0';
    do {
        *--d = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        at = put_text(at, end, "-");
    return put_text(at, end, d);
}

void wr_events_add(wr_events *events, const char *name, const char *file, int count,
                   const wr_field *fields)
{
    char line[EVENT];
    const char *end = line + EVENT - 1;
    char *at = put_number(line, end, wr_clock_day_ns());
    at = put_text(at, end, " ");
    at = put_text(at, end, name);
    at = put_text(at, end, events->who);
    for (int i = 0; i < count; i++) {
        at = put_text(at, end, " ");
        at = put_text(at, end, fields[i].key);
        at = put_text(at, end, "=");
        at = put_number(at, end, fields[i].value);
    }
    if (file)
        at = put_file(at, end, file);
    *at++ = '\n';

    pthread_mutex_lock(&events->lock);
    if (events->used + (at - line) > BUFFER)
        flush(events);
    memcpy(events->buffer + events->used, line, (size_t)(at - line));
    events->used += at - line;
    pthread_mutex_unlock(&events->lock);
}

int wr_events_close(wr_events *events)
{
    if (!events)
        return 0;
    flush(events);
    int error = events->error;
    if (events->fd >= 0 && close(events->fd) && !error)
        error = errno;
    pthread_mutex_destroy(&events->lock);
    wr_free(events);
    return error ? wr_fail_system(error, "", -1, "write the events") : 0;
}
