/* An array as a program without a library has it: all elements one after the other by rows, in this
 * machine's byte order, and files that are looked at byte by byte. */
#ifndef WR_TESTS_NAIVE_ARRAY_H
#define WR_TESTS_NAIVE_ARRAY_H

#include "check.h"
#include "weir/array.h"

enum { NAIVE_MOST = 3000, NAIVE_DISKS = 2 }; /* elements; disks of a set that has them */

typedef struct naive {
    weir_array_info info;
    int64_t element, elements; /* bytes of one; how many */
    bool disks;                /* of a set: NAIVE_DISKS, members round-robin */
    bool tiled, sharded;       /* of a Zarr array, with these: */
    int64_t tile[WEIR_MAX_DIMENSIONS], shard[WEIR_MAX_DIMENSIONS];
    const char *codec; /* or NULL */
    char *data;        /* or NULL */
} naive;

/* Sizes, bytes and so on follow from the info; all elements are zeros. */
void naive_settle(naive *a);

/* A form that is not settled. */
void naive_random(rng *r, naive *a);
void naive_release(naive *a);

/* Other tiles, for another shape; nothing for what has none. */
void naive_cut(rng *r, naive *a);

/* A random grid of at most `most` places; blocks of all kinds. */
void random_distribution(rng *r, const weir_array_info *info, int most, weir_distribution *out);
int distribution_places(const weir_distribution *d, int dimensions);

/* Index in the whole array of number k of what place g has along dimension d; -1: no such. */
int64_t naive_owned(const weir_array_info *info, const weir_distribution *by, int d, int g,
                    int64_t k);
/* Where in the grid a place is, along each dimension. */
void naive_place(const weir_distribution *by, int dimensions, int place, int *out);

/* Number of an element by rows; and back. */
int64_t naive_number(const naive *a, const int64_t *index);
void naive_index(const naive *a, int64_t number, int64_t *index);

/* Random elements; bool ones are 0 or 1. */
void random_elements(rng *r, int type, char *out, int64_t count);

/* Whether the files at `path` hold the array, and nothing of an unfinished one is beside them. */
void naive_check_files(const naive *a, const char *path);

/* Rewrites the files in the other byte order. */
void naive_swap_files(naive *a, const char *path);

/* Creating a set on disks, or any array. */
weir_array_options naive_options(const naive *a);

/* Removes a file, or a folder and all in it; nothing there is fine. */
void remove_tree(const char *path);

/* How many names begin with `path`. */
int count_names(const char *path);

#endif
