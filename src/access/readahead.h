/* Telling the system in time what of a file an access is going to read. The device then works on
 * many pieces at once, which a rank that reads one after the other never asks for by itself. */
#ifndef WR_ACCESS_READAHEAD_H
#define WR_ACCESS_READAHEAD_H

#include "access/handle.h"

/* Pieces that are closer than this are read together: what lies between costs less than a call. */
enum { WR_NEAR = 16 << 10 };

typedef struct wr_readahead {
    const wr_storage *storage;
    wr_cursor cursor;
    int64_t told; /* bytes of the file told of so far, gaps included */
    int64_t used; /* of these, how many are read by now */
} wr_readahead;

/* Whether some of what an access touches is on the device only, by sample. */
bool wr_readahead_is_cold(wr_handle *handle, const wr_access_request *a);

/* For one that is cold; zeroed there is nothing to do. */
void wr_readahead_init(wr_readahead *ahead, const wr_handle *handle, const wr_access_request *a);

/* `bytes` more of the file have been read: tells of as many more. */
void wr_readahead_move(wr_readahead *ahead, int64_t bytes);

/* Cuts a batch to what is handled at a time: at most 1 MiB of near pieces, or a number of far ones;
 * `together`: to one stretch. */
void wr_batch_cut(wr_batch *b, bool together);

/* Calls `visit` for every stretch of a batch, pieces that are near taken together, until it returns
 * false; returns whether it never did. */
bool wr_batch_stretches(const wr_batch *b, bool (*visit)(void *user, int64_t lo, int64_t hi),
                        void *user);

/* The bytes of the file that these stretches have. */
int64_t wr_batch_span(const wr_batch *b);

#endif
