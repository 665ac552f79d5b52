/* How a subcommand runs an operator: it opens what is read, makes what is written, tells what it
 * would take or how far it is, and leaves nothing half made. */
#ifndef WR_CLI_OPERATOR_H
#define WR_CLI_OPERATOR_H

#include "target.h"

typedef struct cli_operator_options {
    cli_target target; /* its hints and memory count also where nothing is made */
    int direct, dry_run, progress, quiet;
} cli_operator_options;

/* Entries of a table of options; `at` is where the cli_operator_options are. */
#define CLI_OPERATOR(at)                                                                           \
    CLI_TARGET_MEANS((at) + offsetof(cli_operator_options, target)),                               \
        {"--access", (at) + offsetof(cli_operator_options, direct), cli_parse_access},             \
        {"--dry-run", (at) + offsetof(cli_operator_options, dry_run), NULL},                       \
        {"--progress", (at) + offsetof(cli_operator_options, progress), NULL},                     \
    {                                                                                              \
        "--quiet", (at) + offsetof(cli_operator_options, quiet), NULL                              \
    }
#define CLI_OPERATOR_MAKING(at)                                                                    \
    CLI_OPERATOR(at), CLI_TARGET_OVERWRITE((at) + offsetof(cli_operator_options, target))

const char *cli_parse_access(const char *text, void *out); /* int: collective is 0, direct is 1 */

enum { CLI_OPERANDS = 2 };

typedef struct cli_operands {
    weir_array *in[CLI_OPERANDS], *out[CLI_OPERANDS];
    int last; /* which of `out` has the result; the others are discarded */
} cli_operands;

/* `options` is the subcommand's own struct. */
typedef struct cli_operator {
    int inputs, outputs; /* all outputs are called the same */
    int in_place;        /* 1: the input is written */
    int same;            /* 1: attributes of the first input are the output's too */

    /* NULL, or says what outputs are; before, `out` is one file, otherwise as the first input.
     * Returns NULL, or what is wrong. */
    const char *(*describe)(void *options, const weir_array_info *const *in, weir_array_info *out);
    int (*apply)(void *options, cli_operands *arrays, const weir_work *work);
} cli_operator;

/* argv: the subcommand, its inputs, its output. Returns an exit status, and has printed a line if
 * it is not 0. [collective] */
int cli_operator_run(const cli_operator *op, char **argv, const cli_operator_options *how,
                     void *options);

#endif
