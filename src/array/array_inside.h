/* What making, opening and closing an array have in common. */
#ifndef WR_ARRAY_ARRAY_INSIDE_H
#define WR_ARRAY_ARRAY_INSIDE_H

#include "array/array.h"
#include "array/array_name.h"
#include "storage/patience.h"

/* NULL: no memory. */
char *wr_copy_text(const char *text);

/* It joins the world until it is let go, by its owner. NULL: no memory, and NULL is fine. */
weir_array *wr_array_new(wr_world *world, const char *path, const wr_array_name *name);
void wr_array_let_go(weir_array *array);

/* The array is known: everything that follows from that. */
void wr_array_settle(weir_array *array, const wr_description *d);
void wr_array_settle_set(weir_array *array);

/* With what rank 0 has found, or made, for ranks of other nodes. */
wr_patience wr_array_patience(const weir_array *array);

/* The folder of a set, which rank 0 has found or made. */
int wr_array_open_inside(weir_array *array, const char *path);

/* [collective] Opens the file or the members under the name they have now. */
int wr_array_open_file(weir_array *array, const char *path, int mode, const char *hints,
                       const wr_members *members);

/* [collective] The members of a set as one file; skip NULL: as we make them. */
int wr_array_open_members(weir_array *array, const char *path, int mode, const char *hints,
                          const int64_t *skip);

/* Disks that the caller of this call names: the new set's, and those of the environment. */
wr_named_disks wr_array_named_disks(const weir_array *array);

/* Rank 0: of what was made nothing is left. */
void wr_array_abandon(const weir_array *array);

#endif
