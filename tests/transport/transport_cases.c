#include "transport_cases.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/world.h"

enum { TAG = 16 };

static void check_places(const wr_transport *t, int64_t ranks_per_node)
{
    CHECK(t->local[t->local_rank] == t->rank);
    CHECK(t->node_of[t->rank] == t->node && t->node < t->nodes);
    for (int i = 1; i < t->local_size; i++)
        CHECK(t->local[i] > t->local[i - 1] && t->node_of[t->local[i]] == t->node);
    if (ranks_per_node)
        CHECK_EQUAL(t->nodes, (t->size + ranks_per_node - 1) / ranks_per_node);
}

static void check_reductions(wr_transport *t)
{
    int64_t n = t->size, v[] = {t->rank, -t->rank, 1};
    CHECK(!wr_allreduce(t, TAG, WR_SUM, 3, v));
    CHECK(v[0] == n * (n - 1) / 2 && v[1] == -v[0] && v[2] == n);
    int64_t low[] = {t->rank + 5, -t->rank};
    CHECK(!wr_allreduce(t, TAG, WR_MIN, 2, low));
    CHECK(low[0] == 5 && low[1] == 1 - n);
    int64_t high = t->rank * 10, bits = INT64_C(1) << t->rank % 60;
    CHECK(!wr_allreduce(t, TAG, WR_MAX, 1, &high));
    CHECK_EQUAL(high, 10 * (n - 1));
    CHECK(!wr_allreduce(t, TAG, WR_OR, 1, &bits));
    CHECK_EQUAL(bits, n >= 60 ? (INT64_C(1) << 60) - 1 : (INT64_C(1) << n) - 1);
}

static void check_agreement(wr_transport *t)
{
    CHECK_EQUAL(wr_agree(t, TAG, 0), 0);
    for (int bad = 0; bad < t->size; bad += 1 + t->size / 3) {
        int code = t->rank >= bad ? wr_fail(WEIR_ENOSPC, "disk of rank %d", t->rank) : 0;
        CHECK_EQUAL(wr_agree(t, TAG, code), WEIR_ENOSPC);
        CHECK_EQUAL(weir_error_last()->rank, bad);
        CHECK(strstr(weir_error_last()->text, "disk of rank"));
    }
}

/* Around the ring, many sizes under way at once, with lengths that fit no packet. */
static void check_messages(wr_transport *t)
{
    static const int64_t sizes[] = {0, 1, 7, 4096, 65537, 1 << 20};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    int next = (t->rank + 1) % t->size, before = (t->rank + t->size - 1) % t->size;
    char *out[SIZES], *in[SIZES];
    wr_request sent[SIZES], got[SIZES];
    for (int i = 0; i < SIZES; i++) {
        out[i] = malloc((size_t)sizes[i] + 1);
        in[i] = malloc((size_t)sizes[i] + 1);
        memset(out[i], t->rank + i, (size_t)sizes[i]);
        CHECK(!t->ops->receive(t, (wr_place){before, sizes[i], in[i]}, TAG, &got[i]));
        CHECK(!t->ops->send(t, (wr_parcel){next, sizes[i], out[i]}, TAG, i % 2, &sent[i]));
    }
    for (int i = SIZES - 1; i >= 0; i--) {
        CHECK(!wr_request_wait(t, &got[i]));
        for (int64_t k = 0; k < sizes[i]; k++)
            CHECK(in[i][k] == (char)(before + i));
    }
    for (int i = 0; i < SIZES; i++) {
        CHECK(!wr_request_wait(t, &sent[i]));
        free(out[i]);
        free(in[i]);
    }
}

/* Parcel from a to b in a given turn, or none: known to both. */
static int64_t parcel_bytes(uint64_t seed, int turn, int from, int to)
{
    rng r = {seed + (uint64_t)((turn * 1000 + from) * 1000 + to)};
    if (!rng_chance(&r, 30))
        return -1;
    return rng_chance(&r, 20) ? rng_within(&r, 16 << 10, 200000) : rng_within(&r, 0, 300);
}

static void check_sparse_turn(wr_transport *t, wr_sparse *x, uint64_t seed)
{
    wr_parcel *out = malloc((size_t)t->size * sizeof *out), *in;
    int count = 0, received, turn = (int)x->round;
    for (int to = t->size - 1; to >= 0; to--) {
        int64_t bytes = parcel_bytes(seed, turn, t->rank, to);
        if (bytes < 0)
            continue;
        char *data = malloc((size_t)bytes + 1);
        memset(data, t->rank * 3 + to, (size_t)bytes);
        out[count++] = (wr_parcel){to, bytes, data};
    }
    CHECK(!wr_sparse_exchange(t, x, count, out, &received, &in));
    int next = 0;
    for (int from = 0; from < t->size; from++) {
        int64_t bytes = parcel_bytes(seed, turn, from, t->rank);
        if (bytes < 0)
            continue;
        CHECK(next < received && in[next].rank == from);
        CHECK_EQUAL(in[next].bytes, bytes);
        for (int64_t k = 0; k < bytes; k++)
            CHECK(((const char *)in[next].data)[k] == (char)(from * 3 + t->rank));
        next++;
    }
    CHECK_EQUAL(received, next);
    for (int i = 0; i < count; i++)
        free((void *)out[i].data);
    free(out);
}

static void check_sparse(wr_transport *t, uint64_t seed)
{
    wr_arena memory = {0};
    wr_sparse x = {.tag = TAG, .memory = &memory};
    for (int i = 0; i < 12; i++) {
        check_sparse_turn(t, &x, seed);
        wr_arena_release(&memory);
    }
}

/* What check_join's ranks say: their numbers, or that somebody is lost. */
enum { LOST = -1, MOST_SAID = 64 };

static void append_said(wr_join *x, int64_t bytes, bool below)
{
    int said[2 * MOST_SAID];
    char *own = (char *)said;
    CHECK(x->bytes + bytes <= x->room);
    memcpy(own + (below ? bytes : 0), x->data, (size_t)x->bytes);
    memcpy(own + (below ? 0 : x->bytes), x->theirs, (size_t)bytes);
    x->bytes += bytes;
    memcpy(x->data, said, (size_t)x->bytes);
}

static void say_lost(wr_join *x, int code)
{
    CHECK_EQUAL(code, WEIR_ENOMEM);
    ((int *)x->data)[0] = LOST;
}

/* Of the first ranks, whatever their number, each says its own, in as many words: all hear all of
 * them in order. And where one has no room, it goes on and tells. */
static void check_join(wr_transport *t)
{
    int group[MOST_SAID], said[2][MOST_SAID];
    CHECK(t->size <= MOST_SAID);
    for (int i = 0; i < t->size; i++)
        group[i] = i;
    for (int count = 1; count <= t->size; count++) {
        wr_join x = {.tag = TAG,
                     .group = group,
                     .count = count,
                     .own = t->rank,
                     .data = said[0],
                     .bytes = sizeof(int),
                     .room = sizeof said[0],
                     .theirs = said[1],
                     .merge = append_said,
                     .lose = say_lost};
        said[0][0] = t->rank;
        if (t->rank >= count)
            continue;
        wr_join_run(t, &x);
        CHECK_EQUAL(x.bytes, count * (int64_t)sizeof(int));
        for (int i = 0; i < count; i++)
            CHECK_EQUAL(((int *)x.data)[i], i);
    }
    wr_join x = {.tag = TAG,
                 .group = group,
                 .count = t->size,
                 .own = t->rank,
                 .data = said[0],
                 .bytes = sizeof(int),
                 .room = t->rank || t->size == 1 ? sizeof said[0] : 0,
                 .theirs = said[1],
                 .merge = append_said,
                 .lose = say_lost};
    said[0][0] = t->rank;
    wr_join_run(t, &x);
    CHECK(t->rank || ((int *)x.data)[0] == (t->size == 1 ? 0 : LOST));
}

/* Rank s's row of a matrix goes to the others' columns, every third byte. */
static void check_alltoall(wr_transport *t)
{
    enum { RUN = 5, COUNT = 7 };
    int n = t->size;
    wr_lane *send = malloc(2 * (size_t)n * sizeof *send);
    char *from = calloc((size_t)n, 3 * RUN * COUNT), *to = calloc((size_t)n, 2 * RUN * COUNT);
    for (int i = 0; i < n; i++) {
        send[i] = (wr_lane){i, from + i * 3 * RUN * COUNT, RUN, 3 * RUN, COUNT};
        send[n + i] = (wr_lane){i, to + i * 2 * RUN * COUNT, RUN, 2 * RUN, COUNT};
        memset(send[i].memory, t->rank * 7 + i, 3 * RUN * COUNT);
    }
    CHECK(!t->ops->alltoall(t, 0, n, send, n, send + n));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2 * RUN * COUNT; k++)
            CHECK(to[i * 2 * RUN * COUNT + k] ==
                  (k % (2 * RUN) < RUN ? (char)(i * 7 + t->rank) : 0));
    free(send);
    free(from);
    free(to);
}

static void check_region(wr_transport *t, const wr_tunables *tunables)
{
    wr_region r;
    CHECK(!wr_region_open(t, 0, tunables, 1 << 20, &r));
    wr_word *word = (wr_word *)(void *)(r.base + 4096);
    wr_waiter waiter = wr_transport_waiter(t, true);
    int64_t sum = 0;
    for (int64_t i = 0; i < r.bytes; i += 512)
        sum += r.base[i];
    CHECK_EQUAL(sum, 0);
    CHECK(!wr_agree(t, TAG, 0));
    for (uint32_t turn = 0; turn < 20; turn++) { /* the word goes round the node */
        uint32_t mine = turn * (uint32_t)t->local_size + (uint32_t)t->local_rank;
        for (uint32_t seen = wr_word_get(word); seen != mine;)
            seen = wr_wait(word, seen, &waiter);
        CHECK_EQUAL(r.base[8192], (char)mine);
        r.base[8192] = (char)(mine + 1);
        wr_word_set(word, mine + 1);
    }
    CHECK(!wr_agree(t, TAG, 0));
    wr_region_close(&r);

    wr_tunables bad = *tunables;
    strcpy(bad.region_folder, "/nonexistent/folder");
    if (t->local_size == 1) { /* needs no folder */
        CHECK(!wr_region_open(t, 0, &bad, 4096, &r));
        wr_region_close(&r);
        return;
    }
    CHECK_EQUAL(wr_region_open(t, 0, &bad, 4096, &r), WEIR_ENOENT);
    CHECK_EQUAL(weir_error_last()->rank, t->local[0]);
    CHECK(weir_error_last()->errnum != 0);
}

void check_transport(wr_transport *t, const wr_tunables *tunables, uint64_t seed)
{
    check_places(t, tunables->ranks_per_node);
    check_reductions(t);
    check_agreement(t);
    check_messages(t);
    check_sparse(t, seed);
    check_join(t);
    check_alltoall(t);
    check_region(t, tunables);
}

static void check_mailboxes(wr_channel *c, int turns)
{
    const wr_transport *t = c->world->transport;
    wr_waiter waiter = wr_transport_waiter(c->world->transport, true);
    for (int i = 0; i < turns; i++) {
        memset(wr_channel_lane(c, c->epoch, t->local_rank), t->local_rank * 5 + i, WR_LANE);
        uint32_t turn = wr_channel_exchange(c, &waiter);
        for (int k = 0; k < t->local_size; k++) {
            const char *lane = wr_channel_lane(c, turn, k);
            CHECK(lane[0] == (char)(k * 5 + i) && lane[WR_LANE - 1] == (char)(k * 5 + i));
        }
    }
}

/* What ranks say in a channel, where each of them says something else. */
static void check_council(wr_channel *c)
{
    const wr_transport *t = c->world->transport;
    for (int round = 0; round < 5; round++) {
        int64_t sums[] = {t->rank, 1}, most[] = {t->rank, -t->rank};
        CHECK(!wr_channel_reduce(c, WR_SUM, 2, sums) && !wr_channel_reduce(c, WR_MAX, 2, most));
        CHECK(sums[0] == (int64_t)t->size * (t->size - 1) / 2 && sums[1] == t->size);
        CHECK(most[0] == t->size - 1 && most[1] == 0);
        int last = (round + 1) % t->size; /* and all above it fail */
        int code = t->rank >= last ? wr_fail(WEIR_EIO, "rank %d of round %d", t->rank, round) : 0;
        CHECK_EQUAL(wr_channel_agree(c, code), WEIR_EIO);
        CHECK_EQUAL(weir_error_last()->rank, last);
        CHECK(!wr_channel_agree(c, 0));
        char mine[9000]; /* more than the lanes of a few ranks */
        memset(mine, t->rank == 0 ? 'a' + round : 0, sizeof mine);
        CHECK(!wr_channel_broadcast(c, mine, (int64_t)sizeof mine));
        for (size_t i = 0; i < sizeof mine; i++)
            CHECK_EQUAL(mine[i], 'a' + round);
    }
}

static void check_channels(wr_transport *t, const wr_tunables *tunables, uint64_t seed)
{
    enum { MANY = 40 };
    wr_world *w;
    wr_channel channel[MANY];
    rng r = {seed};
    CHECK(!wr_world_open(t, tunables, &w));
    for (int i = 0; i < MANY; i++) {
        CHECK(!wr_channel_open(w, &channel[i]));
        CHECK_EQUAL(channel[i].apart, *tunables->region_folder && t->size > t->nodes);
        CHECK_EQUAL(channel[i].number, i + 1); /* 0 is the world's own */
    }
    check_mailboxes(&channel[0], 100);
    check_mailboxes(&channel[MANY - 1], 20);
    int freed = (int)rng_within(&r, 1, MANY - 2);
    wr_channel_close(&channel[freed]);
    wr_channel again;
    CHECK(!wr_channel_open(w, &again));
    CHECK_EQUAL(again.number, freed + 1);
    check_mailboxes(&again, 3);
    check_council(&again);
    CHECK(!wr_agree(w->transport, 0, 0));
    wr_world_release(w);
}

void check_world(wr_transport *t, const wr_tunables *tunables, uint64_t seed)
{
    wr_tunables apart = *tunables;
    check_channels(t, tunables, seed);
    strcpy(apart.region_folder, "/nonexistent/folder");
    check_channels(t, &apart, seed);
}
