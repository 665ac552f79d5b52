/* What a file, its views and its pointers must be after each call. */
#include "mpiio/model.h"

#include <string.h>

int64_t model_byte(const model *m, int rank, int64_t k)
{
    return m->displacement[rank] - m->base + typed_byte(&m->filetype[rank], k);
}

bool model_is_once(const model *m, int rank)
{
    int64_t first, end;
    typed_bounds(&m->filetype[rank], &first, &end);
    return m->filetype[rank].extent < end - first;
}

unsigned char model_content(const model *m, int rank, int64_t at)
{
    rng r = {(uint64_t)(m->step * MOST_RANKS + rank) << 32 ^ (uint64_t)(at + (1 << 20))};
    return (unsigned char)rng_next(&r);
}

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* Another memory type, now and then. One with bytes twice can only be written. */
static void renew_memory(model *m, int rank, int slot, bool write)
{
    typed *t = &m->memory[rank][slot];
    if (t->type != MPI_DATATYPE_NULL && rng_chance(&m->r, 40))
        return;
    if (t->type != MPI_DATATYPE_NULL && rng_chance(&m->r, 15)) {
        typed same = *t; /* the same data, but items elsewhere */
        recipe c = {.combiner = MPI_COMBINER_RESIZED,
                    .item = {&same},
                    .place = {same.lb},
                    .stride = same.extent + 4 * rng_within(&m->r, 1, 3)};
        CHECK(recipe_cook(&c, t));
        typed_release(&same);
        return;
    }
    if (t->type != MPI_DATATYPE_NULL)
        typed_release(t);
    wish w = {.twice = write && rng_chance(&m->r, 30),
              .elements = 100,
              .reach = 2000,
              .leaf = rng_chance(&m->r, 50) ? NULL : &m->etype};
    typed_random(&m->r, &w, (int)rng_within(&m->r, 0, 3), t);
}

/* How many items: whole etypes in all, as MPI wants it. */
static int choose_count(model *m, const typed *memory)
{
    if (memory->size == 0)
        return (int)rng_within(&m->r, 0, 3);
    int64_t unit = m->etype.size / gcd(m->etype.size, memory->size);
    int64_t most = MOST_DATA / (unit * memory->size);
    if (most == 0 || rng_chance(&m->r, 12))
        return 0;
    return (int)(unit * rng_within(&m->r, 1, rng_chance(&m->r, 70) && most > 4 ? 4 : most));
}

/* Where its bytes are; false if that is not possible: beyond the room, or where bytes would be read
 * twice into one place. */
static bool locate(const model *m, int rank, deed *a)
{
    char taken[4 * ROOM];
    a->bytes = a->count * a->memory->size;
    a->visible = 0;
    a->after = m->position[rank];
    int64_t most = m->filetype[rank].size == 0 ? 0 : INT64_MAX;
    if (model_is_once(m, rank))
        most = m->filetype[rank].size;
    if (a->bytes > 0 && a->offset * m->etype.size + a->bytes > most)
        return false;
    memset(taken, 0, a->write ? 1 : sizeof taken);
    for (int64_t k = 0; k < a->bytes; k++) {
        a->in_file[k] = model_byte(m, rank, a->offset * m->etype.size + k);
        a->in_memory[k] = typed_byte(a->memory, k);
        int64_t place = a->in_memory[k] + 2 * ROOM;
        if (a->in_file[k] >= ROOM || place < 0 || place >= 4 * ROOM)
            return false;
        if (!a->write && taken[place]++)
            return false;
        a->visible += a->in_file[k] < m->size;
    }
    if (!a->at && !a->shared)
        a->after = a->offset + a->bytes / m->etype.size;
    return true;
}

void model_choose(model *m, int rank, int slot, deed *a)
{
    renew_memory(m, rank, slot, a->write);
    a->memory = &m->memory[rank][slot];
    for (int i = 0; i < 4; i++) {
        a->count = i < 3 ? choose_count(m, a->memory) : 0;
        a->offset = a->at       ? rng_within(&m->r, 0, rng_chance(&m->r, 50) ? 10 : 200)
                    : a->shared ? m->shared
                                : m->position[rank];
        a->bottom = rng_chance(&m->r, 10);
        if (locate(m, rank, a))
            return;
    }
    CHECK(false); /* nothing at all is always possible */
}

void model_new_phase(model *m)
{
    memset(m->writer, 0, sizeof m->writer);
    memset(m->readers, 0, sizeof m->readers);
}

bool model_is_apart(model *m, int rank, const deed *a)
{
    bool alone = a->form == NONBLOCKING;
    unsigned me = alone ? 0 : 1U << rank;
    for (int64_t k = 0; k < a->bytes; k++) {
        int64_t at = a->in_file[k];
        bool others = m->writer[at] && (alone || m->writer[at] != rank + 1);
        if (others || (a->write && m->readers[at] & ~me))
            return false;
    }
    for (int64_t k = 0; k < a->bytes; k++) {
        if (a->write)
            m->writer[a->in_file[k]] = rank + 1;
        else
            m->readers[a->in_file[k]] |= 1U << rank;
    }
    return true;
}

void model_apply(model *m, int rank, deed *a)
{
    m->position[rank] = a->after;
    if (a->shared)
        m->shared += a->bytes / m->etype.size;
    for (int64_t k = 0; k < a->bytes; k++) {
        int64_t at = a->in_file[k];
        if (!a->write) {
            a->expected[k] = m->bytes[at];
            continue;
        }
        m->bytes[at] = model_content(m, rank, a->in_memory[k]);
        m->size = at + 1 > m->size ? at + 1 : m->size;
    }
}

void model_resize(model *m, int64_t size)
{
    if (size < m->size)
        memset(m->bytes + size, 0, (size_t)(m->size - size));
    m->size = size;
}

int64_t model_end(const model *m, int rank)
{
    int64_t n = 0;
    int64_t most = model_is_once(m, rank) ? m->filetype[rank].size / m->etype.size : INT64_MAX;
    while (n < most && model_byte(m, rank, n * m->etype.size) < m->size)
        n++;
    return n;
}
