/* Transfers cut into pieces for several storages: what joined and striped have in common.
 *
 * The pieces are parts of an attempt (parts.h), each a transfer of one of the storages; so those of
 * different storages run together. An interrupted piece is repeated by its storage, not with all
 * others; where one stops short the attempt has come no further. */
#ifndef WR_STORAGE_SPREAD_H
#define WR_STORAGE_SPREAD_H

#include "storage/parts.h"

/* So many pieces are under way at a time. */
enum { WR_SPREAD = 64 };

typedef struct wr_spread_piece {
    wr_transfer inner;
    wr_part part;
    wr_storage *storage; /* NULL: free */
    void *owner;         /* the backend's */
    int64_t number;      /* of all pieces */
} wr_spread_piece;

typedef struct wr_spread {
    /* Cuts the piece that starts at part.at off part.transfer: sets part.bytes, inner and storage.
     * Without a storage the piece is over at once, with the errno returned. */
    int (*begin)(wr_storage *s, wr_spread_piece *x);
    /* The storage has come as far as inner says. */
    void (*end)(wr_storage *s, wr_spread_piece *x);
    wr_attempts attempts;
    int64_t pieces; /* started so far */
    int used;
    wr_spread_piece piece[WR_SPREAD];
} wr_spread;

/* For begin: the piece is what of the transfer, from part.at on, is whole runs within [lo, hi) of
 * the file, or what there is of one run. inner.offset is still that in the whole. */
void wr_spread_cut(wr_spread_piece *x, int64_t lo, int64_t hi);

/* A backend's submit and reap. */
void wr_spread_submit(wr_storage *s, wr_spread *p, wr_transfer *t);
wr_transfer *wr_spread_reap(wr_storage *s, wr_spread *p, bool wait);

#endif
