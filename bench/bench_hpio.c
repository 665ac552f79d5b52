/* Suite `hpio`: regular regions, noncontiguous in memory and in the file, as in section 6.2 of the
 * paper on flexible collective I/O, through Weir and through the MPI library's own MPI-IO; besides,
 * a dense interleaving against plain I/O, the memory a call takes, and the price of a tiny call.
 * Prints what contest.h says; bench/hpio.py runs it once for each peer and compares. With
 * --cluster, for bench/cluster.py, dense cases are compared with plain access by all ranks and with
 * sending the same bytes to the next host, and tiny calls with a barrier. With --traced FOLDER, for
 * bench/trace.py, Weir leaves a trace there, and is compared with itself without one.
 *
 * Region i of rank p is at (i * ranks + p) * (size + gap) in the file and at i * (size + gap) in
 * memory. Every case is checked once, byte for byte and gaps included, before it is timed. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "contest.h"
#include "growth.h"
#include "weir/weir.h"

enum {
    REGIONS = 4096,
    SPACING = 128,
    SMALLEST = 8,
    LARGEST = 4096,
    MANY_RANKS = 16,  /* where dense and memory are measured, and large reads against plain ones */
    PLAIN_SIZE = 512, /* regions from which on they are */
    PLAIN_RANKS = 2,
    PIECE = 1 << 20,       /* of a plain transfer */
    CHECKED = 4 << 20,     /* at a time, of what is checked */
    BLOCK = 4096,          /* of the dense case */
    DENSE = 64 << 20,      /* all ranks together */
    GRAIN = 16,            /* of the cases about memory */
    OUR_GRAINS = 1 << 20,  /* of a rank */
    PEER_GRAINS = 1 << 16, /* with twice as many OMPIO takes over ten seconds */
    TINY = 800,
    UNTOUCHED = 0x5a /* what memory holds where nothing is read to */
};

static const double tiny_seconds = 0.02; /* of a loop of tiny calls */

typedef struct job {
    int64_t count, size, gap; /* what a rank has */
    bool write, enumerated;
    MPI_Comm comm;
    const char *path;
    int fd, near;      /* ranks of a host */
    const char *trace; /* its folder, or NULL */
    weir_file *file, *untraced;
    weir_pattern *where, *memory;
    MPI_File peer;
    MPI_Datatype file_type, memory_type;
    int memory_count;
    char *buffer, *piece, *share; /* the user's memory; of checks; of plain access */
} job;

static int64_t slot(const job *j)
{
    return j->size + j->gap;
}

static int64_t first(const job *j)
{
    return contest_rank * slot(j);
}

static int64_t stride(const job *j)
{
    return contest_ranks * slot(j);
}

static void *must(void *memory)
{
    if (!memory)
        contest_stop("memory");
    return memory;
}

/* The contestants. */

static void ours_by(const job *j, weir_file *file)
{
    int64_t count;
    int code = j->write ? weir_file_write_all(file, j->where, j->memory, j->buffer, &count, NULL)
                        : weir_file_read_all(file, j->where, j->memory, j->buffer, &count, NULL);
    if (code || count != j->count * j->size)
        contest_stop("access");
}

static void ours(void *user)
{
    const job *j = user;
    ours_by(j, j->file);
}

static void ours_untraced(void *user)
{
    const job *j = user;
    ours_by(j, j->untraced);
}

static void peer(void *user)
{
    job *j = user;
    if (j->write ? MPI_File_write_at_all(j->peer, 0, j->buffer, j->memory_count, j->memory_type,
                                         MPI_STATUS_IGNORE)
                 : MPI_File_read_at_all(j->peer, 0, j->buffer, j->memory_count, j->memory_type,
                                        MPI_STATUS_IGNORE))
        contest_stop("peer's access");
}

static int plain_ranks(void)
{
    return contest_cluster ? contest_ranks : PLAIN_RANKS;
}

/* As many bytes as all ranks have, from the start of the file, a share on each of the few. */
static int64_t share(const job *j)
{
    return contest_ranks * j->count * j->size / plain_ranks();
}

static void plain(const job *j, int64_t buffers)
{
    int64_t end = share(j), start = contest_rank * end;
    for (int64_t at = 0; at < end; at += PIECE) {
        ssize_t bytes = end - at < PIECE ? (ssize_t)(end - at) : PIECE;
        char *memory = j->share + at / PIECE % buffers * PIECE;
        if ((j->write ? pwrite(j->fd, memory, (size_t)bytes, start + at)
                      : pread(j->fd, memory, (size_t)bytes, start + at)) != bytes)
            contest_stop("plain access");
    }
}

/* With one buffer, which stays in the processor's cache. */
static void plain_cached(void *user)
{
    plain(user, 1);
}

/* With memory for all of it, as the ranks together have. */
static void plain_spread(void *user)
{
    plain(user, INT64_MAX);
}

/* All that a rank has, once from host to host. */
static void send_to_next_host(void *user)
{
    const job *j = user;
    int bytes = (int)(j->count * j->size), to = (contest_rank + j->near) % contest_ranks;
    int from = (contest_rank + contest_ranks - j->near) % contest_ranks;
    MPI_Sendrecv(j->buffer, bytes, MPI_BYTE, to, 0, j->share, bytes, MPI_BYTE, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void *user)
{
    (void)user;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What is in the file: every 8 bytes tell their offset and who wrote them. */

static uint64_t word(int64_t offset, uint64_t writer)
{
    return ((uint64_t)offset + (writer << 48)) * 0x9e3779b97f4a7c15U;
}

static void put(char *to, int64_t bytes, int64_t offset, uint64_t writer)
{
    for (int64_t k = 0; k < bytes; k += 8) {
        uint64_t value = word(offset + k, writer);
        memcpy(to + k, &value, 8);
    }
}

static bool holds(const char *at, int64_t bytes, int64_t offset, uint64_t writer)
{
    uint64_t wrong = 0, value;
    for (int64_t k = 0; k < bytes; k += 8) {
        memcpy(&value, at + k, 8);
        wrong |= value ^ word(offset + k, writer);
    }
    return !wrong;
}

static void check_memory(const job *j)
{
    static char gap[SPACING];
    memset(gap, UNTOUCHED, sizeof gap);
    for (int64_t i = 0; i < j->count; i++) {
        const char *region = j->buffer + i * slot(j);
        if (!holds(region, j->size, first(j) + i * stride(j), 0))
            contest_stop("wrong data read");
        if (memcmp(region + j->size, gap, (size_t)j->gap))
            contest_stop("memory written between the regions");
    }
}

/* Hands over the file, a rank's contiguous share each, in groups of whole slots. */
static void for_share(const job *j, void (*group)(const job *, int64_t at, int64_t n, uint64_t),
                      uint64_t writer)
{
    int64_t most = CHECKED / slot(j), lo = contest_rank * j->count, hi = lo + j->count;
    for (int64_t i = lo; i < hi; i += most)
        group(j, i * slot(j), hi - i < most ? hi - i : most, writer);
}

static void fill_group(const job *j, int64_t at, int64_t n, uint64_t writer)
{
    ssize_t bytes = n * slot(j);
    put(j->piece, bytes, at, writer);
    if (pwrite(j->fd, j->piece, (size_t)bytes, at) != bytes)
        contest_stop("fill");
}

static void check_group(const job *j, int64_t at, int64_t n, uint64_t writer)
{
    ssize_t bytes = n * slot(j);
    if (pread(j->fd, j->piece, (size_t)bytes, at) != bytes)
        contest_stop("check");
    for (int64_t k = 0; k < bytes; k += slot(j)) {
        if (!holds(j->piece + k, j->size, at + k, writer))
            contest_stop("wrong data written");
        if (!holds(j->piece + k + j->size, j->gap, at + k + j->size, 0))
            contest_stop("file written between the regions");
    }
}

/* Before an access that is checked; returns who writes. */
static uint64_t prepare(const job *j)
{
    static uint64_t writer;
    writer++;
    memset(j->buffer, UNTOUCHED, (size_t)(j->count * slot(j)));
    for (int64_t i = 0; j->write && i < j->count; i++)
        put(j->buffer + i * slot(j), j->size, first(j) + i * stride(j), writer);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody looks at the file any more */
    return writer;
}

static void look(const job *j, uint64_t writer)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (j->write)
        for_share(j, check_group, writer);
    else
        check_memory(j);
}

static void check(job *j, void (*step)(void *user))
{
    uint64_t writer = prepare(j);
    step(j);
    look(j, writer);
}

/* What each contestant needs to be told of a case. */

/* Succinct: one region, resized; or all of them, one by one. */
static MPI_Datatype regions_type(const job *j, int64_t step)
{
    MPI_Datatype region, type;
    if (j->enumerated) {
        int *lengths = must(malloc((size_t)j->count * sizeof *lengths));
        MPI_Aint *places = must(malloc((size_t)j->count * sizeof *places));
        for (int64_t i = 0; i < j->count; i++) {
            lengths[i] = (int)j->size;
            places[i] = (MPI_Aint)(i * step);
        }
        MPI_Type_create_hindexed((int)j->count, lengths, places, MPI_BYTE, &type);
        free(lengths);
        free(places);
    } else {
        MPI_Type_contiguous((int)j->size, MPI_BYTE, &region);
        MPI_Type_create_resized(region, 0, (MPI_Aint)step, &type);
        MPI_Type_free(&region);
    }
    MPI_Type_commit(&type);
    return type;
}

static weir_pattern *regions_pattern(const job *j, int64_t from, int64_t step)
{
    weir_pattern *pattern = NULL;
    if (!j->enumerated) {
        if (weir_pattern_strided(from, j->count, j->size, step, &pattern))
            contest_stop("strided");
        return pattern;
    }
    int64_t *offsets = must(malloc((size_t)j->count * sizeof *offsets));
    int64_t *lengths = must(malloc((size_t)j->count * sizeof *lengths));
    for (int64_t i = 0; i < j->count; i++) {
        offsets[i] = from + i * step;
        lengths[i] = j->size;
    }
    if (weir_pattern_runs(j->count, offsets, lengths, &pattern))
        contest_stop("runs");
    free(offsets);
    free(lengths);
    return pattern;
}

static void set_view(job *j)
{
    if (MPI_File_set_view(j->peer, (MPI_Offset)first(j), MPI_BYTE, j->file_type, "native",
                          MPI_INFO_NULL))
        contest_stop("peer's view");
}

static void describe(job *j)
{
    j->where = regions_pattern(j, first(j), stride(j));
    j->memory = regions_pattern(j, 0, slot(j));
    j->file_type = j->count > 1 ? regions_type(j, stride(j)) : MPI_BYTE;
    j->memory_type = j->gap ? regions_type(j, slot(j)) : MPI_BYTE;
    j->memory_count = (int)(j->gap ? (j->enumerated ? 1 : j->count) : j->count * j->size);
}

static void forget(job *j)
{
    weir_pattern_free(j->where);
    weir_pattern_free(j->memory);
    if (j->file_type != MPI_BYTE)
        MPI_Type_free(&j->file_type);
    if (j->memory_type != MPI_BYTE)
        MPI_Type_free(&j->memory_type);
}

static const char *op(const job *j)
{
    return j->write ? "write" : "read";
}

/* Sets what a rank has, and the file to what readers expect and writers leave alone. */
static void begin(job *j, int64_t count, int64_t size, int64_t gap)
{
    j->count = count;
    j->size = size;
    j->gap = gap;
    j->buffer = must(malloc((size_t)(count * slot(j))));
    if (contest_ranks == MANY_RANKS && contest_rank < plain_ranks()) {
        j->share = must(malloc((size_t)share(j)));
        memset(j->share, 0, (size_t)share(j));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for_share(j, fill_group, 0);
}

static void end(job *j)
{
    free(j->buffer);
    free(j->share);
    j->share = NULL;
}

/* The parts. */

static void add_plain(contestant *list)
{
    list[0] = (contestant){.step = plain_cached, .ranks = PLAIN_RANKS};
    list[1] = (contestant){.step = plain_spread, .ranks = PLAIN_RANKS};
}

/* With and without a trace there and back, because who comes second finds data in caches. */
static void add_rivals(const job *j, contestant *list)
{
    list[0].step = ours;
    list[1].step = j->trace ? ours_untraced : peer;
    list[2].step = j->trace ? ours_untraced : NULL;
    list[3].step = j->trace ? ours : NULL;
}

static void run_hpio(job *j)
{
    char name[64];
    snprintf(name, sizeof name, "regions of %d bytes, %s", (int)j->size,
             j->enumerated ? "enumerated" : "succinct");
    contest c = {.part = "hpio", .name = name, .op = op(j), .seconds = 0.3, .user = j};
    add_rivals(j, c.list);
    if (!j->write && j->size >= PLAIN_SIZE && contest_ranks == MANY_RANKS && !contest_cluster &&
        !j->trace)
        add_plain(&c.list[2]);
    describe(j);
    set_view(j);
    check(j, ours);
    check(j, peer);
    contest_run(&c);
    forget(j);
}

static void part_hpio(job *j)
{
    int64_t factor = !bench_quick() ? 2 : contest_cluster ? 256 : 16;
    for (int64_t size = SMALLEST; size <= LARGEST; size *= factor) {
        begin(j, REGIONS, size, SPACING);
        for (int k = 0; k < 4; k++) {
            j->write = k / 2;
            j->enumerated = k % 2;
            run_hpio(j);
        }
        end(j);
    }
}

/* All ranks together have 64 MiB, in turns of that size. */
static void run_dense(job *j, const char *name, int64_t turn)
{
    contest c = {.part = "dense", .name = name, .seconds = 0.5, .user = j};
    c.list[0].step = ours;
    if (contest_cluster) {
        c.list[1].step = plain_spread;
        c.list[2].step = send_to_next_host;
    } else {
        add_plain(&c.list[1]);
    }
    begin(j, DENSE / turn / contest_ranks, turn, 0);
    j->enumerated = false;
    describe(j);
    for (int write = 0; write < 2; write++) {
        j->write = write;
        c.op = op(j);
        check(j, ours);
        contest_run(&c);
    }
    forget(j);
    end(j);
}

static void part_dense(job *j)
{
    run_dense(j, "64 MiB in turns of 4 KiB", BLOCK);
    if (contest_cluster)
        run_dense(j, "64 MiB in blocks of 4 MiB", DENSE / contest_ranks);
}

/* So many that the loop can be timed. */
static int calls_of(contestant one, job *j)
{
    for (one.calls = 8; one.calls * contest_time(&one, j) < tiny_seconds;)
        one.calls *= 2;
    return one.calls;
}

static void part_tiny(job *j)
{
    contest c = {.part = "tiny", .name = "800 bytes a rank", .op = "read", .user = j};
    c.seconds = 1;
    add_rivals(j, c.list);
    if (contest_cluster)
        c.list[2].step = barrier;
    j->write = j->enumerated = false;
    begin(j, 1, TINY, 0);
    describe(j);
    set_view(j);
    check(j, ours);
    check(j, peer);
    for (int i = 0; i < CONTEST_MOST && c.list[i].step; i++)
        c.list[i].calls = calls_of(c.list[i], j);
    contest_run(&c);
    forget(j);
    end(j);
}

static void count_near(job *j)
{
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &j->near);
    MPI_Comm_free(&host);
}

static void open_ours(job *j)
{
    if (weir_file_open(j->comm, j->path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, NULL, &j->file))
        contest_stop("open");
}

/* A trace is begun with the first file of a communicator. */
static void open_traced(job *j)
{
    open_ours(j);
    j->untraced = j->file;
    MPI_Comm_dup(j->comm, &j->comm);
    setenv("WEIR_TRACE", j->trace, 1);
    open_ours(j);
}

static void open_peer(job *j)
{
    if (MPI_File_open(j->comm, j->path, MPI_MODE_RDWR, MPI_INFO_NULL, &j->peer))
        contest_stop("peer's open");
}

static void open_and_ours(void *user)
{
    open_ours(user);
    ours(user);
}

static void open_and_peer(void *user)
{
    open_peer(user);
    set_view(user);
    peer(user);
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Prints the growth on the rank that grew most, and on the third: that is no aggregator. */
static void print_growth(const job *j, const char *part, int64_t bytes)
{
    double mine = (double)bytes / (1 << 20), all[MANY_RANKS];
    if (bytes < 0)
        contest_stop("/proc/self/status");
    MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (contest_rank)
        return;
    qsort(all, MANY_RANKS, sizeof *all, descending);
    printf("%s\t%lld MiB a rank in pieces of %d bytes\t%s\t%.3f\t%.3f\n", part,
           (long long)(j->count * j->size >> 20), GRAIN, op(j), all[0], all[2]);
}

static void run_memory(job *j, const char *part, void (*step)(void *user))
{
    uint64_t writer = prepare(j);
    print_growth(j, part, growth_measure(step, j));
    look(j, writer);
}

/* Comes last, for growth_measure spoils malloc. */
static void part_memory(job *j)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &j->comm); /* one that holds nothing of Weir's yet */
    j->enumerated = false;
    begin(j, OUR_GRAINS, GRAIN, 0);
    describe(j);
    for (int write = 0; write < 2; write++) {
        j->write = write;
        run_memory(j, "memory", open_and_ours);
        weir_file_close(j->file);
    }
    forget(j);
    end(j);
    begin(j, PEER_GRAINS, GRAIN, 0);
    describe(j);
    j->write = false;
    if (!bench_quick()) {
        run_memory(j, "peer memory", open_and_peer);
        MPI_File_close(&j->peer);
    }
    forget(j);
    end(j);
    MPI_Comm_free(&j->comm);
}

int main(int argc, char **argv)
{
    contest_init(argc, argv);
    if (argc < 2)
        return fprintf(stderr, "usage: bench_hpio FILE [--quick] [--cluster] [--traced FOLDER]\n"),
               MPI_Finalize(), 2;
    job j = {.comm = MPI_COMM_WORLD, .path = argv[1], .piece = must(calloc(1, CHECKED))};
    for (int i = 2; i + 1 < argc; i++)
        if (!strcmp(argv[i], "--traced"))
            j.trace = argv[i + 1];
    count_near(&j);
    (j.trace ? open_traced : open_ours)(&j);
    if (weir_file_set_size(j.file, (int64_t)contest_ranks * REGIONS * (LARGEST + SPACING)))
        contest_stop("set_size");
    j.fd = open(j.path, O_RDWR);
    open_peer(&j);
    part_hpio(&j);
    if (contest_ranks == MANY_RANKS && !j.trace)
        part_dense(&j);
    part_tiny(&j);
    MPI_File_close(&j.peer);
    weir_file_close(j.file);
    weir_file_close(j.untraced);
    if (contest_ranks == MANY_RANKS && !contest_cluster && !j.trace)
        part_memory(&j);
    close(j.fd);
    free(j.piece);
    if (contest_rank == 0)
        unlink(j.path);
    MPI_Finalize();
    return 0;
}
