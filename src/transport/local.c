/* Threads as ranks. A message is copied into the receiver's queue by send, or, if the receive is
 * already posted, straight into its place; whoever tests looks at its own message only. */
#include "transport/local.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/cores.h"

/* A message, or a receive, waiting for its other half. Owned by the queue until matched, then by
 * the request that tests it; a message whose sender does not wait for its receipt has no owner. */
typedef struct half {
    struct half *next;
    int from, tag;
    int64_t bytes;
    char *data;
    bool over, owned;
    int code;
} half;

typedef struct queue {
    half *messages, *receives; /* in the order they came */
} queue;

enum start { CLOSED, OPEN, CANCELLED };

typedef struct hub {
    pthread_mutex_t lock;
    wr_word start; /* nobody starts before all are there */
    int ranks;
    int64_t ranks_per_node;
    queue *queues; /* by receiver */
} hub;

/* One rank's end. */
typedef struct end {
    hub *hub;
    int first_tag; /* of its messages: copies have others */
    int copies;
    hub *own; /* that it alone has, or NULL */
} end;

static hub *hub_of(const wr_transport *t)
{
    return ((const end *)t->state)->hub;
}

static int tag_of(const wr_transport *t, int tag)
{
    return ((const end *)t->state)->first_tag + tag;
}

static void append(half **list, half *h)
{
    while (*list)
        list = &(*list)->next;
    *list = h;
}

/* Takes the first half from `from` with `tag` out of a list. */
static half *take(half **list, int from, int tag)
{
    for (; *list; list = &(*list)->next)
        if ((*list)->from == from && (*list)->tag == tag) {
            half *found = *list;
            *list = found->next;
            return found;
        }
    return NULL;
}

/* Not by wr_alloc: what a test makes fail there is the library, not the messages under it. */
static half *new_half(wr_parcel with, int tag, int64_t extra)
{
    half *h = malloc(sizeof *h + (size_t)extra);
    if (h)
        *h = (half){.from = with.rank, .tag = tag, .bytes = with.bytes, .owned = true};
    return h;
}

/* Under the lock: a receive and the data of its message meet. */
static void fulfil(half *receive, const void *data, int64_t bytes)
{
    if (bytes && receive->data)
        memcpy(receive->data, data, (size_t)wr_min(bytes, receive->bytes));
    receive->code = bytes == receive->bytes ? 0 : bytes ? WEIR_ETRANSPORT : WR_EMPTY;
    receive->over = true;
}

static int send_local(wr_transport *t, wr_parcel to, int tag, bool when_received, wr_request *r)
{
    hub *h = hub_of(t);
    *r = (wr_request){0};
    half *m = new_half((wr_parcel){t->rank, to.bytes, NULL}, tag_of(t, tag), to.bytes);
    if (!m)
        return WEIR_ENOMEM;
    m->data = (char *)(m + 1);
    wr_transport_count(t, to.rank, tag, to.bytes);
    if (to.bytes)
        memcpy(m->data, to.data, (size_t)to.bytes);
    pthread_mutex_lock(&h->lock);
    queue *q = &h->queues[to.rank];
    half *receive = take(&q->receives, t->rank, tag_of(t, tag));
    if (receive)
        fulfil(receive, m->data, m->bytes);
    else
        append(&q->messages, m);
    m->owned = !receive && when_received;
    bool keep = m->owned;
    pthread_mutex_unlock(&h->lock);
    if (receive)
        free(m);
    if (keep) {
        r->inside = m;
        r->parts = 1;
    }
    return 0;
}

static int receive_local(wr_transport *t, wr_place from, int tag, wr_request *r)
{
    hub *h = hub_of(t);
    half *receive = new_half((wr_parcel){from.rank, from.bytes, NULL}, tag_of(t, tag), 0);
    *r = (wr_request){.parts = 1, .inside = receive};
    if (!receive)
        return WEIR_ENOMEM;
    receive->data = from.data;
    pthread_mutex_lock(&h->lock);
    queue *q = &h->queues[t->rank];
    half *m = take(&q->messages, from.rank, tag_of(t, tag));
    if (m) {
        fulfil(receive, m->data, m->bytes);
        m->over = true;
        if (!m->owned)
            free(m);
    } else {
        append(&q->receives, receive);
    }
    pthread_mutex_unlock(&h->lock);
    return 0;
}

static int test_local(wr_transport *t, wr_request *r, bool *over)
{
    hub *h = hub_of(t);
    half *mine = r->inside;
    *over = true;
    if (!mine)
        return 0;
    pthread_mutex_lock(&h->lock);
    *over = mine->over;
    pthread_mutex_unlock(&h->lock);
    if (!*over)
        return 0;
    int code = mine->code;
    free(mine);
    *r = (wr_request){0};
    return code < 0 ? wr_fail(code, "a message of another length than expected") : code;
}

static int probe_local(wr_transport *t, int tag, wr_parcel *from, bool *found)
{
    hub *h = hub_of(t);
    *found = false;
    pthread_mutex_lock(&h->lock);
    for (half *m = h->queues[t->rank].messages; m && !*found; m = m->next)
        if (m->tag == tag_of(t, tag) && (from->rank < 0 || m->from == from->rank)) {
            *from = (wr_parcel){m->from, m->bytes, NULL};
            *found = true;
        }
    pthread_mutex_unlock(&h->lock);
    return 0;
}

static void poke_local(wr_transport *t)
{
    (void)t;
}

static void free_queues(hub *h)
{
    for (int i = 0; h->queues && i < h->ranks; i++)
        for (half *m = h->queues[i].messages, *next; m; m = next) {
            next = m->next;
            free(m);
        }
    wr_free(h->queues);
}

static void drop_hub(hub *h)
{
    if (!h)
        return;
    free_queues(h);
    pthread_mutex_destroy(&h->lock);
    wr_free(h);
}

static void close_local(wr_transport *t)
{
    drop_hub(((end *)t->state)->own);
    wr_free(t->state);
    wr_free(t);
}

/* Bytes of the lanes of one rank, the first of `count`, and how many these are. */
static int64_t group_bytes(int count, const wr_lane *lanes, int *used)
{
    int64_t bytes = 0;
    for (*used = 0; *used < count && lanes[*used].rank == lanes->rank; ++*used)
        bytes += lanes[*used].run * lanes[*used].count;
    return bytes;
}

static int64_t largest_group(int count, const wr_lane *lanes)
{
    int64_t most = 0;
    for (int i = 0, n; i < count; i += n)
        most = wr_max(most, group_bytes(count - i, &lanes[i], &n));
    return most;
}

static void copy_lanes(int count, const wr_lane *lanes, char *packed, bool pack)
{
    for (int i = 0; i < count; i++)
        for (int64_t k = 0; k < lanes[i].count; k++, packed += lanes[i].run) {
            char *own = lanes[i].memory + k * lanes[i].stride;
            memcpy(pack ? packed : own, pack ? own : packed, (size_t)lanes[i].run);
        }
}

static int alltoall_local(wr_transport *t, int code, int sends, const wr_lane *send, int receives,
                          const wr_lane *receive)
{
    const int tag = WR_TAG_ALLTOALL + WR_TAG_LANES;
    char *packed = NULL;
    if (!code) {
        packed = wr_alloc(wr_max(largest_group(sends, send), largest_group(receives, receive)));
        code = packed ? 0 : WEIR_ENOMEM;
    }
    code = wr_agree(t, WR_TAG_ALLTOALL, code);
    for (int i = 0, n; packed && !code && i < sends; i += n) {
        int64_t bytes = group_bytes(sends - i, &send[i], &n);
        wr_request r; /* copied by send: over at once */
        copy_lanes(n, &send[i], packed, true);
        code = t->ops->send(t, (wr_parcel){send[i].rank, bytes, packed}, tag, false, &r);
    }
    for (int i = 0, n; packed && !code && i < receives; i += n) {
        int64_t bytes = group_bytes(receives - i, &receive[i], &n);
        code = wr_receive(t, receive[i].rank, tag, packed, bytes);
        if (!code)
            copy_lanes(n, &receive[i], packed, false);
    }
    wr_free(packed);
    return code;
}

static int copy_local(wr_transport *t, int tag, wr_transport **out);

static const wr_transport_ops local_ops = {
    .name = "local",
    .help = "ranks are threads of one process",
    .close = close_local,
    .poke = poke_local,
    .send = send_local,
    .receive = receive_local,
    .test = test_local,
    .probe = probe_local,
    .alltoall = alltoall_local,
    .copy = copy_local,
};

static wr_transport *open_local(hub *h, int rank, int64_t ranks_per_node, int first_tag)
{
    wr_transport *t = wr_alloc(sizeof *t);
    end *e = wr_alloc(sizeof *e);
    int *numbers = wr_alloc_array(WR_NUMBERS * (int64_t)h->ranks, sizeof *numbers);
    if (!t || !e || !numbers) {
        wr_free(t);
        wr_free(e);
        wr_free(numbers);
        return NULL;
    }
    for (int i = 0; i < h->ranks; i++)
        numbers[i] = ranks_per_node > 0   ? (int)(i / ranks_per_node)
                     : ranks_per_node < 0 ? (int)(i % -ranks_per_node)
                                          : 0;
    *e = (end){.hub = h, .first_tag = first_tag};
    *t = (wr_transport){
        .ops = &local_ops, .rank = rank, .size = h->ranks, .multiple = true, .state = e};
    wr_transport_place(t, numbers);
    return t;
}

static int copy_local(wr_transport *t, int tag, wr_transport **out)
{
    end *e = t->state;
    wr_transport *copy =
        open_local(e->hub, t->rank, e->hub->ranks_per_node, ++e->copies * WR_TAG_MAX);
    int code = wr_agree(t, tag, copy ? 0 : WEIR_ENOMEM);
    if (code || !copy) {
        wr_transport_close(copy);
        return code;
    }
    copy->idle = t->idle;
    copy->idle_user = t->idle_user;
    *out = copy;
    return 0;
}

typedef struct member {
    wr_transport *t;
    pthread_t thread;
    void (*body)(wr_transport *t, void *user);
    void *user;
} member;

static void *run_member(void *user)
{
    member *m = user;
    /* acquires all members' transports, which were made before the word was set */
    if (wr_wait(&hub_of(m->t)->start, CLOSED, &(wr_waiter){0}) == OPEN)
        m->body(m->t, m->user);
    return NULL;
}

/* Runs all or, if a thread cannot be had, none. */
static int start_and_join(hub *h, member *members)
{
    int started = 0, error = 0, ranks = h->ranks;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; started < ranks - 1 && !error; started += !error)
        error = pthread_create(&members[started].thread, NULL, run_member, &members[started]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    wr_word_set(&h->start, error ? CANCELLED : OPEN);
    if (!error)
        run_member(&members[ranks - 1]); /* the calling thread is the last rank */
    for (int i = 0; i < started; i++)
        pthread_join(members[i].thread, NULL);
    return error ? wr_fail_system(error, "", -1, "start a thread") : 0;
}

int wr_local_run(int ranks, const wr_tunables *tunables, void (*body)(wr_transport *t, void *user),
                 void *user)
{
    hub h = {.ranks = ranks, .ranks_per_node = tunables->ranks_per_node};
    h.queues = wr_alloc_array(ranks, sizeof *h.queues);
    member *members = wr_alloc_array(ranks, sizeof *members);
    int code = h.queues && members ? 0 : WEIR_ENOMEM, opened = 0;
    if (!code)
        memset(h.queues, 0, (size_t)ranks * sizeof *h.queues);
    pthread_mutex_init(&h.lock, NULL);
    for (; !code && opened < ranks; opened += !code) {
        wr_transport *t = open_local(&h, opened, h.ranks_per_node, 0);
        members[opened] = (member){.t = t, .body = body, .user = user};
        code = t ? 0 : WEIR_ENOMEM;
    }
    if (!code)
        code = start_and_join(&h, members);
    for (int i = 0; i < opened; i++)
        wr_transport_close(members[i].t);
    free_queues(&h);
    wr_free(members);
    pthread_mutex_destroy(&h.lock);
    return code;
}

int wr_local_open(wr_transport **out)
{
    hub *h = wr_alloc(sizeof *h);
    if (!h)
        return WEIR_ENOMEM;
    *h = (hub){.ranks = 1};
    pthread_mutex_init(&h->lock, NULL);
    h->queues = wr_alloc(sizeof *h->queues);
    wr_transport *t = NULL;
    if (h->queues) {
        *h->queues = (queue){0};
        t = open_local(h, 0, 0, 0);
    }
    if (!t) {
        drop_hub(h);
        return WEIR_ENOMEM;
    }
    ((end *)t->state)->own = h;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    t->cores = (int)wr_cores_of(&cores);
    *out = t;
    return 0;
}
