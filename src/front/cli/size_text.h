/* Shapes and sizes as people read them. */
#ifndef WR_CLI_SIZE_TEXT_H
#define WR_CLI_SIZE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* "4096,4096". */
void cli_print_sizes(int count, const int64_t *sizes);

/* "4.6 MiB", or, if `exact`, "4800128". */
enum { CLI_SIZE = 24 };
void cli_size_text(int64_t bytes, bool exact, char out[CLI_SIZE]);

/* "1.3 KiB, 1344 bytes". */
void cli_print_bytes(int64_t bytes);

#endif
