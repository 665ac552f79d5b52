/* Two tables, of single elements and of pairs; types made for a Fortran precision follow rules. */
#include "front/mpiio/kinds.h"

#include "base/error.h"
#include "front/mpiio/contents.h"

typedef struct entry {
    MPI_Datatype type;
    enum wr_nature nature;
    int parts, external32;
} entry;

/* Types that an MPI does not have are MPI_DATATYPE_NULL, or not defined. */
static const entry entries[] = {
    {MPI_BYTE, WR_NATURE_BYTES, 1, 1},
    {MPI_PACKED, WR_NATURE_BYTES, 1, 1},
    {MPI_CHAR, WR_NATURE_BYTES, 1, 1},
    {MPI_SIGNED_CHAR, WR_NATURE_BYTES, 1, 1},
    {MPI_UNSIGNED_CHAR, WR_NATURE_BYTES, 1, 1},
    {MPI_CHARACTER, WR_NATURE_BYTES, 1, 1},
    {MPI_INT8_T, WR_NATURE_BYTES, 1, 1},
    {MPI_UINT8_T, WR_NATURE_BYTES, 1, 1},
    {MPI_C_BOOL, WR_NATURE_BYTES, 1, 1},
    {MPI_CXX_BOOL, WR_NATURE_BYTES, 1, 1},
    {MPI_DOUBLE, WR_NATURE_IEEE, 1, 8},
    {MPI_FLOAT, WR_NATURE_IEEE, 1, 4},
    {MPI_INT, WR_NATURE_SIGNED, 1, 4},
    {MPI_UNSIGNED, WR_NATURE_UNSIGNED, 1, 4},
    {MPI_LONG, WR_NATURE_SIGNED, 1, 4},
    {MPI_UNSIGNED_LONG, WR_NATURE_UNSIGNED, 1, 4},
    {MPI_LONG_LONG, WR_NATURE_SIGNED, 1, 8},
    {MPI_UNSIGNED_LONG_LONG, WR_NATURE_UNSIGNED, 1, 8},
    {MPI_SHORT, WR_NATURE_SIGNED, 1, 2},
    {MPI_UNSIGNED_SHORT, WR_NATURE_UNSIGNED, 1, 2},
    {MPI_WCHAR, WR_NATURE_UNSIGNED, 1, 2},
    {MPI_INT16_T, WR_NATURE_SIGNED, 1, 2},
    {MPI_INT32_T, WR_NATURE_SIGNED, 1, 4},
    {MPI_INT64_T, WR_NATURE_SIGNED, 1, 8},
    {MPI_UINT16_T, WR_NATURE_UNSIGNED, 1, 2},
    {MPI_UINT32_T, WR_NATURE_UNSIGNED, 1, 4},
    {MPI_UINT64_T, WR_NATURE_UNSIGNED, 1, 8},
    {MPI_AINT, WR_NATURE_SIGNED, 1, 8},
    {MPI_OFFSET, WR_NATURE_SIGNED, 1, 8},
    {MPI_COUNT, WR_NATURE_SIGNED, 1, 8},
    {MPI_LONG_DOUBLE, WR_NATURE_EXTENDED, 1, 16},
    {MPI_C_FLOAT_COMPLEX, WR_NATURE_IEEE, 2, 8},
    {MPI_C_DOUBLE_COMPLEX, WR_NATURE_IEEE, 2, 16},
    {MPI_C_LONG_DOUBLE_COMPLEX, WR_NATURE_EXTENDED, 2, 32},
    {MPI_CXX_FLOAT_COMPLEX, WR_NATURE_IEEE, 2, 8},
    {MPI_CXX_DOUBLE_COMPLEX, WR_NATURE_IEEE, 2, 16},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, WR_NATURE_EXTENDED, 2, 32},
    {MPI_LOGICAL, WR_NATURE_SIGNED, 1, 4},
    {MPI_INTEGER, WR_NATURE_SIGNED, 1, 4},
    {MPI_REAL, WR_NATURE_IEEE, 1, 4},
    {MPI_DOUBLE_PRECISION, WR_NATURE_IEEE, 1, 8},
    {MPI_COMPLEX, WR_NATURE_IEEE, 2, 8},
    {MPI_DOUBLE_COMPLEX, WR_NATURE_IEEE, 2, 16},
    {MPI_INTEGER1, WR_NATURE_BYTES, 1, 1},
    {MPI_INTEGER2, WR_NATURE_SIGNED, 1, 2},
    {MPI_INTEGER4, WR_NATURE_SIGNED, 1, 4},
    {MPI_INTEGER8, WR_NATURE_SIGNED, 1, 8},
    {MPI_REAL4, WR_NATURE_IEEE, 1, 4},
    {MPI_REAL8, WR_NATURE_IEEE, 1, 8},
    {MPI_COMPLEX8, WR_NATURE_IEEE, 2, 8},
    {MPI_COMPLEX16, WR_NATURE_IEEE, 2, 16},
#ifdef MPI_INTEGER16
    {MPI_INTEGER16, WR_NATURE_SIGNED, 1, 16},
#endif
#ifdef MPI_REAL16
    {MPI_REAL16, WR_NATURE_IEEE, 1, 16},
    {MPI_COMPLEX32, WR_NATURE_IEEE, 2, 32},
#endif
#ifdef MPI_REAL2
    {MPI_REAL2, WR_NATURE_IEEE, 1, 2},
#endif
#ifdef MPI_COMPLEX4
    {MPI_COMPLEX4, WR_NATURE_IEEE, 2, 4},
#endif
#ifdef MPI_LOGICAL1
    {MPI_LOGICAL1, WR_NATURE_BYTES, 1, 1},
    {MPI_LOGICAL2, WR_NATURE_SIGNED, 1, 2},
    {MPI_LOGICAL4, WR_NATURE_SIGNED, 1, 4},
    {MPI_LOGICAL8, WR_NATURE_SIGNED, 1, 8},
#endif
};

static const struct {
    MPI_Datatype pair, first, second;
} pairs[] = {
    {MPI_FLOAT_INT, MPI_FLOAT, MPI_INT},
    {MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT},
    {MPI_LONG_INT, MPI_LONG, MPI_INT},
    {MPI_SHORT_INT, MPI_SHORT, MPI_INT},
    {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT},
    {MPI_2INT, MPI_INT, MPI_INT},
    {MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER},
    {MPI_2REAL, MPI_REAL, MPI_REAL},
    {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
#ifdef MPI_2COMPLEX
    {MPI_2COMPLEX, MPI_COMPLEX, MPI_COMPLEX},
    {MPI_2DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX},
#endif
};

/* False if it is in no table. */
static bool find(MPI_Datatype type, wr_kind *out)
{
    int size;
    for (size_t k = 0; k < sizeof entries / sizeof *entries; k++) {
        const entry *e = &entries[k];
        if (e->type != type)
            continue;
        if (PMPI_Type_size(type, &size) != MPI_SUCCESS)
            return false;
        *out = (wr_kind){type, e->nature, e->parts, size, e->external32};
        return true;
    }
    return false;
}

/* Bytes in external32 of a real number of so many decimal digits and such a decimal exponent; 0:
 * there is none so large. The same for integers of `digits`. */
static int real_bytes(int64_t digits, int64_t exponent)
{
    digits = digits == MPI_UNDEFINED ? 0 : digits;
    exponent = exponent == MPI_UNDEFINED ? 0 : exponent;
    if (digits > 33 || exponent > 4931)
        return 0;
    if (digits > 15 || exponent > 307)
        return 16;
    return digits > 6 || exponent > 37 ? 8 : 4;
}

static int integer_bytes(int64_t digits)
{
    if (digits > 38)
        return 0;
    if (digits > 18)
        return 16;
    if (digits > 9)
        return 8;
    if (digits > 4)
        return 4;
    return digits > 2 ? 2 : 1;
}

/* A type made for a precision. Compilers that have the extended format use it up to 18 digits. */
static int find_precise(MPI_Datatype type, wr_kind *out)
{
    wr_contents c;
    int size, code = wr_contents_get(type, &c);
    if (code)
        return code;
    *out = (wr_kind){.type = type, .nature = WR_NATURE_IEEE, .parts = 1};
    if (c.combiner == MPI_COMBINER_F90_INTEGER) {
        out->nature = WR_NATURE_SIGNED;
        out->external32 = integer_bytes(c.number[0]);
    } else if (c.combiner == MPI_COMBINER_F90_REAL || c.combiner == MPI_COMBINER_F90_COMPLEX) {
        out->parts = c.combiner == MPI_COMBINER_F90_REAL ? 1 : 2;
        out->external32 = out->parts * real_bytes(c.number[0], c.number[1]);
        if (out->external32 == 16 * out->parts && c.number[0] <= 18)
            out->nature = WR_NATURE_EXTENDED;
    }
    wr_contents_release(&c);
    if (!out->external32 || PMPI_Type_size(type, &size) != MPI_SUCCESS)
        return wr_fail(WEIR_EUNSUPPORTED, "a datatype without a form in other representations");
    out->memory = size;
    return 1;
}

int wr_kinds_get(MPI_Datatype type, wr_kind *out)
{
    if (find(type, &out[0]))
        return 1;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (pairs[k].pair == type && find(pairs[k].first, &out[0]) &&
            find(pairs[k].second, &out[1]))
            return 2;
    return find_precise(type, out);
}
