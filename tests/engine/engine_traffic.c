/* What travels between nodes: 16 ranks, 4 a node, each with every 16th piece of a file, write it
 * and read it back. With leaders there are at least 4 times fewer messages than between ranks, and
 * no more bytes; and `weir plan` says the same messages and bytes of every node. And what entry and
 * exit take: as few messages as can be, patterns only once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/price.h"
#include "check.h"
#include "file/file.h"
#include "storage/backends.h"
#include "transport/local.h"
#include "weir/plan.h"

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

/* What a plan says that a node sends, or all; exactly one line begins so. */
static void find_line(const char *text, const char *head, long long *messages, long long *bytes)
{
    const char *line = strstr(text, head);
    CHECK(line && sscanf(line + strlen(head), " %lld messages, %lld bytes", messages, bytes) == 2);
    CHECK(!strstr(line + 1, head));
}

/* Ranks of a node are adjacent. */
static void check_plan(const scene *s, int direction)
{
    enum { TEXT = 1 << 16 };
    weir_pattern *patterns[RANKS];
    weir_plan *plan;
    char *text = malloc(TEXT), head[60];
    long long messages, bytes, agree;
    CHECK(text);
    for (int r = 0; r < RANKS; r++)
        CHECK(!weir_pattern_strided(r * PIECE, PIECES, PIECE, RANKS * PIECE, &patterns[r]));
    weir_plan_request request = {.ranks = RANKS,
                                 .ranks_per_node = (int)s->ranks_per_node,
                                 .patterns = (const weir_pattern *const *)patterns,
                                 .write = direction == WR_WRITE,
                                 .file_size = RANKS * BYTES,
                                 .hints = s->hints};
    CHECK(!weir_plan_new(&request, &plan));
    CHECK(weir_plan_print(plan, text, TEXT) < TEXT);
    const int nodes = (int)((RANKS + s->ranks_per_node - 1) / s->ranks_per_node);
    sum all = {0};
    for (int node = 0; node < nodes; node++) {
        sum own = {0};
        for (int r = 0; r < RANKS; r++)
            for (int i = 0; r / s->ranks_per_node == node && i < WR_TRAFFIC_KINDS; i++) {
                own.messages[i] += s->sums[r][direction].messages[i];
                own.bytes[i] += s->sums[r][direction].bytes[i];
                all.messages[i] += s->sums[r][direction].messages[i];
            }
        snprintf(head, sizeof head, "node %d sends to others:", node);
        find_line(text, head, &messages, &bytes);
        CHECK_EQUAL(own.messages[WR_TO_EXCHANGE], messages);
        CHECK_EQUAL(own.bytes[WR_TO_EXCHANGE], bytes);
    }
    find_line(text, "between nodes:", &messages, &bytes);
    CHECK_EQUAL(all.messages[WR_TO_EXCHANGE], messages);
    CHECK(sscanf(strstr(text, "bytes; "), "bytes; %lld messages to agree", &agree) == 1);
    if (direction == WR_WRITE) /* the first call, which a plan is of */
        CHECK_EQUAL(all.messages[WR_TO_AGREE], agree);
    weir_plan_free(plan);
    for (int r = 0; r < RANKS; r++)
        weir_pattern_free(patterns[r]);
    free(text);
}

static void check_plans(scene *s, int64_t ranks_per_node)
{
    static const char *const hints[] = {
        "storage=mem;collective=always;aggregators=4;window=64K;exchange=p2p",
        "storage=mem;collective=always;aggregators=4;window=64K;exchange=leaders",
        "storage=mem;collective=always;aggregators=5;window=10007;exchange=leaders",
        "storage=mem;collective=always;aggregators=3;realms=cyclic;realm_block=7K;exchange=leaders",
        "storage=mem;collective=always;aggregators=1;exchange=p2p"};
    sum unused[2];
    s->ranks_per_node = ranks_per_node;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        measure(s, hints[i], unused);
        check_plan(s, WR_WRITE);
        check_plan(s, WR_READ);
    }
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
        /* where nodes' ranks interleave and may write the same bytes, each sends its own */
        const bool apart = ranks_per_node < 0 && d == WR_WRITE;
        CHECK(a->messages[WR_TO_EXCHANGE] >= (apart ? 1 : 4) * b->messages[WR_TO_EXCHANGE]);
        CHECK(b->messages[WR_TO_AGREE] <= a->messages[WR_TO_AGREE]);
        CHECK(b->bytes[WR_TO_EXCHANGE] <= a->bytes[WR_TO_EXCHANGE]);
        /* three of four pieces are of another node than their aggregator */
        CHECK(b->bytes[WR_TO_EXCHANGE] >= (int64_t)RANKS * BYTES * 3 / 4);
    }
}

/* --- what entry and exit take --- */

enum { CALLS = 4 };

/* Runs of uneven spacing, which no loop describes. */
typedef struct talk {
    const char *hints;
    int64_t ranks_per_node;
    int64_t runs;
    sum sums[RANKS][CALLS];
} talk;

static weir_pattern *uneven(int rank, int64_t runs, int64_t shift)
{
    enum { RUN = 8, ROOM = 24 };
    int64_t *offsets = calloc((size_t)runs, 2 * sizeof *offsets), *lengths = offsets + runs;
    weir_pattern *p;
    for (int64_t i = 0; i < runs; i++) {
        uint64_t mixed = (uint64_t)(i + shift) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
        offsets[i] = (i * RANKS + rank) * ROOM + (int64_t)(mixed * mixed >> 5) % (ROOM - RUN);
        lengths[i] = RUN;
    }
    CHECK(!weir_pattern_runs(runs, offsets, lengths, &p));
    free(offsets);
    return p;
}

static void access_uneven(weir_file *f, int rank, bool write, const weir_pattern *where)
{
    int64_t count, bytes = weir_pattern_bytes(where);
    weir_pattern *memory;
    char *data = malloc((size_t)bytes);
    CHECK(data && !weir_pattern_contiguous(0, bytes, &memory));
    for (int64_t i = 0; i < bytes; i++)
        data[i] = write ? byte_of(rank, i) : 0;
    int code = write ? weir_file_write_all(f, where, memory, data, &count, NULL)
                     : weir_file_read_all(f, where, memory, data, &count, NULL);
    CHECK(!code);
    CHECK_EQUAL(count, bytes);
    for (int64_t i = 0; i < bytes; i++)
        CHECK(data[i] == byte_of(rank, i));
    weir_pattern_free(memory);
    free(data);
}

/* Writes and reads the same; then one rank writes and reads elsewhere. */
static void talk_body(wr_transport *t, void *user)
{
    talk *s = user;
    wr_world *w;
    weir_file *f;
    sum before = {0};
    weir_pattern *where = uneven(t->rank, s->runs, 0);
    weir_pattern *changed = uneven(t->rank, s->runs, t->rank == 5);
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, s->hints, &f));
    sent(t, &before);
    for (int i = 0; i < CALLS; i++) {
        access_uneven(f, t->rank, i % 2 == 0, i < 2 ? where : changed);
        s->sums[t->rank][i] = sent(t, &before);
    }
    CHECK(!weir_file_close(f));
    wr_world_release(w);
    weir_pattern_free(where);
    weir_pattern_free(changed);
}

/* What entry and exit send between nodes, by call. */
static void listen(const talk *asked, sum out[CALLS])
{
    talk s = *asked;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = s.ranks_per_node;
    CHECK(!wr_local_run(RANKS, &tunables, talk_body, &s));
    for (int c = 0; c < CALLS; c++) {
        out[c] = (sum){0};
        for (int r = 0; r < RANKS; r++)
            for (int i = 0; i < WR_TRAFFIC_KINDS; i++) {
                out[c].messages[i] += s.sums[r][c].messages[i];
                out[c].bytes[i] += s.sums[r][c].bytes[i];
            }
        printf("%lld a node, %lld runs, call %d: to agree %lld messages, %lld bytes\n",
               (long long)s.ranks_per_node, (long long)s.runs, c,
               (long long)out[c].messages[WR_TO_AGREE], (long long)out[c].bytes[WR_TO_AGREE]);
    }
    wr_mem_unlink(path);
}

static int64_t footprint_of(int64_t runs)
{
    weir_pattern *p = uneven(0, runs, 0);
    int64_t bytes = weir_pattern_footprint(p);
    weir_pattern_free(p);
    return bytes;
}

/* A leader swaps messages with log2 of the nodes, twice a call, and nobody else does. Patterns that
 * were told are not told again. */
static void check_talk(int64_t ranks_per_node, int64_t leaders, int64_t messages)
{
    talk s = {
        .hints = "storage=mem;collective=never", .ranks_per_node = ranks_per_node, .runs = 300};
    sum calls[CALLS];
    const int64_t pattern = footprint_of(s.runs), all = RANKS * pattern;
    listen(&s, calls);
    for (int c = 0; c < CALLS; c++)
        CHECK_EQUAL(calls[c].messages[WR_TO_AGREE], 2 * messages);
    /* every pattern reaches every other node; a message of headers is far below one */
    const int64_t told = (leaders - 1) * all, heads = calls[1].bytes[WR_TO_AGREE];
    CHECK(calls[0].bytes[WR_TO_AGREE] > told);
    CHECK(calls[0].bytes[WR_TO_AGREE] < told + leaders * pattern + 2 * heads);
    CHECK(heads < 4 * messages * RANKS * WR_DESCRIBED_HEAD);
    CHECK(calls[2].bytes[WR_TO_AGREE] > heads + (leaders - 1) * (pattern - 100));
    CHECK(calls[2].bytes[WR_TO_AGREE] < heads + leaders * pattern);
    CHECK_EQUAL(calls[3].bytes[WR_TO_AGREE], heads);
}

/* Through aggregators it is the same, once all know that there is memory. */
static void check_memory(int64_t ranks_per_node, int64_t messages)
{
    talk s = {
        .hints = "storage=mem;collective=always", .ranks_per_node = ranks_per_node, .runs = 20};
    sum calls[CALLS];
    listen(&s, calls);
    CHECK_EQUAL(calls[0].messages[WR_TO_AGREE], 3 * messages);
    for (int c = 1; c < CALLS; c++)
        CHECK_EQUAL(calls[c].messages[WR_TO_AGREE], 2 * messages);
}

/* Where the patterns of all are too much for all, each goes to the aggregators it concerns. */
static void check_too_much(const char *hints, int64_t ranks_per_node)
{
    talk s = {.hints = hints, .ranks_per_node = ranks_per_node, .runs = 3000};
    sum calls[CALLS];
    CHECK(RANKS * footprint_of(s.runs) > WR_DESCRIBED_BYTES);
    listen(&s, calls);
    for (int c = 1; c < CALLS; c++) /* the first finds out */
        CHECK(calls[c].bytes[WR_TO_AGREE] < 2 * footprint_of(s.runs));
}

int main(void)
{
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    compare(s, 4);
    compare(s, -4); /* ranks dealt to 4 nodes */
    check_plans(s, 4);
    check_plans(s, 3); /* the last node has one rank */
    free(s);
    check_talk(4, 4, 8);
    check_talk(-4, 4, 8);
    check_talk(8, 2, 2);
    check_talk(-5, 5, 10); /* two of five speak with one voice */
    check_talk(1, 16, 64);
    check_memory(4, 8);
    check_memory(-5, 10);
    check_memory(1, 64);
    check_too_much("storage=mem;collective=always;exchange=p2p;aggregators=5", 4);
    check_too_much("storage=mem;collective=always;exchange=p2p;aggregators=16", -3);
    check_too_much("storage=mem;collective=always;exchange=leaders;aggregators=3", 3);
    check_too_much("storage=mem;collective=always;exchange=alltoall;aggregators=4", 1);
    return 0;
}
