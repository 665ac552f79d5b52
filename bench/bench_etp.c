/* Suite `etp`: the sections of the extended two-phase paper, tables 1 to 6, through Weir and
 * through the MPI library's own MPI-IO, collectively and independently, in the same run. Prints raw
 * times; bench/etp.py runs it once for each peer and compares. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contest.h"
#include "weir/weir.h"

enum { N = 4096, ELEMENT = 4, DIMENSIONS = 2 };

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
    weir_file *file;
    weir_pattern *where, *memory;
    MPI_File peer;
    char *buffer;
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
    if (j->write)
        MPI_File_write_at_all(j->peer, 0, j->buffer, j->bytes, MPI_BYTE, &status);
    else
        MPI_File_read_at_all(j->peer, 0, j->buffer, j->bytes, MPI_BYTE, &status);
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
static MPI_Datatype section_type(const int64_t *lo, const int64_t *hi, const int64_t *step)
{
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

static void run_case(const char *name, job *j, const char *section)
{
    int64_t lo[2], hi[2], step[2], shape[] = {N, N};
    int by_columns[] = {1, 0};
    parse(section, lo, hi, step);
    weir_shape whole = {.dimensions = 2, .element = ELEMENT, .size = shape, .order = by_columns};
    weir_selection s = {.lo = lo, .hi = hi, .step = step};
    if (weir_pattern_section(&whole, &s, NULL, &j->where))
        contest_stop("section");
    j->bytes = (int)weir_pattern_bytes(j->where);
    j->buffer = calloc(1, (size_t)j->bytes + 1);
    if (!j->buffer || weir_pattern_contiguous(0, j->bytes, &j->memory))
        contest_stop("memory");
    MPI_Datatype type = section_type(lo, hi, step);
    MPI_File_set_view(j->peer, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    contest c = {.part = "etp",
                 .name = name,
                 .op = j->write ? "write" : "read",
                 .seconds = 0.5,
                 .warm = true,
                 .list = {{.step = ours}, {.step = peer_all}, {.step = peer_alone, .most = 3}},
                 .user = j};
    contest_run(&c);
    MPI_Type_free(&type);
    weir_pattern_free(j->where);
    weir_pattern_free(j->memory);
    free(j->buffer);
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
        run_case(name, j, field[3]);
    }
    fclose(f);
}

/* Rank 0 writes the whole array, so that there is something to read. */
static void fill(weir_file *file)
{
    int64_t bytes = (int64_t)N * N * ELEMENT;
    weir_pattern *all = NULL;
    char *data = calloc(1, (size_t)bytes);
    if (!data || weir_pattern_contiguous(0, bytes, &all))
        contest_stop("memory");
    if (contest_rank == 0 && weir_file_write(file, all, all, data, NULL, NULL))
        contest_stop("fill");
    weir_pattern_free(all);
    free(data);
    if (weir_file_sync(file))
        contest_stop("sync");
}

int main(int argc, char **argv)
{
    contest_init(argc, argv);
    if (argc < 3)
        return fprintf(stderr, "usage: bench_etp TABLE FILE\n"), MPI_Finalize(), 2;
    job j = {0};
    if (weir_file_open(MPI_COMM_WORLD, argv[2], WEIR_READ | WEIR_WRITE | WEIR_CREATE, NULL,
                       &j.file) ||
        weir_file_set_size(j.file, (int64_t)N * N * ELEMENT))
        contest_stop("open");
    fill(j.file);
    if (MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_RDWR, MPI_INFO_NULL, &j.peer))
        contest_stop("peer");
    run_table(argv[1], &j);
    MPI_File_close(&j.peer);
    weir_file_close(j.file);
    if (contest_rank == 0)
        unlink(argv[2]);
    MPI_Finalize();
    return 0;
}
