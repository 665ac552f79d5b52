/* Windows between memory and file, in the background.
 *
 * Each open file has a clerk, an errand of the progress thread, that keeps a few windows with the
 * storage at a time: so the storage is not idle while the thread, which shares its core with those
 * who compute, comes to run. The clerk is hired when the first window comes and leaves when the
 * file is closed. */
#ifndef WR_ENGINE_PASSAGE_H
#define WR_ENGINE_PASSAGE_H

#include "engine/progress.h"
#include "plan/cover.h"
#include "storage/storage.h"

struct wr_port;

enum { WR_PASSAGE_TRANSFERS = 4 }; /* with more of them a window goes by itself */

typedef struct wr_passage {
    enum wr_direction direction;
    const weir_pattern *cover; /* borrowed until it is over, as is the next */
    char *buffer;
    wr_word *bell;           /* rung when it is over */
    const wr_window *locked; /* unlocked when it is over, or NULL */
    bool scattered;          /* as wr_port_unlock_window has it */
    /* how it went, as wr_port_move says */
    int code;
    weir_error error;
    int64_t valid;
    /* the clerk's */
    wr_word over;
    struct wr_passage *next;
    int used, pending; /* transfers, and those that have not come back */
    wr_transfer transfers[WR_PASSAGE_TRANSFERS];
} wr_passage;

typedef struct wr_clerk {
    wr_errand errand;
    bool hired;
    wr_word call;         /* changes when there is something to do */
    pthread_mutex_t lock; /* of what follows */
    wr_passage *first, *last;
    bool dismissed;
} wr_clerk;

/* WEIR_ENOMEM: it cannot be done in the background. */
int wr_passage_start(struct wr_port *port, wr_passage *p);

/* Once it is, its memory is the owner's again. */
bool wr_passage_is_over(struct wr_port *port, wr_passage *p);

/* One of its transfers has come back; with the storage held. */
static inline void wr_passage_note(const wr_transfer *t)
{
    wr_passage *p = t->user;
    if (p)
        p->pending--;
}

/* When nothing is under way any more. */
void wr_clerk_dismiss(struct wr_port *port);

#endif
