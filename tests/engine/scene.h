/* A random series of collective and independent accesses by all ranks of a world, and what must
 * come of it: file bytes, memory bytes, what stays untouched, counts, sizes. The same numbers give
 * the same scene, so that every process of a program can make it for itself. */
#ifndef WR_TESTS_SCENE_H
#define WR_TESTS_SCENE_H

#include "file/file.h"
#include "pattern/random_pattern.h"

enum { SCENE_RANKS = 16, FILE_BYTES = 3 * MODEL_SPAN, MEMORY = 1 << 15, CALLS = 3 };

/* One rank's part of one call. */
typedef struct part {
    modelled where;
    weir_pattern *memory;
    int64_t place[MODEL_BYTES]; /* of each data position in memory */
    char before[MEMORY], after[MEMORY], wanted[MEMORY];
    int64_t count, wanted_count;
    int code;
} part;

typedef struct call {
    bool write, together, past_end;
    int form;        /* enum wr_form */
    bool lingers;    /* is waited for after later calls have been started */
    int64_t chores;  /* microseconds of something else to do meanwhile */
    uint64_t places; /* seed of the patterns in the file */
    part part[SCENE_RANKS];
} call;

typedef struct scene {
    int ranks;
    const char *storage; /* backend, perhaps with hints of its own behind it */
    char hints[512], path[300];
    bool behind;          /* writes are kept, until there is a sync */
    bool atomic;          /* in atomic mode; the caller's to set */
    wr_tunables tunables; /* of the world */
    int64_t short_of;     /* sizes of shared memory that cannot be had, of a hundred */
    call calls[CALLS];
    char file[FILE_BYTES]; /* what it must hold in the end */
    int64_t size;
} scene;

/* For s->ranks ranks and the file s->path in s->storage. */
void scene_make(rng *r, scene *s);

/* [collective] Does one rank's part. */
void scene_run(scene *s, wr_world *world);

/* Whether what one rank did is right; then frees that part. */
void scene_check_rank(scene *s, int rank);

/* Whether the file is right. */
void scene_check_file(const scene *s);

#endif
