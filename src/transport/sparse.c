/* Sparse exchange by consensus: everyone sends to its partners, takes what comes, and, once its own
 * parcels are known to be received, enters a barrier made of messages; when that is over nothing
 * can be on its way any more. No rank learns, or stores, more than its own partners.
 *
 * The parity of `round` keeps a rank that is still in this exchange from taking a parcel of the
 * next one; nobody can be two ahead. */
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "transport/transport.h"

enum { INLINE = 16 << 10 };

/* What travels first: the length, and as much of the parcel as fits. */
typedef struct head {
    int64_t bytes;
    char data[INLINE];
} head;

typedef struct sending {
    wr_request head, rest;
    bool over[2];
} sending;

typedef struct exchange {
    wr_transport *t;
    wr_sparse *x;
    int code; /* first error; the exchange goes on all the same */
    weir_error first;
    int count, sent;
    sending *sendings;
    wr_parcel *in;
    int64_t room;
    int received;
    int step; /* distance of the barrier's round; 0: not in it yet */
    bool waiting;
    wr_request up, down;
    char token[2];
} exchange;

static void note(exchange *e, int code)
{
    if (code && !e->code) {
        e->code = code;
        e->first = *weir_error_last();
    }
}

static int64_t head_bytes(int64_t bytes)
{
    return (int64_t)offsetof(head, data) + wr_min(bytes, INLINE);
}

static void start_sending(exchange *e, const wr_parcel *out)
{
    wr_transport *t = e->t;
    sending *s = &e->sendings[e->count];
    head *h = wr_arena_alloc(e->x->memory, head_bytes(out->bytes));
    if (!h) {
        note(e, WEIR_ENOMEM);
        return;
    }
    h->bytes = out->bytes;
    memcpy(h->data, out->data, (size_t)wr_min(out->bytes, INLINE));
    int tag = e->x->tag + WR_TAG_SPARSE + (int)(e->x->round & 1);
    *s = (sending){.over = {false, true}};
    int code =
        t->ops->send(t, (wr_parcel){out->rank, head_bytes(out->bytes), h}, tag, true, &s->head);
    if (!code && out->bytes > INLINE) {
        wr_parcel rest = {out->rank, out->bytes - INLINE, (const char *)out->data + INLINE};
        s->over[1] = false;
        code = t->ops->send(t, rest, e->x->tag + WR_TAG_SPARSE_REST, false, &s->rest);
    }
    if (code)
        note(e, code);
    else
        e->count++;
}

/* Takes one parcel, even if there is no memory to keep it in. */
static void take_parcel(exchange *e, const wr_parcel *found)
{
    wr_transport *t = e->t;
    head h;
    int tag = e->x->tag + WR_TAG_SPARSE + (int)(e->x->round & 1);
    int code = wr_receive(t, found->rank, tag, &h, found->bytes);
    if (code) {
        note(e, code);
        return;
    }
    char *data = wr_arena_alloc(e->x->memory, h.bytes);
    bool kept = data && !wr_grow((void **)&e->in, &e->room, e->received + 1, sizeof *e->in);
    if (!kept)
        note(e, WEIR_ENOMEM);
    if (data)
        memcpy(data, h.data, (size_t)wr_min(h.bytes, INLINE));
    if (h.bytes > INLINE)
        note(e, wr_receive(t, found->rank, e->x->tag + WR_TAG_SPARSE_REST,
                           data ? data + INLINE : NULL, h.bytes - INLINE));
    if (kept)
        e->in[e->received++] = (wr_parcel){found->rank, h.bytes, data};
}

static bool message_over(exchange *e, wr_request *r, bool *over)
{
    if (!*over) {
        int code = e->t->ops->test(e->t, r, over);
        note(e, code);
        *over = *over || code;
    }
    return *over;
}

static bool all_sent(exchange *e)
{
    for (; e->sent < e->count; e->sent++) {
        sending *s = &e->sendings[e->sent];
        if (!message_over(e, &s->head, &s->over[0]) || !message_over(e, &s->rest, &s->over[1]))
            return false;
    }
    return true;
}

/* One look at the barrier: round by round, a token to the rank `step` above and one from below. */
static bool barrier_over(exchange *e)
{
    wr_transport *t = e->t;
    const int *group = e->x->group;
    int own = group ? e->x->own : t->rank, size = group ? e->x->count : t->size;
    for (e->step = e->step ? e->step : 1; e->step < size; e->step *= 2) {
        int up = (own + e->step) % size, down = (own - e->step + size) % size;
        up = group ? group[up] : up;
        down = group ? group[down] : down;
        int tag = e->x->tag + WR_TAG_SPARSE_BARRIER;
        if (!e->waiting) {
            note(e, t->ops->send(t, (wr_parcel){up, 1, &e->token[0]}, tag, false, &e->up));
            note(e, t->ops->receive(t, (wr_place){down, 1, &e->token[1]}, tag, &e->down));
            e->waiting = true;
        }
        bool over = false;
        if (!message_over(e, &e->down, &over))
            return false;
        note(e, wr_request_wait(t, &e->up)); /* one byte: it has left long ago */
        e->waiting = false;
    }
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const wr_parcel *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void run(exchange *e)
{
    int tag = e->x->tag + WR_TAG_SPARSE + (int)(e->x->round & 1);
    for (int tries = 0;;) {
        wr_parcel found = {.rank = -1};
        bool any = false;
        note(e, e->t->ops->probe(e->t, tag, &found, &any));
        if (any) {
            take_parcel(e, &found);
            tries = 0;
        } else if (all_sent(e) && barrier_over(e)) {
            return;
        } else {
            wr_transport_rest(e->t, &tries);
        }
    }
}

int wr_sparse_exchange(wr_transport *t, wr_sparse *x, int count, const wr_parcel *out,
                       int *received, wr_parcel **in)
{
    exchange e = {.t = t, .x = x};
    e.sendings = wr_arena_alloc(x->memory, count * (int64_t)sizeof *e.sendings);
    if (!e.sendings)
        note(&e, WEIR_ENOMEM);
    for (int i = 0; e.sendings && i < count; i++)
        start_sending(&e, &out[i]);
    run(&e);
    x->round++;
    wr_parcel *kept = wr_arena_alloc(x->memory, e.received * (int64_t)sizeof *kept);
    if (!kept)
        note(&e, WEIR_ENOMEM);
    if (!e.code) {
        if (e.received) {
            qsort(e.in, (size_t)e.received, sizeof *e.in, by_rank);
            memcpy(kept, e.in, (size_t)e.received * sizeof *kept);
        }
        *in = kept;
        *received = e.received;
    }
    wr_free(e.in);
    return e.code ? wr_error_raise(&e.first) : 0;
}
