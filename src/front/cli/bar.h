/* A bar on standard error: how far an operator is, how fast, and how long it still takes. */
#ifndef WR_CLI_BAR_H
#define WR_CLI_BAR_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_bar {
    const char *name;
    int64_t bytes; /* that will have been moved in the end, or by an iteration */
    double begun, shown;
    bool visible;
} cli_bar;

void cli_bar_init(cli_bar *bar, const char *name, int64_t bytes);

/* `user` is the bar; draws at most five times a second. Where nobody knows how long it takes, `all`
 * is 0, and `done` counts iterations. */
void cli_bar_draw(void *user, int64_t done, int64_t all);

void cli_bar_erase(cli_bar *bar);

#endif
