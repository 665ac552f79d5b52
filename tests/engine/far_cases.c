#include "far_cases.h"

#include <string.h>

#include "check.h"
#include "pattern/cursor.h"

enum { PIECES = 8, PIECE = 40, GAP = 24, AROUND = 4096, MOST = 1 << 13 };

typedef struct stage {
    wr_transport *t;
    weir_file *f;
    int64_t base;
} stage;

/* Not the same for offsets that differ in some bits only; never 0. */
static char byte_at(int64_t offset)
{
    uint64_t h = (uint64_t)offset * UINT64_C(0x9e3779b97f4a7c15);
    return (char)(1 + (h >> 40) % 120);
}

static weir_pattern *strided(int64_t offset, int64_t count, int64_t run, int64_t stride)
{
    weir_pattern *p;
    CHECK(!weir_pattern_strided(offset, count, run, stride, &p));
    return p;
}

/* What the file holds at the data of a pattern, one after the other. */
static void expect(const weir_pattern *p, char *data)
{
    wr_cursor c;
    wr_batch b;
    CHECK(weir_pattern_bytes(p) <= MOST);
    for (wr_cursor_init(&c, p); wr_cursor_next_run(&c, INT64_MAX, &b);)
        for (int64_t k = 0; k < b.run; k++)
            data[b.data + k] = byte_at(b.offset + k);
}

/* Ranks beside each other, on both sides of `base`. */
static weir_pattern *beside(const stage *s, int rank)
{
    int64_t row = s->t->size * PIECE + GAP;
    return strided(s->base - PIECES / 2 * row + rank * PIECE - 9, PIECES, PIECE, row);
}

static weir_pattern *apart(const stage *s, int rank)
{
    return strided(s->base / s->t->size * rank + 17, 1, 1000, 1);
}

static weir_pattern *wide(const stage *s, int rank)
{
    return strided(rank * (PIECE + 3) + 5, PIECES, PIECE, s->base / (PIECES - 1) - 100);
}

static void move(const stage *s, weir_pattern *where, bool write, bool together)
{
    char data[MOST], wanted[MOST];
    int64_t bytes = weir_pattern_bytes(where), count = -1;
    weir_pattern *memory = strided(0, 1, bytes, 1);
    expect(where, wanted);
    int code;
    if (write) {
        code = weir_file_write_all(s->f, where, memory, wanted, &count, NULL);
    } else {
        memset(data, 0, sizeof data);
        code = (together ? weir_file_read_all : weir_file_read)(s->f, where, memory, data, &count,
                                                                NULL);
        CHECK(!memcmp(data, wanted, (size_t)bytes));
    }
    CHECK_EQUAL(code, 0);
    CHECK_EQUAL(count, bytes);
    weir_pattern_free(memory);
    weir_pattern_free(where);
    CHECK(!wr_agree(s->t, 0, 0));
}

/* Nothing but what was written is there: not at the same place modulo 2^32, not in the gaps. */
static void check_zeros(const stage *s, int64_t offset, int64_t bytes)
{
    char data[AROUND];
    int64_t count;
    weir_pattern *where = strided(offset, 1, bytes, 1), *memory = strided(0, 1, bytes, 1);
    memset(data, 1, sizeof data);
    CHECK(!weir_file_read_all(s->f, where, memory, data, &count, NULL));
    CHECK_EQUAL(count, bytes);
    for (int64_t i = 0; i < bytes; i++)
        CHECK_EQUAL(data[i], 0);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

void check_far(wr_world *w, const char *path, const char *hints, int64_t base)
{
    static weir_pattern *(*const shapes[])(const stage *s, int rank) = {beside, apart, wide};
    stage s = {.t = w->transport, .base = base};
    int n = s.t->size, next = (s.t->rank + 1) % n;
    for (int i = 0; i < 3; i++) {
        int64_t size, lo, hi, last = 0;
        CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &s.f));
        CHECK(!weir_file_set_size(s.f, 0));
        move(&s, shapes[i](&s, s.t->rank), true, true);
        for (int r = 0; r < n; r++) {
            weir_pattern *p = shapes[i](&s, r);
            weir_pattern_bounds(p, &lo, &hi);
            last = hi > last ? hi : last;
            weir_pattern_free(p);
        }
        CHECK(!weir_file_get_size(s.f, &size));
        CHECK_EQUAL(size, last);
        move(&s, shapes[i](&s, s.t->rank), false, true);
        move(&s, shapes[i](&s, next), false, true);
        move(&s, shapes[i](&s, next), false, false);
        if (shapes[i] == beside) {
            int64_t row = n * PIECE + GAP;
            check_zeros(&s, base - PIECES / 2 * row - 9 + n * PIECE, GAP);
            check_zeros(&s, 0, AROUND);
            check_zeros(&s, base - AROUND - PIECES * row, AROUND);
            check_zeros(&s, base / 2 + 5000, AROUND);
        }
        CHECK(!weir_file_close(s.f));
    }
}
