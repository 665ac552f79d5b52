/* How a subcommand runs an operator: it opens what is read, makes what is written, tells what it
 * would take or how far it is, and leaves nothing half made. */
#ifndef WR_CLI_OPERATOR_H
#define WR_CLI_OPERATOR_H

#include "account.h"
#include "source.h"
#include "target.h"

typedef struct cli_operator_options {
    cli_target target; /* its hints and memory count also where nothing is made */
    int direct, dry_run;
    cli_manner manner;
} cli_operator_options;

/* Entries of a table of options; `at` is where the cli_operator_options are. */
#define CLI_OPERATOR_DEEDS(at)                                                                     \
    {"--dry-run",                                                                                  \
     0,                                                                                            \
     NULL,                                                                                         \
     (at) + offsetof(cli_operator_options, dry_run),                                               \
     NULL,                                                                                         \
     "tells which arrays, bytes, accesses of the busiest rank, memory of a rank and seconds it "   \
     "would take, and in what steps; for the seconds the first steps are made, and removed",       \
     NULL},                                                                                        \
        CLI_MANNER((at) + offsetof(cli_operator_options, manner))
#define CLI_OPERATOR(at)                                                                           \
    CLI_TARGET_MEANS((at) + offsetof(cli_operator_options, target)),                               \
        {"--access",                                                                               \
         0,                                                                                        \
         "collective|direct",                                                                      \
         (at) + offsetof(cli_operator_options, direct),                                            \
         NULL,                                                                                     \
         "ranks access arrays together, or each alone",                                            \
         "collective"},                                                                            \
        CLI_OPERATOR_DEEDS(at)
#define CLI_OPERATOR_MAKING(at)                                                                    \
    CLI_OPERATOR(at), CLI_TARGET_OVERWRITE((at) + offsetof(cli_operator_options, target))

/* What their help says of what is left behind. */
#define CLI_OPERATOR_LEAVES                                                                        \
    "The new array appears when it is whole. What fails leaves nothing, what is killed a file "    \
    "NAME.partial-XXXXXXXX, or a folder, and so does what is interrupted if the new array has "    \
    "chunks or is a dataset of a file; weir clean finds them."

enum { CLI_OPERANDS = 2 };

typedef struct cli_operands {
    weir_array *in[CLI_OPERANDS], *out[CLI_OPERANDS];
    cli_source source[CLI_OPERANDS];        /* inputs, of operators that take sections; */
    const weir_selection *of[CLI_OPERANDS]; /* what of them */
    cli_chosen chosen[CLI_OPERANDS];
    int last; /* which of `out` has the result; the others are discarded */
} cli_operands;

/* `options` is the subcommand's own struct. */
typedef struct cli_operator {
    int inputs, outputs; /* all outputs are called the same; without inputs `describe` is needed */
    int in_place;        /* 1: the input is written */
    int sections;        /* 1: brackets may follow inputs */
    int same;            /* 1: attributes of the first input are the output's too */

    /* NULL, or says what outputs are; before, `out` is one file, otherwise as the first input.
     * Returns NULL, or what is wrong. */
    const char *(*describe)(void *options, const weir_array_info *const *in, weir_array_info *out);
    int (*apply)(void *options, cli_operands *arrays, const weir_work *work);
    void (*print)(const void *options, int json); /* NULL, or what came of it, as cli_outcome has
                                                     it */
} cli_operator;

/* argv: the subcommand, its inputs, its output. Returns an exit status, and has printed a line if
 * it is not 0. [collective] */
int cli_operator_run(const cli_operator *op, char **argv, const cli_operator_options *how,
                     void *options);

#endif
