/* JSON written, and what its strings stand for. */
#ifndef WR_FORMAT_JSON_TEXT_H
#define WR_FORMAT_JSON_TEXT_H

#include "format/json.h"
#include "format/text.h"

/* Adds a string of these bytes, taken for Latin-1 where they are not UTF-8, and without zeros. */
void wr_json_quote(const char *bytes, int64_t count, wr_text *text);

/* Adds the bytes that a string stands for, as UTF-8, without zeros; half a character becomes
 * U+FFFD. */
void wr_json_unquote(wr_json string, wr_text *text);

/* Adds a number: an integer or float of the type (enum weir_type) but f2. Floats have a point,
 * or an exponent, and as many digits as say the same double. */
void wr_json_number(int type, const void *element, wr_text *text);

/* Adds a value on one line, for readers who take less than there is: not-a-number and infinite
 * ones, which the standard does not have, become strings; characters beyond ASCII are escaped.
 * Or such strings become numbers again. */
enum { WR_JSON_FINITE = 1, WR_JSON_ASCII = 2, WR_JSON_INFINITE = 4 };
void wr_json_copy(wr_json value, int how, wr_text *text);

#endif
