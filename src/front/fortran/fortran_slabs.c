/* Slab loops: what Fortran gets of a slab is a pointer whose bounds are the array's own indices. */
#include <stdlib.h>

#include "front/fortran/entries.h"

struct wr_fortran_slabs {
    weir_slabs *loop;
    weir_slab slab;
    int there; /* 1: there is a slab */
    int together;
    MPI_Fint comm;
    int dimensions;
    int inputs, outputs;
    weir_array *input[WEIR_MAX_SLAB_ARRAYS], *output[WEIR_MAX_SLAB_ARRAYS];
    wr_fortran_progress *progress;
};

static void tell(void *user, int64_t done, int64_t all)
{
    const wr_fortran_slabs *s = user;
    s->progress(done, all);
}

static int take(wr_fortran_slabs *s, const CFI_cdesc_t *inputs, const CFI_cdesc_t *outputs)
{
    int code = wr_fortran_arrays(inputs, s->input, &s->inputs, &s->comm);
    if (!code)
        code = wr_fortran_arrays(outputs, s->output, &s->outputs, &s->comm);
    if (code || s->inputs + s->outputs == 0)
        return code ? code : wr_fortran_fail(WEIR_EINVAL, "a slab loop needs an array");
    s->dimensions = weir_array_get_info(s->inputs ? *s->input : *s->output)->dimensions;
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): as Fortran calls it */
void weir_fortran_slabs_begin(wr_fortran_slabs **slabs, const CFI_cdesc_t *inputs,
                              const CFI_cdesc_t *outputs, const CFI_cdesc_t *memory,
                              const CFI_cdesc_t *halo, const CFI_cdesc_t *block, const int *deal,
                              const int *together, wr_fortran_progress *progress, int *ierr)
{
    wr_fortran_slabs *s = calloc(1, sizeof *s);
    *slabs = NULL;
    if (!s) {
        wr_fortran_end(wr_fortran_fail(WEIR_ENOMEM, "no memory for a slab loop"), ierr, NULL);
        return;
    }
    s->progress = progress;
    s->together = together && *together;
    int code = take(s, inputs, outputs);
    weir_slabs_options o = {.inputs = s->inputs,
                            .outputs = s->outputs,
                            .input = s->input,
                            .output = s->output,
                            .deal = deal && *deal,
                            .together = s->together,
                            .progress = progress ? tell : NULL,
                            .user = s};
    if (!code)
        code = wr_fortran_number(memory, "memory", &o.memory);
    if (!code)
        code = wr_fortran_numbers(halo, "halo", s->dimensions, o.halo);
    if (!code)
        code = wr_fortran_numbers(block, "block", s->dimensions, o.block);
    if (!code)
        code = weir_slabs_begin(&o, &s->loop);
    const MPI_Fint comm = s->comm;
    if (code)
        free(s);
    else
        *slabs = s;
    wr_fortran_end(code, ierr, &comm);
}

static int check_begun(const wr_fortran_slabs *s)
{
    return s ? 0 : wr_fortran_fail(WEIR_EINVAL, "the slab loop has not begun");
}

_Bool weir_fortran_slabs_next(wr_fortran_slabs **slabs, int *ierr)
{
    wr_fortran_slabs *s = *slabs;
    int code = check_begun(s);
    if (!code)
        code = weir_slabs_next(s->loop, &s->slab);
    if (s)
        s->there = code > 0;
    wr_fortran_end(code < 0 ? code : 0, ierr, s && s->together ? &s->comm : NULL);
    return code > 0;
}

void weir_fortran_slabs_end(wr_fortran_slabs **slabs, int *ierr)
{
    wr_fortran_slabs *s = *slabs;
    const int code = s ? weir_slabs_end(s->loop) : 0, together = s && s->together;
    const MPI_Fint comm = s ? s->comm : 0;
    free(s);
    *slabs = NULL;
    wr_fortran_end(code, ierr, together ? &comm : NULL);
}

/* --- the slab --- */

static int check_there(const wr_fortran_slabs *s)
{
    const int code = check_begun(s);
    return code || s->there ? code : wr_fortran_fail(WEIR_EINVAL, "there is no slab");
}

void weir_fortran_slab_bounds(wr_fortran_slabs *const *slabs, const CFI_cdesc_t *lo,
                              const CFI_cdesc_t *hi, int *ierr)
{
    const wr_fortran_slabs *s = *slabs;
    int64_t first[WEIR_MAX_DIMENSIONS];
    int code = check_there(s);
    for (int d = 0; !code && d < s->dimensions; d++)
        first[d] = s->slab.lo[d] + 1;
    if (!code)
        code = wr_fortran_give(lo, "lo", s->dimensions, first);
    if (!code)
        code = wr_fortran_give(hi, "hi", s->dimensions, s->slab.hi);
    wr_fortran_end(code, ierr, NULL);
}

/* Points it at the elements [lo, hi) around the one at `base`, which is that of `at`. */
static void point(CFI_cdesc_t *p, char *base, const int64_t *at, const int64_t *bounds[3])
{
    for (int d = 0; d < p->rank; d++) {
        const int64_t sm = bounds[2][d] * (int64_t)p->elem_len;
        p->dim[d].lower_bound = (CFI_index_t)(bounds[0][d] + 1);
        p->dim[d].extent = (CFI_index_t)(bounds[1][d] - bounds[0][d]);
        p->dim[d].sm = (CFI_index_t)sm;
        base -= (at[d] - bounds[0][d]) * sm;
    }
    p->base_addr = base;
}

/* The kind of the pointer must be that of the array: nothing is converted in a loop. */
static int check_pointer(const CFI_cdesc_t *p, const weir_array *array)
{
    const weir_array_info *info = weir_array_get_info(array);
    if (wr_fortran_type(p) != info->type)
        return wr_fortran_fail(WEIR_EINVAL, "the pointer is of type %s, and the array %s",
                               weir_type_name(wr_fortran_type(p)), weir_type_name(info->type));
    if (p->rank != info->dimensions)
        return wr_fortran_fail(WEIR_EINVAL, "the pointer has %d dimensions, and the array %d",
                               (int)p->rank, info->dimensions);
    return 0;
}

static int get(const wr_fortran_slabs *s, CFI_cdesc_t *p, const int *input, const int *output)
{
    p->base_addr = NULL;
    int code = check_there(s);
    if (code)
        return code;
    const weir_slab *b = &s->slab;
    const int64_t *in[] = {b->in_lo, b->in_hi, b->in_stride};
    const int64_t *out[] = {b->lo, b->hi, b->out_stride};
    const int i = input && !output ? *input : 0, o = output && !input ? *output : 0;
    if (i > 0 && i <= s->inputs) {
        code = check_pointer(p, s->input[i - 1]);
        if (!code) /* who writes there changes what the next halo holds */
            point(p, (char *)b->in[i - 1], b->lo, in);
    } else if (o > 0 && o <= s->outputs) {
        code = check_pointer(p, s->output[o - 1]);
        if (!code)
            point(p, b->out[o - 1], b->lo, out);
    } else {
        code = wr_fortran_fail(WEIR_EINVAL, "a slab is that of input=1 to %d, or output=1 to %d",
                               s->inputs, s->outputs);
    }
    return code;
}

void weir_fortran_slab_f8(wr_fortran_slabs *const *slabs, CFI_cdesc_t *pointer, const int *input,
                          const int *output, int *ierr)
{
    wr_fortran_end(get(*slabs, pointer, input, output), ierr, NULL);
}

/* A pointer of each kind is a procedure of its own to Fortran, and all the same here. */
#define SAME __attribute__((alias("weir_fortran_slab_f8")))
wr_fortran_slab weir_fortran_slab_l1 SAME, weir_fortran_slab_i1 SAME, weir_fortran_slab_i2 SAME;
wr_fortran_slab weir_fortran_slab_i4 SAME, weir_fortran_slab_i8 SAME, weir_fortran_slab_f4 SAME;
wr_fortran_slab weir_fortran_slab_c8 SAME, weir_fortran_slab_c16 SAME;
