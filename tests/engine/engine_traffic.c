/* What travels between nodes: 16 ranks, 4 a node, each with every 16th piece of a file, write it
 * and read it back. With leaders there are at least 4 times fewer messages than between ranks, and
 * no more bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "file/file.h"
#include "storage/backends.h"
#include "transport/local.h"

enum { RANKS = 16, PIECE = 500, PIECES = 300, BYTES = PIECE * PIECES };

typedef struct sum {
    int64_t messages[WR_TRAFFIC_KINDS], bytes[WR_TRAFFIC_KINDS];
} sum;

typedef struct scene {
    const char *hints;
    int64_t ranks_per_node;
    sum sums[RANKS][2]; /* of each rank, by direction */
    char data[RANKS][BYTES];
} scene;

static const char path[] = "engine-traffic";

static char byte_of(int rank, int64_t i)
{
    return (char)(i * 7 + rank * 31 + 5);
}

/* What the rank has sent since `before`, which becomes what it has sent at all. */
static sum sent(const wr_transport *t, sum *before)
{
    sum now, since;
    for (int i = 0; i < WR_TRAFFIC_KINDS; i++) {
        now.messages[i] = t->traffic[i].messages;
        now.bytes[i] = t->traffic[i].bytes;
        since.messages[i] = now.messages[i] - before->messages[i];
        since.bytes[i] = now.bytes[i] - before->bytes[i];
    }
    *before = now;
    return since;
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_world *w;
    weir_file *f;
    weir_pattern *where, *memory;
    int64_t count;
    char *data = s->data[t->rank];
    sum before = {0};
    for (int64_t i = 0; i < BYTES; i++)
        data[i] = byte_of(t->rank, i);
    CHECK(!weir_pattern_strided(t->rank * PIECE, PIECES, PIECE, RANKS * PIECE, &where));
    CHECK(!weir_pattern_contiguous(0, BYTES, &memory));
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, s->hints, &f));
    sent(t, &before);
    CHECK(!weir_file_write_all(f, where, memory, data, &count, NULL));
    CHECK_EQUAL(count, BYTES);
    s->sums[t->rank][WR_WRITE] = sent(t, &before);
    memset(data, 0, BYTES);
    CHECK(!weir_file_read_all(f, where, memory, data, &count, NULL));
    CHECK_EQUAL(count, BYTES);
    s->sums[t->rank][WR_READ] = sent(t, &before);
    for (int64_t i = 0; i < BYTES; i++)
        CHECK(data[i] == byte_of(t->rank, i));
    CHECK(!weir_file_close(f));
    wr_world_release(w);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

/* By direction, of all ranks. */
static void measure(scene *s, const char *hints, sum out[2])
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = s->ranks_per_node;
    s->hints = hints;
    CHECK(!wr_local_run(RANKS, &tunables, rank_body, s));
    for (int d = 0; d < 2; d++) {
        out[d] = (sum){0};
        for (int r = 0; r < RANKS; r++)
            for (int i = 0; i < WR_TRAFFIC_KINDS; i++) {
                out[d].messages[i] += s->sums[r][d].messages[i];
                out[d].bytes[i] += s->sums[r][d].bytes[i];
            }
    }
    wr_mem_unlink(path);
}

static void compare(scene *s, int64_t ranks_per_node)
{
    static const char *const names[] = {[WR_READ] = "read", [WR_WRITE] = "write"};
    sum ranks[2], nodes[2];
    s->ranks_per_node = ranks_per_node;
    measure(s, "storage=mem;collective=always;aggregators=4;window=64K;exchange=p2p", ranks);
    measure(s, "storage=mem;collective=always;aggregators=4;window=64K;exchange=leaders", nodes);
    for (int d = 0; d < 2; d++) {
        const sum *a = &ranks[d], *b = &nodes[d];
        printf("%s: %lld messages of ranks, %lld of leaders; to agree %lld, %lld; "
               "%lld bytes, %lld\n",
               names[d], (long long)a->messages[WR_TO_EXCHANGE],
               (long long)b->messages[WR_TO_EXCHANGE], (long long)a->messages[WR_TO_AGREE],
               (long long)b->messages[WR_TO_AGREE], (long long)a->bytes[WR_TO_EXCHANGE],
               (long long)b->bytes[WR_TO_EXCHANGE]);
        CHECK(a->messages[WR_TO_EXCHANGE] >= 4 * b->messages[WR_TO_EXCHANGE]);
        CHECK(b->messages[WR_TO_AGREE] <= a->messages[WR_TO_AGREE]);
        CHECK(b->bytes[WR_TO_EXCHANGE] <= a->bytes[WR_TO_EXCHANGE]);
        /* three of four pieces are of another node than their aggregator */
        CHECK(b->bytes[WR_TO_EXCHANGE] >= (int64_t)RANKS * BYTES * 3 / 4);
    }
}

int main(void)
{
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    compare(s, 4);
    compare(s, -4); /* ranks dealt to 4 nodes */
    free(s);
    return 0;
}
