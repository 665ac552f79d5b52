/* What the DRA library has besides the calls of Global Arrays' own dra.h, which it replaces.
 *
 * Those return 0 or a code of weir/error.h, the same on every rank; nothing ends the program. One
 * thread at a time may call them. */
#ifndef WEIR_DRA_H
#define WEIR_DRA_H

#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The latest failure of a DRA call on this process, as one line; "" if there was none. Borrowed
 * until the next DRA call. [local] */
const char *weir_dra_error(void);

#ifdef __cplusplus
}
#endif
#endif
