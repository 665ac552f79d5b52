/* Operators. The package has a function for each; this is what they all come to. */
#include <string.h>

#include "python.h"

enum { MOST = 3 }; /* arrays of an operator */

/* An operator that is running: its arguments, and how Python is told of it. */
typedef struct running {
    weir_array *array[MOST];
    int arrays;
    PyObject *rest;     /* a tuple, as each operator takes it */
    PyObject *progress; /* called with (done, all); NULL: not */
    PyObject *inside;   /* what went wrong while it was told */
    weir_work work;
    weir_statistics statistics;
    weir_relaxation relaxation;
    int last, axes[WEIR_MAX_DIMENSIONS];
    union {
        int number;
        const char *bytes;
    } with;
    int flag;
} running;

static void tell(void *user, int64_t done, int64_t all)
{
    running *r = user;
    PyGILState_STATE state = PyGILState_Ensure();
    if (r->progress && !r->inside) {
        PyObject *told = PyObject_CallFunction(r->progress, "LL", (long long)done, (long long)all);
        Py_XDECREF(told);
    }
    if (!r->inside && (PyErr_Occurred() || PyErr_CheckSignals())) {
        PyObject *type, *trace;
        PyErr_Fetch(&type, &r->inside, &trace);
        PyErr_NormalizeException(&type, &r->inside, &trace);
        Py_XDECREF(type);
        Py_XDECREF(trace);
    }
    PyGILState_Release(state);
}

static int stop(void *user)
{
    return ((running *)user)->inside != NULL;
}

/* --- what each takes and does --- */

static int take_nothing(running *r)
{
    (void)r;
    return 0;
}

static int get_axes(running *r, PyObject *axes)
{
    int64_t size[WEIR_MAX_DIMENSIONS];
    const int count = py_sizes_get(axes, size);
    for (int i = 0; i < count; i++)
        r->axes[i] = (int)size[i];
    return count < 0 ? -1 : 0;
}

/* A number for each dimension. */
static int take_axes(running *r)
{
    PyObject *axes;
    return PyArg_ParseTuple(r->rest, "O", &axes) ? get_axes(r, axes) : -1;
}

/* The same, a kind, and whether NaN is skipped. */
static int take_reduction(running *r)
{
    PyObject *axes;
    return PyArg_ParseTuple(r->rest, "Oip", &axes, &r->with.number, &r->flag) ? get_axes(r, axes)
                                                                              : -1;
}

static int take_number(running *r)
{
    return PyArg_ParseTuple(r->rest, "i", &r->with.number) ? 0 : -1;
}

static int take_bytes(running *r)
{
    Py_ssize_t length;
    if (!PyArg_ParseTuple(r->rest, "y#", &r->with.bytes, &length))
        return -1;
    if (length == weir_type_bytes(weir_array_get_info(r->array[0])->type))
        return 0;
    PyErr_SetString(PyExc_ValueError, "the value is no single element");
    return -1;
}

static int take_relaxation(running *r)
{
    return PyArg_ParseTuple(r->rest, "idp", &r->relaxation.iterations, &r->relaxation.tolerance,
                            &r->relaxation.exchange)
               ? 0
               : -1;
}

static int transpose(running *r)
{
    return weir_array_transpose(r->array[0], r->array[1], r->axes, &r->work);
}

static int multiply(running *r)
{
    return weir_array_multiply(r->array[0], r->array[1], r->array[2], r->with.number, &r->work);
}

static int median(running *r)
{
    return weir_array_median(r->array[0], r->array[1], r->with.number, &r->work);
}

static int relax(running *r)
{
    return weir_array_relax(r->array[0], &r->array[1], &r->relaxation, &r->work, &r->last);
}

static int reduce(running *r)
{
    return weir_array_reduce(r->array[0], &r->statistics, &r->work);
}

static int reduce_along(running *r)
{
    const weir_reduction reduction = {
        .kind = r->with.number, .along = r->axes, .skip_nans = r->flag};
    return weir_array_reduce_along(r->array[0], r->array[1], &reduction, &r->work);
}

static int fill(running *r)
{
    return weir_array_fill(r->array[0], r->with.bytes, &r->work);
}

static PyObject *give_nothing(const running *r)
{
    (void)r;
    return Py_BuildValue("");
}

static PyObject *give_relaxation(const running *r)
{
    return Py_BuildValue("iid", r->last, r->relaxation.done, r->relaxation.residual);
}

static PyObject *give_statistics(const running *r)
{
    const weir_statistics *s = &r->statistics;
    const long long count = s->count, nans = s->nans, min = s->exact_min, max = s->exact_max;
    const int type = weir_array_get_info(r->array[0])->type;
    if (type >= WEIR_F2)
        return Py_BuildValue("LLdddd", count, nans, s->min, s->max, s->mean, s->deviation);
    return Py_BuildValue(type == WEIR_U8 ? "LLKKdd" : "LLLLdd", count, nans, min, max, s->mean,
                         s->deviation);
}

static const struct {
    const char *name;
    int arrays;
    int (*take)(running *r);
    int (*run)(running *r);
    PyObject *(*give)(const running *r);
} operators[] = {{"transpose", 2, take_axes, transpose, give_nothing},
                 {"matmul", 3, take_number, multiply, give_nothing},
                 {"median", 2, take_number, median, give_nothing},
                 {"laplace", 3, take_relaxation, relax, give_relaxation},
                 {"reduce", 1, take_nothing, reduce, give_statistics},
                 {"reduce_along", 2, take_reduction, reduce_along, give_nothing},
                 {"fill", 1, take_bytes, fill, give_nothing}};

enum { OPERATORS = sizeof operators / sizeof *operators };

/* --- running --- */

static int take_arrays(running *r, PyObject *arrays, int wanted)
{
    if (PyTuple_Size(arrays) != wanted) {
        PyErr_Format(PyExc_TypeError, "%d arrays are needed", wanted);
        return -1;
    }
    for (r->arrays = 0; r->arrays < wanted; r->arrays++) {
        py_array *a = py_array_of(PyTuple_GetItem(arrays, r->arrays));
        r->array[r->arrays] = a ? py_array_use(a) : NULL;
        if (!r->array[r->arrays])
            return -1;
    }
    return 0;
}

/* Nobody closes an array that an operator has. */
static void count_users(PyObject *arrays, int by)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(arrays); i++)
        ((py_array *)PyTuple_GetItem(arrays, i))->users += by;
}

static PyObject *result_of(running *r, int which, int code)
{
    if (r->inside) {
        PyErr_SetObject((PyObject *)Py_TYPE(r->inside), r->inside);
        Py_CLEAR(r->inside);
        return NULL;
    }
    if (code)
        return py_raise();
    const weir_estimate *e = r->work.estimate;
    if (e)
        return Py_BuildValue("LLLLs", (long long)e->read, (long long)e->written,
                             (long long)e->calls, (long long)e->memory, e->how);
    return operators[which].give(r);
}

/* operate(name, arrays, rest, memory, direct, progress, dry) */
PyObject *py_operate(PyObject *module, PyObject *args)
{
    (void)module;
    running r = {0};
    weir_estimate estimate = {0};
    const char *name;
    PyObject *arrays, *progress;
    long long memory;
    int dry, which = 0, code;
    if (!PyArg_ParseTuple(args, "sO!O!LpOp", &name, &PyTuple_Type, &arrays, &PyTuple_Type, &r.rest,
                          &memory, &r.work.direct, &progress, &dry))
        return NULL;
    while (which < OPERATORS && strcmp(operators[which].name, name) != 0)
        which++;
    if (which == OPERATORS) {
        PyErr_Format(PyExc_ValueError, "no operator %s", name);
        return NULL;
    }
    if (take_arrays(&r, arrays, operators[which].arrays) || operators[which].take(&r))
        return NULL;
    r.work.memory = memory;
    r.work.estimate = dry ? &estimate : NULL;
    r.work.progress = tell;
    r.work.stop = stop;
    r.work.user = &r;
    r.progress = progress == Py_None ? NULL : progress;
    count_users(arrays, 1);
    Py_BEGIN_ALLOW_THREADS code = operators[which].run(&r);
    Py_END_ALLOW_THREADS count_users(arrays, -1);
    PyObject *result = result_of(&r, which, code);
    py_mark_shared();
    return result;
}
