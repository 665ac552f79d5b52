/* Slab loops. Views of slabs are NumPy arrays over the loop's buffers, which they keep: a view that
 * outlives its turn shows another slab, or nothing of meaning, but always memory. */
#include "python.h"

static PyTypeObject *loop_type, *view_type;

typedef struct loop {
    PyObject_HEAD weir_slabs *slabs; /* NULL: not begun */
    PyObject *inputs, *outputs;      /* tuples of arrays */
    int dimensions;
    bool finished;
} loop;

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

static PyObject *sizes_of(const int64_t *size, int count, int64_t unit)
{
    PyObject *tuple = PyTuple_New(count);
    for (int d = 0; tuple && d < count; d++)
        PyTuple_SetItem(tuple, d, PyLong_FromLongLong(size[d] * unit));
    return tuple;
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
            "{s:i,s:N,s:N,s:O,s:(nO)}", "version", 3, "shape", sizes_of(count, l->dimensions, 1),
            "strides", sizes_of(p->stride, l->dimensions, weir_type_bytes(a->type)), "typestr",
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

static int get_lengths(PyObject *tuple, int64_t *out)
{
    const Py_ssize_t count = PyTuple_Size(tuple);
    for (Py_ssize_t i = 0; i < count && i < WEIR_MAX_DIMENSIONS; i++)
        out[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    return PyErr_Occurred() ? -1 : 0;
}

/* begin(inputs, outputs, memory, besides, halo, block, deal, together) */
static PyObject *begin(PyObject *self, PyObject *args)
{
    loop *l = (loop *)self;
    weir_array *in[WEIR_MAX_SLAB_ARRAYS], *out[WEIR_MAX_SLAB_ARRAYS];
    weir_slabs_options o = {.input = in, .output = out};
    PyObject *inputs, *outputs, *halo, *block;
    long long memory, besides;
    int code;
    if (!PyArg_ParseTuple(args, "O!O!LLO!O!pp", &PyTuple_Type, &inputs, &PyTuple_Type, &outputs,
                          &memory, &besides, &PyTuple_Type, &halo, &PyTuple_Type, &block, &o.deal,
                          &o.together))
        return NULL;
    o.memory = memory;
    o.besides = besides;
    o.inputs = check_arrays(inputs, in);
    o.outputs = o.inputs < 0 ? -1 : check_arrays(outputs, out);
    if (o.outputs < 0 || get_lengths(halo, o.halo) || get_lengths(block, o.block) || l->slabs)
        return PyErr_Occurred() ? NULL : Py_BuildValue("");
    Py_BEGIN_ALLOW_THREADS code = weir_slabs_begin(&o, &l->slabs);
    Py_END_ALLOW_THREADS if (code) return py_raise();
    Py_INCREF(inputs);
    Py_INCREF(outputs);
    l->inputs = inputs;
    l->outputs = outputs;
    l->dimensions = ((py_array *)PyTuple_GetItem(o.inputs ? inputs : outputs, 0))->dimensions;
    return Py_BuildValue("");
}

static PyObject *finish(PyObject *self, PyObject *unused)
{
    (void)unused;
    loop *l = (loop *)self;
    int code = 0;
    if (l->slabs && !l->finished) {
        l->finished = true;
        Py_BEGIN_ALLOW_THREADS code = weir_slabs_finish(l->slabs);
        Py_END_ALLOW_THREADS
    }
    return code ? py_raise() : Py_BuildValue("");
}

/* (lo, hi, lo and hi of inputs, inputs, outputs), or None after the last. */
static PyObject *next(PyObject *self, PyObject *unused)
{
    loop *l = (loop *)self;
    weir_slab s;
    int found;
    if (!l->slabs || l->finished)
        return Py_BuildValue("");
    if (PyErr_CheckSignals())
        return NULL;
    Py_BEGIN_ALLOW_THREADS found = weir_slabs_next(l->slabs, &s);
    Py_END_ALLOW_THREADS if (found < 0)
    {
        py_raise();
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        Py_XDECREF(finish(self, unused));
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    if (!found)
        return finish(self, unused);
    return Py_BuildValue("NNNNNN", sizes_of(s.lo, l->dimensions, 1),
                         sizes_of(s.hi, l->dimensions, 1), sizes_of(s.in_lo, l->dimensions, 1),
                         sizes_of(s.in_hi, l->dimensions, 1), views_of(l, &s, true),
                         views_of(l, &s, false));
}

static void loop_dealloc(PyObject *self)
{
    loop *l = (loop *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (l->slabs) {
        Py_BEGIN_ALLOW_THREADS weir_slabs_end(l->slabs);
        Py_END_ALLOW_THREADS
    }
    Py_XDECREF(l->inputs);
    Py_XDECREF(l->outputs);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef loop_methods[] = {{"begin", begin, METH_VARARGS, NULL},
                                     {"next", next, METH_NOARGS, NULL},
                                     {"finish", finish, METH_NOARGS, NULL},
                                     {NULL, NULL, 0, NULL}};

static PyGetSetDef view_getters[] = {{"__array_interface__", get_interface, NULL, NULL, NULL},
                                     {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot loop_slots[] = {
    {Py_tp_dealloc, loop_dealloc}, {Py_tp_methods, loop_methods}, {0, NULL}};
static PyType_Slot view_slots[] = {
    {Py_tp_dealloc, view_dealloc}, {Py_tp_getset, view_getters}, {0, NULL}};

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
    return view_type && loop_type ? PyModule_AddObject(module, "Loop", (PyObject *)loop_type) : -1;
}
