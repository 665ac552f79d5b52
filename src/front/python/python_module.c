/* The module _weir, on which the package weir stands. */
#include <string.h>
#include <unistd.h>

#include "python.h"

static pid_t started_in; /* MPI, by this module; 0: not */

/* Starts MPI unless it runs. */
static PyObject *start_mpi(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int running = 0, ended = 0, level;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (ended) {
        PyErr_SetString(PyExc_RuntimeError, "MPI has ended");
        return NULL;
    }
    if (!running) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
        started_in = getpid();
    }
    return Py_BuildValue("");
}

/* at_exit(well) */
static PyObject *at_exit(PyObject *module, PyObject *args)
{
    (void)module;
    int ended = 1, well;
    if (!PyArg_ParseTuple(args, "p", &well))
        return NULL;
    py_arrays_at_exit(well);
    if (started_in == getpid())
        MPI_Finalized(&ended);
    if (!ended)
        MPI_Finalize();
    return Py_BuildValue("");
}

static PyObject *shared(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(py_arrays_were_shared);
}

/* Ends all ranks. */
static PyObject *abort_mpi(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    MPI_Abort(MPI_COMM_WORLD, 1);
    return Py_BuildValue("");
}

static PyObject *mpi_version(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    return PyUnicode_FromString(text);
}

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(weir_version());
}

static PyObject *remove_array(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path;
    Py_ssize_t address;
    int code;
    if (!PyArg_ParseTuple(args, "yn", &path, &address))
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = weir_array_remove(py_comm_at(address), path);
    Py_END_ALLOW_THREADS return code ? py_raise_shared() : Py_BuildValue("");
}

static PyObject *doctor(PyObject *module, PyObject *args)
{
    (void)module;
    const char *folder;
    Py_ssize_t address;
    char text[8192];
    int code;
    if (!PyArg_ParseTuple(args, "yn", &folder, &address))
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = weir_doctor(py_comm_at(address), folder, text, sizeof text);
    Py_END_ALLOW_THREADS return code ? py_raise_shared() : PyUnicode_DecodeFSDefault(text);
}

/* The type of that name, as NumPy's dtype.str has it; "" if there is none. */
static PyObject *type_name(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    const int type = weir_type_find(name);
    return PyUnicode_FromString(type ? weir_type_name(type) : "");
}

static PyMethodDef functions[] = {
    {"start_mpi", start_mpi, METH_NOARGS, NULL},     {"at_exit", at_exit, METH_VARARGS, NULL},
    {"abort", abort_mpi, METH_NOARGS, NULL},         {"shared", shared, METH_NOARGS, NULL},
    {"mpi_version", mpi_version, METH_NOARGS, NULL}, {"version", version, METH_NOARGS, NULL},
    {"remove", remove_array, METH_VARARGS, NULL},    {"doctor", doctor, METH_VARARGS, NULL},
    {"type_name", type_name, METH_VARARGS, NULL},    {"operate", py_operate, METH_VARARGS, NULL},
    {"plan", py_plan, METH_VARARGS, NULL},           {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "weir._weir", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__weir(void); /* Python finds it by its name */

PyMODINIT_FUNC PyInit__weir(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && !py_array_add(module) && !py_request_add(module) && !py_slabs_add(module) &&
        !PyModule_AddIntConstant(module, "WRITE", PY_WRITE) &&
        !PyModule_AddIntConstant(module, "TOGETHER", PY_TOGETHER) &&
        !PyModule_AddIntConstant(module, "REQUEST", PY_REQUEST))
        return module;
    Py_XDECREF(module);
    return NULL;
}
