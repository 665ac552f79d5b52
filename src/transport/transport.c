/* What all transports share: blocking forms, collectives made of messages, regions. MPI's own
 * collectives are not used, because two threads of a program may be in two of ours at once, told
 * apart by tags, on one communicator. */
#include "transport/transport.h"

#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/task.h"
#include "transport/region.h"

void wr_transport_place(wr_transport *t, int *numbers)
{
    int *start = numbers + 2 * (int64_t)t->size; /* by node, where its next rank goes */
    t->node_of = numbers;
    t->by_node = numbers + t->size;
    t->node = numbers[t->rank];
    memset(start, 0, (size_t)t->size * sizeof *start);
    for (int i = 0; i < t->size; i++) {
        t->nodes = numbers[i] >= t->nodes ? numbers[i] + 1 : t->nodes;
        start[numbers[i]]++;
    }
    snprintf(t->host, sizeof t->host, "%d", t->node);
    t->local_size = start[t->node];
    for (int node = 0, first = 0, next; node < t->nodes; node++, first = next) {
        next = first + start[node];
        start[node] = first;
    }
    t->local_first = start[t->node];
    t->local = t->by_node + t->local_first;
    for (int i = 0; i < t->size; i++) {
        if (i == t->rank)
            t->local_rank = start[t->node] - t->local_first;
        t->by_node[start[numbers[i]]++] = i;
    }
    for (int i = 1; i < t->size; i++)
        t->mixed = t->mixed || t->by_node[i] < t->by_node[i - 1];
    t->leaders = start;
    for (int i = t->size - 1; i >= 0; i--)
        t->leaders[t->node_of[i]] = i;
}

void wr_transport_close(wr_transport *t)
{
    if (!t)
        return;
    wr_free(t->node_of);
    t->ops->close(t);
}

static void poke(void *user)
{
    wr_transport *t = user;
    t->ops->poke(t);
    wr_transport_idle(t);
}

void wr_transport_idle(wr_transport *t)
{
    if (t->idle && !wr_task_current())
        t->idle(t->idle_user);
}

void wr_transport_rest(wr_transport *t, int *tries)
{
    wr_backoff(tries);
    wr_transport_idle(t);
}

wr_waiter wr_transport_waiter(wr_transport *t, bool may_poke)
{
    bool pokes = may_poke && !wr_task_current(); /* whoever moves a task does */
    return (wr_waiter){.spins = t->spins, .leaves = true, .poke = pokes ? poke : NULL, .user = t};
}

int wr_request_wait(wr_transport *t, wr_request *r)
{
    bool over = false;
    for (int tries = 0;;) {
        int code = t->ops->test(t, r, &over);
        if (code || over)
            return code;
        wr_transport_rest(t, &tries);
    }
}

int wr_send(wr_transport *t, int to, int tag, const void *data, int64_t bytes)
{
    wr_request r;
    int code = t->ops->send(t, (wr_parcel){to, bytes, data}, tag, false, &r);
    return code ? code : wr_request_wait(t, &r);
}

int wr_receive(wr_transport *t, int from, int tag, void *data, int64_t bytes)
{
    wr_request r;
    int code = t->ops->receive(t, (wr_place){from, bytes, data}, tag, &r);
    return code ? code : wr_request_wait(t, &r);
}

/* Down a binomial tree from rank 0: who has it passes it on at ever smaller distances. */
int wr_broadcast(wr_transport *t, int tag, void *data, int64_t bytes)
{
    int code = 0, step = 1;
    while (step < t->size && !(t->rank & step))
        step *= 2;
    if (t->rank)
        code = wr_receive(t, t->rank - step, tag + WR_TAG_BROADCAST, data, bytes);
    for (step /= 2; !code && step > 0; step /= 2)
        if (t->rank + step < t->size)
            code = wr_send(t, t->rank + step, tag + WR_TAG_BROADCAST, data, bytes);
    return code;
}

void wr_combine(enum wr_reduction reduction, int64_t *to, int64_t value)
{
    switch (reduction) {
    case WR_SUM:
        *to = (int64_t)((uint64_t)*to + (uint64_t)value);
        break;
    case WR_MIN:
        *to = wr_min(*to, value);
        break;
    case WR_MAX:
        *to = wr_max(*to, value);
        break;
    case WR_OR:
        *to |= value;
        break;
    }
}

enum { MOST_VALUES = 64 };

/* Up the same tree, then down again. */
int wr_allreduce(wr_transport *t, int tag, enum wr_reduction reduction, int count, int64_t *values)
{
    int64_t theirs[MOST_VALUES];
    int64_t bytes = count * (int64_t)sizeof *values;
    if (count > MOST_VALUES)
        return wr_fail(WEIR_EINVAL, "allreduce of %d numbers", count);
    int step = 1, code = 0;
    for (; !code && step < t->size && !(t->rank & step); step *= 2) {
        if (t->rank + step >= t->size)
            continue;
        code = wr_receive(t, t->rank + step, tag + WR_TAG_REDUCE, theirs, bytes);
        for (int i = 0; !code && i < count; i++)
            wr_combine(reduction, &values[i], theirs[i]);
    }
    if (!code && t->rank)
        code = wr_send(t, t->rank - step, tag + WR_TAG_REDUCE, values, bytes);
    return code ? code : wr_broadcast(t, tag, values, bytes);
}

/* After the k-th round a rank has the sum of 2^k ranks up to itself. */
int wr_sum_before(wr_transport *t, int tag, int count, const int64_t *values, int64_t *before)
{
    int64_t sum[MOST_VALUES] = {0}, theirs[MOST_VALUES] = {0},
            bytes = count * (int64_t)sizeof *values;
    if (count > MOST_VALUES)
        return wr_fail(WEIR_EINVAL, "sums of %d numbers", count);
    memcpy(sum, values, (size_t)bytes);
    memset(before, 0, (size_t)bytes);
    for (int step = 1; step < t->size; step *= 2) {
        wr_request sent = {0};
        int code = 0;
        if (t->rank + step < t->size)
            code = t->ops->send(t, (wr_parcel){t->rank + step, bytes, sum}, tag + WR_TAG_REDUCE,
                                false, &sent);
        if (!code && t->rank >= step)
            code = wr_receive(t, t->rank - step, tag + WR_TAG_REDUCE, theirs, bytes);
        int lost = sent.parts ? wr_request_wait(t, &sent) : 0;
        if (code || lost)
            return code ? code : lost;
        for (int i = 0; t->rank >= step && i < count; i++) {
            before[i] += theirs[i];
            sum[i] += theirs[i];
        }
    }
    return 0;
}

int wr_agree(wr_transport *t, int tag, int code)
{
    weir_error details = *weir_error_last();
    int64_t first = code ? t->rank : t->size;
    int lost = wr_allreduce(t, tag, WR_MIN, 1, &first);
    if (lost)
        return lost;
    if (first == t->size)
        return 0;
    if (first == t->rank) {
        details.code = code;
        details.rank = details.rank < 0 ? t->rank : details.rank;
    }
    if (first && t->rank == first)
        lost = wr_send(t, 0, tag + WR_TAG_REDUCE, &details, sizeof details);
    if (first && t->rank == 0)
        lost = wr_receive(t, (int)first, tag + WR_TAG_REDUCE, &details, sizeof details);
    if (!lost)
        lost = wr_broadcast(t, tag, &details, sizeof details);
    return lost ? lost : wr_error_raise(&details);
}

/* One rank of a node tells the others, and hears from each of them, how it went. */
typedef struct verdict {
    int code;
    weir_error details;
    wr_segment segment;
} verdict;

static void note(verdict *v, int code, int rank)
{
    if (!code || v->code)
        return;
    v->code = code;
    v->details = *weir_error_last();
    v->details.rank = rank;
}

/* The verdict of the node's first rank reaches the others. */
static int spread(wr_transport *t, int tag, verdict *v)
{
    if (t->local_rank)
        return wr_receive(t, t->local[0], tag + WR_TAG_REGION, v, sizeof *v);
    int code = 0;
    for (int i = 1; !code && i < t->local_size; i++)
        code = wr_send(t, t->local[i], tag + WR_TAG_REGION, v, sizeof *v);
    return code;
}

/* The others' verdicts reach the first rank, which keeps the first bad one. */
static int gather(wr_transport *t, int tag, verdict *v)
{
    if (t->local_rank)
        return wr_send(t, t->local[0], tag + WR_TAG_REGION, v, sizeof *v);
    int code = 0;
    for (int i = 1; !code && i < t->local_size; i++) {
        verdict theirs;
        code = wr_receive(t, t->local[i], tag + WR_TAG_REGION, &theirs, sizeof theirs);
        if (!code && theirs.code && !v->code) {
            v->code = theirs.code;
            v->details = theirs.details;
        }
    }
    return code;
}

/* [collective on the node] *lost: messages do not work. */
static int open_kind(wr_transport *t, int tag, const wr_tunables *tunables,
                     enum wr_region_kind kind, wr_region *region, int *lost)
{
    verdict v = {0};
    bool first = t->local_rank == 0;
    if (first)
        note(&v, wr_segment_create(kind, tunables, region->bytes, &v.segment, region), t->rank);
    bool created = first && !v.code;
    *lost = spread(t, tag, &v);
    if (!*lost && !first && !v.code)
        note(&v, wr_segment_open(&v.segment, region->bytes, region), t->rank);
    if (!*lost)
        *lost = gather(t, tag, &v);
    if (created)
        wr_segment_hide(&v.segment);
    if (!*lost)
        *lost = spread(t, tag, &v);
    return *lost ? *lost : v.code ? wr_error_raise(&v.details) : 0;
}

int wr_region_open(wr_transport *t, int tag, const wr_tunables *tunables, int64_t bytes,
                   wr_region *out)
{
    int code = 0, lost = 0;
    if (t->local_size == 1)
        return wr_region_own(bytes, out);
    for (enum wr_region_kind kind = wr_region_first(t, tunables); kind < WR_REGION_KINDS; kind++) {
        wr_region region = {.bytes = bytes};
        code = open_kind(t, tag, tunables, kind, &region, &lost);
        if (!code) {
            t->regions = kind;
            *out = region;
            return 0;
        }
        wr_region_close(&region);
        if (lost)
            break;
    }
    return code;
}
