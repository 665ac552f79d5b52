/* The DRA library: disk resident arrays of Global Arrays as Weir's arrays.
 *
 * Inside, indices are those of C: the last dimension is the fastest, ranges are half-open. The
 * interface is one per process and belongs to the thread that uses GA, so its state is one global.
 * Every call is collective over the ranks that called DRA_Init, unless it says otherwise, and
 * returns the same code on all of them. */
#ifndef WR_FRONT_DRA_DRA_STATE_H
#define WR_FRONT_DRA_DRA_STATE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "weir/weir.h"

enum {
    WR_DRA_DIMENSIONS = 7,
    WR_DRA_NAME = 72,  /* longest name of an array, */
    WR_DRA_FILE = 248, /* and of its file: callers' buffers are made for these */
    WR_DRA_ABSOLUTE = 1500,
    WR_DRA_PATH = 1600,    /* scratch folder and file */
    WR_DRA_FIRST = -5000,  /* handles count from here, as they always did */
    WR_DRA_INVALID = -333, /* the request that is none */
    WR_DRA_HINTS = 160,
    WR_DRA_DISKS = 64,
    WR_DRA_RW = -1,
    WR_DRA_W = -2,
    WR_DRA_R = -3
};

/* A range of indices in each dimension. */
typedef struct wr_dra_box {
    int64_t lo[WR_DRA_DIMENSIONS], hi[WR_DRA_DIMENSIONS];
} wr_dra_box;

struct wr_dra_old;

/* An open disk resident array. */
typedef struct wr_dra {
    int handle;
    int type; /* enum weir_type */
    int ga_type;
    int dimensions;
    int64_t shape[WR_DRA_DIMENSIONS];
    int mode;
    int64_t bytes; /* of a fresh one */
    bool fresh;    /* created, not opened: it has no name yet */
    bool marked;   /* its label says that it is being written */
    bool failed;   /* a write to it has */
    weir_array *array;
    struct wr_dra_old *old; /* instead of an array: files of the DRA library */
    char name[WR_DRA_NAME + 1], given[WR_DRA_FILE + 1];
    char file[WR_DRA_ABSOLUTE + 1]; /* as it was given, from wherever the program goes */
    char made[WR_DRA_PATH]; /* of a fresh one: its name until it is moved; "": needs no moving */
} wr_dra;

typedef struct wr_dra_request wr_dra_request;

typedef struct wr_dra_library {
    bool started;
    MPI_Comm comm;
    int group; /* GA's number for the same ranks */
    int rank, ranks;
    int64_t most_arrays, most_bytes, disk_bytes, memory; /* limits; 0: none */
    int64_t disk_used;   /* by new arrays; those that were there before and went are taken off */
    int64_t staged;      /* bytes that requests hold besides GA's own memory */
    int files, io_ranks; /* defaults of new arrays; 0: as Weir finds best */
    int64_t arrays, array_room;
    wr_dra **array;           /* by handle; closed ones are NULL */
    wr_dra_request *requests; /* in the order they were started */
    int next_request;
    char hints[WR_DRA_HINTS];
} wr_dra_library;

extern wr_dra_library wr_dra_state;

/* --- dra_state.c --- */

int wr_dra_begin(int arrays, const double *limits);
int wr_dra_end(void);

/* Sets the error, names the file where there is one, returns the code. [local] */
int wr_dra_fail(int code, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As wr_dra_fail, for a system call that has set errno. [local] */
int wr_dra_fail_system(const char *file, const char *what);

/* What any rank fails with, all fail with. `same` must be equal on all ranks. */
int wr_dra_agree(int code, uint64_t same);
uint64_t wr_dra_mix(uint64_t hash, int64_t value);

/* The array behind a handle, or NULL with an error. [local] */
wr_dra *wr_dra_find(int handle);

/* Where every public call leaves: what went wrong is told, and logged. [local] */
int wr_dra_leave(int code);

/* Bytes that the library may hold besides GA's own memory. [local] */
int64_t wr_dra_budget(void);

/* --- dra_types.c, [local] --- */

/* 0 for what is no type of GA's. */
int wr_dra_type(int ga_type);
int wr_dra_ga_type(int type);
int wr_dra_fortran_type(int ga_type);

/* --- dra_arrays.c --- */

typedef struct wr_dra_order {
    int ga_type, dimensions;
    int64_t shape[WR_DRA_DIMENSIONS], request[WR_DRA_DIMENSIONS]; /* -1: unknown */
    const char *name, *file;
    int mode, files, io_ranks;
} wr_dra_order;

int wr_dra_create(const wr_dra_order *order, int *handle);
int wr_dra_open(const char *file, int mode, int *handle);
int wr_dra_close(int handle);
int wr_dra_delete(int handle);

/* --- dra_layout.c, pure --- */

/* Whether columns suit the typical request better than rows. */
bool wr_dra_by_columns(const wr_dra_order *order, int64_t element, int64_t memory);

/* Whether neither does, because the typical request is a block: then in tiles like it. */
bool wr_dra_in_tiles(const wr_dra_order *order, int64_t element, int64_t *tile);

/* Elements [first, last) of a box, counted by rows, as boxes in that order; at most
 * WR_DRA_RANGE_BOXES. Returns how many. */
enum { WR_DRA_RANGE_BOXES = 2 * WR_DRA_DIMENSIONS };
int wr_dra_range(int dimensions, const wr_dra_box *box, int64_t first, int64_t last,
                 wr_dra_box *out);

int64_t wr_dra_count(int dimensions, const wr_dra_box *box);

/* Bytes from index to index in a dense box. */
void wr_dra_strides(int dimensions, const wr_dra_box *box, int64_t element, int64_t *stride);

/* --- dra_names.c --- */

/* What lies beside an array's file and says what the file itself cannot: NAME.dra. */
typedef struct wr_dra_label {
    int ga_type;
    bool writing; /* who wrote to the array has not closed it */
    char name[WR_DRA_NAME + 1];
} wr_dra_label;

/* [local] */
int wr_dra_label_write(const char *file, const wr_dra_label *label);
int wr_dra_label_read(const char *file, wr_dra_label *label);
void wr_dra_label_remove(const char *file);

enum wr_dra_kind { WR_DRA_NOTHING, WR_DRA_ARRAY, WR_DRA_OLD, WR_DRA_UNFINISHED };

/* What has that name; `left` gets what an unfinished array is called. [local] */
enum wr_dra_kind wr_dra_look(const char *file, char left[WR_DRA_PATH]);

/* A file's name from the root. [local] */
int wr_dra_absolute(const char *file, char out[WR_DRA_ABSOLUTE + 1]);

/* Where a new array is to be made: "" if under its own name. [local] */
int wr_dra_place(const char *file, char made[WR_DRA_PATH]);

/* Logical disks for a new set, if the user has any; `text` is what they point into. [local] */
int wr_dra_disks(char *text, size_t room, weir_array_options *options, const char **disk);

/* Moves an array that is closed to its own name, over what has it. An error says where it is. */
int wr_dra_move(const char *made, const char *file);

/* --- dra_old.c --- */

int wr_dra_old_open(const char *file, wr_dra *out);
int wr_dra_old_close(struct wr_dra_old *old);

/* Bytes of an old array; 0 if it is damaged. [local] */
int64_t wr_dra_old_bytes(const char *file);

/* Removes the files of an old array, but for the one of its own name if that is `replaced` already.
 * [local] */
void wr_dra_old_remove(const char *file, bool replaced);

/* As wr_dra_start_boxes; out has room for the requests of all files. */
int wr_dra_old_files(const struct wr_dra_old *old);
struct wr_dra_memory;
int wr_dra_old_start(const wr_dra *a, bool write, const struct wr_dra_memory *memory,
                     weir_request **out);

/* --- dra_requests.c --- */

/* Boxes of a disk resident array, and where they are in memory. */
typedef struct wr_dra_memory {
    int boxes; /* 0: nothing */
    const wr_dra_box *box;
    const int64_t *stride; /* of one box, in bytes; NULL: boxes are dense, one after the other */
    char *base;
} wr_dra_memory;

typedef struct wr_dra_transfer {
    bool write, transposed;
    bool whole; /* the boxes are not set: everything of both */
    int g_a, d_a;
    wr_dra_box global, disk;
} wr_dra_transfer;

/* Of a global array; 0 if there is none of that handle. [local] */
int wr_dra_global_dimensions(int g_a);

int wr_dra_start(wr_dra_transfer *transfer, int *request);
int wr_dra_wait(int request);
int wr_dra_probe(int request, int *done);
void wr_dra_flick(void);

/* Waits for everything started on an array, NULL: on all; the first error. */
int wr_dra_settle(const wr_dra *array);

#endif
