/* Arguments of Fortran's as C has them: texts, whole numbers of either kind, and arrays of any kind
 * and rank. */
#include <string.h>

#include "front/fortran/glue.h"

int wr_fortran_text(const CFI_cdesc_t *text, char *out, size_t size)
{
    size_t length = text ? text->elem_len : 0;
    const char *from = text ? text->base_addr : "";
    while (length && from[length - 1] == ' ')
        length--;
    *out = 0;
    if (length >= size)
        return wr_fortran_fail(WEIR_ERANGE, "a text of %zu characters, at most %zu", length,
                               size - 1);
    memcpy(out, from, length);
    out[length] = 0;
    return 0;
}

static int take_number(const CFI_cdesc_t *from, const char *at, const char *what, int64_t *out)
{
    int32_t small;
    if (from->type == CFI_type_int64_t) {
        memcpy(out, at, sizeof *out);
        return 0;
    }
    if (from->type != CFI_type_int32_t)
        return wr_fortran_fail(WEIR_EINVAL, "%s is no integer of 4 or 8 bytes", what);
    memcpy(&small, at, sizeof small);
    *out = small;
    return 0;
}

int wr_fortran_number(const CFI_cdesc_t *from, const char *what, int64_t *out)
{
    if (!from)
        return 0;
    if (from->rank)
        return wr_fortran_fail(WEIR_EINVAL, "%s is an array, and must be a number", what);
    return take_number(from, from->base_addr, what, out);
}

int wr_fortran_numbers(const CFI_cdesc_t *from, const char *what, int count, int64_t *out)
{
    if (!from)
        return 0;
    if (from->dim[0].extent != count)
        return wr_fortran_fail(WEIR_EINVAL, "%s has %lld numbers, and the array %d dimensions",
                               what, (long long)from->dim[0].extent, count);
    const char *at = from->base_addr;
    int code = 0;
    for (int i = 0; i < count && !code; i++, at += from->dim[0].sm)
        code = take_number(from, at, what, &out[i]);
    return code;
}

static int give_number(const CFI_cdesc_t *to, char *at, const char *what, int64_t number)
{
    const int32_t small = (int32_t)number;
    if (to->type != CFI_type_int64_t && to->type != CFI_type_int32_t)
        return wr_fortran_fail(WEIR_EINVAL, "%s is no integer of 4 or 8 bytes", what);
    if (to->type == CFI_type_int32_t && small != number)
        return wr_fortran_fail(WEIR_ERANGE, "%lld does not fit %s: make it integer(int64)",
                               (long long)number, what);
    memcpy(at, to->type == CFI_type_int64_t ? (const void *)&number : &small, to->elem_len);
    return 0;
}

int wr_fortran_give(const CFI_cdesc_t *to, const char *what, int count, const int64_t *numbers)
{
    if (!to)
        return 0;
    if (to->dim[0].extent < count)
        return wr_fortran_fail(WEIR_EINVAL, "%s has %lld numbers, and the array %d dimensions",
                               what, (long long)to->dim[0].extent, count);
    char *at = to->base_addr;
    int code = 0;
    for (CFI_index_t i = 0; i < to->dim[0].extent && !code; i++, at += to->dim[0].sm)
        code = give_number(to, at, what, i < count ? numbers[i] : 1);
    return code;
}

int wr_fortran_arrays(const CFI_cdesc_t *from, weir_array **out, int *count, MPI_Fint *comm)
{
    *count = 0;
    if (!from)
        return 0;
    if (from->dim[0].extent > WEIR_MAX_SLAB_ARRAYS)
        return wr_fortran_fail(WEIR_EINVAL, "%lld arrays, at most %d",
                               (long long)from->dim[0].extent, WEIR_MAX_SLAB_ARRAYS);
    const char *at = from->base_addr;
    for (CFI_index_t i = 0; i < from->dim[0].extent; i++, at += from->dim[0].sm) {
        wr_fortran_array array;
        memcpy(&array, at, sizeof array);
        const int code = wr_fortran_check_open(&array);
        if (code)
            return code;
        out[(*count)++] = array.handle;
        *comm = array.comm;
    }
    return 0;
}

/* gfortran has codes for logicals of all sizes, C only for those of one byte. */
static int is_logical(const CFI_cdesc_t *u)
{
    return (u->type & CFI_type_mask) == CFI_type_Logical;
}

int wr_fortran_type(const CFI_cdesc_t *u)
{
    if (is_logical(u))
        return u->elem_len <= 8 ? WEIR_BOOL : 0;
    switch (u->type) {
    case CFI_type_int8_t:
        return WEIR_I1;
    case CFI_type_int16_t:
        return WEIR_I2;
    case CFI_type_int32_t:
        return WEIR_I4;
    case CFI_type_int64_t:
        return WEIR_I8;
    case CFI_type_float:
        return WEIR_F4;
    case CFI_type_double:
        return WEIR_F8;
    case CFI_type_float_Complex:
        return WEIR_C8;
    case CFI_type_double_Complex:
        return WEIR_C16;
    default:
        return 0;
    }
}

/* True is 1 in all of them, so larger logicals are integers that become bool, and back. */
static int type_in_memory(const CFI_cdesc_t *u)
{
    static const int wide[] = {[2] = WEIR_I2, [4] = WEIR_I4, [8] = WEIR_I8};
    const int type = wr_fortran_type(u);
    return type == WEIR_BOOL && u->elem_len > 1 ? wide[u->elem_len] : type;
}

int wr_fortran_look(const CFI_cdesc_t *u, wr_fortran_memory *out)
{
    *out = (wr_fortran_memory){
        .base = u->base_addr, .type = type_in_memory(u), .logical = is_logical(u), .rank = u->rank};
    if (!out->type)
        return wr_fortran_fail(
            WEIR_EINVAL, "the argument is no integer, real, complex or logical of a kind that "
                         "arrays have: integers of 1, 2, 4 and 8 bytes, reals of 4 and 8");
    if (!u->base_addr)
        return wr_fortran_fail(WEIR_EINVAL, "the argument is not allocated, or not associated");
    for (int d = 0; d < u->rank; d++) {
        out->extent[d] = u->dim[d].extent;
        out->stride[d] = u->dim[d].sm;
    }
    /* of an assumed-size argument nobody knows the last extent */
    if (u->rank && u->dim[u->rank - 1].extent < 0)
        return wr_fortran_fail(WEIR_EINVAL,
                               "the argument has no size: of u(*) give u(1:n), and so on");
    return 0;
}

static const char *kind_name(int type)
{
    static const char *const names[] = {
        [WEIR_BOOL] = "logical",      [WEIR_I1] = "integer(int8)",   [WEIR_I2] = "integer(int16)",
        [WEIR_I4] = "integer(int32)", [WEIR_I8] = "integer(int64)",  [WEIR_F4] = "real(real32)",
        [WEIR_F8] = "real(real64)",   [WEIR_C8] = "complex(real32)", [WEIR_C16] = "complex(real64)",
    };
    return type > 0 && type < (int)(sizeof names / sizeof *names) ? names[type] : NULL;
}

int wr_fortran_check_kind(const wr_fortran_memory *memory, int type, int convert)
{
    if (memory->logical ? type == WEIR_BOOL : memory->type == type || convert)
        return 0;
    const char *has = memory->logical ? "logical" : kind_name(memory->type);
    const char *wanted = kind_name(type);
    if (memory->logical)
        return wr_fortran_fail(WEIR_EINVAL, "the argument is logical, and the array %s",
                               weir_type_name(type));
    if (wanted)
        return wr_fortran_fail(WEIR_EINVAL,
                               "the argument is %s, and the array %s, which is %s: give one of "
                               "these, or convert=.true.",
                               has, weir_type_name(type), wanted);
    return wr_fortran_fail(WEIR_EINVAL,
                           "the argument is %s, and the array %s, for which Fortran has no kind: "
                           "convert=.true. converts",
                           has, weir_type_name(type));
}

int wr_fortran_element(const CFI_cdesc_t *value, int type, void *out)
{
    wr_fortran_memory memory;
    int code = wr_fortran_look(value, &memory);
    if (!code)
        code = wr_fortran_check_kind(&memory, type, 0);
    if (!code && value->rank)
        code = wr_fortran_fail(WEIR_EINVAL, "the value is an array, and must be one element");
    if (code)
        return code;
    memcpy(out, value->base_addr, value->elem_len);
    if (memory.logical) /* its lowest byte says it, wherever that is */
        for (size_t i = 1; i < value->elem_len; i++)
            *(char *)out = (char)(*(char *)out | ((char *)out)[i]);
    return 0;
}
