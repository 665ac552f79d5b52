/* Write-behind: what an aggregator keeps of collective writes instead of writing it, so that many
 * small ones become a few large ones. Realms persist in this mode: whoever keeps a byte is the only
 * one who reads or writes it in collective calls.
 *
 * Bytes are kept in chunks of the file, each a stretch of addresses of which only touched pages
 * take memory, with a bit for each byte that is to be written: what nobody wrote is never written,
 * nor read first. A flush writes them in file order, in transfers as long as chunks. What cannot be
 * written stays and is tried again by the next flush; only closing the file, which returns the
 * error, drops it.
 *
 * Invariants
 *   W1  a byte is kept as the latest collective write left it
 *   W2  memory for what is kept never exceeds the budget
 *   W3  what is kept and not in the file was reported by an error before it is dropped */
#ifndef WR_ACCESS_WRITE_BEHIND_H
#define WR_ACCESS_WRITE_BEHIND_H

#include "base/memory.h"
#include "pattern/pattern.h"

struct wr_handle;

/* A zeroed one is empty. All of it is used with the handle's `moving` held. */
typedef struct wr_write_behind {
    wr_budget budget;
    int64_t page;            /* bytes of one */
    _Atomic int64_t count;   /* of chunks; may be read by who does not hold the storage */
    int64_t room;            /* for so many of them, */
    struct wr_chunk **chunk; /* ascending */
    int64_t busy_lo,
        busy_hi; /* what others held when put returned WR_BUSY: for the caller of put */
} wr_write_behind;

void wr_write_behind_init(wr_write_behind *behind, int64_t limit);

/* Whatever is kept is lost. */
void wr_write_behind_release(wr_write_behind *behind);

/* Keeps a cover, whose bytes lie at their data positions in `buffer`, from data position *done on,
 * which moves along. A full budget is flushed; what there is no memory for is written at once.
 * Returns 0, or WR_BUSY: somebody holds a range, and the call is to be made again; or a negative
 * code. */
int wr_write_behind_put(struct wr_handle *handle, const weir_pattern *cover, char *buffer,
                        int64_t *done);

/* Writes all that is kept when it is called; waits for ranges that others hold, but once one was
 * waited for in vain, those that are held are left. */
int wr_write_behind_flush(struct wr_handle *handle);

/* The same for the end of a program, when nobody can be waited for. */
int wr_write_behind_flush_last(struct wr_handle *handle);

#endif
