/* Keys that need no thought: integers, slices, ... and arrays of indices. */
#include <limits.h>

#include "python.h"

static int refuse_index(long long i, int d, int64_t n)
{
    PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for dimension %d with size %lld", i,
                 d, (long long)n);
    return -1;
}

static int take_integer(py_key *k, PyObject *item, int d, int64_t n)
{
    int overflow;
    PyObject *number = PyNumber_Index(item);
    if (!number)
        return -1;
    long long i = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow || i < -n || i >= n)
        return refuse_index(overflow < 0 ? LLONG_MIN : overflow ? LLONG_MAX : i, d, n);
    k->lo[d] = i < 0 ? i + n : i;
    k->hi[d] = k->lo[d] + 1;
    k->step[d] = k->count[d] = 1;
    k->dropped[d] = true;
    return 1;
}

static int take_slice(py_key *k, PyObject *item, int d, int64_t n)
{
    Py_ssize_t lo, hi, step;
    if (PySlice_Unpack(item, &lo, &hi, &step) < 0)
        return -1;
    k->count[d] = PySlice_AdjustIndices(n, &lo, &hi, step);
    const bool empty = !k->count[d];
    k->lo[d] = empty ? 0 : lo;
    k->hi[d] = empty ? 0 : hi;
    k->step[d] = empty ? 1 : step;
    return 1;
}

static int take_list(py_key *k, PyObject *item, int d, int64_t n)
{
    py_memory *m = &k->list[d];
    if (!py_memory_get(item, m))
        return 0;
    k->listed = true;
    if (m->type != WEIR_I8 || m->dimensions != 1 ||
        (m->shape[0] > 1 && m->stride[0] != sizeof(int64_t)))
        return 0;
    k->index[d] = (const int64_t *)(const void *)m->data;
    k->count[d] = m->shape[0];
    for (int64_t i = 0; i < k->count[d]; i++)
        if (k->index[d][i] < 0 || k->index[d][i] >= n)
            return refuse_index(k->index[d][i], d, n);
    return 1;
}

/* NumPy's too, which have no length, as its arrays do. */
static bool is_integer(PyObject *item)
{
    static PyObject *truth;
    if (PyLong_Check(item))
        return !PyBool_Check(item);
    return PyIndex_Check(item) && !PyObject_HasAttrString(item, "__len__") &&
           py_numpy("bool_", &truth) && PyObject_IsInstance(item, truth) == 0;
}

static int take(py_key *k, PyObject *item, bool lists, int d, int64_t n)
{
    k->step[d] = 1;
    if (PySlice_Check(item))
        return take_slice(k, item, d, n);
    if (is_integer(item))
        return take_integer(k, item, d, n);
    return lists ? take_list(k, item, d, n) : 0;
}

static PyObject *item_of(PyObject *key, Py_ssize_t i)
{
    return PyTuple_Check(key) ? PyTuple_GetItem(key, i) : key;
}

static int parse(PyObject *key, const int64_t *shape, bool lists, py_key *k)
{
    const Py_ssize_t given = PyTuple_Check(key) ? PyTuple_Size(key) : 1;
    Py_ssize_t dots = 0, at = 0;
    for (Py_ssize_t i = 0; i < given; i++) {
        PyObject *item = item_of(key, i);
        dots += item == Py_Ellipsis;
        if (!lists && item != Py_Ellipsis && !PySlice_Check(item) && !is_integer(item))
            return 0; /* a mask may stand for several dimensions, None for none */
    }
    k->dots = dots > 0;
    if (dots > 1 || given - dots > k->dimensions) {
        PyErr_Format(PyExc_IndexError,
                     dots > 1 ? "an index can only have a single ellipsis ('...')"
                              : "too many indices: the array has %d dimensions, %zd were indexed",
                     k->dimensions, given - dots);
        return -1;
    }
    int d = 0;
    for (; at < given; at++) {
        PyObject *item = item_of(key, at);
        if (item == Py_Ellipsis) {
            for (const int end = k->dimensions - (int)(given - at - 1); d < end; d++)
                k->count[d] = k->hi[d] = shape[d], k->step[d] = 1;
            continue;
        }
        int done = take(k, item, lists, d, shape[d]);
        if (done <= 0)
            return done;
        d++;
    }
    for (; d < k->dimensions; d++)
        k->count[d] = k->hi[d] = shape[d], k->step[d] = 1;
    return 1;
}

int py_key_parse(PyObject *key, int dimensions, const int64_t *shape, bool lists, py_key *k)
{
    *k = (py_key){.dimensions = dimensions};
    int done = parse(key, shape, lists, k);
    if (done <= 0)
        py_key_release(k);
    for (int d = 0; d < dimensions; d++)
        k->kept += !k->dropped[d];
    return done;
}

void py_key_release(py_key *k)
{
    for (int d = 0; d < k->dimensions && k->listed; d++)
        py_memory_release(&k->list[d]);
}

int64_t py_key_elements(const py_key *k)
{
    int64_t all = 1;
    for (int d = 0; d < k->dimensions; d++)
        all *= k->count[d];
    return all;
}

PyObject *py_key_shape(const py_key *k)
{
    PyObject *shape = PyTuple_New(k->kept);
    for (int d = 0, i = 0; shape && d < k->dimensions; d++)
        if (!k->dropped[d])
            PyTuple_SetItem(shape, i++, PyLong_FromLongLong(k->count[d]));
    return shape;
}

weir_selection py_key_selection(const py_key *k)
{
    return (weir_selection){.lo = k->lo,
                            .hi = k->hi,
                            .step = k->step,
                            .index = k->listed ? k->index : NULL,
                            .count = k->listed ? k->count : NULL};
}
