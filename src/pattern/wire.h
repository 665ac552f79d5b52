/* Patterns as bytes, to travel between ranks.
 *
 * A version byte, the origin, the number of nodes, then each node, children first. Numbers are
 * base-128, least significant group first, in as few bytes as possible; signed ones are zigzag
 * coded; a list's offsets are given as differences. A loop nest of any size takes a few dozen
 * bytes. What wr_pattern_decode accepts encodes to the very same bytes. */
#ifndef WR_PATTERN_WIRE_H
#define WR_PATTERN_WIRE_H

#include "pattern/pattern.h"

/* Bytes that wr_pattern_encode writes. */
int64_t wr_pattern_encoded_size(const weir_pattern *pattern);

/* `bytes` has room for wr_pattern_encoded_size(). */
void wr_pattern_encode(const weir_pattern *pattern, uint8_t *bytes);

/* Anything malformed is WEIR_EFORMAT. Allocates at most 200 bytes per byte received. */
int wr_pattern_decode(const uint8_t *bytes, int64_t size, weir_pattern **out);

#endif
