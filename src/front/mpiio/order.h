/* A transfer as an MPI function asks for it, and how it becomes an access: the same for functions
 * that block, that are split, and that leave a request. */
#ifndef WR_MPIIO_ORDER_H
#define WR_MPIIO_ORDER_H

#include "front/mpiio/mpi_file.h"
#include "front/mpiio/staging.h"

enum wr_pointer_kind {
    WR_EXPLICIT, /* none: the offset is given */
    WR_INDIVIDUAL,
    WR_SHARED,
    WR_ORDERED /* the shared one, in the order of ranks */
};

typedef struct wr_order {
    bool write, together;
    enum wr_pointer_kind pointer;
    MPI_Offset offset; /* in etypes */
    char *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
} wr_order;

/* An order made ready: its access, which may be empty. */
typedef struct wr_ready {
    wr_access_request a; /* without its memory, where there is a staging */
    wr_run_pattern run, nothing;
    wr_staging *staged;   /* or NULL */
    weir_pattern *memory; /* or NULL: goes back to the file, with what it is the pattern of */
    wr_hash memory_of;
    int64_t memory_count, memory_extent;
} wr_ready;

/* Checks the order and moves pointers; [collective] with WR_ORDERED. Also with an error there is an
 * access, which is empty, to take part with. */
int wr_order_prepare(wr_mpi_file *mf, const wr_order *o, wr_ready *out);

/* The access, when it has been prepared with that code, may be started: what is written is staged.
 * `after` is then what ends it; who starts it takes `detour` out of the struct. */
int wr_ready_stage(wr_ready *ready, int code, wr_after *after);

/* The access is over, or has copies of its patterns. */
void wr_ready_release(wr_mpi_file *mf, wr_ready *ready);

/* `bytes` were moved. MPI_STATUS_IGNORE is fine. */
void wr_status_set(MPI_Status *status, int64_t bytes);

typedef void *wr_into;
typedef const void *wr_from;

/* One MPI function of the file: `list` are its parameters, `run` is what it returns, given
 * `order`. The count may be an int or an MPI_Count. */
#define WR_TRANSFER(name, list, is_write, all, kind, at, run)                                      \
    WR_EXPORT int PMPI_File_##name list                                                            \
    {                                                                                              \
        const wr_order order = {(is_write), (all), (kind), (at), (char *)buffer, count, datatype}; \
        return run;                                                                                \
    }                                                                                              \
    WR_BOTH_NAMES(File_##name)

#endif
