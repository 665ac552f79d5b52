/* Locks that others hold, that others wait for, and that the system does not have: nobody waits for
 * ever, and nothing is lost. This program has its own fcntl, which refuses as told. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file/file.h"
#include "file/pointer.h"
#include "storage/storage_support.h"
#include "transport/local.h"

enum { RANKS = 3, PIECES = 500, PIECE = 4, ROW = 16, BYTES = PIECES * ROW };
enum { LARGE = 256 << 10, WRITERS = 3, TURNS = 5 };

static _Atomic int lock_error; /* 0: locks work */

static int call_fcntl(int fd, int command, long argument)
{
    bool locks = command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK;
    if (lock_error && locks) {
        errno = lock_error;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

int fcntl64(int fd, int command, ...)
{
    va_list all;
    va_start(all, command);
    long argument = va_arg(all, long);
    va_end(all);
    return call_fcntl(fd, command, argument);
}

/* What a group of ranks does to a file of dots: each writes its piece of every row. */
typedef struct scene {
    const char *path, *hints;
    const char *later; /* hints that are given when the file is open, or NULL */
    bool together, atomic;
    int expected;     /* what writing returns, */
    const char *text; /* and what its error says; */
    int closing;      /* what closing returns */
    int64_t took_us;
    char logged[4096];
} scene;

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void keep_line(void *user, const char *line, int length)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    scene *s = user;
    pthread_mutex_lock(&lock);
    size_t used = strlen(s->logged);
    snprintf(s->logged + used, sizeof s->logged - used, "%.*s", length, line);
    pthread_mutex_unlock(&lock);
}

static void write_pieces(wr_transport *t, void *user)
{
    scene *s = user;
    static _Thread_local char memory[PIECES * PIECE];
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    weir_pattern *where, *dense;
    int64_t count;
    memset(memory, 'a' + t->rank, sizeof memory);
    CHECK(!weir_pattern_strided((int64_t)t->rank * PIECE, PIECES, PIECE, ROW, &where));
    CHECK(!weir_pattern_contiguous(0, sizeof memory, &dense));
    wr_tunables_init(&tunables);
    CHECK(!wr_tunables_set_hints(&tunables, "log=warning"));
    CHECK(!wr_world_open(t, &tunables, &w));
    w->log.sink = keep_line;
    w->log.user = s;
    CHECK(!wr_file_open(w, s->path, WEIR_READ | WEIR_WRITE, s->hints, &f));
    CHECK(!s->atomic || !weir_file_set_atomic(f, true));
    CHECK(!s->later || !wr_file_set_hints(f, s->later, 0));
    int64_t start = now_us();
    int code = (s->together ? weir_file_write_all : weir_file_write)(f, where, dense, memory,
                                                                     &count, NULL);
    CHECK_EQUAL(code, s->expected);
    CHECK(!code || strstr(weir_error_last()->text, s->text));
    if (t->rank == 0)
        s->took_us = now_us() - start;
    CHECK_EQUAL(weir_file_close(f), s->closing);
    weir_pattern_free(where);
    weir_pattern_free(dense);
    wr_world_release(w);
}

static void put_dots(const char *path)
{
    static char bytes[BYTES];
    memset(bytes, '.', sizeof bytes);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(fd >= 0 && write(fd, bytes, sizeof bytes) == BYTES && !close(fd));
}

static void check_pieces(const char *path, bool written)
{
    static char bytes[BYTES + 1];
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, bytes, sizeof bytes) == BYTES && !close(fd));
    for (int64_t i = 0; i < BYTES; i++) {
        int64_t rank = i % ROW / PIECE;
        CHECK_EQUAL(bytes[i], written && rank < RANKS ? 'a' + rank : '.');
    }
}

static void play(scene *s)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    put_dots(s->path);
    CHECK(!wr_local_run(RANKS, &tunables, write_pieces, s));
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "%s: %lld us\n%s", s->hints, (long long)s->took_us, s->logged);
    check_pieces(s->path, !s->expected);
}

/* A process that holds a lock of the old kind, which names its owner, on all bytes (0) or the
 * first, until it is told to end (0) or for some time. */
static pid_t hold_some(const char *path, short type, off_t bytes, int milliseconds)
{
    int ready[2];
    char byte;
    CHECK_EQUAL(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int fd = open(path, type == F_RDLCK ? O_RDONLY : O_RDWR);
        struct flock some = {.l_type = type, .l_whence = SEEK_SET, .l_len = bytes};
        CHECK(!fcntl(fd, F_SETLK, &some));
        CHECK_EQUAL(write(ready[1], "x", 1), 1);
        if (!milliseconds)
            pause();
        usleep((useconds_t)milliseconds * 1000);
        _exit(0);
    }
    CHECK_EQUAL(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static pid_t hold(const char *path, short type)
{
    return hold_some(path, type, 0, 0);
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static const char *const hints[] = {
    "lock_wait=100;access=sieve;collective=always",
    "lock_wait=100;access=sieve;collective=always;exchange=p2p;window=1500",
    "lock_wait=100;access=sieve;collective=always;realms=cyclic;realm_block=100;aggregators=2",
    "lock_wait=100;access=sieve;collective=never",
};

/* Somebody who may only read keeps us from modifying, not from writing. */
static void test_shared_holder(void)
{
    const char *path = test_path("engine-locks");
    put_dots(path);
    pid_t child = hold(path, F_RDLCK);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        scene s = {.path = path, .hints = hints[i], .together = true};
        play(&s);
        CHECK(s.took_us < 3000000);
        CHECK(strstr(s.logged, "without reading what lies between"));
    }
    end(child);
    forget_file(path);
}

/* Who holds all of it alone is named on all ranks. */
static void test_exclusive_holder(void)
{
    const char *path = test_path("engine-locks");
    char text[64];
    put_dots(path);
    pid_t child = hold(path, F_WRLCK);
    snprintf(text, sizeof text, "process %d has an exclusive lock on bytes 0 to the end", child);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        scene s = {.path = path,
                   .hints = hints[i],
                   .together = true,
                   .atomic = i == 3,
                   .expected = WEIR_EIO,
                   .text = text};
        play(&s);
        CHECK(s.took_us < 3000000);
    }
    end(child);
    forget_file(path);
}

/* Write-behind waits no longer, be it for a lock on what it keeps or on what it has no room for;
 * nor does who was told only after he had opened the file. */
static void test_other_waits(void)
{
    const char *path = test_path("engine-locks");
    char text[64];
    put_dots(path);
    pid_t child = hold(path, F_WRLCK);
    snprintf(text, sizeof text, "process %d has an exclusive lock", child);
    scene scenes[] = {
        {.hints = "lock_wait=100;collective=always;write_behind=always;write_behind_memory=12K",
         .closing = WEIR_EIO},
        {.hints = "lock_wait=100;collective=always;write_behind=always;write_behind_memory=0"},
        {.hints = "lock_wait=100;collective=always;write_behind=always;write_behind_memory=0;"
                  "exchange=p2p"},
        {.hints = "collective=always", .later = "lock_wait=100;collective=always"},
        {.hints = "collective=never", .later = "lock_wait=100;collective=never"},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        scene *s = &scenes[i];
        s->path = path;
        s->together = true;
        s->expected = WEIR_EIO;
        s->text = text;
        play(s);
        CHECK(s->took_us < 3000000);
    }
    end(child);
    forget_file(path);
}

/* --- what one rank does --- */

typedef struct solo {
    const char *hints;
    void (*act)(const char *path, weir_file *f);
} solo;

static void open_and_act(wr_transport *t, void *user)
{
    const solo *s = user;
    const char *path = test_path("engine-locks");
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    wr_tunables_init(&tunables);
    put_dots(path);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE, s->hints, &f));
    s->act(path, f);
    wr_world_release(w);
    forget_file(path);
}

static void play_solo(const solo *s)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(1, &tunables, open_and_act, (void *)s));
}

static void write_rows(weir_file *f, int64_t count, int64_t bytes, int64_t stride)
{
    weir_pattern *where = NULL, *dense;
    char *memory = calloc((size_t)count, (size_t)bytes);
    CHECK(memory && !weir_pattern_strided(0, count, bytes, stride, &where));
    CHECK(!weir_pattern_contiguous(0, count * bytes, &dense));
    CHECK(!weir_file_write_all(f, where, dense, memory, NULL, NULL));
    weir_pattern_free(where);
    weir_pattern_free(dense);
    free(memory);
}

/* Who has waited in vain once still waits where he cannot do without. */
static void write_few_then_many(const char *path, weir_file *f)
{
    pid_t first = hold(path, F_RDLCK);
    write_rows(f, PIECES, PIECE, ROW);
    pid_t second = hold_some(path, F_RDLCK, 0, 100);
    end(first);
    write_rows(f, (int64_t)400 * PIECES, PIECE, ROW);
    waitpid(second, NULL, 0);
    CHECK(!weir_file_close(f));
}

/* Time in which nobody tries is no time in which somebody waits. */
static void be_away(const char *path, weir_file *f)
{
    static char memory[BYTES];
    weir_pattern *where;
    weir_request *request;
    pid_t first = hold(path, F_WRLCK);
    CHECK(!weir_pattern_contiguous(0, BYTES, &where));
    CHECK(!weir_file_write_all(f, where, where, memory, NULL, &request));
    usleep(600000);
    end(first);
    pid_t second = hold_some(path, F_WRLCK, 0, 50);
    CHECK(!weir_request_wait(&request, NULL));
    waitpid(second, NULL, 0);
    weir_pattern_free(where);
    CHECK(!weir_file_close(f));
}

/* A flush waits once, not for every stretch of the file, and writes what it can. */
static void flush_stretches(const char *path, weir_file *f)
{
    const int64_t stride = 32 << 20;
    enum { COUNT = 8 };
    pid_t child = hold_some(path, F_WRLCK, (COUNT - 1) * stride, 0);
    char byte;
    write_rows(f, COUNT, PIECE, stride);
    int64_t start = now_us();
    CHECK_EQUAL(weir_file_close(f), WEIR_EIO);
    CHECK(now_us() - start < 1000000);
    CHECK(strstr(weir_error_last()->text, "has an exclusive lock"));
    end(child);
    int fd = open(path, O_RDONLY);
    CHECK(pread(fd, &byte, 1, 0) == 1 && byte == '.');
    CHECK(pread(fd, &byte, 1, (COUNT - 1) * stride) == 1 && byte == 0);
    close(fd);
}

/* Atomic mode is refused on all ranks, to who only reads as well, and what was goes on. */
static void refuse_atomic(wr_transport *t, void *user)
{
    const char *path = user;
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    weir_pattern *where;
    char byte;
    int atomic = -1;
    wr_tunables_init(&tunables);
    CHECK(!weir_pattern_contiguous(t->rank, 1, &where));
    CHECK(!wr_world_open(t, &tunables, &w));
    static const int modes[] = {WEIR_READ, WEIR_READ | WEIR_WRITE};
    for (int i = 0; i < 2; i++) {
        CHECK(!wr_file_open(w, path, modes[i], NULL, &f));
        CHECK_FAILS(weir_file_set_atomic(f, true), WEIR_EUNSUPPORTED, "no atomic mode");
        CHECK(!weir_file_get_atomic(f, &atomic) && atomic == 0);
        CHECK(!weir_file_set_atomic(f, false));
        CHECK(!weir_file_read_all(f, where, where, &byte - t->rank, NULL, NULL));
        CHECK_EQUAL(byte, '.');
        CHECK(!weir_file_close(f));
    }
    weir_pattern_free(where);
    wr_world_release(w);
}

/* Where ranks share no memory, a pointer needs locks, unless all use it together. */
static void use_pointer(wr_transport *t, void *user)
{
    const char *path = user;
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    int64_t was = -1;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    static const int modes[] = {WEIR_READ, WEIR_READ | WEIR_WRITE};
    for (int i = 0; i < 2; i++) {
        CHECK(!wr_file_open(w, path, modes[i], NULL, &f));
        if (t->rank == 0)
            CHECK(!wr_pointer_set(f, 0, 100));
        CHECK(!wr_pointer_deal(f, 0, 10 + t->rank, 0, &was));
        CHECK_EQUAL(was, 100 + 10 * t->rank + t->rank * (t->rank - 1) / 2);
        CHECK_FAILS(wr_pointer_advance(f, 0, 1, &was), WEIR_EUNSUPPORTED, "no shared pointer");
        CHECK(!wr_pointer_deal(f, 0, 0, 0, &was));
        CHECK_EQUAL(was, 100 + 10 * RANKS + RANKS * (RANKS - 1) / 2);
        CHECK(!weir_file_close(f));
    }
    wr_world_release(w);
}

/* No locks at all, or none that belong to an open file. */
static void test_no_locks(int error)
{
    const char *path = test_path("engine-locks");
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    lock_error = error;
    for (size_t i = 0; i < 2 * sizeof hints / sizeof *hints; i++) {
        scene s = {.path = path, .hints = hints[i / 2], .together = i % 2};
        play(&s);
        const char *said = strstr(s.logged, "no range locks");
        CHECK(said && !strstr(said + 1, "no range locks"));
    }
    put_dots(path);
    CHECK(!wr_local_run(RANKS, &tunables, refuse_atomic, (void *)(uintptr_t)path));
    tunables.ranks_per_node = 1;
    CHECK(!wr_local_run(RANKS, &tunables, use_pointer, (void *)(uintptr_t)path));
    lock_error = 0;
    forget_file(path);
}

/* Locks that were there and are no more: what was promised is refused, not broken. */
static void lose_locks(wr_transport *t, void *user)
{
    const char *path = user;
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    weir_pattern *where;
    char byte = 0;
    wr_tunables_init(&tunables);
    CHECK(!weir_pattern_contiguous(0, 1, &where));
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ, NULL, &f));
    CHECK(!weir_file_set_atomic(f, true));
    lock_error = ENOLCK;
    CHECK_FAILS(weir_file_read(f, where, where, &byte, NULL, NULL), WEIR_EIO, "lock");
    CHECK_EQUAL(byte, 0);
    lock_error = 0;
    CHECK(!weir_file_read(f, where, where, &byte, NULL, NULL));
    CHECK_EQUAL(byte, '.');
    CHECK(!weir_file_close(f));
    weir_pattern_free(where);
    wr_world_release(w);
}

static void test_lost_locks(void)
{
    const char *path = test_path("engine-locks");
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    put_dots(path);
    CHECK(!wr_local_run(1, &tunables, lose_locks, (void *)(uintptr_t)path));
    forget_file(path);
}

/* --- who modifies beside those who write much --- */

typedef struct crowd {
    const char *path;
    _Atomic bool over;
    _Atomic int64_t written;
} crowd;

static void write_much(wr_transport *t, void *user)
{
    crowd *c = user;
    static _Thread_local char memory[LARGE];
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    weir_pattern *where;
    wr_tunables_init(&tunables);
    CHECK(!weir_pattern_contiguous(0, LARGE, &where));
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, c->path, WEIR_READ | WEIR_WRITE, "fault=delay:300", &f));
    while (!c->over) {
        CHECK(!weir_file_write(f, where, where, memory, NULL, NULL));
        c->written++;
    }
    CHECK(!weir_file_close(f));
    weir_pattern_free(where);
    wr_world_release(w);
}

static void *join_crowd(void *user)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(1, &tunables, write_much, user));
    return NULL;
}

static void modify_some(wr_transport *t, void *user)
{
    crowd *c = user;
    static char memory[LARGE / 2];
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    weir_pattern *where, *dense;
    int64_t longest = 0;
    wr_tunables_init(&tunables);
    CHECK(!weir_pattern_strided(0, LARGE / 16, 8, 16, &where));
    CHECK(!weir_pattern_contiguous(0, sizeof memory, &dense));
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, c->path, WEIR_READ | WEIR_WRITE, "access=sieve;lock_wait=0", &f));
    for (int i = 0; i < TURNS; i++) {
        int64_t start = now_us();
        CHECK(!weir_file_write(f, where, dense, memory, NULL, NULL));
        longest = now_us() - start > longest ? now_us() - start : longest;
    }
    c->over = true;
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "longest %lld us beside %lld large writes\n", (long long)longest,
                (long long)c->written);
    CHECK(longest < 500000);
    CHECK(!weir_file_close(f));
    weir_pattern_free(where);
    weir_pattern_free(dense);
    wr_world_release(w);
}

static void test_crowd(void)
{
    crowd c = {.path = test_path("engine-crowd")};
    pthread_t writers[WRITERS];
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    put_dots(c.path);
    for (int i = 0; i < WRITERS; i++)
        CHECK(!pthread_create(&writers[i], NULL, join_crowd, &c));
    while (c.written < (int64_t)2 * WRITERS)
        usleep(1000);
    CHECK(!wr_local_run(1, &tunables, modify_some, &c));
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    forget_file(c.path);
}

int main(void)
{
    check_within(60);
    test_shared_holder();
    test_exclusive_holder();
    test_other_waits();
    static const solo solos[] = {
        {"lock_wait=400;access=sieve;collective=always;window=4M", write_few_then_many},
        {"lock_wait=400;progress=poll;collective=always", be_away},
        {"lock_wait=200;collective=always;write_behind=always", flush_stretches},
    };
    for (size_t i = 0; i < sizeof solos / sizeof *solos; i++)
        play_solo(&solos[i]);
    test_no_locks(ENOSYS);
    test_no_locks(EOPNOTSUPP);
    test_no_locks(EINVAL);
    test_no_locks(ENOLCK);
    test_lost_locks();
    test_crowd();
    return 0;
}
