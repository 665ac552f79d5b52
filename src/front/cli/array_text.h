/* Sections as text. */
#ifndef WR_CLI_ARRAY_TEXT_H
#define WR_CLI_ARRAY_TEXT_H

#include "account.h"
#include "source.h"

enum cli_text {
    CLI_TEXT_SHORT, /* as NumPy prints an array: of more than 1000 elements the corners */
    CLI_TEXT_ALL,   /* the same of all elements */
    CLI_TEXT_PLAIN, /* all elements by rows, an empty line between 2-d slices */
    CLI_TEXT_CSV    /* a line for each index of the first dimension, elements with commas */
};

typedef struct cli_text_form {
    enum cli_text how;
    int columns;        /* lines are no longer, where that can be */
    int64_t memory;     /* bytes that it takes at most */
    cli_progress *tell; /* NULL, or called with `user` as elements are read */
    void *user;
} cli_text_form;

/* Prints a section. An error code. Stops where `out` cannot be written. [local] */
int cli_source_print(const cli_source *source, FILE *out, const cli_text_form *form);

#endif
