/* Arrays: what holds a weir_array. The class that users see is made from this one, in the package.
 */
#include <limits.h>
#include <stddef.h>
#include <unistd.h>

#include "python.h"

#include <structmember.h>

PyTypeObject *py_array_type;
bool py_arrays_were_shared;
static py_array *arrays; /* that are open */

/* --- life --- */

weir_array *py_array_use(py_array *a)
{
    if (a->array && a->pid == getpid())
        return a->array;
    PyErr_SetString(PyExc_ValueError, a->array ? "an array of the parent process: open it here"
                                               : "the array is closed");
    return NULL;
}

py_array *py_array_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, py_array_type))
        return (py_array *)object;
    PyErr_Format(PyExc_TypeError, "a weir.Array is needed, not %R", Py_TYPE(object));
    return NULL;
}

static void enlist(py_array *a)
{
    a->next = arrays;
    a->place = &arrays;
    if (a->next)
        a->next->place = &a->next;
    arrays = a;
}

static void strike(py_array *a)
{
    *a->place = a->next;
    if (a->next)
        a->next->place = a->place;
}

static PyObject *find_dtype(int type)
{
    static PyObject *dtype;
    PyObject *call = py_numpy("dtype", &dtype);
    return call ? PyObject_CallFunction(call, "s", weir_type_name(type)) : NULL;
}

/* What was opened becomes the object's. */
static int adopt(py_array *a, weir_array *array, MPI_Comm comm)
{
    const weir_array_info *info = weir_array_get_info(array);
    a->array = array;
    a->type = info->type;
    a->dimensions = info->dimensions;
    a->rank = 0;
    a->ranks = 1;
    a->pid = getpid();
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &a->rank);
        MPI_Comm_size(comm, &a->ranks);
    }
    py_arrays_were_shared = py_arrays_were_shared || a->ranks > 1;
    enlist(a);
    a->shape = PyTuple_New(info->dimensions);
    for (int d = 0; a->shape && d < info->dimensions; d++) {
        a->size[d] = info->shape[d];
        PyTuple_SetItem(a->shape, d, PyLong_FromLongLong(info->shape[d]));
    }
    a->dtype = find_dtype(info->type);
    return a->shape && a->dtype ? 0 : -1;
}

MPI_Comm py_comm_at(Py_ssize_t address)
{
    return address == 1 ? MPI_COMM_WORLD : address ? *(MPI_Comm *)address : MPI_COMM_NULL;
}

static int check_unused(const py_array *a)
{
    if (a->array)
        PyErr_SetString(PyExc_ValueError, "the array is open");
    return a->array ? -1 : 0;
}

/* _open(path, writable, hints, comm, keep) */
static PyObject *open_array(PyObject *self, PyObject *args)
{
    py_array *a = (py_array *)self;
    const char *path, *hints;
    int writable, code;
    Py_ssize_t address;
    PyObject *keep;
    weir_array *array;
    if (!PyArg_ParseTuple(args, "ypznO", &path, &writable, &hints, &address, &keep) ||
        check_unused(a))
        return NULL;
    const MPI_Comm comm = py_comm_at(address);
    const int mode = writable ? WEIR_READ | WEIR_WRITE : WEIR_READ;
    Py_BEGIN_ALLOW_THREADS code = weir_array_open(comm, path, mode, hints, &array);
    Py_END_ALLOW_THREADS if (code) return py_raise_shared();
    Py_INCREF(keep);
    a->comm = keep;
    a->writable = writable;
    return adopt(a, array, comm) ? NULL : Py_BuildValue("");
}

/* What a new array is to be, as the package says it. */
typedef struct wanted {
    weir_array_info info;
    weir_array_options options;
    const char *path, *hints;
    MPI_Comm comm;
    int64_t tile[WEIR_MAX_DIMENSIONS], shard[WEIR_MAX_DIMENSIONS];
    PyObject *keep, *fill;
    py_array *like; /* or NULL */
} wanted;

static int get_grid(wanted *w, PyObject *grid, PyObject *block)
{
    int64_t sizes[WEIR_MAX_DIMENSIONS] = {0};
    int count = py_sizes_get(grid, sizes);
    if (count < 0 || py_sizes_get(block, w->info.distribution.block) < 0)
        return -1;
    int64_t all = count > 0;
    for (int i = 0; i < count && all <= INT_MAX; i++) {
        w->info.distribution.grid[i] = (int)sizes[i];
        all = sizes[i] > INT_MAX || sizes[i] < 0 ? INT64_MAX : all * (sizes[i] ? sizes[i] : 1);
    }
    w->info.members = (int)all;
    if (all > INT_MAX)
        PyErr_SetString(PyExc_ValueError, "a grid of too many local arrays");
    return all > INT_MAX ? -1 : 0;
}

/* (path, shape, type, columns, tile, shard, codec, fill, overwrite, grid, block, format, like,
 * hints, comm, keep) */
static int get_wanted(PyObject *args, wanted *w)
{
    PyObject *shape, *tile, *shard, *grid, *block, *like;
    Py_ssize_t address;
    const char *type;
    *w = (wanted){0};
    if (!PyArg_ParseTuple(args, "yOspOOzOpOOiOznO", &w->path, &shape, &type, &w->info.columns,
                          &tile, &shard, &w->info.codec, &w->fill, &w->options.overwrite, &grid,
                          &block, &w->info.format, &like, &w->hints, &address, &w->keep))
        return -1;
    w->info.type = weir_type_find(type);
    w->info.dimensions = py_sizes_get(shape, w->info.shape);
    const int tiles = py_sizes_get(tile, w->tile), shards = py_sizes_get(shard, w->shard);
    if (w->info.dimensions < 0 || tiles < 0 || shards < 0 || get_grid(w, grid, block))
        return -1;
    if ((tile != Py_None && tiles != w->info.dimensions) ||
        (shard != Py_None && shards != w->info.dimensions)) {
        PyErr_Format(PyExc_ValueError,
                     "chunks of %d and shards of %d dimensions for an array of %d", tiles, shards,
                     w->info.dimensions);
        return -1;
    }
    w->info.tile = tile == Py_None ? NULL : w->tile;
    w->info.shard = shard == Py_None ? NULL : w->shard;
    if (w->fill != Py_None && PyBytes_Size(w->fill) == weir_type_bytes(w->info.type))
        w->options.fill = PyBytes_AsString(w->fill);
    else if (w->fill != Py_None)
        PyErr_SetString(PyExc_ValueError, "fill is no single element");
    if (like != Py_None)
        w->like = py_array_of(like);
    if (w->like)
        w->options.like = py_array_use(w->like);
    w->comm = py_comm_at(address);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *create(PyObject *self, PyObject *args)
{
    py_array *a = (py_array *)self;
    wanted w;
    weir_array *array;
    int code;
    if (get_wanted(args, &w) || check_unused(a))
        return NULL;
    if (w.like)
        w.like->users++;
    Py_BEGIN_ALLOW_THREADS code =
        weir_array_create(w.comm, w.path, &w.info, &w.options, w.hints, &array);
    Py_END_ALLOW_THREADS if (w.like) w.like->users--;
    if (code)
        return py_raise_shared();
    Py_INCREF(w.keep);
    a->comm = w.keep;
    a->writable = a->fresh = true;
    return adopt(a, array, w.comm) ? NULL : Py_BuildValue("");
}

/* An array that another thread is using stays. */
static int end(py_array *a, int (*how)(weir_array *))
{
    weir_array *array = a->array;
    int code;
    if (a->users) {
        PyErr_SetString(PyExc_ValueError, "the array is in use: by another thread, or further up");
        return -1;
    }
    const int unwritten = py_loops_finish(a);
    if (!a->array) /* closed meanwhile */
        return unwritten;
    strike(a);
    a->array = NULL;
    Py_BEGIN_ALLOW_THREADS code = how(array);
    Py_END_ALLOW_THREADS if (unwritten) return -1; /* that error is pending, and came first */
    if (a->lost) {
        PyErr_SetObject((PyObject *)Py_TYPE(a->lost), a->lost);
        Py_CLEAR(a->lost);
        return -1;
    }
    if (code)
        py_raise_shared();
    return code;
}

static PyObject *close_array(PyObject *self, PyObject *unused)
{
    (void)unused;
    py_array *a = (py_array *)self;
    if (a->array && (!py_array_use(a) || end(a, weir_array_close)))
        return NULL;
    return Py_BuildValue("");
}

static PyObject *discard(PyObject *self, PyObject *unused)
{
    (void)unused;
    py_array *a = (py_array *)self;
    if (a->array && (!py_array_use(a) || end(a, weir_array_discard)))
        return NULL;
    return Py_BuildValue("");
}

/* Closing is collective: of an array that several ranks have, nothing is done for one of them. A
 * new one that is forgotten may be half written: it does not get its name, but for one that lives
 * until a program has come to its end. */
static void forget(py_array *a, bool whole)
{
    PyObject *type, *value, *trace;
    if (a->pid != getpid())
        return;
    PyErr_Fetch(&type, &value, &trace);
    if (a->fresh && !whole)
        PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                         "a new array was not closed, and did not get its name: %s%s",
                         weir_array_where(a->array), a->ranks == 1 ? ", which is removed" : "");
    else if (a->writable)
        PyErr_WarnFormat(PyExc_ResourceWarning, 1, "an array was not closed: %s",
                         weir_array_where(a->array));
    PyErr_Clear();
    if (a->ranks == 1 && end(a, a->fresh && !whole ? weir_array_discard : weir_array_close))
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(type, value, trace);
}

void py_arrays_at_exit(bool well)
{
    for (py_array *a = arrays, *next; a; a = next) {
        next = a->next;
        if (!a->users)
            forget(a, well && a->ranks == 1);
    }
}

static void dealloc(PyObject *self)
{
    py_array *a = (py_array *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (a->array)
        forget(a, false);
    if (a->array)
        strike(a);
    Py_XDECREF(a->lost);
    Py_XDECREF(a->dtype);
    Py_XDECREF(a->shape);
    Py_XDECREF(a->comm);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* --- what users call --- */

static PyObject *sync_array(PyObject *self, PyObject *unused)
{
    (void)unused;
    py_array *a = (py_array *)self;
    int code;
    if (!py_array_use(a))
        return NULL;
    PY_INSIDE(a, code = weir_array_sync(a->array));
    return code ? py_raise_shared() : Py_BuildValue("");
}

static PyObject *stored(PyObject *self, PyObject *unused)
{
    (void)unused;
    py_array *a = (py_array *)self;
    int64_t bytes, tiles;
    int code;
    if (!py_array_use(a))
        return NULL;
    PY_INSIDE(a, code = weir_array_stored(a->array, &bytes, &tiles));
    return code ? py_raise_shared() : Py_BuildValue("LL", (long long)bytes, (long long)tiles);
}

static PyObject *given(PyObject *o)
{
    return o == Py_None ? NULL : o;
}

static PyObject *access_by(PyObject *self, PyObject *args, bool lists)
{
    py_task t = {.array = (py_array *)self, .lists = lists};
    PyObject *memory, *dtype;
    if (!PyArg_ParseTuple(args, "OOOii", &t.key, &memory, &dtype, &t.how, &t.local))
        return NULL;
    t.memory = given(memory);
    t.dtype = given(dtype);
    return py_access_run(&t);
}

/* _access(key, memory, dtype, how, local): of what users say; _move: of what the package makes of
 * that, with lists of indices. */
static PyObject *access_array(PyObject *self, PyObject *args)
{
    return access_by(self, args, false);
}

static PyObject *move_array(PyObject *self, PyObject *args)
{
    return access_by(self, args, true);
}

/* _boxes(lo, hi, memory, how, local): the first two are arrays of a row of int64 for each box. */
static PyObject *move_boxes(PyObject *self, PyObject *args)
{
    py_task t = {.array = (py_array *)self};
    weir_selection s = {0};
    PyObject *lo, *hi, *result = NULL;
    py_memory from = {0}, to = {0};
    if (!PyArg_ParseTuple(args, "OOOii", &lo, &hi, &t.memory, &t.how, &t.local))
        return NULL;
    if (py_memory_get(lo, &from) && py_memory_get(hi, &to)) {
        s.boxes = from.shape[0];
        s.box_lo = (const int64_t *)(const void *)from.data;
        s.box_hi = (const int64_t *)(const void *)to.data;
        s.local = t.local;
        t.boxes = &s;
        result = py_access_run(&t);
    }
    py_memory_release(&to);
    py_memory_release(&from);
    return result;
}

/* _refuse(how, text): what is said is raised. */
static PyObject *refuse(PyObject *self, PyObject *args)
{
    const char *text;
    int how;
    if (!PyArg_ParseTuple(args, "is", &how, &text) || !py_array_use((py_array *)self))
        return NULL;
    PyErr_SetString(PyExc_ValueError, text);
    py_access_refuse((py_array *)self, how);
    PyErr_Clear();
    return Py_BuildValue("");
}

static PyObject *get_item(PyObject *self, PyObject *key)
{
    py_array *a = (py_array *)self;
    const py_task t = {.array = a, .key = key, .how = a->collective ? PY_TOGETHER : 0};
    return py_access_run(&t);
}

static int set_item(PyObject *self, PyObject *key, PyObject *value)
{
    py_array *a = (py_array *)self;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
        return -1;
    }
    const py_task t = {.array = a,
                       .key = key,
                       .memory = value,
                       .how = PY_WRITE | (a->collective ? PY_TOGETHER : 0)};
    PyObject *done = py_access_run(&t);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* What the package asks once. */
static PyObject *info_of(PyObject *self, PyObject *unused)
{
    (void)unused;
    py_array *a = (py_array *)self;
    if (!py_array_use(a))
        return NULL;
    const weir_array_info *info = weir_array_get_info(a->array);
    int64_t grid[WEIR_MAX_DIMENSIONS];
    for (int d = 0; d < info->dimensions; d++)
        grid[d] = info->distribution.grid[d] ? info->distribution.grid[d] : 1;
    return Py_BuildValue("{s:i,s:i,s:i,s:N,s:N,s:z,s:N,s:s,s:s}", "columns", info->columns,
                         "format", info->format, "members", info->members, "chunks",
                         py_sizes(info->tile, info->dimensions, 1), "shards",
                         py_sizes(info->shard, info->dimensions, 1), "codec", info->codec, "grid",
                         py_sizes(info->members ? grid : NULL, info->dimensions, 1), "attributes",
                         weir_array_attributes(a->array), "names", weir_array_names(a->array));
}

/* The shape of a local array. */
static PyObject *local_shape(PyObject *self, PyObject *args)
{
    py_array *a = (py_array *)self;
    int64_t part[WEIR_MAX_DIMENSIONS];
    int member;
    if (!PyArg_ParseTuple(args, "i", &member) || !py_array_use(a))
        return NULL;
    const weir_array_info *info = weir_array_get_info(a->array);
    if (member < 0 || member >= info->members) {
        PyErr_Format(PyExc_IndexError, "there is no local array %d, of %d", member, info->members);
        return NULL;
    }
    if (weir_distribution_shape(&info->distribution, info->dimensions, info->shape, member, part))
        return py_raise();
    return py_sizes(part, info->dimensions, 1);
}

static PyObject *collect(PyObject *self, PyObject *args)
{
    int by;
    if (!PyArg_ParseTuple(args, "i", &by))
        return NULL;
    ((py_array *)self)->collective += by;
    return Py_BuildValue("");
}

static PyObject *get_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((py_array *)self)->array);
}

static Py_ssize_t length(PyObject *self)
{
    const py_array *a = (py_array *)self;
    if (a->dimensions)
        return (Py_ssize_t)a->size[0];
    PyErr_SetString(PyExc_TypeError, "an array without dimensions has no length");
    return -1;
}

static PyMethodDef methods[] = {
    {"_open", open_array, METH_VARARGS, NULL},
    {"_create", create, METH_VARARGS, NULL},
    {"_access", access_array, METH_VARARGS, NULL},
    {"_move", move_array, METH_VARARGS, NULL},
    {"_boxes", move_boxes, METH_VARARGS, NULL},
    {"_refuse", refuse, METH_VARARGS, NULL},
    {"_info", info_of, METH_NOARGS, NULL},
    {"_local_shape", local_shape, METH_VARARGS, NULL},
    {"_collect", collect, METH_VARARGS, NULL},
    {"close", close_array, METH_NOARGS,
     "close()\n--\n\nWaits for everything started and closes the array, on all ranks. A new array "
     "gets its name now, if all writes to it have succeeded."},
    {"discard", discard, METH_NOARGS,
     "discard()\n--\n\nAs close(), but nothing is left of a new array."},
    {"sync", sync_array, METH_NOARGS,
     "sync()\n--\n\nWhat any rank has written before is on stable storage, and seen by all. On all "
     "ranks."},
    {"stored", stored, METH_NOARGS,
     "stored()\n--\n\nBytes that the array takes where it is stored, and how many of its chunks "
     "are there. On all ranks."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {{"closed", get_closed, NULL, "Whether the array was closed.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef members[] = {
    {"shape", T_OBJECT, offsetof(py_array, shape), READONLY, "Indices along each dimension."},
    {"dtype", T_OBJECT, offsetof(py_array, dtype), READONLY,
     "NumPy's type of the elements, in this machine's byte order."},
    {"writable", T_BOOL, offsetof(py_array, writable), READONLY,
     "Whether it was opened for writing, or is new."},
    {"_fresh", T_BOOL, offsetof(py_array, fresh), READONLY, NULL},
    {"_together", T_INT, offsetof(py_array, collective), READONLY, NULL},
    {"rank", T_INT, offsetof(py_array, rank), READONLY,
     "This process among those that have the array open."},
    {"ranks", T_INT, offsetof(py_array, ranks), READONLY,
     "How many processes have the array open together."},
    {"comm", T_OBJECT, offsetof(py_array, comm), READONLY,
     "The communicator it was opened with, or None."},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, dealloc},    {Py_tp_methods, methods},
                              {Py_tp_getset, getters},     {Py_tp_members, members},
                              {Py_mp_subscript, get_item}, {Py_mp_ass_subscript, set_item},
                              {Py_mp_length, length},      {0, NULL}};

static PyType_Spec spec = {.name = "weir._weir.Array",
                           .basicsize = sizeof(py_array),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           .slots = slots};

int py_array_add(PyObject *module)
{
    py_array_type = (PyTypeObject *)PyType_FromSpec(&spec);
    Py_XINCREF(py_array_type);
    return py_array_type ? PyModule_AddObject(module, "Array", (PyObject *)py_array_type) : -1;
}
