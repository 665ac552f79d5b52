/* Work on an open file that may outlive the call that starts it: what all of it has in common,
 * whoever runs it. Operations of all ranks together run in the order they were started; those of
 * one rank run whenever they can. */
#ifndef WR_RUNTIME_OPERATION_H
#define WR_RUNTIME_OPERATION_H

#include "runtime/world.h"

/* The operations of one open file. */
typedef struct wr_operations {
    wr_queue together, alone; /* those that run, and those that wait */
    uint32_t started;         /* of all ranks, so far, */
    wr_word ended;            /* and those that are over */
} wr_operations;

/* How far an operation is. */
enum wr_stage {
    WR_STARTED,
    WR_STORED, /* only the storage keeps it: the caller of a split call may go */
    WR_OVER
};

typedef struct wr_operation {
    wr_world *world;
    wr_operations *all; /* of its file */
    /* Does it and returns how it went. op->code says why this rank cannot take part, or 0. */
    int (*run)(struct wr_operation *op);
    bool together;
    int code; /* at first as `run` has it; in the end how it went, with */
    weir_error error;
    wr_task *own; /* for its job if there is no memory for another; NULL once it is started */
    wr_job job;
    wr_word stage;
} wr_operation;

void wr_operations_init(wr_operations *all);

/* Starts it without waiting for anybody; `at_once`: whatever else is under way on the file.
 * WEIR_ENOMEM: it is not started. */
int wr_operation_start(wr_operation *op, enum wr_mover by, bool at_once);

/* From within: only the storage keeps it now. And waits for that, or for its end. */
void wr_operation_stored(wr_operation *op);
void wr_operation_wait_stored(wr_operation *op);

/* Once it is over its memory is the owner's again. */
bool wr_operation_is_over(wr_operation *op);
void wr_operation_wait(wr_operation *op);

/* Waits for all operations of all ranks that were started on the file. */
void wr_operations_settle(wr_operations *all, wr_world *world);

static inline bool wr_operations_settled(const wr_operations *all)
{
    return wr_word_get(&all->ended) == all->started;
}

#endif
