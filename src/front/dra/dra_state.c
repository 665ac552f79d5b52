/* What all DRA calls share: limits, agreement of ranks, errors. */
#include "dra_state.h"

#include <errno.h>
#include <ga-mpi.h>
#include <ga.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir/dra.h"

wr_dra_library wr_dra_state;

static char last_error[WEIR_ERROR_TEXT + WEIR_ERROR_FILE + 256];

const char *weir_dra_error(void)
{
    return last_error;
}

static int raise(int code, int errnum, const char *file, const char *text)
{
    weir_error error = {.code = code, .errnum = errnum, .rank = -1, .offset = -1};
    if (wr_dra_state.started)
        error.rank = wr_dra_state.rank;
    snprintf(error.text, sizeof error.text, "%s", text);
    snprintf(error.file, sizeof error.file, "%s", file ? file : "");
    return weir_error_raise(&error);
}

int wr_dra_fail(int code, const char *file, const char *format, ...)
{
    char text[WEIR_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return raise(code, 0, file, text);
}

int wr_dra_fail_system(const char *file, const char *what)
{
    const int found = errno;
    char text[WEIR_ERROR_TEXT];
    int code = found == ENOENT                      ? WEIR_ENOENT
               : found == EACCES || found == EPERM  ? WEIR_EACCESS
               : found == ENOSPC || found == EDQUOT ? WEIR_ENOSPC
                                                    : WEIR_EIO;
    snprintf(text, sizeof text, "cannot %s", what);
    return raise(code, found, file, text);
}

uint64_t wr_dra_mix(uint64_t hash, int64_t value)
{
    hash = (hash ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

int wr_dra_agree(int code, uint64_t same)
{
    wr_dra_library *library = &wr_dra_state;
    const int64_t word = (int64_t)(same >> 2); /* so that its negative is another number */
    int64_t own[3] = {code, word, -word}, all[3];
    if (MPI_Allreduce(own, all, 3, MPI_INT64_T, MPI_MIN, library->comm) != MPI_SUCCESS)
        return wr_dra_fail(WEIR_ETRANSPORT, NULL, "ranks could not agree");
    if (!all[0])
        return all[1] == -all[2]
                   ? 0
                   : wr_dra_fail(WEIR_EDISAGREE, NULL, "ranks made calls that do not fit together");
    int first = code == all[0] ? library->rank : library->ranks, from;
    weir_error error = *weir_error_last();
    MPI_Allreduce(&first, &from, 1, MPI_INT, MPI_MIN, library->comm);
    MPI_Bcast(&error, sizeof error, MPI_BYTE, from, library->comm);
    return weir_error_raise(&error);
}

int wr_dra_leave(int code)
{
    if (!code)
        return 0;
    weir_error_format(weir_error_last(), last_error, sizeof last_error);
    weir_log("error", last_error);
    return code;
}

wr_dra *wr_dra_find(int handle)
{
    const wr_dra_library *library = &wr_dra_state;
    const int64_t slot = (int64_t)handle - WR_DRA_FIRST;
    if (!library->started)
        wr_dra_fail(WEIR_EINVAL, NULL, "DRA_Init was not called");
    else if (slot < 0 || slot >= library->arrays || !library->array[slot])
        wr_dra_fail(WEIR_EINVAL, NULL, "%d is no open disk resident array", handle);
    else
        return library->array[slot];
    return NULL;
}

int64_t wr_dra_budget(void)
{
    enum { DEFAULT = 64 << 20 };
    return wr_dra_state.memory ? wr_dra_state.memory : DEFAULT;
}

/* --- beginning and ending --- */

/* A limit in bytes; programs pass integers, which look like tiny numbers or like none. */
static int64_t limit(double bytes)
{
    if (!isfinite(bytes) || bytes < 1)
        return 0;
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

/* An aggregator has two windows at a time. */
static void set_hints(wr_dra_library *library)
{
    enum { LEAST = 256 << 10, WINDOW = 2 << 20 };
    if (!library->memory) {
        *library->hints = 0;
        return;
    }
    const int64_t memory = library->memory > LEAST ? library->memory : LEAST;
    const int64_t window = memory / 2 < WINDOW ? memory / 2 : WINDOW;
    snprintf(library->hints, sizeof library->hints,
             "window=%lld;cb_buffer_size=%lld;overlap_memory=%lld", (long long)window,
             (long long)memory, (long long)memory);
}

int wr_dra_begin(int arrays, const double *limits)
{
    wr_dra_library *library = &wr_dra_state;
    library->most_arrays = arrays > 0 ? arrays : 0;
    library->most_bytes = limit(limits[0]);
    library->disk_bytes = limit(limits[1]);
    library->memory = limit(limits[2]);
    set_hints(library);
    if (library->started)
        return 0;
    library->group = GA_Pgroup_get_default();
    if (MPI_Comm_dup(GA_MPI_Comm_pgroup_default(), &library->comm) != MPI_SUCCESS)
        return wr_dra_fail(WEIR_ETRANSPORT, NULL, "GA's communicator cannot be copied");
    MPI_Comm_rank(library->comm, &library->rank);
    MPI_Comm_size(library->comm, &library->ranks);
    library->started = true;
    return 0;
}

int wr_dra_end(void)
{
    wr_dra_library *library = &wr_dra_state;
    if (!library->started)
        return 0;
    int code = wr_dra_settle(NULL);
    weir_error error = *weir_error_last();
    for (int64_t i = 0; i < library->arrays; i++) {
        int failed = library->array[i] ? wr_dra_close((int)(WR_DRA_FIRST + i)) : 0;
        if (failed && !code) {
            code = failed;
            error = *weir_error_last();
        }
    }
    free(library->array);
    MPI_Comm_free(&library->comm);
    *library = (wr_dra_library){.files = library->files,
                                .io_ranks = library->io_ranks,
                                .next_request = library->next_request};
    return code ? weir_error_raise(&error) : 0;
}
