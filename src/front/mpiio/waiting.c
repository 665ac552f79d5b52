/* The functions of MPI that take requests: ours are dealt with here, others are passed on.
 *
 * While none of ours is alive everything is passed on at once. Otherwise other requests are waited
 * for in the MPI library as long as a thread moves our operations; where only callers do, by
 * looking again and again, and moving them in between. To the MPI library our requests are not
 * complete, so it can be asked about arrays that contain them. */
#include <dlfcn.h>
#include <stdatomic.h>

#include "front/mpiio/order.h"
#include "front/mpiio/tokens.h"
#include "weir/weir.h"
#include "weir_mpi.h"

/* The MPI library's own. */
#define THEIRS(name) (*theirs()->name)

typedef struct functions {
    __typeof__(PMPI_Wait) *Wait;
    __typeof__(PMPI_Test) *Test;
    __typeof__(PMPI_Waitall) *Waitall;
    __typeof__(PMPI_Testall) *Testall;
    __typeof__(PMPI_Waitany) *Waitany;
    __typeof__(PMPI_Testany) *Testany;
    __typeof__(PMPI_Waitsome) *Waitsome;
    __typeof__(PMPI_Testsome) *Testsome;
    __typeof__(PMPI_Request_get_status) *Request_get_status;
    __typeof__(PMPI_Request_free) *Request_free;
    __typeof__(PMPI_Cancel) *Cancel;
} functions;

static functions found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_theirs(void)
{
#define FIND(name) *(void **)(void *)&found.name = dlsym(RTLD_NEXT, "PMPI_" #name)
    FIND(Wait);
    FIND(Test);
    FIND(Waitall);
    FIND(Testall);
    FIND(Waitany);
    FIND(Testany);
    FIND(Waitsome);
    FIND(Testsome);
    FIND(Request_get_status);
    FIND(Request_free);
    FIND(Cancel);
}

static const functions *theirs(void)
{
    pthread_once(&once, find_theirs);
    return &found;
}

/* Ours, or NULL, also where there are none at all. */
static wr_token *ours(MPI_Request handle)
{
    /* relaxed is enough: a caller got its handle from a call that had counted it by then */
    if (!atomic_load_explicit(&wr_tokens_alive, memory_order_relaxed))
        return NULL;
    return wr_token_find(handle);
}

static bool any_alive(void)
{
    return atomic_load_explicit(&wr_tokens_alive, memory_order_relaxed) != 0;
}

/* Its result becomes the caller's, who has it no more. */
static int hand_over(wr_token *t, MPI_Request *request, MPI_Status *status)
{
    int result = t->result;
    wr_status_set(status, t->bytes);
    wr_token_take_back(t);
    *request = MPI_REQUEST_NULL;
    return result;
}

/* Between two looks. */
static void rest(int *tries)
{
    weir_progress_poll();
    wr_backoff(tries);
}

WR_EXPORT int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    wr_token *t = ours(*request);
    if (t) {
        wr_token_wait(t);
        return hand_over(t, request, status);
    }
    int flag = 0, result = MPI_SUCCESS;
    for (int tries = 0; any_alive() && wr_worlds_need_callers(); rest(&tries)) {
        result = THEIRS(Test)(request, &flag, status);
        if (flag || result != MPI_SUCCESS)
            return result;
    }
    return THEIRS(Wait)(request, status);
}
WR_BOTH_NAMES(Wait)

WR_EXPORT int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    wr_token *t = ours(*request);
    if (!t) {
        if (any_alive())
            weir_progress_poll();
        return THEIRS(Test)(request, flag, status);
    }
    *flag = wr_token_look(t);
    return *flag ? hand_over(t, request, status) : MPI_SUCCESS;
}
WR_BOTH_NAMES(Test)

WR_EXPORT int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    wr_token *t = ours(request);
    if (!t) {
        if (any_alive())
            weir_progress_poll();
        return THEIRS(Request_get_status)(request, flag, status);
    }
    *flag = wr_token_look(t);
    if (*flag)
        wr_status_set(status, t->bytes);
    return MPI_SUCCESS;
}
WR_BOTH_NAMES(Request_get_status)

WR_EXPORT int PMPI_Request_free(MPI_Request *request)
{
    wr_token *t = ours(*request);
    if (!t)
        return THEIRS(Request_free)(request);
    wr_token_look(t);
    wr_token_take_back(t);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
WR_BOTH_NAMES(Request_free)

/* An access that has begun is not undone: it completes, and says that it was not cancelled. */
WR_EXPORT int PMPI_Cancel(MPI_Request *request)
{
    return ours(*request) ? MPI_SUCCESS : THEIRS(Cancel)(request);
}
WR_BOTH_NAMES(Cancel)

/* --- arrays --- */

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

/* Our requests in an array, last first; their places are MPI_REQUEST_NULL until put_back. */
static wr_token *set_aside(int count, MPI_Request *requests)
{
    wr_token *list = NULL;
    for (int i = 0; i < count; i++) {
        wr_token *t = wr_token_find(requests[i]);
        if (!t)
            continue;
        t->index = i;
        t->aside = list;
        list = t;
        requests[i] = MPI_REQUEST_NULL;
    }
    return list;
}

static void put_back(const wr_token *list, MPI_Request *requests)
{
    for (; list; list = list->aside)
        requests[list->index] = list->handle;
}

/* The errors of `count` statuses that MPI has filled in, if it has not set them. */
static void clear_errors(int count, MPI_Status *statuses)
{
    for (int i = 0; statuses != MPI_STATUSES_IGNORE && i < count; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
}

/* All of a list are over, and all others with `result`: what the whole comes to. */
static int hand_over_all(wr_token *list, int count, MPI_Status *statuses, int result)
{
    bool failed = false;
    for (const wr_token *t = list; t; t = t->aside)
        failed = failed || t->result != MPI_SUCCESS;
    if (failed && result == MPI_SUCCESS) {
        clear_errors(count, statuses);
        result = MPI_ERR_IN_STATUS;
    }
    for (wr_token *t = list, *next; t; t = next) {
        MPI_Status *status = status_at(statuses, t->index);
        MPI_Request unused;
        next = t->aside;
        int own = hand_over(t, &unused, status);
        if (status != MPI_STATUS_IGNORE && result == MPI_ERR_IN_STATUS)
            status->MPI_ERROR = own;
    }
    return result;
}

WR_EXPORT int PMPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    if (!any_alive())
        return THEIRS(Waitall)(count, requests, statuses);
    wr_token *list = set_aside(count, requests);
    for (wr_token *t = list; t; t = t->aside)
        wr_token_wait(t);
    int flag = 0, result = MPI_SUCCESS;
    for (int tries = 0; !flag && wr_worlds_need_callers(); rest(&tries)) {
        result = THEIRS(Testall)(count, requests, &flag, statuses);
        if (result != MPI_SUCCESS)
            break;
    }
    if (!flag && result == MPI_SUCCESS)
        result = THEIRS(Waitall)(count, requests, statuses);
    return hand_over_all(list, count, statuses, result);
}
WR_BOTH_NAMES(Waitall)

WR_EXPORT int PMPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    if (!any_alive())
        return THEIRS(Testall)(count, requests, flag, statuses);
    bool over = true;
    weir_progress_poll();
    wr_token *list = set_aside(count, requests);
    for (wr_token *t = list; t; t = t->aside)
        over = wr_token_look(t) && over;
    *flag = 0;
    int result = MPI_SUCCESS;
    if (over)
        result = THEIRS(Testall)(count, requests, flag, statuses);
    if (*flag)
        return hand_over_all(list, count, statuses, result);
    put_back(list, requests);
    return result;
}
WR_BOTH_NAMES(Testall)

/* The first of ours that is over; *active: there are some. */
static wr_token *find_over(int count, const MPI_Request *requests, int *index, bool *active)
{
    *active = false;
    for (int i = 0; i < count; i++) {
        wr_token *t = wr_token_find(requests[i]);
        *active = *active || t;
        if (t && wr_token_look(t)) {
            *index = i;
            return t;
        }
    }
    return NULL;
}

WR_EXPORT int PMPI_Testany(int count, MPI_Request *requests, int *index, int *flag,
                           MPI_Status *status)
{
    if (!any_alive())
        return THEIRS(Testany)(count, requests, index, flag, status);
    bool active;
    weir_progress_poll();
    wr_token *t = find_over(count, requests, index, &active);
    *flag = t != NULL;
    return t ? hand_over(t, &requests[*index], status)
             : THEIRS(Testany)(count, requests, index, flag, status);
}
WR_BOTH_NAMES(Testany)

WR_EXPORT int PMPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    bool active = true;
    for (int tries = 0; any_alive(); rest(&tries)) {
        wr_token *t = find_over(count, requests, index, &active);
        if (t)
            return hand_over(t, &requests[*index], status);
        if (!active && !wr_worlds_need_callers())
            break;
        int flag = 0;
        int result = THEIRS(Testany)(count, requests, index, &flag, status);
        if (flag || result != MPI_SUCCESS)
            return result;
    }
    return THEIRS(Waitany)(count, requests, index, status);
}
WR_BOTH_NAMES(Waitany)

/* Adds ours to those that MPI has found over. */
static int add_over(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses,
                    int result)
{
    for (int i = 0; i < count; i++) {
        wr_token *t = wr_token_find(requests[i]);
        if (!t || !wr_token_look(t))
            continue;
        *out = *out == MPI_UNDEFINED ? 0 : *out;
        MPI_Status *status = status_at(statuses, *out);
        if (t->result != MPI_SUCCESS && result == MPI_SUCCESS) {
            clear_errors(*out, statuses);
            result = MPI_ERR_IN_STATUS;
        }
        int own = hand_over(t, &requests[i], status);
        if (status != MPI_STATUS_IGNORE && result == MPI_ERR_IN_STATUS)
            status->MPI_ERROR = own;
        indices[(*out)++] = i;
    }
    return result;
}

WR_EXPORT int PMPI_Testsome(int count, MPI_Request *requests, int *out, int *indices,
                            MPI_Status *statuses)
{
    int result = THEIRS(Testsome)(count, requests, out, indices, statuses);
    if (!any_alive())
        return result;
    weir_progress_poll();
    return add_over(count, requests, out, indices, statuses, result);
}
WR_BOTH_NAMES(Testsome)

WR_EXPORT int PMPI_Waitsome(int count, MPI_Request *requests, int *out, int *indices,
                            MPI_Status *statuses)
{
    for (int tries = 0; any_alive(); rest(&tries)) {
        bool active;
        int unused;
        int result = PMPI_Testsome(count, requests, out, indices, statuses);
        if (*out || result != MPI_SUCCESS)
            return result;
        find_over(count, requests, &unused, &active);
        if (!active && !wr_worlds_need_callers())
            break;
    }
    return THEIRS(Waitsome)(count, requests, out, indices, statuses);
}
WR_BOTH_NAMES(Waitsome)
