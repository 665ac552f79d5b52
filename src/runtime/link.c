/* Messages there and back, small ones and then large ones; the best of each kind counts, because
 * whatever else goes on makes them slower only. */
#include "runtime/link.h"

#include "base/arith.h"
#include "base/clock.h"
#include "base/memory.h"
#include "runtime/channel.h"

enum { SMALL = 4, LARGE = 3, LARGE_BYTES = 256 << 10 };

/* One end of a pair; what fails is noted, and the others follow all the same, because the other end
 * waits for them. */
typedef struct pair {
    wr_transport *t;
    int other;
    bool first; /* it speaks first */
    bool failed;
} pair;

/* There and back; whatever of `out` and `in` is not this end's turn is the other's. */
static int64_t there_and_back(pair *p, const void *out, void *in, int64_t bytes)
{
    const int tag = WR_TAG_WORLD + WR_TAG_BROADCAST;
    const int64_t start = wr_clock_ns();
    int code = p->first ? wr_send(p->t, p->other, tag, out, bytes) : 0;
    code = wr_receive(p->t, p->other, tag, in, bytes) || code;
    if (!p->first)
        code = wr_send(p->t, p->other, tag, out, bytes) || code;
    p->failed = p->failed || code;
    return wr_clock_ns() - start;
}

/* Whoever speaks first times it; small messages tell whether both ends have memory for large ones.
 */
static wr_link time_pair(pair *p)
{
    char *memory = wr_alloc(LARGE_BYTES);
    int64_t small = INT64_MAX, large = INT64_MAX, has = memory != NULL, have = 1;
    for (int i = 0; i < SMALL; i++)
        small = wr_min(small, there_and_back(p, &has, &have, sizeof has));
    for (int i = 0; memory && have && i < LARGE; i++)
        large = wr_min(large, there_and_back(p, memory, memory, LARGE_BYTES));
    p->failed = p->failed || large == INT64_MAX;
    wr_free(memory);
    const int64_t more = wr_max(1, (large - small) / 2);
    return (wr_link){.mib_ns = (INT64_C(1) << 20) / LARGE_BYTES * more, .message_ns = small / 2};
}

wr_link wr_link_measure(wr_transport *t)
{
    enum { MIB, MESSAGE, FAILED, WORDS };
    const wr_link built_in = {WR_LINK_MIB_NS, WR_LINK_NS};
    int64_t worst[WORDS] = {0};
    const int other = t->node ^ 1;
    if (t->nodes == 1 || !t->real)
        return built_in;
    if (t->local_rank == 0 && other < t->nodes) {
        pair p = {.t = t, .other = t->leaders[other], .first = t->node < other};
        const wr_link link = time_pair(&p);
        worst[MIB] = p.first ? link.mib_ns : 0;
        worst[MESSAGE] = p.first ? link.message_ns : 0;
        worst[FAILED] = p.failed;
    }
    if (wr_allreduce(t, WR_TAG_WORLD, WR_MAX, WORDS, worst) || worst[FAILED])
        return built_in;
    return (wr_link){worst[MIB], worst[MESSAGE]};
}
