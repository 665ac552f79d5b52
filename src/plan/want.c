/* Wants: what one rank has to do with a range of the file, or with a realm. */
#include "plan/want.h"

#include "base/arith.h"
#include "pattern/meet.h"

bool wr_want_first(const wr_want *want, int64_t x, int64_t *offset)
{
    wr_cursor c;
    wr_batch b;
    const wr_node *root = wr_pattern_root(want->pattern);
    if (root->disjoint) {
        int64_t data = wr_max(want->begin, wr_pattern_data_below(want->pattern, x));
        if (data >= wr_min(want->end, root->bytes))
            return false;
        *offset = wr_pattern_offset(want->pattern, data);
        return true;
    }
    wr_cursor_init(&c, want->pattern);
    wr_cursor_limit(&c, want->begin, want->end);
    wr_cursor_seek_offset(&c, x);
    do /* a run that `end` cuts may end before x */
        if (!wr_cursor_next_run(&c, INT64_MAX, &b))
            return false;
    while (b.offset + b.run <= x);
    *offset = wr_max(b.offset, x);
    /* the rest of a run that `begin` cuts may lie behind the start of the next one */
    if (*offset > x && wr_cursor_next_run(&c, INT64_MAX, &b) && b.offset + b.run > x)
        *offset = wr_min(*offset, wr_max(b.offset, x));
    return true;
}

bool wr_want_touches(const wr_want *want, int64_t lo, int64_t hi)
{
    int64_t first;
    return wr_want_first(want, lo, &first) && first < hi;
}

bool wr_want_meets(const wr_want *want, const weir_pattern *realm)
{
    wr_meet meet;
    wr_meeting m;
    wr_meet_init(&meet, want->pattern, realm);
    wr_cursor_limit(&meet.a, want->begin, want->end);
    return wr_meet_next(&meet, &m);
}

/* Where the realm has no gap, nothing is walked. */
int64_t wr_want_bytes(const wr_want *want, const weir_pattern *realm, int64_t lo, int64_t hi)
{
    const weir_pattern *p = want->pattern;
    wr_meet meet;
    wr_meeting m;
    int64_t bytes = 0;
    if (weir_pattern_is_disjoint(p) &&
        wr_pattern_data_below(realm, hi) - wr_pattern_data_below(realm, lo) == hi - lo)
        return wr_max(0, wr_min(want->end, wr_pattern_data_below(p, hi)) -
                             wr_max(want->begin, wr_pattern_data_below(p, lo)));
    wr_meet_init(&meet, p, realm);
    wr_cursor_limit(&meet.a, want->begin, want->end);
    wr_cursor_clip(&meet.a, lo, hi);
    while (wr_meet_next(&meet, &m))
        bytes += m.run * m.count;
    return bytes;
}

int64_t wr_wants_keep(const weir_pattern *realm, int64_t count, wr_want *wants)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
        if (wr_want_meets(&wants[i], realm)) {
            wr_want met = wants[i];
            wants[i] = wants[kept];
            wants[kept++] = met;
        }
    return kept;
}

int64_t wr_want_stride(const wr_want *want, int64_t x)
{
    wr_cursor c;
    wr_batch b = {0};
    wr_cursor_init(&c, want->pattern);
    wr_cursor_limit(&c, want->begin, want->end);
    wr_cursor_seek_offset(&c, x);
    wr_cursor_peek(&c, &b);
    return b.count > 1 ? b.stride : b.run;
}
