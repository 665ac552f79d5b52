/* What random scenes do not reach, with ranks as threads: runs too long to be moved in one piece
 * in the background; several threads of a rank with operations in flight on one world; memory that
 * is not there. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split_access.h"
#include "storage/storage_support.h"
#include "transport/local.h"

enum { MIB = 1 << 20, RUN = 6 * MIB, STRIDE = 8 * MIB, RUNS = 3, THREADS = 3, ROUNDS = 40 };

static const char path[] = "engine-background";

static char byte_of(int64_t i)
{
    return (char)(i * 5 + i / 4093);
}

static weir_file *open_file(wr_world *w, const char *name, const char *hints)
{
    weir_file *f;
    CHECK(!wr_file_open(w, name, WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &f));
    return f;
}

/* Runs longer than any piece, from memory in one run and in runs of another length. */
static void test_long_runs(wr_transport *t, void *unused)
{
    (void)unused;
    wr_world *w;
    wr_tunables tunables;
    weir_pattern *where, *whole, *parts;
    weir_request *request;
    int64_t count;
    char *data = malloc(RUN * RUNS), *back = malloc(2 * RUN * RUNS);
    CHECK(data && back);
    for (int64_t i = 0; i < (int64_t)RUN * RUNS; i++)
        data[i] = byte_of(i);
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    weir_file *f = open_file(w, path, "storage=mem");
    CHECK(!weir_pattern_strided(0, RUNS, RUN, STRIDE, &where));
    CHECK(!weir_pattern_contiguous(0, (int64_t)RUN * RUNS, &whole));
    CHECK(!weir_pattern_strided(0, 2, (int64_t)RUN * RUNS / 2, (int64_t)RUN * RUNS, &parts));
    CHECK(!weir_file_write(f, where, whole, data, NULL, &request));
    CHECK(!weir_request_wait(&request, &count));
    CHECK_EQUAL(count, (int64_t)RUN * RUNS);
    CHECK(!weir_file_read(f, where, parts, back, NULL, &request));
    CHECK(!weir_request_wait(&request, &count));
    CHECK_EQUAL(count, (int64_t)RUN * RUNS);
    for (int64_t i = 0; i < (int64_t)RUN * RUNS; i++) {
        int64_t half = (int64_t)RUN * RUNS / 2;
        CHECK(back[i / half * 2 * half + i % half] == byte_of(i));
    }
    CHECK(!weir_file_close(f));
    wr_world_release(w);
    weir_pattern_free(where);
    weir_pattern_free(whole);
    weir_pattern_free(parts);
    free(data);
    free(back);
}

/* One thread of a rank, with a file of its own. */
typedef struct user {
    wr_world *world;
    weir_file *file;
    int number, rank, ranks;
} user;

static void *use(void *argument)
{
    user *u = argument;
    weir_pattern *where, *memory;
    char data[4000], back[4000];
    CHECK(!weir_pattern_strided((int64_t)u->rank * 40, 100, 40, (int64_t)u->ranks * 40, &where));
    CHECK(!weir_pattern_contiguous(0, sizeof data, &memory));
    for (int round = 0; round < ROUNDS; round++) {
        weir_request *request;
        memset(data, u->number * 50 + u->rank * 10 + round % 7, sizeof data);
        memset(back, 0, sizeof back);
        if (round % 2)
            CHECK(!begin_all(u->file, wr_request_of(WR_WRITE, where, memory, data), &request));
        else
            CHECK(!weir_file_write_all(u->file, where, memory, data, NULL, &request));
        CHECK(!weir_request_wait(&request, NULL));
        CHECK(!weir_file_read_all(u->file, where, memory, back, NULL, &request));
        CHECK(!weir_request_wait(&request, NULL));
        CHECK(!memcmp(data, back, sizeof data));
    }
    weir_pattern_free(where);
    weir_pattern_free(memory);
    return NULL;
}

static void test_threads(wr_transport *t, void *hints)
{
    wr_world *w;
    wr_tunables tunables;
    user users[THREADS];
    pthread_t threads[THREADS];
    char name[THREADS][60];
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    for (int i = 0; i < THREADS; i++) {
        snprintf(name[i], sizeof name[i], "%s-%d", path, i);
        users[i] = (user){w, open_file(w, name[i], hints), i, t->rank, t->size};
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, use, &users[i]));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
    for (int i = 0; i < THREADS; i++)
        CHECK(!weir_file_close(users[i].file));
    wr_world_release(w);
}

/* A world with a file open, and patterns of 100 bytes a rank, interleaved. */
typedef struct stage {
    wr_world *world;
    weir_file *file;
    weir_pattern *where, *memory;
} stage;

static const char data[100];

static stage set_up(wr_transport *t, const char *hints)
{
    stage s;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &s.world));
    s.file = open_file(s.world, path, hints);
    CHECK(!weir_pattern_strided((int64_t)t->rank * 10, 10, 10, (int64_t)t->size * 10, &s.where));
    CHECK(!weir_pattern_contiguous(0, sizeof data, &s.memory));
    return s;
}

/* The file has been closed. */
static void take_down(stage *s)
{
    wr_world_release(s->world);
    weir_pattern_free(s->where);
    weir_pattern_free(s->memory);
}

/* One pattern of the two on one rank is an error of all, in every form. */
static void test_half_given(wr_transport *t, void *unused)
{
    (void)unused;
    stage s = set_up(t, "storage=mem");
    weir_request *request;
    const weir_pattern *given = t->rank == 1 ? NULL : s.memory;
    CHECK_EQUAL(weir_file_write_all(s.file, s.where, given, data, NULL, NULL), WEIR_EINVAL);
    CHECK(!weir_file_write_all(s.file, s.where, given, data, NULL, &request));
    CHECK_EQUAL(weir_request_wait(&request, NULL), WEIR_EINVAL);
    CHECK(!begin_all(s.file, wr_request_of(WR_WRITE, s.where, given, data), &request));
    CHECK_EQUAL(weir_request_wait(&request, NULL), WEIR_EINVAL);
    CHECK(strstr(weir_error_last()->text, "none in memory") && weir_error_last()->rank == 1);
    CHECK_EQUAL(weir_file_write(s.file, s.where, NULL, data, NULL, &request), WEIR_EINVAL);
    CHECK(!strcmp(weir_error_last()->file, path));
    CHECK(!weir_file_close(s.file));
    take_down(&s);
}

/* No memory for a request: all ranks are told by wait, also after the file is closed. */
static void test_no_memory(wr_transport *t, void *unused)
{
    (void)unused;
    stage s = set_up(t, "storage=mem");
    weir_request *first, *second;
    CHECK(!weir_file_write_all(s.file, s.where, s.memory, data, NULL, &first));
    wr_alloc_fail_after(t->rank == 0 ? 0 : -1);
    CHECK(!weir_file_write_all(s.file, s.where, s.memory, data, NULL, &second));
    wr_alloc_fail_after(-1);
    CHECK(!weir_request_wait(&first, NULL));
    CHECK(!weir_file_close(s.file));
    CHECK_EQUAL(weir_request_wait(&second, NULL), WEIR_ENOMEM);
    CHECK(!second);
    take_down(&s);
}

static void run(int ranks, void (*body)(wr_transport *t, void *user), const char *hints)
{
    wr_tunables tunables;
    char name[60];
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(ranks, &tunables, body, (void *)hints));
    wr_mem_unlink(path);
    for (int i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "%s-%d", path, i);
        wr_mem_unlink(name);
    }
}

int main(void)
{
    check_within(200);
    run(1, test_long_runs, NULL);
    run(3, test_threads, "storage=mem;collective=always;overlap=io;window=500");
    run(3, test_threads, "storage=mem;collective=always;overlap=all;window=500");
    run(2, test_threads, "storage=mem;collective=always;overlap=none");
    run(2, test_threads, "storage=mem;collective=always;overlap=io;exchange=p2p;progress=poll");
    run(3, test_no_memory, NULL);
    run(3, test_half_given, NULL);
    check_within(0);
    return 0;
}
