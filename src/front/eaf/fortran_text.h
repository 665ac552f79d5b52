/* Texts of Fortran: no end but a length, filled with blanks. */
#ifndef WR_FRONT_EAF_FORTRAN_TEXT_H
#define WR_FRONT_EAF_FORTRAN_TEXT_H

#include <stdlib.h>
#include <string.h>

/* Without the blanks at its end; to be freed. NULL: no memory. */
static inline char *wr_fortran_take(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

/* Cut to fit. */
static inline void wr_fortran_give(const char *text, char *out, size_t length)
{
    size_t n = strlen(text);
    memcpy(out, text, n < length ? n : length);
    if (n < length)
        memset(out + n, ' ', length - n);
}

#endif
