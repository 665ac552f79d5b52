/* Random programs of MPI-IO against a plain array of bytes, for ranks on several hosts. It calls
 * nothing but MPI, so that any MPI-IO can be held to the same programs.
 *
 * usage: random_program FOLDER FIRST COUNT mpi|weir
 *
 * Programs FIRST to FIRST + COUNT - 1. `mpi`: a rank accesses what another has written only after
 * sync, barrier, sync, or after the file was closed and opened again: what MPI promises in
 * nonatomic mode. `weir`: collective calls see each other without that, and what nobody wrote is
 * zero. Where the next access would
 * not be legal so, the program syncs first. Every rank knows what all do, and so what it must
 * read. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400000, STEPS = 24, CLEAN = -1 };

typedef struct rng {
    uint64_t state;
} rng;

static int64_t within(rng *r, int64_t lo, int64_t hi)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return lo + (int64_t)((r->state >> 33) % (uint64_t)(hi - lo + 1));
}

/* What a rank accesses in a step: `count` pieces. */
typedef struct part {
    int64_t start, piece, stride, count;
} part;

typedef struct program {
    rng r;
    int rank, ranks;
    bool beyond; /* `weir` */
    int64_t room;
    char path[1000];
    MPI_File file;
    int64_t size, told; /* told: at the latest sync, and so known to every rank for itself */
    unsigned char *want;
    short *writer;  /* of the byte since the latest sync */
    bool *together; /* written by a collective call */
    part *parts;
    unsigned char *buffer;
    int64_t wrong, errors;
    int step;
} program;

static void expect(program *p, int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    if (!p->errors++) {
        MPI_Error_string(code, text, &length);
        fprintf(stderr, "rank %d, step %d: %s: %.200s\n", p->rank, p->step, what, text);
    }
}

static void settle(program *p)
{
    p->told = p->size;
    memset(p->together, 0, (size_t)p->room);
    for (int64_t i = 0; i < p->room; i++)
        p->writer[i] = CLEAN;
}

static void sync_all(program *p)
{
    expect(p, MPI_File_sync(p->file), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    expect(p, MPI_File_sync(p->file), "sync");
    settle(p);
}

/* Disjoint parts: blocks one behind the other, or pieces in turn, with holes or without. */
static void deal(program *p)
{
    int64_t n = p->ranks, piece = within(&p->r, 1, within(&p->r, 0, 2) ? 300 : 9000);
    int64_t gap = within(&p->r, 0, 1) ? within(&p->r, 0, 2 * piece) : 0;
    bool blocks = within(&p->r, 0, 2) == 0;
    int64_t count = within(&p->r, 1, 40);
    while (count > 1 && n * count * (piece + gap) > p->room)
        count /= 2;
    if (n * count * (piece + gap) > p->room)
        piece = p->room / n / 2, gap = 0;
    int64_t lo = within(&p->r, 0, p->room - n * count * (piece + gap));
    int64_t idle = within(&p->r, 0, 3 * n);
    for (int64_t i = 0; i < n; i++) {
        p->parts[i] = (part){lo + i * (piece + gap), piece, n * (piece + gap), count};
        if (blocks)
            p->parts[i] = (part){lo + i * count * (piece + gap), piece, piece + gap, count};
        if (i == idle)
            p->parts[i].count = 0;
    }
}

static bool meets_others(const program *p, int rank, bool together)
{
    const part *a = &p->parts[rank];
    for (int64_t i = 0; i < a->count; i++)
        for (int64_t at = a->start + i * a->stride, k = 0; k < a->piece; k++, at++) {
            bool own = p->writer[at] == rank || p->writer[at] == CLEAN;
            bool ordered = p->beyond && together && p->together[at];
            if (!own && !ordered)
                return true;
        }
    return false;
}

/* Whether the next access needs a sync before it. */
static bool conflicts(const program *p, const bool *takes_part, bool together)
{
    for (int i = 0; i < p->ranks; i++)
        if (takes_part[i] && meets_others(p, i, together))
            return true;
    return false;
}

static void set_view(program *p, const part *a)
{
    MPI_Datatype type;
    if (a->count && a->stride != a->piece)
        MPI_Type_create_hvector((int)a->count, (int)a->piece, a->stride, MPI_BYTE, &type);
    else
        MPI_Type_contiguous((int)(a->count ? a->count * a->piece : 1), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    expect(p, MPI_File_set_view(p->file, a->start, MPI_BYTE, type, "native", MPI_INFO_NULL),
           "set_view");
    MPI_Type_free(&type);
}

static unsigned char value(const program *p, int64_t at)
{
    return (unsigned char)(1 + (at * 7 + p->step * 41 + at / 251) % 250);
}

static void note_written(program *p, int rank, bool together)
{
    const part *a = &p->parts[rank];
    for (int64_t i = 0; i < a->count; i++)
        for (int64_t at = a->start + i * a->stride, k = 0; k < a->piece; k++, at++) {
            p->want[at] = value(p, at);
            p->writer[at] = (short)rank;
            p->together[at] = together;
            if (at >= p->size)
                p->size = at + 1;
        }
}

/* Whether this rank must read what is there. MPI says nothing of what nobody wrote. */
static bool is_known(const program *p, int64_t at, bool together)
{
    if (at >= p->size || !(p->want[at] || p->beyond))
        return false;
    return together || at < p->told || p->writer[at] == p->rank;
}

static void compare(program *p, const char *how, bool together, int64_t got)
{
    const part *a = &p->parts[p->rank];
    int64_t wrong = 0, first = -1, at = 0, data = 0;
    for (int64_t i = 0; i < a->count; i++)
        for (int64_t k = 0; k < a->piece; k++, data++) {
            at = a->start + i * a->stride + k;
            bool right = data < got && p->buffer[data] == p->want[at];
            if (!right && is_known(p, at, together) && !wrong++)
                first = at;
        }
    if (wrong && !p->wrong)
        fprintf(stderr, "rank %d, step %d: %s: %lld bytes wrong from %lld on (%d, not %d)\n",
                p->rank, p->step, how, (long long)wrong, (long long)first, p->buffer[0],
                p->want[first]);
    p->wrong += wrong;
}

static void access_file(program *p, bool write, bool together, bool takes_part)
{
    static const char *const names[] = {"read_at", "read_at_all", "write_at", "write_at_all"};
    const part *a = &p->parts[p->rank];
    const char *name = names[2 * write + together];
    int64_t bytes = a->count * a->piece, data = 0;
    MPI_Status status;
    int got = 0;
    set_view(p, a);
    for (int64_t i = 0; i < a->count; i++)
        for (int64_t k = 0; k < a->piece; k++)
            p->buffer[data++] = write ? value(p, a->start + i * a->stride + k) : 255;
    if (!together && !takes_part)
        return;
    int (*read)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *) =
        together ? MPI_File_read_at_all : MPI_File_read_at;
    int (*put)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *) =
        together ? MPI_File_write_at_all : MPI_File_write_at;
    expect(p,
           write ? put(p->file, 0, p->buffer, (int)bytes, MPI_BYTE, &status)
                 : read(p->file, 0, p->buffer, (int)bytes, MPI_BYTE, &status),
           name);
    if (!write && bytes) {
        MPI_Get_count(&status, MPI_BYTE, &got);
        compare(p, name, together, got);
    }
}

static void transfer(program *p, bool write, bool together)
{
    bool *takes_part = malloc((size_t)p->ranks);
    int alone = (int)within(&p->r, 0, p->ranks); /* all of them if it is one too many */
    deal(p);
    for (int i = 0; i < p->ranks; i++)
        takes_part[i] = together || alone == p->ranks || alone == i;
    if (conflicts(p, takes_part, together))
        sync_all(p);
    access_file(p, write, together, takes_part[p->rank]);
    for (int i = 0; write && i < p->ranks; i++)
        if (takes_part[i])
            note_written(p, i, together);
    free(takes_part);
}

static void check_size(program *p)
{
    MPI_Offset size = -1;
    sync_all(p);
    expect(p, MPI_File_get_size(p->file, &size), "get_size");
    if (size != p->size && !p->wrong++)
        fprintf(stderr, "rank %d, step %d: size %lld, not %lld\n", p->rank, p->step,
                (long long)size, (long long)p->size);
}

static void set_size(program *p)
{
    int64_t size = within(&p->r, 0, p->room);
    sync_all(p);
    expect(p, MPI_File_set_size(p->file, size), "set_size");
    if (size < p->size)
        memset(p->want + size, 0, (size_t)(p->size - size));
    p->size = size;
    settle(p);
    check_size(p);
}

static void reopen(program *p, int mode)
{
    expect(p, MPI_File_close(&p->file), "close");
    settle(p);
    expect(p, MPI_File_open(MPI_COMM_WORLD, p->path, mode, MPI_INFO_NULL, &p->file), "open");
}

static void run_step(program *p)
{
    switch (within(&p->r, 0, 11)) {
    case 0:
    case 1:
    case 2:
        transfer(p, true, true);
        break;
    case 3:
    case 4:
    case 5:
        transfer(p, false, true);
        break;
    case 6:
    case 7:
        transfer(p, true, false);
        break;
    case 8:
    case 9:
        transfer(p, false, false);
        break;
    case 10:
        check_size(p);
        break;
    default:
        if (within(&p->r, 0, 1))
            set_size(p);
        else
            reopen(p, MPI_MODE_RDWR);
    }
}

/* Everybody reads everything. */
static void read_all(program *p)
{
    sync_all(p);
    for (int i = 0; i < p->ranks; i++)
        p->parts[i] = (part){0, p->size, p->size, p->size ? 1 : 0};
    access_file(p, false, false, true);
    reopen(p, MPI_MODE_RDONLY);
    access_file(p, false, true, true);
}

/* Wrong bytes and errors of all ranks. */
static int64_t run(program *p, const char *folder, int64_t seed)
{
    p->r.state = (uint64_t)seed * 0x9E3779B97F4A7C15u;
    p->room = within(&p->r, 0, 1) ? MOST : within(&p->r, 200, 50000);
    p->size = p->wrong = p->errors = p->step = 0;
    memset(p->want, 0, MOST);
    settle(p);
    snprintf(p->path, sizeof p->path, "%s/program-%lld", folder, (long long)seed);
    expect(p,
           MPI_File_open(MPI_COMM_WORLD, p->path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &p->file),
           "open");
    for (p->step = 1; p->step <= STEPS && !p->errors; p->step++) {
        run_step(p);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody writes what another still reads */
    }
    read_all(p);
    MPI_File_close(&p->file);
    if (p->rank == 0)
        MPI_File_delete(p->path, MPI_INFO_NULL);
    int64_t bad[2] = {p->wrong, p->errors};
    MPI_Allreduce(MPI_IN_PLACE, bad, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (p->rank == 0 && (bad[0] || bad[1]))
        printf("program %lld: %lld bytes wrong, %lld errors\n", (long long)seed, (long long)bad[0],
               (long long)bad[1]);
    return bad[0] + bad[1];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    program p = {.beyond = !strcmp(argv[4], "weir")};
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
    p.want = malloc(MOST);
    p.writer = malloc(MOST * sizeof *p.writer);
    p.together = malloc(MOST);
    p.buffer = malloc(MOST + 1);
    p.parts = malloc((size_t)p.ranks * sizeof *p.parts);
    int64_t first = atoll(argv[2]), count = atoll(argv[3]), wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong += run(&p, argv[1], first + i) != 0;
    if (p.rank == 0)
        printf("%lld programs on %d ranks, %lld of them wrong\n", (long long)count, p.ranks,
               (long long)wrong);
    MPI_Finalize();
    return wrong != 0;
}
