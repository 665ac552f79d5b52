/* Faults during collective calls on MPI processes: whatever transfer or allocation fails, on one
 * rank or on all, every rank returns the same error in time, which names rank, file and cause; the
 * file holds old or new bytes where it was touched and is as it was elsewhere; and the handle can
 * be used on. As placed, and with 1 and 2 ranks a node. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "file/inside.h"
#include "storage/disarm.h"
#include "transport/mpi_transport.h"

enum { MOST_RANKS = 16, PIECES = 10, PIECE = 40, BYTES = PIECES * PIECE, SECONDS = 5 };

/* Piece i of rank r lies at i * row + r * PIECE: interleaved, with a hole behind each row. */
static int rank, ranks;
static int64_t row, size;
static char path[100];

typedef struct scene {
    wr_world *w;
    weir_file *f;
    weir_pattern *where, *memory;
    char hints[300];
    const char *exchange;
    bool write;
    int victim;  /* the rank that the fault is for, or -1: all */
    int code;    /* the same on all ranks, as is */
    int culprit; /* who failed */
    int64_t counts[MOST_RANKS];
    int64_t failed; /* calls so far that did */
    char data[BYTES];
} scene;

static char old_byte(int64_t i)
{
    return (char)(i * 7 + 1);
}

static char new_byte(int of, int64_t i)
{
    return (char)(i * 13 + of * 3 + 2);
}

/* The offset of data position i. */
static int64_t place_of(int of, int64_t i)
{
    return i / PIECE * row + of * PIECE + i % PIECE;
}

/* [collective] By our transport, which sleeps while it waits: MPICH does not. */
static void combine(const scene *s, enum wr_reduction reduction, int count, int64_t *values)
{
    CHECK(!wr_allreduce(s->w->transport, 0, reduction, count, values));
}

static void put_old(const scene *s)
{
    if (rank == 0) {
        FILE *f = fopen(path, "w");
        CHECK(f);
        for (int64_t i = 0; i < size; i++)
            CHECK(putc((unsigned char)old_byte(i), f) != EOF);
        CHECK(!fclose(f));
    }
    CHECK(!wr_agree(s->w->transport, 0, 0));
}

/* Old or new where touched, old elsewhere; new where it was counted. */
static void check_file(const scene *s)
{
    FILE *f = fopen(path, "r");
    CHECK(f);
    for (int64_t i = 0; i < size; i++) {
        int64_t of = i % row / PIECE, data = i / row * PIECE + i % row % PIECE;
        bool touched = s->write && of < ranks, must = touched && data < s->counts[of];
        int byte = getc(f);
        bool is_new = touched && (char)byte == new_byte((int)of, data);
        CHECK(byte != EOF && (is_new || (!must && (char)byte == old_byte(i))));
    }
    CHECK(getc(f) == EOF && !fclose(f));
}

/* [collective] One access; all ranks know how it went on all of them. */
static void access_file(scene *s)
{
    int64_t count = -1;
    for (int64_t i = 0; i < BYTES; i++)
        s->data[i] = s->write ? new_byte(rank, i) : 0;
    check_within(SECONDS);
    s->code = s->write ? weir_file_write_all(s->f, s->where, s->memory, s->data, &count, NULL)
                       : weir_file_read_all(s->f, s->where, s->memory, s->data, &count, NULL);
    check_within(60);
    s->culprit = s->code ? weir_error_last()->rank : -1;
    int64_t same[] = {s->code, -s->code, s->culprit, -s->culprit};
    combine(s, WR_MAX, 4, same);
    CHECK(same[0] == -same[1] && same[2] == -same[3]);
    memset(s->counts, 0, sizeof s->counts);
    s->counts[rank] = count;
    combine(s, WR_SUM, ranks, s->counts);
    CHECK(count >= 0 && count <= BYTES && (s->code || count == BYTES));
    for (int64_t i = 0; i < count && !s->write; i++)
        CHECK(s->data[i] == old_byte(place_of(rank, i)));
    if (rank == 0)
        check_file(s);
    CHECK(!wr_agree(s->w->transport, 0, 0));
}

/* What every rank must be able to tell about a failure; whose it was, unless that is -1. */
static void check_error(const scene *s, int culprit, int code, int errnum)
{
    const weir_error *e = weir_error_last();
    CHECK_EQUAL(s->code, code);
    CHECK(s->culprit >= 0 && s->culprit < ranks);
    CHECK(culprit < 0 || s->culprit == culprit);
    CHECK(e->code == code && *e->text && !strcmp(e->file, path));
    CHECK(!errnum || e->errnum == errnum);
}

static void open_file(scene *s, const char *fault)
{
    char hints[400];
    put_old(s);
    snprintf(hints, sizeof hints, "%s;fault=%s", s->hints, fault);
    check_within(60);
    CHECK(!wr_file_open(s->w, path, WEIR_READ | WEIR_WRITE, hints, &s->f));
    if (s->victim >= 0 && s->victim != rank)
        test_disarm(s->f->group.handle.storage);
}

/* The same again without a fault; where all ranks have one, each one's may still come, once. */
static void check_usable(scene *s)
{
    for (int i = 0; s->code && i < (s->victim < 0 ? ranks : 1); i++)
        access_file(s);
    CHECK_EQUAL(s->code, 0);
    CHECK(!weir_file_close(s->f));
}

/* The k-th transfer fails, for all k. */
static void check_transfers(scene *s)
{
    static const char *const faults[] = {"eio", "enospc", "short"};
    static const int codes[] = {WEIR_EIO, WEIR_ENOSPC, WEIR_EIO}, errors[] = {EIO, ENOSPC, 0};
    int64_t transfers = INT64_MAX; /* that a rank makes: known after the first round */
    for (int kind = 0; kind < 3; kind++)
        for (int64_t k = 1; k <= transfers; k++) {
            char fault[50];
            snprintf(fault, sizeof fault, "%s:%lld", faults[kind], (long long)k);
            open_file(s, fault);
            access_file(s);
            if (kind == 0 && !s->code)
                transfers = k - 1;
            else if (kind < 2 || s->code) /* a short read may have been completed */
                check_error(s, s->victim, codes[kind], errors[kind]);
            s->failed += s->code != 0;
            check_usable(s);
        }
    CHECK(transfers > 0);
}

/* The k-th allocation of the victim fails, for all k. */
static void check_allocations(scene *s)
{
    for (int64_t k = 0, reached = 1; reached; k++) {
        open_file(s, "none");
        int64_t before = wr_alloc_count();
        wr_alloc_fail_after(rank == s->victim ? k : -1);
        access_file(s);
        reached = rank == s->victim && wr_alloc_count() - before > k;
        wr_alloc_fail_after(-1);
        combine(s, WR_MAX, 1, &reached);
        CHECK(reached || !s->code);
        if (s->code)
            check_error(s, s->victim, WEIR_ENOMEM, 0);
        s->failed += s->code != 0;
        check_usable(s);
    }
}

static void check_one(void *user, const int *choice)
{
    static const char *const access[] = {"sieve", "list"};
    static const char *const realms[] = {"even", "cyclic"};
    static const char *const storage[] = {"posix", "pool", "uring"};
    scene *s = user;
    s->write = choice[0];
    snprintf(s->hints, sizeof s->hints,
             "collective=always;window=300;aggregators=%d;exchange=%s;access=%s;realms=%s;"
             "storage=%s",
             ranks, s->exchange, access[choice[1]], realms[choice[2]], storage[choice[3]]);
    s->victim = choice[4] ? (choice[1] + choice[2] + choice[3]) % ranks : -1;
    check_transfers(s);
    s->victim = (choice[1] + choice[2] + choice[3]) % ranks;
    if (choice[4])
        check_allocations(s);
}

static void run_with(scene *s, rng *r, int64_t ranks_per_node, const char *exchange)
{
    int levels[] = {2, 2, 2, 3, 2};
    wr_transport *t;
    bool differed;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = ranks_per_node;
    CHECK(!wr_transport_open_mpi(MPI_COMM_WORLD, 0, &tunables, &differed, &t));
    CHECK(!wr_world_open(t, &tunables, &s->w));
    s->failed = 0;
    s->exchange = exchange;
    test_pairwise(r, 5, levels, check_one, s);
    CHECK(s->failed > 10);
    wr_world_close(s->w);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t numbers[] = {rank == 0 ? test_seed() : 0, (uint64_t)getpid()};
    MPI_Bcast(numbers, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    scene *s = calloc(1, sizeof *s);
    rng r = {numbers[0]};
    CHECK(s && ranks <= MOST_RANKS);
    row = ranks * PIECE + 24;
    size = PIECES * row;
    snprintf(path, sizeof path, "fault-mpi-%d.bin", (int)numbers[1]);
    CHECK(!weir_pattern_strided(rank * PIECE, PIECES, PIECE, row, &s->where));
    CHECK(!weir_pattern_contiguous(0, BYTES, &s->memory));
    run_with(s, &r, 0, "auto");
    run_with(s, &r, 0, "p2p");
    run_with(s, &r, 1, "auto");
    run_with(s, &r, 2, "auto");
    run_with(s, &r, 2, "leaders");
    run_with(s, &r, 2, "alltoall");
    if (rank == 0)
        unlink(path);
    weir_pattern_free(s->where);
    weir_pattern_free(s->memory);
    free(s);
    MPI_Finalize();
    return 0;
}
