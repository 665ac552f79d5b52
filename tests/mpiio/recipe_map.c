/* Type maps, as the chapter on datatypes defines them. */
#include "check.h"
#include "mpiio/recipe.h"

/* Appends `count` items in a row. */
static bool put(typed *t, const typed *item, int64_t count, int64_t at)
{
    t->pairs = t->pairs || item->pairs;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < item->count; k++) {
            if (t->count == MOST_ELEMENTS)
                return false;
            t->map[t->count++] =
                (element){at + i * item->extent + item->map[k].at, item->map[k].bytes};
        }
    return true;
}

/* Which of the indices of a dimension the process at `at` has. */
static bool has_index(const recipe *c, int d, int64_t i, int at)
{
    int64_t block = c->argument[d];
    bool standard = c->argument[d] == MPI_DISTRIBUTE_DFLT_DARG;
    switch (c->how[d]) {
    case MPI_DISTRIBUTE_BLOCK:
        if (standard)
            block = (c->sizes[d] + c->procs[d] - 1) / c->procs[d];
        return i / block == at;
    case MPI_DISTRIBUTE_CYCLIC:
        if (standard)
            block = 1;
        return i / block % c->procs[d] == at;
    default:
        return true;
    }
}

/* Where a rank is in the grid of processes, which is in C's order whatever the array's. */
static void find_place(const recipe *c, int *at)
{
    int rest = c->rank;
    for (int d = c->n - 1; d >= 0; d--) {
        at[d] = rest % c->procs[d];
        rest /= c->procs[d];
    }
}

/* All indices of the array in its order, and those taken that are wanted. */
static bool map_array(const recipe *c, typed *out)
{
    int at[MOST_BLOCKS];
    int64_t total = 1;
    if (c->combiner == MPI_COMBINER_DARRAY)
        find_place(c, at);
    for (int d = 0; d < c->n; d++)
        total *= c->sizes[d];
    for (int64_t i = 0; i < total; i++) {
        bool wanted = true;
        int64_t rest = i;
        for (int k = 0; k < c->n; k++) {
            int d = c->order == MPI_ORDER_C ? c->n - 1 - k : k;
            int64_t index = rest % c->sizes[d];
            rest /= c->sizes[d];
            if (c->combiner == MPI_COMBINER_DARRAY)
                wanted = wanted && has_index(c, d, index, at[d]);
            else
                wanted = wanted && index >= c->place[d] && index < c->place[d] + c->length[d];
        }
        if (wanted && !put(out, c->item[0], 1, i * c->item[0]->extent))
            return false;
    }
    return true;
}

static bool map_blocks(const recipe *c, int64_t unit, bool one_length, typed *out)
{
    for (int k = 0; k < c->n; k++)
        if (!put(out, c->item[k], c->length[one_length ? 0 : k], c->place[k] * unit))
            return false;
    return true;
}

static bool map_vector(const recipe *c, int64_t unit, typed *out)
{
    for (int k = 0; k < c->n; k++)
        if (!put(out, c->item[0], c->length[0], k * c->stride * unit))
            return false;
    return true;
}

bool recipe_map(const recipe *c, typed *out)
{
    out->count = 0;
    out->pairs = false;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return put(out, c->item[0], 1, 0);
    case MPI_COMBINER_CONTIGUOUS:
        return put(out, c->item[0], c->length[0], 0);
    case MPI_COMBINER_VECTOR:
        return map_vector(c, c->item[0]->extent, out);
    case MPI_COMBINER_HVECTOR:
        return map_vector(c, 1, out);
    case MPI_COMBINER_INDEXED:
        return map_blocks(c, c->item[0]->extent, false, out);
    case MPI_COMBINER_INDEXED_BLOCK:
        return map_blocks(c, c->item[0]->extent, true, out);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return map_blocks(c, 1, true, out);
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
        return map_blocks(c, 1, false, out);
    default:
        return map_array(c, out);
    }
}

void typed_bounds(const typed *t, int64_t *first, int64_t *end)
{
    *first = t->count ? INT64_MAX : 0;
    *end = t->count ? INT64_MIN : 0;
    for (int k = 0; k < t->count; k++) {
        int64_t hi = t->map[k].at + t->map[k].bytes;
        *first = t->map[k].at < *first ? t->map[k].at : *first;
        *end = hi > *end ? hi : *end;
    }
}

int64_t typed_byte(const typed *t, int64_t k)
{
    CHECK(t->size > 0);
    int64_t in = k % t->size;
    int e = 0;
    for (; in >= t->map[e].bytes; e++)
        in -= t->map[e].bytes;
    return k / t->size * t->extent + t->map[e].at + in;
}
