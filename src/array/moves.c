/* Accesses of arrays in all forms. Reading puts elements straight into the caller's memory where
 * they need no other type, and swaps their bytes there; everything else is staged. */
#include "array/moves.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "array/block_cache.h"
#include "base/arith.h"
#include "format/convert.h"
#include "pattern/cursor.h"

static bool is_staged(const wr_move *m)
{
    return m->type != m->array->info.type ||
           (m->direction == WR_WRITE && m->array->info.swapped && m->array->body.element > 1);
}

/* Calls for every stretch of elements that is regular in memory; `at` counts elements. */
static void convert_batch(const wr_move *m, const wr_batch *b, int64_t at)
{
    const int64_t in_file = m->array->body.element, in_memory = weir_type_bytes(m->type);
    const int64_t each = b->run / in_memory;
    const bool single = each == 1; /* then the batch is one strided stretch */
    const int64_t rounds = single ? 1 : b->count, count = single ? b->count : each;
    for (int64_t i = 0; i < rounds; i++) {
        wr_elements staged = {m->array->info.type, m->staging + (at + i * each) * in_file, in_file};
        wr_elements own = {m->type, m->base + b->offset + i * b->stride,
                           single ? b->stride : in_memory};
        if (m->direction == WR_READ)
            wr_convert(&staged, &own, count);
        else
            wr_convert(&own, &staged, count);
    }
}

static void convert(const wr_move *m)
{
    const int64_t in_memory = weir_type_bytes(m->type);
    wr_cursor c;
    wr_cursor_init(&c, m->mapping.pair.memory);
    for (wr_batch b; wr_cursor_next(&c, INT64_MAX, &b);)
        convert_batch(m, &b, b.data / in_memory);
}

static void swap_staged(const wr_move *m)
{
    if (!m->array->info.swapped)
        return;
    wr_elements all = {m->array->info.type, m->staging, m->array->body.element};
    wr_swap_bytes(&all, m->mapping.elements);
}

static void swap_in_place(const wr_move *m)
{
    const int64_t size = m->array->body.element;
    wr_cursor c;
    wr_cursor_init(&c, m->mapping.pair.memory);
    for (wr_batch b; wr_cursor_next(&c, INT64_MAX, &b);)
        for (int64_t i = 0; i < b.count; i++) {
            wr_elements run = {m->type, m->base + b.offset + i * b.stride, size};
            wr_swap_bytes(&run, b.run / size);
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
    if (!is_staged(m) || !m->mapping.elements)
        return 0;
    int code = m->type == m->array->info.type ? 0
               : m->direction == WR_READ      ? wr_convert_check(m->array->info.type, m->type)
                                              : wr_convert_check(m->type, m->array->info.type);
    if (!code)
        m->staging = take_stage(m, m->mapping.elements * m->array->body.element);
    if (!code && !m->staging)
        code = WEIR_ENOMEM;
    if (code) {
        wr_mapping_release(&m->mapping);
        return code;
    }
    if (m->direction == WR_WRITE) {
        convert(m);
        swap_staged(m);
    }
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

/* Brings what was read to its place, and releases everything; returns `code`, or what else came of
 * it. */
static int finish(wr_move *m, int code)
{
    if (m->direction == WR_WRITE) {
        if (wr_write_spoils(code))
            m->array->spoiled = true;
        wr_block_cache_drop(m->array->cache, m->mapping.pair.file);
    }
    if (!code && m->direction == WR_READ && m->mapping.elements) {
        if (m->staging) {
            swap_staged(m);
            convert(m);
        } else if (m->array->info.swapped) {
            swap_in_place(m);
        }
        wr_mapping_repeat(&m->mapping, m->base);
    }
    wr_mapping_release(&m->mapping);
    give_stage(m);
    m->staging = NULL;
    return code;
}

int wr_move_run(wr_move *m, const wr_known *known, int code)
{
    int64_t count;
    wr_access_request a = request_of(m);
    a.known = known;
    if (!code && !m->together && m->direction == WR_READ && m->array->cache)
        code = wr_block_cache_read(m->array, &a);
    else
        code = wr_file_access(m->array->file, &a, m->together, code, &count);
    return finish(m, code);
}

static int after_move(void *user, int code, int64_t *count)
{
    (void)count;
    wr_move *m = user;
    weir_array *array = m->array;
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

int wr_move_start(const wr_move *m, int code, weir_request **out)
{
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
    if (code && !m.together) {
        wr_error_note_file(array->path, -1);
        return finish(&m, code);
    }
    return request ? wr_move_start(&m, code, request) : wr_move_run(&m, NULL, code);
}

static wr_move move_of(enum wr_direction direction, bool together)
{
    return (wr_move){.direction = direction, .together = together};
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
