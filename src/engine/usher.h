/* Lets small writes of a rank alone go without a lock each.
 *
 * A pass (storage/lock.h) keeps everybody from reading, modifying and writing the file, so it must
 * not stay with somebody who computes. The usher is an errand of the progress thread that gives
 * back what is too old; hired by the first write that could use a pass, it leaves when the file is
 * closed. Where there is no thread, there are no passes.
 *
 * Invariant
 *   K4  who has a pass waits for nothing, and gives it back without its program's help */
#ifndef WR_ENGINE_USHER_H
#define WR_ENGINE_USHER_H

#include "engine/progress.h"

struct wr_port;

enum wr_usher_state { WR_USHER_UNKNOWN, WR_USHER_HIRED, WR_USHER_NONE };

typedef struct wr_usher {
    wr_errand errand;
    _Atomic int state;    /* enum wr_usher_state */
    pthread_mutex_t lock; /* of hiring */
    wr_word call;         /* changes when there is a fresh pass, */
    wr_word dismissed;    /* and when the file is closed */
} wr_usher;

/* Whether so many bytes may be written without a lock; then wr_pass_give comes after them. */
bool wr_usher_admit(struct wr_port *port, int64_t bytes);

/* When nobody writes any more. */
void wr_usher_dismiss(struct wr_port *port);

#endif
