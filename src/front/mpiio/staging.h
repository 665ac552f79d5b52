/* Transfers through staging, where elements are as the file has them.
 *
 * Those that block go in chunks of two windows, so that they need little memory, whatever their
 * size; collective ones in as many on every rank. What is only started, and what is atomic, is
 * staged as a whole. */
#ifndef WR_FRONT_MPIIO_STAGING_H
#define WR_FRONT_MPIIO_STAGING_H

#include "file/file.h"
#include "front/mpiio/conversion.h"

typedef struct wr_staging {
    wr_conversion conversion;
    char *staging; /* or NULL */
    bool write;
} wr_staging;

/* Arguments as of wr_conversion_init. */
int wr_staging_new(const wr_datarep *rep, const void *buffer, int64_t count, MPI_Datatype datatype,
                   wr_staging **out);
void wr_staging_free(wr_staging *d);

/* A transfer that blocks. */
typedef struct wr_trip {
    const wr_datarep *rep;
    wr_staging *staged;         /* NULL: this rank has nothing to transfer */
    const wr_access_request *a; /* all of it, but for the memory */
    bool together;
} wr_trip;

/* A rank comes with `code` != 0 if it cannot take part. *count are bytes of the user's memory. */
int wr_staging_run(weir_file *file, const wr_trip *trip, int code, int64_t *count);

/* Stages all of an access that is to be started, and gives it its memory. */
int wr_staging_stage(wr_staging *d, wr_access_request *a, wr_run_pattern *memory);

/* For wr_after: brings what was read to its place, counts in the user's memory, frees it all. */
int wr_staging_end(void *staged, int code, int64_t *count);

#endif
