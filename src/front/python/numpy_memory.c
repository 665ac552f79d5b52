/* Memory of NumPy arrays, by the structure that they show to C as __array_struct__, whose layout
 * NumPy promises. It costs a tenth of a dictionary, and needs no header of NumPy's. */
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
    PyErr_Clear();
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
