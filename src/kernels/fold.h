/* Folds: what a reduction makes of numbers, one after the other, into accumulators. */
#ifndef WR_KERNELS_FOLD_H
#define WR_KERNELS_FOLD_H

#include <stdint.h>

/* Elements, rows one after the other, `pitch` elements from one to the next. */
typedef struct wr_table {
    int type;
    const char *at; /* borrowed; aligned to an element */
    int64_t rows, columns, pitch;
} wr_table;

typedef struct wr_fold wr_fold;

/* For a kind of reduction, of elements of a type; NULL: there is none. */
const wr_fold *wr_fold_of(int kind, int type, int skip_nans);

/* Type of what comes out: i8, u8 or f8; bytes of an accumulator, no less than one of these. */
int wr_fold_result(const wr_fold *fold);
int64_t wr_fold_bytes(const wr_fold *fold);

/* Accumulators of nothing. `empty`: nothing will come. */
void wr_fold_start(const wr_fold *fold, void *sums, int64_t count, int empty);

/* Adds each row to an accumulator of its own, or each column. */
void wr_fold_rows(const wr_fold *fold, const wr_table *table, void *sums);
void wr_fold_columns(const wr_fold *fold, const wr_table *table, void *sums);

/* Adds accumulators, which are used up. */
void wr_fold_join(const wr_fold *fold, void *sums, void *more, int64_t count);

/* What comes out, as elements of `type`, in the place of the accumulators. */
void wr_fold_finish(const wr_fold *fold, void *sums, int64_t count, int type);

#endif
