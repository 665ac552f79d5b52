/* Elements in columns as NumPy prints them: all as wide as the widest, points below points. */
#ifndef WR_CLI_NUMBER_TEXT_H
#define WR_CLI_NUMBER_TEXT_H

#include <stdbool.h>

enum { CLI_NUMBER = 128 }; /* bytes that every text fits into */

/* Of real numbers, or of real or imaginary parts. */
typedef struct cli_column {
    int type;           /* of floats; 0: not used */
    bool signs;         /* also of what is not negative */
    bool finite;        /* there are such, and these are the bounds of those that are not 0 */
    bool odd, below;    /* some are not; some of these are -inf */
    double least, most; /* 0: all are 0 */
    bool scientific;
    int left, right;   /* characters before and behind the point */
    int places, power; /* digits behind the point and of the exponent, of scientific ones */
} cli_column;

/* All elements are looked at twice, in any order, before one is written. */
typedef struct cli_numbers_format {
    int type;
    int width; /* of integers */
    cli_column part[2];
} cli_numbers_format;

cli_numbers_format cli_numbers_begin(int type);
void cli_numbers_look(cli_numbers_format *format, const void *element);
void cli_numbers_settle(cli_numbers_format *format); /* between the first time and the second */
void cli_numbers_measure(cli_numbers_format *format, const void *element);

/* After the second time. */
void cli_numbers_done(cli_numbers_format *format);
void cli_numbers_write(const cli_numbers_format *format, const void *element, char *text);

/* An element alone, as NumPy prints it: with as many digits as tell it from its neighbours. */
void cli_number_alone(int type, const void *element, char *text);

#endif
