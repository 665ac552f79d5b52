#include "storage_support.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void keep_line(void *user, const char *line, int length)
{
    opened *o = user;
    size_t used = strlen(o->logged);
    snprintf(o->logged + used, sizeof o->logged - used, "%.*s", length, line);
}

/* Everything but the file. */
static wr_storage_options prepare(opened *o, const char *hints, int64_t limit)
{
    memset(o, 0, sizeof *o);
    wr_tunables_init(&o->tunables);
    CHECK_EQUAL(wr_tunables_set_hints(&o->tunables, hints), 0);
    wr_budget_init(&o->budget, limit);
    o->log = (wr_log){.level = WR_LOG_DEBUG, .sink = keep_line, .user = o};
    return (wr_storage_options){.tunables = &o->tunables, .log = &o->log, .budget = &o->budget};
}

int open_hints(opened *o, const char *path, int flags, const char *hints, int64_t limit)
{
    wr_storage_options options = prepare(o, hints, limit);
    return wr_storage_open(path, flags, &options, &o->storage);
}

int open_members(opened *o, const wr_members *members, int flags, const char *hints)
{
    wr_storage_options options = prepare(o, hints, 64 << 20);
    options.members = members;
    return wr_storage_open("set", flags, &options, &o->storage);
}

void open_well(opened *o, const char *path, int flags, const char *hints)
{
    int code = open_hints(o, path, flags, hints, 64 << 20);
    if (code)
        fprintf(stderr, "%s: %s\n", hints, weir_error_last()->text);
    CHECK_EQUAL(code, 0);
}

void close_well(opened *o)
{
    wr_storage_close(o->storage);
    o->storage = NULL;
    CHECK_EQUAL(o->budget.used, 0);
    CHECK(o->budget.peak <= o->budget.limit);
}

const char *test_path(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "storage-test-%s-%d", name, (int)getpid());
    return path;
}

void forget_file(const char *path)
{
    wr_storage_remove(path);
    wr_mem_unlink(path);
}

void put_file(const char *path, const char *hints, char *bytes, int64_t count)
{
    opened o;
    wr_transfer t = flat_transfer(WR_WRITE, 0, bytes, count);
    open_well(&o, path, FRESH, hints);
    CHECK(!wr_storage_run(o.storage, &t));
    close_well(&o);
}

int64_t get_file(const char *path, const char *hints, char *bytes, int64_t count)
{
    opened o;
    wr_transfer t = flat_transfer(WR_READ, 0, bytes, count);
    open_well(&o, path, WR_OPEN_READ, hints);
    wr_storage_submit(o.storage, &t);
    CHECK(wr_storage_reap(o.storage, true) == &t && !t.error);
    close_well(&o);
    return t.done;
}

char pattern_byte(int64_t key, int64_t at)
{
    return (char)(1 + (at * 31 + (at >> 8) * 17 + (at >> 16) * 13 + key * 101) % 251);
}

void fill_pattern(char *memory, int64_t bytes, int64_t key)
{
    for (int64_t i = 0; i < bytes; i++)
        memory[i] = pattern_byte(key, i);
}

bool has_pattern(const char *memory, int64_t bytes, int64_t key)
{
    for (int64_t i = 0; i < bytes; i++)
        if (memory[i] != pattern_byte(key, i))
            return false;
    return true;
}

wr_transfer flat_transfer(enum wr_direction direction, int64_t offset, char *memory, int64_t bytes)
{
    return (wr_transfer){
        .direction = direction, .offset = offset, .run = bytes, .count = 1, .memory = memory};
}

int count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder);
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}
