/* Where to cut what ranks want so that each realm has as much of it as the others.
 *
 * No rank knows what the others want, but each can tell in no time how much of its own data lies
 * below an offset. So cuts are closed in on: in a round there are offsets to ask all ranks about,
 * and the sums of their answers say between which of them each cut lies. A few rounds are enough
 * for realms that differ by a few percent. Pure: who asks the ranks, and how, is the caller's. */
#ifndef WR_PLAN_BALANCE_H
#define WR_PLAN_BALANCE_H

#include "plan/cover.h"

typedef struct wr_balance {
    int64_t cuts;  /* realms, or WR_CUTS where there are more: those have equal parts of these */
    int64_t bytes; /* of all ranks */
    int rounds;    /* so far */
    /* cut i lies in [lo, hi], below which there are so many bytes */
    int64_t lo[WR_CUTS], hi[WR_CUTS], below_lo[WR_CUTS], below_hi[WR_CUTS];
} wr_balance;

/* For what `in` says is wanted. */
void wr_balance_init(wr_balance *b, const wr_plan_input *in);

/* Sets `at` to ascending offsets to ask about, and returns how many; 0: the cuts are found. */
int wr_balance_ask(const wr_balance *b, int64_t at[WR_CUTS]);

/* What all ranks together have below each of them. */
void wr_balance_hear(wr_balance *b, int count, const int64_t *at, const int64_t *below);

/* Sets `cut`, which the input borrows from then on. */
void wr_balance_settle(const wr_balance *b, wr_plan_input *in, int64_t cut[WR_CUTS]);

/* How much of the data [begin, end) of a pattern lies below each of some offsets, added to sums. */
void wr_balance_count(const wr_want *want, int count, const int64_t *at, int64_t *sums);

/* All of this where one process knows what all ranks want. */
void wr_balance_wants(wr_plan_input *in, int64_t count, const wr_want *wants, int64_t cut[WR_CUTS]);

#endif
