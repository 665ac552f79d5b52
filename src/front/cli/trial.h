/* How long an operator would take, by trying: its first steps are made, for a quarter of a second,
 * into arrays that are discarded, and what they took is scaled.
 *
 *     seconds = before + work + rest + store
 *
 * before: opening and making arrays. work: what the first two steps took, which come before buffers
 * are in turn, and all others at the rate of those after them; where inputs are not in the page
 * cache and are read several times, at the rate of a second trial for all but the first. rest: what
 * no step of the trial has written, at the price of filling. store: what is written, at the price
 * of a sync of what the trial wrote, less what the system stores by itself behind the work. */
#ifndef WR_CLI_TRIAL_H
#define WR_CLI_TRIAL_H

#include <stdint.h>

/* Parts of the whole that were done, and when, in seconds. */
typedef struct cli_pace {
    int steps;              /* told of; 0: nothing is known */
    double first, first_at; /* of the first two, */
    double last, last_at;   /* and of all */
} cli_pace;

/* What a trial found; of all ranks. */
typedef struct cli_trial {
    double before; /* seconds */
    cli_pace pace;
    cli_pace again;     /* of what is read again; no steps: as above */
    double anew;        /* part of all reading that reads something for the first time */
    double write_price; /* seconds a byte that no step has written; 0: steps write all */
    double store_price; /* seconds a byte; 0: nothing is stored */
    int64_t written;    /* bytes of the output */
    int64_t kept;       /* bytes that the system keeps before it stores them by itself */
    int64_t most;       /* bytes that the trial had for its steps, */
    int64_t memory;     /* and that the rank that had most took in all */
} cli_trial;

/* So much is done now. */
void cli_pace_note(cli_pace *pace, double part, double seconds);

/* Pure. */
double cli_trial_seconds(const cli_trial *trial);

#endif
