/* Tokens: what an MPI_Request of ours stands for.
 *
 * The handle is a generalised request of the MPI library, so that it is a request like any other;
 * MPI never hears that it is complete before it is to be freed. All functions that wait, test, free
 * or cancel are defined here (waiting.c), and find the token by the handle. */
#ifndef WR_MPIIO_TOKENS_H
#define WR_MPIIO_TOKENS_H

#include "front/mpiio/mpi_file.h"

typedef struct wr_token {
    MPI_Request handle;
    wr_mpi_file *mf; /* NULL once it is closed */
    weir_request *request;
    bool over;             /* the next two hold; the request is gone */
    int result;            /* an MPI code */
    int64_t bytes;         /* moved */
    struct wr_token *next; /* in its bucket */
    /* for who found it in an array of requests: its place there, and the one found before */
    int index;
    struct wr_token *aside;
} wr_token;

/* Tokens that are given and not taken back. */
extern _Atomic int64_t wr_tokens_alive;

/* A token with a handle; nobody finds it yet. */
int wr_token_new(wr_mpi_file *mf, wr_token **out);
void wr_token_free(wr_token *token);

/* From now on the handle is found, and stands for the request. */
void wr_token_give(wr_token *token, weir_request *request, MPI_Request *handle);

/* The token of a handle, or NULL: it is not ours. */
wr_token *wr_token_find(MPI_Request handle);

/* Takes it out of the table, and frees it; what is still under way goes on by itself. */
void wr_token_take_back(wr_token *token);

/* Whether it is over; its error is given to the file's handler when that is found out. */
bool wr_token_look(wr_token *token);
void wr_token_wait(wr_token *token);

/* A request that nobody will ask for: it is freed when it is over. */
void wr_tokens_adopt(weir_request *request);

/* The file is closed: everything on it is over. */
void wr_tokens_forget(const wr_mpi_file *mf);

#endif
