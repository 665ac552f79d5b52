/* Weir: sections of arrays larger than memory, between files and MPI processes.
 *
 * Every function says who calls it: [collective] all ranks of the communicator, in the same order;
 * [local] any rank for itself, without communication. Pointers may be NULL only where it says so.
 *
 * A communicator may be MPI_COMM_NULL: this process alone, for which MPI need not run, and any
 * number of threads. What was opened so, a child process opens anew, on its own.
 *
 * What threads may do with a handle is said at its type. Without a handle any thread may make
 * [local] calls, and one thread at a time those on a communicator. That several threads are in the
 * library at a time takes MPI_THREAD_MULTIPLE.
 *
 * Structs can grow. `reserved` must be 0, as it is in an initialised struct (WEIR_EINVAL
 * otherwise); in structs that the library fills it is 0. */
#ifndef WEIR_H
#define WEIR_H

#include <mpi.h>

#include "weir/array.h"
#include "weir/error.h"
#include "weir/file.h"
#include "weir/files.h"
#include "weir/kernels.h"
#include "weir/pattern.h"
#include "weir/plan.h"
#include "weir/type.h"
#include "weir/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version and MPI flavour of the library in use, such as "0.2.0 openmpi". [local] */
WEIR_API const char *weir_version(void);

/* Opens a file on all ranks of `comm`, which must stay until the file is closed. `path` must
 * name the same file everywhere, which one rank creates; `mode` is made of enum weir_mode, the same
 * on all ranks; `hints` is NULL or "NAME=VALUE;...", see docs/tunables.md:
 * rank 0's count, and the environment is stronger. The first rank of each node opens the file now,
 * the others when they first access it, unless `independent=enable`. No rank has it open if one of
 * these cannot; *out is set only on success. WEIR_EINVAL: mode or hints; WEIR_ENOENT, WEIR_EEXIST,
 * WEIR_EACCESS; WEIR_EDISAGREE: ranks open different files, or with different modes.
 * [collective] */
WEIR_API int weir_file_open(MPI_Comm comm, const char *path, int mode, const char *hints,
                            weir_file **out);

/* Creates an array on all ranks of `comm`: a .npy file, or, where info->members is not 0, a folder
 * with a local array for each place of the grid. It is written under another name beside `path`,
 * and gets its own when it is closed. `options` may be NULL. WEIR_EEXIST if there is something of
 * that name that must not be replaced: no array, or one that holds more than its own, or has local
 * arrays on disks that are neither in the options nor in WEIR_DISKS. A link is replaced itself.
 * [collective] */
WEIR_API int weir_array_create(MPI_Comm comm, const char *path, const weir_array_info *info,
                               const weir_array_options *options, const char *hints,
                               weir_array **out);

/* Opens one, whatever number of ranks wrote it; mode is WEIR_READ, or WEIR_READ | WEIR_WRITE. An
 * error names the file and what is wrong with it. [collective] */
WEIR_API int weir_array_open(MPI_Comm comm, const char *path, int mode, const char *hints,
                             weir_array **out);

/* Removes an array that nobody has open, its local arrays included; of a link only itself.
 * WEIR_ENOENT if there is none. WEIR_EEXIST, and nothing is removed, if it is no array, holds more
 * than its own, or has local arrays on disks that WEIR_DISKS does not name. [collective] */
WEIR_API int weir_array_remove(MPI_Comm comm, const char *path);

/* Moves operations in flight that nothing else moves: with progress=poll, or where a thread may not
 * call MPI. Every other call of the library does that too. [local] */
WEIR_API void weir_progress_poll(void);

/* The value that a tunable has after `hints` (NULL: none) and the environment, which is stronger,
 * as text[0, size), cut to fit and terminated. WEIR_EINVAL: there is no such tunable, or hints
 * cannot be understood. [local] */
WEIR_API int weir_tunable_get(const char *hints, const char *name, char *text, size_t size);

/* A line on the index-th variable WEIR_... of the environment that is no tunable, as text[0, size),
 * cut to fit and terminated; returns 1, or 0 if there are not so many. The log says so too. [local]
 */
WEIR_API int weir_tunable_unknown(int index, char *text, size_t size);

/* One line on standard error, if the tunable `log` asks for this level, which is one of its values:
 * for libraries on top of this one. [local] */
WEIR_API void weir_log(const char *level, const char *line);

/* What this process has done with files so far, whichever communicator they are opened on. */
typedef struct weir_totals {
    int64_t wanted_read, wanted_written; /* bytes that calls asked for and got */
    int64_t moved_read, moved_written;   /* bytes between memory and files: what lies between, and
                                            data of other ranks, included; tiles as they are
                                            before they are encoded */
    int64_t calls, errors;               /* accesses, and those of them that failed */
    int64_t io_ns;       /* nanoseconds in these calls; 0 unless `stats` or `trace` */
    int64_t memory_peak; /* most bytes of the library's buffers at a time */
    int64_t reserved[8];
} weir_totals;

/* Those of this process; MPI_COMM_NULL: of what it opened on that, otherwise of all the rest.
 * Amplification is moved bytes by wanted ones, each summed over all ranks. [local] */
WEIR_API int weir_totals_get(MPI_Comm comm, weir_totals *out);

/* Writes what the library finds on this machine and in `folder`, and what it will therefore use, as
 * lines of text into text[0, size), the same on every rank, cut to fit and terminated; 4 KiB are
 * plenty. Takes about 50 ms and writes a few MiB into the folder, removed again. WEIR_ENOENT and
 * the like if the folder cannot be used. [collective] */
WEIR_API int weir_doctor(MPI_Comm comm, const char *folder, char *text, size_t size);

/* The same as one JSON object in a line, for programs; text[0, 16384) holds any that there is.
 * [collective] */
WEIR_API int weir_doctor_json(MPI_Comm comm, const char *folder, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
