/* Text that came from elsewhere, such as names of files, inside HTML and JSON. What is no UTF-8
 * becomes U+FFFD, and so do control characters in HTML, but newline and tab. */
#ifndef WR_CLI_ESCAPE_H
#define WR_CLI_ESCAPE_H

#include <stdio.h>

void escape_html(FILE *f, const char *text); /* for elements and for attributes in quotes */
void escape_json(FILE *f, const char *text); /* with quotes around it */
void escape_line(FILE *f, const char *text); /* for a terminal: "?" for what it might obey */
void escape_utf8(FILE *f, const char *text); /* of what is escaped already: only what is no UTF-8 */

#endif
