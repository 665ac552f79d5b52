/* An access under way: what split, nonblocking and blocking calls have in common, whether one rank
 * makes it or all do. Blocking is starting and waiting, with a shorter way where nothing else is
 * under way on the file.
 *
 * Who moves an operation along is each rank's own affair (the table in operation.c); the others
 * cannot tell. Collective operations on one file run in the order they were started; those of one
 * rank run whenever they can. */
#ifndef WR_EXCHANGE_OPERATION_H
#define WR_EXCHANGE_OPERATION_H

#include "exchange/group.h"

/* How far it is. */
enum wr_stage {
    WR_STARTED,
    WR_STORED, /* the rest is up to the storage: who began a split call may go */
    WR_OVER
};

typedef struct wr_operation {
    wr_job job;
    wr_task *own; /* for the job, until it is started */
    wr_group *group;
    wr_access_request a; /* its patterns are its own */
    bool together;
    enum wr_form form;
    wr_moving moving; /* what decides who moves it; set when it is started */
    wr_word stage;
    int code; /* at first: why this rank cannot take part, or 0; in the end: how it went */
    weir_error error;
    int64_t count; /* bytes known to be moved */
} wr_operation;

/* Starts what group, a, together, form and code say, without waiting for anybody. WEIR_ENOMEM: it
 * is not started. */
int wr_operation_start(wr_operation *op);

/* For split calls: returns when its caller may go. */
void wr_operation_begun(wr_operation *op);

void wr_operation_stored(wr_operation *op);

/* Its memory is the owner's again. */
bool wr_operation_is_over(wr_operation *op);
void wr_operation_wait(wr_operation *op);

/* Waits for all collective operations started on a group. */
void wr_group_settle(wr_group *group);

static inline bool wr_group_is_idle(const wr_group *group)
{
    return wr_word_get(&group->ended) == group->started;
}

#endif
