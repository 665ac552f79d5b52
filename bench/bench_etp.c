/* Suites `etp` and `cluster`: the sections of the extended two-phase paper, tables 1 to 6, through
 * Weir and through the MPI library's own MPI-IO, collectively and independently, in the same run.
 * Prints raw times; bench/etp.py and bench/cluster.py run it once for each peer and compare. With
 * --cluster there are no independent calls, and the peer has a file of its own: on a file system
 * that caches, whatever it does there is none of ours. With --once CASE there is one call of that
 * case, of ours only.
 *
 * An element of the file is its own number in 24 bits, and in 8 bits the case that has written it.
 * Ours is checked once in every case, before it is timed. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "contest.h"
#include "weir/weir.h"

enum { N = 4096, ELEMENT = 4, DIMENSIONS = 2, QUICK_STEP = 7, NUMBER = 0xffffff };

/* A sum of numbers, of multiples of the rank (p) and of the number of ranks (P): "400+200p", "P".
 * */
static int64_t number(const char **at)
{
    int64_t sum = 0;
    for (bool more = true; more; more = *(*at)++ == '+') {
        char *end;
        int64_t value = strtoll(*at, &end, 10);
        value = end == *at ? 1 : value;
        *at = end;
        if (**at == 'p' || **at == 'P')
            value *= *(*at)++ == 'p' ? contest_rank : contest_ranks;
        sum += value;
    }
    --*at; /* what ended the sum */
    return sum;
}

/* 1-based, inclusive, "lower:upper:stride, ..." to half-open. */
static void parse(const char *text, int64_t *lo, int64_t *hi, int64_t *step)
{
    for (int d = 0; d < DIMENSIONS; d++) {
        lo[d] = number(&text) - 1;
        text += *text == ':';
        hi[d] = number(&text);
        text += *text == ':';
        step[d] = number(&text);
        text += strspn(text, ", ");
        hi[d] = hi[d] > N ? N : hi[d];
    }
}

typedef struct job {
    bool write;
    const char *once; /* the only case, or NULL */
    int64_t lo[DIMENSIONS], hi[DIMENSIONS], step[DIMENSIONS];
    uint32_t writer; /* of the case */
    weir_file *file;
    weir_pattern *where, *memory;
    MPI_File peer;
    uint32_t *buffer;
    int bytes;
} job;

static void ours(void *user)
{
    job *j = user;
    int64_t count;
    int code = j->write ? weir_file_write_all(j->file, j->where, j->memory, j->buffer, &count, NULL)
                        : weir_file_read_all(j->file, j->where, j->memory, j->buffer, &count, NULL);
    if (code || count != j->bytes)
        contest_stop("access");
}

static void peer_all(void *user)
{
    job *j = user;
    MPI_Status status;
    if (j->write ? MPI_File_write_at_all(j->peer, 0, j->buffer, j->bytes, MPI_BYTE, &status)
                 : MPI_File_read_at_all(j->peer, 0, j->buffer, j->bytes, MPI_BYTE, &status))
        contest_stop("peer's access");
}

static void peer_alone(void *user)
{
    job *j = user;
    MPI_Status status;
    if (j->write)
        MPI_File_write_at(j->peer, 0, j->buffer, j->bytes, MPI_BYTE, &status);
    else
        MPI_File_read_at(j->peer, 0, j->buffer, j->bytes, MPI_BYTE, &status);
}

/* Elements of the section, column by column, as a datatype of the file. */
static MPI_Datatype section_type(const job *j)
{
    const int64_t *lo = j->lo, *hi = j->hi, *step = j->step;
    int rows = (int)((hi[0] - lo[0] + step[0] - 1) / step[0]);
    int columns = (int)((hi[1] - lo[1] + step[1] - 1) / step[1]);
    MPI_Datatype column, all, type;
    int one = 1;
    MPI_Aint place = (MPI_Aint)((lo[1] * N + lo[0]) * ELEMENT);
    MPI_Type_create_hvector(rows, ELEMENT, (MPI_Aint)(step[0] * ELEMENT), MPI_BYTE, &column);
    MPI_Type_create_hvector(columns, 1, (MPI_Aint)(step[1] * N * ELEMENT), column, &all);
    MPI_Type_create_hindexed(1, &one, &place, all, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&column);
    MPI_Type_free(&all);
    return type;
}

/* Puts the section's elements into memory; or, with a mask, looks whether they are there. */
static void fill_or_check(job *j, uint32_t mask)
{
    uint32_t *at = j->buffer, wrong = 0;
    for (int64_t column = j->lo[1]; column < j->hi[1]; column += j->step[1])
        for (int64_t row = j->lo[0]; row < j->hi[0]; row += j->step[0], at++) {
            uint32_t element = (j->writer << 24) | (uint32_t)(column * N + row);
            if (mask)
                wrong |= (*at ^ element) & mask;
            else
                *at = element;
        }
    if (wrong)
        contest_stop("wrong data");
}

static void check(job *j)
{
    bool write = j->write;
    fill_or_check(j, 0);
    if (write)
        ours(j);
    memset(j->buffer, 0, (size_t)j->bytes);
    j->write = false;
    ours(j);
    j->write = write;
    fill_or_check(j, write ? UINT32_MAX : NUMBER);
}

static void describe(job *j, const char *section)
{
    int64_t shape[] = {N, N};
    int by_columns[] = {1, 0};
    parse(section, j->lo, j->hi, j->step);
    weir_shape whole = {.dimensions = 2, .element = ELEMENT, .size = shape, .order = by_columns};
    weir_selection s = {.lo = j->lo, .hi = j->hi, .step = j->step};
    if (weir_pattern_section(&whole, &s, NULL, &j->where))
        contest_stop("section");
    j->bytes = (int)weir_pattern_bytes(j->where);
    j->buffer = calloc(1, (size_t)j->bytes + ELEMENT);
    if (!j->buffer || weir_pattern_contiguous(0, j->bytes, &j->memory))
        contest_stop("memory");
}

static void compare(const char *name, job *j)
{
    MPI_Datatype type = section_type(j);
    contest c = {.part = "etp",
                 .name = name,
                 .op = j->write ? "write" : "read",
                 .seconds = 0.5,
                 .warm = true,
                 .list = {{.step = ours}, {.step = peer_all}, {.step = peer_alone, .most = 3}},
                 .user = j};
    if (contest_cluster)
        c.list[2].step = NULL;
    MPI_File_set_view(j->peer, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    check(j);
    contest_run(&c);
    MPI_Type_free(&type);
}

static void run_case(const char *name, job *j, const char *section)
{
    describe(j, section);
    if (j->once)
        ours(j);
    else
        compare(name, j);
    weir_pattern_free(j->where);
    weir_pattern_free(j->memory);
    free(j->buffer);
}

static bool wanted(const job *j, int row, const char *name)
{
    bool quick = bench_quick() && contest_cluster;
    return j->once ? !strcmp(j->once, name) : !quick || row % QUICK_STEP == 1;
}

static void run_table(const char *table, job *j)
{
    char line[512];
    FILE *f = fopen(table, "r");
    if (!f)
        contest_stop(table);
    for (int row = 0; fgets(line, sizeof line, f); row++) {
        char name[64], *field[4], *at = line;
        for (int i = 0; i < 4; i++)
            field[i] = strsep(&at, "\t");
        if (row == 0 || !at)
            continue;
        snprintf(name, sizeof name, "table %s %s", field[0], field[1]);
        j->write = !strcmp(field[2], "write");
        j->writer = (uint32_t)row;
        if (wanted(j, row, name))
            run_case(name, j, field[3]);
    }
    fclose(f);
}

/* Rank 0 writes the whole array, so that there is something to read. */
static void make_file(const char *path)
{
    size_t bytes = (size_t)N * N * ELEMENT;
    uint32_t *data = contest_rank ? NULL : malloc(bytes);
    if (contest_rank == 0) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        for (uint32_t i = 0; data && i < (uint32_t)N * N; i++)
            data[i] = i;
        if (!data || write(fd, data, bytes) != (ssize_t)bytes || fsync(fd) || close(fd))
            contest_stop("fill");
    }
    free(data);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run(const char *table, const char *path, job *j)
{
    char peer_path[4096];
    snprintf(peer_path, sizeof peer_path, "%s%s", path, contest_cluster ? ".peer" : "");
    make_file(path);
    if (contest_cluster)
        make_file(peer_path);
    if (weir_file_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE, NULL, &j->file))
        contest_stop("open");
    if (!j->once &&
        MPI_File_open(MPI_COMM_WORLD, peer_path, MPI_MODE_RDWR, MPI_INFO_NULL, &j->peer))
        contest_stop("peer's open");
    run_table(table, j);
    if (!j->once)
        MPI_File_close(&j->peer);
    weir_file_close(j->file);
    if (contest_rank == 0) {
        unlink(path);
        unlink(peer_path);
    }
}

int main(int argc, char **argv)
{
    contest_init(argc, argv);
    if (argc < 3)
        return fprintf(stderr, "usage: bench_etp TABLE FILE [--quick] [--cluster] [--once CASE]\n"),
               MPI_Finalize(), 2;
    job j = {0};
    if (!strcmp(argv[argc - 2], "--once"))
        j.once = argv[argc - 1];
    run(argv[1], argv[2], &j);
    MPI_Finalize();
    return 0;
}
