/* Reading what only the device has: past the page cache, with so much asked for at once that the
 * device never waits, while what has come is copied to its place.
 *
 * That leaves nothing in the page cache, so it is for the first pass over a file, or for files too
 * large to be kept: who has read as much as the file holds reads through the cache from then on. */
#ifndef WR_ENGINE_COLD_H
#define WR_ENGINE_COLD_H

#include "engine/access.h"
#include "storage/storage.h"

typedef struct wr_cold wr_cold;

/* Opened at the first use, from what a storage has open; *cold is NULL until then, and whether it
 * worked is returned. */
bool wr_cold_open(wr_cold **cold, const wr_storage *s);
void wr_cold_close(wr_cold *cold);

/* Whether the file is better read through the page cache now. */
bool wr_cold_is_over(const wr_cold *cold);

/* Reads everything, one access at a time; false if something did not come: reading it in
 * another way tells why. */
bool wr_cold_read(wr_cold *cold, const wr_access_request *a);

#endif
