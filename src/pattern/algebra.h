/* Questions about several patterns that can be answered without walking their runs.
 *
 * Where algebra does not decide, the answer is WR_MAYBE or no union at all; the caller then takes
 * the safe side. */
#ifndef WR_PATTERN_ALGEBRA_H
#define WR_PATTERN_ALGEBRA_H

#include "pattern/pattern.h"

enum wr_answer { WR_NO, WR_YES, WR_MAYBE };

/* Whether two ordered patterns have a byte in common. Takes at most a few microseconds. */
enum wr_answer wr_pattern_overlap(const weir_pattern *a, const weir_pattern *b);

/* The bytes that at least one of `count` ordered patterns touches, each once, in file order.
 * Returns 0, a negative code, or 1 if it cannot be told: then *out is not set. Decides where the
 * patterns have few runs in all, or share the count and stride of their outer loop and fit into one
 * stride. */
int wr_pattern_union(int64_t count, const weir_pattern *const *patterns, weir_pattern **out);

#endif
