/* Suite `realms`: who is responsible for what of a file. Prints what contest.h says;
 * bench/realms.py runs it once for each peer and compares.
 *   steps     many small collective writes (the flexible paper, figure 7): write-behind, the
 *             peer, even realms, persistent ones; then, where each write takes 150 us
 *             longer, write-behind and even realms
 *   access    conditional sieving of writes (the flexible paper, figure 5): auto, sieve, list
 *   balance   clustered requests: balanced realms, even ones
 *   imbalance the slowest aggregator's data in that of the mean, both
 *   fair      writes of the last rank that read first, beside large ones of the others: its
 *             longest, and the longest of the others
 *   messages  between nodes: by leaders, from rank to rank
 *   planning  for many virtual ranks: seconds, bytes a rank */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arith.h"
#include "bench.h"
#include "contest.h"
#include "file/inside.h"
#include "growth.h"
#include "plan/balance.h"
#include "weir/weir.h"

enum {
    POINTS = 2048,
    STEPS = 32,
    RUN = 100 * 32,         /* bytes of a point in a step */
    SWEEP_BYTES = 32 << 20, /* of a file, of all ranks together */
    RANGE = 256 << 20,      /* of clustered requests */
    DENSE = RANGE / 10,     /* of these bytes everything is wanted, */
    PIECE = 4096,           /* and of the rest pieces, a tenth of the data */
    PIECES = DENSE / 9 / PIECE,
    MANY = 100000,
    ACROSS = 25 /* of a grid of so many ranks: how many share a row */
};

typedef struct job {
    const char *path;
    weir_file *file[3];
    weir_pattern *where, *memory;
    char *data;
} job;

static void must(int code, const char *what)
{
    if (code)
        contest_stop(what);
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        contest_stop("memory");
    return memory;
}

static weir_file *open_file(const job *j, const char *hints)
{
    weir_file *f;
    must(weir_file_open(MPI_COMM_WORLD, j->path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &f),
         "open");
    return f;
}

static void write_file(const job *j, weir_file *file)
{
    int64_t count;
    must(weir_file_write_all(file, j->where, j->memory, j->data, &count, NULL), "write");
}

static void forget(job *j)
{
    weir_pattern_free(j->where);
    weir_pattern_free(j->memory);
    free(j->data);
}

static void take_data(job *j, int64_t bytes)
{
    must(weir_pattern_contiguous(0, bytes, &j->memory), "pattern");
    j->data = allocate((size_t)bytes + 1);
    memset(j->data, 1 + contest_rank, (size_t)bytes);
}

/* --- steps: points are dealt to the ranks; all steps of a point lie side by side --- */

static int64_t first_of(int step)
{
    return ((int64_t)contest_rank * STEPS + step) * RUN;
}

static void make_steps(const job *j, const char *hints)
{
    weir_file *f = open_file(j, hints);
    for (int step = 0; step < STEPS; step++) {
        job now = *j;
        must(weir_pattern_strided(first_of(step), POINTS / contest_ranks, RUN,
                                  (int64_t)contest_ranks * STEPS * RUN, &now.where),
             "pattern");
        write_file(&now, f);
        weir_pattern_free(now.where);
    }
    must(weir_file_close(f), "close");
}

static void steps_behind(void *user)
{
    make_steps(user, "realms=persistent;realm_align=2M;write_behind=enable");
}

static void steps_slow_behind(void *user)
{
    make_steps(user, "realms=persistent;realm_align=2M;write_behind=enable;fault=delay:150");
}

static void steps_slow(void *user)
{
    make_steps(user, "realms=even;fault=delay:150");
}

static void steps_neither(void *user)
{
    make_steps(user, "realms=even");
}

static void steps_persistent(void *user)
{
    make_steps(user, "realms=persistent;realm_align=2M");
}

static void steps_peer(void *user)
{
    const job *j = user;
    MPI_File f;
    MPI_Datatype type, run;
    const MPI_Aint stride = (MPI_Aint)contest_ranks * STEPS * RUN;
    MPI_Type_contiguous(RUN, MPI_BYTE, &run);
    MPI_Type_create_resized(run, 0, stride, &type);
    MPI_Type_commit(&type);
    must(MPI_File_open(MPI_COMM_WORLD, j->path, MPI_MODE_RDWR, MPI_INFO_NULL, &f), "peer's open");
    for (int step = 0; step < STEPS; step++) {
        must(MPI_File_set_view(f, first_of(step), MPI_BYTE, type, "native", MPI_INFO_NULL) ||
                 MPI_File_write_all(f, j->data, POINTS / contest_ranks * RUN, MPI_BYTE,
                                    MPI_STATUS_IGNORE),
             "peer's write");
    }
    must(MPI_File_close(&f), "peer's close");
    MPI_Type_free(&type);
    MPI_Type_free(&run);
}

/* A way of making the steps leaves in the file what ranks wrote. */
static void check_steps(const job *j, void (*way)(void *user))
{
    static char mark = 100, run[RUN];
    const int64_t bytes = (int64_t)POINTS / contest_ranks * RUN;
    memset(j->data, ++mark + contest_rank, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    way((void *)j);
    int fd = open(j->path, O_RDONLY);
    for (int64_t i = 0; i < (int64_t)POINTS / contest_ranks * STEPS; i++) {
        const int64_t at = first_of(0) + i / STEPS * contest_ranks * STEPS * RUN + i % STEPS * RUN;
        must(pread(fd, run, RUN, at) != RUN || memcmp(run, j->data, RUN) != 0, "wrong data");
    }
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void part_steps(job *j)
{
    contest c = {.part = "steps", .name = "32 steps of 6.6 MB", .op = "write", .seconds = 4};
    c.warm = true;
    c.user = j;
    c.list[0].step = steps_behind;
    c.list[1].step = steps_peer;
    c.list[2].step = steps_neither;
    c.list[3].step = steps_persistent;
    take_data(j, (int64_t)POINTS / contest_ranks * RUN);
    must(weir_pattern_contiguous(0, 0, &j->where), "pattern");
    check_steps(j, steps_neither);
    check_steps(j, steps_behind);
    check_steps(j, steps_persistent);
    contest_run(&c);
    contest slow = {.part = "slow", .name = c.name, .op = "write", .seconds = 4, .warm = true};
    slow.user = j;
    slow.list[0].step = steps_slow_behind;
    slow.list[1].step = steps_slow;
    check_steps(j, steps_slow_behind);
    contest_run(&slow);
    forget(j);
}

/* --- access: a part of every extent of the file; extents are dealt to the ranks --- */

static void access_auto(void *user)
{
    write_file(user, ((job *)user)->file[0]);
}

static void access_sieve(void *user)
{
    write_file(user, ((job *)user)->file[1]);
}

static void access_list(void *user)
{
    write_file(user, ((job *)user)->file[2]);
}

static void sweep(job *j, int64_t extent, int64_t share)
{
    char name[64];
    const int64_t run = wr_max(1, extent * share / 100);
    const int64_t count = SWEEP_BYTES / extent / contest_ranks;
    snprintf(name, sizeof name, "extents of %d KiB, %d %% useful", (int)(extent >> 10), (int)share);
    contest c = {.part = "access", .name = name, .op = "write", .seconds = 0.4, .warm = true};
    c.user = j;
    /* several in a row: the first finds caches as the one before left them */
    c.list[0] = (contestant){.step = access_auto, .calls = 4};
    c.list[1] = (contestant){.step = access_sieve, .calls = 4};
    c.list[2] = (contestant){.step = access_list, .calls = 4};
    must(weir_pattern_strided(contest_rank * extent, count, run, contest_ranks * extent, &j->where),
         "pattern");
    take_data(j, count * run);
    contest_run(&c);
    forget(j);
}

static void part_access(job *j)
{
    static const int64_t shares[] = {3, 6, 12, 25, 50, 75, 100};
    static const char *const hints[] = {"collective=always", "collective=always;access=sieve",
                                        "collective=always;access=list"};
    for (int i = 0; i < 3; i++)
        j->file[i] = open_file(j, hints[i]);
    must(weir_file_set_size(j->file[0], SWEEP_BYTES), "size");
    for (int64_t extent = 1 << 10; extent <= 64 << 10; extent *= bench_quick() ? 8 : 2)
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i += bench_quick() ? 3 : 1)
            sweep(j, extent, shares[i]);
    for (int i = 0; i < 3; i++)
        must(weir_file_close(j->file[i]), "close");
}

/* --- balance: nine tenths of the data in a tenth of the range --- */

static weir_pattern *clustered(int rank, int ranks)
{
    weir_pattern *dense, *pieces, *all;
    const int64_t range = RANGE, gap = (range - DENSE) / PIECES / PIECE * PIECE;
    const int64_t share = DENSE / ranks;
    must(weir_pattern_contiguous(rank * share, share, &dense), "pattern");
    must(weir_pattern_strided(DENSE + rank * gap, PIECES / ranks, PIECE, ranks * gap, &pieces),
         "pattern");
    must(weir_pattern_concat(2, NULL, (const weir_pattern *const[]){dense, pieces}, &all),
         "pattern");
    weir_pattern_free(dense);
    weir_pattern_free(pieces);
    return all;
}

/* The most data that a realm has, in that of the mean. */
static double imbalance(const wr_plan *plan, const wr_want *wants)
{
    int64_t most = 0, all = 0;
    for (int64_t i = 0; i < plan->aggregators; i++) {
        weir_pattern *realm = NULL;
        int64_t lo, hi, data = 0;
        if (wr_plan_realm(plan, i, &realm) || !realm)
            contest_stop("realm");
        weir_pattern_bounds(realm, &lo, &hi);
        for (int k = 0; k < contest_ranks; k++)
            data += wr_pattern_data_below(wants[k].pattern, hi) -
                    wr_pattern_data_below(wants[k].pattern, lo);
        weir_pattern_free(realm);
        most = wr_max(most, data);
        all += data;
    }
    return (double)most * (double)plan->aggregators / (double)all;
}

static void print_imbalance(void)
{
    int64_t cut[WR_CUTS];
    wr_plan_input in = {.ranks = contest_ranks,
                        .nodes = 1,
                        .cores = contest_ranks,
                        .aggregators = contest_ranks,
                        .window = 2 << 20,
                        .buffer = 16 << 20,
                        .collective = WR_SWITCH_ALWAYS,
                        .call_ns = 1000,
                        .mib_ns = 150000};
    wr_want *wants = allocate((size_t)contest_ranks * sizeof *wants);
    double ratio[2];
    for (int i = 0; i < contest_ranks; i++) {
        weir_pattern *p = clustered(i, contest_ranks);
        wants[i] = (wr_want){p, 0, weir_pattern_bytes(p), i};
        wr_summary part = wr_summary_of(p, 0, wants[i].end);
        wr_summary_add(&in.wanted, &part);
    }
    for (int way = 0; way < 2; way++) {
        wr_plan plan = {0};
        in.realms = way ? WR_REALMS_EVEN : WR_REALMS_BALANCED;
        if (!way)
            wr_balance_wants(&in, contest_ranks, wants, cut);
        must(wr_plan_build(&in, &plan), "plan");
        ratio[way] = imbalance(&plan, wants);
    }
    for (int i = 0; i < contest_ranks; i++)
        weir_pattern_free((weir_pattern *)wants[i].pattern);
    if (contest_rank == 0)
        printf("imbalance\tclustered requests\tdata\t%.9g\t%.9g\n", ratio[0], ratio[1]);
    free(wants);
}

static void part_balance(job *j)
{
    static const struct {
        const char *name, *hints;
    } cases[] = {{"clustered requests", ""},
                 {"clustered requests, 200 MB/s an aggregator", ";fault=bandwidth:200"}};
    print_imbalance();
    j->where = clustered(contest_rank, contest_ranks);
    take_data(j, weir_pattern_bytes(j->where));
    for (int i = 0; i < 2; i++) {
        char hints[2][160];
        contest c = {.part = "balance", .name = cases[i].name, .op = "write", .seconds = 2};
        c.warm = true;
        c.user = j;
        c.list[0].step = access_auto;
        c.list[1].step = access_sieve;
        for (int way = 0; way < 2; way++) {
            snprintf(hints[way], sizeof hints[way], "collective=always;aggregators=%d;realms=%s%s",
                     contest_ranks < 4 ? contest_ranks : 4, way ? "even" : "balanced",
                     cases[i].hints);
            j->file[way] = open_file(j, hints[way]);
        }
        contest_run(&c);
        for (int way = 0; way < 2; way++)
            must(weir_file_close(j->file[way]), "close");
    }
    forget(j);
}

/* --- fair --- */

enum { WINDOW = 512 << 10, LARGE = 16 << 20, PLACES = 16 };

/* Every other 512 bytes of a window somewhere. */
static void write_window(const job *j, int64_t at)
{
    weir_pattern *where;
    must(weir_pattern_strided(at * WINDOW, WINDOW / 1024, 512, 1024, &where), "pattern");
    must(weir_file_write(j->file[0], where, j->memory, j->data, NULL, NULL), "write");
    weir_pattern_free(where);
}

static void write_large(const job *j, int64_t at)
{
    weir_pattern *where;
    must(weir_pattern_contiguous(at * LARGE, LARGE, &where), "pattern");
    must(weir_file_write(j->file[0], where, j->memory, j->data, NULL, NULL), "write");
    weir_pattern_free(where);
}

static void part_fair(job *j)
{
    const bool modifies = contest_rank == contest_ranks - 1;
    const double end = MPI_Wtime() + 4;
    double longest[2] = {0}, all[2];
    unsigned seed = (unsigned)contest_rank;
    j->file[0] = open_file(j, "access_write=sieve");
    take_data(j, modifies ? WINDOW / 2 : LARGE);
    must(weir_file_set_size(j->file[0], (int64_t)PLACES * LARGE), "size");
    while (MPI_Wtime() < end) {
        const double start = MPI_Wtime();
        if (modifies)
            write_window(j, rand_r(&seed) % (PLACES * (LARGE / WINDOW)));
        else
            write_large(j, rand_r(&seed) % PLACES);
        const double took = MPI_Wtime() - start;
        if (took > longest[!modifies])
            longest[!modifies] = took;
    }
    MPI_Reduce(longest, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (contest_rank == 0)
        printf("fair\tread, modify and write beside large writes\twrite\t%.9f\t%.9f\n", all[0],
               all[1]);
    must(weir_file_close(j->file[0]), "close");
    j->where = NULL;
    forget(j);
}

/* --- messages: blocks dealt to the ranks, written together --- */

static int64_t messages_of(job *j, const char *hints)
{
    enum { CALLS = 8, EXCHANGED = WR_TO_EXCHANGE };
    weir_file *f = open_file(j, hints);
    wr_transport *t = f->group.handle.world->transport;
    int64_t before = t->traffic[EXCHANGED].messages, all;
    for (int i = 0; i < CALLS; i++)
        write_file(j, f);
    int64_t sent = t->traffic[EXCHANGED].messages - before;
    MPI_Allreduce(&sent, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    must(weir_file_close(f), "close");
    return all;
}

static void part_messages(job *j)
{
    enum { BLOCK = 16 << 10, BLOCKS = 64 };
    must(weir_pattern_strided((int64_t)contest_rank * BLOCK, BLOCKS, BLOCK,
                              (int64_t)contest_ranks * BLOCK, &j->where),
         "pattern");
    take_data(j, (int64_t)BLOCK * BLOCKS);
    int64_t leaders = messages_of(j, "collective=always;exchange=leaders");
    int64_t direct = messages_of(j, "collective=always;exchange=p2p");
    if (contest_rank == 0)
        printf("messages\t16 KiB blocks in turn\twrite\t%lld\t%lld\n", (long long)leaders,
               (long long)direct);
    forget(j);
}

/* --- planning: a grid of ranks, each with a block of a matrix --- */

typedef struct planning {
    weir_plan_request request;
    double seconds;
} planning;

/* All parts: every realm, who wants something of it, and its windows. */
static void make_plan(void *user)
{
    planning *p = user;
    weir_plan *plan;
    double start = bench_seconds();
    must(weir_plan_new(&p->request, &plan), "plan");
    must(weir_plan_print(plan, NULL, 0) < 0, "print");
    p->seconds = bench_seconds() - start;
    weir_plan_free(plan);
}

static void plan_for(int ranks)
{
    const int64_t across = ACROSS, down = ranks / across, block = 64;
    const int64_t shape[] = {down * block, across * block};
    const weir_pattern **patterns = allocate((size_t)ranks * sizeof(weir_pattern *));
    for (int i = 0; i < ranks; i++) {
        const int64_t lo[] = {i / across * block, i % across * block};
        const int64_t hi[] = {lo[0] + block, lo[1] + block};
        weir_pattern *p;
        weir_shape whole = {.dimensions = 2, .element = 8, .size = shape};
        weir_selection s = {.lo = lo, .hi = hi};
        must(weir_pattern_section(&whole, &s, NULL, &p), "section");
        patterns[i] = p;
    }
    planning p = {.request = {.ranks = ranks,
                              .ranks_per_node = 64,
                              .cores = 64,
                              .patterns = patterns,
                              .write = 1,
                              .unit = shape[1] * 8,
                              .hints = "collective=always"}};
    make_plan(&p);
    const double seconds = p.seconds, bytes = (double)growth_measure(make_plan, &p) / ranks;
    printf("planning\t%d ranks\tplan\t%.9g\t%.9g\n", ranks, seconds, bytes);
    for (int i = 0; i < ranks; i++)
        weir_pattern_free((weir_pattern *)patterns[i]);
    free(patterns);
}

static void part_planning(void)
{
    if (contest_rank == 0)
        for (int ranks = MANY / 8; ranks <= MANY; ranks *= 2)
            plan_for(ranks);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    contest_init(argc, argv);
    if (argc < 3)
        return fprintf(stderr, "usage: bench_realms WHAT FILE [--quick]\n"), 2;
    job j = {.path = argv[2]};
    if (!strcmp(argv[1], "steps"))
        part_steps(&j);
    else if (!strcmp(argv[1], "access"))
        part_access(&j);
    else if (!strcmp(argv[1], "balance"))
        part_balance(&j);
    else if (!strcmp(argv[1], "fair"))
        part_fair(&j);
    else if (!strcmp(argv[1], "messages"))
        part_messages(&j);
    else if (!strcmp(argv[1], "planning"))
        part_planning();
    MPI_Finalize();
    if (contest_rank == 0)
        unlink(j.path);
    return 0;
}
