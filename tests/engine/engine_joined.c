/* Collective and independent calls on several files seen as one, with ranks as threads: what ranks
 * write in rows, they read in other rows, wherever members end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "storage/member_set.h"
#include "transport/local.h"

enum { PIECE = 7, PIECES = 900, RANKS_MOST = 4, WHOLE = PIECE * PIECES };

typedef struct scene {
    wr_tunables tunables;
    char hints[200];
    member_set set;
    bool holes; /* every other piece is left out */
} scene;

static char byte_at(int64_t offset)
{
    return (char)(1 + (offset * 37 + offset / 113) % 120);
}

static int open_set_file(const scene *s, wr_world *w, int mode, weir_file **out)
{
    wr_opening how = {.path = "set", .mode = mode, .hints = s->hints, .members = &s->set.members};
    return wr_file_open_as(w, &how, out);
}

/* This rank's pieces; `shift` says whose they are. */
static weir_pattern *pieces(const scene *s, const wr_transport *t, int shift)
{
    weir_pattern *where;
    int64_t row = PIECE * t->size * (s->holes ? 2 : 1), mine = (t->rank + shift) % t->size;
    int64_t rows = WHOLE / row;
    CHECK(!weir_pattern_strided(mine * PIECE, rows, PIECE, row, &where));
    return where;
}

static void write_pieces(const scene *s, const wr_transport *t, weir_file *f)
{
    static _Thread_local char memory[WHOLE], image[WHOLE];
    weir_pattern *where = pieces(s, t, 0), *dense;
    int64_t bytes = weir_pattern_bytes(where), count = 0;
    for (int64_t i = 0; i < WHOLE; i++)
        image[i] = byte_at(i);
    CHECK(!weir_pattern_contiguous(0, bytes, &dense));
    CHECK(!weir_pattern_pack(where, 0, bytes, image, memory));
    CHECK_EQUAL(weir_file_write_all(f, where, dense, memory, &count, NULL), 0);
    CHECK_EQUAL(count, bytes);
    weir_pattern_free(where);
    weir_pattern_free(dense);
}

static void read_pieces(const scene *s, const wr_transport *t, weir_file *f, bool together)
{
    static _Thread_local char memory[WHOLE], image[WHOLE], wanted[WHOLE];
    weir_pattern *where = pieces(s, t, 1), *dense;
    int64_t bytes = weir_pattern_bytes(where), count = 0;
    for (int64_t i = 0; i < WHOLE; i++)
        image[i] = byte_at(i);
    CHECK(!weir_pattern_contiguous(0, bytes, &dense));
    CHECK(!weir_pattern_pack(where, 0, bytes, image, wanted));
    CHECK_EQUAL(
        (together ? weir_file_read_all : weir_file_read)(f, where, dense, memory, &count, NULL), 0);
    CHECK_EQUAL(count, bytes);
    CHECK(!memcmp(memory, wanted, (size_t)bytes));
    weir_pattern_free(where);
    weir_pattern_free(dense);
}

static void rank_body(wr_transport *t, void *user)
{
    const scene *s = user;
    const int both = WEIR_READ | WEIR_WRITE;
    int64_t size;
    wr_world *w;
    weir_file *f;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK_FAILS(open_set_file(s, w, both | WEIR_CREATE, &f), WEIR_EINVAL, "created");
    CHECK_FAILS(open_set_file(s, w, both | WEIR_TRUNCATE, &f), WEIR_EINVAL, "truncated");
    CHECK_EQUAL(open_set_file(s, w, both, &f), 0);
    write_pieces(s, t, f);
    read_pieces(s, t, f, true);
    read_pieces(s, t, f, false);
    CHECK_EQUAL(weir_file_sync(f), 0);
    CHECK_FAILS(weir_file_set_size(f, 5), WEIR_EUNSUPPORTED, "keep their size");
    CHECK_FAILS(wr_file_preallocate(f, WHOLE + 1), WEIR_EUNSUPPORTED, "keep their size");
    CHECK_EQUAL(weir_file_get_size(f, &size), 0);
    CHECK_EQUAL(size, WHOLE);
    CHECK_EQUAL(weir_file_close(f), 0);
    wr_world_release(w);
}

/* One member is missing: all ranks hear of it, and it is named. */
static void missing_body(wr_transport *t, void *user)
{
    const scene *s = user;
    static _Thread_local char memory[WHOLE];
    wr_world *w;
    weir_file *f;
    weir_pattern *where = pieces(s, t, 0), *dense;
    CHECK(!weir_pattern_contiguous(0, weir_pattern_bytes(where), &dense));
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK_EQUAL(open_set_file(s, w, WEIR_READ | WEIR_WRITE, &f), 0);
    CHECK_EQUAL(weir_file_read_all(f, where, dense, memory, NULL, NULL), WEIR_ENOENT);
    CHECK(!strcmp(weir_error_last()->file, s->set.path[1]));
    CHECK_EQUAL(weir_file_write_all(f, where, dense, memory, NULL, NULL), WEIR_ENOENT);
    CHECK(!strcmp(weir_error_last()->file, s->set.path[1]));
    CHECK_EQUAL(weir_file_close(f), 0);
    weir_pattern_free(where);
    weir_pattern_free(dense);
    wr_world_release(w);
}

/* Members of any sizes, WHOLE together. */
static void make_members(scene *s, rng *r)
{
    while (s->set.size < WHOLE) {
        int64_t left = WHOLE - s->set.size, bytes = rng_within(r, 0, 400);
        bool last = s->set.members.count == SET_MOST - 1;
        set_add(&s->set, s->hints, rng_within(r, 0, 200), last || bytes > left ? left : bytes);
    }
}

static void check_files(const scene *s, int ranks)
{
    static char wanted[WHOLE];
    int64_t row = (int64_t)PIECE * ranks * (s->holes ? 2 : 1), rows = WHOLE / row;
    for (int64_t i = 0; i < WHOLE; i++) {
        bool written = i / row < rows && i % row < PIECE * ranks;
        wanted[i] = written ? byte_at(i) : 0;
    }
    set_check(&s->set, s->hints, wanted);
}

static void check_one(void *user, const int *choice)
{
    /* not uring: it maps memory where the thread sanitizer does not see it, one ring after another
     * at the same place */
    static const char *const storages[] = {"posix", "pool", "mem"};
    static const char *const exchange[] = {"auto", "p2p", "leaders", "alltoall"};
    static const char *const together[] = {"always", "never"};
    static const char *const access[] = {"auto", "sieve", "list"};
    static const char *const window[] = {"500", "1M"};
    static const char *const overlap[] = {"auto", "all"};
    static scene s;
    int ranks = choice[0] + 1;
    memset(&s, 0, sizeof s);
    wr_tunables_init(&s.tunables);
    s.holes = choice[6];
    snprintf(s.hints, sizeof s.hints,
             "storage=%s;exchange=%s;collective=%s;access=%s;window=%s;overlap=%s",
             storages[choice[1]], exchange[choice[2]], together[choice[3]], access[choice[4]],
             window[choice[5]], overlap[choice[7]]);
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "%d ranks, %s\n", ranks, s.hints);
    check_within(60);
    make_members(&s, user);
    CHECK(!wr_local_run(ranks, &s.tunables, rank_body, &s));
    check_files(&s, ranks);
    set_forget(&s.set);
    memset(&s.set, 0, sizeof s.set);
    for (int i = 0; i < 3; i++)
        set_add(&s.set, s.hints, 10, WHOLE / 3);
    forget_file(s.set.path[1]);
    CHECK(!wr_local_run(ranks, &s.tunables, missing_body, &s));
    set_forget(&s.set);
}

int main(void)
{
    rng r = {test_seed()};
    int levels[] = {RANKS_MOST, 3, 4, 2, 3, 2, 2, 2};
    test_pairwise(&r, 8, levels, check_one, &r);
    return 0;
}
