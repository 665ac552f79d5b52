/* Elements of any type as floating-point numbers. */
#ifndef WR_CLI_NUMBERS_READ_H
#define WR_CLI_NUMBERS_READ_H

#include <weir/weir.h>

/* Of complex ones the magnitude. */
typedef void cli_numbers_read(const void *elements, int64_t count, double *out);

cli_numbers_read *cli_numbers_reader(int type);

#endif
