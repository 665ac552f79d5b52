/* Failures of the library as exceptions, whose classes are in the package. */
#include <string.h>

#include "python.h"

PyObject *py_function(const char *module, const char *name)
{
    PyObject *m = PyImport_ImportModule(module);
    PyObject *function = m ? PyObject_GetAttrString(m, name) : NULL;
    Py_XDECREF(m);
    return function;
}

PyObject *py_numpy(const char *name, PyObject **kept)
{
    if (!*kept)
        *kept = py_function("numpy", name);
    return *kept;
}

PyObject *py_raise(void)
{
    const weir_error e = *weir_error_last();
    char line[1024];
    weir_error_format(&e, line, sizeof line);
    PyObject *make = py_function("weir._errors", "make");
    PyObject *path = PyUnicode_DecodeFSDefault(e.file), *text = PyUnicode_DecodeFSDefault(line);
    PyObject *error = make && path && text
                          ? PyObject_CallFunction(make, "iiiLOO", e.code, e.errnum, e.rank,
                                                  (long long)e.offset, path, text)
                          : NULL;
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(text);
    Py_XDECREF(path);
    Py_XDECREF(make);
    return NULL;
}

void py_mark_shared(void)
{
    PyObject *type, *value, *trace, *share, *shared;
    PyErr_Fetch(&type, &value, &trace);
    if (!type)
        return;
    PyErr_NormalizeException(&type, &value, &trace);
    share = py_function("weir._errors", "share");
    shared = share && value ? PyObject_CallFunctionObjArgs(share, value, NULL) : NULL;
    Py_XDECREF(share);
    PyErr_Clear();
    if (!shared) {
        PyErr_Restore(type, value, trace);
        return;
    }
    PyErr_SetObject((PyObject *)Py_TYPE(shared), shared);
    Py_DECREF(shared);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

PyObject *py_raise_shared(void)
{
    py_raise();
    py_mark_shared();
    return NULL;
}

void py_note_exception(void)
{
    weir_error e = {.code = WEIR_EINVAL, .rank = -1, .offset = -1};
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    PyObject *bytes = text ? PyUnicode_EncodeFSDefault(text) : NULL;
    const char *line = bytes ? PyBytes_AsString(bytes) : NULL;
    strncpy(e.text, line ? line : "wrong arguments", sizeof e.text - 1);
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    PyErr_Restore(type, value, trace);
    weir_error_raise(&e);
}
