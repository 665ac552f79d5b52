#include "multiply_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_scene.h"

/* --- elements --- */

static bool is_complex(const naive *a)
{
    return a->info.type == WEIR_C8 || a->info.type == WEIR_C16;
}

static bool is_single(const naive *a)
{
    return a->info.type == WEIR_F4 || a->info.type == WEIR_C8;
}

/* Real or imaginary part of an element. */
static double get(const naive *a, int64_t row, int64_t column, int part)
{
    const int64_t number = row * a->info.shape[1] + column;
    const int64_t at = is_complex(a) ? 2 * number + part : number;
    if (part && !is_complex(a))
        return 0;
    return is_single(a) ? (double)((const float *)(const void *)a->data)[at]
                        : ((const double *)(const void *)a->data)[at];
}

static void put(naive *a, int64_t at, double value)
{
    if (is_single(a))
        ((float *)(void *)a->data)[at] = (float)value;
    else
        ((double *)(void *)a->data)[at] = value;
}

void multiply_fill(rng *r, naive *a, bool whole)
{
    const int64_t count = a->elements * (is_complex(a) ? 2 : 1);
    for (int64_t i = 0; i < count; i++)
        put(a, i, whole ? (double)rng_within(r, -9, 9) : (double)rng_within(r, -5000, 5000) / 977);
}

static void multiply_one(multiply_case *k, int64_t row, int64_t column)
{
    double re = 0, im = 0, size = 0;
    const int64_t number = row * k->c.info.shape[1] + column;
    for (int64_t d = 0; d < k->a.info.shape[1]; d++) {
        double a[] = {get(&k->a, row, d, 0), get(&k->a, row, d, 1)};
        double b[] = {get(&k->b, d, column, 0), get(&k->b, d, column, 1)};
        re += a[0] * b[0] - a[1] * b[1];
        im += a[0] * b[1] + a[1] * b[0];
        size += (fabs(a[0]) + fabs(a[1])) * (fabs(b[0]) + fabs(b[1]));
    }
    put(&k->c, is_complex(&k->c) ? 2 * number : number, re);
    if (is_complex(&k->c))
        put(&k->c, 2 * number + 1, im);
    if (k->spread)
        k->spread[number] = size;
}

void multiply_naively(multiply_case *k)
{
    for (int64_t i = 0; i < k->c.info.shape[0]; i++)
        for (int64_t j = 0; j < k->c.info.shape[1]; j++)
            multiply_one(k, i, j);
}

/* --- cases --- */

static int64_t random_size(rng *r)
{
    static const int64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
    if (rng_chance(r, 8))
        return 0;
    if (rng_chance(r, 15))
        return 1;
    if (rng_chance(r, 10))
        return rng_within(r, 60, 150);
    return rng_chance(r, 50) ? primes[rng_within(r, 0, 14)] : rng_within(r, 2, 50);
}

static void random_matrix(rng *r, int type, int64_t rows, int64_t columns, naive *a)
{
    *a = (naive){.info = {.type = type, .dimensions = 2, .shape = {rows, columns}}};
    a->info.columns = rng_chance(r, 50);
    if (rng_chance(r, 30)) {
        random_distribution(r, &a->info, 12, &a->info.distribution);
        a->info.members = distribution_places(&a->info.distribution, 2);
        a->disks = rng_chance(r, 30);
    }
    naive_settle(a);
}

void multiply_case_make(rng *r, const hint_limits *limits, multiply_case *k)
{
    const int64_t rows = random_size(r), columns = random_size(r), depth = random_size(r);
    const int type = (int)rng_within(r, WEIR_F4, WEIR_C16);
    const bool whole = rng_chance(r, 70);
    random_matrix(r, type, rows, depth, &k->a);
    random_matrix(r, type, depth, columns, &k->b);
    random_matrix(r, type, rows, columns, &k->c);
    multiply_fill(r, &k->a, whole);
    multiply_fill(r, &k->b, whole);
    k->spread = whole ? NULL : calloc((size_t)k->c.elements + 1, sizeof *k->spread);
    CHECK(whole || k->spread);
    multiply_naively(k);
    k->layout = rng_chance(r, 40) ? WEIR_GAXPY : WEIR_PANELS;
    k->direct = rng_chance(r, 40);
    k->memory = rng_chance(r, 40) ? 1 : rng_chance(r, 50) ? 0 : rng_within(r, 40000, 200000);
    for (int i = 0; i < 3; i++) {
        k->swapped[i] = rng_chance(r, 15) && !test_weak(); /* by one host alone */
        random_array_hints(r, limits, k->hints[i], sizeof k->hints[i]);
    }
    k->done = k->steps = 0;
}

void multiply_case_release(multiply_case *k)
{
    naive_release(&k->a);
    naive_release(&k->b);
    naive_release(&k->c);
    free(k->spread);
    k->spread = NULL;
}

/* --- running --- */

weir_array *multiply_array(multiply_case *k, wr_world *w, int which)
{
    naive *n = which == 0 ? &k->a : which == 1 ? &k->b : &k->c;
    const weir_array_options options = naive_options(n);
    const bool first = w->transport->rank == 0, filled = which < 2;
    weir_array_info info = n->info;
    weir_array *a;
    info.swapped = 0;
    CHECK(!wr_array_create(w, k->path[which], &info, &options, "", &a));
    CHECK(!weir_array_write_all(a, first && filled ? &(weir_selection){0} : NULL, NULL, n->data,
                                NULL));
    CHECK(!weir_array_close(a));
    if (first && k->swapped[which]) {
        naive files = *n; /* only rank 0 touches what other threads look at */
        naive_swap_files(&files, k->path[which]);
    }
    CHECK(!wr_agree(w->transport, 0, 0));
    CHECK(!wr_array_open(w, k->path[which], filled ? WEIR_READ : WEIR_READ | WEIR_WRITE,
                         k->hints[which], &a));
    return a;
}

/* Too little is refused, naming what does. */
static int64_t find_memory(const multiply_case *k, weir_array *const *x)
{
    weir_work work = {.memory = 1, .direct = k->direct};
    CHECK_FAILS(weir_array_multiply(x[0], x[1], x[2], k->layout, &work), WEIR_EBUDGET,
                "the least that would do is ");
    int64_t least = strtoll(strstr(weir_error_last()->text, "do is ") + 6, NULL, 10);
    work.memory = least - 1;
    CHECK_FAILS(weir_array_multiply(x[0], x[1], x[2], k->layout, &work), WEIR_EBUDGET, "the least");
    return least;
}

static void note_progress(void *user, int64_t done, int64_t all)
{
    multiply_case *k = user;
    CHECK(done == k->done + 1 && (!k->steps || all == k->steps));
    k->done = done;
    k->steps = all;
}

/* Whole numbers are exact; others within what sums of so many rounded products may differ by. */
static void check_result(const multiply_case *k, weir_array *c)
{
    const double unit = is_single(&k->c) ? 1.2e-7 : 2.3e-16;
    naive got = {.info = k->c.info};
    naive_settle(&got);
    CHECK(!weir_array_read(c, &(weir_selection){0}, NULL, got.data, NULL));
    for (int64_t i = 0; i < got.elements; i++)
        for (int part = 0; part < 2; part++) {
            const int64_t row = i / got.info.shape[1], column = i % got.info.shape[1];
            double wrong = get(&got, row, column, part) - get(&k->c, row, column, part);
            double most = unit * (double)(k->a.info.shape[1] + 2) * (k->spread ? k->spread[i] : 0);
            CHECK(fabs(wrong) <= most);
        }
    naive_release(&got);
}

void multiply_case_run(multiply_case *k, wr_world *w)
{
    weir_array *x[3];
    weir_estimate estimate;
    const bool first = w->transport->rank == 0;
    weir_work work = {.memory = k->memory, .direct = k->direct, .estimate = &estimate};
    for (int i = 0; i < 3; i++)
        x[i] = multiply_array(k, w, i);
    if (k->memory == 1)
        work.memory = find_memory(k, x);
    CHECK(!weir_array_multiply(x[0], x[1], x[2], k->layout, &work));
    CHECK(estimate.memory <= (work.memory ? work.memory : 64 << 20));
    CHECK(estimate.written == k->c.info.bytes);
    CHECK(strstr(estimate.how, k->layout == WEIR_GAXPY ? "sub-blocks of " : "blocks of ") ==
          estimate.how);
    CHECK(!k->c.elements || estimate.read >= k->a.info.bytes + k->b.info.bytes);
    work.estimate = NULL;
    if (first) {
        work.progress = note_progress;
        work.user = k;
    }
    CHECK(!weir_array_multiply(x[0], x[1], x[2], k->layout, &work));
    CHECK(!first || k->done == k->steps);
    if (test_weak()) /* one rank looks at what all have written */
        CHECK(!weir_array_sync(x[2]));
    if (first)
        check_result(k, x[2]);
    for (int i = 0; i < 3; i++)
        CHECK(!weir_array_close(x[i]));
    CHECK(!wr_agree(w->transport, 0, 0));
    for (int i = 0; i < 3 && first; i++)
        remove_tree(k->path[i]);
    CHECK(!wr_agree(w->transport, 0, 0));
}
