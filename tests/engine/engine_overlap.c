/* Where several ranks write a byte in one collective call, the highest rank's is in the file: for
 * every way of cutting realms, exchanging and accessing, with windows smaller and larger than what
 * is written, and for every way in which ranks can overlap. Ranks are threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "storage/storage_support.h"
#include "transport/local.h"

enum { MOST_RANKS = 7, BYTES = 8192, PIECE = 900 };

typedef struct scene {
    int ranks;
    char hints[300];
    wr_tunables tunables;
} scene;

static const char path[] = "engine-overlap";

/* A rank's request; all lie within BYTES. */
typedef weir_pattern *shape(int rank, int ranks);

static weir_pattern *strided(int64_t offset, int64_t count, int64_t run, int64_t stride)
{
    weir_pattern *p;
    CHECK(!weir_pattern_strided(offset, count, run, stride, &p));
    return p;
}

/* Half of a rank's bytes are the next one's too. */
static weir_pattern *partly(int rank, int ranks)
{
    (void)ranks;
    return strided(rank * PIECE / 2, 1, PIECE, PIECE);
}

static weir_pattern *wholly(int rank, int ranks)
{
    (void)rank, (void)ranks;
    return strided(77, 1, PIECE, PIECE);
}

/* Each rank within the one below it. */
static weir_pattern *inside(int rank, int ranks)
{
    (void)ranks;
    return strided(rank * 60, 1, PIECE - 120 * rank, PIECE);
}

/* Each rank within the one above it: only the highest is to be seen. */
static weir_pattern *around(int rank, int ranks)
{
    return inside(ranks - 1 - rank, ranks);
}

static weir_pattern *three_deep(int rank, int ranks)
{
    (void)ranks;
    return strided(rank * PIECE / 3, 1, PIECE, PIECE);
}

/* Runs that overlap those of the ranks beside it, and leave holes. */
static weir_pattern *interleaved(int rank, int ranks)
{
    (void)ranks;
    return strided(rank * 8, 60, 17, 83);
}

/* As above, but of a period for each rank: all numbers of ranks meet somewhere. */
static weir_pattern *out_of_step(int rank, int ranks)
{
    (void)ranks;
    return strided(5 + rank * 3, 90 - 5 * rank, 9 + rank, 40 + 3 * rank);
}

static shape *const shapes[] = {partly,     wholly,      inside,     around,
                                three_deep, interleaved, out_of_step};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Tells ranks apart at every byte; rank -1 is what was there before. */
static char byte_of(int rank, int64_t offset)
{
    return (char)((rank + 1) * 32 + offset % 31);
}

static int64_t deepest; /* most ranks that wrote one byte, in all cases */

static void check_file(const scene *s, shape *of)
{
    static char bytes[BYTES];
    static int highest[BYTES], depth[BYTES];
    memset(highest, -1, sizeof highest);
    memset(depth, 0, sizeof depth);
    for (int r = 0; r < s->ranks; r++) {
        weir_pattern *p = of(r, s->ranks);
        int64_t own = weir_pattern_bytes(p);
        char mark[BYTES] = {0}, ones[BYTES];
        memset(ones, 1, sizeof ones);
        CHECK(!weir_pattern_unpack(p, 0, own, mark, ones));
        for (int i = 0; i < BYTES; i++)
            if (mark[i]) {
                highest[i] = r;
                deepest = ++depth[i] > deepest ? depth[i] : deepest;
            }
        weir_pattern_free(p);
    }
    CHECK_EQUAL(get_file(path, "storage=mem", bytes, BYTES), BYTES);
    for (int i = 0; i < BYTES; i++)
        CHECK_EQUAL(bytes[i], byte_of(highest[i], i));
}

static void put_old(void)
{
    static char bytes[BYTES];
    for (int64_t i = 0; i < BYTES; i++)
        bytes[i] = byte_of(-1, i);
    put_file(path, "storage=mem", bytes, BYTES);
}

/* Lower ranks have their data in single bytes: they take longer to copy, so that one that does not
 * wait for its turn comes late and is seen. */
static weir_pattern *memory_of(int rank, int ranks, int64_t bytes)
{
    return rank < ranks - 1 ? strided(0, bytes, 1, 3) : strided(0, 1, bytes, bytes);
}

static void write_shape(weir_file *f, const scene *s, int rank, shape *of)
{
    static _Thread_local char image[BYTES], data[BYTES], base[3 * BYTES];
    int64_t count;
    weir_pattern *where = of(rank, s->ranks);
    int64_t bytes = weir_pattern_bytes(where);
    weir_pattern *memory = memory_of(rank, s->ranks, bytes);
    for (int64_t i = 0; i < BYTES; i++)
        image[i] = byte_of(rank, i);
    CHECK(!weir_pattern_pack(where, 0, bytes, image, data));
    CHECK(!weir_pattern_unpack(memory, 0, bytes, base, data));
    CHECK(!weir_file_write_all(f, where, memory, base, &count, NULL));
    CHECK_EQUAL(count, bytes);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

static void rank_body(wr_transport *t, void *user)
{
    const scene *s = user;
    wr_world *w;
    weir_file *f;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_WRITE | WEIR_CREATE, s->hints, &f));
    for (int i = 0; i < SHAPES; i++) {
        if (t->rank == 0)
            put_old();
        CHECK(!wr_agree(t, 0, 0));
        write_shape(f, s, t->rank, shapes[i]);
        if (t->rank == 0)
            check_file(s, shapes[i]);
    }
    CHECK(!weir_file_close(f));
    wr_world_release(w);
}

/* One combination of realms, exchange, access and window. */
static void check_combination(rng *r, int64_t number, const int *choice)
{
    static const char *const realms[] = {"even", "static", "cyclic", "persistent"};
    static const char *const exchange[] = {"shm", "p2p", "leaders", "alltoall"};
    static const char *const access[] = {"auto", "sieve", "list", "naive", "extent:60"};
    static const char *const window[] = {"250", "1M"};
    scene s;
    wr_tunables_init(&s.tunables);
    for (int ranks = 2; ranks <= MOST_RANKS; ranks++) {
        if (!test_long() && (ranks + number) % 3)
            continue;
        s.ranks = ranks;
        s.tunables.ranks_per_node = choice[1] && rng_chance(r, 50) ? rng_within(r, -3, 3) : 0;
        snprintf(s.hints, sizeof s.hints,
                 "storage=mem;collective=always;realms=%s;exchange=%s;access=%s;window=%s;"
                 "aggregators=%lld",
                 realms[choice[0]], exchange[choice[1]], access[choice[2]], window[choice[3]],
                 (long long)rng_within(r, 1, ranks));
        check_case(number * 10 + ranks);
        CHECK(!wr_local_run(ranks, &s.tunables, rank_body, &s));
        wr_mem_unlink(path);
    }
}

int main(void)
{
    rng r = {test_seed()};
    int64_t number = 0;
    int c[4];
    check_within(120);
    for (c[0] = 0; c[0] < 4; c[0]++)
        for (c[1] = 0; c[1] < 4; c[1]++)
            for (c[2] = 0; c[2] < 5; c[2]++)
                for (c[3] = 0; c[3] < 2; c[3]++)
                    check_combination(&r, number++, c);
    CHECK_EQUAL(deepest, MOST_RANKS);
    return 0;
}
