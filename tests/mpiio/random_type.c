#include "mpiio/random_type.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 20, MOST_SPAN = 8000 };

static const int combiners[] = {
    MPI_COMBINER_DUP,     MPI_COMBINER_RESIZED,       MPI_COMBINER_CONTIGUOUS,
    MPI_COMBINER_VECTOR,  MPI_COMBINER_HVECTOR,       MPI_COMBINER_INDEXED,
    MPI_COMBINER_STRUCT,  MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK,
    MPI_COMBINER_DARRAY,  MPI_COMBINER_SUBARRAY,      MPI_COMBINER_HINDEXED,
    MPI_COMBINER_RESIZED, MPI_COMBINER_DARRAY};

static int64_t gap(rng *r)
{
    return rng_chance(r, 50) ? 0 : rng_within(r, 1, 20);
}

/* 0 now and then. */
static int64_t few(rng *r, int most)
{
    return rng_chance(r, 8) ? 0 : rng_within(r, 1, most);
}

/* Blocks one after the other, with gaps; places in units of items, or in bytes. */
static void lay_out(rng *r, recipe *c, bool one_length, bool units)
{
    int64_t cursor = 0, first, end;
    for (int k = 0; k < c->n; k++) {
        c->length[k] = one_length && k > 0 ? c->length[0] : few(r, 3);
        const typed *item = c->item[k];
        typed_bounds(item, &first, &end);
        if (units) {
            c->place[k] = cursor + (rng_chance(r, 50) ? 0 : rng_within(r, 1, 3));
            cursor = c->place[k] + c->length[k];
        } else {
            c->place[k] = cursor - first + gap(r);
            cursor = c->place[k] + end;
            if (c->length[k] > 0)
                cursor += (c->length[k] - 1) * item->extent;
        }
    }
}

/* In memory blocks may come in any order, before the origin, and over one another. */
static void disorder(rng *r, const wish *w, recipe *c)
{
    int64_t shift = rng_chance(r, 40) ? rng_within(r, -30, 10) : 0;
    for (int k = 0; k < c->n; k++) {
        c->place[k] += shift;
        if (w->twice && rng_chance(r, 20))
            c->place[k] = rng_within(r, -20, 20);
    }
    if (c->combiner == MPI_COMBINER_STRUCT || !rng_chance(r, 40))
        return;
    for (int k = c->n - 1; k > 0; k--) {
        int other = (int)rng_within(r, 0, k);
        int64_t place = c->place[k], length = c->length[k];
        c->place[k] = c->place[other];
        c->length[k] = c->length[other];
        c->place[other] = place;
        c->length[other] = length;
    }
}

static void choose_blocks(rng *r, const wish *w, recipe *c)
{
    bool one_length =
        c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool units = c->combiner == MPI_COMBINER_INDEXED || c->combiner == MPI_COMBINER_INDEXED_BLOCK;
    lay_out(r, c, one_length, units);
    if (!w->in_file)
        disorder(r, w, c);
}

static void choose_vector(rng *r, const wish *w, recipe *c)
{
    c->n = (int)few(r, 4);
    c->length[0] = few(r, 3);
    if (c->combiner == MPI_COMBINER_VECTOR)
        c->stride = c->length[0] + (rng_chance(r, 50) ? 0 : rng_within(r, 1, 3));
    else
        c->stride = c->length[0] * c->item[0]->extent + gap(r);
    if (!w->in_file && rng_chance(r, 30))
        c->stride = -c->stride;
    if (w->twice && rng_chance(r, 10))
        c->stride = 0;
}

static void choose_resized(rng *r, const wish *w, recipe *c)
{
    int64_t first, end;
    typed_bounds(c->item[0], &first, &end);
    c->place[0] = rng_chance(r, 50) ? first : rng_within(r, -20, 20);
    c->stride = end - first + gap(r);
    if (!w->in_file && rng_chance(r, 30)) /* items in a row may be interleaved, or go backwards */
        c->stride = rng_chance(r, 50) ? -c->stride : rng_within(r, 0, 2) * 4;
}

static void choose_subarray(rng *r, recipe *c)
{
    c->n = (int)rng_within(r, 1, 3);
    c->order = rng_chance(r, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < c->n; d++) {
        c->sizes[d] = rng_within(r, 1, 5);
        c->length[d] = rng_within(r, 1, c->sizes[d]);
        c->place[d] = rng_within(r, 0, c->sizes[d] - c->length[d]);
    }
}

static void choose_darray(rng *r, recipe *c)
{
    c->n = (int)rng_within(r, 1, 3);
    c->order = rng_chance(r, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    c->ranks = 1;
    for (int d = 0; d < c->n; d++) {
        int how = (int)rng_within(r, 0, 3);
        c->sizes[d] = rng_within(r, 1, 7);
        c->argument[d] = MPI_DISTRIBUTE_DFLT_DARG;
        c->procs[d] = how == 0 ? 1 : (int)rng_within(r, 1, 3);
        c->how[d] = how == 0   ? MPI_DISTRIBUTE_NONE
                    : how == 1 ? MPI_DISTRIBUTE_BLOCK
                               : MPI_DISTRIBUTE_CYCLIC;
        if (how == 1 && rng_chance(r, 50)) /* the blocks must take all in */
            c->argument[d] =
                (int)((c->sizes[d] + c->procs[d] - 1) / c->procs[d] + rng_within(r, 0, 2));
        if (how == 3)
            c->argument[d] = (int)rng_within(r, 1, 3);
        c->ranks *= c->procs[d];
    }
    c->rank = (int)rng_within(r, 0, c->ranks - 1);
}

static void choose(rng *r, const wish *w, recipe *c)
{
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
        break;
    case MPI_COMBINER_RESIZED:
        choose_resized(r, w, c);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        c->length[0] = few(r, 5);
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        choose_vector(r, w, c);
        break;
    case MPI_COMBINER_SUBARRAY:
        choose_subarray(r, c);
        break;
    case MPI_COMBINER_DARRAY:
        choose_darray(r, c);
        break;
    default:
        choose_blocks(r, w, c);
    }
}

/* Data of an item, and in files of items in a row, is in order. */
static bool is_ordered(const typed *t)
{
    int64_t first, end, cursor = 0;
    for (int k = 0; k < t->count; k++) {
        if (t->map[k].at < cursor)
            return false;
        cursor = t->map[k].at + t->map[k].bytes;
    }
    typed_bounds(t, &first, &end);
    return t->extent >= end - first;
}

/* No byte of an item comes twice. */
static bool is_disjoint(const typed *t)
{
    char seen[MOST_SPAN];
    int64_t first, end;
    typed_bounds(t, &first, &end);
    if (end - first > MOST_SPAN)
        return false;
    memset(seen, 0, sizeof seen);
    for (int k = 0; k < t->count; k++)
        for (int64_t i = 0; i < t->map[k].bytes; i++)
            if (seen[t->map[k].at - first + i]++)
                return false;
    return true;
}

static bool is_granted(const wish *w, const typed *t)
{
    int64_t first, end;
    typed_bounds(t, &first, &end);
    return t->count <= w->elements && first > -w->reach && end < w->reach &&
           llabs(t->extent) < w->reach && (!w->in_file || is_ordered(t)) &&
           (w->twice || is_disjoint(t));
}

static void make_leaf(rng *r, const wish *w, typed *out)
{
    if (w->leaf && w->leaf->derived) {
        recipe c = {.combiner = MPI_COMBINER_DUP, .item = {w->leaf}};
        CHECK(recipe_cook(&c, out));
    } else if (w->leaf) {
        *out = *w->leaf;
    } else {
        typed_named(rng_chance(r, 30) ? 0 : rng_within(r, 0, 1000), out);
    }
}

/* One try: a constructor over random items. */
static bool make_nested(rng *r, const wish *w, int depth, typed *out)
{
    typed item[MOST_BLOCKS];
    wish part = *w;
    part.elements = w->elements / 2;
    recipe c = {.combiner = combiners[rng_within(r, 0, sizeof combiners / sizeof *combiners - 1)],
                .large = rng_chance(r, 30)};
    c.n = (int)few(r, 4);
    int items = c.combiner == MPI_COMBINER_STRUCT ? c.n : 1;
    for (int k = 0; k < MOST_BLOCKS; k++) {
        if (k < items)
            typed_random(r, &part, depth - 1, &item[k]);
        c.item[k] = &item[k < items ? k : 0];
    }
    if (items == 0)
        typed_named(0, &item[0]);
    choose(r, w, &c);
    bool made = (c.combiner != MPI_COMBINER_DARRAY || item[0].size > 0) && /* Open MPI refuses it */
                recipe_cook(&c, out);
    for (int k = 0; k < items; k++)
        typed_release(&item[k]);
    if (made && !is_granted(w, out)) {
        typed_release(out);
        made = false;
    }
    return made;
}

void typed_random(rng *r, const wish *w, int depth, typed *out)
{
    for (int i = 0; depth > 0 && i < TRIES; i++)
        if (make_nested(r, w, depth, out))
            return;
    make_leaf(r, w, out);
}

void typed_random_share(rng *r, const typed *leaf, int rank, int ranks, typed *out)
{
    int64_t block = rng_within(r, 1, 4);
    bool array = rng_chance(r, 50);
    typed run;
    recipe c = {.combiner = MPI_COMBINER_CONTIGUOUS, .n = 1, .item = {leaf}, .length = {block}};
    if (array) {
        c.combiner = MPI_COMBINER_DARRAY;
        c.sizes[0] = block * ranks * rng_within(r, 1, 3);
        c.how[0] = MPI_DISTRIBUTE_CYCLIC;
        c.argument[0] = (int)block;
        c.procs[0] = c.ranks = ranks;
        c.rank = rank;
        c.order = MPI_ORDER_C;
        CHECK(recipe_cook(&c, out));
        return;
    }
    CHECK(recipe_cook(&c, &run));
    const int64_t bytes = block * leaf->extent;
    typed moved;
    recipe move = {.combiner = MPI_COMBINER_HINDEXED_BLOCK,
                   .n = 1,
                   .item = {&run},
                   .length = {1},
                   .place = {rank * bytes}};
    CHECK(recipe_cook(&move, &moved));
    recipe widen = {
        .combiner = MPI_COMBINER_RESIZED, .item = {&moved}, .place = {0}, .stride = ranks * bytes};
    CHECK(recipe_cook(&widen, out));
    typed_release(&run);
    typed_release(&moved);
}
