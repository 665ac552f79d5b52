/* A random product of matrices, how it is to be computed, and what must come of it. The same
 * numbers give the same case, so that every process of a program can make it for itself. */
#ifndef WR_TESTS_MULTIPLY_CASE_H
#define WR_TESTS_MULTIPLY_CASE_H

#include "array/array.h"
#include "array/array_scene.h"
#include "weir/kernels.h"

typedef struct multiply_case {
    naive a, b, c;  /* c as it must become */
    double *spread; /* of each element of c: sum of the sizes of what is added; NULL: exact */
    int layout, direct;
    bool swapped[3]; /* the file has the other byte order */
    int64_t memory;  /* 1: the least that does */
    char hints[3][600], path[3][100];
    int64_t done, steps; /* last told of progress, by rank 0 */
} multiply_case;

/* `path` of the case is set. */
void multiply_case_make(rng *r, const hint_limits *limits, multiply_case *k);

/* [collective] Makes the arrays, multiplies, checks the result on rank 0, removes the arrays. */
void multiply_case_run(multiply_case *k, wr_world *world);
void multiply_case_release(multiply_case *k);

/* A matrix with whole numbers as elements, few enough for sums to be exact, or with any. */
void multiply_fill(rng *r, naive *a, bool whole);

/* c.data and, where it is there, spread, by three loops. */
void multiply_naively(multiply_case *k);

/* [collective] An array with these elements, opened for reading; or, with c, for writing. */
weir_array *multiply_array(multiply_case *k, wr_world *world, int which);

#endif
