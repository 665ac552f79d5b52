/* Packs every second plane, row and column of a 3-d array into a contiguous buffer, and back. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weir/weir.h>

enum { N = 320, REPEAT = 5 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const char *what)
{
    char text[512];
    weir_error_format(weir_error_last(), text, sizeof text);
    fprintf(stderr, "strided_section: %s: %s\n", what, text);
    return 1;
}

/* Best of a few: the time of one call of `step`. */
#define BEST(best, step)                                                                           \
    do {                                                                                           \
        (best) = 1e9;                                                                              \
        for (int r_ = 0; r_ < REPEAT; r_++) {                                                      \
            double start_ = seconds();                                                             \
            step;                                                                                  \
            double took_ = seconds() - start_;                                                     \
            (best) = took_ < (best) ? took_ : (best);                                              \
        }                                                                                          \
    } while (0)

static int check(const double *array, const double *buffer)
{
    size_t k = 0;
    for (size_t i = 0; i < N; i += 2)
        for (size_t j = 0; j < N; j += 2)
            for (size_t l = 0; l < N; l += 2)
                if (buffer[k++] != array[(i * N + j) * N + l])
                    return 0;
    return 1;
}

int main(void)
{
    int64_t shape[] = {N, N, N}, step[] = {2, 2, 2};
    weir_shape whole = {.dimensions = 3, .element = 8, .size = shape};
    weir_selection every_second = {.step = step};
    weir_pattern *pattern;
    if (weir_pattern_section(&whole, &every_second, NULL, &pattern))
        return fail("section");
    int64_t bytes = weir_pattern_bytes(pattern), all = (int64_t)N * N * N * 8;
    printf("array %d x %d x %d of 8 bytes, every second element in each dimension:\n", N, N, N);
    printf("  %lld runs, %lld MiB of %lld MiB, described in %lld bytes\n",
           (long long)weir_pattern_pieces(pattern), (long long)bytes >> 20, (long long)all >> 20,
           (long long)weir_pattern_footprint(pattern));

    double *array = malloc((size_t)all), *copy = calloc(1, (size_t)all);
    double *buffer = malloc((size_t)bytes), *plain = malloc((size_t)bytes);
    if (!array || !copy || !buffer || !plain)
        return fputs("strided_section: out of memory\n", stderr), 1;
    for (int64_t i = 0; i < all / 8; i++)
        array[i] = (double)i;
    memset(buffer, 0, (size_t)bytes);
    memset(plain, 0, (size_t)bytes);

    double pack, unpack, limit;
    BEST(pack, weir_pattern_pack(pattern, 0, bytes, array, buffer));
    BEST(unpack, weir_pattern_unpack(pattern, 0, bytes, copy, buffer));
    BEST(limit, memcpy(plain, buffer, (size_t)bytes));
    memset(copy, 0, (size_t)all);
    weir_pattern_unpack(pattern, 0, bytes, copy, buffer);
    weir_pattern_pack(pattern, 0, bytes, copy, plain);
    int right = check(array, buffer) && !memcmp(buffer, plain, (size_t)bytes);
    printf("  pack   %5.2f GB/s\n  unpack %5.2f GB/s\n  memcpy %5.2f GB/s of contiguous bytes\n",
           1e-9 * (double)bytes / pack, 1e-9 * (double)bytes / unpack,
           1e-9 * (double)bytes / limit);
    printf("  data   %s\n", right ? "right" : "WRONG");
    weir_pattern_free(pattern);
    free(array);
    free(copy);
    free(buffer);
    free(plain);
    return !right;
}
