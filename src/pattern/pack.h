/* Copying along patterns. The kernel moves strided batches; everything else is cutting two patterns
 * into batches of the same shape. */
#ifndef WR_PATTERN_PACK_H
#define WR_PATTERN_PACK_H

#include "pattern/cursor.h"

/* `count` runs of `run` bytes from source + i * source_stride to target + i * target_stride.
 * The memories must not overlap. */
typedef struct wr_strides {
    int64_t source, target;
} wr_strides;

void wr_copy_batch(char *target, const char *source, wr_strides stride, int64_t run, int64_t count);

/* Copies the next `bytes` data of both cursors, or fewer where one ends first; returns how many.
 * Offsets of `from` are relative to `source`, those of `to` to `target`. */
int64_t wr_copy_cursors(wr_cursor *from, const char *source, wr_cursor *to, char *target,
                        int64_t bytes);

/* WR_PACK: from memory laid out by a pattern to a contiguous buffer; WR_UNPACK: back. */
enum wr_packing { WR_PACK, WR_UNPACK };

/* Copies the next `bytes` data of a cursor, or fewer where it ends first, between `base` + offsets
 * and the contiguous `buffer`; only the target of the two is written. Returns how many bytes. */
int64_t wr_pack_cursor(wr_cursor *c, char *base, char *buffer, int64_t bytes,
                       enum wr_packing packing);

#endif
