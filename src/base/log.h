/* The two ways the library speaks: log lines for people, events for tools.
 *
 * Both go to a sink chosen by the owner; neither can fail the work they report on. The level
 * and the file of events are the tunables `log` and `events`; both are off by default. */
#ifndef WR_BASE_LOG_H
#define WR_BASE_LOG_H

#include <stdint.h>

enum wr_log_level { WR_LOG_NONE, WR_LOG_ERROR, WR_LOG_WARN, WR_LOG_INFO, WR_LOG_DEBUG };

/* A zeroed log is silent. */
typedef struct wr_log {
    int level;
    void (*sink)(void *user, const char *line, int length); /* NULL: standard error */
    void *user;
} wr_log;

/* Hands "weir: level: text\n" to the sink if the log's level asks for it; cut at 512 bytes. */
void wr_log_line(const wr_log *log, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* To standard error, whatever the level: for what was asked for by another tunable. */
void wr_log_write(const char *text, int64_t length);

/* One event is one line: nanoseconds since 1970, name, key=value ..., file=NAME if there is one.
 * What it is given is borrowed for the call. Threads may share them. */
typedef struct wr_events wr_events;

typedef struct wr_field {
    const char *key;
    int64_t value;
} wr_field;

/* Receives whole lines; returns 0 or an errno, after which everything is dropped. */
typedef int wr_events_sink(void *user, const char *lines, int64_t length);

/* At most 32 KiB of memory. */
int wr_events_new(wr_events **out, wr_events_sink *sink, void *user);

/* Events appended to the file `path`, in which %h becomes the name of the host; every line says
 * rank and process too. Others may append to the same file at the same time. */
int wr_events_open(wr_events **out, const char *path, int rank);

/* Call through WR_EVENT: NULL costs one comparison. `file` may be NULL. */
void wr_events_add(wr_events *events, const char *name, const char *file, int count,
                   const wr_field *fields);

/* Hands over what is buffered and frees; returns the first error of the sink. NULL is fine. */
int wr_events_close(wr_events *events);

#define WR_EVENT(events, name, file, ...)                                                          \
    do {                                                                                           \
        if (events) {                                                                              \
            const wr_field fields_[] = {__VA_ARGS__};                                              \
            wr_events_add((events), (name), (file), (int)(sizeof fields_ / sizeof *fields_),       \
                          fields_);                                                                \
        }                                                                                          \
    } while (0)

#endif
