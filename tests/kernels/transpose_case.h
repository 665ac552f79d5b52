/* A random transposition of a random array, and what must come of it; for every process alike. */
#ifndef WR_TESTS_TRANSPOSE_CASE_H
#define WR_TESTS_TRANSPOSE_CASE_H

#include "array/array.h"
#include "array/array_scene.h"
#include "weir/kernels.h"

typedef struct transpose_case {
    naive from, to; /* to as it must become */
    int axes[WEIR_MAX_DIMENSIONS];
    bool reversed;   /* axes are not given */
    bool swapped[2]; /* the file has the other byte order */
    int direct;
    int64_t memory; /* 1: the least that does */
    char hints[2][600], path[2][100];
} transpose_case;

/* `path` of the case is set. */
void transpose_case_make(rng *r, const hint_limits *limits, transpose_case *k);

/* [collective] Makes the arrays, transposes, checks the files on rank 0, removes them. */
void transpose_case_run(transpose_case *k, wr_world *world);
void transpose_case_release(transpose_case *k);

#endif
