/* Striped files: what lies where, their life from creating to removing, and what can be wrong. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arith.h"
#include "storage/stripes.h"
#include "storage_support.h"

enum { DISKS = 3, BLOCK = 100 };

/* In a folder of its own, whose files can be counted. */
static const char hints[] = "storage=striped;disks=d0:d1:d2;striping_unit=100";
static const char name[] = "file";

static void make_disks(void)
{
    char folder[100];
    snprintf(folder, sizeof folder, "striped-test-%d", (int)getpid());
    CHECK(!mkdir(folder, 0777) && !chdir(folder));
    for (int i = 0; i < DISKS; i++) {
        snprintf(folder, sizeof folder, "d%d", i);
        CHECK(!mkdir(folder, 0777));
    }
}

static void remove_disks(void)
{
    char folder[100];
    for (int i = 0; i < DISKS; i++) {
        snprintf(folder, sizeof folder, "d%d", i);
        CHECK(!rmdir(folder));
    }
    CHECK(!chdir(".."));
    snprintf(folder, sizeof folder, "striped-test-%d", (int)getpid());
    CHECK(!rmdir(folder));
}

static int count_in(const char *folder)
{
    DIR *d = opendir(folder);
    CHECK(d);
    int count = -2; /* itself and what contains it */
    while (readdir(d))
        count++;
    closedir(d);
    return count;
}

/* Nothing but the empty disks. */
static void check_clean(void)
{
    CHECK_EQUAL(count_in("."), DISKS);
    for (int i = 0; i < DISKS; i++)
        CHECK_EQUAL(count_in((const char *[]){"d0", "d1", "d2"}[i]), 0);
}

static void remove_well(const char *path)
{
    CHECK_EQUAL(wr_storage_remove(path), 0);
    check_clean();
}

/* The bytes of part i, as the system sees them. */
static int64_t read_part(const opened *o, int64_t i, char *bytes, size_t most)
{
    int64_t offset = i * BLOCK;
    int fd = open(wr_storage_locate(o->storage, &offset), O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    ssize_t got = read(fd, bytes, most);
    close(fd);
    return got;
}

static void write_at(opened *o, int64_t offset, char *bytes, int64_t count)
{
    wr_transfer t = flat_transfer(WR_WRITE, offset, bytes, count);
    CHECK_EQUAL(wr_storage_run(o->storage, &t), 0);
}

/* How many of `count` bytes from `offset` on there are. */
static int64_t read_at(opened *o, int64_t offset, char *bytes, int64_t count)
{
    wr_transfer t = flat_transfer(WR_READ, offset, bytes, count);
    memset(bytes, 0x55, (size_t)count);
    wr_storage_submit(o->storage, &t);
    CHECK(wr_storage_reap(o->storage, true) == &t && !t.error);
    return t.done;
}

static int64_t size_of(const opened *o)
{
    int64_t size;
    CHECK_EQUAL(wr_storage_get_size(o->storage, &size), 0);
    return size;
}

/* Block b is block b div n of part b mod n; another opens the file without knowing that, and under
 * another name. */
static void test_layout(void)
{
    char bytes[1050], back[2000];
    opened o;
    fill_pattern(bytes, sizeof bytes, 1);
    open_well(&o, name, FRESH, hints);
    CHECK_EQUAL(o.storage->facts.disks, DISKS);
    CHECK_EQUAL(o.storage->facts.stripe, BLOCK);
    write_at(&o, 0, bytes, sizeof bytes);
    CHECK_EQUAL(size_of(&o), 1050);
    for (int64_t i = 0; i < DISKS; i++) {
        int64_t got = read_part(&o, i, back, sizeof back);
        CHECK_EQUAL(got, i == 0 ? 400 : i == 1 ? 350 : 300);
        for (int64_t k = 0; k < got; k++)
            CHECK(back[k] == bytes[(k / BLOCK * DISKS + i) * BLOCK + k % BLOCK]);
    }
    CHECK_EQUAL(wr_storage_sync(o.storage, WR_SYNC_STORE), 0);
    close_well(&o);
    CHECK(!rename(name, "other"));
    CHECK_EQUAL(get_file("other", "storage=auto", back, sizeof back), 1050);
    CHECK(has_pattern(back, 1050, 1));
    CHECK_EQUAL(get_file("other", "storage=uring;direct=always", back, sizeof back), 1050);
    CHECK(has_pattern(back, 1050, 1));
    open_well(&o, "other", FRESH, "storage=striped;disks=d1;striping_unit=7"); /* as it is */
    CHECK_EQUAL(o.storage->facts.disks, DISKS);
    CHECK_EQUAL(size_of(&o), 1050);
    close_well(&o);
    remove_well("other");
}

/* Runs that are whole rows apart are one piece on one disk: as fast, and right. */
static void test_rows(void)
{
    char bytes[600], back[600], flat[6 * DISKS * BLOCK];
    opened o;
    fill_pattern(bytes, sizeof bytes, 2);
    open_well(&o, name, FRESH, hints);
    for (int64_t disk = 0; disk < DISKS; disk++)
        for (int64_t rows = 1; rows <= 2; rows++) {
            CHECK_EQUAL(wr_storage_set_size(o.storage, 0), 0);
            wr_transfer t = {.direction = WR_WRITE,
                             .offset = disk * BLOCK + 10,
                             .run = 50,
                             .count = 3,
                             .stride = rows * DISKS * BLOCK,
                             .memory = bytes,
                             .memory_stride = 200};
            CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
            t.direction = WR_READ;
            t.memory = back;
            CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
            read_at(&o, 0, flat, sizeof flat);
            for (int64_t i = 0; i < 3; i++) {
                CHECK(!memcmp(back + i * 200, bytes + i * 200, 50));
                CHECK(!memcmp(flat + t.offset + i * t.stride, bytes + i * 200, 50));
            }
            CHECK_EQUAL(size_of(&o), t.offset + 2 * t.stride + 50);
        }
    close_well(&o);
    remove_well(name);
}

/* Only the file as a whole ends: where a part is shorter there are zeros. */
static void test_holes(void)
{
    static char back[5000];
    char byte = 7;
    opened o;
    open_well(&o, name, FRESH, hints);
    write_at(&o, 1234, &byte, 1); /* on disk 0; the others are empty */
    CHECK_EQUAL(size_of(&o), 1235);
    CHECK_EQUAL(read_at(&o, 0, back, 5000), 1235);
    for (int64_t i = 0; i < 1234; i++)
        CHECK_EQUAL(back[i], 0);
    CHECK_EQUAL(back[1234], 7);
    CHECK_EQUAL(read_at(&o, 1100, back, 134), 134);
    CHECK_EQUAL(read_at(&o, 1235, back, 10), 0);
    wr_transfer t = {.run = 30, .count = 40, .stride = 70, .memory = back, .memory_stride = 31};
    wr_storage_submit(o.storage, &t);
    CHECK(wr_storage_reap(o.storage, true) == &t && !t.error);
    CHECK_EQUAL(t.done, 1235 / 70 * 30 + wr_min(30, 1235 % 70));
    t = (wr_transfer){.offset = 1400, .run = 30, .count = 20, .stride = -70, .memory = back};
    t.memory_stride = 30;
    wr_storage_submit(o.storage, &t);
    CHECK(wr_storage_reap(o.storage, true) == &t && !t.error && !t.done);
    t.offset = 1190; /* backwards, all of it there */
    t.count = 17;
    CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
    close_well(&o);
    remove_well(name);
}

/* Every size from every other: what is cut off does not come back. */
static void test_sizes(void)
{
    static char bytes[1000], back[1000];
    static const int64_t sizes[] = {0, 1, 99, 100, 101, 299, 300, 301, 555, 900};
    opened o, other;
    fill_pattern(bytes, sizeof bytes, 3);
    open_well(&o, name, FRESH, hints);
    open_well(&other, name, READ_WRITE, "storage=posix");
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < 10; k++) {
            int64_t kept = wr_min(sizes[i], sizes[k]);
            write_at(&o, 0, bytes, sizeof bytes);
            CHECK_EQUAL(wr_storage_set_size(o.storage, sizes[i]), 0);
            CHECK_EQUAL(size_of(&other), sizes[i]);
            CHECK_EQUAL(wr_storage_set_size(other.storage, sizes[k]), 0);
            CHECK_EQUAL(size_of(&o), sizes[k]);
            CHECK_EQUAL(read_at(&o, 0, back, sizeof back), sizes[k]);
            CHECK(has_pattern(back, kept, 3));
            for (int64_t at = kept; at < sizes[k]; at++)
                CHECK_EQUAL(back[at], 0);
        }
    CHECK_FAILS(wr_storage_set_size(o.storage, -1), WEIR_EINVAL, "set the size");
    CHECK_EQUAL(wr_storage_preallocate(o.storage, 2000), 0);
    CHECK_EQUAL(size_of(&o), 2000);
    const int64_t far = INT64_C(5) << 40;
    write_at(&o, far, bytes, 300);
    CHECK_EQUAL(size_of(&other), far + 300);
    CHECK_EQUAL(read_at(&other, far - 10, back, 400), 310);
    CHECK(has_pattern(back + 10, 300, 3));
    close_well(&o);
    close_well(&other);
    open_well(&o, name, FRESH | WR_OPEN_TRUNCATE, "storage=auto");
    CHECK_EQUAL(size_of(&o), 0);
    close_well(&o);
    remove_well(name);
}

/* Shares and reaches against dealing byte by byte. */
static void test_arithmetic(void)
{
    for (int64_t count = 1; count <= 4; count++)
        for (int64_t block = 1; block <= 3; block++) {
            wr_stripes x = {.block = block, .count = count};
            int64_t bytes[4] = {0};
            for (int64_t size = 1; size < 40; size++) {
                int64_t owner = (size - 1) / block % count;
                bytes[owner]++;
                CHECK_EQUAL(wr_stripes_reach(&x, owner, bytes[owner]), size);
                for (int64_t i = 0; i < count; i++)
                    CHECK_EQUAL(wr_stripes_share(&x, i, size), bytes[i]);
            }
            CHECK_EQUAL(wr_stripes_reach(&x, 0, 0), 0);
            CHECK(count == 1 || wr_stripes_reach(&x, 1, INT64_MAX) == INT64_MAX);
        }
}

/* What cannot be made leaves nothing behind, and the error names what is wrong. */
static void test_refusals(void)
{
    static const struct {
        const char *hints;
        int code;
        const char *file;
    } bad[] = {
        {"storage=striped", WEIR_EINVAL, "file"},
        {"storage=striped;disks=d0:nowhere:d1", WEIR_ENOENT, "nowhere"},
        {"storage=striped;disks=d0::d1", WEIR_EINVAL, "file"},
        {"storage=striped;disks=:", WEIR_EINVAL, "file"},
        {"storage=striped;disks=d0:d1:", WEIR_EINVAL, "file"},
        {"storage=striped;disks=d0:/dev/null", WEIR_ENOENT, "/dev/null"},
        {"storage=striped;disks=d0:d1;striping_unit=2T", WEIR_EINVAL, "file"},
    };
    opened o;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQUAL(open_hints(&o, name, FRESH, bad[i].hints, 1 << 20), bad[i].code);
        CHECK_EQUAL(weir_error_last()->code, bad[i].code);
        CHECK(!strcmp(weir_error_last()->file, bad[i].file));
        check_clean();
    }
    CHECK_EQUAL(open_hints(&o, "no/such", FRESH, hints, 1 << 20), WEIR_ENOENT);
    check_clean();
    CHECK_EQUAL(open_hints(&o, name, READ_WRITE, hints, 1 << 20), WEIR_ENOENT);
    check_clean();
    open_well(&o, name, FRESH | WR_OPEN_EXCLUSIVE, hints);
    close_well(&o);
    CHECK_EQUAL(open_hints(&o, name, FRESH | WR_OPEN_EXCLUSIVE, hints, 1 << 20), WEIR_EEXIST);
    CHECK_EQUAL(open_hints(&o, name, FRESH | WR_OPEN_EXCLUSIVE, "", 1 << 20), WEIR_EEXIST);
    remove_well(name);
    CHECK_FAILS(wr_storage_remove(name), WEIR_ENOENT, "remove");
}

/* No memory: nothing is left behind. */
static void test_failing_allocations(void)
{
    int code = WEIR_ENOMEM;
    for (int k = 0; code; k++) {
        opened o;
        wr_alloc_fail_after(k);
        code = open_hints(&o, name, FRESH, hints, 1 << 20);
        wr_alloc_fail_after(-1);
        CHECK_EQUAL(code, code ? WEIR_ENOMEM : 0);
        if (code)
            check_clean();
        else
            close_well(&o);
    }
    remove_well(name);
}

/* A file that is there keeps its kind. */
static void test_plain_stays_plain(void)
{
    char back[10];
    opened o;
    put_file(name, "storage=posix", (char[]){"abc"}, 3);
    open_well(&o, name, FRESH, hints);
    CHECK(strstr(o.logged, "not striped"));
    CHECK_EQUAL(o.storage->facts.disks, 0);
    write_at(&o, 3, (char[]){"def"}, 3);
    close_well(&o);
    CHECK_EQUAL(get_file(name, "storage=posix", back, 10), 6);
    CHECK(!memcmp(back, "abcdef", 6));
    remove_well(name);
}

/* A part that is lost, and a disk that cannot be read: named, and nothing else is touched. */
static void test_lost_part(void)
{
    char bytes[900], path[4096];
    int64_t offset = 150;
    opened o;
    fill_pattern(bytes, 900, 4);
    open_well(&o, name, FRESH, hints);
    write_at(&o, 0, bytes, 900);
    snprintf(path, sizeof path, "%s", wr_storage_locate(o.storage, &offset));
    CHECK_EQUAL(offset, 50);
    CHECK(strstr(path, "/d1/file.weir-"));
    close_well(&o);
    CHECK(!rename(path, "kept"));
    int descriptors = count_descriptors();
    CHECK_EQUAL(open_hints(&o, name, FRESH, hints, 1 << 20), WEIR_ENOENT);
    CHECK(!strcmp(weir_error_last()->file, path));
    CHECK_EQUAL(open_hints(&o, name, WR_OPEN_READ, "", 1 << 20), WEIR_ENOENT);
    CHECK_EQUAL(count_descriptors(), descriptors);
    CHECK(!rename("kept", path));
    CHECK_EQUAL(get_file(name, "", bytes, 900), 900);
    CHECK(has_pattern(bytes, 900, 4));
    CHECK(!unlink(path)); /* what is gone need not be removed */
    remove_well(name);
}

/* Who may not write to a disk is told which, and leaves nothing. */
static void test_forbidden_disk(void)
{
    opened o;
    CHECK(!chmod("d1", 0555));
    if (!geteuid() && (chmod(".", 0777) || chmod("d0", 0777) || seteuid(65534)))
        fprintf(stderr, "storage_striped: cannot give up root's rights\n");
    if (geteuid()) {
        CHECK_EQUAL(open_hints(&o, name, FRESH, hints, 1 << 20), WEIR_EACCESS);
        CHECK(strstr(weir_error_last()->file, "/d1/file.weir-"));
    }
    if (geteuid() != getuid())
        CHECK(!seteuid(getuid()));
    CHECK(!chmod("d1", 0777));
    check_clean();
}

/* Descriptions cut anywhere or with any byte changed: refused, or harmless; parts are not harmed,
 * and files that others name are not touched. */
static void test_damaged(rng *r)
{
    char text[2000], changed[2000];
    opened o;
    put_file("victim", "storage=posix", (char[]){"precious"}, 8);
    put_file(name, hints, (char[]){"x"}, 1);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, text, sizeof text);
    close(fd);
    CHECK(length > 100 && length < (ssize_t)sizeof text);
    for (ssize_t i = 0; i < 2 * length; i++) {
        ssize_t left = i < length ? i : length, cut = left > 20 ? left : 20;
        memcpy(changed, text, (size_t)length);
        if (i >= length)
            changed[i - length] = (char)rng_within(r, 0, 255);
        put_file("damaged", "storage=posix", changed, cut);
        wr_stripes x;
        int code = wr_stripes_read("damaged", &x);
        CHECK(!code || code == WEIR_EFORMAT);
        CHECK(code || i > length - 24); /* the last line may lack */
        if (!code)
            wr_stripes_release(&x);
        CHECK(!unlink("damaged"));
    }
    int used = snprintf(changed, sizeof changed,
                        "weir striped file 1\nblock 1\nid 0\npart %s/victim\nend\n", "/tmp");
    put_file("damaged", "storage=posix", changed, used);
    CHECK_EQUAL(open_hints(&o, "damaged", READ_WRITE, "", 1 << 20), WEIR_EFORMAT);
    CHECK(!strcmp(weir_error_last()->file, "damaged"));
    CHECK_FAILS(wr_storage_remove("damaged"), WEIR_EFORMAT, "damaged");
    memcpy(strstr(changed, "file 1"), "file 2", 6);
    CHECK(!unlink("damaged"));
    put_file("damaged", "storage=posix", changed, used);
    CHECK_FAILS(open_hints(&o, "damaged", READ_WRITE, "", 1 << 20), WEIR_EFORMAT, "version 2");
    CHECK(!unlink("damaged") && !unlink("victim"));
    remove_well(name);
}

/* Data that look like a description are data. */
static void test_nested(void)
{
    char text[1000] = {0}, back[1000];
    const char *large = "storage=striped;disks=d0:d1:d2;striping_unit=1M";
    put_file(name, hints, (char[]){"x"}, 1);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, text, sizeof text);
    close(fd);
    put_file("outer", large, text, length);
    CHECK_EQUAL(get_file("outer", "", back, 1000), length);
    CHECK(!memcmp(back, text, (size_t)length));
    CHECK_EQUAL(wr_storage_remove("outer"), 0);
    CHECK_EQUAL(get_file(name, "", back, 1000), 1);
    remove_well(name);
}

/* A copy of a description leads to the parts, and does not take them with it. */
static void test_copied_description(void)
{
    char text[1000], back[10];
    put_file(name, hints, (char[]){"x"}, 1);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, text, sizeof text);
    close(fd);
    put_file("copy", "storage=posix", text, length);
    CHECK_EQUAL(get_file("copy", "", back, 10), 1);
    CHECK_EQUAL(wr_storage_remove("copy"), 0);
    CHECK_EQUAL(get_file(name, "", back, 10), 1);
    CHECK(!link(name, "copy"));
    CHECK_EQUAL(wr_storage_remove("copy"), 0);
    CHECK_EQUAL(get_file(name, "", back, 10), 1);
    CHECK(!rename(name, "copy"));
    remove_well("copy");
}

/* Several make the file at a time: all get the same one, and nothing is left of the others. */
static void test_race(void)
{
    enum { CHILDREN = 6 };
    for (int round = 0; round < 5; round++) {
        char byte[CHILDREN];
        for (int i = 0; i < CHILDREN; i++)
            if (!fork()) {
                opened o;
                open_well(&o, name, FRESH, hints);
                write_at(&o, 99 * i, (char[]){(char)(1 + i)}, 1);
                close_well(&o);
                _exit(0);
            }
        for (int i = 0, status; i < CHILDREN; i++)
            CHECK(wait(&status) > 0 && !status);
        opened o;
        open_well(&o, name, WR_OPEN_READ, "");
        for (int i = 0; i < CHILDREN; i++) {
            CHECK_EQUAL(read_at(&o, 99 * i, &byte[i], 1), 1);
            CHECK_EQUAL(byte[i], 1 + i);
        }
        close_well(&o);
        remove_well(name);
    }
}

/* A full disk: the error names its part, and what was written before is there. */
static void test_full_disk(void)
{
    enum { BYTES = 3 << 20 };
    static char bytes[BYTES], back[BYTES];
    if (mount("weir", "d1", "tmpfs", 0, "size=512K")) {
        fprintf(stderr, "storage_striped: no full disk: mount: %s\n", strerror(errno));
        return;
    }
    opened o;
    fill_pattern(bytes, BYTES, 5);
    open_well(&o, name, FRESH, "storage=striped;disks=d0:d1:d2;striping_unit=64K");
    wr_transfer t = flat_transfer(WR_WRITE, 0, bytes, BYTES);
    CHECK_EQUAL(wr_storage_run(o.storage, &t), WEIR_ENOSPC);
    CHECK(strstr(weir_error_last()->file, "/d1/file.weir-"));
    CHECK_EQUAL(weir_error_last()->offset, 512 << 10);
    CHECK_EQUAL(t.done, 25 * (64 << 10));
    CHECK_EQUAL(read_at(&o, 0, back, t.done), t.done);
    CHECK(has_pattern(back, t.done, 5));
    close_well(&o);
    CHECK_EQUAL(wr_storage_remove(name), 0);
    CHECK_EQUAL(count_in("d1"), 0);
    CHECK(!umount("d1"));
    check_clean();
}

/* A name as long as names can be; and a link, of which nothing goes but itself. */
static void test_names(void)
{
    char longest[256], bytes[10] = "123456789";
    opened o;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    open_well(&o, longest, FRESH, hints);
    write_at(&o, 0, bytes, sizeof bytes);
    close_well(&o);
    CHECK(!symlink(longest, "link"));
    CHECK_EQUAL(wr_storage_remove("link"), 0);
    CHECK_EQUAL(get_file(longest, hints, bytes, sizeof bytes), (int64_t)sizeof bytes);
    remove_well(longest);
}

int main(void)
{
    rng r = {test_seed()};
    make_disks();
    test_layout();
    test_rows();
    test_holes();
    test_sizes();
    test_arithmetic();
    test_refusals();
    test_failing_allocations();
    test_plain_stays_plain();
    test_lost_part();
    test_forbidden_disk();
    test_damaged(&r);
    test_nested();
    test_copied_description();
    test_race();
    test_full_disk();
    test_names();
    remove_disks();
    return 0;
}
