/* A hash table from MPI's handle to our request, and a list of requests that the program freed
 * before they were over. */
#include "front/mpiio/tokens.h"

#include <stdatomic.h>
#include <string.h>

enum { FIRST_BUCKETS = 64 };

_Atomic int64_t wr_tokens_alive;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wr_token *few[FIRST_BUCKETS], **buckets = few; /* by handle */
static int64_t places = FIRST_BUCKETS;                /* a power of two */

/* Given up, to be freed when they are over. */
static weir_request **adopted;
static _Atomic int64_t adopted_count;
static int64_t adopted_room;
static _Atomic int64_t adopted_reaped; /* how many were left the last time */

static int64_t place_of(MPI_Request handle)
{
    uint64_t bits = 0;
    memcpy(&bits, &handle, sizeof handle);
    bits *= UINT64_C(0x9e3779b97f4a7c15);
    return (int64_t)(bits >> 32) & (places - 1);
}

/* With the lock held. Without memory chains just get longer. */
static void grow(void)
{
    wr_token **more = wr_alloc_array(2 * places, sizeof(wr_token *));
    int64_t before = places;
    if (!more)
        return;
    memset(more, 0, (size_t)(2 * places) * sizeof(wr_token *));
    places *= 2;
    for (int64_t i = 0; i < before; i++)
        for (wr_token *t = buckets[i], *next; t; t = next) {
            wr_token **at = &more[place_of(t->handle)];
            next = t->next;
            t->next = *at;
            *at = t;
        }
    if (buckets != few)
        wr_free(buckets);
    buckets = more;
}

/* The MPI library never asks ours, but wants them. */
static int query(void *unused, MPI_Status *status)
{
    (void)unused;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    return PMPI_Status_set_cancelled(status, 0);
}

static int forget(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int keep_on(void *unused, int complete)
{
    (void)unused;
    (void)complete;
    return MPI_SUCCESS;
}

/* Frees those that are over. Looking at one may call a user's function: not with the lock held. */
static void reap(void)
{
    pthread_mutex_lock(&lock);
    weir_request **list = adopted;
    int64_t count = adopted_count;
    adopted = NULL;
    adopted_count = adopted_room = 0;
    pthread_mutex_unlock(&lock);
    for (int64_t i = 0; i < count; i++) {
        int over = 0;
        weir_request_test(&list[i], &over, NULL);
        if (!over)
            wr_tokens_adopt(list[i]);
    }
    adopted_reaped = adopted_count;
    wr_free(list);
}

int wr_token_new(wr_mpi_file *mf, wr_token **out)
{
    wr_token *t = wr_alloc(sizeof *t);
    if (!t)
        return WEIR_ENOMEM;
    *t = (wr_token){.mf = mf};
    if (PMPI_Grequest_start(query, forget, keep_on, NULL, &t->handle) != MPI_SUCCESS) {
        wr_free(t);
        return wr_misuse(MPI_ERR_OTHER, "the MPI library makes no request");
    }
    if (adopted_count > 2 * adopted_reaped) /* so that looking costs each a constant */
        reap();
    *out = t;
    return 0;
}

void wr_token_free(wr_token *t)
{
    if (!t)
        return;
    PMPI_Grequest_complete(t->handle);
    PMPI_Request_free(&t->handle);
    wr_free(t);
}

void wr_token_give(wr_token *t, weir_request *request, MPI_Request *handle)
{
    t->request = request;
    *handle = t->handle;
    pthread_mutex_lock(&lock);
    if (wr_tokens_alive >= places)
        grow();
    wr_token **at = &buckets[place_of(t->handle)];
    t->next = *at;
    *at = t;
    wr_tokens_alive++;
    pthread_mutex_unlock(&lock);
}

wr_token *wr_token_find(MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    wr_token *t = buckets[place_of(handle)];
    while (t && t->handle != handle)
        t = t->next;
    pthread_mutex_unlock(&lock);
    return t;
}

void wr_token_take_back(wr_token *t)
{
    pthread_mutex_lock(&lock);
    wr_token **at = &buckets[place_of(t->handle)];
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    wr_tokens_alive--;
    pthread_mutex_unlock(&lock);
    if (!t->over)
        wr_tokens_adopt(t->request);
    wr_token_free(t);
}

static void finish(wr_token *t, int code)
{
    t->over = true;
    t->result = wr_mpi_file_result(t->mf, code);
}

bool wr_token_look(wr_token *t)
{
    int over = t->over;
    if (over)
        return true;
    int code = weir_request_test(&t->request, &over, &t->bytes);
    if (over)
        finish(t, code);
    return over;
}

void wr_token_wait(wr_token *t)
{
    if (!t->over)
        finish(t, weir_request_wait(&t->request, &t->bytes));
}

void wr_tokens_adopt(weir_request *request)
{
    pthread_mutex_lock(&lock);
    int code = wr_grow((void **)&adopted, &adopted_room, adopted_count + 1, sizeof(weir_request *));
    if (!code)
        adopted[adopted_count++] = request; /* otherwise it is lost when it is over */
    pthread_mutex_unlock(&lock);
}

void wr_tokens_forget(const wr_mpi_file *mf)
{
    if (adopted_count)
        reap();
    pthread_mutex_lock(&lock);
    for (int64_t i = 0; wr_tokens_alive && i < places; i++)
        for (wr_token *t = buckets[i]; t; t = t->next)
            if (t->mf == mf)
                t->mf = NULL;
    pthread_mutex_unlock(&lock);
}
