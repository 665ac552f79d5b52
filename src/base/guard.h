/* Reading memory that may vanish: pages of a file that somebody cuts, or a device that fails.
 *
 * The system tells of that by a signal, SIGBUS, which would end the program. One handler for all
 * threads, put there by the first guarded call, leaves a guarded call that met it; any other SIGBUS
 * goes to whoever had it before, as if we had never been there. A program that sets a handler of
 * its own later keeps it: from then on nothing is guarded, and callers do without such memory. */
#ifndef WR_BASE_GUARD_H
#define WR_BASE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Calls run(user), which may touch [base, base + bytes); false if a byte of it could not be had, or
 * if nothing guards the call and it was not made. `run` must be able to be left wherever it touches
 * that memory, and must not leave the thread's stack meanwhile. */
bool wr_guard_run(const char *base, int64_t bytes, void (*run)(void *user), void *user);

#endif
