/* Suite `apps`: operators on arrays; bench/apps.py runs it.
 *   bench_apps transpose FOLDER N MEMORY     against plain reading and writing of the same bytes
 *   bench_apps matmul FOLDER N MEMORY        against the product of matrices that fit, by BLAS
 *   bench_apps prefetch FOLDER N             stencils with storage paced to match computing
 *   bench_apps access FOLDER N               as in the two-phase paper, tables 9 and 10
 *   bench_apps slabs FOLDER N                median filter in slabs (PASSION, 2 and 3)
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contest.h"
#include "kernels/blas.h"
#include "weir/weir.h"

enum { PIECE = 4 << 20 };

static char folder[3000];

static void stop_if(int code, const char *what)
{
    if (code)
        contest_stop(what);
}

static const char *path_of(const char *name)
{
    static char path[8][4096];
    static int next;
    char *out = path[next++ % 8];
    snprintf(out, sizeof path[0], "%s/apps-%s.npy", folder, name);
    return out;
}

/* An n x n matrix whose elements are small numbers that depend on their place. */
static void make_matrix(const char *name, int type, int64_t n, int columns)
{
    weir_array *array;
    weir_slabs *slabs;
    weir_slab s;
    weir_array_info info = {.type = type, .dimensions = 2, .shape = {n, n}, .columns = columns};
    weir_array_options replace = {.overwrite = 1};
    stop_if(weir_array_create(MPI_COMM_WORLD, path_of(name), &info, &replace, NULL, &array), name);
    weir_slabs_options all = {.outputs = 1, .output = &array, .memory = 32 << 20};
    stop_if(weir_slabs_begin(&all, &slabs), "slabs");
    while (weir_slabs_next(slabs, &s) == 1)
        for (int64_t i = s.lo[0]; i < s.hi[0]; i++)
            for (int64_t j = s.lo[1]; j < s.hi[1]; j++) {
                int64_t at = (i - s.lo[0]) * s.out_stride[0] + (j - s.lo[1]) * s.out_stride[1];
                if (type == WEIR_F8)
                    ((double *)s.out[0])[at] = (double)((i * 31 + j * 17) % 101);
                else
                    ((float *)s.out[0])[at] = (float)((i * 31 + j * 17) % 101);
            }
    stop_if(weir_slabs_end(slabs), "fill");
    stop_if(weir_array_close(array), "close");
}

static weir_array *open_array(const char *name, const char *hints)
{
    weir_array *array;
    stop_if(weir_array_open(MPI_COMM_WORLD, path_of(name), WEIR_READ | WEIR_WRITE, hints, &array),
            name);
    return array;
}

static void remove_array(const char *name)
{
    stop_if(weir_array_remove(MPI_COMM_WORLD, path_of(name)), "remove");
}

/* --- transpose --- */

typedef struct job {
    weir_array *a, *b, *c;
    weir_work work;
    int64_t n;
    char *piece;
    double *memory[3];
    int layout;
} job;

static void transpose(void *user)
{
    job *j = user;
    stop_if(weir_array_transpose(j->a, j->b, NULL, &j->work), "transpose");
}

/* This rank's share of the bytes, read from one file and written to the other. */
static void read_and_write(void *user)
{
    job *j = user;
    int in = open(path_of("a"), O_RDONLY), out = open(path_of("b"), O_WRONLY);
    int64_t bytes = j->n * j->n * 8 / contest_ranks, at = 4096 + bytes * contest_rank;
    for (int64_t end = at + bytes; at < end; at += PIECE)
        if (pread(in, j->piece, PIECE, at) < 0 || pwrite(out, j->piece, PIECE, at) < 0)
            contest_stop("cannot read and write");
    close(in);
    close(out);
}

static void run_contest(const char *part, const char *name, const char *op, job *j,
                        const contestant *list)
{
    contest c = {.part = part, .name = name, .op = op, .seconds = 5, .warm = true, .user = j};
    for (int i = 0; i < CONTEST_MOST && list[i].step; i++)
        c.list[i] = list[i];
    contest_run(&c);
}

static void run_transpose(int64_t n, int64_t memory)
{
    char name[80];
    job j = {.n = n, .work.memory = memory, .piece = malloc(PIECE)};
    make_matrix("a", WEIR_F8, n, 0);
    make_matrix("b", WEIR_F8, n, 0);
    j.a = open_array("a", NULL);
    j.b = open_array("b", NULL);
    snprintf(name, sizeof name, "transpose %lld x %lld f8", (long long)n, (long long)n);
    run_contest("transpose", name, "transpose", &j,
                (contestant[CONTEST_MOST]){{.step = transpose}, {.step = read_and_write}});
    stop_if(weir_array_close(j.a) || weir_array_close(j.b), "close");
    remove_array("b"); /* a is the peer's */
    free(j.piece);
}

/* --- matmul --- */

static void open_factors(job *j, const char *hints)
{
    j->a = open_array("a", hints);
    j->b = open_array("b", hints);
    j->c = open_array("c", hints);
}

static void close_factors(const job *j)
{
    stop_if(weir_array_close(j->a) || weir_array_close(j->b) || weir_array_close(j->c), "close");
}

static void multiply(void *user)
{
    job *j = user;
    stop_if(weir_array_multiply(j->a, j->b, j->c, j->layout, &j->work), "matmul");
}

/* This rank's rows of the product, all in memory. */
static void multiply_in_core(void *user)
{
    job *j = user;
    const int64_t n = j->n, rows = n / contest_ranks;
    wr_product p = {.type = WEIR_F8,
                    .rows = rows,
                    .columns = n,
                    .depth = n,
                    .a = wr_matrix_dense(j->memory[0], false, rows, n),
                    .b = wr_matrix_dense(j->memory[1], false, n, n),
                    .c = wr_matrix_dense(j->memory[2], false, rows, n)};
    wr_blas_enter(1);
    wr_blas_multiply(&p);
    wr_blas_leave();
}

static void run_matmul(int64_t n, int64_t memory)
{
    char name[80];
    job j = {.n = n, .work.memory = memory};
    for (int i = 0; i < 3; i++) {
        size_t bytes = (size_t)(n * n * 8 / (i == 1 ? 1 : contest_ranks));
        j.memory[i] = malloc(bytes);
        for (size_t k = 0; k < bytes / 8; k++)
            j.memory[i][k] = (double)(k % 101);
    }
    make_matrix("a", WEIR_F8, n, 0);
    make_matrix("b", WEIR_F8, n, 0);
    make_matrix("c", WEIR_F8, n, 0);
    open_factors(&j, NULL);
    snprintf(name, sizeof name, "matmul %lld^3 f8", (long long)n);
    contest c = {.part = "matmul", .name = name, .op = "product", .seconds = 1, .user = &j};
    c.list[0] = (contestant){.step = multiply};
    c.list[1] = (contestant){.step = multiply_in_core};
    contest_run(&c);
    close_factors(&j);
    remove_array("a");
    remove_array("b");
    remove_array("c");
    for (int i = 0; i < 3; i++)
        free(j.memory[i]);
}

/* --- stencils --- */

typedef struct stencil {
    const char *from, *to;
    weir_array *in, *out[2];
    weir_work work;
    int window; /* 0: one Jacobi iteration */
    const char *hints[2];
    int now;
} stencil;

/* With other hints each time, so arrays are opened here; that takes no time to speak of. */
static void open_stencil(stencil *s, const char *hints)
{
    s->in = open_array(s->from, hints);
    s->out[0] = open_array(s->to, hints);
    s->out[1] = open_array("v", hints);
}

static void close_stencil(const stencil *s)
{
    stop_if(weir_array_close(s->in) || weir_array_close(s->out[0]) || weir_array_close(s->out[1]),
            "close");
}

static void compute(stencil *s)
{
    int last;
    weir_relaxation once = {.iterations = 1};
    if (s->window)
        stop_if(weir_array_median(s->in, s->out[0], s->window, &s->work), "median");
    else
        stop_if(weir_array_relax(s->in, s->out, &once, &s->work, &last), "laplace");
}

static void first_way(void *user)
{
    stencil *s = user;
    open_stencil(s, s->hints[0]);
    compute(s);
    close_stencil(s);
}

static void second_way(void *user)
{
    stencil *s = user;
    int direct = s->work.direct;
    s->work.direct = s->now ? s->now : direct;
    open_stencil(s, s->hints[1]);
    compute(s);
    close_stencil(s);
    s->work.direct = direct;
}

static void compare(const char *part, const char *name, const char *op, stencil *s)
{
    contest c = {.part = part, .name = name, .op = op, .seconds = 2, .user = s};
    c.list[0] = (contestant){.step = first_way};
    c.list[1] = (contestant){.step = second_way};
    contest_run(&c);
}

/* The bandwidth, in MB/s, at which access of all bytes takes as long as computing. */
static long pace_for(stencil *s, int64_t bytes)
{
    contestant plain = {.step = first_way};
    s->hints[0] = NULL;
    contest_time(&plain, s);
    double seconds = contest_time(&plain, s);
    return (long)(2e-6 * (double)bytes / contest_ranks / seconds) + 1;
}

static void run_prefetch(int64_t n)
{
    static const struct {
        const char *name;
        int window, type;
    } cases[] = {
        {"laplace", 0, WEIR_F8}, {"median 3 x 3", 3, WEIR_F4}, {"median 5 x 5", 5, WEIR_F4}};
    for (int i = 0; i < 3; i++) {
        char name[80], with[80], without[80];
        int64_t size = weir_type_bytes(cases[i].type);
        stencil s = {.from = "u", .to = "w", .window = cases[i].window, .work.direct = 1};
        s.work.memory = n * n * size / contest_ranks / 2;
        make_matrix("u", cases[i].type, n, 0);
        make_matrix("v", cases[i].type, n, 0);
        make_matrix("w", cases[i].type, n, 0);
        long pace = pace_for(&s, n * n * size);
        snprintf(with, sizeof with, "fault=bandwidth:%ld;prefetch=1", pace);
        snprintf(without, sizeof without, "fault=bandwidth:%ld;prefetch=0", pace);
        snprintf(name, sizeof name, "%s, %lld x %lld", cases[i].name, (long long)n, (long long)n);
        s.hints[0] = with;
        s.hints[1] = without;
        compare("prefetch", name, "with prefetch", &s);
        remove_array("u");
        remove_array("v");
        remove_array("w");
    }
}

/* --- the papers' tables --- */

static void multiply_together(void *user)
{
    multiply(&((job *)user)[0]);
}

static void multiply_alone(void *user)
{
    multiply(&((job *)user)[1]);
}

static void run_access(int64_t n)
{
    char name[40];
    job j[2] = {{.n = n, .layout = WEIR_GAXPY, .work.memory = n * n * 8 / contest_ranks}};
    static const char *const names[] = {"a", "b", "c", "u", "v", "w"};
    for (int i = 0; i < 6; i++) /* Fortran's order, as in the paper */
        make_matrix(names[i], WEIR_F8, n, 1);
    j[1] = j[0];
    j[1].work.direct = 1;
    open_factors(&j[0], NULL);
    open_factors(&j[1], "access=naive");
    snprintf(name, sizeof name, "%lld", (long long)n);
    contest c = {.part = "matmul", .name = name, .op = "together", .seconds = 2, .user = j};
    c.list[0] = (contestant){.step = multiply_together};
    c.list[1] = (contestant){.step = multiply_alone};
    contest_run(&c);
    close_factors(&j[0]);
    close_factors(&j[1]);
    stencil s = {.from = "u", .to = "w", .now = 1, .hints = {NULL, "access=naive"}};
    s.work.memory = n * n * 8 / contest_ranks / 2;
    compare("laplace", name, "together", &s);
    for (int i = 0; i < 6; i++)
        remove_array(names[i]);
}

static void run_slabs(int64_t n)
{
    make_matrix("u", WEIR_F4, n, 1);
    make_matrix("v", WEIR_F4, n, 1);
    make_matrix("w", WEIR_F4, n, 1);
    for (int window = 3; window <= 5; window += 2)
        for (int slabs = 4; slabs <= 16; slabs *= 2) {
            char name[40], with[80], without[80];
            stencil s = {.from = "u", .to = "w", .window = window, .work.direct = 1};
            s.work.memory = 4 * n * n * 4 / contest_ranks / slabs + 64 * n;
            long pace = pace_for(&s, n * n * 4);
            snprintf(with, sizeof with, "fault=bandwidth:%ld;prefetch=1", pace);
            snprintf(without, sizeof without, "fault=bandwidth:%ld;prefetch=0", pace);
            s.hints[0] = with;
            s.hints[1] = without;
            snprintf(name, sizeof name, "%d x %d, %d slabs", window, window, slabs);
            compare("median", name, "prefetch", &s);
        }
    remove_array("u");
    remove_array("v");
    remove_array("w");
}

int main(int argc, char **argv)
{
    contest_init(argc, argv);
    if (argc < 4)
        return fprintf(stderr, "usage: bench_apps WHAT FOLDER N [MEMORY]\n"), 2;
    const int64_t n = atoll(argv[3]), memory = argc > 4 ? atoll(argv[4]) << 20 : 0;
    snprintf(folder, sizeof folder, "%s", argv[2]);
    if (!strcmp(argv[1], "transpose"))
        run_transpose(n, memory);
    else if (!strcmp(argv[1], "matmul"))
        run_matmul(n, memory);
    else if (!strcmp(argv[1], "prefetch"))
        run_prefetch(n);
    else if (!strcmp(argv[1], "access"))
        run_access(n);
    else if (!strcmp(argv[1], "slabs"))
        run_slabs(n);
    MPI_Finalize();
    return 0;
}
