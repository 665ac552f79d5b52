/* What an open file and a request are made of: for the file room, and for tests. */
#ifndef WR_FILE_INSIDE_H
#define WR_FILE_INSIDE_H

#include "exchange/group_access.h"
#include "file/file.h"

struct weir_request {
    wr_group_access access;
    wr_after after;              /* run NULL: nothing */
    weir_file *file;             /* NULL: it is over, and `access` has what it came to */
    weir_request *next, **place; /* of the file */
    bool spare; /* there was no memory for copies of the patterns behind it: then it has */
    wr_run_pattern nothing;
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

/* WEIR_EUNSUPPORTED: what is not to be had where a file cannot be locked. */
int wr_file_fail_lockless(const weir_file *file, const char *what);

#endif
