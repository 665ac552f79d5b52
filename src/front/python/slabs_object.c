/* Slab loops. Views of slabs are NumPy arrays over the loop's buffers, which they keep: a view that
 * outlives its turn shows another slab, or nothing of meaning, but always memory. An array that is
 * closed ends the loops over it first. */
#include <unistd.h>

#include "python.h"

static PyTypeObject *loop_type, *view_type;

typedef struct loop {
    PyObject_HEAD weir_slabs *slabs; /* NULL: not begun */
    PyObject *inputs, *outputs;      /* tuples of arrays */
    int dimensions;
    bool together;
    bool finished; /* nothing is under way: the arrays are not touched any more */
    bool busy;     /* a thread is inside */
    pid_t pid;
    struct loop *next, **place; /* of all that are not finished */
} loop;

static loop *loops;

/* What NumPy makes an array from. */
typedef struct view {
    PyObject_HEAD PyObject *loop, *interface;
} view;

static void view_dealloc(PyObject *self)
{
    view *v = (view *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(v->interface);
    Py_XDECREF(v->loop);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *get_interface(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *interface = ((view *)self)->interface;
    Py_INCREF(interface);
    return interface;
}

/* Where the elements of a slab are. */
typedef struct place {
    const char *data;
    const int64_t *lo, *hi, *stride; /* these in elements */
    bool fixed;                      /* not to be written */
} place;

/* A NumPy array over the place; NULL with an exception. */
static PyObject *view_of(loop *l, const py_array *a, const place *p)
{
    static PyObject *asarray;
    int64_t count[WEIR_MAX_DIMENSIONS];
    for (int d = 0; d < l->dimensions; d++)
        count[d] = p->hi[d] - p->lo[d];
    PyObject *text = PyObject_GetAttrString(a->dtype, "str"), *array = NULL;
    view *v = PyObject_New(view, view_type);
    if (v) {
        Py_INCREF(l);
        v->loop = (PyObject *)l;
        v->interface = Py_BuildValue(
            "{s:i,s:N,s:N,s:O,s:(nO)}", "version", 3, "shape", py_sizes(count, l->dimensions, 1),
            "strides", py_sizes(p->stride, l->dimensions, weir_type_bytes(a->type)), "typestr",
            text, "data", (Py_ssize_t)p->data, p->fixed ? Py_True : Py_False);
        if (v->interface && py_numpy("asarray", &asarray))
            array = PyObject_CallFunctionObjArgs(asarray, v, NULL);
    }
    Py_XDECREF(v);
    Py_XDECREF(text);
    return array;
}

static PyObject *views_of(loop *l, const weir_slab *s, bool input)
{
    PyObject *arrays = input ? l->inputs : l->outputs;
    const Py_ssize_t count = PyTuple_Size(arrays);
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        const py_array *a = (py_array *)PyTuple_GetItem(arrays, i);
        place p = {s->out[i], s->lo, s->hi, s->out_stride, false};
        if (input) {
            p = (place){s->in[i], s->in_lo, s->in_hi, s->in_stride, true};
            for (int d = 0; d < l->dimensions; d++) /* from the slab's corner to the halo's */
                p.data -= (s->lo[d] - s->in_lo[d]) * s->in_stride[d] * weir_type_bytes(a->type);
        }
        PyObject *array = view_of(l, a, &p);
        if (!array) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SetItem(tuple, i, array);
    }
    return tuple;
}

/* --- the loop --- */

static void enlist(loop *l)
{
    l->next = loops;
    l->place = &loops;
    if (l->next)
        l->next->place = &l->next;
    loops = l;
}

static void strike(loop *l)
{
    *l->place = l->next;
    if (l->next)
        l->next->place = l->place;
}

/* Nobody closes an array while a thread is inside. */
static void count_users(const loop *l, int by)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(l->inputs); i++)
        ((py_array *)PyTuple_GetItem(l->inputs, i))->users += by;
    for (Py_ssize_t i = 0; i < PyTuple_Size(l->outputs); i++)
        ((py_array *)PyTuple_GetItem(l->outputs, i))->users += by;
}

static int check_arrays(PyObject *tuple, weir_array **out)
{
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count > WEIR_MAX_SLAB_ARRAYS) {
        PyErr_Format(PyExc_ValueError, "a slab loop has at most %d arrays each way",
                     WEIR_MAX_SLAB_ARRAYS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        py_array *a = py_array_of(PyTuple_GetItem(tuple, i));
        out[i] = a ? py_array_use(a) : NULL;
        if (!out[i])
            return -1;
    }
    return (int)count;
}

/* begin(inputs, outputs, memory, halo, block, deal, together) */
static PyObject *begin(PyObject *self, PyObject *args)
{
    loop *l = (loop *)self;
    weir_array *in[WEIR_MAX_SLAB_ARRAYS], *out[WEIR_MAX_SLAB_ARRAYS];
    weir_slabs_options o = {.input = in, .output = out};
    PyObject *inputs, *outputs, *halo, *block;
    long long memory;
    int code;
    if (!PyArg_ParseTuple(args, "O!O!LOOpp", &PyTuple_Type, &inputs, &PyTuple_Type, &outputs,
                          &memory, &halo, &block, &o.deal, &o.together))
        return NULL;
    o.memory = memory;
    o.inputs = check_arrays(inputs, in);
    o.outputs = o.inputs < 0 ? -1 : check_arrays(outputs, out);
    if (o.outputs < 0 || py_sizes_get(halo, o.halo) < 0 || py_sizes_get(block, o.block) < 0)
        return NULL;
    Py_INCREF(inputs);
    Py_INCREF(outputs);
    l->inputs = inputs;
    l->outputs = outputs;
    l->together = o.together;
    l->pid = getpid();
    count_users(l, 1);
    Py_BEGIN_ALLOW_THREADS code = weir_slabs_begin(&o, &l->slabs);
    Py_END_ALLOW_THREADS count_users(l, -1);
    if (code) {
        l->slabs = NULL;
        return py_raise_shared();
    }
    l->dimensions = ((py_array *)PyTuple_GetItem(o.inputs ? inputs : outputs, 0))->dimensions;
    enlist(l);
    return Py_BuildValue("");
}

/* Whether this thread may go in; with an exception if not. */
static bool enter(loop *l)
{
    if (l->pid != getpid() || l->busy) {
        PyErr_SetString(PyExc_ValueError, l->busy ? "another thread is in this slab loop"
                                                  : "a slab loop of the parent process");
        return false;
    }
    l->busy = true;
    count_users(l, 1);
    return true;
}

static void leave(loop *l)
{
    count_users(l, -1);
    l->busy = false;
}

static void raise_error(const loop *l)
{
    py_raise();
    if (l->together)
        py_mark_shared();
}

/* -1 with an exception. Nobody is inside. */
static int finish_loop(loop *l)
{
    int code;
    if (!l->slabs || l->finished)
        return 0;
    if (!enter(l))
        return -1;
    l->finished = true;
    strike(l);
    Py_BEGIN_ALLOW_THREADS code = weir_slabs_finish(l->slabs);
    Py_END_ALLOW_THREADS leave(l);
    if (code)
        raise_error(l);
    return code ? -1 : 0;
}

static bool has(const loop *l, const py_array *array)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(l->inputs); i++)
        if (PyTuple_GetItem(l->inputs, i) == (const PyObject *)array)
            return true;
    for (Py_ssize_t i = 0; i < PyTuple_Size(l->outputs); i++)
        if (PyTuple_GetItem(l->outputs, i) == (const PyObject *)array)
            return true;
    return false;
}

int py_loops_finish(const py_array *array)
{
    int code = 0;
    for (loop *l = loops; l;) {
        if (l->pid == getpid() && has(l, array)) {
            code = finish_loop(l) ? -1 : code;
            l = loops; /* anything may have happened meanwhile; this one is off the list */
        } else {
            l = l->next;
        }
    }
    return code;
}

static PyObject *finish(PyObject *self, PyObject *unused)
{
    (void)unused;
    return finish_loop((loop *)self) ? NULL : Py_BuildValue("");
}

/* (lo, hi, lo and hi of inputs, inputs, outputs), or None after the last. */
static PyObject *next(PyObject *self, PyObject *unused)
{
    loop *l = (loop *)self;
    weir_slab s;
    int found;
    if (!l->slabs || l->finished)
        return Py_BuildValue("");
    if (PyErr_CheckSignals() || !enter(l))
        return NULL;
    Py_BEGIN_ALLOW_THREADS found = weir_slabs_next(l->slabs, &s);
    Py_END_ALLOW_THREADS leave(l);
    if (found < 0) {
        PyObject *type, *value, *trace;
        raise_error(l);
        PyErr_Fetch(&type, &value, &trace);
        if (finish_loop(l))
            PyErr_Clear(); /* the same */
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    if (!found)
        return finish(self, unused);
    return Py_BuildValue("NNNNNN", py_sizes(s.lo, l->dimensions, 1),
                         py_sizes(s.hi, l->dimensions, 1), py_sizes(s.in_lo, l->dimensions, 1),
                         py_sizes(s.in_hi, l->dimensions, 1), views_of(l, &s, true),
                         views_of(l, &s, false));
}

/* What could not be written is told when the arrays are closed. */
static void keep_error(const loop *l)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    for (Py_ssize_t i = 0; i < PyTuple_Size(l->outputs); i++) {
        py_array *a = (py_array *)PyTuple_GetItem(l->outputs, i);
        if (a->array && !a->lost) {
            Py_INCREF(value);
            a->lost = value;
        }
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* Waits; what could not be written is told later. In the child of a fork there is nothing to do. */
static PyObject *abandon(PyObject *self, PyObject *unused)
{
    loop *l = (loop *)self;
    PyObject *kind, *value, *trace;
    (void)unused;
    if (l->pid != getpid())
        return Py_BuildValue("");
    PyErr_Fetch(&kind, &value, &trace);
    if (finish_loop(l))
        keep_error(l);
    PyErr_Restore(kind, value, trace);
    return Py_BuildValue("");
}

static void loop_dealloc(PyObject *self)
{
    loop *l = (loop *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (l->slabs && l->pid == getpid()) {
        Py_XDECREF(abandon(self, NULL));
        weir_slabs_end(l->slabs);
    } else if (l->slabs && !l->finished) {
        strike(l); /* the parent's; what it has stays */
    }
    Py_XDECREF(l->inputs);
    Py_XDECREF(l->outputs);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    (void)type, (void)args, (void)named;
    PyErr_SetString(PyExc_TypeError, "views come from slab loops");
    return NULL;
}

static PyMethodDef loop_methods[] = {{"begin", begin, METH_VARARGS, NULL},
                                     {"next", next, METH_NOARGS, NULL},
                                     {"finish", finish, METH_NOARGS, NULL},
                                     {"abandon", abandon, METH_NOARGS, NULL},
                                     {NULL, NULL, 0, NULL}};

static PyGetSetDef view_getters[] = {{"__array_interface__", get_interface, NULL, NULL, NULL},
                                     {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot loop_slots[] = {
    {Py_tp_dealloc, loop_dealloc}, {Py_tp_methods, loop_methods}, {0, NULL}};
static PyType_Slot view_slots[] = {{Py_tp_new, refuse_new},
                                   {Py_tp_dealloc, view_dealloc},
                                   {Py_tp_getset, view_getters},
                                   {0, NULL}};

static PyType_Spec loop_spec = {.name = "weir._weir.Loop",
                                .basicsize = sizeof(loop),
                                .flags = Py_TPFLAGS_DEFAULT,
                                .slots = loop_slots};
static PyType_Spec view_spec = {.name = "weir._weir.View",
                                .basicsize = sizeof(view),
                                .flags = Py_TPFLAGS_DEFAULT,
                                .slots = view_slots};

int py_slabs_add(PyObject *module)
{
    view_type = (PyTypeObject *)PyType_FromSpec(&view_spec);
    loop_type = (PyTypeObject *)PyType_FromSpec(&loop_spec);
    Py_XINCREF(loop_type);
    return view_type && loop_type ? PyModule_AddObject(module, "Loop", (PyObject *)loop_type) : -1;
}
