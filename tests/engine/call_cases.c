#include "call_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "file/inside.h"

enum { PIECES = 12, PIECE = 30, GAP = 11, MEMORY = 4096, MODE = WEIR_READ | WEIR_WRITE };

enum { UNTOUCHED = 125 }; /* in memory; byte_at is never that */

/* A rank in the middle of the cases. */
typedef struct stage {
    wr_world *w;
    wr_transport *t;
    weir_file *f;
    const char *path, *hints;
} stage;

static char byte_at(int64_t offset)
{
    return (char)(1 + (offset * 37 + offset / 113) % 120);
}

static void meet(wr_transport *t)
{
    CHECK(!wr_agree(t, 0, 0));
}

static weir_pattern *strided(int64_t offset, int64_t count, int64_t run, int64_t stride)
{
    weir_pattern *p;
    CHECK(!weir_pattern_strided(offset, count, run, stride, &p));
    return p;
}

/* [collective] The file as it is expected, so many bytes of it. */
static void fill_file(const stage *s, int64_t size)
{
    static _Thread_local char bytes[4 * MEMORY];
    CHECK(size <= 4 * MEMORY);
    CHECK(!weir_file_set_size(s->f, 0));
    weir_pattern *all = strided(0, 1, size, size);
    for (int64_t i = 0; i < size; i++)
        bytes[i] = byte_at(i);
    if (s->t->rank == 0)
        CHECK(!weir_file_write(s->f, all, all, bytes, NULL, NULL));
    weir_pattern_free(all);
    meet(s->t);
    if (test_weak())
        CHECK(!weir_file_sync(s->f));
}

typedef int access_call(weir_file *f, const weir_pattern *where, const weir_pattern *memory,
                        void *base, int64_t *count, weir_request **request);

static int write_all(weir_file *f, const weir_pattern *where, const weir_pattern *memory,
                     void *base, int64_t *count, weir_request **request)
{
    return weir_file_write_all(f, where, memory, base, count, request);
}

/* Reads `where` into contiguous memory and checks everything: what is below `size`, and that the
 * rest of the memory is left alone. */
static void check_read(const stage *s, access_call *call, const weir_pattern *where, int64_t size)
{
    char got[MEMORY], image[4 * MEMORY], wanted[MEMORY];
    int64_t bytes = where ? weir_pattern_bytes(where) : 0, count = -1, below = 0, lo, hi;
    weir_pattern *memory = strided(0, 1, bytes, bytes);
    memset(got, UNTOUCHED, sizeof got);
    memset(wanted, UNTOUCHED, sizeof wanted);
    for (int64_t i = 0; i < 4 * MEMORY; i++)
        image[i] = i < size ? byte_at(i) : UNTOUCHED;
    if (where) {
        weir_pattern_bounds(where, &lo, &hi);
        CHECK(hi <= 4 * MEMORY && bytes <= MEMORY);
        CHECK(!weir_pattern_pack(where, 0, bytes, image, wanted));
    }
    while (below < bytes && wanted[below] != UNTOUCHED)
        below++;
    CHECK_EQUAL(call(s->f, where, where ? memory : NULL, got, &count, NULL), 0);
    CHECK_EQUAL(count, below);
    CHECK(!memcmp(got, wanted, sizeof got));
    weir_pattern_free(memory);
}

static void check_size(const stage *s, int64_t wanted)
{
    int64_t size;
    if (test_weak()) /* nobody asks the others for it */
        CHECK(!weir_file_sync(s->f));
    CHECK(!weir_file_get_size(s->f, &size));
    CHECK_EQUAL(size, wanted);
    meet(s->t);
}

/* No pattern at all, and patterns of no bytes, at the start, in the file and behind it. */
static void test_nothing(const stage *s)
{
    weir_pattern *none[] = {NULL, strided(0, 0, 5, 7), strided(77, 1, 0, 0),
                            strided(9000, 3, 0, 5)};
    char memory[1] = {7};
    for (int64_t size = 0; size < 200; size += 150) {
        fill_file(s, size);
        for (int i = 0; i < 5; i++) {
            const weir_pattern *p = none[i < 4 ? i : s->t->rank % 4];
            int64_t count = -1;
            CHECK(!weir_file_read_all(s->f, p, p, memory, &count, NULL) && count == 0);
            count = -1;
            CHECK(!weir_file_write_all(s->f, p, p, memory, &count, NULL) && count == 0);
            CHECK(!weir_file_read(s->f, p, p, memory, &count, NULL) && count == 0);
            CHECK(!weir_file_write(s->f, p, p, memory, NULL, NULL));
            meet(s->t);
        }
        check_size(s, size);
    }
    CHECK(memory[0] == 7);
    for (int i = 0; i < 4; i++)
        weir_pattern_free(none[i]);
}

/* One rank writes, the others have nothing to do; then another one reads. */
static void test_one_rank(const stage *s)
{
    weir_pattern *where = strided(13, PIECES, PIECE, PIECE + GAP), *none = strided(50, 0, 1, 1);
    weir_pattern *memory = strided(0, 1, PIECES * PIECE, 1);
    char image[MEMORY] = {0}, data[MEMORY];
    int64_t count;
    for (int64_t i = 0; i < MEMORY; i++)
        image[i] = byte_at(i);
    CHECK(!weir_pattern_pack(where, 0, PIECES * PIECE, image, data));
    for (int who = 0; who < s->t->size; who++) {
        bool mine = who == s->t->rank;
        const weir_pattern *idle = who % 2 ? none : NULL;
        CHECK(!weir_file_set_size(s->f, 0));
        CHECK(!weir_file_write_all(s->f, mine ? where : idle, mine ? memory : idle, data, &count,
                                   NULL));
        CHECK_EQUAL(count, mine ? PIECES * PIECE : 0);
        check_size(s, 13 + PIECES * (PIECE + GAP) - GAP);
        bool reads = (who + 1) % s->t->size == s->t->rank;
        check_read(s, weir_file_read_all, reads ? where : NULL, MEMORY);
    }
    weir_pattern_free(where);
    weir_pattern_free(none);
    weir_pattern_free(memory);
}

/* The file ends before everything, in a rank's data, in a run, in a gap, at the end, behind it. */
static void test_past_end(const stage *s)
{
    int n = s->t->size, r = s->t->rank;
    int64_t row = n * PIECE + GAP, all = PIECES * row;
    weir_pattern *shapes[] = {
        strided(r * all / n, 1, PIECES * PIECE, 1),  /* one after the other */
        strided(r * PIECE, PIECES, PIECE, row),      /* interleaved */
        r == 0 ? strided(3, 1, 20, 1) : NULL,        /* most ranks idle */
        strided(40 * (n - r), 5, 9 + r, 60 + 7 * r), /* out of step, and overlapping */
    };
    const int64_t ends[] = {
        0,   1,         PIECE / 2, row - 3, 2 * row + PIECE, 3 * row + PIECE - 1,
        all, all - GAP, all / 2,   47,      all + 100};
    CHECK(all < 3 * MEMORY);
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        fill_file(s, ends[e]);
        for (int i = 0; i < 4; i++) {
            check_read(s, weir_file_read_all, shapes[i], ends[e]);
            check_read(s, weir_file_read, shapes[i], ends[e]);
        }
        check_size(s, ends[e]);
    }
    for (int i = 0; i < 4; i++)
        weir_pattern_free(shapes[i]);
}

/* The same code, not necessarily the same text, on all ranks. */
static void check_same(const stage *s, int code, int wanted)
{
    int64_t same[] = {code, -code};
    CHECK(!wr_allreduce(s->t, 0, WR_MAX, 2, same));
    CHECK_EQUAL(code, same[0]);
    CHECK_EQUAL(same[0], -same[1]);
    if (wanted)
        CHECK_EQUAL(code, wanted);
    CHECK(code && weir_error_last()->code == code && !strcmp(weir_error_last()->file, s->path));
}

/* One rank's request does not fit: nobody moves anything, and all know who it was. */
static void test_one_is_wrong(const stage *s)
{
    weir_pattern *where = strided(s->t->rank * PIECE, 1, PIECE, 1);
    weir_pattern *good = strided(0, 1, PIECE, 1), *bad = strided(0, 1, PIECE - 1, 1);
    char memory[PIECE] = {0};
    int64_t count, size = s->t->size * PIECE;
    fill_file(s, size);
    for (int who = 0; who < s->t->size; who++)
        for (int write = 0; write < 2; write++) {
            int code = (write ? write_all : weir_file_read_all)(
                s->f, where, who == s->t->rank ? bad : good, memory, &count, NULL);
            check_same(s, code, WEIR_EINVAL);
            CHECK_EQUAL(weir_error_last()->rank, who);
            CHECK_EQUAL(count, 0);
            check_read(s, weir_file_read_all, where, size);
        }
    weir_pattern_free(where);
    weir_pattern_free(good);
    weir_pattern_free(bad);
}

/* One rank reads while the others write, or the reverse; some have nothing to do. */
static void test_directions(const stage *s)
{
    weir_pattern *where = strided(s->t->rank * PIECE, 1, PIECE, 1),
                 *memory = strided(0, 1, PIECE, 1);
    int64_t count, size = s->t->size * PIECE;
    fill_file(s, size);
    for (int who = 0; who < s->t->size && s->t->size > 1; who++)
        for (int write = 0; write < 2; write++)
            for (int idle = 0; idle < 2; idle++) {
                char data[PIECE] = {0};
                bool other = who == s->t->rank, nothing = idle && s->t->rank % 2;
                int code = (write != other ? write_all : weir_file_read_all)(
                    s->f, nothing ? NULL : where, nothing ? NULL : memory, data, &count, NULL);
                check_same(s, code, WEIR_EDISAGREE);
                check_read(s, weir_file_read_all, where, size);
            }
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

/* One rank's request does not fit, and another's direction differs: some error, but one for all. */
static void test_wrong_and_other_direction(const stage *s)
{
    weir_pattern *where = strided(s->t->rank * PIECE, 1, PIECE, 1);
    weir_pattern *good = strided(0, 1, PIECE, 1), *bad = strided(0, 1, PIECE - 1, 1);
    int64_t count, size = s->t->size * PIECE;
    fill_file(s, size);
    for (int who = 0; who < s->t->size; who++)
        for (int differs = 0; differs < s->t->size; differs++) {
            char data[PIECE] = {0};
            int code = (differs == s->t->rank ? write_all : weir_file_read_all)(
                s->f, where, who == s->t->rank ? bad : good, data, &count, NULL);
            check_same(s, code, 0);
            check_read(s, weir_file_read_all, where, size);
        }
    weir_pattern_free(where);
    weir_pattern_free(good);
    weir_pattern_free(bad);
}

/* Modes and sizes that differ; the file is not open then, or as large as before. */
static void test_modes(const stage *s)
{
    static const int modes[][2] = {{WEIR_READ, MODE},
                                   {MODE, WEIR_READ},
                                   {MODE | WEIR_CREATE, MODE},
                                   {MODE, MODE | WEIR_TRUNCATE}};
    weir_file *f;
    fill_file(s, 100);
    for (int i = 0; i < 4 && s->t->size > 1; i++) {
        bool last = s->t->rank == s->t->size - 1;
        CHECK_FAILS(wr_file_open(s->w, s->path, modes[i][last], s->hints, &f), WEIR_EDISAGREE,
                    "different modes");
        CHECK_FAILS(weir_file_set_size(s->f, 50 + last), WEIR_EDISAGREE, "different sizes");
    }
    check_size(s, 100);
}

/* Hints that differ, or make no sense on another rank than the first: rank 0's count. */
static void test_hints(const stage *s)
{
    static const char *const other[] = {"window=7;realms=cyclic;exchange=p2p;access=naive",
                                        "no such hint", NULL, "fault=eio:1;collective=never"};
    weir_file *f;
    const char *own = s->t->rank == 0 ? s->hints : other[s->t->rank % 4];
    CHECK(!wr_file_open(s->w, s->path, MODE, own, &f));
    CHECK(!memcmp(&f->group.handle.tunables, &s->f->group.handle.tunables,
                  sizeof f->group.handle.tunables));
    check_round_trip(s->w, f);
    CHECK(!weir_file_close(f));
}

void check_round_trip(wr_world *w, weir_file *f)
{
    stage s = {.w = w, .t = w->transport, .f = f};
    int64_t row = s.t->size * PIECE + GAP, size = PIECES * row;
    weir_pattern *where = strided(s.t->rank * PIECE, PIECES, PIECE, row);
    weir_pattern *memory = strided(0, 1, PIECES * PIECE, 1);
    static _Thread_local char image[16 * MEMORY];
    char data[MEMORY];
    int64_t count;
    CHECK(size <= 16 * MEMORY);
    for (int64_t i = 0; i < size; i++)
        image[i] = byte_at(i);
    CHECK(!weir_pattern_pack(where, 0, PIECES * PIECE, image, data));
    CHECK(!weir_file_set_size(f, 0));
    CHECK(!weir_file_write_all(f, where, memory, data, &count, NULL));
    CHECK_EQUAL(count, PIECES * PIECE);
    check_size(&s, size - GAP);
    check_read(&s, weir_file_read_all, where, size);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

void check_calls(wr_world *w, const char *path, const char *hints)
{
    stage s = {.w = w, .t = w->transport, .path = path, .hints = hints};
    CHECK(!wr_file_open(w, path, MODE | WEIR_CREATE, hints, &s.f));
    test_nothing(&s);
    test_one_rank(&s);
    test_past_end(&s);
    test_one_is_wrong(&s);
    test_directions(&s);
    test_wrong_and_other_direction(&s);
    test_modes(&s);
    test_hints(&s);
    CHECK(!weir_file_close(s.f));
}
