/* Operators that are one slab loop: all they say is what becomes of a slab. */
#ifndef WR_KERNELS_WALK_H
#define WR_KERNELS_WALK_H

#include "kernels/work.h"

typedef struct wr_walk {
    weir_work work;
    weir_slabs_options slabs; /* arrays, halo, deal, besides; the rest follows from the work */
    void (*visit)(void *user, const weir_slab *slab);
    void *user;
} wr_walk;

/* Whether the walk can be made, the same on all ranks; where the work asks for an estimate, that is
 * all there is to do. */
int wr_walk_check(wr_walk *walk);

/* [collective] After the check: visits all slabs. A rank comes with `code` != 0 if it cannot; all
 * return the same. */
int wr_walk_run(const wr_walk *walk, int code);

#endif
