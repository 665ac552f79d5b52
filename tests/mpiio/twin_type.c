/* Each recipe is cooked for memory by MPI, and mapped for the file with the items there. */
#include "mpiio/twin_type.h"

#include <string.h>

#include "mpiio/door_support.h"

/* Sizes tell how an element is converted: 8 to 4 is a long, 4 to 2 a wide character, 16 a complex
 * number of two parts. */
static const struct {
    MPI_Datatype type;
    int count;
    element memory[2], file[2];
    int64_t extent;
} named[] = {{MPI_INT, 1, {{0, 4}}, {{0, 4}}, 4},
             {MPI_LONG, 1, {{0, 8}}, {{0, 4}}, 4},
             {MPI_DOUBLE, 1, {{0, 8}}, {{0, 8}}, 8},
             {MPI_SHORT, 1, {{0, 2}}, {{0, 2}}, 2},
             {MPI_CHAR, 1, {{0, 1}}, {{0, 1}}, 1},
             {MPI_WCHAR, 1, {{0, 4}}, {{0, 2}}, 2},
             {MPI_C_DOUBLE_COMPLEX, 1, {{0, 16}}, {{0, 16}}, 16},
             {MPI_DOUBLE_INT, 2, {{0, 8}, {8, 4}}, {{0, 8}, {8, 4}}, 12},
             {MPI_LONG_INT, 2, {{0, 8}, {8, 4}}, {{0, 4}, {4, 4}}, 8},
             {MPI_SHORT_INT, 2, {{0, 2}, {4, 4}}, {{0, 2}, {2, 4}}, 6}};

void twin_named(rng *r, twin *out)
{
    int64_t k = rng_within(r, 0, sizeof named / sizeof *named - 1);
    MPI_Aint lb, extent;
    *out = (twin){.memory = {.type = named[k].type, .count = named[k].count},
                  .file = {.count = named[k].count, .extent = named[k].extent}};
    for (int i = 0; i < named[k].count; i++) {
        out->memory.map[i] = named[k].memory[i];
        out->file.map[i] = named[k].file[i];
        out->memory.size += named[k].memory[i].bytes;
        out->file.size += named[k].file[i].bytes;
    }
    MPI_Type_get_extent(named[k].type, &lb, &extent);
    out->memory.extent = extent;
}

void twin_release(twin *t)
{
    typed_release(&t->memory);
}

/* --- bounds in the file --- */

typedef struct range {
    bool some, marked;
    int64_t lo, hi;
} range;

static void add(range *all, const twin *item, int64_t place, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t lo = place + i * item->file.extent + item->file.lb, hi = lo + item->file.extent;
        if (all->marked && !item->marked)
            continue;
        if (!all->some || (item->marked && !all->marked))
            *all = (range){true, item->marked, lo, hi};
        all->lo = lo < all->lo ? lo : all->lo;
        all->hi = hi > all->hi ? hi : all->hi;
    }
}

static void measure(const recipe *c, const twin *items, twin *out)
{
    range all = {0};
    int64_t unit = items[0].file.extent, total = 1;
    switch (c->combiner) {
    case MPI_COMBINER_RESIZED:
        all = (range){true, true, c->place[0], c->place[0] + c->stride};
        break;
    case MPI_COMBINER_SUBARRAY:
        for (int d = 0; d < c->n; d++)
            total *= c->sizes[d];
        all = (range){true, true, 0, total * unit};
        break;
    case MPI_COMBINER_DUP:
        add(&all, items, 0, 1);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        add(&all, items, 0, c->length[0]);
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        for (int k = 0; k < c->n; k++)
            add(&all, items, k * c->stride * (c->combiner == MPI_COMBINER_VECTOR ? unit : 1),
                c->length[0]);
        break;
    default:
        for (int k = 0; k < c->n; k++)
            add(&all, c->combiner == MPI_COMBINER_STRUCT ? &items[k] : items,
                c->place[k] * (c->combiner == MPI_COMBINER_INDEXED ? unit : 1), c->length[k]);
    }
    out->file.lb = all.lo;
    out->file.extent = all.hi - all.lo;
    out->marked = all.marked;
}

/* --- recipes --- */

/* Where the data of items in a row end at the latest, on both sides. */
static int64_t end_of(const twin *item, int64_t count)
{
    int64_t lo, memory, file;
    typed_bounds(&item->memory, &lo, &memory);
    typed_bounds(&item->file, &lo, &file);
    memory += (count - 1) * item->memory.extent;
    file += (count - 1) * item->file.extent;
    return memory > file ? memory : file;
}

static void draw_blocks(rng *r, recipe *c, const twin *items)
{
    int64_t place = 0;
    for (int k = 0; k < c->n; k++) {
        const twin *item = c->combiner == MPI_COMBINER_STRUCT ? &items[k] : items;
        c->length[k] = rng_within(r, 1, 3);
        c->place[k] = place + rng_within(r, 0, 2);
        if (c->combiner == MPI_COMBINER_INDEXED)
            place = c->place[k] + c->length[k];
        else
            place = c->place[k] + end_of(item, c->length[k]);
    }
}

static void draw(rng *r, recipe *c, const twin *items)
{
    c->length[0] = rng_within(r, 1, 3);
    switch (c->combiner) {
    case MPI_COMBINER_VECTOR:
        c->stride = c->length[0] + rng_within(r, 0, 3);
        break;
    case MPI_COMBINER_HVECTOR:
        c->stride = end_of(items, c->length[0]) + rng_within(r, 0, 9);
        break;
    case MPI_COMBINER_RESIZED:
        c->place[0] = rng_within(r, -5, 3);
        c->stride = end_of(items, 1) + rng_within(r, 0, 9);
        break;
    case MPI_COMBINER_SUBARRAY:
        c->order = rng_chance(r, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        for (int d = 0; d < c->n; d++) {
            c->sizes[d] = rng_within(r, 1, 4);
            c->length[d] = rng_within(r, 1, c->sizes[d]);
            c->place[d] = rng_within(r, 0, c->sizes[d] - c->length[d]);
        }
        break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
        draw_blocks(r, c, items);
        break;
    default:
        break;
    }
}

static const int combiners[] = {
    MPI_COMBINER_DUP,     MPI_COMBINER_RESIZED, MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR,
    MPI_COMBINER_HVECTOR, MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED,   MPI_COMBINER_STRUCT,
    MPI_COMBINER_STRUCT,  MPI_COMBINER_SUBARRAY};

static bool cook(rng *r, int combiner, const twin *items, twin *out)
{
    recipe c = {.combiner = combiner, .large = rng_chance(r, 30)}, there;
    c.n = (int)rng_within(r, 1, 3);
    draw(r, &c, items);
    there = c;
    for (int k = 0; k < MOST_BLOCKS; k++) {
        c.item[k] = &items[combiner == MPI_COMBINER_STRUCT && k < 3 ? k : 0].memory;
        there.item[k] = &items[combiner == MPI_COMBINER_STRUCT && k < 3 ? k : 0].file;
    }
    *out = (twin){0};
    if (!recipe_map(&there, &out->file) || !recipe_cook(&c, &out->memory))
        return false;
    for (int k = 0; k < out->file.count; k++)
        out->file.size += out->file.map[k].bytes;
    measure(&c, items, out);
    return true;
}

void twin_random(rng *r, const twin *leaf, int depth, twin *out)
{
    if (depth == 0) {
        if (leaf)
            *out = *leaf;
        else
            twin_named(r, out);
        return;
    }
    static const int choices = sizeof combiners / sizeof *combiners;
    int combiner = combiners[rng_within(r, 0, choices - 1)];
    int children = combiner == MPI_COMBINER_STRUCT ? 3 : 1;
    twin items[3];
    for (int k = 0; k < children; k++)
        twin_random(r, leaf, depth - 1, &items[k]);
    bool done = cook(r, combiner, items, out);
    if (!done)
        *out = items[0];
    for (int k = done ? 0 : 1; k < children; k++)
        twin_release(&items[k]);
}

/* --- elements --- */

void twin_draw(rng *r, int64_t memory, int64_t file, unsigned char *out)
{
    for (int64_t k = 0; k < memory; k++)
        out[k] = (unsigned char)rng_next(r);
    if (file < memory)
        memset(out + file, memory == 8 && out[file - 1] & 0x80 ? 0xff : 0, (size_t)(memory - file));
}

void twin_encode(int64_t memory, int64_t file, const unsigned char *value, unsigned char *out)
{
    int64_t part = file == 16 ? 8 : file;
    (void)memory;
    for (int64_t k = 0; k < file; k++)
        out[k] = value[k / part * part + part - 1 - k % part];
}

void twin_decode(int64_t memory, int64_t file, const unsigned char *bytes, unsigned char *out)
{
    twin_encode(memory, file, bytes, out);
    if (file < memory)
        memset(out + file, memory == 8 && out[file - 1] & 0x80 ? 0xff : 0, (size_t)(memory - file));
}
