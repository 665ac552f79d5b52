/* What the tests of the DRA door share. They are GA programs, linked with the door before GA. */
#ifndef WR_TESTS_DRA_SUPPORT_H
#define WR_TESTS_DRA_SUPPORT_H

#include <stdint.h>

/* The call returns 0, or that code and a text with these words. */
#define DRA_OK(call) dra_expect((call), 0, "", #call, __FILE__, __LINE__)
#define DRA_FAILS(call, code, text) dra_expect((call), (code), (text), #call, __FILE__, __LINE__)

extern int dra_rank, dra_ranks;

/* [collective] MPI, GA and MA. */
void dra_begin(int *argc, char ***argv);
void dra_end(void);

void dra_expect(int got, int code, const char *text, const char *call, const char *file, int line);

/* [collective] A name that no other run has; in static memory, which the eighth call from now uses
 * again. */
char *dra_path(const char *what);

/* The same number on all ranks. [collective] */
uint64_t dra_same(uint64_t value);

#endif
