/* The members of a joined storage: where their bytes lie, and which of their files are open.
 *
 * A file is opened when it is first held, and stays open for the next time. Once there are
 * WR_MEMBERS_OPEN, the one not held for the longest time is closed for another; only those that are
 * held or locked make it more. Locks come from any thread, hence the mutex. */
#ifndef WR_STORAGE_MEMBERS_H
#define WR_STORAGE_MEMBERS_H

#include <pthread.h>

#include "storage/storage.h"

enum { WR_MEMBERS_OPEN = 64 };

typedef struct wr_member_file {
    const char *path, *name; /* for people; from the folder on */
    int64_t skip, bytes;
    int64_t start;       /* where its bytes begin in the whole */
    bool unsynced;       /* written since the latest sync */
    bool locked;         /* closing it would let go of locks */
    wr_storage *storage; /* NULL: not open */
    int64_t held;        /* so many times */
    int64_t latest;      /* the number of its latest hold, of all */
} wr_member_file;

typedef struct wr_member_files {
    int64_t count, size; /* bytes of all together */
    wr_member_file *member;
    char *paths;
    int folder; /* a descriptor, or -1 */
    int flags;
    wr_tunables tunables; /* the storage's, without faults */
    wr_storage_options options;

    pthread_mutex_t mutex; /* of what follows, and of each member's last four fields */
    wr_member_file **open;
    int64_t opened, room, holds;
    weir_error failed; /* the first failure to close a file; code 0: none */
} wr_member_files;

/* Copies the members and their paths, about 100 bytes each, and opens their folder, which is what
 * tells the storage from others. */
int wr_member_files_init(wr_member_files *all, wr_storage *s, int flags,
                         const wr_storage_options *options);

/* Closes all. Returns 0 or an errno: of all->failed, too. */
int wr_member_files_release(wr_member_files *all);

/* The one that has the byte at `offset`; NULL: behind the end. */
wr_member_file *wr_member_files_find(const wr_member_files *all, int64_t offset);

/* m->storage is there until let go. */
int wr_member_files_hold(wr_member_files *all, wr_member_file *m);
void wr_member_files_let_go(wr_member_files *all, wr_member_file *m);

/* A backend's lock operation on what [lo, hi) of the whole touches of m. */
int wr_member_files_lock(wr_member_files *all, const struct wr_range_table *ranges,
                         wr_member_file *m, int kind, int64_t lo, int64_t hi);

/* Those that are open, and those that were written since the latest sync. */
int wr_member_files_sync(wr_member_files *all, enum wr_sync how);

#endif
