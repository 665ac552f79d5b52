/* Ranks that write apart from each other, alone, and write back what lies between their own pieces:
 * it stays, also where another handle writes into it meanwhile. Where they are not apart nobody
 * does. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "exchange/group_access.h"
#include "file/inside.h"
#include "transport/local.h"

enum { RANKS = 3, PIECES = 256, RUN = 16, STRIDE = 1024, SPAN = PIECES * STRIDE, ROUNDS = 48 };
enum { WHOLE = RANKS * SPAN, OLD = '.', OTHER = 'o' };

static char path[64];

/* One call of a window is cheaper than one of each piece, and many ranks than one aggregator. */
static char hints[] = "fault=delay:20;aggregators=1";

/* Pieces of a rank's own span, or, if they are mixed, of all of it. */
static weir_pattern *pieces(int rank, bool mixed, int64_t shift)
{
    weir_pattern *p;
    const int64_t at = mixed ? rank * RUN : (int64_t)rank * SPAN;
    CHECK(!weir_pattern_strided(at + shift, PIECES, RUN, STRIDE, &p));
    return p;
}

static void write_pieces(weir_file *f, weir_pattern *where, char what, bool together)
{
    char data[PIECES * RUN];
    weir_pattern *memory;
    memset(data, what, sizeof data);
    CHECK(!weir_pattern_contiguous(0, sizeof data, &memory));
    CHECK(!(together ? weir_file_write_all : weir_file_write)(f, where, memory, data, NULL, NULL));
    weir_pattern_free(memory);
}

static void rank_body(wr_transport *t, void *user)
{
    const bool *mixed = user;
    wr_world *w;
    weir_file *f;
    wr_tunables tunables;
    weir_pattern *own = pieces(t->rank, *mixed, 0);
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE, hints, &f));
    for (int i = 0; i < ROUNDS; i++)
        write_pieces(f, own, (char)('a' + t->rank), true);
    if (!*mixed) { /* never a call a piece, nor a window of an aggregator */
        CHECK(f->group.handle.samples.of[WR_WRITE].calls == 0);
        CHECK_EQUAL(f->group.node_windows.rings, 0);
    }
    CHECK(!weir_file_close(f));
    weir_pattern_free(own);
    wr_world_release(w);
}

/* Another handle, which writes what lies between, every byte once: what is undone stays so. */
static void other_body(wr_transport *t, void *user)
{
    wr_world *w;
    weir_file *f;
    wr_tunables tunables;
    (void)user;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE, NULL, &f));
    for (int i = 0; i < STRIDE / 2 / RUN; i++)
        for (int rank = 0; rank < RANKS; rank++) {
            weir_pattern *p = pieces(rank, false, STRIDE / 2 + i * RUN);
            write_pieces(f, p, OTHER, false);
            weir_pattern_free(p);
            usleep(200);
        }
    CHECK(!weir_file_close(f));
    wr_world_release(w);
}

static void *run_other(void *user)
{
    CHECK(!wr_local_run(1, user, other_body, NULL));
    return NULL;
}

static char expected(int64_t at, bool mixed)
{
    const int64_t in_step = at % STRIDE;
    if (in_step >= STRIDE / 2)
        return OTHER;
    if (!mixed)
        return (char)(in_step < RUN ? 'a' + at / SPAN : OLD);
    return (char)(at < SPAN && in_step < RANKS * RUN ? 'a' + in_step / RUN : OLD);
}

static void play(bool mixed)
{
    static char data[WHOLE];
    wr_tunables tunables;
    pthread_t other;
    memset(data, OLD, sizeof data);
    FILE *f = fopen(path, "w");
    CHECK(f && fwrite(data, 1, sizeof data, f) == sizeof data && !fclose(f));
    wr_tunables_init(&tunables);
    CHECK(!pthread_create(&other, NULL, run_other, &tunables));
    CHECK(!wr_local_run(RANKS, &tunables, rank_body, &mixed));
    pthread_join(other, NULL);
    f = fopen(path, "r");
    CHECK(f && fread(data, 1, sizeof data, f) == sizeof data && !fclose(f));
    for (int64_t i = 0; i < WHOLE; i++)
        CHECK_EQUAL(data[i], expected(i, mixed));
}

/* --- what calls teach --- */

/* A blocking call of the first rank that is behind others, as if they were not over yet, while for
 * the other ranks they are: all learn the same. */
static void learning_body(wr_transport *t, void *user)
{
    (void)user;
    char data[PIECES * RUN] = {0};
    wr_world *w;
    weir_file *f;
    wr_tunables tunables;
    weir_pattern *own = pieces(t->rank, false, 0), *memory;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE, "collective=never;access=list", &f));
    CHECK(!weir_pattern_contiguous(0, sizeof data, &memory));
    for (int i = 0; i < ROUNDS; i++) {
        wr_group_access access = {.op.together = true,
                                  .group = &f->group,
                                  .a = {.direction = WR_WRITE,
                                        .file = own,
                                        .end = sizeof data,
                                        .memory = memory,
                                        .base = data}};
        if (t->rank == 0) {
            CHECK(!wr_group_access_start(&access));
            wr_operation_wait(&access.op);
        } else {
            CHECK(!weir_file_write_all(f, own, memory, data, NULL, NULL));
        }
        const int64_t took = f->group.learned.latest[WR_WRITE].call_ns;
        int64_t both[] = {took, -took};
        CHECK(!wr_allreduce(t, 0, WR_MAX, 2, both));
        CHECK(both[0] > 0);
        CHECK_EQUAL(both[0], -both[1]);
    }
    CHECK(!weir_file_close(f));
    weir_pattern_free(own);
    weir_pattern_free(memory);
    wr_world_release(w);
}

int main(void)
{
    snprintf(path, sizeof path, "engine-between-%d", (int)getpid());
    check_within(60);
    play(false);
    play(true);
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(RANKS, &tunables, learning_body, NULL));
    unlink(path);
    return 0;
}
