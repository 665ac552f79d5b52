/* Copying between windows and the memory of ranks. */
#include "access/access.h"

#include "base/arith.h"
#include "pattern/meet.h"
#include "pattern/pack.h"

int wr_known_sum(wr_known *known, int ranks)
{
    int code = 0;
    known->wanted = (wr_summary){0};
    for (int rank = 0; rank < ranks && !code; rank++) {
        weir_pattern *p = NULL;
        code = known->pattern(known->user, rank, &p);
        if (!code && p) {
            wr_summary one = wr_summary_of(p, 0, weir_pattern_bytes(p));
            wr_summary_add(&known->wanted, &one);
        }
        weir_pattern_free(p);
    }
    return code;
}

/* One batch between window and memory; `m->a` counts from the start of the rank's data. Whole
 * batches at once where memory is as regular as the file. */
static void copy_meeting(const wr_access_request *a, wr_cursor *memory, char *window,
                         const wr_meeting *m)
{
    enum wr_packing packing = a->direction == WR_WRITE ? WR_PACK : WR_UNPACK;
    for (int64_t i = 0, n; i < m->count; i += n) {
        wr_batch b;
        int64_t data = m->a + i * m->a_step - a->begin;
        char *place = window + m->b + i * m->b_step;
        if (wr_cursor_data(memory) != data)
            wr_cursor_seek_data(memory, data);
        if (!wr_cursor_peek(memory, &b))
            return;
        n = 1;
        if (b.count == 1 && b.run >= m->run && m->a_step * (m->count - i) <= b.run) {
            n = m->count - i; /* all of it in one run of memory */
            b.stride = m->a_step;
        } else if (b.run == m->run && m->a_step == m->run) {
            n = wr_min(m->count - i, b.count);
        } else {
            wr_pack_cursor(memory, a->base, place, m->run, packing);
            continue;
        }
        char *own = wr_at(a->base, b.offset);
        if (packing == WR_PACK)
            wr_copy_batch(place, own, (wr_strides){b.stride, m->b_step}, m->run, n);
        else
            wr_copy_batch(own, place, (wr_strides){m->b_step, b.stride}, m->run, n);
        if (n < m->count - i || m->a_step == m->run)
            wr_cursor_skip(memory, n * m->run);
    }
}

static void start(const wr_want *want, const weir_pattern *cover, int64_t lo, int64_t hi,
                  wr_meet *meet)
{
    wr_meet_init(meet, want->pattern, cover);
    wr_cursor_limit(&meet->a, want->begin, want->end);
    wr_cursor_clip(&meet->a, lo, hi);
}

void wr_access_copy(const wr_access_request *a, const weir_pattern *cover, char *window, int64_t lo,
                    int64_t hi)
{
    const wr_want want = {a->file, a->begin, a->end, 0};
    wr_meet meet;
    wr_meeting m;
    wr_cursor memory;
    start(&want, cover, lo, hi, &meet);
    wr_cursor_init(&memory, a->memory);
    while (wr_meet_next(&meet, &m))
        copy_meeting(a, &memory, window, &m);
}

/* Packs what exists of one batch; `m->a` counts in the data of the file pattern. */
static void pack_meeting(const wr_access_request *a, wr_cursor *memory, char *packed,
                         const wr_meeting *m, int64_t valid)
{
    enum wr_packing packing = a->direction == WR_WRITE ? WR_PACK : WR_UNPACK;
    for (int64_t i = 0; i < m->count; i++) {
        int64_t data = m->a + i * m->a_step - a->begin;
        int64_t bytes = wr_min(m->run, valid - m->offset - i * m->stride);
        if (bytes <= 0)
            continue;
        if (wr_cursor_data(memory) != data)
            wr_cursor_seek_data(memory, data);
        wr_pack_cursor(memory, a->base, packed + i * m->run, bytes, packing);
    }
}

int64_t wr_access_pack(const wr_access_request *a, const weir_pattern *realm, char *packed,
                       int64_t lo, int64_t hi, int64_t valid)
{
    const wr_want want = {a->file, a->begin, a->end, 0};
    int64_t bytes = 0;
    wr_cursor memory;
    wr_meet meet;
    wr_meeting m;
    start(&want, realm, lo, hi, &meet);
    wr_cursor_init(&memory, a->memory);
    for (; wr_meet_next(&meet, &m); bytes += m.run * m.count)
        if (packed)
            pack_meeting(a, &memory, packed + bytes, &m, valid);
    return bytes;
}

int64_t wr_want_copy(const wr_want *want, enum wr_direction direction, const weir_pattern *cover,
                     char *window, char *packed, wr_window range)
{
    const char *first = packed;
    wr_meet meet;
    wr_meeting m;
    start(want, cover, range.lo, range.hi, &meet);
    while (wr_meet_next(&meet, &m)) {
        /* the cover holds all the rank wants here, so its data follow one another */
        if (direction == WR_WRITE)
            wr_copy_batch(window + m.b, packed, (wr_strides){m.run, m.b_step}, m.run, m.count);
        else
            wr_copy_batch(packed, window + m.b, (wr_strides){m.b_step, m.run}, m.run, m.count);
        packed += m.run * m.count;
    }
    return packed - first;
}

char *wr_access_run(const wr_access_request *a, int64_t lo, int64_t hi)
{
    wr_cursor file, memory;
    wr_batch f, m;
    int64_t data = wr_pattern_data_below(a->file, lo);
    if (data < a->begin || data + (hi - lo) > a->end)
        return NULL;
    wr_cursor_init(&file, a->file);
    wr_cursor_seek_data(&file, data);
    wr_cursor_init(&memory, a->memory);
    wr_cursor_seek_data(&memory, data - a->begin);
    if (!wr_cursor_peek(&file, &f) || f.offset != lo || f.run < hi - lo ||
        !wr_cursor_peek(&memory, &m) || m.run < hi - lo)
        return NULL;
    return wr_at(a->base, m.offset);
}

int64_t wr_access_count(const wr_access_request *a, int64_t stop)
{
    int64_t below = wr_pattern_data_below(a->file, stop);
    return wr_max(0, wr_min(below, a->end) - a->begin);
}
