/* Names that many ranks tell of, by their hashes: how many there are, and of each the largest size
 * and the bytes moved. Bounded: of names beyond 65,536 nothing is kept but that there are more. */
#ifndef WR_CLI_REPORT_TALLY_H
#define WR_CLI_REPORT_TALLY_H

#include <stdint.h>

enum { TALLY_MOST = 1 << 16 };

typedef struct tally_entry {
    uint64_t hash; /* 0: none */
    int64_t size, step, moved;
} tally_entry;

typedef struct report_tally {
    tally_entry *entry;
    int count, full; /* full: there were more */
} report_tally;

int report_tally_init(report_tally *t); /* 0, or -1: there is no memory; 6 MiB */
void report_tally_release(report_tally *t);

uint64_t report_hash(const char *name); /* never 0 */

/* The entry of that name, new if need be; NULL if there is no room. */
tally_entry *report_tally_get(report_tally *t, uint64_t hash);

/* The entries that moved most come first, at most `most` of them; returns how many these are.
 * Nothing can be looked up any more. */
int report_tally_rank(report_tally *t, int most);

#endif
