/* What an open file and a request are made of: for the file room, and for tests. */
#ifndef WR_FILE_INSIDE_H
#define WR_FILE_INSIDE_H

#include "base/timer.h"
#include "exchange/group_access.h"
#include "file/file.h"

struct weir_request {
    wr_group_access access;
    wr_after after;              /* run NULL: nothing */
    weir_file *file;             /* NULL: it is over, and `access` has what it came to */
    weir_request *next, **place; /* of the file */
    bool spare; /* there was no memory for copies of the patterns behind it: then it has */
    wr_run_pattern nothing;
    wr_spent spent; /* by the threads that started and awaited it, if that is timed */
};

/* Of a shared pointer (pointer.h). */
typedef struct wr_pointer {
    int file;   /* the small file of several nodes, or -1, */
    char *name; /* and what it is called: rank 0's name for it; or NULL */
} wr_pointer;

struct weir_file {
    wr_world_user world_user; /* first: the world knows the file by it */
    wr_group group;           /* its world is NULL once MPI has ended */
    int mode;
    int64_t identity;     /* facts.identity of rank 0's storage */
    bool one_name;        /* all ranks call it alike */
    bool removed;         /* its name is, and what it holds is nobody's */
    bool follows;         /* ranks open it through the first of their node, when they need it */
    pthread_mutex_t lock; /* of what follows */
    wr_pointer pointer;
    weir_request *requests; /* started, and not known to be over */
    weir_request *spare;    /* for a collective one that there is no memory for, or NULL */
};

/* An access of this rank is over. */
typedef struct wr_over {
    int code; /* that it returned */
    bool together;
    enum wr_form form;
    int class;             /* of the profile, from 1; 0: not known */
    const wr_spent *spent; /* by this thread, if it was timed, */
    wr_timer *timer;       /* by this, which has stopped; or NULL */
} wr_over;

void wr_file_count(const weir_file *file, const wr_access_request *a, const wr_over *over);

/* Around what is no access: opening, closing, syncing, sizes; most of it is the file system's time.
 */
void wr_file_begin_rest(weir_file *file, wr_timer *timing);
void wr_file_end_rest(wr_timer *timing);

/* WEIR_EUNSUPPORTED: what is not to be had where a file cannot be locked. */
int wr_file_fail_lockless(const weir_file *file, const char *what);

#endif
