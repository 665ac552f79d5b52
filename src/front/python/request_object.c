/* Requests. One that is forgotten is waited for; where that would be for other ranks, who may never
 * come, it is left with its memory, and looked at now and then. */
#include <stdlib.h>
#include <unistd.h>

#include "python.h"

static PyTypeObject *type;

/* What is under way for nobody. */
typedef struct orphan {
    weir_request *request;
    PyObject *array, *memory;
    struct orphan *next;
} orphan;

static orphan *orphans;
static pid_t whose; /* they are: a child's parent's are not its own */

static void reap(void)
{
    if (whose != getpid())
        orphans = NULL;
    whose = getpid();
    for (orphan **at = &orphans; *at;) {
        orphan *o = *at;
        int over;
        weir_request_test(&o->request, &over, NULL);
        if (!over) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        Py_XDECREF(o->memory);
        Py_XDECREF(o->array);
        free(o);
    }
}

/* Without memory for a node it is only never reaped. */
static void abandon(py_request *r)
{
    orphan *o = malloc(sizeof *o);
    if (o) {
        *o = (orphan){r->request, r->array, r->memory, orphans};
        orphans = o;
    }
    r->request = NULL;
    r->array = r->memory = NULL;
}

py_request *py_request_new(py_array *array, PyObject *memory, PyObject *result, bool together)
{
    reap();
    py_request *r = PyObject_New(py_request, type);
    if (!r)
        return NULL;
    Py_INCREF(array);
    r->request = NULL;
    r->array = (PyObject *)array;
    r->memory = memory;
    r->result = result;
    r->error = NULL;
    r->together = together;
    r->interrupted = false;
    r->lock = PyThread_allocate_lock();
    if (!r->lock) {
        r->memory = r->result = NULL; /* the caller's still */
        Py_DECREF(r);
        PyErr_NoMemory();
        return NULL;
    }
    return r;
}

static bool is_childs(const py_request *r)
{
    return r->array && ((py_array *)r->array)->pid != getpid();
}

static void finish(py_request *r)
{
    PyObject *t, *trace;
    py_raise();
    PyErr_Fetch(&t, &r->error, &trace);
    PyErr_NormalizeException(&t, &r->error, &trace);
    Py_XDECREF(t);
    Py_XDECREF(trace);
}

static int result_of(py_request *r)
{
    if (!r->error)
        return 1;
    PyErr_SetObject((PyObject *)Py_TYPE(r->error), r->error);
    if (r->together)
        py_mark_shared();
    return -1;
}

/* A look of at most so many seconds, unless another thread has it; whether it is over. */
static bool look(py_request *r, double seconds)
{
    int over = 0, code = 0;
    PyLockStatus got;
    Py_BEGIN_ALLOW_THREADS got =
        PyThread_acquire_lock_timed(r->lock, (PY_TIMEOUT_T)(1e6 * seconds), 0);
    if (got == PY_LOCK_ACQUIRED && r->request)
        code = weir_request_wait_for(&r->request, seconds, &over, NULL);
    Py_END_ALLOW_THREADS if (got != PY_LOCK_ACQUIRED) return false;
    if (code)
        finish(r);
    over = !r->request;
    PyThread_release_lock(r->lock);
    return over;
}

int py_request_wait(py_request *r, double seconds)
{
    const double slice = 0.05; /* between looks at signals */
    if (r->request && is_childs(r)) {
        PyErr_SetString(PyExc_ValueError, "a request of the parent process");
        return -1;
    }
    for (;;) {
        const double now = seconds < 0 || seconds > slice ? slice : seconds;
        if (look(r, now))
            break;
        if (PyErr_CheckSignals()) {
            r->interrupted = true;
            return -1;
        }
        if (seconds >= 0 && (seconds -= now) <= 0)
            return 0;
    }
    Py_CLEAR(r->memory);
    return result_of(r);
}

/* A local access ends by itself; its error is told, since nobody will ask. */
static void wait_for_forgotten(py_request *r)
{
    PyObject *kind, *value, *trace;
    int over = 0, code = 0;
    PyErr_Fetch(&kind, &value, &trace);
    Py_BEGIN_ALLOW_THREADS while (!over) code = weir_request_wait_for(&r->request, 1, &over, NULL);
    Py_END_ALLOW_THREADS if (code)
    {
        py_raise();
        PyErr_WriteUnraisable(NULL);
    }
    PyErr_Restore(kind, value, trace);
}

static void dealloc(PyObject *self)
{
    py_request *r = (py_request *)self;
    PyTypeObject *t = Py_TYPE(self);
    if (r->request && is_childs(r))
        r->array = r->memory = NULL; /* the parent's; here they stay for ever */
    else if (r->request && (r->together || r->interrupted))
        abandon(r);
    else if (r->request)
        wait_for_forgotten(r);
    Py_XDECREF(r->memory);
    Py_XDECREF(r->result);
    Py_XDECREF(r->error);
    Py_XDECREF(r->array);
    if (r->lock)
        PyThread_free_lock(r->lock);
    PyObject_Free(self);
    Py_DECREF(t);
}

static PyObject *wait_request(PyObject *self, PyObject *args, PyObject *named)
{
    static char *names[] = {"timeout", NULL};
    py_request *r = (py_request *)self;
    PyObject *timeout = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, named, "|O:wait", names, &timeout))
        return NULL;
    double seconds = timeout == Py_None ? -1 : PyFloat_AsDouble(timeout);
    if (PyErr_Occurred())
        return NULL;
    if (timeout != Py_None && !(seconds >= 0)) {
        PyErr_SetString(PyExc_ValueError, "a timeout must not be negative");
        return NULL;
    }
    int done = py_request_wait(r, seconds);
    if (!done)
        PyErr_SetString(PyExc_TimeoutError, "the access is not over");
    if (done <= 0)
        return NULL;
    Py_XINCREF(r->result);
    return r->result;
}

static PyObject *test_request(PyObject *self, PyObject *unused)
{
    (void)unused;
    int done = py_request_wait((py_request *)self, 0);
    return done < 0 ? NULL : PyBool_FromLong(done);
}

/* _arrange(function): wait returns what it makes of the memory, a view. */
static PyObject *arrange(PyObject *self, PyObject *function)
{
    py_request *r = (py_request *)self;
    PyObject *result = PyObject_CallFunctionObjArgs(function, r->result, NULL);
    if (!result)
        return NULL;
    Py_XDECREF(r->result);
    r->result = result;
    return Py_BuildValue("");
}

static PyObject *await(PyObject *self)
{
    PyObject *go = py_function("weir._index", "awaited");
    PyObject *iterator = go ? PyObject_CallFunctionObjArgs(go, self, NULL) : NULL;
    Py_XDECREF(go);
    return iterator;
}

static PyObject *repr(PyObject *self)
{
    const py_request *r = (py_request *)self;
    return PyUnicode_FromString(r->request ? "<weir.Request under way>"
                                : r->error ? "<weir.Request that failed>"
                                           : "<weir.Request that is over>");
}

static PyObject *refuse_new(PyTypeObject *t, PyObject *args, PyObject *named)
{
    (void)t, (void)args, (void)named;
    PyErr_SetString(PyExc_TypeError, "requests come from iread, iwrite and the like");
    return NULL;
}

static PyMethodDef methods[] = {
    {"wait", (PyCFunction)(void (*)(void))wait_request, METH_VARARGS | METH_KEYWORDS,
     "wait(timeout=None)\n--\n\nWaits for the access, and returns what was read (None for a "
     "write). "
     "Raises its error, or TimeoutError."},
    {"test", test_request, METH_NOARGS,
     "test()\n--\n\nWhether the access is over. Raises its error if it has failed."},
    {"_arrange", arrange, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, refuse_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_repr, repr},
    {Py_am_await, await},
    {Py_tp_methods, methods},
    {Py_tp_doc, "An access that goes on in the background: wait(), test(), or `await` it. The "
                "memory it reads into or writes from is kept until it is over, and must not be "
                "changed before."},
    {0, NULL}};

static PyType_Spec spec = {.name = "weir.Request",
                           .basicsize = sizeof(py_request),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

int py_request_add(PyObject *module)
{
    type = (PyTypeObject *)PyType_FromSpec(&spec);
    Py_XINCREF(type);
    return type ? PyModule_AddObject(module, "Request", (PyObject *)type) : -1;
}
