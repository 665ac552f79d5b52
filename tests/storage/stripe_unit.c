/* How file systems deal files over their servers: what Lustre tells, made up, and what follows.
 * This program has its own getxattr, which tells it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "file/file.h"
#include "storage/system_stripe.h"
#include "storage_support.h"
#include "transport/local.h"

enum { RANKS = 3, MIB = 1 << 20, PLAIN = 0x0BD10BD0, POOLED = 0x0BD30BD0, COMPOSITE = 0x0BD60BD0 };

static unsigned char attribute[4096];
static int64_t attribute_size; /* 0: the file system has none */

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    CHECK(path && !strcmp(name, "lustre.lov"));
    errno = !attribute_size ? EOPNOTSUPP : ERANGE;
    if (!attribute_size || (int64_t)size < attribute_size)
        return -1;
    memcpy(value, attribute, (size_t)attribute_size);
    return (ssize_t)attribute_size;
}

static void put(int64_t at, int width, uint64_t number)
{
    for (int i = 0; i < width; i++)
        attribute[at + i] = (unsigned char)(number >> 8 * i);
}

static void put_plain(int64_t at, uint64_t magic, uint64_t pattern, uint64_t bytes, uint64_t count)
{
    put(at, 4, magic);
    put(at + 4, 4, pattern);
    put(at + 24, 4, bytes);
    put(at + 28, 2, count);
}

/* A component that begins at `from`, whose layout is at `at`. */
static void put_component(int i, uint64_t from, uint64_t to, uint64_t at)
{
    const int64_t entry = 32 + 48 * (int64_t)i;
    put(entry + 8, 8, from);
    put(entry + 16, 8, to);
    put(entry + 24, 4, at);
    put(entry + 28, 4, 32);
}

/* The first 64 KiB with the names, then 1 MiB at a time on two servers, then 4 MiB on all. */
static void put_composite(void)
{
    memset(attribute, 0, sizeof attribute);
    put(0, 4, COMPOSITE);
    put(14, 2, 3);
    put_component(0, 0, 65536, 176);
    put_component(1, 65536, 1 << 30, 208);
    put_component(2, 1 << 30, UINT64_MAX, 240);
    put_plain(176, PLAIN, 0x100, 65536, 0);
    put_plain(208, PLAIN, 1, MIB, 2);
    put_plain(240, POOLED, 1, 4 * MIB, 0xFFFF);
    attribute_size = 272;
}

static void put_simple(uint64_t magic, uint64_t bytes, uint64_t count)
{
    memset(attribute, 0, sizeof attribute);
    put_plain(0, magic, 1, bytes, count);
    attribute_size = 32 + 24 * (int64_t)count;
}

static void expect(bool good, int64_t bytes, int64_t servers)
{
    wr_system_stripe s;
    CHECK_EQUAL(wr_system_stripe_parse(attribute, attribute_size, &s), good);
    CHECK(!good || (s.bytes == bytes && s.servers == servers));
}

static void test_parser(void)
{
    wr_system_stripe s;
    put_simple(PLAIN, MIB, 4);
    expect(true, MIB, 4);
    put_simple(POOLED, 3 * MIB, 100);
    expect(true, 3 * MIB, 100);
    put_simple(PLAIN, 0, 4);
    expect(false, 0, 0);
    put_simple(0x0BD20BD0, MIB, 4);
    expect(false, 0, 0);
    put_composite();
    expect(true, 4 * MIB, 0);
    put(240, 4, 0); /* the last is nothing known */
    expect(true, MIB, 2);
    put(208, 4, 0); /* only what is with the names is left */
    expect(false, 0, 0);
    put_composite();
    put(14, 2, 0xFFFF); /* more than there are */
    expect(true, 4 * MIB, 0);
    put_component(2, 0, 0, 0xFFFFFFFF);
    expect(true, MIB, 2);
    put_composite();
    for (int64_t cut = 0; cut <= attribute_size; cut++) { /* no byte behind it is looked at */
        unsigned char *copy = malloc((size_t)cut + 1);
        CHECK(copy);
        memcpy(copy, attribute, (size_t)cut);
        wr_system_stripe_parse(copy, cut, &s);
        free(copy);
    }
}

static void test_asking(const char *path)
{
    wr_system_stripe s = wr_system_stripe_ask(path, true);
    CHECK(attribute_size == 272 && s.bytes == 4 * MIB && s.servers == 0);
    put_simple(PLAIN, MIB, 160); /* longer than usual */
    s = wr_system_stripe_ask(path, true);
    CHECK(s.bytes == MIB && s.servers == 160);
    put_simple(PLAIN, 1 << 30, 1);
    s = wr_system_stripe_ask(path, true);
    CHECK(s.bytes == WR_STRIPE_MOST && s.servers == 1);
    attribute_size = 0;
    CHECK_EQUAL(wr_system_stripe_ask(path, true).bytes, 0);
    CHECK(wr_system_stripe_ask("/proc/self/no such file", false).bytes == 0);
}

/* --- an open file --- */

typedef struct scene {
    const char *path, *hints;
    int64_t unit;
    char logged[2048];
} scene;

static void keep_line(void *user, const char *line, int length)
{
    scene *s = user; /* only rank 0 has something to say */
    size_t used = strlen(s->logged);
    snprintf(s->logged + used, sizeof s->logged - used, "%.*s", length, line);
}

static void open_file(wr_transport *t, void *user)
{
    scene *s = user;
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    wr_tunables_init(&tunables);
    CHECK(!wr_tunables_set_hints(&tunables, "log=info"));
    CHECK(!wr_world_open(t, &tunables, &w));
    if (t->rank == 0) {
        w->log.sink = keep_line;
        w->log.user = s;
    } else {
        w->log.level = WR_LOG_NONE;
    }
    CHECK(!wr_file_open(w, s->path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, s->hints, &f));
    CHECK_EQUAL(wr_file_tunables(f)->striping_unit, s->unit);
    CHECK(!wr_file_set_hints(f, "window=1M", 0));
    CHECK_EQUAL(wr_file_tunables(f)->striping_unit, attribute_size ? 4 * MIB : 0);
    CHECK(!wr_file_set_hints(f, "striping_unit=8K", 0));
    CHECK_EQUAL(wr_file_tunables(f)->striping_unit, 8192);
    CHECK(!weir_file_close(f));
    wr_world_release(w);
}

static void play(const char *path, const char *hints, int64_t unit, bool told)
{
    scene s = {.path = path, .hints = hints, .unit = unit};
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(RANKS, &tunables, open_file, &s));
    CHECK_EQUAL(strstr(s.logged, "stripes of 4194304 bytes over 6 servers") != NULL, told);
}

int main(void)
{
    check_within(30);
    const char *path = test_path("stripe");
    test_parser();
    put_composite();
    test_asking(path);
    put_simple(PLAIN, 4 * MIB, 6);
    play(path, NULL, 4 * MIB, true);
    play(path, "striping_unit=64K", 64 << 10, true);
    play(path, "realm_align=4K", 0, true); /* what the user has said holds */
    attribute_size = 0;
    play(path, NULL, 0, false);
    forget_file(path);
    return 0;
}
