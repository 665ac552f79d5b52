/* Sections as Fortran writes them, lo:hi:step for each dimension, and whether an argument fits one.
 * Where lo or hi is missing it is an end of the dimension; but where only lo is given, the
 * argument's shape says how far. */
#include <stdio.h>

#include "front/fortran/glue.h"

/* Sums of three of these fit 64 bits. */
static const int64_t FARTHEST = INT64_C(1) << 60;

static int take(const wr_fortran_section *s, int dimensions, wr_fortran_selection *out)
{
    int code = wr_fortran_numbers(s->lo, "lo", dimensions, out->lo);
    if (!code)
        code = wr_fortran_numbers(s->hi, "hi", dimensions, out->hi);
    if (!code)
        code = wr_fortran_numbers(s->step, "step", dimensions, out->step);
    for (int d = 0; d < dimensions && !code; d++) {
        const int64_t of[] = {out->lo[d], out->hi[d], out->step[d]};
        for (int i = 0; i < 3; i++)
            if (of[i] > FARTHEST || of[i] < -FARTHEST)
                code = wr_fortran_fail(WEIR_ERANGE, "the section has an index of %lld",
                                       (long long)of[i]);
        if (!code && !out->step[d])
            code = wr_fortran_fail(WEIR_EINVAL, "step is 0 in dimension %d", d + 1);
    }
    return code;
}

/* Where lo is given and hi is not: as far as the argument goes. */
static int reach(const wr_fortran_memory *memory, int dimensions, wr_fortran_selection *out)
{
    if (memory->rank && memory->rank != dimensions)
        return wr_fortran_fail(WEIR_EINVAL,
                               "the argument has %d dimensions, and the array %d: lo needs hi",
                               memory->rank, dimensions);
    for (int d = 0; d < dimensions; d++) {
        int64_t last;
        const int64_t steps = (memory->rank ? memory->extent[d] : 1) - 1;
        if (__builtin_mul_overflow(steps, out->step[d], &last) || last > FARTHEST ||
            last < -FARTHEST)
            return wr_fortran_fail(WEIR_ERANGE, "the section ends beyond all numbers");
        out->hi[d] = out->lo[d] + last;
    }
    return 0;
}

/* The library would say it of indices from 0 on. */
static int check_inside(const weir_array_info *info, const wr_fortran_selection *s)
{
    for (int d = 0; d < info->dimensions; d++) {
        const int64_t first = s->lo[d] + 1, last = first + (s->extent[d] - 1) * s->step[d];
        const int64_t n = info->shape[d];
        if (s->extent[d] && (first < 1 || first > n || last < 1 || last > n))
            return wr_fortran_fail(WEIR_EINVAL,
                                   "the section has index %lld in dimension %d, which "
                                   "ends at %lld",
                                   (long long)(first < 1 || first > n ? first : last), d + 1,
                                   (long long)n);
    }
    return 0;
}

int wr_fortran_select(const wr_fortran_section *section, const weir_array_info *info,
                      const wr_fortran_memory *memory, wr_fortran_selection *out)
{
    const int dimensions = info->dimensions;
    for (int d = 0; d < dimensions; d++)
        out->lo[d] = out->hi[d] = out->step[d] = 1;
    int code = take(section, dimensions, out);
    if (!code && section->lo && !section->hi)
        code = reach(memory, dimensions, out);
    for (int d = 0; d < dimensions && !code; d++) {
        const int back = out->step[d] < 0;
        if (!section->lo)
            out->lo[d] = back ? info->shape[d] : 1;
        if (!section->lo && !section->hi)
            out->hi[d] = back ? 1 : info->shape[d];
        const int64_t taken = (out->hi[d] - out->lo[d] + out->step[d]) / out->step[d];
        out->extent[d] = taken > 0 ? taken : 0;
        out->lo[d]--;
        out->hi[d] -= back ? 2 : 0; /* half-open, in the direction of the step */
    }
    if (!code)
        code = wr_fortran_fit(memory, dimensions, out);
    return code || out->empty ? code : check_inside(info, out);
}

static const char *shape_text(int dimensions, const int64_t *shape, char text[120])
{
    int at = snprintf(text, 120, "(");
    for (int d = 0; d < dimensions && at < 90; d++)
        at += snprintf(text + at, 120 - (size_t)at, "%s%lld", d ? "," : "", (long long)shape[d]);
    snprintf(text + at, 120 - (size_t)at, at < 90 ? ")" : "...)");
    return text;
}

static int is_empty(int dimensions, const int64_t *shape)
{
    for (int d = 0; d < dimensions; d++)
        if (!shape[d])
            return 1;
    return 0;
}

int wr_fortran_fit(const wr_fortran_memory *memory, int dimensions, wr_fortran_selection *out)
{
    char has[120], wanted[120];
    const int all = memory->rank == dimensions; /* otherwise extents of 1 are passed over */
    const int64_t element = weir_type_bytes(memory->type);
    int m = 0, same = 1;
    out->empty = is_empty(dimensions, out->extent);
    if (out->empty && is_empty(memory->rank, memory->extent))
        return 0;
    for (int d = 0; d < dimensions; d++) {
        out->stride[d] = element;
        if (!all && out->extent[d] == 1)
            continue;
        while (!all && m < memory->rank && memory->extent[m] == 1)
            m++;
        same = same && m < memory->rank && memory->extent[m] == out->extent[d];
        if (same)
            out->stride[d] = memory->stride[m++];
    }
    for (; m < memory->rank; m++)
        same = same && memory->extent[m] == 1;
    return same ? 0
                : wr_fortran_fail(WEIR_EINVAL, "the argument has shape %s, and the section %s",
                                  shape_text(memory->rank, memory->extent, has),
                                  shape_text(dimensions, out->extent, wanted));
}
