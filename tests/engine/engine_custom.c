/* Realms of the caller's own, with ranks as threads: whatever they are, files come out right. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "file/file.h"
#include "storage/backends.h"
#include "transport/local.h"

enum { MOST = 6, PIECES = 9, BYTES = 5000 };

typedef struct scene {
    wr_tunables tunables;
    uint64_t seed;
} scene;

static const char path[] = "engine-custom";

static unsigned char byte_at(int64_t offset, int turn)
{
    return (unsigned char)(offset * 7 + offset / 251 + turn);
}

/* Bytes [0, *period) dealt to `count` realms in random pieces; the same on all ranks. */
static void make_realms(rng *r, int count, const weir_pattern **out, int64_t *period)
{
    int64_t offset[MOST][PIECES], length[MOST][PIECES], pieces[MOST] = {0}, at = 0;
    for (int i = 0; i < PIECES; i++) {
        int64_t to = rng_within(r, 0, count - 1), k = pieces[to]++;
        offset[to][k] = at;
        at += length[to][k] = rng_within(r, 1, 200);
    }
    for (int i = 0; i < count; i++) {
        weir_pattern *p;
        CHECK(!weir_pattern_runs(pieces[i], offset[i], length[i], &p));
        out[i] = p;
    }
    *period = at;
}

static void free_realms(int count, const weir_pattern **realms)
{
    for (int i = 0; i < count; i++)
        weir_pattern_free((weir_pattern *)realms[i]);
}

/* Every rank writes its pieces of the file, and reads those of the next rank. */
static void write_and_read(weir_file *f, const wr_transport *t, int turn)
{
    enum { RUN = 13 };
    static _Thread_local unsigned char data[BYTES];
    const int64_t stride = (int64_t)RUN * t->size, count = BYTES / stride;
    weir_pattern *where, *memory;
    int64_t moved;
    CHECK(!weir_pattern_contiguous(0, count * RUN, &memory));
    for (int step = 0; step < 2; step++) {
        const int64_t first = 100 + (int64_t)RUN * ((t->rank + step) % t->size);
        CHECK(!weir_pattern_strided(first, count, RUN, stride, &where));
        for (int64_t i = 0; i < count * RUN; i++)
            data[i] = step ? 0 : byte_at(first + i / RUN * stride + i % RUN, turn);
        CHECK(!(step ? weir_file_read_all(f, where, memory, data, &moved, NULL)
                     : weir_file_write_all(f, where, memory, data, &moved, NULL)));
        CHECK_EQUAL(moved, count * RUN);
        for (int64_t i = 0; i < count * RUN; i++)
            CHECK_EQUAL(data[i], byte_at(first + i / RUN * stride + i % RUN, turn));
        weir_pattern_free(where);
    }
    weir_pattern_free(memory);
}

/* What is refused is refused on all ranks, and the realms before stay. */
static void check_refusals(weir_file *f, const wr_transport *t)
{
    weir_pattern *a, *b, *c;
    CHECK(!weir_pattern_contiguous(0, 100, &a));
    CHECK(!weir_pattern_contiguous(100, 50, &b));
    CHECK(!weir_pattern_contiguous(90, 60, &c));
    CHECK_FAILS(weir_file_set_realms(f, t->size + 1, (const weir_pattern * [MOST + 1]){a, b}, 150),
                WEIR_EINVAL, "realms for");
    CHECK_FAILS(weir_file_set_realms(f, 1, (const weir_pattern *[]){a}, 150), WEIR_EINVAL,
                "leave 50 bytes");
    CHECK_FAILS(weir_file_set_realms(f, 1, (const weir_pattern *[]){a}, 99), WEIR_EINVAL,
                "period of 99");
    CHECK_FAILS(weir_file_set_realms(f, 1, (const weir_pattern *[]){NULL}, 99), WEIR_EINVAL,
                "realm 0 is NULL");
    CHECK_FAILS(weir_file_set_realms(f, 1, (const weir_pattern *[]){a}, -1), WEIR_EINVAL,
                "negative");
    if (t->size > 1) {
        CHECK_FAILS(weir_file_set_realms(f, 2, (const weir_pattern *[]){a, c}, 150), WEIR_EINVAL,
                    "overlap");
        CHECK_FAILS(weir_file_set_realms(
                        f, 2, (const weir_pattern *[]){t->rank ? a : b, t->rank ? b : a}, 150),
                    WEIR_EDISAGREE, "different realms");
    }
    weir_pattern_free(a);
    weir_pattern_free(b);
    weir_pattern_free(c);
}

/* Without a period accesses stay within the realms. */
static void check_bounds(weir_file *f)
{
    weir_pattern *a, *far;
    char byte = 0;
    CHECK(!weir_pattern_contiguous(0, BYTES, &a));
    CHECK(!weir_pattern_contiguous(BYTES, 1, &far));
    CHECK(!weir_file_set_realms(f, 1, (const weir_pattern *[]){a}, 0));
    weir_pattern *one;
    CHECK(!weir_pattern_contiguous(0, 1, &one));
    CHECK_FAILS(weir_file_write_all(f, far, one, &byte, NULL, NULL), WEIR_EINVAL,
                "leaves the realms");
    weir_pattern_free(one);
    weir_pattern_free(far);
    weir_pattern_free(a);
}

static void rank_body(wr_transport *t, void *user)
{
    const scene *s = user;
    rng r = {s->seed};
    wr_world *w;
    weir_file *f;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE,
                        "storage=mem;collective=always;window=301;realms=custom", &f));
    char byte = 0;
    weir_pattern *one;
    CHECK(!weir_pattern_contiguous(0, 1, &one));
    CHECK_FAILS(weir_file_write_all(f, one, one, &byte, NULL, NULL), WEIR_EINVAL,
                "none were given");
    weir_pattern_free(one);
    for (int turn = 0; turn < 4; turn++) {
        const weir_pattern *realms[MOST];
        const int count = (int)rng_within(&r, 1, t->size);
        int64_t period;
        make_realms(&r, count, realms, &period);
        CHECK(!weir_file_set_realms(f, count, realms, period));
        free_realms(count, realms);
        write_and_read(f, t, turn);
        check_refusals(f, t);
        write_and_read(f, t, turn);
    }
    check_bounds(f);
    CHECK(!weir_file_set_realms(f, 0, NULL, 0));
    CHECK(!weir_file_close(f));
    wr_world_release(w);
}

int main(void)
{
    const uint64_t seed = test_seed();
    for (int ranks = 1; ranks <= MOST; ranks++)
        for (int per_node = 0; per_node <= 3; per_node++) {
            scene s = {.seed = seed + (uint64_t)(ranks * 10 + per_node)};
            wr_tunables_init(&s.tunables);
            s.tunables.ranks_per_node = per_node;
            check_within(60);
            CHECK(!wr_local_run(ranks, &s.tunables, rank_body, &s));
            wr_mem_unlink(path);
        }
    return 0;
}
