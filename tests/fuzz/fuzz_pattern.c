/* Fuzz target: whatever bytes arrive, decoding them either fails or gives a pattern that encodes to
 * the same bytes and can be walked, sought and intersected within its bounds. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pattern/algebra.h"
#include "pattern/meet.h"
#include "pattern/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { STEPS = 200 };

static void walk(const weir_pattern *p, int64_t from)
{
    wr_cursor c;
    wr_batch b;
    int64_t lo, hi, data;
    weir_pattern_bounds(p, &lo, &hi);
    wr_cursor_init(&c, p);
    wr_cursor_seek_data(&c, from);
    data = wr_cursor_data(&c);
    for (int i = 0; i < STEPS && wr_cursor_next(&c, INT64_MAX, &b); i++) {
        CHECK(b.data == data && b.run > 0 && b.count > 0);
        int64_t last = b.offset + (b.count - 1) * b.stride;
        CHECK(b.offset >= lo && b.offset + b.run <= hi && last >= lo && last + b.run <= hi);
        data += b.run * b.count;
    }
    CHECK(data <= weir_pattern_bytes(p));
}

static void meet_halves(const weir_pattern *p)
{
    wr_meet meet;
    wr_meeting m;
    if (!weir_pattern_is_disjoint(p))
        return;
    wr_meet_init(&meet, p, p);
    for (int i = 0; i < STEPS && wr_meet_next(&meet, &m); i++)
        CHECK(m.a == m.b);
    CHECK(wr_pattern_overlap(p, p) != WR_NO || weir_pattern_bytes(p) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    weir_pattern *p;
    if (wr_pattern_decode(bytes, (int64_t)size, &p))
        return 0;
    CHECK_EQUAL(wr_pattern_encoded_size(p), (int64_t)size);
    uint8_t *again = malloc(size);
    wr_pattern_encode(p, again);
    CHECK(!memcmp(bytes, again, size));
    free(again);
    walk(p, 0);
    walk(p, weir_pattern_bytes(p) / 3);
    walk(p, weir_pattern_bytes(p) - 1);
    if (weir_pattern_is_ordered(p))
        CHECK(wr_pattern_data_below(p, INT64_MAX) == weir_pattern_bytes(p));
    meet_halves(p);
    weir_pattern_free(p);
    return 0;
}
