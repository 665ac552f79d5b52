/* A local-array set with members outside its folder, copied or moved: its description names their
 * disks and ends their names with its own identity, so it is made anew. */
#ifndef WR_ARRAY_SET_SPREAD_H
#define WR_ARRAY_SET_SPREAD_H

#include "array/array_site.h"
#include "storage/file_copy.h"

typedef struct wr_spread {
    const wr_folder *from; /* the set's folder, */
    const wr_set *set;     /* and what is there */
    wr_site *to;           /* prepared: the new one is `made` there */
    int disks;             /* for members outside; 0: */
    const char *const *disk;
    bool moving; /* they stay on their disks, and get a second name there; otherwise they are copied
                    into the new folder */
    wr_copying *copying;
} wr_spread;

/* Whole and on stable storage, but for its name. On failure nothing is left. Members that are not
 * provably the set's own are not copied by moving: the new description leads to them. */
int wr_set_spread(wr_spread *spread);

#endif
