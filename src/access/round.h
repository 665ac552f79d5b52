/* A window's round at an aggregator: made, locked and read before ranks take part, written and let
 * go after them, the same for windows of a party and for all-to-alls.
 *
 * Locks are tried and never waited for: an aggregator that waits serves nobody, and two collective
 * calls on one file would wait for each other. A window with holes is held alone from its reading
 * to its writing; one without is held together with other writers while it is written, so that it
 * does not fall between the reading and the writing of somebody else's. What cannot be locked in
 * time (lock_wait) is written without its holes, and fails where these are too many, or where even
 * that would need the lock.
 *
 * In atomic mode the call as a whole is locked, and its windows are not.
 *
 * With write-behind nothing is read, and closing a round keeps its data (write_behind.h).
 *
 * Reading and writing are done at once, or, in a call whose storage is the progress thread's, in
 * the background: then the functions return WR_AWAY and are called again, and a write's lock is let
 * go when the storage is done, not when the aggregator comes to know. */
#ifndef WR_ACCESS_ROUND_H
#define WR_ACCESS_ROUND_H

#include "access/did.h"
#include "access/io_worker.h"
#include "storage/lock.h"

/* What all rounds of an aggregator in one call have in common. */
typedef struct wr_rounds {
    struct wr_handle *handle;
    enum wr_direction direction;
    const wr_plan *plan;
    wr_word
        *wakeup; /* signalled when the storage is done with a window in the background; or NULL */
    wr_did *did; /* for the log */
} wr_rounds;

typedef struct wr_round {
    int state; /* of whoever has the round (exchange/serve.c) */
    wr_window window;
    int64_t valid; /* when reading: bytes from here on do not exist */
    bool made, locked;
    wr_range_wait wait; /* for the lock that is tried */
    bool scattered;     /* other aggregators' bytes lie between those of the window */
    bool unlistable;    /* its holes cannot be left out */
    char *own;          /* where the data are if not in the window's buffer; or NULL */
    bool away;          /* the storage has it */
    int64_t kept;       /* data of the cover that are kept, by write-behind */
    wr_async_window async;
} wr_round;

enum { WR_AWAY = 3 }; /* the storage has it: its end is told by `wakeup` */

/* 1: ranks can take part; 0: there are no more windows; WR_BUSY; WR_AWAY; or a negative code, and
 * nothing from round->window.lo on is done. */
int wr_round_open(const wr_rounds *c, wr_windows *walk, wr_round *round, char *buffer);

/* 0, WR_BUSY, WR_AWAY, or a negative code; unless WR_BUSY or WR_AWAY the round is over. A spoiled
 * one is not written. */
int wr_round_close(const wr_rounds *c, wr_round *round, char *buffer, bool spoiled);

/* Gives up a round that was not opened, if there is one. */
void wr_round_drop(const wr_rounds *c, wr_round *round);

#endif
