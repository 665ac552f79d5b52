/* What things cost and from where on they pay: every number that a plan compares, in one place.
 *
 * Prices of a storage are built in here for when nothing was measured (storage/costs.h learns
 * others). All are nanoseconds or bytes on a machine of today; they decide which of two ways is
 * taken, never whether the outcome is right. */
#ifndef WR_BASE_PRICE_H
#define WR_BASE_PRICE_H

#include <stdbool.h>
#include <stdint.h>

/* What a storage asks for transfers in one direction. */
typedef struct wr_price {
    int64_t call_ns; /* per call, small and in the page cache */
    int64_t mib_ns;  /* per MiB of a large transfer */
    int64_t scaling; /* percent: what two ranks together move of what one does; 200: twice */
} wr_price;

/* Where a file is, as far as prices go. */
enum wr_price_kind { WR_IN_CACHE, WR_ON_DEVICE, WR_ON_NETWORK, WR_PRICE_KINDS };

typedef struct wr_built_in {
    wr_price price[2]; /* by direction */
    int64_t reach;     /* by what factor what was learned may differ */
} wr_built_in;

extern const wr_built_in wr_built_in_prices[WR_PRICE_KINDS];

/* How many hundredths of one's rate so many have together when they write large pieces. */
int64_t wr_price_hundredths(int64_t scaling, int64_t at_once);

/* What transfers of one size and direction took. Of several ranks: the longest that one took, and
 * how much all of them moved. */
typedef struct wr_timing {
    int64_t ns, ranks;
    int64_t amount;   /* runs, or bytes of large ones */
    int64_t from, to; /* when, by the clock of a node */
} wr_timing;

enum wr_timed { WR_TIMED_RUNS, WR_TIMED_BYTES, WR_TIMED };

/* By direction, and by what is timed. */
typedef struct wr_timings {
    wr_timing of[2][WR_TIMED];
} wr_timings;

void wr_timings_add(wr_timings *all, const wr_timings *more);

/* Of ranks of a node that were at it all at the same time: from the first start to the last end,
 * shared out among what was timed. */
void wr_timings_span(wr_timings *all);

/* What the collective calls of a file have taken. All its ranks have learned the same. */
typedef struct wr_learned {
    struct wr_learned_price {
        int64_t call_ns, mib_ns;
    } price[2], latest[2]; /* by direction; 0: as it was before; latest: by the call that told */
    int silent[2];  /* calls since then that moved something and told nothing of small runs */
    int quiet;      /* of these that wrote, since one doubted what is known; */
    int doubted;    /* how many have, since one told without that; */
    bool doubts;    /* this one does */
    bool keeps;     /* aggregators may keep something by write-behind; */
    int64_t saved;  /* what that would have saved, nanoseconds, */
    int64_t lo, hi; /* and what the latest call that wrote lay in */
} wr_learned;

/* A way that is never taken is never timed: how many hundredths of a small run's price a call that
 * writes counts on. Where nothing is known the 8 after the first that told nothing count on less;
 * later, or where something is, one does after 16 of them, the next after 32 and so on, up to 256.
 */
int64_t wr_prices_trust(const wr_learned *learned, int64_t runs, int64_t bytes);

/* After a call that took so long, with `known` prices: what two calls in a row say, or less, counts
 * if it differs by more than a quarter. `at_once`: how many ranks can work at a time; `moved`: in
 * which direction it moved something, -1: it did not. */
void wr_prices_learn(wr_learned *learned, const wr_price known[2], const wr_timings *took,
                     int64_t at_once, int moved);

/* What the network between two nodes asks for. */
typedef struct wr_link {
    int64_t mib_ns, message_ns;
} wr_link;

/* Of a MiB, at so many MB/s. */
static inline int64_t wr_link_mib_ns(int64_t mb_per_s)
{
    return (INT64_C(1000) << 20) / mb_per_s;
}

/* Of a processor and of ranks. */
enum { WR_TRUSTED = 100, WR_GUESSED = 60, WR_DOUBTED = 35 };
enum {
    WR_COPY_MIB_NS = 90000,    /* copying a MiB of a window, which the processor's cache may hold */
    WR_MEMORY_MIB_NS = 150000, /* moving a MiB that no cache of the processor holds */
    WR_BACK_MIB_NS = 65000,    /* writing one back that was just read into that cache */
    WR_KEEP_MIB_NS = 1600000,  /* write-behind: copies in new memory; less is not worth it, */
    WR_KEEP_NS = 1000000,      /* nor is it for less than this in all */
    WR_SPREAD_MIB_NS = 40000,  /* more, where memory is all over the place and not one window */
    WR_SLOW_MIB_NS = 600000,   /* a storage that takes longer for a MiB is no page cache */
    WR_PIECE_NS = 2,           /* a small piece that is copied from a page of the file, */
    WR_FAR_PIECE_NS = 30,      /* and more, if that is another page than before */
    WR_MEETING_NS = 1500,      /* a rank's share of a round */
    WR_MESSAGE_NS = 2000,      /* sending or receiving one, whatever its length */
    WR_LINK_NS = 20000,        /* until it is there, if it comes from another node, */
    WR_LINK_MIB_NS = 500000,   /* and a MiB of it: a network of 2 GB/s, if none was measured */
    WR_AGGREGATOR_NS = 25000,  /* less work than this is not worth an aggregator, */
    WR_THREAD_NS = 100000      /* nor this calling a thread for the storage */
};

/* Sizes from which, or up to which, something pays. */
enum {
    WR_BRIEF_BYTES = 32 << 10, /* up to here an access takes less than a thread to be called */
    WR_LEASE_BYTES = 64 << 10, /* and is written by a lease: others wait for whoever has it */
    WR_SMALL_RUN = 4 << 10,    /* up to here runs tell what a call takes, */
    WR_SMALL_RUNS = 8,         /* from so many on */
    WR_LOOK_BYTES = 64 << 10,  /* below this, and below so many runs, looking where data are */
    WR_LOOK_RUNS = 16,         /* costs more than it can bring */
    WR_MAPPED_RUN = 256 << 10, /* longer runs are read by the system as fast as by us, if cold or
                                       by several ranks */
    WR_STORED_RUN = 16 << 10,  /* longer runs are written by the system as fast as stored */
    WR_CELL_BYTES = 64 << 20,  /* between parties: larger windows are cut */
    WR_SMALLEST_WINDOW = 64 << 10,  /* that windows are cut to where memory is short */
    WR_DESCRIBED_BYTES = 256 << 10, /* of all ranks' descriptions together: telling them to every
                                       node takes a few hundred microseconds of a slow network, as
                                       long as asking aggregators does */
    WR_BACKGROUND_PIECE = 4 << 20,  /* in the background: most in one run, which the storage copies
                                       at once where it can, as waking its threads would disturb
                                       those who compute more; */
    WR_BACKGROUND_BITE = 16 << 20   /* and most before others get a turn: ranks that copy into one
                                       file all at once spin on its lock */
};

#endif
