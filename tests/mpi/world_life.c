/* Worlds from their first use to the end of MPI, and waiting inside them. */
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "file/inside.h"
#include "weir_mpi.h"

static int rank, ranks, level;

/* Open descriptors, and mappings of regions. */
static int resources(void)
{
    int count = 0;
    char line[600];
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        count++;
    closedir(d);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        count += 1000 * (strstr(line, "weir-region") != NULL);
    fclose(maps);
    return count;
}

static void test_one_world_a_communicator(void)
{
    wr_world *a, *b, *c;
    MPI_Comm copy;
    CHECK(!wr_world_get(MPI_COMM_WORLD, &a));
    CHECK(!wr_world_get(MPI_COMM_WORLD, &b));
    CHECK(a == b);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* attributes are not copied */
    CHECK(!wr_world_get(copy, &c));
    CHECK(c != a && c->transport->size == ranks);
    MPI_Comm_free(&copy);
    CHECK(!wr_world_get(MPI_COMM_SELF, &b));
    CHECK(b != a && b->transport->size == 1);
}

/* Again and again: nothing piles up. */
static void test_freed_with_its_communicator(void)
{
    int before = 0;
    for (int i = 0; i < 60; i++) {
        MPI_Comm copy;
        wr_world *w;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        CHECK(!wr_world_get(copy, &w));
        MPI_Comm_free(&copy);
        if (i == 20)
            before = resources();
    }
    CHECK_EQUAL(resources(), before);
}

/* Rank 0 posts a receive and enters our barrier; rank 1 sends, which may need rank 0's help, before
 * it enters. Without the poke while waiting both would wait for ever. */
static void test_waiting_lets_messages_pass(void)
{
    static const int sizes[] = {1000, 4096, 1 << 20};
    static char data[1 << 20];
    wr_world *w;
    wr_channel c;
    CHECK(!wr_world_get(MPI_COMM_WORLD, &w));
    CHECK(!wr_channel_open(w, &c));
    wr_waiter waiter = wr_transport_waiter(w->transport, true);
    for (int i = 0; i < 30; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int size = sizes[i % 3];
        if (rank == 0 && ranks > 1)
            MPI_Irecv(data, size, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &request);
        if (rank == 1) {
            usleep(2000);
            MPI_Send(data, size, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
        }
        wr_channel_barrier(&c, &waiter);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    wr_channel_close(&c);
}

static void test_fork_in_the_middle(void)
{
    wr_world *w;
    wr_channel c;
    CHECK(!wr_world_get(MPI_COMM_WORLD, &w));
    CHECK(!wr_channel_open(w, &c));
    wr_waiter waiter = wr_transport_waiter(w->transport, true);
    for (int i = 0; i < 3; i++) {
        wr_channel_barrier(&c, &waiter);
        fflush(NULL);
        pid_t child = rank == 0 ? fork() : 1;
        if (child == 0) { /* does not have the region: writing there ends it */
            signal(SIGSEGV, SIG_DFL);
            *(volatile char *)wr_channel_lane(&c, 0, 0) = 1;
            _exit(0);
        }
        wr_channel_barrier(&c, &waiter);
        if (rank == 0) {
            int status;
            CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
            CHECK_EQUAL(WTERMSIG(status), SIGSEGV);
        }
    }
    wr_channel_close(&c);
}

typedef struct job {
    wr_channel *channel;
    bool may_poke;
    int turns;
} job;

static void *exchange(void *user)
{
    job *j = user;
    wr_transport *t = j->channel->world->transport;
    wr_waiter waiter = wr_transport_waiter(t, j->may_poke);
    for (int i = 0; i < j->turns; i++) {
        *wr_channel_lane(j->channel, j->channel->epoch, t->local_rank) = (char)(i + t->local_rank);
        uint32_t turn = wr_channel_exchange(j->channel, &waiter);
        for (int k = 0; k < t->local_size; k++)
            CHECK(*wr_channel_lane(j->channel, turn, k) == (char)(i + k));
    }
    return NULL;
}

/* The second thread makes MPI calls only where the thread level allows it. */
static void test_two_channels_two_threads(void)
{
    wr_world *w;
    wr_channel a, b;
    CHECK(!wr_world_get(MPI_COMM_WORLD, &w));
    CHECK(!wr_channel_open(w, &a) && !wr_channel_open(w, &b));
    pthread_t thread;
    job first = {&a, w->transport->multiple, 100}, second = {&b, true, 70};
    CHECK(!pthread_create(&thread, NULL, exchange, &first));
    exchange(&second);
    pthread_join(thread, NULL);
    wr_channel_close(&a);
    wr_channel_close(&b);
}

/* Whatever allocation of one rank fails on the way to a world, all fail, and a later try succeeds.
 * */
static void test_failing_allocations(void)
{
    for (int64_t skip = 0, code = 1; code; skip++) {
        MPI_Comm copy;
        wr_world *w;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        wr_alloc_fail_after(rank == ranks - 1 ? skip : -1);
        code = wr_world_get(copy, &w);
        wr_alloc_fail_after(-1);
        int64_t same[2] = {code, -code};
        MPI_Allreduce(MPI_IN_PLACE, same, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        CHECK(same[0] == -same[1] && (code == 0 || code == WEIR_ENOMEM));
        CHECK(!wr_world_get(copy, &w));
        MPI_Comm_free(&copy);
        CHECK(skip < 50);
    }
}

static void test_first_rank_decides(void)
{
    MPI_Comm copy;
    wr_world *w;
    setenv("WEIR_RANKS_PER_NODE", rank == 0 ? "1" : "3", 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(!wr_world_get(copy, &w));
    CHECK_EQUAL(w->transport->nodes, ranks);
    MPI_Comm_free(&copy);
    setenv("WEIR_WINDOW", rank == ranks - 1 ? "wide" : "1M", 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK_FAILS(wr_world_get(copy, &w), WEIR_EINVAL, "window=wide");
    CHECK_EQUAL(weir_error_last()->rank, ranks - 1);
    MPI_Comm_free(&copy);
    unsetenv("WEIR_WINDOW");
    unsetenv("WEIR_RANKS_PER_NODE");
}

/* Each rank on a core of its own, as mpirun --bind-to core has it: aggregators are counted by all
 * cores of the node, not by those of rank 0. */
static void test_bound_ranks(void)
{
    const wr_summary wanted = {.hi = 1 << 30, .bytes = 1 << 30, .once_bytes = 1 << 30, .active = 1};
    cpu_set_t before, own;
    char path[60];
    int pid = getpid();
    size_t core = 0;
    MPI_Comm copy;
    wr_world *w;
    weir_file *f;
    wr_plan plan;
    CHECK(!sched_getaffinity(0, sizeof before, &before));
    const int cores = CPU_COUNT(&before) < ranks ? CPU_COUNT(&before) : ranks;
    for (int nth = rank % cores; nth || !CPU_ISSET(core, &before); core++)
        nth -= CPU_ISSET(core, &before) != 0;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    CHECK(!sched_setaffinity(0, sizeof own, &own));
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(!wr_world_get(copy, &w));
    MPI_Bcast(&pid, 1, MPI_INT, 0, copy);
    snprintf(path, sizeof path, "world-life-%d", pid);
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, NULL, &f));
    CHECK(!sched_setaffinity(0, sizeof before, &before));
    CHECK_EQUAL(f->group.handle.cores, cores);
    wr_plan_input in;
    wr_group_input(&f->group, WR_WRITE, &in);
    in.wanted = wanted;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK_EQUAL(plan.aggregators, cores);
    CHECK(!weir_file_close(f));
    if (rank == 0)
        CHECK(!weir_file_remove(path));
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? atoi(argv[1]) : MPI_THREAD_SINGLE;
    wr_world *w;
    CHECK_FAILS(wr_world_get(MPI_COMM_WORLD, &w), WEIR_ETRANSPORT, "MPI is not running");
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    test_one_world_a_communicator();
    test_freed_with_its_communicator();
    test_waiting_lets_messages_pass();
    test_fork_in_the_middle();
    test_two_channels_two_threads();
    test_failing_allocations();
    test_first_rank_decides();
    test_bound_ranks();
    MPI_Comm left;
    MPI_Comm_dup(MPI_COMM_WORLD, &left);
    CHECK(!wr_world_get(left, &w)); /* alive at MPI_Finalize */
    MPI_Finalize();
    CHECK_FAILS(wr_world_get(MPI_COMM_WORLD, &w), WEIR_ETRANSPORT, "MPI is not running");
    return 0;
}
