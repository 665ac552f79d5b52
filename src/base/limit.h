/* How large this process's files may become.
 *
 * The system ends a process that writes past that with SIGXFSZ, unless the program has said
 * otherwise; a library has no say in that. So whoever makes a file grow looks first. */
#ifndef WR_BASE_LIMIT_H
#define WR_BASE_LIMIT_H

#include <stdint.h>

/* RLIMIT_FSIZE, in bytes; INT64_MAX if there is none. */
int64_t wr_file_limit(void);

#endif
