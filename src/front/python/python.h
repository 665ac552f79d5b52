/* What the files of the Python module share. They use Python's limited interface, so that one
 * binary serves all versions from 3.8 on, and NumPy only by what its arrays tell of themselves.
 * What is easier said in Python is in the package beside them. */
#ifndef PY_PYTHON_H
#define PY_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03080000
#include <Python.h>
#include <stdbool.h>
#include <sys/types.h>

#include "weir/weir.h"

/* --- exceptions.c --- */

/* Makes this thread's latest failure of the library an exception; returns NULL. */
PyObject *py_raise(void);

/* Notes on the pending exception, if there is one, that other ranks have one too: closing an array
 * because of it is safe. */
void py_mark_shared(void);

/* Both: of a call that all ranks make. */
PyObject *py_raise_shared(void);

/* The pending exception becomes the library's failure, which other ranks are told of, and stays. */
void py_note_exception(void);

/* A function of the package, weir.MODULE.NAME; NULL with an exception. */
PyObject *py_function(const char *module, const char *name);

/* A function of NumPy's, looked up once; borrowed. */
PyObject *py_numpy(const char *name, PyObject **kept);

/* --- numpy_memory.c --- */

/* A sequence of integers, or None, into out[0, WEIR_MAX_DIMENSIONS); how many, or -1 with an
 * exception. And back: a tuple, each times `unit`; None of NULL. */
int py_sizes_get(PyObject *sequence, int64_t *out);
PyObject *py_sizes(const int64_t *size, int count, int64_t unit);

/* The memory of a NumPy array. */
typedef struct py_memory {
    PyObject *owner; /* what keeps the rest */
    char *data;
    int type; /* enum weir_type */
    int dimensions;
    const Py_ssize_t *shape, *stride;
    bool writable;
} py_memory;

/* 1, or 0 if the object is no array that the library can use as it is; with an exception only where
 * the object had one of its own. */
int py_memory_get(PyObject *object, py_memory *out);
void py_memory_release(py_memory *memory);

/* --- index_key.c --- */

/* What is between the brackets: by dimension a range, or a list of indices. Integers are ranges of
 * one index, of which the result has no dimension. */
typedef struct py_key {
    int dimensions, kept;
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], step[WEIR_MAX_DIMENSIONS];
    const int64_t *index[WEIR_MAX_DIMENSIONS]; /* NULL: a range */
    int64_t count[WEIR_MAX_DIMENSIONS];        /* indices taken */
    bool dropped[WEIR_MAX_DIMENSIONS];
    bool listed; /* some are lists */
    bool dots;   /* it has ..., so that one element is an array of no dimensions */
    py_memory list[WEIR_MAX_DIMENSIONS];
} py_key;

/* 1; 0 if the package must make it simpler first; -1 with an exception. Integers, slices and ...
 * are simple; with `lists`, which only the package says, also arrays of int64, each of which is for
 * its own dimension, and not joined with the others as NumPy has it. */
int py_key_parse(PyObject *key, int dimensions, const int64_t *shape, bool lists, py_key *out);
void py_key_release(py_key *key);
int64_t py_key_elements(const py_key *key);
PyObject *py_key_shape(const py_key *key);

/* For the library; borrows the key. */
weir_selection py_key_selection(const py_key *key);

/* --- array_object.c --- */

typedef struct py_array {
    PyObject_HEAD weir_array *array; /* NULL: closed */
    PyObject *dtype, *shape, *comm;
    int type, dimensions;
    int64_t size[WEIR_MAX_DIMENSIONS];
    int rank, ranks;
    bool writable;
    bool fresh;     /* made here: it gets its name when it is closed */
    PyObject *lost; /* the error of a loop that was forgotten: closing raises it */
    int users;      /* threads inside the library */
    int collective; /* depth of `with a.collective` */
    pid_t pid;
    struct py_array *next, **place; /* of all that are open */
} py_array;

/* The communicator at an address: 0 is none, 1 the world. */
MPI_Comm py_comm_at(Py_ssize_t address);

extern PyTypeObject *py_array_type;
int py_array_add(PyObject *module);

/* The array if it can be used; NULL with an exception. */
weir_array *py_array_use(py_array *a);

/* Of a Python object that must be one; NULL with an exception. */
py_array *py_array_of(PyObject *object);

/* Whether one was ever open on several ranks. */
extern bool py_arrays_were_shared;

/* Closes what this process has alone, before the interpreter ends, well or by an exception. */
void py_arrays_at_exit(bool well);

/* --- array_access.c --- */

enum py_access { PY_WRITE = 1, PY_TOGETHER = 2, PY_REQUEST = 4 };

/* What is selected between the array and `memory` (NULL: new), as `how` says. Returns what was
 * read, None, or a request. */
typedef struct py_task {
    py_array *array;
    PyObject *key, *memory, *dtype; /* NULL: none */
    int how;
    int local;                   /* m + 1: local array m of a set */
    bool lists;                  /* the key is the package's */
    const weir_selection *boxes; /* instead of a key; memory is dense */
} py_task;

PyObject *py_access_run(const py_task *task);

/* This rank takes part in a collective access with the pending exception. */
void py_access_refuse(py_array *a, int how);

/* --- request_object.c --- */

typedef struct py_request {
    PyObject_HEAD weir_request *request; /* NULL: over */
    PyObject *array, *memory, *result;
    PyObject *error;         /* once it has failed */
    PyThread_type_lock lock; /* of the one thread that waits at a time */
    bool together;
    bool interrupted; /* while somebody waited: who forgets it now does not wait again */
} py_request;

int py_request_add(PyObject *module);

/* Takes the references. NULL with an exception: none is taken. */
py_request *py_request_new(py_array *array, PyObject *memory, PyObject *result, bool together);

/* Waits, for ever if seconds < 0, and lets signals in. 1: over; 0: not yet; -1 with an exception,
 * which is not the request's own error if `request` is still there. */
int py_request_wait(py_request *r, double seconds);

/* --- the others --- */

int py_slabs_add(PyObject *module);

/* Loops over the array that are not over are, so that it can be closed; -1 with an exception if
 * something could not be written. */
int py_loops_finish(const py_array *array);

PyObject *py_operate(PyObject *module, PyObject *args);
PyObject *py_plan(PyObject *module, PyObject *args);

/* A thread leaves Python for the library, and comes back. */
#define PY_INSIDE(a, call)                                                                         \
    do {                                                                                           \
        (a)->users++;                                                                              \
        Py_BEGIN_ALLOW_THREADS call;                                                               \
        Py_END_ALLOW_THREADS(a)->users--;                                                          \
    } while (0)

#endif
