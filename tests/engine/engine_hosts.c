/* A file opened by ranks of several hosts. Ranks are threads and nodes are numbers; this program
 * has its own open, stat, fstat and fsync, which count, and show each rank what its host would see:
 * no file for a while, other numbers, a folder of its own, no descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "array/array.h"
#include "check.h"
#include "file/inside.h"
#include "transport/local.h"

enum { RANKS = 16, NODE = 4, NODES = RANKS / NODE, PIECE = 100, BYTES = RANKS * PIECE };

static _Thread_local int self = -1; /* rank of the thread */
static char folder[] = "engine-hosts-XXXXXX";
static dev_t device;

/* What hosts other than the first see. */
typedef struct world_seen {
    int missing;      /* their files cannot be found so often, */
    int error;        /* with this error */
    bool apart;       /* folders "shared" are their own */
    bool renumbered;  /* files have other numbers there */
    bool same_number; /* files have the same number everywhere, and other devices */
    bool kernels;     /* they have their own */
    int times;        /* of files that are changed later there, in seconds */
    int refused;      /* this rank has no descriptors left; or -1 */
} world_seen;

static world_seen seen = {.refused = -1};
static _Atomic int missing, opens, creates, stats, syncs, paused_ms;

static bool is_elsewhere(void)
{
    return self >= NODE;
}

/* Where a path leads on this rank's host. */
static const char *translate(const char *path, char room[300])
{
    const char *at = seen.apart && is_elsewhere() ? strstr(path, "/shared/") : NULL;
    if (!at)
        return path;
    snprintf(room, 300, "%.*s/own/%s", (int)(at - path), path, at + strlen("/shared/"));
    return room;
}

static bool is_ours(const char *path)
{
    return strstr(path, "engine-hosts-") && strstr(path, "/file");
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

static int open_boot_id(void)
{
    const char node = (char)('0' + self / NODE);
    int fd = memfd_create("boot", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, &node, 1) == 1 && !lseek(fd, 0, SEEK_SET));
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list all;
    va_start(all, flags);
    const unsigned mode = va_arg(all, unsigned);
    va_end(all);
    char room[300];
    const bool through = !strncmp(path, "/proc/", 6) && strstr(path, "/fd/") && flags & O_NONBLOCK;
    if (seen.kernels && strstr(path, "boot_id"))
        return open_boot_id();
    creates += !!(flags & O_CREAT);
    if (is_ours(path) || through) {
        if (self >= 0 && self == seen.refused)
            return refuse(EMFILE);
        if (is_ours(path) && is_elsewhere() && missing > 0 && missing-- > 0)
            return refuse(seen.error);
        opens++;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, translate(path, room), flags, mode);
}

int stat64(const char *path, struct stat64 *out)
{
    char room[300];
    stats += is_ours(path);
    if (is_ours(path) && is_elsewhere() && missing > 0)
        return refuse(seen.error);
    return (int)syscall(SYS_newfstatat, AT_FDCWD, translate(path, room), out, 0);
}

int fstat64(int fd, struct stat64 *out)
{
    const int result = (int)syscall(SYS_newfstatat, fd, "", out, AT_EMPTY_PATH);
    if (self < 0 || out->st_dev != device) /* shared memory is as it is */
        return result;
    stats++;
    if (seen.same_number)
        out->st_ino = 5;
    if (!is_elsewhere())
        return result;
    out->st_dev += seen.renumbered || seen.same_number ? (dev_t)(self / NODE) : 0;
    out->st_ino += seen.renumbered ? (ino_t)(self / NODE) : 0;
    out->st_ctim.tv_sec += seen.times;
    return result;
}

int fsync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fsync, fd);
}

/* Patience takes no time here. */
void __wrap_wr_pause(int64_t microseconds);
void __wrap_wr_pause(int64_t microseconds)
{
    usleep((useconds_t)(microseconds / 100 + 1));
    paused_ms += is_elsewhere() ? (int)(microseconds / 1000) : 0;
}

static void look_anew(world_seen how)
{
    seen = how;
    missing = how.missing;
    opens = creates = stats = syncs = paused_ms = 0;
}

/* --- what ranks do --- */

typedef struct scene {
    char path[200];
    const char *hints;
    int mode, code;
    int (*body)(weir_file *f);
    const char *text; /* of the error that opening comes to, on every rank; or NULL */
} scene;

static wr_world *join(wr_transport *t)
{
    wr_tunables tunables;
    wr_world *w;
    self = t->rank;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    return w;
}

static void open_body(wr_transport *t, void *user)
{
    const scene *s = user;
    wr_world *w = join(t);
    weir_file *f = NULL;
    int code = wr_file_open(w, s->path, s->mode, s->hints, &f);
    if (s->text) {
        CHECK_FAILS(code, s->code, s->text);
        CHECK(strstr(weir_error_last()->file, "file"));
    } else {
        CHECK_EQUAL(code, 0);
        CHECK_EQUAL(s->body ? s->body(f) : 0, 0);
        CHECK(!weir_file_close(f));
    }
    wr_world_release(w);
    self = -1;
}

static void run(void (*body)(wr_transport *t, void *user), void *user)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = NODE;
    CHECK(!wr_local_run(RANKS, &tunables, body, user));
}

static int move(weir_file *f, bool write, bool together, char *memory)
{
    wr_run_pattern where, own;
    const int64_t at = (int64_t)wr_file_ranks(f)->rank * PIECE;
    const weir_pattern *in_file = wr_run_pattern_set(&where, at, PIECE);
    const weir_pattern *in_memory = wr_run_pattern_set(&own, 0, PIECE);
    if (write)
        return together ? weir_file_write_all(f, in_file, in_memory, memory, NULL, NULL)
                        : weir_file_write(f, in_file, in_memory, memory, NULL, NULL);
    return together ? weir_file_read_all(f, in_file, in_memory, memory, NULL, NULL)
                    : weir_file_read(f, in_file, in_memory, memory, NULL, NULL);
}

static void meet(weir_file *f)
{
    CHECK(!wr_file_agree(f, 0));
}

static void check_read(weir_file *f, bool together)
{
    char memory[PIECE];
    memset(memory, 0, sizeof memory);
    CHECK(!move(f, false, together, memory));
    for (int i = 0; i < PIECE; i++)
        CHECK_EQUAL(memory[i], 'a' + wr_file_ranks(f)->rank);
}

static int write_all(weir_file *f)
{
    char memory[PIECE];
    memset(memory, 'a' + wr_file_ranks(f)->rank, sizeof memory);
    return move(f, true, true, memory);
}

/* Who touches it opens it, once; one rank of a node asks about it and syncs it. */
static int count(weir_file *f)
{
    const int rank = wr_file_ranks(f)->rank;
    int64_t size;
    meet(f);
    CHECK_EQUAL(opens, NODES);
    CHECK(stats <= 3 * NODES);
    meet(f);
    CHECK(!write_all(f) && !weir_file_sync(f));
    CHECK_EQUAL(syncs, NODES);
    CHECK_EQUAL(opens, NODES); /* aggregators are the first of their nodes */
    CHECK(!weir_file_get_size(f, &size));
    CHECK_EQUAL(size, BYTES);
    meet(f);
    CHECK_EQUAL(opens, NODES);
    meet(f);
    if (rank == 5 || rank == 0)
        check_read(f, false);
    meet(f);
    CHECK_EQUAL(opens, NODES + 1);
    return 0;
}

/* What has the name later is another file. */
static int lose_name(weir_file *f)
{
    const char *path = wr_file_storage(f)->path;
    const int rank = wr_file_ranks(f)->rank;
    CHECK(!write_all(f));
    if (rank == 0)
        CHECK(!unlink(path) && symlink("/dev/zero", path) == 0);
    meet(f);
    check_read(f, false);
    meet(f);
    if (rank == 0)
        CHECK(!unlink(path));
    return 0;
}

/* A striped file is found by its name, and by nothing else that has it. */
static int hide_striped(weir_file *f)
{
    const char *path = wr_file_storage(f)->path;
    const int rank = wr_file_ranks(f)->rank;
    char hidden[300], memory[PIECE];
    snprintf(hidden, sizeof hidden, "%s-hidden", path);
    CHECK(!write_all(f));
    if (rank == 0)
        CHECK(!rename(path, hidden) && !symlink("/dev/zero", path));
    meet(f);
    if (rank == 0 || rank == 5)
        CHECK_EQUAL(!move(f, false, false, memory), !rank);
    if (rank == 5)
        CHECK_EQUAL(weir_error_last()->errnum, ESTALE);
    meet(f);
    if (rank == 0)
        CHECK(!unlink(path) && !rename(hidden, path));
    meet(f);
    check_read(f, false);
    return 0;
}

static int no_descriptors_alone(weir_file *f)
{
    char memory[PIECE];
    CHECK(!write_all(f));
    if (wr_file_ranks(f)->rank == 6) {
        CHECK(move(f, false, false, memory));
        CHECK_EQUAL(weir_error_last()->errnum, EMFILE);
    }
    meet(f);
    if (wr_file_ranks(f)->rank == 6)
        seen.refused = -1;
    meet(f);
    check_read(f, false);
    return 0;
}

static int no_descriptors_together(weir_file *f)
{
    CHECK(write_all(f));
    CHECK_EQUAL(weir_error_last()->errnum, EMFILE);
    CHECK_EQUAL(weir_error_last()->rank, 6);
    meet(f);
    if (wr_file_ranks(f)->rank == 6)
        seen.refused = -1;
    meet(f);
    CHECK(!write_all(f));
    check_read(f, true);
    return 0;
}

static int write_and_read(weir_file *f)
{
    CHECK(!write_all(f));
    meet(f);
    check_read(f, false);
    return 0;
}

static int read_only(weir_file *f)
{
    check_read(f, true);
    return 0;
}

/* --- the tests --- */

enum { FRESH = WEIR_READ | WEIR_WRITE | WEIR_CREATE };
static const char few[] = "aggregators=4;collective=always";
static const char many[] = "aggregators=8;collective=always";

static scene scene_of(const char *where, const char *hints, int (*body)(weir_file *f))
{
    scene s = {.mode = FRESH, .hints = hints, .body = body};
    snprintf(s.path, sizeof s.path, "%s/%s/file", folder, where);
    return s;
}

static void forget(const scene *s)
{
    look_anew((world_seen){.refused = -1});
    unlink(s->path);
}

static void test_followers(void)
{
    static const char *const storages[] = {"storage=posix", "storage=pool", "storage=uring",
                                           "storage=pool;direct=always"};
    char hints[200];
    for (int i = 0; i < 4; i++) {
        snprintf(hints, sizeof hints, "%s;%s", few, storages[i]);
        scene s = scene_of("shared", hints, i < 3 ? count : write_and_read);
        look_anew((world_seen){.refused = -1});
        run(open_body, &s);
        forget(&s);
        s.body = lose_name;
        run(open_body, &s);
        forget(&s);
    }
    snprintf(hints, sizeof hints, "%s;storage=striped;disks=%s/own:%s", few, folder, folder);
    scene s = scene_of("shared", hints, hide_striped);
    run(open_body, &s);
    CHECK(!weir_file_remove(s.path));
    forget(&s);
    s = scene_of("shared", "independent=enable", NULL);
    look_anew((world_seen){.refused = -1});
    run(open_body, &s);
    CHECK_EQUAL(opens, RANKS);
    forget(&s);
}

/* Errors of a rank that opens the file later are those of the access. */
static void test_no_descriptors(void)
{
    scene s = scene_of("shared", few, no_descriptors_alone);
    look_anew((world_seen){.refused = 6});
    run(open_body, &s);
    forget(&s);
    s = scene_of("shared", many, no_descriptors_together);
    look_anew((world_seen){.refused = 6});
    run(open_body, &s);
    forget(&s);
}

/* What is not there yet is waited for, but not for ever. */
static void test_patience(void)
{
    static const int errors[] = {ENOENT, ESTALE};
    for (int i = 0; i < 2; i++) {
        scene s = scene_of("shared", few, write_and_read);
        look_anew((world_seen){.missing = 12, .error = errors[i], .refused = -1});
        run(open_body, &s);
        forget(&s);
    }
    scene s = scene_of("shared", few, NULL);
    s.code = WEIR_ENOENT;
    s.text = "sees no file of this name (is the folder shared?)";
    look_anew((world_seen){.missing = 1 << 30, .error = ENOENT, .refused = -1});
    run(open_body, &s);
    CHECK(paused_ms >= 2000 && paused_ms <= 4000 * (NODES - 1));
    forget(&s);
}

static void put(const char *where, int64_t bytes, int last)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s/file", folder, where);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(fd >= 0);
    for (int64_t i = 0; i < bytes; i++) {
        const char byte = (char)(i == bytes - 1 ? last : 'a' + i / PIECE % RANKS);
        CHECK_EQUAL(write(fd, &byte, 1), 1);
    }
    CHECK(!close(fd));
}

/* One file, whatever its numbers; nothing stays beside it. Other kernels are always asked here,
 * where the file system is one that they could not share. */
static void test_same(void)
{
    static const int probed[] = {2, 2, 2, 1, 2, 2};
    char probes[300];
    scene s = scene_of("shared", few, write_and_read);
    snprintf(probes, sizeof probes, "test -z \"$(ls -A %s/shared %s/own | grep weir-)\"", folder,
             folder);
    for (int i = 0; i < 6; i++) {
        look_anew((world_seen){.renumbered = i < 2,
                               .same_number = i == 2 || i > 3,
                               .times = i > 0 && i<5, .kernels = i> 3,
                               .refused = -1});
        run(open_body, &s);
        CHECK_EQUAL(creates, probed[i]);
        CHECK(!system(probes));
        forget(&s);
    }
    put("shared", BYTES, 'a' + RANKS - 1);
    s.mode = WEIR_READ;
    s.body = read_only;
    look_anew((world_seen){.renumbered = true, .refused = -1});
    run(open_body, &s);
    CHECK_EQUAL(creates, 0);
    forget(&s);
}

/* A folder of its own on each host. */
static void test_different(void)
{
    scene s = scene_of("shared", few, NULL);
    s.code = WEIR_EDISAGREE;
    s.text = "hosts 0 and 1 have different files of this name (is the folder shared?)";
    for (int i = 0; i < 4; i++) {
        const bool reads = i & 1;
        put("shared", reads ? BYTES : 0, 'x');
        put("own", reads ? BYTES : 0, 'y');
        s.mode = reads ? WEIR_READ : FRESH;
        look_anew((world_seen){.apart = true, .same_number = i & 2, .refused = -1});
        run(open_body, &s);
        forget(&s);
    }
    /* copies of what is only read are as good */
    put("shared", BYTES, 'a' + RANKS - 1);
    put("own", BYTES, 'a' + RANKS - 1);
    s = scene_of("shared", few, read_only);
    s.mode = WEIR_READ;
    look_anew((world_seen){.apart = true, .refused = -1});
    run(open_body, &s);
    forget(&s);
}

/* --- arrays --- */

typedef struct array_scene {
    char path[200];
    bool set;
    int code;
} array_scene;

static void array_body(wr_transport *t, void *user)
{
    const array_scene *s = user;
    wr_world *w = join(t);
    weir_array_info info = {.type = WEIR_I4, .dimensions = 1, .shape = {RANKS}};
    if (s->set) {
        info.members = NODES;
        info.distribution.grid[0] = NODES;
        info.distribution.block[0] = RANKS / NODES;
    }
    weir_array *a = NULL;
    int code = wr_array_create(w, s->path, &info, NULL, "durable=disable", &a);
    CHECK_EQUAL(code, s->code);
    int32_t value = t->rank;
    const int64_t lo = t->rank, hi = lo + 1;
    const weir_selection own = {.lo = &lo, .hi = &hi};
    if (!code) {
        CHECK(!weir_array_write_all(a, &own, NULL, &value, NULL));
        CHECK(!weir_array_close(a));
        CHECK(!wr_array_open(w, s->path, WEIR_READ, NULL, &a));
        value = -1;
        CHECK(!weir_array_read_all(a, &own, NULL, &value, NULL));
        CHECK_EQUAL(value, t->rank);
        CHECK(!weir_array_close(a));
        CHECK(!wr_array_delete(w, s->path));
    }
    wr_world_release(w);
    self = -1;
}

static void test_arrays(void)
{
    array_scene s = {0};
    snprintf(s.path, sizeof s.path, "%s/shared/file.npy", folder);
    for (int i = 0; i < 6; i++) {
        s.set = i & 1;
        look_anew((world_seen){.missing = i / 2 == 0 ? 12 : 0,
                               .error = ENOENT,
                               .renumbered = i / 2 == 1,
                               .refused = -1});
        run(array_body, &s);
    }
    s.set = false;
    s.code = WEIR_ENOENT;
    look_anew((world_seen){.apart = true, .refused = -1});
    run(array_body, &s);
    look_anew((world_seen){.refused = -1});
}

int main(void)
{
    char path[100];
    check_within(60);
    struct stat64 status;
    CHECK(mkdtemp(folder) && !stat64(folder, &status));
    device = status.st_dev;
    snprintf(path, sizeof path, "%s/shared", folder);
    CHECK(!mkdir(path, 0777));
    snprintf(path, sizeof path, "%s/own", folder);
    CHECK(!mkdir(path, 0777));
    test_followers();
    test_no_descriptors();
    test_patience();
    test_same();
    test_different();
    test_arrays();
    snprintf(path, sizeof path, "rm -r %s", folder);
    CHECK(!system(path));
    return 0;
}
