/* An access of a file under way: the same for split, nonblocking and blocking calls, whether one
 * rank makes it or all do. Who moves it along is each rank's own affair; the others cannot tell. */
#ifndef WR_EXCHANGE_GROUP_ACCESS_H
#define WR_EXCHANGE_GROUP_ACCESS_H

#include "exchange/group.h"

/* The owner sets group, a, form, and of the operation together, code and error. */
typedef struct wr_group_access {
    wr_operation op; /* first: the operation is run as this */
    wr_group *group;
    wr_access_request a; /* its patterns are its own */
    enum wr_form form;
    wr_moving moving; /* what decides who moves it; set when it is started */
    int64_t count;    /* bytes known to be moved */
    int class;        /* of the profile, from 1, once it is over; 0: not known */
} wr_group_access;

/* Starts it without waiting for anybody. WEIR_ENOMEM: it is not started. */
int wr_group_access_start(wr_group_access *access);

/* For split calls: returns when the caller may go. */
void wr_group_access_wait_begun(wr_group_access *access);

#endif
