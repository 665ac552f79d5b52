/* What a stream is for a person: how wide, and whether in colours. */
#ifndef WR_CLI_TERMINAL_H
#define WR_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Launchers of MPI write to ranks' standard output through terminals that have no extent, wherever
 * it goes to: these are none. */
bool cli_terminal_is(FILE *stream);

/* Of a terminal its columns; otherwise COLUMNS, or 80. At least 20. */
int cli_terminal_columns(FILE *stream);

/* Of a terminal its rows; otherwise LINES, or 24. At least 8. */
int cli_terminal_rows(FILE *stream);

/* What characters can be painted with: 24 bits of colour, 256 colours, or none. */
enum cli_paint { CLI_NO_PAINT, CLI_256_COLOURS, CLI_ALL_COLOURS };
enum cli_paint cli_terminal_paint(FILE *stream);

/* Text is UTF-8, as the environment says. */
bool cli_terminal_utf8(void);

/* A terminal that knows colours, and NO_COLOR is not set. */
bool cli_terminal_colours(FILE *stream);

/* Words of a text, from column `indent` on, where the line is now, in lines of at most `columns`;
 * "\n" begins a new one. Ends its last line. */
void cli_print_wrapped(FILE *out, const char *text, int indent, int columns);

#endif
