/* Weir: sections of arrays larger than memory, between files and MPI processes.
 *
 * Every function says who calls it: [collective] all ranks of the communicator, in the same order;
 * [local] any rank for itself, without communication. Pointers may be NULL only where it says so.
 */
#ifndef WEIR_H
#define WEIR_H

#include <mpi.h>

#include "weir/error.h"
#include "weir/pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_VERSION "0.1.0"

/* Version and MPI flavour of the library in use, such as "0.1.0 openmpi". [local] */
WEIR_API const char *weir_version(void);

/* Writes what the library finds on this machine and in `folder`, and what it will therefore use, as
 * lines of text into text[0, size), the same on every rank, cut to fit and terminated; 4 KiB are
 * plenty. Takes about 50 ms and writes a few MiB into the folder, removed again. WEIR_ENOENT and
 * the like if the folder cannot be used. [collective] */
WEIR_API int weir_doctor(MPI_Comm comm, const char *folder, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
