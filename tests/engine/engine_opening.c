/* Who opens a file and reads a little touches nothing else: no file is made beside it, nothing is
 * written, and it is opened no more often than it must be. Who moves much is timed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "check.h"
#include "file/inside.h"
#include "transport/local.h"

enum { BYTES = 4000, MUCH = 4 << 20, TIMES = 4 };

/* What has happened in a folder. */
typedef struct events {
    int opens, reads, changes;
} events;

static events look(int watch)
{
    static _Alignas(struct inotify_event) char buffer[1 << 16];
    events e = {0};
    ssize_t got = read(watch, buffer, sizeof buffer);
    for (char *at = buffer; got > 0 && at < buffer + got;) {
        const struct inotify_event *one = (const void *)at;
        e.opens += !!(one->mask & IN_OPEN);
        e.reads += !!(one->mask & IN_ACCESS);
        e.changes += !!(one->mask & (IN_CREATE | IN_DELETE | IN_MODIFY | IN_MOVE | IN_ATTRIB));
        at += sizeof *one + one->len;
    }
    return e;
}

static void read_once(wr_transport *t, void *user)
{
    static char memory[BYTES];
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    weir_pattern *all;
    wr_tunables_init(&tunables);
    CHECK(!weir_pattern_contiguous(0, BYTES, &all));
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, user, WEIR_READ, NULL, &f));
    CHECK(!weir_file_read(f, all, all, memory, NULL, NULL));
    CHECK_EQUAL(memory[BYTES - 1], 'x');
    CHECK(!weir_file_close(f));
    weir_pattern_free(all);
    wr_world_release(w);
}

static void write_much(wr_transport *t, void *user)
{
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    weir_pattern *all;
    char *memory = calloc(1, MUCH);
    wr_tunables_init(&tunables);
    CHECK(memory && !weir_pattern_contiguous(0, MUCH, &all));
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, user, WEIR_READ | WEIR_WRITE, "costs_folder=none", &f));
    for (int i = 0; i < TIMES; i++) {
        CHECK(!weir_file_write(f, all, all, memory, NULL, NULL));
        CHECK(!weir_file_read_all(f, all, all, memory, NULL, NULL));
    }
    CHECK_EQUAL(f->group.handle.samples.of[WR_WRITE].larges, TIMES);
    CHECK(f->group.handle.samples.of[WR_READ].larges >= TIMES);
    CHECK(!weir_file_close(f));
    weir_pattern_free(all);
    wr_world_release(w);
    free(memory);
}

static void put_file(const char *path)
{
    char bytes[BYTES];
    memset(bytes, 'x', sizeof bytes);
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    CHECK(fd >= 0 && write(fd, bytes, sizeof bytes) == BYTES && !close(fd));
}

int main(void)
{
    char folder[] = "engine-opening-XXXXXX", path[64];
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    check_within(30);
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    put_file(path);
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch < 0 || inotify_add_watch(watch, folder, IN_ALL_EVENTS) < 0) {
        unlink(path);
        rmdir(folder);
        fprintf(stderr, "engine_opening: no inotify\n");
        return 77;
    }
    CHECK(!wr_local_run(1, &tunables, read_once, path));
    events e = look(watch);
    CHECK_EQUAL(e.changes, 0);
    CHECK(e.opens <= 2 && e.reads <= 2); /* once to see whether it is a description */
    CHECK(!wr_local_run(1, &tunables, write_much, path));
    close(watch);
    CHECK(!unlink(path) && !rmdir(folder));
    return 0;
}
