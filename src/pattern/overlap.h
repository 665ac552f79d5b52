/* Whether patterns overlap, told without walking their runs. */
#ifndef WR_PATTERN_OVERLAP_H
#define WR_PATTERN_OVERLAP_H

#include "pattern/pattern.h"

enum wr_answer { WR_NO, WR_YES, WR_MAYBE };

/* Whether two ordered patterns have a byte in common. Takes at most a few microseconds; where that
 * is not enough the answer is WR_MAYBE, and the caller takes the safe side. */
enum wr_answer wr_pattern_overlap(const weir_pattern *a, const weir_pattern *b);

#endif
