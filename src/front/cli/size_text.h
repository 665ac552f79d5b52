/* Shapes and sizes as people read them, on standard output. */
#ifndef WR_CLI_SIZE_TEXT_H
#define WR_CLI_SIZE_TEXT_H

#include <stdint.h>

/* "4096,4096". */
void cli_print_sizes(int count, const int64_t *sizes);

/* "1.3 KiB, 1344 bytes". */
void cli_print_bytes(int64_t bytes);

#endif
