/* An open file: what it has besides transfers. Opening and closing agree on everything that must be
 * equal on all ranks: tunables, costs, errors. */
#ifndef WR_FILE_FILE_H
#define WR_FILE_FILE_H

#include "access/access.h"
#include "runtime/world.h"
#include "storage/storage.h"
#include "weir/file.h"

/* What is left to do when an access is over, done by the thread that waits for it: returns what
 * that comes to, and may say otherwise of the number of bytes that were moved. */
typedef struct wr_after {
    int (*run)(void *user, int code, int64_t *count);
    void *user;
} wr_after;

typedef struct wr_opening {
    const char *path;
    int mode;
    const char *hints; /* NULL or NAME=VALUE;..., weaker than the environment; rank 0's count */
    int64_t same;      /* whatever else must be equal on all ranks */
    int code;          /* != 0: this rank cannot take part, so none does */
    bool at_once;      /* write_behind is not obeyed */
    const wr_members *members; /* NULL: path is one file; otherwise it is only their name */
    const char *folder;        /* of members, as wr_storage_options has it, and so are these: */
    const wr_storage_ops *ops;
    const void *given;
} wr_opening;

/* [collective] The world is borrowed until close. */
int wr_file_open_as(wr_world *world, const wr_opening *how, weir_file **out);

static inline int wr_file_open(wr_world *world, const char *path, int mode, const char *hints,
                               weir_file **out)
{
    return wr_file_open_as(world, &(wr_opening){.path = path, .mode = mode, .hints = hints}, out);
}

/* Waits for collective accesses started on the file; WEIR_ETRANSPORT once MPI has ended. */
int wr_file_settle(weir_file *file);

/* Its name is removed: closing it need not store anything, nor fail because it cannot. */
void wr_file_note_removed(weir_file *file);

/* What rooms above need to know of a file. A file is not alive once MPI has ended. */
bool wr_file_is_alive(const weir_file *file);
const wr_transport *wr_file_ranks(const weir_file *file);
const wr_tunables *wr_file_tunables(const weir_file *file);
wr_storage *wr_file_storage(const weir_file *file);
int64_t wr_file_identity(const weir_file *file);    /* facts.identity of rank 0's storage */
int64_t wr_file_aggregators(const weir_file *file); /* how many a collective write would have */

/* [collective] What the ranks that have a file open settle besides accesses, as the calls on a
 * channel (runtime/channel.h): an error is everybody's; values are combined; rank 0's bytes reach
 * all. */
int wr_file_agree(weir_file *file, int code);
int wr_file_reduce(weir_file *file, enum wr_reduction reduction, int count, int64_t *values);
int wr_file_tell(weir_file *file, void *data, int64_t bytes);

/* Realms are cut at multiples of `unit` bytes from `origin` on: at slices of an array. */
void wr_file_set_unit(weir_file *file, int64_t unit, int64_t origin);

/* This rank has hints that all must agree on. It says so at the entry of its next collective
 * access; after that wr_file_take_news returns true, once, on every rank. */
void wr_file_note_news(weir_file *file);
bool wr_file_take_news(weir_file *file);

/* The error that the file ends at `stop`, where there must be data. */
int wr_file_fail_short(const weir_file *file, int64_t stop);

/* [collective] Space for the first `size` bytes is there, or WEIR_ENOSPC. */
int wr_file_preallocate(weir_file *file, int64_t size);

/* [collective] Takes other hints, as open does, but for those of storage. A rank comes with `code`
 * != 0 if it cannot. */
int wr_file_set_hints(weir_file *file, const char *hints, int code);

static inline wr_access_request wr_request_of(enum wr_direction direction,
                                              const weir_pattern *where, const weir_pattern *memory,
                                              const void *base)
{
    return (wr_access_request){
        .direction = direction, .file = where, .memory = memory, .base = (char *)base};
}

/* Whole patterns, and NULL for nothing; WEIR_EINVAL if one of two is NULL, nothing being asked for
 * then. `nothing` is the caller's. */
int wr_file_complete(wr_access_request *a, wr_run_pattern *nothing);

/* Whether the file is open for it, and patterns and memory fit together. */
int wr_file_check(const weir_file *file, const wr_access_request *a);

/* All public transfers that block: a.begin to a.end of a.file, by all ranks together or by this
 * one. A rank comes with `code` != 0 if it cannot take part. */
int wr_file_access(weir_file *file, const wr_access_request *a, bool together, int code,
                   int64_t *count);

/* The others. WR_NONBLOCKING: without waiting. WR_SPLIT: what MPI-IO's split collectives begin,
 * which may wait for other ranks. */
typedef struct wr_start {
    bool together;
    enum wr_form form;
    int code;       /* != 0: this rank cannot take part */
    wr_after after; /* only if there is a request then */
} wr_start;

/* Memory, and a stack, for the request of a rank that has none when it must take part. */
int wr_request_new_spare(weir_request **out);

/* Its memory only. NULL is fine. */
void wr_request_free(weir_request *request);

int wr_file_start(weir_file *file, const wr_access_request *a, const wr_start *how,
                  weir_request **out);

/* Whether a write that returned `code` may have left something half written; what was refused has
 * changed nothing. */
static inline bool wr_write_spoils(int code)
{
    return code && code != WEIR_EINVAL && code != WEIR_EDISAGREE;
}

/* Waits for all that was started, which stays to be waited for by its owners. */
void wr_file_rest(weir_file *file);

/* The same; whether some of this rank's writing has failed. */
bool wr_file_has_failed(weir_file *file);

/* Waits for all requests, which stay their owners'. `ended`: MPI has, so they cannot go on. */
void wr_file_finish(weir_file *file, bool ended);

#endif
