/* Transfers through staging, where elements are as the file has them.
 *
 * Those that block go in chunks of two windows, so that they need little memory, whatever their
 * size; collective ones in as many on every rank. What is only started, and what is atomic, is
 * staged as a whole. */
#ifndef WR_MPIIO_DETOUR_H
#define WR_MPIIO_DETOUR_H

#include "file/file.h"
#include "front/mpiio/conversion.h"

typedef struct wr_detour {
    wr_conversion conversion;
    char *staging; /* or NULL */
    bool write;
} wr_detour;

/* Arguments as of wr_conversion_init. */
int wr_detour_new(const wr_datarep *rep, const void *buffer, int64_t count, MPI_Datatype datatype,
                  wr_detour **out);
void wr_detour_free(wr_detour *d);

/* A transfer that blocks. */
typedef struct wr_trip {
    const wr_datarep *rep;
    wr_detour *detour;          /* NULL: this rank has nothing to transfer */
    const wr_access_request *a; /* all of it, but for the memory */
    bool together;
} wr_trip;

/* A rank comes with `code` != 0 if it cannot take part. *count are bytes of the user's memory. */
int wr_detour_run(weir_file *file, const wr_trip *trip, int code, int64_t *count);

/* Stages all of an access that is to be started, and gives it its memory. */
int wr_detour_stage(wr_detour *d, wr_access_request *a, wr_run_pattern *memory);

/* For wr_after: brings what was read to its place, counts in the user's memory, frees it all. */
int wr_detour_end(void *detour, int code, int64_t *count);

#endif
