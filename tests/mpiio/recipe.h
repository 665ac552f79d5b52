/* A datatype twice: as MPI made it, and as the list of bytes that the standard says it is. The list
 * is computed here from the arguments of the constructor, never from the datatype. */
#ifndef WR_TESTS_RECIPE_H
#define WR_TESTS_RECIPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST_ELEMENTS = 256, MOST_BLOCKS = 6 };

/* A basic element of a type map. */
typedef struct element {
    int64_t at, bytes;
} element;

/* Extents are MPI's: implementations differ in their padding, and the door asks MPI, too. */
typedef struct typed {
    MPI_Datatype type;
    bool derived; /* to be freed */
    bool pairs;   /* has some of MPI_DOUBLE_INT and the like */
    int count;
    element map[MOST_ELEMENTS]; /* in order */
    int64_t size, lb, extent;
} typed;

/* The arguments of a constructor. */
typedef struct recipe {
    int combiner;
    bool large;                     /* by its variant with large counts, if there is one */
    int n;                          /* blocks or dimensions */
    const typed *item[MOST_BLOCKS]; /* all the same but for a struct */
    int64_t length[MOST_BLOCKS];    /* of blocks, of a subarray; [0] where there is only one */
    int64_t place[MOST_BLOCKS];     /* of blocks; starts of a subarray; [0] is the lb of resized */
    int64_t stride;                 /* of vectors; the extent of resized */
    int order;                      /* of arrays */
    int64_t sizes[MOST_BLOCKS];
    int how[MOST_BLOCKS], argument[MOST_BLOCKS], procs[MOST_BLOCKS];
    int ranks, rank; /* of a darray */
} recipe;

/* False: too many elements. Otherwise the map is all that is set. */
bool recipe_map(const recipe *c, typed *out);

MPI_Datatype recipe_make(const recipe *c);

/* Both; the datatype is committed. False, and nothing made, as above. */
bool recipe_cook(const recipe *c, typed *out);

/* The k-th named type, pair or type of MPI_Type_create_f90_*, for any k >= 0. */
void typed_named(int64_t k, typed *out);

void typed_release(typed *t);

/* The range of the data of an item; 0, 0 if it has none. */
void typed_bounds(const typed *t, int64_t *first, int64_t *end);

/* Where data byte k of items in a row lies. */
int64_t typed_byte(const typed *t, int64_t k);

#endif
