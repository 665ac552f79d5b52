/* A new file that is no array: text, a picture, a page. It gets its name when it is whole. */
#ifndef WR_CLI_NEW_FILE_H
#define WR_CLI_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* What help says of files that can be made again. */
#define CLI_REPLACES "; replaces such a file, and nothing else; - is standard output"

/* Whether what is made of that kind may have the name: it ends as the kind does, ".html|.htm", or
 * is "-", or in /dev. Returns NULL, or what is wrong. */
const char *cli_new_file_check(const char *path, const char *kind);

/* Called on every rank; `out` is NULL on all but rank 0. `made` is what the file is called there
 * until it is whole, "" where it has no other name. Returns an error code. */
typedef int cli_file_fill(void *user, FILE *out, const char *made);

/* Whether that name is standard output. */
bool cli_new_file_is_output(const char *path);

/* `replaces` says which file of that name may be there: NULL none, "" any, otherwise one that
 * begins so, or is empty. What is a terminal, a pipe or the like is written as it is, and "-" is
 * standard output. Nothing is left of what fails or is interrupted. Returns an exit status, and has
 * printed a line if it is not 0. [collective] */
int cli_new_file_write(const char *command, const char *path, const char *replaces,
                       cli_file_fill *fill, void *user);

#endif
