/* How far an operator is, how fast, and how long it still takes: as a bar that overwrites itself,
 * within the columns of a terminal and without escape codes, or as a line a minute. */
#ifndef WR_CLI_BAR_H
#define WR_CLI_BAR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_BAR_LONGEST = 200, CLI_BAR_MINUTE = 60 };

typedef struct cli_bar {
    FILE *out;
    const char *name;
    bool lines;    /* and no bar */
    int64_t bytes; /* that will have been moved in the end, or by an iteration */
    double begun, shown;
    int visible; /* columns of what is there now */
} cli_bar;

/* Bars are drawn at most five times a second; the first line comes after a minute. */
void cli_bar_init(cli_bar *bar, FILE *out, const char *name, int64_t bytes, bool lines);

/* `user` is the bar. Where nobody knows how long it takes, `all` is 0, and `done` counts
 * iterations. */
void cli_bar_draw(void *user, int64_t done, int64_t all);

/* Instead of what is there, until it is erased; nothing where no bar is. */
void cli_bar_say(cli_bar *bar, const char *text);

void cli_bar_erase(cli_bar *bar);

/* Seconds of a clock that does not jump. */
double cli_seconds(void);

#endif
