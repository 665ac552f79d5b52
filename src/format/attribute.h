/* An attribute as NetCDF and HDF5 have them: numbers of one type, or strings. */
#ifndef WR_FORMAT_ATTRIBUTE_H
#define WR_FORMAT_ATTRIBUTE_H

#include "format/json.h"

typedef struct wr_attribute {
    char *name; /* not empty */
    int type;   /* enum weir_type: an integer or float; 0: strings */
    bool list;  /* there may be any number of them; otherwise one */
    int64_t count;
    char *data; /* numbers as memory has them; strings with a 0 after each */
} wr_attribute;

/* What the attributes are for. */
typedef struct wr_attribute_form {
    int type;     /* of the array: that of _FillValue, and of others that stand for its elements */
    bool strings; /* there can be lists of strings, */
    bool wide;    /* and i8 and u8 */
} wr_attribute_form;

/* The next attribute of an object, which `rest` was at first: 1, and it is to be released; 0 after
 * the last; or WEIR_ENOMEM. Integers, which have no point and no exponent, become i4 where they
 * fit, otherwise i8 or u8, or f8; what is neither numbers nor strings becomes a string of its JSON
 * text. A _FillValue that is no element is left out. Takes as much memory as the text, and more for
 * lists of short numbers. */
int wr_attribute_next(wr_json *rest, const wr_attribute_form *form, wr_attribute *out);
void wr_attribute_release(wr_attribute *attribute); /* a zeroed one is fine */

/* An element that stands in an attribute: a number, or a string where a float has no other form,
 * its bits too (12 characters of base64 for f8's). */
bool wr_attribute_element(wr_json value, int type, char element[16]);

#endif
