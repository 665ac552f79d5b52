/* Sections between arrays and memory of NumPy's. What is simple goes straight to the library;
 * everything else is made simple by weir._index, which comes back here. */
#include "python.h"

/* Reads of one rank that are larger let signals in while they go on; not where the memory is the
 * caller's, who may use it again while the transfer goes on. */
enum { LONG = 32 << 20 };

/* Of a call that is under way. */
typedef struct transfer {
    const py_task *task;
    py_key key;
    py_memory memory;
    PyObject *object; /* whose memory it is */
    weir_selection selection;
    weir_layout layout;
    int64_t stride[WEIR_MAX_DIMENSIONS];
    bool ours; /* memory was made here */
} transfer;

static bool has_shape(const py_memory *m, const py_key *k)
{
    int i = 0;
    for (int d = 0; d < k->dimensions; d++)
        if (!k->dropped[d] && (i >= m->dimensions || m->shape[i++] != k->count[d]))
            return false;
    return i == m->dimensions;
}

/* f2 is not converted by the library. */
static bool converts(int type, int other)
{
    return type == other || (type != WEIR_F2 && other != WEIR_F2);
}

static PyObject *new_memory(const transfer *x)
{
    static PyObject *empty;
    const py_task *t = x->task;
    PyObject *shape = py_key_shape(&x->key);
    PyObject *made = shape && py_numpy("empty", &empty)
                         ? PyObject_CallFunctionObjArgs(empty, shape,
                                                        t->dtype ? t->dtype : t->array->dtype, NULL)
                         : NULL;
    Py_XDECREF(shape);
    return made;
}

/* What the package makes of memory that cannot be used as it is: a value to be written that can,
 * or NULL with an exception. */
static PyObject *simpler_value(const transfer *x)
{
    PyObject *make = py_function("weir._index", "value_for");
    PyObject *shape = make ? py_key_shape(&x->key) : NULL;
    PyObject *made = shape ? PyObject_CallFunctionObjArgs(make, x->task->memory,
                                                          x->task->array->dtype, shape, NULL)
                           : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(make);
    return made;
}

static int use(transfer *x, PyObject *object)
{
    x->object = object;
    if (!object)
        return -1;
    if (!py_memory_get(object, &x->memory))
        return PyErr_Occurred() ? -1 : 0;
    return has_shape(&x->memory, &x->key) && converts(x->memory.type, x->task->array->type);
}

/* What the caller gave, or, of a value to be written, what the package makes of it. */
static int use_given(transfer *x)
{
    PyObject *given = x->task->memory;
    Py_INCREF(given);
    int done = use(x, given);
    if (done || !(x->task->how & PY_WRITE))
        return done;
    py_memory_release(&x->memory);
    Py_CLEAR(x->object);
    return use(x, simpler_value(x));
}

/* 1, 0 if the package must read by a detour, -1 with an exception. */
static int find_memory(transfer *x)
{
    const bool write = x->task->how & PY_WRITE;
    x->ours = !x->task->memory;
    int done = x->ours ? use(x, new_memory(x)) : use_given(x);
    if (done > 0 && !write && !x->memory.writable)
        PyErr_SetString(PyExc_ValueError, "out is read-only");
    else if (!done && write)
        PyErr_SetString(PyExc_TypeError, "elements of this type cannot be written");
    return PyErr_Occurred() ? -1 : done;
}

static void lay_out(transfer *x)
{
    const py_key *k = &x->key;
    int i = 0;
    for (int d = 0; d < k->dimensions; d++)
        x->stride[d] = k->dropped[d] ? weir_type_bytes(x->memory.type) : x->memory.stride[i++];
    x->layout = (weir_layout){.stride = x->stride, .type = x->memory.type};
    x->selection = py_key_selection(k);
    x->selection.local = x->task->local;
}

static int call(const transfer *x, weir_request **request)
{
    weir_array *a = x->task->array->array;
    const int how = x->task->how;
    const weir_selection *s = py_key_elements(&x->key) ? &x->selection : NULL;
    int code;
    if (!s && !(how & PY_TOGETHER))
        return 0;
    if (how & PY_TOGETHER)
        code = how & PY_WRITE ? weir_array_write_all(a, s, &x->layout, x->memory.data, request)
                              : weir_array_read_all(a, s, &x->layout, x->memory.data, request);
    else
        code = how & PY_WRITE ? weir_array_write(a, s, &x->layout, x->memory.data, request)
                              : weir_array_read(a, s, &x->layout, x->memory.data, request);
    return code;
}

/* Starts it; a request that has no memory of its own keeps the array's. */
static py_request *start(transfer *x)
{
    const int how = x->task->how;
    PyObject *result = how & PY_WRITE ? Py_None : x->object;
    int code;
    Py_INCREF(result);
    py_request *r = py_request_new(x->task->array, x->object, result, how & PY_TOGETHER);
    if (!r) {
        Py_DECREF(result);
        return NULL;
    }
    x->object = NULL; /* the request's now */
    PY_INSIDE(x->task->array, code = call(x, &r->request));
    if (code) {
        py_raise();
        Py_CLEAR(r);
    }
    return r;
}

/* Lets signals in; after one the request goes on with its memory, for nobody. */
static int run_long(transfer *x)
{
    PyObject *object = x->object;
    Py_INCREF(object);
    py_request *r = start(x);
    int done = r ? py_request_wait(r, -1) : -1;
    Py_XDECREF(r);
    x->object = object;
    return done < 0 ? -1 : 0;
}

static bool is_long(const transfer *x)
{
    return x->ours && !(x->task->how & PY_TOGETHER) &&
           py_key_elements(&x->key) * weir_type_bytes(x->memory.type) >= LONG;
}

static PyObject *run_now(transfer *x)
{
    static PyObject *nothing;
    int code = 0;
    if (is_long(x)) {
        if (run_long(x))
            return NULL;
    } else {
        PY_INSIDE(x->task->array, code = call(x, NULL));
    }
    if (code)
        return py_raise();
    PyObject *result = x->task->how & PY_WRITE ? Py_None : x->object;
    if (x->ours && !x->key.kept && !x->key.dots) {
        if (!nothing)
            nothing = PyTuple_New(0);
        return nothing ? PyObject_GetItem(result, nothing) : NULL; /* a scalar, as of NumPy */
    }
    Py_INCREF(result);
    return result;
}

static PyObject *detour(const py_task *t)
{
    PyObject *go = py_function("weir._index", "access");
    PyObject *result =
        go ? PyObject_CallFunction(go, "OOOOii", t->array, t->key, t->memory ? t->memory : Py_None,
                                   t->dtype ? t->dtype : Py_None, t->how, t->local)
           : NULL;
    Py_XDECREF(go);
    return result;
}

void py_access_refuse(py_array *a, int how)
{
    if (!(how & PY_TOGETHER) || !a->array)
        return;
    py_request *r = how & PY_REQUEST ? py_request_new(a, NULL, NULL, true) : NULL;
    PyObject *type, *value, *trace;
    py_note_exception();
    const weir_error e = *weir_error_last();
    PyErr_Fetch(&type, &value, &trace);
    PY_INSIDE(a, weir_array_refuse_all(a->array, how & PY_WRITE, &e, r ? &r->request : NULL));
    Py_XDECREF(r); /* others may not have begun: it ends by itself */
    PyErr_Restore(type, value, trace);
}

/* The shape that a key is for. */
static int find_shape(const py_task *t, int64_t *shape)
{
    const weir_array_info *info = weir_array_get_info(t->array->array);
    for (int d = 0; d < t->array->dimensions; d++)
        shape[d] = t->array->size[d];
    if (!t->local)
        return 0;
    if (t->local < 1 || t->local > info->members) {
        PyErr_Format(PyExc_IndexError, "there is no local array %d, of %d", t->local - 1,
                     info->members);
        return -1;
    }
    return weir_distribution_shape(&info->distribution, info->dimensions, info->shape, t->local - 1,
                                   shape);
}

/* The package has seen to it that everything fits; the memory is dense. */
static PyObject *run_boxes(transfer *x)
{
    const py_task *t = x->task;
    Py_INCREF(t->memory);
    x->object = t->memory;
    if (!py_memory_get(t->memory, &x->memory)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "elements of this type cannot be moved");
        py_access_refuse(t->array, t->how);
        return NULL;
    }
    x->key.dimensions = x->key.kept = x->memory.dimensions; /* for counting elements, no scalar */
    for (int d = 0; d < x->memory.dimensions; d++)
        x->key.count[d] = x->memory.shape[d];
    x->selection = *t->boxes;
    x->layout.type = x->memory.type;
    return t->how & PY_REQUEST ? (PyObject *)start(x) : run_now(x);
}

static PyObject *run_key(transfer *x)
{
    const py_task *t = x->task;
    int64_t shape[WEIR_MAX_DIMENSIONS];
    PyObject *result = NULL;
    int done = find_shape(t, shape);
    if (!done)
        done = py_key_parse(t->key, t->array->dimensions, shape, t->lists, &x->key);
    const bool parsed = done > 0;
    if (done > 0)
        done = find_memory(x);
    if (done > 0) {
        lay_out(x);
        result = t->how & PY_REQUEST ? (PyObject *)start(x) : run_now(x);
    } else if (PyErr_Occurred()) {
        py_access_refuse(t->array, t->how);
    } else {
        result = detour(t);
    }
    if (parsed)
        py_key_release(&x->key);
    return result;
}

/* What runs in between may be anybody's Python: the array stays open. */
PyObject *py_access_run(const py_task *t)
{
    transfer x = {.task = t};
    if (!py_array_use(t->array))
        return NULL;
    t->array->users++;
    PyObject *result = t->boxes ? run_boxes(&x) : run_key(&x);
    t->array->users--;
    py_memory_release(&x.memory);
    Py_XDECREF(x.object);
    if (!result && t->how & PY_TOGETHER)
        py_mark_shared();
    return result;
}
