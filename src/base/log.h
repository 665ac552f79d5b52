/* The two ways the library speaks: log lines for people, trace events for tools.
 *
 * Both go to a sink chosen by the owner; neither can fail the work they report on. Levels and trace
 * file come from the tunables `log` and `trace`; both are off by default. */
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

/* One event is one line: nanoseconds since 1970, name, key=value ..., file=NAME if there is one.
 * What it is given is borrowed for the call. Threads may share a trace. */
typedef struct wr_trace wr_trace;

typedef struct wr_field {
    const char *key;
    int64_t value;
} wr_field;

/* Receives whole lines; returns 0 or an errno, after which the trace drops everything. */
typedef int wr_trace_sink(void *user, const char *lines, int64_t length);

/* At most 32 KiB of memory. */
int wr_trace_new(wr_trace **out, wr_trace_sink *sink, void *user);

/* A trace appended to the file `path`, in which %h becomes the name of the host; every line says
 * rank and process too. Others may append to the same file at the same time. */
int wr_trace_open(wr_trace **out, const char *path, int rank);

/* Call through WR_TRACE: a NULL trace costs one comparison. `file` may be NULL. */
void wr_trace_event(wr_trace *trace, const char *name, const char *file, int count,
                    const wr_field *fields);

/* Hands over what is buffered and frees; returns the first error of the sink. NULL is fine. */
int wr_trace_close(wr_trace *trace);

#define WR_TRACE(trace, name, file, ...)                                                           \
    do {                                                                                           \
        if (trace) {                                                                               \
            const wr_field fields_[] = {__VA_ARGS__};                                              \
            wr_trace_event((trace), (name), (file), (int)(sizeof fields_ / sizeof *fields_),       \
                           fields_);                                                               \
        }                                                                                          \
    } while (0)

#endif
