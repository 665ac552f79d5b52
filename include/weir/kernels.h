/* Operators: whole-array computations on arrays that do not fit in memory.
 *
 * All are [collective] on the ranks that have the arrays open, whatever their number, with the same
 * arguments but for `progress`, `stop`, `user` and where results go. What arguments point to is
 * borrowed until the call returns; NULL is fine only where that is said. Inputs are not changed.
 * Outputs are overwritten; after an error they hold anything, and a new one gets no name when it is
 * closed. All ranks return the same code: 0, or
 *
 *   WEIR_EINVAL   arguments that do not fit together, as said with each call; a negative memory;
 *                 arrays of different communicators
 *   WEIR_EBUDGET  memory is too little; the text names the least that would do
 *   WEIR_EACCESS  an output is not open for writing
 *   WEIR_EINTERRUPTED  `stop` of some rank asked for it
 *   WEIR_ENOMEM, WEIR_ETRANSPORT, and all else that reading and writing can fail with (array.h)
 *
 * After the first two nothing was read or written. */
#ifndef WEIR_KERNELS_H
#define WEIR_KERNELS_H

#include "weir/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an operator would do. */
typedef struct weir_estimate {
    int64_t read, written; /* bytes, of all ranks */
    int64_t calls;         /* accesses of arrays, of the rank that makes most */
    int64_t memory;        /* bytes of buffers, of a rank */
    char how[160];         /* a line about what is in memory at a time, and how many steps that
                              makes; cut, with dots at its end, where there is more to say */
    int64_t reserved[4];   /* 0 */
} weir_estimate;

/* How an operator works; all-zero is fine, and the same as NULL. */
typedef struct weir_work {
    int64_t memory; /* most bytes of a rank's buffers; 0: 64 MiB */
    int direct;     /* 1: every rank accesses arrays alone; 0: together, where that is cheaper */
    void (*progress)(void *user, int64_t done, int64_t all); /* NULL, or told now and then, by the
                                                                calling thread; all is 0 where
                                                                nobody knows it */
    void *user;                                              /* handed on; may be NULL */
    weir_estimate *estimate; /* not NULL: this is filled, and nothing is done; errors of arguments
                                and memory are the same */
    int (*stop)(void *user); /* NULL, or asked now and then, by the calling thread: not 0 ends the
                                operator. Nothing new is read or written then; with `direct`, by
                                this rank: the others learn of it when they have done their part */
    int64_t reserved[3];     /* 0 */
} weir_work;

/* to[i0, i1, ...] = from[j0, j1, ...] with j[axes[d]] = i[d], as in NumPy; axes NULL: dimensions in
 * reverse. Types may differ as in weir_array_copy. WEIR_EINVAL: one array is both, shapes do not
 * fit, `axes` (as many as there are dimensions) is no permutation, a type does not convert. */
WEIR_API int weir_array_transpose(weir_array *from, weir_array *to, const int *axes,
                                  const weir_work *work);

/* Copies all elements to an array of equal shape, whatever form, order and type each has, with at
 * most `memory` bytes in buffers of a rank (0: 64 MiB). Complex converts to complex only, f2 to f2.
 * Errors as of weir_array_transpose. */
WEIR_API int weir_array_copy(weir_array *from, weir_array *to, int64_t memory);

/* c = a b, of matrices of one type: f4, f8, c8 or c16; a may be b, but not c. WEIR_EINVAL: types or
 * shapes do not fit, there is no such method; WEIR_ERANGE: with WEIR_GAXPY, more than 2^30 of the
 * depth, the columns of a, for a rank. */
enum weir_multiply_method {
    WEIR_PANELS, /* each rank computes blocks of c, which stay in memory while panels go by */
    WEIR_GAXPY   /* sub-blocks of a span rows, those of b span columns, and a global sum */
};
WEIR_API int weir_array_multiply(weir_array *a, weir_array *b, weir_array *c, int method,
                                 const weir_work *work);

/* Jacobi iterations for Laplace's equation on a matrix of f4 or f8, whose outermost rows and
 * columns are fixed: each element becomes the sum of its northern, southern, western and eastern
 * neighbours, added in this order, divided by 4. So results do not depend on ranks and memory. */
typedef struct weir_relaxation {
    int iterations;      /* at most; 0: as many as the tolerance needs */
    double tolerance;    /* ends when no element changes by more; 0: never. A change that is not a
                         number is infinite; WEIR_ERANGE if it stays so and iterations is 0 */
    int exchange;        /* 1: boundaries that a neighbour has in memory come from there */
    int done;            /* set: iterations made */
    double residual;     /* set: largest change in the last of them */
    int64_t reserved[4]; /* 0 */
} weir_relaxation;

/* Results alternate between the two arrays, of type and shape of `from`; *last is set to the one
 * that has the latest, after every iteration. An estimate, for which nothing is set, is for all
 * iterations, or for one if their number is not known; what is more than INT64_MAX is that.
 * WEIR_EINVAL: not matrices of f4 or f8, types or shapes that differ, one array twice, negative
 * iterations or tolerance, neither of them. */
WEIR_API int weir_array_relax(weir_array *from, weir_array *const to[2],
                              weir_relaxation *relaxation, const weir_work *work, int *last);

/* Each element becomes the median of the window around it, edges repeated; matrices of one type,
 * any but complex. `window` is odd, and at most 32767; what it takes of the memory grows with its
 * square. -0 is less than 0; what is not a number is greater than all that is, and comes out
 * without a sign. WEIR_EINVAL: another window, no matrices, types or shapes that differ, complex
 * ones, one array for both. */
WEIR_API int weir_array_median(weir_array *from, weir_array *to, int window, const weir_work *work);

typedef struct weir_statistics {
    int64_t count, nans;          /* elements; of these, not a number, which do not count below */
    double min, max, mean;        /* 0 if there is nothing; -0 counts as 0 */
    double deviation;             /* standard, of the population; not a number if one is infinite */
    int64_t exact_min, exact_max; /* of integers, also bool: min and max, not rounded; of u8
                                     converted to int64_t, of floats 0 */
    int64_t reserved[2];          /* 0 */
} weir_statistics;

/* Of any type but complex (WEIR_EINVAL), and, but for the exact ones, in doubles: of i8 and u8
 * beyond 2^53 these, also min and max, are rounded, and distances from the mean below 1e-150 are
 * nothing to the deviation. The order of summing depends on the number of ranks and on memory; all
 * ranks get the same. After an error *out is as it was. */
WEIR_API int weir_array_reduce(weir_array *array, weir_statistics *out, const weir_work *work);

enum weir_reduction_kind { WEIR_SUM, WEIR_MEAN, WEIR_MIN, WEIR_MAX, WEIR_DEVIATION };

typedef struct weir_reduction {
    int kind;            /* enum weir_reduction_kind; deviation as above */
    const int *along;    /* by dimension of the source; not 0: it is reduced */
    int skip_nans;       /* 0: where one element is not a number, nor is what becomes of it; 1: such
                         elements do not count */
    int64_t reserved[4]; /* 0 */
} weir_reduction;

/* What is left of `from`, of any type but complex: `to` has its shape without the dimensions that
 * are reduced, or with one index along each of these. Sums of integers wrap at 64 bits, with a sign
 * unless they are u8; min and max are exact; all else is in doubles, as above. Results become
 * elements as in weir_array_copy: of any type but complex and, but for min and max of f2, f2.
 * Of no elements the sum is 0, mean and deviation are not numbers. Zeros lose their sign in min and
 * max. The order of summing depends on the number of ranks and on memory.
 *
 * Each byte is read once. Where results are few, ranks share what is read, and join what each has
 * of all results; otherwise each makes results of its own. WEIR_EINVAL: min or max of no elements,
 * another kind, complex elements, shapes or types that do not fit, one array for both. */
WEIR_API int weir_array_reduce_along(weir_array *from, weir_array *to,
                                     const weir_reduction *reduction, const weir_work *work);

/* --- sections --- */

/* These take what is selected of an array, by ranges and lists; NULL: everything. They need each
 * element for some of the time only: memory is for two parts of up to 4 MiB, each of which some
 * rank reads and looks at. WEIR_EINVAL also: a selection of boxes or of one member. After an error
 * results are as they were. */

/* As weir_array_reduce. */
WEIR_API int weir_array_reduce_section(weir_array *array, const weir_selection *of,
                                       weir_statistics *out, const weir_work *work);

typedef struct weir_comparison {
    double rtol, atol; /* elements are equal if |a - b| <= atol + rtol |b|, and both are finite, or
                          if a == b */
    int nans_differ;   /* 0: what is not a number is equal to what is not; 1: to nothing */
    int first_only;    /* 1: ends soon after a difference is found, of which the rest tells then */
    int64_t count, differences; /* set: elements; of these, not equal */
    int64_t first; /* set: row-major number, in the selection, of the first of these; -1: none */
    double absolute, relative; /* set: largest |a - b|, and |a - b| / |b| where b is not 0, of all
                                  elements where that is a number */
    int64_t reserved[4];       /* 0 */
} weir_comparison;

/* Two arrays, or selections of the same shape: dimensions of one index do not count (WEIR_EINVAL
 * otherwise, or for tolerances that are no numbers from 0 up). Integers are compared exactly, but
 * u8 with those that have a sign, and integers with floats, as f8; complex ones by the size of
 * their difference. */
WEIR_API int weir_array_compare(weir_array *a, const weir_selection *of_a, weir_array *b,
                                const weir_selection *of_b, weir_comparison *comparison,
                                const weir_work *work);

typedef struct weir_histogram {
    int64_t bins;         /* of equal width, at most 2^24 */
    double lo, hi;        /* the range, of which the last bin has both ends; both 0: set, from the
                            least to the largest finite number, in a pass of its own */
    int64_t *counts;      /* set: so many as there are bins */
    int64_t count, nans;  /* set: elements; of these, not a number */
    int64_t below, above; /* set: not in the range */
    int64_t reserved[4];  /* 0 */
} weir_histogram;

/* As numpy.histogram counts elements as f8. WEIR_EINVAL: complex elements, another number of bins,
 * a range that is none; WEIR_ERANGE: its ends are too far apart, or too near, for doubles. */
WEIR_API int weir_array_histogram(weir_array *array, const weir_selection *of,
                                  weir_histogram *histogram, const weir_work *work);

typedef struct weir_quantiles {
    int quantiles;       /* at most 128 */
    int skip_nans;       /* 0: if one element is not a number, no quantile is */
    const double *p;     /* which: from 0 to 1 */
    double *value;       /* set, by p; not a number if there are no elements */
    int64_t count, nans; /* set: elements; of these, not a number */
    int passes;          /* set: how often elements were read */
    int64_t reserved[4]; /* 0 */
} weir_quantiles;

/* Exact, and interpolated as numpy.quantile does it, in f8. Elements are read once where their type
 * has up to 16 bits or all are equal, otherwise twice as a rule. Where what is near the quantiles
 * takes more than half of the memory they are read more often, the more the less memory there is
 * for each quantile: at most 8 times for one in 60 KiB, 56 times for 128 (an estimate tells).
 * WEIR_EINVAL: complex elements, another number of quantiles, or one that is not from 0 to 1. */
WEIR_API int weir_array_quantiles(weir_array *array, const weir_selection *of,
                                  weir_quantiles *quantiles, const weir_work *work);

/* Every element becomes `value`, one of the array's type in this machine's byte order. */
WEIR_API int weir_array_fill(weir_array *array, const void *value, const weir_work *work);

#ifdef __cplusplus
}
#endif
#endif
