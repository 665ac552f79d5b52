/* Sizes, and memory of NumPy arrays, by the structure that they show to C as __array_struct__,
 * whose layout NumPy promises. It costs a tenth of a dictionary, and needs no header of NumPy's. */
#include "python.h"

typedef struct array_struct {
    int two; /* it is, where this is such a structure */
    int dimensions;
    char kind;
    int bytes;
    int flags;
    Py_ssize_t *shape, *stride;
    void *data;
    PyObject *description;
} array_struct;

enum { ALIGNED = 0x100, NATIVE = 0x200, WRITABLE = 0x400 };

static int find_type(char kind, int bytes)
{
    const char name[] = {kind, (char)('0' + bytes % 10), 0};
    return kind == 'c' && bytes == 16 ? WEIR_C16 : bytes > 8 ? 0 : weir_type_find(name);
}

int py_memory_get(PyObject *object, py_memory *out)
{
    PyObject *capsule = PyObject_GetAttrString(object, "__array_struct__");
    const array_struct *s =
        capsule && PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    if (PyErr_Occurred() && (PyErr_ExceptionMatches(PyExc_AttributeError) || capsule))
        PyErr_Clear(); /* it has none, or something else of that name */
    const int type = s && s->two == 2 ? find_type(s->kind, s->bytes) : 0;
    if (!type || (s->flags & (ALIGNED | NATIVE)) != (ALIGNED | NATIVE) ||
        s->dimensions > WEIR_MAX_DIMENSIONS) {
        Py_XDECREF(capsule);
        return 0;
    }
    *out = (py_memory){.owner = capsule,
                       .data = s->data,
                       .type = type,
                       .dimensions = s->dimensions,
                       .shape = s->shape,
                       .stride = s->stride,
                       .writable = s->flags & WRITABLE};
    return 1;
}

void py_memory_release(py_memory *m)
{
    Py_CLEAR(m->owner);
}

int py_sizes_get(PyObject *sequence, int64_t *out)
{
    if (sequence == Py_None)
        return 0;
    Py_ssize_t count = PySequence_Size(sequence);
    if (count > WEIR_MAX_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "%zd dimensions; at most %d are possible", count,
                     WEIR_MAX_DIMENSIONS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        out[i] = item ? PyLong_AsLongLong(item) : -1;
        Py_XDECREF(item);
    }
    return PyErr_Occurred() ? -1 : (int)count;
}

PyObject *py_sizes(const int64_t *size, int count, int64_t unit)
{
    if (!size)
        return Py_BuildValue("");
    PyObject *tuple = PyTuple_New(count);
    for (int d = 0; tuple && d < count; d++)
        PyTuple_SetItem(tuple, d, PyLong_FromLongLong(size[d] * unit));
    return tuple;
}
