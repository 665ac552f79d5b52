/* Asking MPI what a datatype was made from. MPI 4 has ints and counts in two lists, in an order
 * that depends on the constructor; here they are put into the order of the arguments. */
#include "front/mpiio/contents.h"

#include "base/error.h"
#include "base/memory.h"
#include "front/mpiio/mpi_file.h"

/* Lengths and values as MPI gives them; MPI 4 has a third list, of MPI_Count. */
typedef struct raw {
    MPI_Count ints, aints, counts, types;
    int *i;
    MPI_Aint *a;
    MPI_Count *c;
} raw;

static int failed(int result, const char *what)
{
    return result == MPI_SUCCESS ? 0 : wr_fail(WEIR_EINVAL, "%s of a datatype", what);
}

static int get_envelope(MPI_Datatype type, raw *r, int *combiner)
{
#if MPI_VERSION >= 4
    return failed(
        PMPI_Type_get_envelope_c(type, &r->ints, &r->aints, &r->counts, &r->types, combiner),
        "envelope");
#else
    int ints, aints, types;
    int code = failed(PMPI_Type_get_envelope(type, &ints, &aints, &types, combiner), "envelope");
    *r = (raw){.ints = ints, .aints = aints, .types = types};
    return code;
#endif
}

static int get_contents(MPI_Datatype type, raw *r, MPI_Datatype *types)
{
#if MPI_VERSION >= 4
    return failed(PMPI_Type_get_contents_c(type, r->ints, r->aints, r->counts, r->types, r->i, r->a,
                                           r->c, types),
                  "contents");
#else
    return failed(
        PMPI_Type_get_contents(type, (int)r->ints, (int)r->aints, (int)r->types, r->i, r->a, types),
        "contents");
#endif
}

/* How many ints come before the list of counts in the constructor's arguments. */
static int64_t ints_first(int combiner)
{
    switch (combiner) {
    case MPI_COMBINER_SUBARRAY:
        return 1;
    case MPI_COMBINER_DARRAY:
        return 3;
    default:
        return 0;
    }
}

static void put_in_order(const raw *r, wr_contents *out)
{
    int64_t n = 0, first = r->counts ? ints_first(out->combiner) : r->ints;
    for (int64_t k = 0; k < first; k++)
        out->number[n++] = r->i[k];
    for (int64_t k = 0; k < r->counts; k++)
        out->number[n++] = r->c[k];
    for (int64_t k = first; k < r->ints; k++)
        out->number[n++] = r->i[k];
    for (int64_t k = 0; k < r->aints; k++)
        out->number[n++] = r->a[k];
}

static void *items(MPI_Count count, size_t size)
{
    return wr_alloc_array(count ? (int64_t)count : 1, size);
}

int wr_contents_get(MPI_Datatype type, wr_contents *out)
{
    raw r = {0};
    *out = (wr_contents){0};
    int code = get_envelope(type, &r, &out->combiner);
    if (code || out->combiner == MPI_COMBINER_NAMED)
        return code;
    r.i = items(r.ints, sizeof *r.i);
    r.a = items(r.aints, sizeof *r.a);
    r.c = items(r.counts, sizeof *r.c);
    out->number = items(r.ints + r.aints + r.counts, sizeof *out->number);
    out->type = items(r.types, sizeof(MPI_Datatype));
    if (r.i && r.a && r.c && out->number && out->type)
        code = get_contents(type, &r, out->type);
    else
        code = WEIR_ENOMEM;
    if (!code) {
        out->numbers = r.ints + r.aints + r.counts;
        out->types = r.types;
        put_in_order(&r, out);
    }
    wr_free(r.i);
    wr_free(r.a);
    wr_free(r.c);
    if (code)
        wr_contents_release(out);
    return code;
}

bool wr_type_is_named(MPI_Datatype type)
{
    raw r = {0};
    int combiner;
    if (get_envelope(type, &r, &combiner))
        return false;
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* Of derived types MPI has given us handles of our own. */
void wr_contents_release(wr_contents *c)
{
    for (int64_t k = 0; c->type && k < c->types; k++)
        if (!wr_type_is_named(c->type[k]))
            PMPI_Type_free(&c->type[k]);
    wr_free(c->number);
    wr_free(c->type);
    *c = (wr_contents){0};
}

int wr_type_keep(MPI_Datatype type, MPI_Datatype *out)
{
    if (wr_type_is_named(type))
        *out = type;
    else if (PMPI_Type_dup(type, out) != MPI_SUCCESS)
        return wr_misuse(MPI_ERR_TYPE, "the MPI library does not copy a datatype");
    return 0;
}

void wr_type_drop(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL && !wr_type_is_named(*type))
        PMPI_Type_free(type);
    *type = MPI_DATATYPE_NULL;
}
