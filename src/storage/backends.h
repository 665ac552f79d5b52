/* The backends and wrappers, for the table in storage.c, and what mem borrows from posix. */
#ifndef WR_STORAGE_BACKENDS_H
#define WR_STORAGE_BACKENDS_H

#include "storage/storage.h"

extern const wr_storage_ops wr_posix_ops, wr_pool_ops, wr_uring_ops, wr_mem_ops, wr_striped_ops;
extern const wr_storage_ops wr_fault_ops, wr_events_ops;

/* Members seen as one file; chosen by options, not by name, and so in no table. */
int wr_joined_open(wr_storage *s, int flags, const wr_storage_options *options);

/* The file at `path`, which s->path is the user's name of. */
int wr_posix_open_at(wr_storage *s, const char *path, int flags);
void wr_posix_close(wr_storage *s);
void wr_posix_submit(wr_storage *s, wr_transfer *t);
wr_transfer *wr_posix_reap(wr_storage *s, bool wait);

/* What a wrapper that changes only transfers does otherwise: it asks s->inner. */
int wr_inner_get_size(wr_storage *s, int64_t *size);
int wr_inner_set_size(wr_storage *s, int64_t size);
int wr_inner_sync(wr_storage *s, enum wr_sync how);
int wr_inner_lock(wr_storage *s, int kind, int64_t lo, int64_t hi);

/* A file in this process's memory vanishes once no storage has it open. ENOENT if there is none. */
int wr_mem_unlink(const char *path);

#endif
