/* Reads from mapped pages and past the page cache: patterns of all kinds, pages that are there or
 * not, a file that ends early. Anything else than the right bytes is a failure, and so is a signal.
 * */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/direct_read.h"
#include "check.h"
#include "file/inside.h"
#include "transport/local.h"

static const char path[] = "engine-pages.bin";
enum { BYTES = (21 << 20) + 1234, SLOW = 60 };

static char content[BYTES];

static void put_file(rng *r)
{
    for (int64_t i = 0; i < BYTES; i++)
        content[i] = (char)rng_next(r);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0 && write(fd, content, BYTES) == BYTES && !close(fd));
}

static void forget_pages(void)
{
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && !fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) && !close(fd));
}

/* Something ordered within the file: single runs, near and far pieces, rows of pieces, repeated. */
static weir_pattern *random_pattern(rng *r)
{
    weir_pattern *inner, *out;
    static const int64_t runs[] = {1, 8, 24, 4096, 20000, 300000, 1200000, 5000000};
    int64_t run = runs[rng_within(r, 0, 7)], gap = rng_within(r, 0, rng_chance(r, 50) ? 64 : 70000);
    int64_t count = rng_within(r, 1, rng_chance(r, 30) ? 3000 : 5), stride = run + gap;
    while (count > 1 && count * stride > BYTES)
        count--;
    int64_t extent = count * stride + rng_within(r, 0, 100000), rows = rng_within(r, 1, 40);
    while (rows > 1 && rows * extent > BYTES)
        rows--;
    int64_t room = BYTES - (rows - 1) * extent - count * stride;
    CHECK(!weir_pattern_strided(rng_within(r, 0, room > 0 ? room : 0), count, run, stride, &inner));
    CHECK(!weir_pattern_repeat(inner, rows, extent, &out));
    weir_pattern_free(inner);
    return out;
}

static void check_read(weir_file *f, const weir_pattern *where, bool cold)
{
    int64_t bytes = weir_pattern_bytes(where), count = 0, lo, hi;
    char *got = calloc(1, (size_t)bytes), *wanted = malloc((size_t)bytes);
    wr_run_pattern memory;
    weir_pattern_bounds(where, &lo, &hi);
    if (cold) {
        wr_map_close(&f->group.handle.map); /* mapped pages stay */
        forget_pages();
    }
    wr_access_request a = {.direction = WR_READ,
                           .file = where,
                           .end = bytes,
                           .memory = wr_run_pattern_set(&memory, 0, bytes),
                           .base = got,
                           .whole = true};
    int code = wr_file_access(f, &a, false, 0, &count);
    CHECK_EQUAL(code, hi > BYTES ? WEIR_EIO : 0);
    if (!code) {
        CHECK_EQUAL(count, bytes);
        CHECK(!weir_pattern_pack(where, 0, bytes, content, wanted));
        CHECK(!memcmp(got, wanted, (size_t)bytes));
    }
    free(got);
    free(wanted);
}

static void rank_body(wr_transport *t, void *user)
{
    static const char *const hints[] = {NULL,           "map=64K",       "map=0",
                                        "direct=never", "storage=posix", "direct=never;map=4K",
                                        "direct=always"};
    rng *r = user;
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    for (int64_t i = 0, cases = test_cases(25, 5000); i < cases; i++) {
        weir_file *f;
        check_case(i);
        check_within(SLOW);
        CHECK(!wr_file_open(w, path, WEIR_READ, hints[rng_within(r, 0, 6)], &f));
        for (int k = 0; k < 4; k++) {
            weir_pattern *where = random_pattern(r);
            check_read(f, where, rng_chance(r, 50));
            weir_pattern_free(where);
        }
        CHECK(!weir_file_close(f));
    }
    wr_world_release(w);
}

/* A file that is cut while it is open and mapped gives an error, not a signal. */
static void cut_body(wr_transport *t, void *user)
{
    rng *r = user;
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    weir_pattern *all;
    char *got = malloc(BYTES);
    wr_run_pattern memory;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ, NULL, &f));
    CHECK(!weir_pattern_strided(0, BYTES / 64, 8, 64, &all));
    check_read(f, all, false);
    CHECK(!truncate(path, BYTES / 2 + rng_within(r, 0, 5000)));
    wr_access_request a = {.direction = WR_READ,
                           .file = all,
                           .end = weir_pattern_bytes(all),
                           .memory = wr_run_pattern_set(&memory, 0, weir_pattern_bytes(all)),
                           .base = got,
                           .whole = true};
    CHECK_EQUAL(wr_file_access(f, &a, false, 0, NULL), WEIR_EIO);
    CHECK(!strcmp(weir_error_last()->file, path) && weir_error_last()->offset >= BYTES / 2);
    CHECK(!weir_file_close(f));
    weir_pattern_free(all);
    free(got);
    wr_world_release(w);
}

static wr_world *open_world(wr_transport *t)
{
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    return w;
}

typedef struct cutter {
    int64_t size;
    unsigned microseconds;
    _Atomic bool over;
} cutter;

static void *cut_later(void *user)
{
    cutter *c = user;
    usleep(c->microseconds);
    CHECK(!truncate(path, c->size));
    c->over = true;
    return NULL;
}

/* Somebody cuts the file while it is read: whatever comes without an error is right, and once it is
 * cut there is an error. */
static void race_body(wr_transport *t, void *user)
{
    rng *r = user;
    wr_world *w = open_world(t);
    weir_file *f;
    weir_pattern *all;
    enum { STRIDE = 64, RUN = 24, COUNT = BYTES / STRIDE };
    char *got = malloc((size_t)COUNT * RUN), *wanted = malloc((size_t)COUNT * RUN);
    wr_run_pattern memory;
    CHECK(!weir_pattern_strided(0, COUNT, RUN, STRIDE, &all));
    CHECK(!weir_pattern_pack(all, 0, (int64_t)COUNT * RUN, content, wanted));
    wr_access_request a = {.direction = WR_READ,
                           .file = all,
                           .end = (int64_t)COUNT * RUN,
                           .memory = wr_run_pattern_set(&memory, 0, (int64_t)COUNT * RUN),
                           .base = got,
                           .whole = true};
    for (int64_t i = 0, cases = test_cases(8, 1000); i < cases; i++) {
        cutter c = {.size = rng_within(r, 0, BYTES - STRIDE),
                    .microseconds = (unsigned)rng_within(r, 0, 20000)};
        pthread_t thread;
        check_case(i);
        check_within(SLOW);
        int fd = open(path, O_WRONLY);
        CHECK(fd >= 0 && write(fd, content, BYTES) == BYTES && !close(fd));
        CHECK(!wr_file_open(w, path, WEIR_READ, NULL, &f));
        CHECK(!pthread_create(&thread, NULL, cut_later, &c));
        for (bool over = false; !over;) {
            over = c.over;
            int code = wr_file_access(f, &a, false, 0, NULL);
            CHECK(code == WEIR_EIO || (!code && !over));
            CHECK(code || !memcmp(got, wanted, (size_t)COUNT * RUN));
        }
        CHECK(!pthread_join(thread, NULL));
        CHECK(!weir_file_close(f));
    }
    weir_pattern_free(all);
    free(got);
    free(wanted);
    wr_world_release(w);
}

/* What is asked for is on the device only. */
static weir_file *open_cold(wr_world *w)
{
    weir_file *f;
    CHECK(!wr_file_open(w, path, WEIR_READ, "map=0", &f));
    forget_pages();
    return f;
}

/* Pieces from inside the file to far behind its end: an error, not what memory held before. */
static void past_end_body(wr_transport *t, void *user)
{
    wr_world *w = open_world(t);
    weir_pattern *where;
    (void)user;
    for (int64_t first = 0; first < BYTES; first += BYTES / 2 - 1000) {
        weir_file *f = open_cold(w);
        CHECK(!weir_pattern_strided(first, 60, 8, 500000, &where));
        check_read(f, where, true);
        weir_pattern_free(where);
        CHECK(!weir_pattern_strided(first, 2, 8, BYTES - 4 - first, &where)); /* 4 bytes too far */
        check_read(f, where, true);
        weir_pattern_free(where);
        CHECK(!weir_file_close(f));
    }
    wr_world_release(w);
}

/* The file stays the one that was opened when its name becomes another's, by a rename or by a
 * change of folders. */
static void replaced_body(wr_transport *t, void *user)
{
    static const char folder[] = "engine-pages.folder", other[] = "engine-pages.folder/x";
    wr_world *w = open_world(t);
    weir_pattern *where;
    (void)user;
    CHECK(!weir_pattern_strided(100, 300, 5000, 70000, &where));
    for (int moved = 0; moved < 2; moved++) {
        CHECK(!mkdir(folder, 0777));
        int fd = open(other, O_WRONLY | O_CREAT, 0644);
        CHECK(fd >= 0 && !ftruncate(fd, BYTES) && !close(fd)); /* zeros */
        weir_file *f = open_cold(w);
        if (moved) {
            CHECK(!rename(other, "engine-pages.folder/engine-pages.bin") && !chdir(folder));
        } else {
            CHECK(!rename(path, "engine-pages.kept") && !rename(other, path));
        }
        check_read(f, where, false);
        CHECK(!weir_file_close(f));
        if (moved)
            CHECK(!unlink(path) && !chdir(".."));
        else
            CHECK(!rename("engine-pages.kept", path));
        CHECK(!rmdir(folder));
    }
    wr_world_release(w);
    weir_pattern_free(where);
}

/* Whatever the page is: it can be had wherever it lies, and bodies of direct access are whole ones,
 * so that none is written both past the cache and from it. */
static void page_body(wr_transport *t, void *user)
{
    static const int64_t at[] = {5 << 12, 70000, 1 << 20, BYTES - 1};
    wr_world *w = open_world(t);
    weir_file *f;
    wr_map m = {0};
    const char *told = getenv("WEIR_TEST_PAGE");
    (void)user;
    CHECK(!told || wr_page_bytes() == atoi(told));
    CHECK(!wr_file_open(w, path, WEIR_READ, NULL, &f));
    CHECK(wr_map_reach(&m, f->group.handle.storage, BYTES));
    bool can = wr_map_hold(&m, 0, 1); /* older kernels cannot */
    for (size_t i = 0; can && i < sizeof at / sizeof *at; i++) {
        CHECK(wr_map_hold(&m, at[i], at[i] + 1));
        CHECK_EQUAL(m.base[at[i]], content[at[i]]);
    }
    CHECK(!can || m.mapped <= (int64_t)5 * (64 << 10));
    wr_map_close(&m);
    CHECK(!weir_file_close(f));
    CHECK(!wr_file_open(w, path, WEIR_READ, "direct=always", &f));
    const wr_storage_facts *facts = &f->group.handle.storage->facts;
    CHECK(!facts->direct || facts->alignment % wr_page_bytes() == 0);
    CHECK(!weir_file_close(f));
    wr_world_release(w);
}

/* --- byte files --- */

enum { PIECES = 200, PIECE = 24, STEP = 5000, MARK = 0x55 };

/* Reads a rank's pieces from `at` on, of which those before `end` are there; what is not stays as
 * it was. */
static void read_pieces(weir_file *f, bool together, int64_t at, int64_t end)
{
    char got[PIECES * PIECE], wanted[PIECES * PIECE];
    wr_run_pattern memory;
    weir_pattern *where;
    int64_t count = 0, there = 0;
    memset(got, MARK, sizeof got);
    memset(wanted, MARK, sizeof wanted);
    for (int64_t i = 0; i < PIECES * PIECE; i++) {
        int64_t place = at + i / PIECE * STEP + i % PIECE;
        if (place < end)
            wanted[there++] = content[place];
    }
    CHECK(!weir_pattern_strided(at, PIECES, PIECE, STEP, &where));
    wr_access_request a = {.direction = WR_READ,
                           .file = where,
                           .end = sizeof got,
                           .memory = wr_run_pattern_set(&memory, 0, sizeof got),
                           .base = got};
    CHECK(!wr_file_access(f, &a, together, 0, &count));
    CHECK_EQUAL(count, there);
    CHECK(!memcmp(got, wanted, sizeof got));
    weir_pattern_free(where);
}

/* All of the file is again as it was. */
static void write_back(weir_file *f, bool all)
{
    wr_run_pattern whole;
    const weir_pattern *where = wr_run_pattern_set(&whole, 0, all ? BYTES : 0);
    CHECK(!weir_file_write_all(f, where, where, content, NULL, NULL));
}

/* Alone and together, across the end, and where the file has become shorter than what is mapped. */
static void bytes_body(wr_transport *t, void *user)
{
    enum { SPAN = PIECES * STEP, CUT = 2 * SPAN + SPAN / 2 };
    wr_world *w = open_world(t);
    weir_file *f;
    (void)user;
    for (int together = 0; together < 2; together++) {
        CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE, NULL, &f));
        read_pieces(f, together, t->rank * SPAN, BYTES);
        CHECK(f->group.handle.map.base || f->group.handle.unmapped); /* by an older kernel */
        read_pieces(f, together, BYTES - SPAN / 2 - t->rank, BYTES);
        CHECK(!weir_file_set_size(f, CUT));
        read_pieces(f, together, t->rank * SPAN, CUT);
        write_back(f, t->rank == 0);
        CHECK(!weir_file_close(f));
    }
    wr_world_release(w);
}

int main(void)
{
    rng r = {test_seed()};
    wr_tunables tunables;
    char folder[40]; /* two of these run at a time, with pages of different sizes */
    snprintf(folder, sizeof folder, "engine-pages-%d", (int)getpid());
    CHECK(!mkdir(folder, 0777) && !chdir(folder));
    wr_tunables_init(&tunables);
    put_file(&r);
    CHECK(!wr_local_run(1, &tunables, page_body, NULL));
    CHECK(!wr_local_run(1, &tunables, bytes_body, NULL));
    CHECK(!wr_local_run(3, &tunables, bytes_body, NULL));
    CHECK(!wr_local_run(1, &tunables, rank_body, &r));
    CHECK(!wr_local_run(1, &tunables, past_end_body, NULL));
    CHECK(!wr_local_run(1, &tunables, replaced_body, NULL));
    CHECK(!wr_local_run(1, &tunables, cut_body, &r));
    put_file(&r);
    CHECK(!wr_local_run(1, &tunables, race_body, &r));
    CHECK(!unlink(path) && !chdir("..") && !rmdir(folder));
    return 0;
}
