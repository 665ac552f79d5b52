/* A random operator on random arrays by all ranks of a world, and what must come of it, computed by
 * plain loops in memory. The same numbers give the same scene, so that every process of a program
 * can make it for itself. */
#ifndef WR_TESTS_KERNEL_SCENE_H
#define WR_TESTS_KERNEL_SCENE_H

#include "array/array.h"
#include "array/naive_array.h"
#include "weir/kernels.h"

enum { KERNEL_RANKS = 9, KERNEL_ARRAYS = 3 };

enum deed { REDUCE, FILL, MEDIAN, RELAX };

typedef struct kernel_scene {
    enum deed first, last; /* which it may be */
    int ranks;
    bool rings; /* storage may be uring, as in array_scene.h */

    enum deed deed;
    int arrays;                 /* the source, or what is filled, then targets */
    naive array[KERNEL_ARRAYS]; /* what they hold afterwards, */
    bool known[KERNEL_ARRAYS];  /* if anything is known about it; sources are as before */
    char value[16];             /* to fill with */
    int window;
    weir_relaxation relaxation; /* what is wanted, and what must come of it */
    int latest;
    weir_statistics statistics;
    bool moderate;  /* numbers of which sums are what they should be */
    int64_t memory; /* 0; or 1: the least that does, and `spare` bytes */
    int64_t spare;
    int direct;
    char hints[600], path[100];
    wr_tunables tunables; /* of the world */
    weir_statistics told[KERNEL_RANKS];
} kernel_scene;

void kernel_scene_make(rng *r, kernel_scene *s);

/* [collective] Makes and opens the arrays; and the other way. */
void kernel_scene_open(const kernel_scene *s, wr_world *world, weir_array **arrays);
void kernel_scene_close(const kernel_scene *s, weir_array **arrays);

/* [collective] Works as given; returns what the operator does. */
int kernel_scene_work(kernel_scene *s, weir_array **arrays, const weir_work *work);

/* [collective] All of it: estimates, too little memory, the work itself. */
void kernel_scene_run(kernel_scene *s, wr_world *world);

/* What a rank was told; and, after all ranks, what the files hold, which are removed last. */
void kernel_scene_check_told(const kernel_scene *s, int rank);
void kernel_scene_check(kernel_scene *s);
void kernel_scene_remove(const kernel_scene *s);
void kernel_scene_release(kernel_scene *s);

#endif
