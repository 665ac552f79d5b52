/* A section of an array, which elements it has, and where each of them is in memory: listed one by
 * one. */
#ifndef WR_TESTS_CHOSEN_H
#define WR_TESTS_CHOSEN_H

#include "naive_array.h"

enum { CHOSEN_LIST = 16, CHOSEN_BOXES = 5, CHOSEN_GUARD = 64 };

typedef struct chosen {
    weir_selection section; /* points into this struct, like the next */
    weir_layout layout;
    bool nothing; /* NULL is to be given */
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], step[WEIR_MAX_DIMENSIONS];
    int64_t count[WEIR_MAX_DIMENSIONS], list[WEIR_MAX_DIMENSIONS][CHOSEN_LIST];
    const int64_t *index[WEIR_MAX_DIMENSIONS];
    int64_t box_lo[CHOSEN_BOXES * WEIR_MAX_DIMENSIONS], box_hi[CHOSEN_BOXES * WEIR_MAX_DIMENSIONS];
    int64_t stride[WEIR_MAX_DIMENSIONS];
    int order[WEIR_MAX_DIMENSIONS];
    int type;     /* of elements in memory */
    int64_t size; /* bytes of one there */
    int64_t elements, room;
    int64_t *number, *place; /* in the whole array by rows; in memory, relative to its start */
    int64_t base, bytes;     /* of memory: where the section's begins; in all */
} chosen;

/* What may be chosen. */
typedef struct choice {
    bool write;             /* nothing twice */
    bool ranges;            /* nothing but ranges */
    bool plain;             /* in the array's type */
    bool dense;             /* no strides in memory */
    int apart_of, apart_at; /* of what has index i with i % apart_of == apart_at in a dimension; 0:
                               of all */
    const weir_distribution *by; /* or NULL; exactly what `place` has by it */
    int place;
} choice;

void chosen_random(rng *r, const naive *a, const choice *how, chosen *out);
void chosen_release(chosen *c);

static inline const weir_selection *chosen_section(const chosen *c)
{
    return c->nothing ? NULL : &c->section;
}

/* From memory to the model's elements, and back; elements are converted. */
void chosen_store(const chosen *c, naive *a, const char *memory);
void chosen_fetch(const chosen *c, const naive *a, char *memory);

#endif
