/* What an aggregator serves. */
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "exchange/rounds.h"

/* What is asked for: this, then the pattern. */
typedef struct asked {
    int64_t rank, begin, end;
    int64_t bytes; /* of both */
} asked;

enum { ASKED_ALIGN = 16 };

static int64_t parcel_room(const wr_want *want)
{
    int64_t bytes = (int64_t)sizeof(asked) + weir_pattern_footprint(want->pattern);
    return wr_round_up(bytes, ASKED_ALIGN);
}

static char *parcel_put(char *to, const wr_want *want)
{
    const weir_pattern *p = want->pattern;
    int64_t bytes = parcel_room(want), rest = weir_pattern_footprint(p) - (int64_t)sizeof *p;
    char *end = to + bytes;
    *(asked *)(void *)to = (asked){want->rank, want->begin, want->end, bytes};
    to += sizeof(asked);
    memcpy(to, p, sizeof *p); /* which may have been attached to its nodes */
    to += sizeof *p;
    memcpy(to, p->node, (size_t)rest);
    memset(to + rest, 0, (size_t)(end - to - rest));
    return end;
}

static const asked *next_asked(const asked *a)
{
    return (const asked *)(const void *)((const char *)a + a->bytes);
}

static int by_rank(const void *a, const void *b)
{
    const wr_want *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int64_t count_asked(int count, const wr_parcel *in)
{
    int64_t all = 0;
    for (int i = 0; i < count; i++) {
        const asked *a = in[i].data, *end = (const void *)((const char *)in[i].data + in[i].bytes);
        for (; a < end; a = next_asked(a))
            all++;
    }
    return all;
}

static int hear(wr_arena *memory, int count, const wr_parcel *in, wr_wants *w)
{
    int64_t all = count_asked(count, in);
    weir_pattern *patterns = wr_arena_alloc(memory, all * (int64_t)sizeof *patterns);
    w->list = wr_arena_alloc(memory, all * (int64_t)sizeof *w->list);
    if (!patterns || !w->list)
        return WEIR_ENOMEM;
    for (int i = 0; i < count; i++) {
        const asked *a = in[i].data, *end = (const void *)((const char *)in[i].data + in[i].bytes);
        for (; a < end; a = next_asked(a)) {
            weir_pattern *p = &patterns[w->count];
            *p = wr_pattern_attach(a + 1);
            w->list[w->count++] = (wr_want){p, a->begin, a->end, (int)a->rank};
        }
    }
    if (w->count)
        qsort(w->list, (size_t)w->count, sizeof *w->list, by_rank);
    return 0;
}

static int make_parcels(const wr_call *c, wr_arena *memory, wr_parcel *out, int *count)
{
    wr_want want = {c->a->file, c->a->begin, c->a->end, c->group->handle.world->transport->rank};
    int64_t bytes = parcel_room(&want);
    char *data = wr_arena_alloc(memory, bytes);
    if (!data)
        return WEIR_ENOMEM;
    parcel_put(data, &want);
    for (int64_t i = 0; i < c->plan->aggregators; i++) {
        weir_pattern *realm;
        int code = wr_plan_realm(c->plan, i, &realm);
        if (code)
            return code;
        if (wr_want_meets(&want, realm))
            out[(*count)++] = (wr_parcel){wr_call_aggregator(c, i), bytes, data};
        weir_pattern_free(realm);
    }
    return 0;
}

int wr_call_served(wr_call *c, wr_arena *memory, const weir_pattern *realm, wr_wants *w)
{
    wr_transport *t = c->group->handle.world->transport;
    int count = 0, received = 0, code = 0;
    wr_parcel *in = NULL;
    if (c->a->known && c->party.count > 1) {
        if (!realm)
            return 0;
        w->list = wr_arena_alloc(memory, t->size * (int64_t)sizeof *w->list);
        return w->list ? wr_call_know(c, t->size, NULL, realm, w) : WEIR_ENOMEM;
    }
    if (c->party.count == 1 && !c->party.ranks) {
        if (realm)
            code = wr_call_gather(c, memory, w);
    } else {
        wr_parcel *out = wr_arena_alloc(memory, c->plan->aggregators * (int64_t)sizeof *out);
        code = out ? make_parcels(c, memory, out, &count) : WEIR_ENOMEM;
        wr_sparse x = {.tag = c->group->channel.tag, .round = c->group->calls, .memory = memory};
        int lost = wr_sparse_exchange(t, &x, code ? 0 : count, out, &received, &in);
        code = code ? code : lost;
        if (!code && realm)
            code = hear(memory, received, in, w);
    }
    if (!code && realm)
        w->count = wr_wants_keep(realm, w->count, w->list);
    return code;
}
