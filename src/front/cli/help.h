/* Help, as text for a person. */
#ifndef WR_CLI_HELP_H
#define WR_CLI_HELP_H

#include <stdio.h>

#include "command.h"

extern const char *const cli_headings[CLI_GROUPS];

void cli_help_list(FILE *out);
void cli_help_command(FILE *out, const cli_command *command);

/* "-o, --output FILE", and what it does with its default. */
void cli_option_title(const cli_option *option, char *text, size_t size);
void cli_option_text(const cli_option *option, char *text, size_t size);

/* Says that there is no such subcommand, and which was perhaps meant; returns CLI_USAGE. */
int cli_no_command(const char *name);

#endif
