/* What subcommands on the files of arrays share. Rank 0 does the work, and the others follow. */
#ifndef WR_CLI_ARRAY_FILES_H
#define WR_CLI_ARRAY_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"
#include "size_text.h"

/* [collective] Rank 0's exit status, once what it has printed is out; others' are not looked at. */
int cli_lead(const char *command, int status);

/* Whether there is somebody to ask. */
bool cli_can_ask(void);

/* A line on standard error with a question, and whether the answer is yes. */
bool cli_ask(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As cli_report, for a failure of `array`; of a part of a file it says what to do instead. */
int cli_report_files(const char *command, const char *array, const char *instead);

/* Whether a name is that of an array, of whatever kind. */
bool cli_is_array(const char *name);

/* Names of a folder's entries, sorted, to be freed by cli_names_free; -1 if it cannot be read, with
 * errno. */
typedef struct cli_names {
    char **name;
    size_t count, room;
} cli_names;
int cli_names_read(const char *folder, cli_names *out);
void cli_names_free(cli_names *names);

/* Takes `name`; false if that is NULL, or there is no memory. */
bool cli_names_add(cli_names *names, char *name);

/* FOLDER/NAME, or NAME in the folder ".". To be freed. */
char *cli_join(const char *folder, const char *name);

/* "npy". */
const char *cli_format_name(int format);

/* A name for people, in which what would move the cursor is '?'. */
void cli_print_name(FILE *out, const char *name);

#endif
