/* Suite `sieve`: sections of arrays; bench/sieve.py runs it.
 *   bench_sieve tables FOLDER CASES    PASSION's sections by sieving and one by one
 *   bench_sieve serve FILE             times sections given on stdin, "cold|warm|device
 *                                      lo:hi:step,..."; device: cold, and by plain io_uring
 *   bench_sieve blocks FILE            a block-block array read by all ranks */
#include <fcntl.h>
#ifdef WR_HAVE_URING
#include <liburing.h>
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "contest.h"
#include "weir/weir.h"

static void stop_if(int code, const char *what)
{
    if (code)
        contest_stop(what);
}

/* --- PASSION's tables 4 and 5 --- */

enum { ROWS = 2048, COLUMNS = 32, SLAB = 16, ALONE = 1024 };

typedef struct table {
    weir_array *sieve, *direct, *now;
    weir_selection section;
    weir_layout layout;
    int64_t lo[2], hi[2], step[2];
    float *memory;
    bool write;
} table;

static void move(table *t, weir_array *array)
{
    if (t->write)
        stop_if(weir_array_write(array, &t->section, &t->layout, t->memory, NULL), "write");
    else
        stop_if(weir_array_read(array, &t->section, &t->layout, t->memory, NULL), "read");
}

static void by_sieving(void *user)
{
    table *t = user;
    move(t, t->sieve);
}

static void one_by_one(void *user)
{
    table *t = user;
    move(t, t->direct);
}

static void in_one_call(void *user)
{
    table *t = user;
    t->lo[0] = 0;
    t->hi[0] = ALONE;
    move(t, t->sieve);
}

static void in_many_calls(void *user)
{
    table *t = user;
    for (t->lo[0] = 0; t->lo[0] < ALONE; t->lo[0]++) {
        t->hi[0] = t->lo[0] + 1;
        move(t, t->sieve);
    }
}

static void run_case(table *t, const char *line)
{
    char section[64], name[96];
    double seconds[4];
    long long n[6];
    if (sscanf(line, "%63[^\t]\t%lf\t%lf\t%lf\t%lf", section, &seconds[0], &seconds[1], &seconds[2],
               &seconds[3]) != 5 ||
        sscanf(section, "%lld:%lld:%lld, %lld:%lld:%lld", &n[0], &n[1], &n[2], &n[3], &n[4],
               &n[5]) != 6)
        return; /* the head of the table */
    for (int d = 0; d < 2; d++) {
        t->lo[d] = n[3 * d] - 1;
        t->hi[d] = n[3 * d + 1];
        t->step[d] = n[3 * d + 2];
    }
    for (t->write = false;; t->write = true) {
        char note[80];
        snprintf(name, sizeof name, "(%s) of 2048 x 32 f4, %s", section,
                 t->write ? "write" : "read");
        bench_figure figure = {name,      "sieving against one by one", "speed", ">=1", "s",
                               "sieving", "one call an element"};
        bench_pair(&figure, by_sieving, one_by_one, t);
        snprintf(note, sizeof note, "in the paper %.1f times",
                 seconds[2 * t->write] / seconds[2 * t->write + 1]);
        printf("note\t%s\t%s\n", name, note);
        if (t->write)
            return;
    }
}

static weir_array *open_with(const char *path, const char *hints)
{
    weir_array *array;
    stop_if(weir_array_open(MPI_COMM_SELF, path, WEIR_READ | WEIR_WRITE, hints, &array), path);
    return array;
}

static void run_tables(const char *folder, const char *cases)
{
    char path[4096], line[400];
    weir_array_info info = {
        .type = WEIR_F4, .dimensions = 2, .shape = {ROWS, COLUMNS}, .columns = 1};
    weir_array_options options = {.overwrite = 1};
    weir_array *made;
    table t = {.memory = calloc(ROWS * COLUMNS, sizeof(float))};
    snprintf(path, sizeof path, "%s/sieve.npy", folder);
    snprintf(line, sizeof line, "access=sieve;sieve_unit=column;sieve_buffer=%d", SLAB * ROWS * 4);
    stop_if(weir_array_create(MPI_COMM_SELF, path, &info, &options, NULL, &made), "create");
    stop_if(weir_array_close(made), "close");
    t.sieve = open_with(path, line);
    t.direct = open_with(path, "access=naive");
    t.section = (weir_selection){.lo = t.lo, .hi = t.hi, .step = t.step};
    t.layout = (weir_layout){.order = (const int[]){1, 0}};
    FILE *f = fopen(cases, "r");
    while (f && fgets(line, sizeof line, f))
        run_case(&t, line);
    if (!f || fclose(f))
        contest_stop(cases);
    t.lo[1] = 0;
    t.hi[1] = t.step[0] = t.step[1] = 1;
    t.write = false;
    bench_figure many = {"1024 elements of a column",
                         "one call against 1024",
                         "speed",
                         ">=1",
                         "s",
                         "one call",
                         "1024 calls"};
    bench_pair(&many, in_one_call, in_many_calls, &t);
    printf("note\t%s\tin the paper 121 times\n", many.name);
    stop_if(weir_array_close(t.direct), "close");
    stop_if(weir_array_close(t.sieve), "close");
    unlink(path);
    free(t.memory);
}

/* --- sections given by another program --- */

static void forget_pages(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) || close(fd))
        contest_stop("cannot empty the page cache");
}

/* "lo:hi:step,..." of each dimension; returns the number of elements. */
static int64_t parse(const char *text, int64_t *lo, int64_t *hi, int64_t *step)
{
    int64_t all = 1;
    for (int d = 0; *text; d++) {
        long long n[3];
        int length;
        if (sscanf(text, "%lld:%lld:%lld%n", &n[0], &n[1], &n[2], &length) != 3)
            contest_stop("section");
        text += length + (text[length] == ',');
        lo[d] = n[0];
        hi[d] = n[1];
        step[d] = n[2];
        all *= (hi[d] - lo[d] + step[d] - 1) / step[d];
    }
    return all;
}

#ifdef WR_HAVE_URING
/* The pages that hold a section's part of each row, past the page cache, some at a time, into
 * memory where they stay: what the device gives to who wants no more than that. */
static double ask_device(const char *path, const int64_t *lo, const int64_t *hi,
                         const int64_t *step, int64_t columns, int64_t size)
{
    enum { DEPTH = 32, PAGE = 4096 };
    int fd = open(path, O_RDONLY | O_DIRECT);
    struct io_uring ring;
    struct io_uring_cqe *done;
    int64_t free_place[DEPTH], places = DEPTH, next = lo[0], under_way = 0;
    const int64_t room = (hi[1] * size / PAGE + 2) * PAGE, head = 128;
    char *memory = aligned_alloc(PAGE, (size_t)(DEPTH * room));
    if (fd < 0 || !memory || io_uring_queue_init(DEPTH, &ring, 0))
        contest_stop("io_uring");
    memset(memory, 1, (size_t)(DEPTH * room));
    for (int64_t i = 0; i < DEPTH; i++)
        free_place[i] = i;
    const double start = bench_seconds();
    while (next < hi[0] || under_way) {
        for (; places && next < hi[0]; next += step[0], under_way++) {
            const int64_t row = head + next * columns * size, place = free_place[--places];
            const int64_t first = (row + lo[1] * size) / PAGE,
                          end = (row + hi[1] * size + PAGE - 1) / PAGE;
            struct io_uring_sqe *asked = io_uring_get_sqe(&ring);
            io_uring_prep_read(asked, fd, memory + place * room, (unsigned)((end - first) * PAGE),
                               (uint64_t)(first * PAGE));
            io_uring_sqe_set_data64(asked, (uint64_t)place);
        }
        io_uring_submit_and_wait(&ring, 1);
        for (; !io_uring_peek_cqe(&ring, &done); under_way--) {
            if (done->res <= 0)
                contest_stop("io_uring");
            free_place[places++] = (int64_t)io_uring_cqe_get_data64(done);
            io_uring_cqe_seen(&ring, done);
        }
    }
    const double took = bench_seconds() - start;
    io_uring_queue_exit(&ring);
    free(memory);
    close(fd);
    return took;
}
#else
static double ask_device(const char *path, const int64_t *lo, const int64_t *hi,
                         const int64_t *step, int64_t columns, int64_t size)
{
    (void)path, (void)lo, (void)hi, (void)step, (void)columns, (void)size;
    contest_stop("io_uring was not there when this was built");
    return 0;
}
#endif

static void serve(const char *path)
{
    char state[8], text[400];
    weir_array *array = open_with(path, NULL);
    const int64_t size = weir_type_bytes(weir_array_get_info(array)->type);
    char *memory = NULL;
    int64_t room = 0;
    while (scanf("%7s %399s", state, text) == 2) {
        int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], step[WEIR_MAX_DIMENSIONS];
        int64_t need = parse(text, lo, hi, step) * size;
        if (need > room) {
            free(memory);
            memory = malloc((size_t)need);
            memset(memory, 1, (size_t)need);
            room = need;
        }
        if (strcmp(state, "warm") != 0)
            forget_pages(path);
        if (!strcmp(state, "device")) {
            const int64_t columns = weir_array_get_info(array)->shape[1];
            printf("%.9f\n", ask_device(path, lo, hi, step, columns, size));
            continue;
        }
        weir_selection s = {.lo = lo, .hi = hi, .step = step};
        double start = bench_seconds();
        stop_if(weir_array_read(array, &s, NULL, memory, NULL), "read");
        printf("%.9f\n", bench_seconds() - start);
        fflush(stdout);
    }
    free(memory);
    stop_if(weir_array_close(array), "close");
}

/* --- block-block --- */

typedef struct blocks {
    weir_array *array;
    weir_distribution distribution;
    double *memory;
} blocks;

static void read_blocks(void *user)
{
    blocks *b = user;
    stop_if(weir_array_read_distributed(b->array, &b->distribution, NULL, b->memory), "read");
}

static void run_blocks(const char *path)
{
    enum { N = 4096 };
    int64_t part[2];
    blocks b = {0};
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {N, N}};
    weir_array_options options = {.overwrite = 1, .fill = &(double){1.5}};
    stop_if(weir_distribution_grid(contest_ranks, 2, b.distribution.grid), "grid");
    stop_if(weir_distribution_shape(&b.distribution, 2, info.shape, contest_rank, part), "shape");
    b.memory = calloc((size_t)(part[0] * part[1]), sizeof *b.memory);
    stop_if(weir_array_create(MPI_COMM_WORLD, path, &info, &options, NULL, &b.array), "create");
    contest c = {.part = "blocks", .name = "4096 x 4096 f8 by blocks", .op = "read", .warm = true};
    c.seconds = 1;
    c.list[0] = (contestant){.step = read_blocks};
    c.user = &b;
    contest_run(&c);
    for (int64_t i = 0; i < part[0] * part[1]; i++)
        if (b.memory[i] != 1.5)
            contest_stop("wrong data");
    free(b.memory);
    stop_if(weir_array_discard(b.array), "discard");
}

int main(int argc, char **argv)
{
    contest_init(argc, argv);
    bench_init(argc, argv);
    if (argc > 3 && !strcmp(argv[1], "tables"))
        run_tables(argv[2], argv[3]);
    else if (argc > 2 && !strcmp(argv[1], "serve"))
        serve(argv[2]);
    else if (argc > 2 && !strcmp(argv[1], "blocks"))
        run_blocks(argv[2]);
    else
        return fprintf(stderr, "usage: bench_sieve tables|serve|blocks ...\n"), 2;
    MPI_Finalize();
    return 0;
}
