/* What a subcommand that may take long tells of itself: how far it is, and in the end what it
 * took. */
#ifndef WR_CLI_ACCOUNT_H
#define WR_CLI_ACCOUNT_H

#include "bar.h"
#include "options.h"

typedef struct cli_manner {
    int progress, quiet, verbose, json;
} cli_manner;

/* Entries of a table of options; `at` is where the cli_manner is. */
#define CLI_MANNER(at)                                                                             \
    {"--progress",   0,                                                                            \
     NULL,           (at) + offsetof(cli_manner, progress),                                        \
     NULL,           "how far it is, on standard error",                                           \
     "on a terminal"},                                                                             \
        {"--verbose",                                                                              \
         'v',                                                                                      \
         NULL,                                                                                     \
         (at) + offsetof(cli_manner, verbose),                                                     \
         NULL,                                                                                     \
         "a line in the end of what it took, and, where standard error is no terminal, a line a "  \
         "minute of how far it is",                                                                \
         NULL},                                                                                    \
        {"--quiet", 'q',                                                                           \
         NULL,      (at) + offsetof(cli_manner, quiet),                                            \
         NULL,      "nothing but errors on standard error",                                        \
         NULL},                                                                                    \
    {                                                                                              \
        "--json", 0, NULL, (at) + offsetof(cli_manner, json), NULL,                                \
            "what came of it, bytes, seconds and memory as JSON, one object in a line", NULL       \
    }

typedef struct cli_account {
    const char *command;
    const cli_manner *how;
    cli_bar bar;
    double begun;
    weir_totals before;
} cli_account;

/* Time runs from here on, and what the library does is counted. [local] */
void cli_account_begin(cli_account *account, const char *command, const cli_manner *how);

/* What the library is to call with `&account->bar` while about so many bytes are moved; NULL if
 * nobody wants to know. [local] */
typedef void cli_progress(void *user, int64_t done, int64_t all);
cli_progress *cli_account_progress(cli_account *account, int64_t bytes);

/* All is computed, and goes to the storage. [local] */
void cli_account_closing(cli_account *account);

/* Nothing is drawn any more; before something else is printed. [local] */
void cli_account_quiet(cli_account *account);

/* What something would take. */
typedef struct cli_expected {
    weir_estimate estimate;
    double seconds; /* below 0: not known */
    int64_t memory; /* of all buffers of a rank, those of the library too */
} cli_expected;

/* After what succeeded: the line of --verbose, or the object of --json. `expected`: that nothing
 * was done and this would be; NULL: it was done. `plan` is a line about how; `print`, or NULL,
 * prints with `user` what came of it: lines, or, for JSON, items, each with a comma before it.
 * [collective] */
typedef struct cli_outcome {
    const cli_expected *expected;
    const char *plan;
    void (*print)(const void *user, int json);
    const void *user;
} cli_outcome;
void cli_account_end(cli_account *account, const cli_outcome *outcome);

#endif
