/* What the client programs in C share: `CLIENT write FILE read FILE spoiled FILE ...` does one step
 * after another on all ranks. Every cell of every array has a value of its own, so what is read
 * tells whether it came from the right place. */
#ifndef WR_TESTS_CLIENT_H
#define WR_TESTS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { CLIENT_DIMS = 3 };

typedef enum client_kind {
    CLIENT_BYTE,
    CLIENT_SHORT,
    CLIENT_INT,
    CLIENT_LONG,
    CLIENT_FLOAT,
    CLIENT_DOUBLE
} client_kind;

typedef struct client_array {
    const char *name;
    int number; /* gives its values: of array 0 they are a mark that run_client.py looks for */
    client_kind kind;
    int dims;
    int64_t shape[CLIENT_DIMS];
} client_array;

/* `count` blocks of `block` indices, `stride` apart, in each dimension. */
typedef struct client_box {
    int64_t start[CLIENT_DIMS], stride[CLIENT_DIMS], count[CLIENT_DIMS], block[CLIENT_DIMS];
} client_box;

/* Some cells of an array; data is in the order of the array, the last dimension fastest. */
typedef struct client_cells {
    const client_array *array;
    bool *chosen;
    int64_t count;
} client_cells;

extern int client_rank, client_ranks;

/* --- of each client --- */

void client_write(const char *path);
/* How many values were wrong on this rank. */
int64_t client_read(const char *path);

/* --- of all --- */

/* Ends all ranks unless it holds. */
#define MUST(condition) client_must((condition), #condition, __FILE__, __LINE__)
void client_must(bool holds, const char *what, const char *file, int line);

/* Ends all ranks if there is no memory. */
void *client_alloc(size_t bytes);

size_t client_kind_bytes(client_kind kind);

client_box client_whole(const client_array *array);
/* Narrows one dimension to part `part` of `parts`: a block, or every parts-th index. */
client_box client_split(client_box box, int dim, int part, int parts);
client_box client_deal(client_box box, int dim, int part, int parts);

/* The cells of a box; release frees them. */
client_cells client_cells_of(const client_array *array, const client_box *box);
void client_cells_release(client_cells *cells);
/* Adds the cells of a box; with `toggle`, those that were there already leave. */
void client_cells_add(client_cells *cells, const client_box *box, bool toggle);

/* The values of the cells, `step` items apart, in new memory. */
void *client_values(const client_cells *cells, int64_t step);
/* How many items are not these values; says which is the first. */
int64_t client_count_wrong(const client_cells *cells, const void *items, int64_t step);

/* rows x columns items to columns x rows. */
void client_transpose(client_kind kind, const void *from, void *to, int64_t rows, int64_t columns);

#endif
