/* A contest: the same access made by several contestants, repetition by repetition, by all ranks of
 * MPI_COMM_WORLD. Rank 0 prints a line a repetition,
 *     PART  case  op  seconds...
 * with one number a contestant, or `-` where it was left out; bench/peers.py reads them.
 *
 * Everything here is [collective] but contest_stop. */
#ifndef WR_CONTEST_H
#define WR_CONTEST_H

#include <stdbool.h>

enum { CONTEST_MOST = 4 };

typedef struct contestant {
    void (*step)(void *user);
    int ranks; /* how many make the step while the others sleep; 0: all */
    int calls; /* steps in a row, for those too short to be timed alone; 0: one */
    int most;  /* repetitions; 0: as many as there are */
} contestant;

typedef struct contest {
    const char *part, *name, *op;
    double seconds;                /* after so much time three repetitions are enough */
    bool warm;                     /* the first repetition, unless it is long, does not count */
    contestant list[CONTEST_MOST]; /* those with a step */
    void *user;
} contest;

extern int contest_rank, contest_ranks;
extern bool contest_cluster; /* ranks are on several hosts, and peers may be slow */

/* MPI_Init, --quick and --cluster. */
void contest_init(int argc, char **argv);

/* Ends the program, with Weir's last error if there is one. */
void contest_stop(const char *what);

/* Seconds a call, from the first rank's start to the last rank's end; the same on every rank. */
double contest_time(const contestant *one, void *user);

void contest_run(const contest *c);

#endif
