/* A random array, a random series of accesses to it by all ranks of a world, and what must come of
 * it: elements, memory, what stays untouched. The same numbers give the same scene, so that every
 * process of a program can make it for itself. */
#ifndef WR_TESTS_ARRAY_SCENE_H
#define WR_TESTS_ARRAY_SCENE_H

#include "array/array.h"
#include "chosen.h"

enum { ARRAY_RANKS = 9, ARRAY_CALLS = 4 };

enum way { BY_SECTION, BY_RANK, BY_DISTRIBUTION, WAYS };

/* One rank's part of one call. */
typedef struct array_part {
    chosen what;
    char *before, *after, *wanted;
    int code;
} array_part;

typedef struct array_call {
    bool write, together;
    enum way way;
    int form;     /* enum wr_form */
    bool lingers; /* is waited for after later calls have been started, perhaps after closing */
    weir_distribution by;
    array_part part[ARRAY_RANKS];
} array_call;

/* Hints that decide how arrays are accessed. */
typedef struct hint_limits {
    bool cache; /* data that were read are kept */
    bool rings; /* storage may be uring: the thread sanitizer does not see its memory, and takes
                   one ring after another in the same place for a race */
} hint_limits;

void random_array_hints(rng *r, const hint_limits *limits, char *out, size_t room);

typedef struct array_scene {
    int ranks;
    hint_limits limits;
    naive array;
    bool create;   /* otherwise it is there */
    char fill[16]; /* of a new one */
    char hints[600], path[300];
    wr_tunables tunables; /* of the world */
    int calls;
    array_call call[ARRAY_CALLS];
} array_scene;

/* For s->ranks ranks and what s->array says; calls change its elements. */
void array_scene_make(rng *r, array_scene *s);

/* [collective] Does one rank's part. */
void array_scene_run(array_scene *s, wr_world *world);

/* Whether what one rank did is right. */
void array_scene_check(const array_scene *s, int rank);

void array_scene_release(array_scene *s);

#endif
