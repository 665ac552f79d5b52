/* A window's turn at an aggregator: made, locked and read before ranks take part, written and let
 * go after them, the same for shared memory and for messages.
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
 * With write-behind nothing is read, and closing keeps the data (behind.h).
 *
 * Reading and writing are done at once, or, in a call whose storage is the progress thread's, in
 * the background: then the functions return WR_AWAY and are called again, and a write's lock is let
 * go when the storage is done, not when the aggregator comes to know. */
#ifndef WR_ENGINE_TURN_H
#define WR_ENGINE_TURN_H

#include "engine/passage.h"
#include "storage/lock.h"

struct wr_call;

typedef struct wr_turn {
    int state; /* shared.c's */
    wr_window window;
    int64_t valid; /* when reading: bytes from here on do not exist */
    bool made, locked;
    wr_range_wait wait; /* for the lock that is tried */
    bool scattered;     /* other aggregators' bytes lie between those of the window */
    bool unlistable;    /* its holes cannot be left out */
    char *own;          /* where the data are if not in the window's buffer; or NULL */
    bool away;          /* the storage has it */
    int64_t kept;       /* data of the cover that are kept, by write-behind */
    wr_passage passage;
} wr_turn;

enum { WR_AWAY = 3 }; /* the storage has it: its end is told by the call's bell */

/* 1: ranks can take part; 0: there are no more windows; WR_BUSY; WR_AWAY; or a negative code, and
 * nothing from turn->window.lo on is done. */
int wr_turn_open(const struct wr_call *c, wr_windows *walk, wr_turn *turn, char *buffer);

/* 0, WR_BUSY, WR_AWAY, or a negative code; unless WR_BUSY or WR_AWAY the turn is over. A spoiled
 * one is not written. */
int wr_turn_close(const struct wr_call *c, wr_turn *turn, char *buffer, bool spoiled);

/* Gives up a turn that was not opened, if there is one. */
void wr_turn_drop(const struct wr_call *c, wr_turn *turn);

#endif
