/* Reading what only the device has: past the page cache, with so much asked for at once that the
 * device never waits, while what has come is copied to its place.
 *
 * That leaves nothing in the page cache, so it is for the first pass over a file, or for files too
 * large to be kept: who has read as much as the file holds reads through the cache from then on. */
#ifndef WR_ACCESS_DIRECT_READ_H
#define WR_ACCESS_DIRECT_READ_H

#include "access/access.h"
#include "storage/storage.h"

typedef struct wr_direct_reader wr_direct_reader;

/* Opened at the first use, from what a storage has open; *reader is NULL until then, and whether it
 * worked is returned. */
bool wr_direct_reader_open(wr_direct_reader **reader, const wr_storage *s);
void wr_direct_reader_close(wr_direct_reader *reader);

/* Whether the file is better read through the page cache now. */
bool wr_direct_reader_is_over(const wr_direct_reader *reader);

/* Reads everything, one access at a time; false if something did not come: reading it in
 * another way tells why. */
bool wr_direct_reader_read(wr_direct_reader *reader, const wr_access_request *a);

#endif
