/* What a process did with files, in tables of constant size: when its time went where, which bytes
 * of which file moved when, and which kinds of calls took what. Written as a file of text
 * (docs/trace-format.md), now and then and at the end.
 *
 * Time is cut into bins, and a file's offsets into rows. Where these run out their width doubles
 * and neighbours are added up, so that sums stay exact and nothing grows. What has no entry of its
 * own any more is in the entry `other`, the last of its table.
 *
 * Threads share a profile; nothing here can fail the work that it is about. */
#ifndef WR_BASE_PROFILE_H
#define WR_BASE_PROFILE_H

#include <stdbool.h>

#include "base/arith.h"
#include "base/log.h"
#include "base/tally.h"
#include "base/tunables.h"

enum {
    WR_BINS = 256,
    WR_ROWS = 64,
    WR_PROFILED_FILES = 32,
    WR_CLASSES = 256,
    WR_PLANS = 16,
    WR_PLAN_TEXT = 4096,
    WR_PARTNERS = 64,
    WR_NOBODY = -1, /* it is not known for whom one waits */
};

/* Where the time of a call goes. */
enum wr_phase {
    WR_EXCHANGING, /* copies, messages, and what is neither of the next */
    WR_ACCESSING,  /* the file */
    WR_WAITING,    /* for other ranks, or for work in the background */
    WR_PHASES
};

typedef struct wr_profile wr_profile;

/* Who writes it, and where to. Texts are borrowed while it is given. */
typedef struct wr_identity {
    uint64_t job; /* the same on all its ranks */
    int rank, size, node;
    const char *folder, *version;
    wr_log log;
} wr_identity;

/* About 160 KiB, and 256 KiB of address space for each of its files. NULL: there is no memory. */
wr_profile *wr_profile_new(const wr_identity *who);

/* It is another job, or rank of it, than it seemed: what was written under that name goes. Folder,
 * version and log stay. */
void wr_profile_rename(wr_profile *p, const wr_identity *who);

void wr_profile_free(wr_profile *p);

/* Writes it, unless that is not possible, which the log says once. Not by a child of the process
 * that made it. */
void wr_profile_save(wr_profile *p, bool complete);

/* The number of a file's entry. */
int wr_profile_file(wr_profile *p, const char *name);

/* --- which bytes move: by whoever has the storage --- */

/* So many bytes, in so many runs, somewhere in [lo, hi). */
typedef struct wr_watched {
    enum wr_direction direction;
    int64_t lo, hi, bytes, runs;
} wr_watched;

/* What an open file is counted by. The owner sets the first four. */
typedef struct wr_watch {
    wr_tally *tally;
    wr_profile *profile; /* or NULL */
    bool timed;          /* calls are, for the tally or the profile */
    int file;            /* its entry in the profile */
    wr_watched moved;    /* what the profile has not been told yet */
} wr_watch;

void wr_watch_note(wr_watch *w, enum wr_direction direction, wr_span where, int64_t bytes,
                   int64_t runs);
void wr_watch_tell(wr_watch *w, int64_t now);

/* So many bytes, in so many runs, have moved. */
static inline void wr_watch_moved(wr_watch *w, enum wr_direction direction, wr_span where,
                                  int64_t bytes, int64_t runs)
{
    wr_tally_add(&w->tally->moved[direction], bytes);
    if (w->profile)
        wr_watch_note(w, direction, where, bytes, runs);
}

/* --- time --- */

/* Adds a time that passed in a phase; in the background, of no phase. */
void wr_profile_time(wr_profile *p, enum wr_phase phase, wr_span when);
void wr_profile_behind(wr_profile *p, wr_span when);

/* What a thread has gathered in a call, so that it takes the lock once. */
typedef struct wr_gathered {
    int64_t phase[WR_PHASES]; /* time that passed, */
    int64_t at;               /* in the bin of this moment */
    int file;
    wr_watched moved; /* in that file, */
    int64_t moved_at;
    int whom; /* a rank of MPI_COMM_WORLD that was waited for, */
    int64_t waited, waited_nobody;
} wr_gathered;

void wr_profile_add(wr_profile *p, const wr_gathered *g);

/* The end of the bin that holds this moment, as far as is known now. */
int64_t wr_profile_bin_end(wr_profile *p, int64_t ns);

/* --- calls --- */

/* What a call has none of: the one name by that text, because names are compared by address. */
extern const char wr_no_name[];

/* What calls of one class have in common; of run and stride only the order of magnitude. */
typedef struct wr_call_kind {
    int file;
    enum wr_direction direction;
    bool together;
    int form;                   /* 0: blocking, 1: split, 2: nonblocking */
    const char *exchange, *way; /* names that stay */
    int64_t aggregators, window;
    int64_t run, stride;
    int64_t rounds; /* of this call */
} wr_call_kind;

/* The number of its class; without a lock, mostly. `cost` is what this call has taken so far;
 * *wants_plan, if that is not NULL: the class is among the most expensive ones, and its plan is not
 * known. */
int wr_profile_class(wr_profile *p, const wr_call_kind *kind, int64_t cost, bool *wants_plan);
void wr_profile_set_plan(wr_profile *p, int number, const char *text);

typedef struct wr_spent {
    int64_t ns;
    int64_t phase[WR_PHASES];
} wr_spent;

/* A call that is over. */
typedef struct wr_finished {
    int class, file;
    int64_t wanted;
    bool failed;
    wr_spent spent;
} wr_finished;

/* What its file has moved since the latest call on it, with what was gathered meanwhile (or NULL),
 * counts as moved by this one. */
void wr_profile_call(wr_profile *p, const wr_finished *f, const wr_gathered *g);

/* Writes it if that was not done for a while; after a call, by the thread that made it. */
void wr_profile_save_now_and_then(wr_profile *p, int64_t now);

/* The same after a file is closed: sooner, and after the first at once. */
void wr_profile_save_closed(wr_profile *p);

#endif
