/* Count, bounds, mean and squared distances from it, of numbers that come in blocks. */
#ifndef WR_KERNELS_MOMENTS_H
#define WR_KERNELS_MOMENTS_H

#include "weir/kernels.h"

enum { WR_MOMENTS_BLOCK = 1024 };

/* Of elements that are numbers; min and max hold nothing where there are none. Mean and squares are
 * those of elements made smaller where one is large. Zeroed: of nothing. */
typedef struct wr_moments {
    int64_t count, nans;
    double min, max, mean, squares;
} wr_moments;

/* Of 1 to WR_MOMENTS_BLOCK numbers. */
wr_moments wr_moments_of(const double *x, int count);

/* `more` is used up. */
void wr_moments_join(wr_moments *to, wr_moments *more);

/* Adds rows, `pitch` numbers from one to the next: of each column there is one in `to`. */
void wr_moments_add_columns(wr_moments *to, const double *x, int64_t pitch, int64_t rows,
                            int64_t count);

void wr_moments_tell(const wr_moments *m, weir_statistics *out);

#endif
