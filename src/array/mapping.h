/* From a selection of an array to patterns in its file and in memory. */
#ifndef WR_ARRAY_MAPPING_H
#define WR_ARRAY_MAPPING_H

#include "array/array.h"

/* A piece of memory that is a copy of another: of data that a selection has more than once and that
 * is read once. */
typedef struct wr_again {
    const weir_pattern *from, *to;
    int64_t from_at, to_at; /* added to their offsets */
} wr_again;

typedef struct wr_mapping {
    wr_pair pair;     /* `memory` in elements of the memory's type */
    int64_t elements; /* of the pair */
    int64_t again_count, again_room;
    wr_again *again; /* in this order */
    int64_t made_count, made_room;
    weir_pattern **made;    /* patterns of `again` */
    int64_t column, lo, hi; /* as in wr_access_request */
} wr_mapping;

/* `write`: indices must not repeat. A NULL selection is nothing, a NULL layout dense. On failure
 * there is nothing to release. */
int wr_mapping_build(const weir_array *array, const weir_selection *selection,
                     const weir_layout *layout, bool write, wr_mapping *out);

/* What is at a rank's place of a distribution's grid. */
int wr_mapping_build_part(const weir_array *array, const weir_distribution *distribution, int rank,
                          const weir_layout *layout, wr_mapping *out);

void wr_mapping_release(wr_mapping *mapping);

/* Makes the copies. */
void wr_mapping_repeat(const wr_mapping *mapping, char *base);

/* --- for who needs the axes themselves --- */

/* A selection of ranges and lists, checked, with its lists sorted. */
typedef struct wr_axes {
    int dimensions;
    wr_axis axis[WEIR_MAX_DIMENSIONS];
    int64_t taken[WEIR_MAX_DIMENSIONS]; /* indices, repeated ones counted as often */
    wr_layout layout;
    wr_arena memory; /* of lists */
    int64_t repeats[WEIR_MAX_DIMENSIONS];
    const int64_t *repeat[WEIR_MAX_DIMENSIONS]; /* pairs of places: from, to */
} wr_axes;

int wr_axes_build(const wr_body *body, const weir_selection *selection, const weir_layout *layout,
                  int64_t element, bool write, wr_axes *out);
void wr_axes_release(wr_axes *axes);

/* The body a selection is about: the whole array's, or a member's. */
int wr_selection_body(const weir_array *array, const weir_selection *selection, wr_body *out);

/* The type of elements in memory, and their bytes; 0 if there is no such type. */
int wr_layout_type(const weir_array *array, const weir_layout *layout);
int64_t wr_layout_element(const weir_array *array, const weir_layout *layout);

/* Keeps a pattern until the mapping is released; it is freed on failure. */
int wr_mapping_keep(wr_mapping *mapping, weir_pattern *pattern);
int wr_mapping_add(wr_mapping *mapping, const wr_again *again);

/* The patterns of axes that are about a body of the array, the whole one or a member's. */
int wr_axes_place(const weir_array *array, const wr_body *body, bool whole, const wr_axes *axes,
                  wr_pair *out);

/* Of boxes (box_list.c). */
int wr_mapping_boxes(const weir_array *array, const weir_selection *selection,
                     const weir_layout *layout, bool write, wr_mapping *out);

#endif
