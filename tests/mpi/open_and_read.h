/* A file as whoever opens it now through the library finds it. */
#ifndef WR_TESTS_OPEN_AND_READ_H
#define WR_TESTS_OPEN_AND_READ_H

#include <stdint.h>

/* By this rank alone; at most `room` bytes from the first on. Returns how many there are. */
int64_t open_and_read(const char *path, const char *hints, char *bytes, int64_t room);

#endif
