/* Accesses of arrays in all forms. Elements that need another type or byte order are staged, as the
 * file has them; what is read and needs only the other byte order gets it in the caller's memory.
 * Writes that are one rank's are staged in parts, which stay in its cache. Reads in parts were
 * slower: all at once they are copied from pages. */
#include "array/moves.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "array/block_cache.h"
#include "base/arith.h"
#include "format/convert.h"
#include "pattern/cursor.h"

static bool is_swapped(const wr_move *m)
{
    return m->array->info.swapped && m->array->body.element > 1;
}

static bool is_converted(const wr_move *m)
{
    return m->type != m->array->info.type;
}

/* Of a tile that is moved whole each part would move all; whole columns are sieved by the call. */
static bool goes_in_parts(const wr_move *m)
{
    const weir_array *a = m->array;
    const bool alone = !m->together || a->world->transport->size == 1;
    return m->direction == WR_WRITE && alone && (is_converted(m) || is_swapped(m)) &&
           (!a->tiling.levels || a->flat) &&
           wr_file_tunables(a->file)->sieve_unit.which == WR_SIEVE_BYTE;
}

/* Those of a batch that is regular in memory; `at` is its place in the staging. */
static void convert_batch(const wr_move *m, const wr_batch *b, int64_t at)
{
    const int64_t in_file = m->array->body.element, in_memory = weir_type_bytes(m->type);
    const int64_t each = b->run / in_memory;
    const bool single = each == 1; /* then the batch is one strided stretch */
    const int64_t rounds = single ? 1 : b->count, count = single ? b->count : each;
    void (*const change)(const wr_elements *, const wr_elements *, int64_t) =
        is_converted(m) ? wr_convert : wr_swap_bytes;
    for (int64_t i = 0; i < rounds; i++) {
        wr_elements staged = {m->array->info.type, m->staging + (at + i * each) * in_file, in_file};
        wr_elements own = {m->type, m->base + b->offset + i * b->stride,
                           single ? b->stride : in_memory};
        if (m->direction == WR_READ)
            change(&staged, &own, count);
        else
            change(&own, &staged, count);
    }
}

/* Elements [lo, hi) of the move between memory and staging, where element `lo` is the first. */
static void convert(const wr_move *m, int64_t lo, int64_t hi)
{
    const int64_t in_memory = weir_type_bytes(m->type);
    const wr_elements staged = {m->array->info.type, m->staging, m->array->body.element};
    const bool twice = is_converted(m) && is_swapped(m);
    wr_cursor c;
    if (twice && m->direction == WR_READ)
        wr_swap_here(&staged, hi - lo);
    wr_cursor_init(&c, m->mapping.pair.memory);
    wr_cursor_limit(&c, lo * in_memory, hi * in_memory);
    for (wr_batch b; wr_cursor_next(&c, INT64_MAX, &b);)
        convert_batch(m, &b, b.data / in_memory - lo);
    if (twice && m->direction == WR_WRITE)
        wr_swap_here(&staged, hi - lo);
}

static void swap_in_place(const wr_move *m)
{
    const int64_t size = m->array->body.element;
    wr_cursor c;
    wr_cursor_init(&c, m->mapping.pair.memory);
    for (wr_batch b; wr_cursor_next(&c, INT64_MAX, &b);)
        for (int64_t i = 0; i < b.count; i++) {
            wr_elements run = {m->type, m->base + b.offset + i * b.stride, size};
            wr_swap_here(&run, b.run / size);
        }
}

/* New memory costs as much as what is done with it: of staging that is over some is kept, unless
 * memory is counted. */
typedef struct wr_staging {
    int64_t bytes;
    _Alignas(16) char data[];
} wr_staging;

static char *take_stage(const wr_move *m, int64_t bytes)
{
    if (m->frugal)
        return wr_alloc(bytes);
    wr_staging *s = atomic_exchange(&m->array->stage, NULL);
    if (!s || s->bytes < bytes) {
        wr_free(s);
        s = wr_alloc((int64_t)sizeof *s + bytes);
        if (s)
            s->bytes = bytes;
    }
    return s ? s->data : NULL;
}

static void give_stage(const wr_move *m)
{
    enum { KEPT = 64 << 20 };
    char *data = m->staging;
    if (m->frugal || !data) {
        wr_free(data);
        return;
    }
    wr_staging *s = (wr_staging *)(void *)(data - offsetof(wr_staging, data));
    if (s->bytes <= KEPT)
        s = atomic_exchange(&m->array->stage, s);
    wr_free(s);
}

int wr_move_prepare(wr_move *m, wr_mapping *mapping, int type, const void *base)
{
    m->mapping = *mapping;
    *mapping = (wr_mapping){0};
    m->type = type;
    m->base = (char *)base;
    m->staging = NULL;
    int code = !is_converted(m) || !m->mapping.elements ? 0
               : m->direction == WR_READ ? wr_convert_check(m->array->info.type, m->type)
                                         : wr_convert_check(m->type, m->array->info.type);
    if (code)
        wr_mapping_release(&m->mapping);
    return code;
}

/* All of it, if it needs that; returns `code`, or that there is no memory. */
static int stage(wr_move *m, int code)
{
    const bool needed = is_converted(m) || (m->direction == WR_WRITE && is_swapped(m));
    if (code || !needed || !m->mapping.elements)
        return code;
    m->staging = take_stage(m, m->mapping.elements * m->array->body.element);
    if (!m->staging) {
        wr_mapping_release(&m->mapping);
        return WEIR_ENOMEM;
    }
    if (m->direction == WR_WRITE)
        convert(m, 0, m->mapping.elements);
    return 0;
}

/* What the file is asked for. */
static wr_access_request request_of(wr_move *m)
{
    wr_access_request a =
        wr_request_of(m->direction, m->mapping.pair.file, m->mapping.pair.memory, m->base);
    if (!a.file) /* this rank cannot take part, but must come */
        a.file = a.memory = wr_run_pattern_set(&m->packed, 0, 0);
    a.end = weir_pattern_bytes(a.file);
    a.whole = true;
    a.frugal = m->frugal;
    a.column = m->mapping.column;
    a.lo = m->mapping.lo;
    a.hi = m->mapping.hi;
    if (m->staging) {
        a.memory = wr_run_pattern_set(&m->packed, 0, a.end);
        a.base = m->staging;
    }
    return a;
}

/* What was read all at once becomes what was wanted. */
static void settle(const wr_move *m)
{
    if (m->staging)
        convert(m, 0, m->mapping.elements);
    else if (is_swapped(m))
        swap_in_place(m);
}

/* Releases everything; returns `code`. */
static int finish(wr_move *m, int code)
{
    if (m->direction == WR_WRITE) {
        if (wr_write_spoils(code))
            m->array->spoiled = true;
        wr_block_cache_drop(m->array->cache, m->mapping.pair.file);
    }
    if (!code && m->direction == WR_READ && m->mapping.elements)
        wr_mapping_repeat(&m->mapping, m->base);
    wr_mapping_release(&m->mapping);
    give_stage(m);
    m->staging = NULL;
    return code;
}

/* Nobody else waits for it. */
static int give_up(wr_move *m, int code)
{
    wr_error_note_file(m->array->path, -1);
    return finish(m, code);
}

static int write_parts(wr_move *m)
{
    enum { PART = 512 << 10 };
    const int64_t size = m->array->body.element, all = m->mapping.elements;
    const int64_t step = wr_min(PART / size, all);
    int64_t count;
    m->staging = take_stage(m, step * size);
    if (!m->staging)
        return give_up(m, WEIR_ENOMEM);
    int code = 0;
    for (int64_t lo = 0; lo < all && !code; lo += step) {
        const int64_t hi = wr_min(lo + step, all);
        wr_access_request a = request_of(m);
        a.begin = lo * size;
        a.end = hi * size;
        a.memory = wr_run_pattern_set(&m->packed, 0, a.end - a.begin);
        convert(m, lo, hi);
        code = wr_file_access(m->array->file, &a, m->together, 0, &count);
    }
    return finish(m, code);
}

int wr_move_run(wr_move *m, const wr_known *known, int code)
{
    int64_t count;
    if (!code && m->mapping.elements && goes_in_parts(m))
        return write_parts(m);
    code = stage(m, code);
    if (code && !m->together)
        return give_up(m, code);
    wr_access_request a = request_of(m);
    a.known = known;
    if (!code && !m->together && m->direction == WR_READ && m->array->cache)
        code = wr_block_cache_read(m->array, &a);
    else
        code = wr_file_access(m->array->file, &a, m->together, code, &count);
    if (!code && m->direction == WR_READ && m->mapping.elements)
        settle(m);
    return finish(m, code);
}

static int after_move(void *user, int code, int64_t *count)
{
    (void)count;
    wr_move *m = user;
    weir_array *array = m->array;
    if (!code && m->direction == WR_READ && m->mapping.elements)
        settle(m);
    code = finish(m, code);
    wr_free(m);
    wr_array_leave(array);
    return code;
}

/* The memory a request's move is in; the array stays until it is over. */
static wr_move *keep(const wr_move *m)
{
    wr_move *kept = wr_alloc(sizeof *kept);
    if (!kept)
        return NULL;
    *kept = *m;
    atomic_fetch_add(&m->array->users, 1);
    return kept;
}

int wr_move_start(wr_move *m, int code, weir_request **out)
{
    code = stage(m, code);
    if (code && !m->together)
        return give_up(m, code);
    wr_move *kept = keep(m), failed = *m;
    if (!kept) {
        failed.mapping.pair = (wr_pair){0}; /* nothing moves, but it must take part */
        code = WEIR_ENOMEM;
    }
    wr_access_request a = request_of(kept ? kept : &failed);
    wr_start how = {.together = m->together, .form = WR_NONBLOCKING, .code = code};
    if (kept)
        how.after = (wr_after){after_move, kept};
    int started = wr_file_start(m->array->file, &a, &how, out);
    if (started && kept)
        return after_move(kept, started, NULL);
    if (!kept) {
        failed.mapping.pair = m->mapping.pair;
        finish(&failed, WEIR_ENOMEM);
    }
    return started;
}

/* --- the public transfers --- */

int wr_array_move(weir_array *array, const weir_selection *s, const weir_layout *layout,
                  const void *base, wr_move m, weir_request **request)
{
    wr_mapping mapping;
    int code = wr_mapping_build(array, s, layout, m.direction == WR_WRITE, &mapping);
    m.array = array;
    if (!code)
        code = wr_move_prepare(&m, &mapping, wr_layout_type(array, layout), base);
    if (request)
        *request = NULL;
    return request ? wr_move_start(&m, code, request) : wr_move_run(&m, NULL, code);
}

static wr_move move_of(enum wr_direction direction, bool together)
{
    return (wr_move){.direction = direction, .together = together};
}

int weir_array_refuse_all(weir_array *array, int write, const weir_error *error,
                          weir_request **request)
{
    wr_move m = move_of(write ? WR_WRITE : WR_READ, true);
    m.array = array;
    m.type = array->info.type;
    int code =
        error->code < 0 ? wr_error_raise(error) : wr_fail(WEIR_EINVAL, "no error to refuse with");
    if (request)
        *request = NULL;
    return request ? wr_move_start(&m, code, request) : wr_move_run(&m, NULL, code);
}

int weir_array_read_all(weir_array *array, const weir_selection *selection,
                        const weir_layout *layout, void *base, weir_request **request)
{
    return wr_array_move(array, selection, layout, base, move_of(WR_READ, true), request);
}

int weir_array_write_all(weir_array *array, const weir_selection *selection,
                         const weir_layout *layout, const void *base, weir_request **request)
{
    return wr_array_move(array, selection, layout, base, move_of(WR_WRITE, true), request);
}

int weir_array_read(weir_array *array, const weir_selection *selection, const weir_layout *layout,
                    void *base, weir_request **request)
{
    return wr_array_move(array, selection, layout, base, move_of(WR_READ, false), request);
}

int weir_array_write(weir_array *array, const weir_selection *selection, const weir_layout *layout,
                     const void *base, weir_request **request)
{
    return wr_array_move(array, selection, layout, base, move_of(WR_WRITE, false), request);
}
