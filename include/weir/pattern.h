/* A pattern says which bytes an access touches, and in what order.
 *
 * It is a loop nest (runs, loops over runs, lists of those), so that a section of 10^12 pieces
 * takes a few hundred bytes. The data of a pattern are its bytes in the order the pattern visits
 * them; data position k is the k-th of them. Offsets are relative to the start of a file or to an
 * address in memory, and may be negative in memory.
 *
 * A pattern that is ordered (the
 * starts and the ends of its runs never decrease) can describe file access; one that is also
 * disjoint (and no byte comes twice) can be written.
 *
 * All constructors: [local], copy what they are given, and return 0, WEIR_EINVAL, WEIR_ERANGE (an
 * offset or a number of bytes outside +-2^62) or WEIR_ENOMEM; *out is set only on success. */
#ifndef WEIR_PATTERN_H
#define WEIR_PATTERN_H

#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Never changes once built: any number of threads may use it. */
typedef struct weir_pattern weir_pattern;

enum { WEIR_MAX_DIMENSIONS = 16 };

/* For weir_pattern_repeat: as often as offsets below 2^62 allow. */
#define WEIR_FOREVER INT64_MAX

/* `bytes` >= 0 bytes from `offset` on. */
WEIR_API int weir_pattern_contiguous(int64_t offset, int64_t bytes, weir_pattern **out);

/* `count` runs of `run` bytes, the i-th at offset + i * stride. */
WEIR_API int weir_pattern_strided(int64_t offset, int64_t count, int64_t run, int64_t stride,
                                  weir_pattern **out);

/* `count` runs in the order given; runs of length 0 vanish. */
WEIR_API int weir_pattern_runs(int64_t count, const int64_t *offsets, const int64_t *lengths,
                               weir_pattern **out);

/* The parts one after the other, the i-th moved by offsets[i] (NULL: not moved). */
WEIR_API int weir_pattern_concat(int64_t count, const int64_t *offsets,
                                 const weir_pattern *const *parts, weir_pattern **out);

/* `pattern` `count` times, each time `extent` bytes further. */
WEIR_API int weir_pattern_repeat(const weir_pattern *pattern, int64_t count, int64_t extent,
                                 weir_pattern **out);

/* --- parts of n-dimensional arrays --- */

/* What of an array. All-zero: everything.
 *
 * Per dimension d it takes the indices lo[d], lo[d] + step[d], ... as long as they are below hi[d]
 * or, for a negative step, above it (so hi[d] = -1 ends with index 0); or, where index[d] is not
 * NULL, those listed there. A range may be empty; each index it takes must exist. */
typedef struct weir_selection {
    const int64_t *lo, *hi;      /* NULL: the whole dimension, in the direction of the step */
    const int64_t *step;         /* NULL: 1 everywhere; never 0 */
    const int64_t *const *index; /* NULL, or per dimension NULL or a list of count[d] indices */
    const int64_t *count;        /* in any order; where nothing is written, also repeated ones */
    /* Instead of all that, where box_lo is not NULL: so many boxes, box b with the indices
     * [box_lo[b * dimensions + d], box_hi[b * dimensions + d]). */
    int64_t boxes;
    const int64_t *box_lo, *box_hi;
    int local;           /* of a set of local arrays: m + 1: indices of local array m, 0: of all */
    int64_t reserved[4]; /* 0 */
} weir_selection;

/* The array that patterns are parts of; it starts at offset 0. */
typedef struct weir_shape {
    int dimensions;      /* 0 to WEIR_MAX_DIMENSIONS; 0 is a single element */
    int64_t element;     /* bytes of an element */
    const int64_t *size; /* by dimension */
    const int *order;    /* storage, slowest dimension first; NULL: row-major, 0 1 2 ... */
    int64_t reserved[4]; /* 0 */
} weir_shape;

/* Ranges and lists, visited with dimension walk[0] slowest; NULL: as stored. WEIR_EINVAL if the
 * selection has boxes or `local`. */
WEIR_API int weir_pattern_section(const weir_shape *array, const weir_selection *selection,
                                  const int *walk, weir_pattern **out);

/* All elements inside at least one of the selection's boxes, each once, in storage order. Takes 72
 * bytes per box and dimension while it works, besides the pattern itself. Ranges and lists are not
 * looked at; no boxes: an empty pattern. WEIR_EINVAL if the selection has `local`. */
WEIR_API int weir_pattern_boxes(const weir_shape *array, const weir_selection *selection,
                                weir_pattern **out);

/* --- using patterns --- */

/* NULL is fine. [local] */
WEIR_API void weir_pattern_free(weir_pattern *pattern);

/* Bytes of data, number of runs visited, and the range [*lo, *hi) that holds all of them (0, 0 if
 * empty). [local] */
WEIR_API int64_t weir_pattern_bytes(const weir_pattern *pattern);
WEIR_API int64_t weir_pattern_pieces(const weir_pattern *pattern);
WEIR_API void weir_pattern_bounds(const weir_pattern *pattern, int64_t *lo, int64_t *hi);

/* 1 or 0. [local] */
WEIR_API int weir_pattern_is_ordered(const weir_pattern *pattern);
WEIR_API int weir_pattern_is_disjoint(const weir_pattern *pattern);

/* Memory the pattern itself takes. [local] */
WEIR_API int64_t weir_pattern_footprint(const weir_pattern *pattern);

/* Copies the data at positions [first, first + bytes) between memory laid out by `pattern` relative
 * to `base` and the contiguous `buffer`. Nothing is allocated. WEIR_EINVAL if the range is not
 * within the pattern's data; then nothing is copied. [local] */
WEIR_API int weir_pattern_pack(const weir_pattern *pattern, int64_t first, int64_t bytes,
                               const void *base, void *buffer);
WEIR_API int weir_pattern_unpack(const weir_pattern *pattern, int64_t first, int64_t bytes,
                                 void *base, const void *buffer);

/* Copies data position by data position from `source` laid out by `from` to `target` laid out by
 * `to`; the memories must not overlap. WEIR_EINVAL if the patterns hold different numbers of bytes.
 * [local] */
WEIR_API int weir_pattern_copy(const weir_pattern *from, const void *source, const weir_pattern *to,
                               void *target);

#ifdef __cplusplus
}
#endif
#endif
