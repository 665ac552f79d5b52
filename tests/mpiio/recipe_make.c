/* Datatypes from recipes, by MPI. */
#include <stddef.h>
#include <wchar.h>

#include "check.h"
#include "mpiio/door_support.h"
#include "mpiio/recipe.h"

/* The arguments as the constructors take them. */
typedef struct arguments {
    int length[MOST_BLOCKS], place[MOST_BLOCKS], sizes[MOST_BLOCKS];
    MPI_Aint byte[MOST_BLOCKS];
    MPI_Datatype type[MOST_BLOCKS];
    MPI_Datatype made;
} arguments;

static void fill_in(const recipe *c, arguments *a)
{
    for (int k = 0; k < MOST_BLOCKS; k++) {
        a->length[k] = (int)c->length[k];
        a->place[k] = (int)c->place[k];
        a->sizes[k] = (int)c->sizes[k];
        a->byte[k] = (MPI_Aint)c->place[k];
        a->type[k] = c->item[k] ? c->item[k]->type : MPI_DATATYPE_NULL;
    }
}

static void make_plain(const recipe *c, arguments *a)
{
    MPI_Datatype item = a->type[0], *made = &a->made;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
        MPI_Type_dup(item, made);
        break;
    case MPI_COMBINER_RESIZED:
        MPI_Type_create_resized(item, a->byte[0], (MPI_Aint)c->stride, made);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        MPI_Type_contiguous(a->length[0], item, made);
        break;
    case MPI_COMBINER_VECTOR:
        MPI_Type_vector(c->n, a->length[0], (int)c->stride, item, made);
        break;
    case MPI_COMBINER_HVECTOR:
        MPI_Type_create_hvector(c->n, a->length[0], (MPI_Aint)c->stride, item, made);
        break;
    case MPI_COMBINER_INDEXED:
        MPI_Type_indexed(c->n, a->length, a->place, item, made);
        break;
    case MPI_COMBINER_HINDEXED:
        MPI_Type_create_hindexed(c->n, a->length, a->byte, item, made);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        MPI_Type_create_indexed_block(c->n, a->length[0], a->place, item, made);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        MPI_Type_create_hindexed_block(c->n, a->length[0], a->byte, item, made);
        break;
    case MPI_COMBINER_STRUCT:
        MPI_Type_create_struct(c->n, a->length, a->byte, a->type, made);
        break;
    case MPI_COMBINER_SUBARRAY:
        MPI_Type_create_subarray(c->n, a->sizes, a->length, a->place, c->order, item, made);
        break;
    default:
        CHECK_EQUAL(c->combiner, MPI_COMBINER_DARRAY);
        MPI_Type_create_darray(c->ranks, c->rank, c->n, a->sizes, c->how, c->argument, c->procs,
                               c->order, item, made);
    }
}

#if MPI_VERSION >= 4
static void make_large(const recipe *c, arguments *a)
{
    MPI_Datatype item = a->type[0], *made = &a->made;
    MPI_Count length[MOST_BLOCKS], place[MOST_BLOCKS], sizes[MOST_BLOCKS];
    for (int k = 0; k < MOST_BLOCKS; k++) {
        length[k] = c->length[k];
        place[k] = c->place[k];
        sizes[k] = c->sizes[k];
    }
    switch (c->combiner) {
    case MPI_COMBINER_RESIZED:
        MPI_Type_create_resized_c(item, place[0], c->stride, made);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        MPI_Type_contiguous_c(length[0], item, made);
        break;
    case MPI_COMBINER_VECTOR:
        MPI_Type_vector_c(c->n, length[0], c->stride, item, made);
        break;
    case MPI_COMBINER_HVECTOR:
        MPI_Type_create_hvector_c(c->n, length[0], c->stride, item, made);
        break;
    case MPI_COMBINER_INDEXED:
        MPI_Type_indexed_c(c->n, length, place, item, made);
        break;
    case MPI_COMBINER_HINDEXED:
        MPI_Type_create_hindexed_c(c->n, length, place, item, made);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        MPI_Type_create_indexed_block_c(c->n, length[0], place, item, made);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        MPI_Type_create_hindexed_block_c(c->n, length[0], place, item, made);
        break;
    case MPI_COMBINER_STRUCT:
        MPI_Type_create_struct_c(c->n, length, place, a->type, made);
        break;
    case MPI_COMBINER_SUBARRAY:
        MPI_Type_create_subarray_c(c->n, sizes, length, place, c->order, item, made);
        break;
    case MPI_COMBINER_DARRAY:
        MPI_Type_create_darray_c(c->ranks, c->rank, c->n, sizes, c->how, c->argument, c->procs,
                                 c->order, item, made);
        break;
    default:
        make_plain(c, a);
    }
}
#endif

MPI_Datatype recipe_make(const recipe *c)
{
    arguments a;
    fill_in(c, &a);
#if MPI_VERSION >= 4
    if (c->large)
        make_large(c, &a);
    else
        make_plain(c, &a);
#else
    make_plain(c, &a);
#endif
    return a.made;
}

/* Asks MPI for the extent; and the size, which must be that of the map. */
static void measure(typed *t)
{
    MPI_Count size, lb, extent;
    MPI_Type_size_x(t->type, &size);
    MPI_Type_get_extent_x(t->type, &lb, &extent);
    t->size = 0;
    for (int k = 0; k < t->count; k++)
        t->size += t->map[k].bytes;
    CHECK_EQUAL(size, t->size);
    t->lb = lb;
    t->extent = extent;
}

bool recipe_cook(const recipe *c, typed *out)
{
    if (!recipe_map(c, out))
        return false;
    out->type = recipe_make(c);
    out->derived = true;
    MPI_Type_commit(&out->type);
    measure(out);
    return true;
}

void typed_release(typed *t)
{
    if (t->derived)
        MPI_Type_free(&t->type);
    *t = (typed){.type = MPI_DATATYPE_NULL};
}

/* A struct of two members, and what C makes of it. */
#define PAIR(name, first)                                                                          \
    {                                                                                              \
        name, sizeof(first),                                                                       \
            offsetof(                                                                              \
                struct {                                                                           \
                    first a;                                                                       \
                    int b;                                                                         \
                },                                                                                 \
                b),                                                                                \
            sizeof(struct {                                                                        \
                first a;                                                                           \
                int b;                                                                             \
            })                                                                                     \
    }

static void make_f90(int64_t k, typed *out)
{
    int digits = (int)(k / 3 % 3), size;
    if (k % 3 == 0)
        MPI_Type_create_f90_integer((int[]){2, 9, 18}[digits], &out->type);
    else if (k % 3 == 1)
        MPI_Type_create_f90_real(digits ? 6 : 15, MPI_UNDEFINED, &out->type);
    else
        MPI_Type_create_f90_complex(digits ? 6 : 15, MPI_UNDEFINED, &out->type);
    MPI_Type_size(out->type, &size);
    out->count = 1;
    out->map[0] = (element){0, size};
    measure(out);
    CHECK_EQUAL(out->extent, size);
}

void typed_named(int64_t k, typed *out)
{
    static const struct {
        MPI_Datatype type;
        int64_t size, second, extent;
    } pairs[] = {PAIR(MPI_DOUBLE_INT, double), PAIR(MPI_FLOAT_INT, float),
                 PAIR(MPI_LONG_INT, long),     PAIR(MPI_SHORT_INT, short),
                 PAIR(MPI_2INT, int),          PAIR(MPI_LONG_DOUBLE_INT, long double)};
    static const struct {
        MPI_Datatype type;
        int64_t size;
    } plain[] = {{MPI_BYTE, 1},
                 {MPI_CHAR, 1},
                 {MPI_PACKED, 1},
                 {MPI_C_BOOL, sizeof(_Bool)},
                 {MPI_SHORT, sizeof(short)},
                 {MPI_INT, sizeof(int)},
                 {MPI_WCHAR, sizeof(wchar_t)},
                 {MPI_FLOAT, sizeof(float)},
                 {MPI_LONG, sizeof(long)},
                 {MPI_UINT64_T, 8},
                 {MPI_DOUBLE, sizeof(double)},
                 {MPI_OFFSET, sizeof(MPI_Offset)},
                 {MPI_C_FLOAT_COMPLEX, 2 * sizeof(float)},
                 {MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double)},
                 {MPI_LONG_DOUBLE, sizeof(long double)}};
    enum { PAIRS = sizeof pairs / sizeof *pairs, PLAIN = sizeof plain / sizeof *plain };
    *out = (typed){.type = MPI_DATATYPE_NULL};
    k %= PLAIN + PAIRS + 9;
    if (k >= PLAIN + PAIRS) {
        make_f90(k - PLAIN - PAIRS, out);
        return;
    }
    if (k < PLAIN) {
        out->type = plain[k].type;
        out->count = 1;
        out->map[0] = (element){0, plain[k].size};
    } else {
        k -= PLAIN;
        out->type = pairs[k].type;
        out->count = 2;
        out->pairs = true;
        out->map[0] = (element){0, pairs[k].size};
        out->map[1] = (element){pairs[k].second, sizeof(int)};
    }
    measure(out);
    CHECK_EQUAL(out->extent, out->count == 2 ? pairs[k].extent : out->size);
}
