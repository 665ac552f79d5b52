/* Manual pages, for man. */
#ifndef WR_CLI_MANUAL_H
#define WR_CLI_MANUAL_H

#include <stdio.h>

#include "command.h"

/* Of a subcommand, weir-NAME(1), or, NULL, of all: weir(1). */
void cli_manual_print(FILE *out, const cli_command *command);

#endif
