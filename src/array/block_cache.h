/* Data of an array that this rank has read alone, kept in blocks: what comes again is not fetched
 * again ("PASSION Runtime Library for Parallel I/O", section 3.3, software caching). The least
 * recently used block makes room. Useful where the system keeps nothing, as with direct=always. */
#ifndef WR_ARRAY_BLOCK_CACHE_H
#define WR_ARRAY_BLOCK_CACHE_H

#include "array/array.h"

typedef struct wr_block_cache wr_block_cache;

enum { WR_CACHE_BLOCK = 256 << 10 };

/* At most `memory` bytes; *out is NULL if that is less than a few blocks. */
int wr_block_cache_new(int64_t memory, wr_block_cache **out);
void wr_block_cache_free(wr_block_cache *cache);

/* Reads through the array's cache; what would fill more than half of it goes past it. */
int wr_block_cache_read(weir_array *array, const wr_access_request *a);

/* What has been written is not kept. NULL is fine, twice. */
void wr_block_cache_drop(wr_block_cache *cache, const weir_pattern *written);

#endif
