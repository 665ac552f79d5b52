/* Recursive doubling: in each round a rank swaps what its group of ranks says with one of the group
 * next to it, and both make one of the two. Groups are adjacent, so that what is said keeps the
 * order of ranks. Of a number that is no power of two, the first pairs of neighbours speak with one
 * voice: the upper one tells the lower one first, and hears the end from it. */
#include "transport/transport.h"

/* Waits for the next message of a rank; its length, or a negative code: then there is none. */
static int64_t take(wr_transport *t, wr_join *x, int rank)
{
    const int tag = x->tag + WR_TAG_JOIN;
    wr_parcel found = {.rank = rank};
    bool any = false;
    int code = 0;
    for (int tries = 0;;) {
        found.rank = rank;
        code = t->ops->probe(t, tag, &found, &any);
        if (code || any)
            break;
        wr_transport_rest(t, &tries);
    }
    if (code)
        return code;
    const bool fits = found.bytes <= x->room;
    code = wr_receive(t, rank, tag, fits ? x->theirs : NULL, found.bytes);
    if (!code && !fits)
        code = wr_fail(WEIR_ENOMEM, "no room for a message of %lld bytes", (long long)found.bytes);
    return code ? code : found.bytes;
}

static void hear(wr_transport *t, wr_join *x, int rank, bool below)
{
    int64_t bytes = take(t, x, rank);
    if (bytes < 0)
        x->lose(x, (int)bytes);
    else
        x->merge(x, bytes, below);
}

static void tell(wr_transport *t, wr_join *x, int rank)
{
    int code = wr_send(t, rank, x->tag + WR_TAG_JOIN, x->data, x->bytes);
    if (code)
        x->lose(x, code);
}

static void swap(wr_transport *t, wr_join *x, int rank, bool below)
{
    wr_request sent = {0};
    int code =
        t->ops->send(t, (wr_parcel){rank, x->bytes, x->data}, x->tag + WR_TAG_JOIN, false, &sent);
    int64_t bytes = take(t, x, rank);
    if (!code)
        code = wr_request_wait(t, &sent); /* before the data change */
    code = bytes < 0 ? (int)bytes : code;
    if (bytes >= 0)
        x->merge(x, bytes, below);
    if (code)
        x->lose(x, code);
}

/* The end, as the rank that spoke for this one has it. */
static void adopt(wr_transport *t, wr_join *x, int rank)
{
    int64_t bytes = take(t, x, rank);
    if (bytes < 0) {
        x->lose(x, (int)bytes);
        return;
    }
    void *own = x->data;
    x->data = x->theirs;
    x->theirs = own;
    x->bytes = bytes;
}

void wr_join_run(wr_transport *t, wr_join *x)
{
    int power = 1;
    while (2 * power <= x->count)
        power *= 2;
    const int pairs = x->count - power;
    const bool paired = x->own < 2 * pairs;
    const int place = paired ? x->own / 2 : x->own - pairs;
    if (paired && x->own % 2) {
        tell(t, x, x->group[x->own - 1]);
        adopt(t, x, x->group[x->own - 1]);
        return;
    }
    if (paired)
        hear(t, x, x->group[x->own + 1], false);
    for (int step = 1; step < power; step *= 2) {
        const int other = place ^ step;
        swap(t, x, x->group[other < pairs ? 2 * other : other + pairs], other < place);
    }
    if (paired)
        tell(t, x, x->group[x->own + 1]);
}
