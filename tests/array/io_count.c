#include "io_count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* The number behind KEY= in an event's line. */
static int64_t field(const char *line, const char *key)
{
    char text[40];
    snprintf(text, sizeof text, " %s=", key);
    const char *at = strstr(line, text);
    return at ? strtoll(at + strlen(text), NULL, 10) : 0;
}

static void count_line(io_count *c, const char *line)
{
    const char *name = strchr(line, ' ');
    CHECK(name && c->phase < IO_PHASES);
    if (!strncmp(name, " phase", 6))
        c->phase++;
    else if (!strncmp(name, " read ", 6)) {
        c->read[c->phase].requests++;
        c->read[c->phase].runs += field(line, "runs");
        c->read[c->phase].bytes += field(line, "done");
    } else if (!strncmp(name, " write ", 7)) {
        c->write[c->phase].requests++;
        c->write[c->phase].runs += field(line, "runs");
        c->write[c->phase].bytes += field(line, "done");
    }
}

static int sink(void *user, const char *lines, int64_t length)
{
    while (length > 0) {
        char line[1024];
        const char *end = memchr(lines, '\n', (size_t)length);
        CHECK(end && end - lines < (int64_t)sizeof line);
        memcpy(line, lines, (size_t)(end - lines));
        line[end - lines] = 0;
        count_line(user, line);
        length -= end + 1 - lines;
        lines = end + 1;
    }
    return 0;
}

void io_count_watch(wr_world *w, io_count *c)
{
    CHECK(!w->events && !wr_events_new(&w->events, sink, c));
}

void io_count_next(wr_world *w)
{
    wr_events_add(w->events, "phase", NULL, 0, NULL);
}
