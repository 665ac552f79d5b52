/* The description of a local-array set, array.json: the whole array, how it is dealt over a grid of
 * local arrays, and on which logical disk each of these is. Local array m is the file
 * DISK/NAME-m.npy, where DISK is that of m, relative to the folder of array.json. */
#ifndef WR_FORMAT_SET_JSON_H
#define WR_FORMAT_SET_JSON_H

#include "format/description.h"

enum { WR_SET_LONGEST = 64 << 20, WR_SET_NAME = 128 }; /* array.json is refused above the first */

typedef struct wr_set {
    wr_description whole;         /* data_offset and swapped are 0 */
    int grid[WR_DIMENSIONS];      /* local arrays along each dimension, at least 1 */
    int64_t block[WR_DIMENSIONS]; /* dealt in blocks of so many indices; 0: one block each */
    int members;                  /* the product of grid */
    char name[WR_SET_NAME];       /* of the files; no slash, not empty */
    int disks;                    /* at least 1 */
    char **disk;                  /* folders; the list and each of them by wr_alloc */
    int *map;                     /* by member: number of its disk; by wr_alloc */
} wr_set;

/* Memory is bounded by the text's length: some 40 bytes for each of it. WEIR_EFORMAT names what is
 * missing or wrong. "block" may be missing, and so may "map" for up to 65536 members: then disks
 * take turns. Unknown keys are ignored. On failure *out holds nothing to be released. */
int wr_set_parse(const char *text, int64_t length, wr_set *out);

/* The text of array.json, with a 0 after it, to be freed by wr_free. WEIR_ERANGE for sizes from
 * 2^53 on, which JSON does not hold exactly, and for more text than may be read; WEIR_EINVAL for a
 * set that is not as described above. */
int wr_set_print(const wr_set *set, char **text, int64_t *length);

/* Frees disk and map; a zeroed one is fine. */
void wr_set_release(wr_set *set);

#endif
