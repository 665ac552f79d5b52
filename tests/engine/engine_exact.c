/* Writes of very many pieces, of which nothing else may be written: 4 ranks on 2 nodes, on a file
 * that is taken for one whose hosts cache. Realms are dealt in blocks, and all pieces lie in one
 * aggregator's; or a part of a pattern has far more runs than its whole has on the average. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "file/file.h"
#include "transport/local.h"

enum { RANKS = 4, KIB = 1 << 10, BLOCK = 64 * KIB, PERIOD = RANKS * BLOCK, LARGE = 8 << 20 };

static char path[64];

/* 5 steps of a period, each of 2048 runs of 4 bytes every 32. */
static weir_pattern *dense(int rank)
{
    weir_pattern *step, *all;
    CHECK(!weir_pattern_strided(rank * 8, 2048, 4, 32, &step));
    CHECK(!weir_pattern_repeat(step, 5, PERIOD, &all));
    weir_pattern_free(step);
    return all;
}

/* One long run, of which nothing is written, and then 20,000 of one byte, unevenly spaced. */
static weir_pattern *uneven(int rank)
{
    enum { SHORT = 20000 };
    int64_t *at = calloc(SHORT + 1, 2 * sizeof *at), *length = at + SHORT + 1;
    weir_pattern *p;
    CHECK(at);
    length[0] = LARGE;
    for (int64_t i = 1; i <= SHORT; i++) {
        at[i] = LARGE + (i * 8 + rank * 2) * 3 + (i * i) % 3;
        length[i] = 1;
    }
    CHECK(!weir_pattern_runs(SHORT + 1, at, length, &p));
    free(at);
    return p;
}

/* Writes the data of a pattern from `begin` on, and reads them back. */
static void write_and_read(weir_file *f, int rank, const weir_pattern *where, int64_t begin)
{
    const int64_t bytes = weir_pattern_bytes(where) - begin;
    char *data = malloc((size_t)bytes), *seen = calloc(1, (size_t)bytes);
    wr_access_request a = {.direction = WR_WRITE, .file = where, .begin = begin};
    weir_pattern *memory;
    int64_t count;
    CHECK(data && seen && !weir_pattern_contiguous(0, bytes, &memory));
    for (int64_t i = 0; i < bytes; i++)
        data[i] = (char)(i * 7 + rank * 31 + 5);
    a.end = begin + bytes;
    a.memory = memory;
    a.base = data;
    CHECK(!wr_file_access(f, &a, true, 0, &count));
    CHECK_EQUAL(count, bytes);
    a.direction = WR_READ;
    a.base = seen;
    CHECK(!wr_file_access(f, &a, true, 0, &count));
    CHECK_EQUAL(count, bytes);
    CHECK(!memcmp(seen, data, (size_t)bytes));
    weir_pattern_free(memory);
    free(seen);
    free(data);
}

static void rank_body(wr_transport *t, void *user)
{
    wr_world *w;
    weir_file *f;
    wr_tunables tunables;
    weir_pattern *first, *second = dense(t->rank), *third = uneven(t->rank);
    CHECK(!weir_pattern_contiguous(t->rank * BLOCK, BLOCK, &first));
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, user, &f));
    write_and_read(f, t->rank, first, 0); /* realms persist from here on */
    write_and_read(f, t->rank, second, 0);
    write_and_read(f, t->rank, third, LARGE);
    CHECK(!weir_file_close(f));
    wr_world_release(w);
    weir_pattern_free(first);
    weir_pattern_free(second);
    weir_pattern_free(third);
}

int main(void)
{
    static char nodes[] = "coherence=weak;aggregators=4;exchange=leaders",
                ranks[] = "coherence=weak;aggregators=4;exchange=p2p";
    wr_tunables tunables;
    snprintf(path, sizeof path, "engine-exact-%d", (int)getpid());
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = 2;
    check_within(60);
    CHECK(!wr_local_run(RANKS, &tunables, rank_body, nodes));
    CHECK(!wr_local_run(RANKS, &tunables, rank_body, ranks));
    unlink(path);
    return 0;
}
