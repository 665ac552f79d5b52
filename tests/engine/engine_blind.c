/* Collective and independent writes with holes, in atomic mode and not, to a file that may be
 * written but not read: nothing but the runs themselves can be written, whatever was tuned. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "file/inside.h"
#include "transport/local.h"

enum { RANKS = 3, PIECES = 20000, PIECE = 3, ROW = 16, BYTES = PIECES * ROW, NOBODY = 65534 };

typedef struct scene {
    const char *path, *hints;
    bool together, atomic;
} scene;

static void rank_body(wr_transport *t, void *user)
{
    const scene *s = user;
    static _Thread_local char memory[PIECES * PIECE];
    wr_tunables tunables;
    wr_world *w;
    weir_file *f;
    weir_pattern *where, *dense;
    int64_t count;
    memset(memory, 'a' + t->rank, sizeof memory);
    CHECK(!weir_pattern_strided(t->rank * PIECE, PIECES, PIECE, ROW, &where));
    CHECK(!weir_pattern_contiguous(0, sizeof memory, &dense));
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, s->path, WEIR_WRITE, s->hints, &f));
    CHECK(!f->group.handle.can_read);
    CHECK(!s->atomic || !weir_file_set_atomic(f, 1));
    CHECK(!(s->together ? weir_file_write_all : weir_file_write)(f, where, dense, memory, &count,
                                                                 NULL));
    CHECK_EQUAL(count, PIECES * PIECE);
    CHECK(!weir_file_close(f));
    weir_pattern_free(where);
    weir_pattern_free(dense);
    wr_world_release(w);
}

static void put_old(const char *path)
{
    static char bytes[BYTES];
    memset(bytes, '.', sizeof bytes);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0222);
    CHECK(fd >= 0 && write(fd, bytes, sizeof bytes) == BYTES);
    CHECK(geteuid() || !fchown(fd, NOBODY, NOBODY));
    CHECK(!fchmod(fd, 0222) && !close(fd));
}

static void check_new(const char *path)
{
    static char bytes[BYTES + 1];
    CHECK(!chmod(path, 0644));
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, bytes, sizeof bytes) == BYTES && !close(fd));
    for (int64_t i = 0; i < BYTES; i++) {
        int64_t rank = i % ROW / PIECE;
        CHECK_EQUAL(bytes[i], rank < RANKS ? 'a' + rank : '.');
    }
}

int main(void)
{
    static const char *const hints[] = {
        "",
        "access=sieve",
        "access=sieve;window=1000;realms=cyclic",
        "access=extent:1000;exchange=p2p",
        "collective=never",
    };
    char folder[] = "/tmp/weir-blind-XXXXXX", path[64];
    bool root = geteuid() == 0;
    CHECK(mkdtemp(folder) && !chmod(folder, 0777));
    snprintf(path, sizeof path, "%s/file", folder);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        for (int how = 0; how < 4; how++) {
            scene s = {path, hints[i], how % 2, how / 2};
            wr_tunables tunables;
            wr_tunables_init(&tunables);
            put_old(path);
            CHECK(!root || !seteuid(NOBODY));
            CHECK(!wr_local_run(RANKS, &tunables, rank_body, &s));
            CHECK(!root || !seteuid(0));
            check_new(path);
        }
    CHECK(!unlink(path) && !rmdir(folder));
    return 0;
}
