/* Messages that go wrong, for tests. All reach their receivers, as those of MPI do: what goes wrong
 * is known at one end. */
#ifndef WR_TESTS_BAD_MESSAGES_H
#define WR_TESTS_BAD_MESSAGES_H

#include "transport/transport.h"

enum bad_kind {
    BAD_SEND,    /* send fails */
    BAD_RECEIVE, /* test does, of a receive, and nothing is received */
    BAD_LENGTH,  /* what is sent lacks a byte, which fails at the other end */
    BAD_KINDS
};

/* One rank's. Which message is set by the thread that sends and receives those of the channel;
 * threads that use others may run meanwhile. */
typedef struct bad_messages {
    wr_transport_ops ops; /* first: the transport has these */
    const wr_transport_ops *inside;
    enum bad_kind kind;
    int64_t left;    /* messages of this kind until the one that goes wrong, which is */
    bool gone_wrong; /* set then */
    _Atomic int tag; /* of a channel, or -1 */
    _Atomic(wr_request *) dropped;
} bad_messages;

/* Before a world is opened on the transport; and after it is gone. */
void bad_messages_wrap(bad_messages *bad, wr_transport *t);
void bad_messages_unwrap(bad_messages *bad, wr_transport *t);

/* Number k, from 0 on, of those with the tags of a channel from `tag` on; -1: none. */
void bad_messages_set(bad_messages *bad, int tag, enum bad_kind kind, int64_t k);

#endif
