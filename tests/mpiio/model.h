/* A file behind the door and what it must be: every rank knows what all ranks do, because all draw
 * the same random numbers, and keeps the whole file and everyone's view and pointer. */
#ifndef WR_TESTS_MODEL_H
#define WR_TESTS_MODEL_H

#include "mpiio/door_support.h"
#include "mpiio/random_type.h"

enum {
    MOST_RANKS = 16,
    ROOM = 1 << 16,   /* bytes of a file from its base on */
    MOST_DATA = 3000, /* bytes of an deed */
    SLOTS = 3         /* memory types of a rank, used again and again; accesses of a phase */
};

enum model_form { BLOCKING, SPLIT, NONBLOCKING };

/* One access of one rank. */
typedef struct deed {
    bool write, at, together, large;
    bool shared; /* at the shared pointer */
    enum model_form form;
    bool bottom;           /* by absolute addresses */
    int64_t offset, after; /* in etypes; where the pointer is afterwards */
    int count;
    const typed *memory;
    int64_t bytes, visible;                           /* wanted; before the end of the file */
    int64_t in_memory[MOST_DATA], in_file[MOST_DATA]; /* of each byte; there from the base on */
    unsigned char expected[MOST_DATA];                /* what a read finds */
} deed;

typedef struct model {
    rng r;
    int64_t step;  /* numbers what is written */
    MPI_Comm comm; /* of all ranks, on one node or as if on several */
    MPI_File fh;
    const char *path;
    int amode;
    bool same;      /* all ranks have one view, as the shared pointer needs it */
    int64_t shared; /* the shared pointer */
    bool never;     /* ranks write alone in collective calls, so that no rank wins */
    int64_t base;   /* no rank comes below: zeros there */
    int64_t size;   /* from there on */
    unsigned char bytes[ROOM];
    /* each rank's */
    typed etype;
    typed filetype[MOST_RANKS];
    int64_t displacement[MOST_RANKS], position[MOST_RANKS];
    typed memory[MOST_RANKS][SLOTS];
    /* of the phase under way */
    int writer[ROOM];       /* rank + 1 */
    unsigned readers[ROOM]; /* a bit a rank */
} model;

/* --- model.c: what must be --- */

/* The byte of the file, from its base on, behind data byte k of a rank's view. */
int64_t model_byte(const model *m, int rank, int64_t k);

/* Whether the filetype of a rank's view reaches behind its extent, so that it is used only once. */
bool model_is_once(const model *m, int rank);

/* The byte in a rank's memory at a place, in this step. */
unsigned char model_content(const model *m, int rank, int64_t at);

/* What a rank may do next: an access whose kind is set already, with its memory and its place; it
 * may come out as nothing. */
void model_choose(model *m, int rank, int slot, deed *a);

/* Whether it meets no other rank's in this phase; then it is noted. What is nonblocking meets
 * nothing of its own rank either. */
bool model_is_apart(model *m, int rank, const deed *a);
void model_new_phase(model *m);

/* Puts it into the file, or what is there into it. */
void model_apply(model *m, int rank, deed *a);

void model_resize(model *m, int64_t size);

/* Etypes that begin before the end of the file. */
int64_t model_end(const model *m, int rank);

/* --- model_run.c: what is --- */

/* This rank's accesses, and all that can be checked of them at once. Those that are nonblocking are
 * under way together, as far as they follow one another, and waited for in one of many ways. */
void model_perform(const model *m, int count, const deed *deeds, int way);

/* [collective] What all ranks have written is in the file, to be seen by any program. */
void model_check_file(const model *m);

/* [collective] Pointers and offsets of this rank. */
void model_check_pointer(const model *m);

/* [collective] */
void model_open(model *m, int amode, MPI_Info info);
void model_close(model *m);
void model_set_view(model *m);

#endif
