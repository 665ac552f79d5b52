/* Random series of collective writes and reads, syncs and changes of size and hints on a file that
 * is written behind, against a plain array of bytes: every read and every sync must show all that
 * was written before, the later call and the higher rank winning. */
#ifndef WR_TESTS_BEHIND_MODEL_H
#define WR_TESTS_BEHIND_MODEL_H

#include "check.h"
#include "file/file.h"

enum { BEHIND_RANKS = 6, BEHIND_BYTES = 5 << 20 };

typedef struct behind_play {
    int ranks;
    bool shared;         /* by ranks that are threads: rank 0 keeps the model */
    const char *storage; /* backend */
    char hints[400], path[300];
    /* Reads the file, and says how much there is; by rank 0. */
    int64_t (*get)(const struct behind_play *p, char *bytes, int64_t count);
    uint64_t seed;
    int64_t steps;
    int64_t size;             /* of the file, */
    char model[BEHIND_BYTES]; /* which must hold this */
} behind_play;

void behind_make(rng *r, behind_play *p);

/* [collective] One rank's part, from open to close. */
void behind_run(behind_play *p, wr_world *world);

#endif
