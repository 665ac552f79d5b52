/* What the tests of the MPI-IO door share. They are linked with the door before the MPI library and
 * use it as any program would: through MPI_File_* only. */
#ifndef WR_TESTS_DOOR_SUPPORT_H
#define WR_TESTS_DOOR_SUPPORT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The call returns an error of that class. */
#define CHECK_CLASS(call, wanted) door_check_class((call), (wanted), #call, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK_CLASS((call), MPI_SUCCESS)

extern int door_rank, door_ranks;

/* MPI_STATUSES_IGNORE; of MPICH's own, a number, gcc says that it has no room for statuses. */
extern MPI_Status *const door_no_statuses;

/* [collective] MPI_Init, who we are, and a check that MPI_File_* is the door's. */
void door_begin(int *argc, char ***argv);

/* [collective at the first call, local afterwards] A name that no other run has; in static memory,
 * which the eighth call from now uses again. */
const char *door_path(const char *what);

/* Returns the code. */
int door_check_class(int code, int wanted, const char *what, const char *file, int line);

/* MPI_Error_string of the code contains both. */
void door_check_text(int code, const char *one, const char *other);

/* [collective] All ranks have this value. */
void door_check_same(int64_t value);

/* The value of a key, or "". */
const char *door_hint(MPI_File fh, const char *key);

/* An info of "key=value;key=value"; to be freed. */
MPI_Info door_info(const char *pairs);

/* --- door_transfer.c --- */

/* A transfer with an offset, or at the individual or shared pointer (which is in the order of ranks
 * if together), or its variant with a large count. */
typedef struct door_order {
    bool write, together, at, shared, large;
    MPI_Offset offset;
    void *buffer;
    int count;
    MPI_Datatype type;
} door_order;

int door_transfer(MPI_File fh, const door_order *o, MPI_Status *status);

/* The same in other forms. */
int door_start(MPI_File fh, const door_order *o, MPI_Request *request);
int door_begin_split(MPI_File fh, const door_order *o);
int door_end(MPI_File fh, const door_order *o, MPI_Status *status);

/* Waits for all requests by one of DOOR_WAYS ways; all of them must succeed. */
enum { DOOR_WAYS = 9 };
void door_wait(int way, int count, MPI_Request *requests, MPI_Status *statuses);

/* Rank 0 writes a file of so many bytes, byte i being i * 7 + 1; the others wait. [collective] */
void door_make_file(const char *path, int64_t bytes);
char door_byte(int64_t i);

#endif
