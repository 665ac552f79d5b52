/* Weir: sections of arrays larger than memory, between files and MPI processes.
 *
 * Every function says who calls it: [collective] all ranks of the communicator, in the same order;
 * [local] any rank for itself, without communication. Pointers may be NULL only where it says so.
 */
#ifndef WEIR_H
#define WEIR_H

#include "weir/error.h"
#include "weir/pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_VERSION "0.1.0"

/* Version and MPI flavour of the library in use, such as "0.1.0 openmpi". [local] */
WEIR_API const char *weir_version(void);

#ifdef __cplusplus
}
#endif
#endif
