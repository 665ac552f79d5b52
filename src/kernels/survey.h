/* Operators that look at sections of arrays, and write nothing: each part of the sections is read
 * by some rank, with what is at the same places of the other section, and shown to the operator. */
#ifndef WR_KERNELS_SURVEY_H
#define WR_KERNELS_SURVEY_H

#include "kernels/work.h"

enum { WR_SURVEY_ARRAYS = 2 };

/* Dimensions of which a section has one index do not count. */
typedef struct wr_survey {
    weir_work work;
    int arrays;
    weir_array *array[WR_SURVEY_ARRAYS];
    const weir_selection *of[WR_SURVEY_ARRAYS]; /* NULL: everything */
    /* the rest follows */
    int dimensions;
    int64_t shape[WEIR_MAX_DIMENSIONS], block[WEIR_MAX_DIMENSIONS];
    int order[WEIR_MAX_DIMENSIONS];                  /* of elements in memory, slowest first */
    int kept[WR_SURVEY_ARRAYS][WEIR_MAX_DIMENSIONS]; /* dimension of the array */
    int64_t all;                                     /* elements of a section */
    int64_t elements;                                /* of a part, at most */
    int64_t parts, steps;
    int64_t buffer; /* bytes of a part */
    int64_t memory;
} wr_survey;

/* Elements lie one after the other. */
typedef struct wr_survey_part {
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS];
    int64_t elements;
    const char *at[WR_SURVEY_ARRAYS];
} wr_survey_part;

/* `besides`: bytes of the work's memory that the operator takes for itself. [collective], and a
 * rank comes with `code` != 0 if it cannot: all return the same. If only an estimate is asked for,
 * that is of so many passes, and [local]. */
int wr_survey_build(wr_survey *parts, int64_t besides, int passes, int code);

typedef struct wr_survey_visit {
    void (*visit)(void *user, const wr_survey_part *part);
    bool (*enough)(void *user); /* NULL, or asked after each step: it ends once one rank says so */
    void *user;
    int64_t before, all; /* elements: of passes before this one, and of all */
} wr_survey_visit;

/* [collective] A pass over all parts. A rank comes with `code` != 0 if it cannot; all return the
 * same. */
int wr_survey_run(const wr_survey *parts, const wr_survey_visit *visit, int code);

/* [collective] Tells that all is done, where that was not foretold, who may ask for a stop. */
int wr_survey_over(const wr_survey *survey, int64_t all);

/* [collective] Sums of all ranks. */
int wr_survey_sum(const wr_survey *survey, int64_t *values, int64_t count);

/* The row-major number, in the section, of element k of a part. */
int64_t wr_survey_number(const wr_survey *parts, const wr_survey_part *part, int64_t k);

#endif
