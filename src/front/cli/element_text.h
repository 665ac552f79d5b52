/* Elements of arrays as text. */
#ifndef WR_CLI_ELEMENT_TEXT_H
#define WR_CLI_ELEMENT_TEXT_H

#include <weir/weir.h>

enum { CLI_ELEMENT = 16, CLI_ELEMENT_TEXT = 64 }; /* bytes that every element, or text, fits into */

/* With as many digits as tell every element of its type from its neighbours. */
void cli_element_text(int type, const void *element, char *text);

/* Returns NULL, or what is wrong; `out` has room for CLI_ELEMENT bytes. */
const char *cli_element_parse(const char *text, int type, void *out);

#endif
