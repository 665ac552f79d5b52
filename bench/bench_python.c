/* Suite `python`: what the calls of bench/python.py cost in C. Does what lines of standard input
 * say, and answers with seconds.
 *   bench_python calls FILE    `row`, `element`, `write`, `row_all`: of one such call, of many
 *   bench_python slabs IN OUT MEMORY    any line: of a loop that writes twice what it reads
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "weir/weir.h"

enum { CALLS = 20000 };

static void must(int code)
{
    char text[600];
    if (!code)
        return;
    if (weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text);
    exit(1);
}

static weir_array *open_array(const char *path)
{
    weir_array *array = NULL;
    must(weir_array_open(MPI_COMM_NULL, path, WEIR_READ | WEIR_WRITE, NULL, &array));
    return array;
}

static int call(weir_array *a, const char *verb, double *memory)
{
    const int64_t lo[] = {5, 0}, hi[] = {6, weir_array_get_info(a)->shape[1]};
    const int64_t at[] = {3, 4}, after[] = {4, 5};
    const weir_selection row = {.lo = lo, .hi = hi}, element = {.lo = at, .hi = after};
    if (!strcmp(verb, "row_all"))
        return weir_array_read_all(a, &row, NULL, memory, NULL);
    if (!strcmp(verb, "write"))
        return weir_array_write(a, &row, NULL, memory, NULL);
    return weir_array_read(a, *verb == 'e' ? &element : &row, NULL, memory, NULL);
}

static double time_calls(weir_array *a, const char *verb, double *memory)
{
    const double start = bench_seconds();
    for (int i = 0; i < CALLS; i++)
        must(call(a, verb, memory));
    return (bench_seconds() - start) / CALLS;
}

static void twice(const weir_slab *s)
{
    for (int64_t i = 0; i < s->hi[0] - s->lo[0]; i++) {
        const double *in = (const double *)s->in[0] + i * s->in_stride[0];
        double *restrict out = (double *)s->out[0] + i * s->out_stride[0];
        for (int64_t j = 0; j < s->hi[1] - s->lo[1]; j++)
            out[j] = 2 * in[j];
    }
}

static double time_loop(weir_array *in, weir_array *out, int64_t memory)
{
    const weir_slabs_options walk = {
        .inputs = 1, .input = &in, .outputs = 1, .output = &out, .memory = memory};
    weir_slabs *slabs;
    weir_slab s;
    int found;
    const double start = bench_seconds();
    must(weir_slabs_begin(&walk, &slabs));
    while ((found = weir_slabs_next(slabs, &s)) > 0)
        twice(&s);
    must(found);
    must(weir_slabs_end(slabs));
    return bench_seconds() - start;
}

int main(int argc, char **argv)
{
    char verb[20];
    const bool slabs = argc == 5 && !strcmp(argv[1], "slabs");
    if (!slabs && (argc != 3 || strcmp(argv[1], "calls") != 0))
        return fprintf(stderr, "usage: bench_python calls FILE | slabs IN OUT MEMORY\n"), 2;
    weir_array *a = open_array(argv[2]), *b = slabs ? open_array(argv[3]) : NULL;
    double *memory = calloc((size_t)weir_array_get_info(a)->shape[1], sizeof *memory);
    while (memory && scanf("%19s", verb) == 1) {
        printf("%.9g\n", slabs ? time_loop(a, b, atoll(argv[4])) : time_calls(a, verb, memory));
        fflush(stdout);
    }
    free(memory);
    must(weir_array_close(a));
    if (b)
        must(weir_array_close(b));
    return 0;
}
