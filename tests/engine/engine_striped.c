/* Striped files and one aggregator per disk, with ranks as threads: what some ranks write, others
 * read who know nothing of disks; errors reach all ranks and leave nothing behind. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/inside.h"
#include "storage/storage_support.h"
#include "transport/local.h"

enum { PIECE = 7, PIECES = 900, RANKS_MOST = 5, WHOLE = PIECE * PIECES };

typedef struct scene {
    wr_tunables tunables;
    const char *path;
    char hints[400];
    bool holes; /* every other piece is left out */
    int codes[RANKS_MOST];
    char files[RANKS_MOST][256];
} scene;

static char byte_at(int64_t offset)
{
    return (char)(1 + (offset * 37 + offset / 113) % 120);
}

/* What is in the file in the end. */
static char whole_byte(const scene *s, int64_t offset)
{
    return s->holes && offset / PIECE % 2 ? 0 : byte_at(offset);
}

/* All ranks' pieces together, wherever there is one. */
static weir_pattern *pieces(const scene *s, const wr_transport *t)
{
    weir_pattern *where;
    int64_t each = PIECE * (s->holes ? 2 : 1), all = WHOLE / each;
    int64_t mine = (all - t->rank + t->size - 1) / t->size;
    CHECK(!weir_pattern_strided(t->rank * each, mine, PIECE, each * t->size, &where));
    return where;
}

static int write_pieces(const scene *s, const wr_transport *t, weir_file *f)
{
    static _Thread_local char memory[WHOLE], image[WHOLE];
    weir_pattern *where = pieces(s, t), *dense;
    int64_t bytes = weir_pattern_bytes(where), count = 0;
    for (int64_t i = 0; i < WHOLE; i++)
        image[i] = byte_at(i);
    CHECK(!weir_pattern_contiguous(0, bytes, &dense));
    CHECK(!weir_pattern_pack(where, 0, bytes, image, memory));
    int code = weir_file_write_all(f, where, dense, memory, &count, NULL);
    CHECK(code || count == bytes);
    weir_pattern_free(where);
    weir_pattern_free(dense);
    return code;
}

/* A share of the file, and some bytes that are not there. */
static void read_share(const scene *s, const wr_transport *t, weir_file *f, bool together)
{
    static _Thread_local char memory[WHOLE];
    weir_pattern *where, *dense;
    int64_t lo = t->rank * WHOLE / t->size, size, count = 0;
    CHECK_EQUAL(weir_file_get_size(f, &size), 0);
    CHECK(!weir_pattern_contiguous(lo, WHOLE, &where));
    CHECK(!weir_pattern_contiguous(0, WHOLE, &dense));
    CHECK_EQUAL(
        (together ? weir_file_read_all : weir_file_read)(f, where, dense, memory, &count, NULL), 0);
    CHECK_EQUAL(count, size - lo);
    for (int64_t i = 0; i < count; i++)
        CHECK_EQUAL(memory[i], whole_byte(s, lo + i));
    weir_pattern_free(where);
    weir_pattern_free(dense);
}

static void write_body(wr_transport *t, void *user)
{
    const scene *s = user;
    wr_world *w;
    weir_file *f;
    int64_t size;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK(!wr_file_open(w, s->path, WEIR_READ | WEIR_WRITE | WEIR_CREATE | WEIR_EXCLUSIVE, s->hints,
                        &f));
    CHECK(f->group.handle.storage->facts.disks > 0);
    CHECK_EQUAL(weir_file_set_size(f, 10 * WHOLE), 0);
    CHECK_EQUAL(weir_file_get_size(f, &size), 0);
    CHECK_EQUAL(size, 10 * WHOLE);
    CHECK_EQUAL(write_pieces(s, t, f), 0);
    CHECK_EQUAL(weir_file_set_size(f, WHOLE), 0);
    read_share(s, t, f, true);
    CHECK_EQUAL(weir_file_sync(f), 0);
    CHECK_EQUAL(weir_file_close(f), 0);
    wr_world_release(w);
}

static void read_body(wr_transport *t, void *user)
{
    const scene *s = user;
    wr_world *w;
    weir_file *f;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK(!wr_file_open(w, s->path, WEIR_READ, "realms=disks;collective=always", &f));
    read_share(s, t, f, true);
    read_share(s, t, f, false);
    CHECK_EQUAL(weir_file_close(f), 0);
    wr_world_release(w);
}

/* Files of this path and its parts. */
static int count_files(const scene *s)
{
    DIR *d = opendir(".");
    CHECK(d);
    int count = 0;
    for (const struct dirent *e; (e = readdir(d));)
        count += !strncmp(e->d_name, s->path, strlen(s->path));
    closedir(d);
    return count;
}

static void check_one(void *user, const int *choice)
{
    static const char *const disks[] = {".", ".:.", ".:.:.", ".:.:.:.:.:.:."};
    static const int64_t blocks[] = {1, 64, 1000, 1 << 20};
    static const char *const realms[] = {"disks", "even", "cyclic", "persistent"};
    static const char *const access[] = {"auto", "sieve", "list"};
    static const char *const window[] = {"500", "1M"};
    static const char *const more[] = {"overlap=none", "overlap=all", "exchange=p2p",
                                       "collective=never", "aggregators=2"};
    scene *s = user;
    s->holes = choice[7];
    snprintf(s->hints, sizeof s->hints,
             "storage=striped;disks=%s;striping_unit=%lld;realm_align=1;collective=always;"
             "realms=%s;access=%s;window=%s;%s",
             disks[choice[1]], (long long)blocks[choice[2]], realms[choice[3]], access[choice[4]],
             window[choice[5]], more[choice[6]]);
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "%d ranks, %s\n", choice[0] + 1, s->hints);
    check_within(60);
    CHECK(!wr_local_run(choice[0] + 1, &s->tunables, write_body, s));
    CHECK(!wr_local_run(RANKS_MOST - choice[0], &s->tunables, read_body, s));
    CHECK_EQUAL(wr_storage_remove(s->path), 0);
    CHECK_EQUAL(count_files(s), 0);
}

static void failing_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_world *w;
    weir_file *f;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    int code = wr_file_open(w, s->path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, s->hints, &f);
    if (!code) {
        code = write_pieces(s, t, f);
        weir_error error = *weir_error_last();
        CHECK_EQUAL(weir_file_close(f), 0);
        if (code)
            wr_error_raise(&error);
    }
    s->codes[t->rank] = code;
    snprintf(s->files[t->rank], sizeof s->files[0], "%s", weir_error_last()->file);
    wr_world_release(w);
}

static void run_failing(scene *s, const char *hints, int code, const char *file)
{
    enum { RANKS = 3 };
    snprintf(s->hints, sizeof s->hints, "%s", hints);
    CHECK(!wr_local_run(RANKS, &s->tunables, failing_body, s));
    for (int i = 0; i < RANKS; i++) {
        CHECK_EQUAL(s->codes[i], code);
        CHECK(strstr(s->files[i], file) && !strcmp(s->files[i], s->files[0]));
    }
}

/* A disk that is not there, and one that fails: all ranks hear the same. */
static void test_failures(scene *s)
{
    char part[300];
    run_failing(s, "storage=striped;disks=.:no-disk:.", WEIR_ENOENT, "no-disk");
    CHECK_EQUAL(count_files(s), 0);
    run_failing(s, "storage=striped;disks=.::.", WEIR_EINVAL, s->path);
    CHECK_EQUAL(count_files(s), 0);
    snprintf(part, sizeof part, "%s.weir-", s->path);
    for (int k = 1; k < 4; k++) {
        char hints[200];
        snprintf(hints, sizeof hints,
                 "storage=striped;disks=.:.:.;striping_unit=1000;realms=disks;collective=always;"
                 "fault=enospc:%d;window=500",
                 k);
        run_failing(s, hints, WEIR_ENOSPC, part);
        CHECK_EQUAL(count_files(s), 4);
        CHECK_EQUAL(wr_storage_remove(s->path), 0);
    }
}

int main(void)
{
    static scene s;
    rng r = {test_seed()};
    int levels[] = {RANKS_MOST, 4, 4, 4, 3, 2, 5, 2};
    wr_tunables_init(&s.tunables);
    s.path = test_path("engine-striped");
    test_pairwise(&r, 8, levels, check_one, &s);
    test_failures(&s);
    return 0;
}
