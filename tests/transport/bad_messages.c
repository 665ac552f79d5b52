/* A transport around another. */
#include "bad_messages.h"

static bad_messages *of(const wr_transport *t)
{
    return (bad_messages *)(void *)(wr_transport_ops *)t->ops;
}

/* Whether this is the message. */
static bool goes_wrong(bad_messages *bad, int tag, bool sent)
{
    const int first = bad->tag;
    if (first < 0 || tag < first || tag >= first + WR_TAG_SPAN ||
        sent != (bad->kind != BAD_RECEIVE) || bad->left-- != 0)
        return false;
    return bad->gone_wrong = true;
}

static int send_bad(wr_transport *t, wr_parcel to, int tag, bool when_received, wr_request *r)
{
    bad_messages *bad = of(t);
    const bool wrong = goes_wrong(bad, tag, true);
    to.bytes -= wrong && bad->kind == BAD_LENGTH;
    int code = bad->inside->send(t, to, tag, when_received, r);
    return wrong && bad->kind == BAD_SEND ? wr_fail(WEIR_ETRANSPORT, "a message went wrong") : code;
}

static int receive_bad(wr_transport *t, wr_place from, int tag, wr_request *r)
{
    bad_messages *bad = of(t);
    if (goes_wrong(bad, tag, false)) {
        from.data = NULL;
        bad->dropped = r;
    }
    return bad->inside->receive(t, from, tag, r);
}

static int test_bad(wr_transport *t, wr_request *r, bool *over)
{
    bad_messages *bad = of(t);
    int code = bad->inside->test(t, r, over);
    if (bad->dropped != r || !*over)
        return code;
    bad->dropped = NULL;
    return wr_fail(WEIR_ETRANSPORT, "a message went wrong");
}

void bad_messages_wrap(bad_messages *bad, wr_transport *t)
{
    *bad = (bad_messages){.ops = *t->ops, .inside = t->ops, .tag = -1};
    bad->ops.send = send_bad;
    bad->ops.receive = receive_bad;
    bad->ops.test = test_bad;
    t->ops = &bad->ops;
}

void bad_messages_unwrap(bad_messages *bad, wr_transport *t)
{
    t->ops = bad->inside;
}

void bad_messages_set(bad_messages *bad, int tag, enum bad_kind kind, int64_t k)
{
    bad->kind = kind;
    bad->left = k;
    bad->gone_wrong = false;
    bad->tag = tag;
}
