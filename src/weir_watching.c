/* Traces and statistics of a job: which job that is, and who speaks for it at its end.
 *
 * If all ranks of MPI_COMM_WORLD have opened something together, all of them come to the callback
 * of MPI_COMM_SELF in MPI_Finalize, and their numbers are reduced there. Otherwise nobody may wait
 * for anybody: the first rank of the largest communicator says what it learned when files were
 * closed, and of processes that are by themselves only rank 0 says something. */
#include "weir_watching.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "transport/mpi_transport.h"
#include "weir/weir.h"

/* Of the process, whatever its worlds. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    pid_t process; /* that all this is about; another one is a child that has to begin anew */
    wr_profile *profile;
    int rank, size; /* in MPI_COMM_WORLD, */
    bool met;       /* if MPI has told */
    bool stats;
    bool child;    /* of a process that this was about before */
    bool everyone; /* all ranks have opened something together, with statistics */
    bool said;     /* the numbers */
    const wr_process *alone;
    int group; /* ranks of the largest communicator this one is the first of, */
    int64_t learned[WR_STATS];
} own;

/* --- which job --- */

/* When a process started, in ticks since the system did; 0: not known. */
static int64_t start_of(long process)
{
    enum { BEFORE = 19 }; /* fields between the name and the time */
    char name[40], text[1024];
    snprintf(name, sizeof name, "/proc/%ld/stat", process);
    FILE *f = fopen(name, "re");
    if (!f)
        return 0;
    const size_t bytes = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[bytes] = '\0';
    char *at = strrchr(text, ')');
    for (int i = 0; at && i <= BEFORE; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : 0;
}

/* A process as a number that no other has. */
static uint64_t hash_of(long process)
{
    char text[400], host[256] = "";
    gethostname(host, sizeof host - 1);
    const int length =
        snprintf(text, sizeof text, "%s %ld %lld", host, process, (long long)start_of(process));
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 31;
}

/* With the lock held: who this is. Where ranks cannot agree on the job, those that one launcher has
 * started are of one; what a rank has forked is a job by itself, as it may be one of many. */
static void introduce(const wr_tunables *tunables, bool stats)
{
    if (own.process != getpid()) {
        const bool child = own.process != 0;
        memset(&own, 0, sizeof own);
        own.process = getpid();
        own.child = child;
        own.size = 1;
    }
    const bool met = !own.met && wr_mpi_alive(); /* it may run since the last time only */
    if (met) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &own.rank);
        PMPI_Comm_size(MPI_COMM_WORLD, &own.size);
        own.met = true;
    }
    own.stats = own.stats || stats;
    if (own.profile ? !met : !*tunables->trace)
        return;
    const bool launched = own.size > 1 && !own.child;
    const wr_identity who = {.job = hash_of(launched ? (long)getppid() : (long)getpid()),
                             .rank = launched ? own.rank : 0,
                             .size = launched ? own.size : 1,
                             .folder = tunables->trace,
                             .version = weir_version(),
                             .log = {.level = (int)tunables->log.which}};
    if (own.profile)
        wr_profile_rename(own.profile, &who);
    else
        own.profile = wr_profile_new(&who);
}

static void attach(wr_process *process)
{
    process->profile = own.profile;
    process->timed = own.profile || own.stats;
}

/* How it is to MPI_COMM_WORLD. */
static int compare(MPI_Comm comm)
{
    int relation = MPI_UNEQUAL, between = 1;
    PMPI_Comm_test_inter(comm, &between);
    if (!between)
        PMPI_Comm_compare(comm, MPI_COMM_WORLD, &relation);
    return relation;
}

/* Where ranks of the communicator are in MPI_COMM_WORLD; NULL: there is no memory. */
static int *find_places(MPI_Comm comm, int size)
{
    int *place = wr_alloc_array(2 * (int64_t)size, sizeof *place);
    MPI_Group here, all;
    if (!place)
        return NULL;
    for (int i = 0; i < size; i++)
        place[size + i] = i;
    PMPI_Comm_group(comm, &here);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_translate_ranks(here, size, place + size, all, place);
    PMPI_Group_free(&here);
    PMPI_Group_free(&all);
    return place;
}

void wr_watching_begin(MPI_Comm comm, wr_world *world)
{
    const wr_tunables *tunables = &world->tunables;
    wr_transport *t = world->transport;
    if (!*tunables->trace && !tunables->stats)
        return;
    pthread_mutex_lock(&lock);
    introduce(tunables, tunables->stats);
    attach(world->process);
    const int relation = compare(comm);
    const bool everyone = relation != MPI_UNEQUAL;
    own.everyone = own.everyone || (everyone && tunables->stats);
    pthread_mutex_unlock(&lock);
    if (!*tunables->trace)
        return;
    wr_identity who = {hash_of((long)getpid()), own.rank, own.size, t->node, .folder = NULL};
    if (everyone && !wr_broadcast(t, WR_TAG_WORLD, &who.job, sizeof who.job) && own.profile)
        wr_profile_rename(own.profile, &who);
    if (relation == MPI_SIMILAR || relation == MPI_UNEQUAL)
        world->places = find_places(comm, t->size);
}

/* --- the end --- */

static const char *bytes_text(double bytes, char text[24])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 5; unit++)
        bytes /= 1024;
    snprintf(text, 24, unit && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

static double ratio(int64_t moved, int64_t wanted)
{
    return wanted ? (double)moved / (double)wanted : 0;
}

/* "read 1.2 GiB, wrote 310 MiB, 300 MiB/s": calls that overlap have no time of their own, so that
 * there is one rate. */
static void flow_text(const int64_t s[WR_STATS], char text[120])
{
    char read[24], wrote[24], rate[24];
    const double in = (double)s[WR_STAT_WANTED + WR_READ],
                 out = (double)s[WR_STAT_WANTED + WR_WRITE], most = seconds(s[WR_STAT_MOST_NS]);
    snprintf(text, 120, "read %s, wrote %s, %s/s", bytes_text(in, read), bytes_text(out, wrote),
             bytes_text(most > 0 ? (in + out) / most : 0, rate));
}

static double run_seconds(void)
{
    const double tick = (double)sysconf(_SC_CLK_TCK);
    return seconds(wr_clock_read(CLOCK_BOOTTIME)) - (double)start_of((long)getpid()) / tick;
}

/* Everything in one piece, so that lines of others do not come between. */
static void say(const int64_t s[WR_STATS], int ranks, bool whole)
{
    char text[800], flow[120], memory[24];
    flow_text(s, flow);
    const double most = seconds(s[WR_STAT_MOST_NS]), mean = seconds(s[WR_STAT_NS]) / ranks,
                 run = run_seconds(), share = run > 0 ? 100 * most / run : 0;
    const double by_read = ratio(s[WR_STAT_MOVED + WR_READ], s[WR_STAT_WANTED + WR_READ]),
                 by_write = ratio(s[WR_STAT_MOVED + WR_WRITE], s[WR_STAT_WANTED + WR_WRITE]);
    int n;
    if (whole)
        n = snprintf(text, sizeof text,
                     "weir: %d rank%s, %.2f s, weir %s\n"
                     "weir: %s while in I/O\n"
                     "weir: in I/O %.2f s at most, %.2f s on average, %.0f %% of the run\n"
                     "weir: amplification %.2f reading, %.2f writing\n"
                     "weir: %lld errors in %lld calls; buffers of %s at most\n",
                     ranks, ranks == 1 ? "" : "s", run, weir_version(), flow, most, mean, share,
                     by_read, by_write, (long long)s[WR_STAT_ERRORS], (long long)s[WR_STAT_CALLS],
                     bytes_text((double)s[WR_STAT_MEMORY], memory));
    else
        n = snprintf(text, sizeof text,
                     "weir: %d of %d ranks, the first is %d: %s, in I/O %.2f s at most, "
                     "amplification %.2f and %.2f, %lld errors\n",
                     ranks, own.size, own.rank, flow, most, by_read, by_write,
                     (long long)s[WR_STAT_ERRORS]);
    wr_log_write(text, n);
}

static void add_stats(const wr_process *process, int64_t sum[WR_STATS])
{
    int64_t more[WR_STATS];
    if (!process)
        return;
    wr_stats_get(&process->tally, more);
    for (int i = 0; i < WR_STATS; i++)
        sum[i] += more[i];
    sum[WR_STAT_MEMORY] = wr_memory_peak();
}

/* [collective] Of all ranks; rank 0 says it. */
static void say_for_all(int64_t stats[WR_STATS])
{
    int64_t all[WR_STATS] = {0};
    PMPI_Reduce(stats, all, WR_STAT_SUMS, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(stats + WR_STAT_SUMS, all + WR_STAT_SUMS, WR_STATS - WR_STAT_SUMS, MPI_INT64_T,
                MPI_MAX, 0, MPI_COMM_WORLD);
    if (own.rank == 0)
        say(all, own.size, true);
}

void wr_watching_part(const wr_world *w)
{
    const wr_transport *t = w->transport;
    pthread_mutex_lock(&lock);
    if (w->tunables.stats && t->rank == 0 && t->size > 1 && t->size >= own.group &&
        w->stats[WR_STAT_CALLS]) {
        own.group = t->size;
        memcpy(own.learned, w->stats, sizeof own.learned);
    }
    pthread_mutex_unlock(&lock);
}

void wr_watching_end(const wr_process *process)
{
    int64_t stats[WR_STATS] = {0};
    if (own.process != getpid())
        return;
    if (own.profile)
        wr_profile_save(own.profile, true);
    if (!own.stats || own.said)
        return;
    own.said = true;
    add_stats(process, stats);
    add_stats(own.alone, stats);
    if (own.everyone)
        say_for_all(stats);
    else if (own.group)
        say(own.learned, own.group, false);
    else if (own.rank == 0 && stats[WR_STAT_CALLS])
        say(stats, 1, own.size == 1);
}

/* --- without MPI --- */

void wr_watching_forget(void)
{
    pthread_mutex_init(&lock, NULL);
}

static void end_alone(void)
{
    int64_t stats[WR_STATS] = {0};
    if (own.process != getpid())
        return;
    if (own.profile)
        wr_profile_save(own.profile, true);
    if (own.everyone && wr_mpi_alive()) /* somebody finalizes it later, and others count on us */
        return;
    add_stats(own.alone, stats);
    if (own.stats && !own.said && own.rank == 0 && stats[WR_STAT_CALLS])
        say(stats, 1, own.size == 1);
    own.said = true;
}

void wr_watching_begin_alone(wr_process *process, const wr_tunables *tunables)
{
    static bool watched;
    if (!*tunables->trace && !tunables->stats)
        return;
    pthread_mutex_lock(&lock);
    introduce(tunables, tunables->stats);
    own.alone = process;
    attach(process);
    watched = watched || !atexit(end_alone); /* a child inherits it */
    pthread_mutex_unlock(&lock);
}
