#include "contest.h"

#include <float.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "weir/weir.h"

enum { REPEAT = 25, REPEAT_QUICK = 9, LEAST = 3 };

/* A repetition as long as the one needs no warm-up; as long as the other, it stays the only one. */
static const double slow_seconds = 1, endless_seconds = 7;

int contest_rank, contest_ranks;
bool contest_cluster;

void contest_init(int argc, char **argv)
{
    bench_init(argc, argv);
    for (int i = 1; i < argc; i++)
        contest_cluster = contest_cluster || !strcmp(argv[i], "--cluster");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &contest_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &contest_ranks);
}

void contest_stop(const char *what)
{
    char text[600];
    weir_error_format(weir_error_last(), text, sizeof text);
    fprintf(stderr, "rank %d: %s: %s\n", contest_rank, what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void sleep_seconds(double seconds)
{
    struct timespec t = {.tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&t, NULL);
}

/* MPI's own waiting would take the processor from those who work. */
static void sleeping_barrier(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done;
         MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        sleep_seconds(1e-3);
}

static void make_calls(const contestant *one, void *user, double *times)
{
    times[0] = -bench_seconds();
    for (int i = 0; i < (one->calls ? one->calls : 1); i++)
        one->step(user);
    times[1] = bench_seconds();
}

/* The few start at an agreed time, when the others are asleep. */
static void make_calls_of_few(const contestant *one, void *user, double *times)
{
    double start = bench_seconds() + 5e-3;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (contest_rank < one->ranks) {
        double left = start - bench_seconds();
        if (left > 0)
            sleep_seconds(left);
        make_calls(one, user, times);
    }
    sleeping_barrier();
}

double contest_time(const contestant *one, void *user)
{
    double times[2] = {-DBL_MAX, -DBL_MAX}, all[2]; /* one machine, one clock */
    MPI_Barrier(MPI_COMM_WORLD);
    if (one->ranks && one->ranks < contest_ranks)
        make_calls_of_few(one, user, times);
    else
        make_calls(one, user, times);
    MPI_Allreduce(times, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return (all[0] + all[1]) / (one->calls ? one->calls : 1);
}

static double repeat_once(const contest *c, int repetition, double *seconds)
{
    double spent = 0;
    for (int i = 0; i < CONTEST_MOST && c->list[i].step; i++) {
        const contestant *one = &c->list[i];
        bool out = one->most && repetition >= one->most;
        seconds[i] = out ? -1 : contest_time(one, c->user);
        spent += out ? 0 : seconds[i] * (one->calls ? one->calls : 1);
    }
    return spent;
}

static void print_times(const contest *c, const double *seconds)
{
    if (contest_rank)
        return;
    printf("%s\t%s\t%s", c->part, c->name, c->op);
    for (int i = 0; i < CONTEST_MOST && c->list[i].step; i++)
        if (seconds[i] < 0)
            printf("\t-");
        else
            printf("\t%.9g", seconds[i]);
    printf("\n");
    fflush(stdout);
}

/* Where a peer is slow, and ours ten times as fast, one repetition tells enough. */
static bool is_endless(double once, double ours)
{
    return once > endless_seconds || (contest_cluster && once > slow_seconds && ours < once / 10);
}

/* What ends a contest depends only on times all ranks agree on. Nothing is printed before it is
 * over: the launcher, which hands that on, would disturb whoever comes next. */
void contest_run(const contest *c)
{
    double seconds[REPEAT][CONTEST_MOST] = {0}, spent = 0;
    double limit = bench_quick() ? c->seconds / 4 : c->seconds;
    int most = bench_quick() ? REPEAT_QUICK : REPEAT, done = 0;
    bool warm = c->warm;
    while (done < most && (done < LEAST || spent < limit)) {
        double once = repeat_once(c, done, seconds[done]);
        bool counts = !warm || once > slow_seconds;
        warm = false;
        if (!counts)
            continue;
        spent += once;
        if (is_endless(once, seconds[done++][0]))
            break;
    }
    for (int i = 0; i < done; i++)
        print_times(c, seconds[i]);
}
