/* Elements of arrays as text. */
#ifndef WR_CLI_ELEMENT_TEXT_H
#define WR_CLI_ELEMENT_TEXT_H

#include <stdio.h>
#include <weir/weir.h>

enum { CLI_ELEMENT = 16 }; /* bytes that every element fits into */

/* With as many digits as tell it from its neighbours. */
void cli_element_print(FILE *out, int type, const void *element);

/* Returns NULL, or what is wrong; `out` has room for CLI_ELEMENT bytes. */
const char *cli_element_parse(const char *text, int type, void *out);

#endif
