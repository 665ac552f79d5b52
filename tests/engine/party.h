/* Two parties have one file open, each on a world of its own. Both write their part of every row of
 * it, again and again, and neither may undo what the other did: not by writing back what it only
 * read to fill the gaps between its own bytes. They are told apart by the place in the row; within
 * a party each rank has its share of that. */
#ifndef WR_TESTS_PARTY_H
#define WR_TESTS_PARTY_H

#include "file/file.h"

enum { ROWS = 24, ROW = 240 };

typedef struct party {
    int64_t first, width; /* of each row */
    bool together;        /* by collective calls */
    bool spots;           /* a row in each round, not all of them */
    bool leads;           /* makes so many rounds; the other makes some, until this one is done */
    const char *hints;
} party;

/* [collective in the world] Plays the party's part from open to close; the file must be there. */
void party_play(const party *p, wr_world *w, const char *path, int64_t rounds);

#endif
