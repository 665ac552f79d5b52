/* What an access would do, as text and as a picture. */
#include <stdlib.h>

#include "python.h"

typedef struct planned {
    weir_plan_request request;
    weir_shape shape;
    int64_t size[WEIR_MAX_DIMENSIONS];
    int order[WEIR_MAX_DIMENSIONS];
    weir_pattern **patterns;
} planned;

static PyObject *text_of(const weir_plan *plan, int64_t (*make)(const weir_plan *, char *, size_t))
{
    int64_t length = make(plan, NULL, 0);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (length >= 0 && !text)
        return PyErr_NoMemory();
    if (!text || make(plan, text, (size_t)length + 1) < 0) {
        free(text);
        return py_raise();
    }
    PyObject *string = PyUnicode_FromString(text);
    free(text);
    return string;
}

/* The pattern of one rank; None: it wants nothing. */
static int make_pattern(planned *p, PyObject *key, weir_pattern **out)
{
    py_key k;
    if (key == Py_None)
        return 0;
    int done = py_key_parse(key, p->shape.dimensions, p->size, true, &k);
    if (!done)
        PyErr_SetString(PyExc_IndexError, "a plan takes integers, slices, ... and lists");
    if (done <= 0)
        return -1;
    const weir_selection s = py_key_selection(&k);
    int code = weir_pattern_section(&p->shape, &s, NULL, out);
    py_key_release(&k);
    if (code)
        py_raise();
    return code;
}

static PyObject *draw(planned *p)
{
    weir_plan *plan;
    p->request.patterns = (const weir_pattern *const *)p->patterns;
    if (weir_plan_new(&p->request, &plan))
        return py_raise();
    PyObject *text = text_of(plan, weir_plan_print);
    PyObject *picture = text ? text_of(plan, weir_plan_svg) : NULL;
    weir_plan_free(plan);
    if (picture)
        return Py_BuildValue("NN", text, picture);
    Py_XDECREF(text);
    return NULL;
}

static int get_shape(planned *p, PyObject *shape, int columns)
{
    const int n = py_sizes_get(shape, p->size);
    if (n < 0)
        return -1;
    p->shape.dimensions = n;
    p->shape.size = p->size;
    p->shape.order = p->order;
    int64_t slice = p->shape.element;
    for (int d = 0; d < n; d++)
        p->order[d] = columns ? n - 1 - d : d;
    for (int i = 1; i < n; i++)
        slice *= p->size[p->order[i]];
    p->request.unit = slice;
    p->request.file_size = n ? slice * p->size[p->order[0]] : slice;
    return 0;
}

/* plan(shape, element, columns, keys, write, alone, form, ranks_per_node, cores, hints) */
PyObject *py_plan(PyObject *module, PyObject *args)
{
    (void)module;
    planned p = {0};
    PyObject *shape, *keys, *result = NULL;
    long long element;
    int columns;
    if (!PyArg_ParseTuple(args, "O!LpO!ppiiiz", &PyTuple_Type, &shape, &element, &columns,
                          &PyTuple_Type, &keys, &p.request.write, &p.request.alone, &p.request.form,
                          &p.request.ranks_per_node, &p.request.cores, &p.request.hints))
        return NULL;
    p.shape.element = element;
    p.request.ranks = (int)PyTuple_Size(keys);
    if (get_shape(&p, shape, columns))
        return NULL;
    p.patterns = calloc((size_t)p.request.ranks + 1, sizeof(weir_pattern *));
    if (!p.patterns)
        return PyErr_NoMemory();
    int code = 0;
    for (int i = 0; i < p.request.ranks && !code; i++)
        code = make_pattern(&p, PyTuple_GetItem(keys, i), &p.patterns[i]);
    if (!code)
        result = draw(&p);
    for (int i = 0; i < p.request.ranks; i++)
        weir_pattern_free(p.patterns[i]);
    free(p.patterns);
    return result;
}
