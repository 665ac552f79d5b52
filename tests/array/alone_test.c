/* A process alone, without MPI: several threads, a child process; and what other languages stand
 * on: waiting for a while, refusing together, a loop that is finished while its buffers stay. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array/array.h"
#include "check.h"
#include "transport/local.h"
#include "weir/weir.h"

enum { ROWS = 50, COLUMNS = 40, THREADS = 4, RANKS = 3 };

static const weir_array_info matrix = {.type = WEIR_I4, .dimensions = 2, .shape = {ROWS, COLUMNS}};
static char path[200], other[220];

static void fill(const char *name)
{
    int memory[ROWS * COLUMNS];
    weir_array *a;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        memory[i] = i;
    const weir_array_options options = {.overwrite = 1};
    CHECK(!weir_array_create(MPI_COMM_NULL, name, &matrix, &options, NULL, &a));
    CHECK(!weir_array_write_all(a, &(weir_selection){0}, NULL, memory, NULL));
    CHECK(!weir_array_close(a));
}

static void look(const char *name, int row)
{
    const int64_t lo[] = {row, 0}, hi[] = {row + 1, COLUMNS};
    const weir_selection one = {.lo = lo, .hi = hi};
    int memory[COLUMNS];
    weir_array *a;
    CHECK(!weir_array_open(MPI_COMM_NULL, name, WEIR_READ, NULL, &a));
    CHECK(!weir_array_read(a, &one, NULL, memory, NULL));
    CHECK_EQUAL(memory[3], row * COLUMNS + 3);
    weir_request *request;
    memset(memory, 0, sizeof memory);
    CHECK(!weir_array_read(a, &one, NULL, memory, &request));
    CHECK(!weir_request_wait(&request, NULL));
    CHECK_EQUAL(memory[3], row * COLUMNS + 3);
    CHECK(!weir_array_close(a));
}

static void *look_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROWS; i++)
        look(path, i);
    return NULL;
}

/* The first calls of all are made by several threads at once. */
static void use_threads(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, look_often, NULL));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* A child, whose parent has an array open and threads at work, opens arrays of its own. */
static void use_child(void)
{
    weir_array *a;
    int status = 1;
    CHECK(!weir_array_open(MPI_COMM_NULL, path, WEIR_READ, NULL, &a));
    pid_t child = fork();
    if (child == 0) {
        fill(other);
        look(other, 7);
        look(path, 8);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
    CHECK(!weir_array_close(a));
    look(other, 9);
}

static void wait_a_while(void)
{
    int memory[ROWS * COLUMNS], over = 1;
    int64_t count;
    weir_array *a;
    weir_request *request = NULL;
    CHECK(!weir_request_wait_for(&request, 1, &over, &count));
    CHECK_EQUAL(over, 1);
    CHECK(!weir_array_open(MPI_COMM_NULL, path, WEIR_READ, "fault=delay:300000;map=0;access=list",
                           &a));
    CHECK(!weir_array_read(a, &(weir_selection){0}, NULL, memory, &request));
    CHECK(!weir_request_wait_for(&request, 0, &over, NULL));
    CHECK_EQUAL(over, 0);
    CHECK(!weir_request_wait_for(&request, 0.001, &over, NULL));
    CHECK(!over && request);
    while (!over)
        CHECK(!weir_request_wait_for(&request, 10, &over, NULL));
    CHECK(!request);
    CHECK_EQUAL(memory[ROWS * COLUMNS - 1], ROWS * COLUMNS - 1);
    CHECK(!weir_array_close(a));
    CHECK(!weir_array_open(MPI_COMM_NULL, path, WEIR_READ, "fault=eio:1;map=0;access=list", &a));
    CHECK(!weir_array_read(a, &(weir_selection){0}, NULL, memory, &request));
    CHECK_FAILS(weir_request_wait_for(&request, 10, &over, NULL), WEIR_EIO, "");
    CHECK(over && !request);
    CHECK(!weir_array_close(a));
}

/* After the end of a loop its slabs are still there. */
static void finish_slabs(void)
{
    weir_array *from, *to;
    weir_slabs *slabs;
    weir_slab slab;
    const weir_array_options options = {.overwrite = 1};
    CHECK(!weir_array_open(MPI_COMM_NULL, path, WEIR_READ, NULL, &from));
    CHECK(!weir_array_create(MPI_COMM_NULL, other, &matrix, &options, NULL, &to));
    const weir_slabs_options loop = {
        .inputs = 1, .outputs = 1, .input = &from, .output = &to, .memory = 20 << 10};
    CHECK(!weir_slabs_begin(&loop, &slabs));
    const int *last = NULL;
    while (weir_slabs_next(slabs, &slab) == 1) {
        const size_t bytes = (size_t)((slab.hi[0] - slab.lo[0]) * COLUMNS) * sizeof(int);
        memcpy(slab.out[0], slab.in[0], bytes);
        last = slab.in[0];
    }
    for (int i = 0; i < 2; i++)
        CHECK(!weir_slabs_finish(slabs));
    CHECK(last && *last == slab.lo[0] * COLUMNS);
    CHECK_EQUAL(weir_slabs_next(slabs, &slab), 0);
    CHECK(!weir_slabs_end(slabs));
    CHECK(!weir_array_close(to));
    CHECK(!weir_array_close(from));
    look(other, ROWS - 1);
}

/* One rank refuses what the others do: all get its error, nothing moved, and all go on. */
static void refuse(wr_transport *t, void *user)
{
    (void)user;
    int memory[ROWS * COLUMNS] = {0};
    wr_tunables tunables;
    wr_world *w;
    weir_array *a;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_array_open(w, other, WEIR_READ | WEIR_WRITE, NULL, &a));
    const weir_selection all = {0};
    const weir_error why = {.code = WEIR_ERANGE, .rank = -1, .offset = -1, .text = "not this one"};
    for (int form = 0; form < 4; form++) {
        weir_request *request = NULL, **ask = form & 2 ? &request : NULL;
        int code = t->rank == 1 ? weir_array_refuse_all(a, form & 1, &why, ask)
                   : form & 1   ? weir_array_write_all(a, NULL, NULL, memory, ask)
                                : weir_array_read_all(a, &all, NULL, memory, ask);
        if (ask) {
            CHECK(!code);
            code = weir_request_wait(&request, NULL);
        }
        CHECK_FAILS(code, WEIR_ERANGE, "not this one");
        CHECK_EQUAL(weir_error_last()->rank, 1);
        CHECK_EQUAL(memory[1], 0);
    }
    CHECK(!weir_array_read_all(a, &all, NULL, memory, NULL));
    CHECK_EQUAL(memory[COLUMNS], COLUMNS);
    CHECK(!weir_array_close(a)); /* an error of arguments spoils nothing */
    wr_world_release(w);
}

int main(void)
{
    wr_tunables tunables;
    const char *folder = getenv("TMPDIR");
    check_within(60);
    snprintf(path, sizeof path, "%s/alone-%d.npy", folder ? folder : "/tmp", (int)getpid());
    snprintf(other, sizeof other, "%s.other.npy", path);
    fill(path);
    use_threads();
    use_child();
    wait_a_while();
    finish_slabs();
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(RANKS, &tunables, refuse, NULL));
    CHECK(!weir_array_remove(MPI_COMM_NULL, path));
    CHECK(!weir_array_remove(MPI_COMM_NULL, other));
    check_within(0);
    return 0;
}
