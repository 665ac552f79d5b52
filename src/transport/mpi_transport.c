/* Messages by MPI, on a communicator of our own whose errors are returned. The int counts of MPI
 * are dealt with here: a longer message travels as several. Only PMPI_ names are called, so that
 * tools and our own MPI-IO library, which intercept MPI_ names, do not see this traffic. */
#include "transport/mpi_transport.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/cores.h"

enum { SPINS = 2000 };

/* Largest part of a message; any that fits an int will do. */
static const int64_t part_bytes = INT64_C(1) << 30;

typedef struct mpi_state {
    MPI_Comm comm;
    const struct mpi_state *original; /* of a copy, or NULL */
} mpi_state;

static MPI_Comm comm_of(const wr_transport *t)
{
    return ((const mpi_state *)t->state)->comm;
}

static int check(int result, const char *what)
{
    if (result == MPI_SUCCESS)
        return 0;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    PMPI_Error_string(result, text, &length);
    return wr_fail(WEIR_ETRANSPORT, "%s: %.*s", what, length, text);
}

int wr_mpi_alive(void)
{
    int initialized = 0, finalized = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    return initialized && !finalized;
}

static _Atomic int set_level = -1;

void wr_mpi_set_level(int level)
{
    set_level = level;
}

int wr_mpi_level(void)
{
    int level = set_level;
    if (level < 0)
        PMPI_Query_thread(&level);
    return level;
}

static void close_mpi(wr_transport *t)
{
    mpi_state *s = t->state;
    bool abandoned = s->original && s->original->comm == MPI_COMM_NULL;
    if (wr_mpi_alive() && !abandoned && s->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&s->comm);
    wr_free(s);
    wr_free(t);
}

void wr_mpi_abandon(wr_transport *t)
{
    ((mpi_state *)t->state)->comm = MPI_COMM_NULL;
}

/* Looks for a message that never comes: having found one, a probe does nothing for the others. */
static void poke_mpi(wr_transport *t)
{
    int found;
    MPI_Status status;
    PMPI_Iprobe(MPI_ANY_SOURCE, WR_TAG_MAX, comm_of(t), &found, &status);
}

/* The MPI requests of a message: in place for one, on the heap for several. */
static MPI_Request *parts_of(wr_request *r)
{
    _Static_assert(sizeof(MPI_Request) <= sizeof r->one, "a request fits");
    return r->inside ? r->inside : (MPI_Request *)(void *)r->one;
}

static int start(wr_request *r, int64_t bytes)
{
    *r = (wr_request){.parts = wr_max(1, wr_div_ceil(bytes, part_bytes)), .bytes = -1};
    if (r->parts == 1)
        return 0;
    r->inside = wr_alloc_array(r->parts, sizeof(MPI_Request));
    return r->inside ? 0 : WEIR_ENOMEM;
}

static int send_mpi(wr_transport *t, wr_parcel to, int tag, bool when_received, wr_request *r)
{
    int code = start(r, to.bytes);
    wr_transport_count(t, to.rank, tag, to.bytes);
    for (int64_t i = 0; !code && i < r->parts; i++) {
        const char *data = (const char *)to.data + i * part_bytes;
        int bytes = (int)wr_min(part_bytes, to.bytes - i * part_bytes);
        MPI_Request *part = parts_of(r) + i;
        int result = when_received
                         ? PMPI_Issend(data, bytes, MPI_BYTE, to.rank, tag, comm_of(t), part)
                         : PMPI_Isend(data, bytes, MPI_BYTE, to.rank, tag, comm_of(t), part);
        code = check(result, "send");
    }
    return code;
}

/* All bytes into one: a message that is too long for its buffer would be the end of a program
 * under MPICH, whose MPI_Test does not ask the communicator's error handler. */
static int drop_part(wr_transport *t, wr_place from, int tag, MPI_Request *part)
{
    static char sink;
    MPI_Datatype many;
    int result = PMPI_Type_create_hvector((int)from.bytes, 1, 0, MPI_BYTE, &many);
    if (result != MPI_SUCCESS)
        return check(result, "receive");
    PMPI_Type_commit(&many);
    result = PMPI_Irecv(&sink, 1, many, from.rank, tag, comm_of(t), part);
    PMPI_Type_free(&many);
    return check(result, "receive");
}

static int receive_mpi(wr_transport *t, wr_place from, int tag, wr_request *r)
{
    int code = start(r, from.bytes);
    r->bytes = from.bytes;
    for (int64_t i = 0; !code && i < r->parts; i++) {
        char *data = (char *)from.data + i * part_bytes;
        int bytes = (int)wr_min(part_bytes, from.bytes - i * part_bytes);
        MPI_Request *part = parts_of(r) + i;
        if (!from.data && bytes) {
            code = drop_part(t, (wr_place){from.rank, bytes, NULL}, tag, part);
            continue;
        }
        code =
            check(PMPI_Irecv(data, bytes, MPI_BYTE, from.rank, tag, comm_of(t), part), "receive");
    }
    return code;
}

static int check_length(const MPI_Status *status, int64_t expected)
{
    int got = 0;
    PMPI_Get_count(status, MPI_BYTE, &got);
    if (!got && expected)
        return WR_EMPTY;
    return got == expected ? 0
                           : wr_fail(WEIR_ETRANSPORT, "a message of %d bytes where %lld were due",
                                     got, (long long)expected);
}

static int test_mpi(wr_transport *t, wr_request *r, bool *over)
{
    (void)t;
    int code = 0, done = 1;
    for (int64_t i = 0; done && !code && i < r->parts; i++) {
        bool live = parts_of(r)[i] != MPI_REQUEST_NULL;
        MPI_Status status;
        int result = PMPI_Test(parts_of(r) + i, &done, &status);
        code = check(result, "message");
        if (!code && done && live && r->bytes >= 0)
            code = check_length(&status, wr_min(part_bytes, r->bytes - i * part_bytes));
    }
    *over = done && !code;
    if (*over || code) {
        wr_free(r->inside);
        *r = (wr_request){0};
    }
    return code;
}

static int probe_mpi(wr_transport *t, int tag, wr_parcel *from, bool *found)
{
    int any = 0, bytes = 0, source = from->rank < 0 ? MPI_ANY_SOURCE : from->rank;
    MPI_Status status;
    int code = check(PMPI_Iprobe(source, tag, comm_of(t), &any, &status), "probe");
    *found = !code && any;
    if (!*found)
        return code;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    *from = (wr_parcel){status.MPI_SOURCE, bytes, NULL};
    return 0;
}

/* A type of `bytes` bytes, which may be more than an int holds. */
static int make_run(int64_t bytes, MPI_Datatype *out)
{
    int64_t parts = bytes / part_bytes;
    MPI_Datatype part;
    int result = PMPI_Type_contiguous((int)part_bytes, MPI_BYTE, &part);
    int lengths[] = {(int)parts, (int)(bytes % part_bytes)};
    MPI_Aint places[] = {0, (MPI_Aint)(parts * part_bytes)};
    MPI_Datatype types[] = {part, MPI_BYTE};
    if (result != MPI_SUCCESS)
        return result;
    result = PMPI_Type_create_struct(2, lengths, places, types, out);
    PMPI_Type_free(&part);
    return result;
}

/* A type of a whole lane, from its first run on. */
static int make_lane(const wr_lane *lane, MPI_Datatype *out)
{
    MPI_Datatype run;
    if (lane->count > INT32_MAX)
        return MPI_ERR_COUNT;
    if (lane->run <= part_bytes)
        return PMPI_Type_create_hvector((int)lane->count, (int)lane->run, (MPI_Aint)lane->stride,
                                        MPI_BYTE, out);
    int result = make_run(lane->run, &run);
    if (result != MPI_SUCCESS)
        return result;
    result = PMPI_Type_create_hvector((int)lane->count, 1, (MPI_Aint)lane->stride, run, out);
    PMPI_Type_free(&run);
    return result;
}

/* What MPI_Ialltoallw wants, by rank. */
typedef struct sides {
    int *counts, *zeros;
    MPI_Datatype *types;
} sides;

/* One type of a rank's lanes, at their addresses in memory. */
static int make_lanes(int count, const wr_lane *lanes, wr_arena *memory, MPI_Datatype *out)
{
    int *ones = wr_arena_alloc(memory, count * (int64_t)sizeof *ones), made = 0;
    MPI_Aint *places = wr_arena_alloc(memory, count * (int64_t)sizeof *places);
    MPI_Datatype *types = wr_arena_alloc(memory, count * (int64_t)sizeof *types);
    if (!ones || !places || !types)
        return WEIR_ENOMEM;
    int result = MPI_SUCCESS;
    for (; made < count && result == MPI_SUCCESS; made += result == MPI_SUCCESS) {
        ones[made] = 1;
        PMPI_Get_address(lanes[made].memory, &places[made]);
        result = make_lane(&lanes[made], &types[made]);
    }
    if (result == MPI_SUCCESS)
        result = PMPI_Type_create_struct(count, ones, places, types, out);
    for (int i = 0; i < made; i++)
        PMPI_Type_free(&types[i]);
    if (result == MPI_SUCCESS)
        result = PMPI_Type_commit(out);
    return check(result, "datatype");
}

static int fill_side(wr_transport *t, int count, const wr_lane *lanes, wr_arena *memory, sides *out)
{
    out->counts = wr_arena_alloc(memory, t->size * (int64_t)sizeof(int));
    out->zeros = wr_arena_alloc(memory, t->size * (int64_t)sizeof(int));
    out->types = wr_arena_alloc(memory, t->size * (int64_t)sizeof(MPI_Datatype));
    if (!out->counts || !out->zeros || !out->types)
        return WEIR_ENOMEM;
    for (int i = 0; i < t->size; i++) {
        out->counts[i] = out->zeros[i] = 0;
        out->types[i] = MPI_BYTE;
    }
    for (int i = 0, n; i < count; i += n) {
        const int rank = lanes[i].rank;
        for (n = 1; i + n < count && lanes[i + n].rank == rank;)
            n++;
        int code = make_lanes(n, &lanes[i], memory, &out->types[rank]);
        if (code)
            return code;
        out->counts[rank] = 1;
    }
    return 0;
}

static void free_side(wr_transport *t, sides *s)
{
    for (int i = 0; s->types && s->counts && s->zeros && i < t->size; i++)
        if (s->counts[i])
            PMPI_Type_free(&s->types[i]);
}

/* Waits as for any message, so that other operations go on. */
static int wait_for(wr_transport *t, MPI_Request *request, const char *what)
{
    int done = 0, result = MPI_SUCCESS;
    for (int tries = 0; !done && result == MPI_SUCCESS;) {
        result = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            wr_transport_rest(t, &tries);
    }
    return check(result, what);
}

/* A lane leaves; `first` of those of its rank. */
static void count_lane(wr_transport *t, const wr_lane *lane, bool first)
{
    if (t->node_of[lane->rank] == t->node)
        return;
    wr_traffic *sum = &t->traffic[WR_TO_EXCHANGE];
    atomic_fetch_add_explicit(&sum->messages, first, memory_order_relaxed);
    atomic_fetch_add_explicit(&sum->bytes, lane->run * lane->count, memory_order_relaxed);
}

static int alltoall_mpi(wr_transport *t, int code, int sends, const wr_lane *send, int receives,
                        const wr_lane *receive)
{
    wr_arena memory = {0};
    sides out = {0}, in = {0};
    MPI_Request request;
    if (!code)
        code = fill_side(t, sends, send, &memory, &out);
    if (!code)
        code = fill_side(t, receives, receive, &memory, &in);
    code = wr_agree(t, WR_TAG_ALLTOALL, code); /* nobody is left alone in the collective */
    if (!code)
        code = check(PMPI_Ialltoallw(MPI_BOTTOM, out.counts, out.zeros, out.types, MPI_BOTTOM,
                                     in.counts, in.zeros, in.types, comm_of(t), &request),
                     "all-to-all");
    if (!code) {
        for (int i = 0; i < sends; i++)
            count_lane(t, &send[i], i == 0 || send[i].rank != send[i - 1].rank);
        code = wait_for(t, &request, "all-to-all");
    }
    free_side(t, &out);
    free_side(t, &in);
    wr_arena_release(&memory);
    return code;
}

static int copy_mpi(wr_transport *t, int tag, wr_transport **out);

static const wr_transport_ops mpi_ops = {
    .name = "mpi",
    .help = "messages by MPI, shared memory within a node",
    .close = close_mpi,
    .poke = poke_mpi,
    .send = send_mpi,
    .receive = receive_mpi,
    .test = test_mpi,
    .probe = probe_mpi,
    .alltoall = alltoall_mpi,
    .copy = copy_mpi,
};

/* The ranks that share memory with this one; of them every `ranks_per_node`, if that is not 0. */
static int split_node(wr_transport *t, int64_t ranks_per_node, MPI_Comm *out)
{
    MPI_Comm node;
    int place;
    int code =
        check(PMPI_Comm_split_type(comm_of(t), MPI_COMM_TYPE_SHARED, t->rank, MPI_INFO_NULL, &node),
              "find the ranks of this node");
    *out = node;
    if (code || ranks_per_node <= 0)
        return code;
    PMPI_Comm_rank(node, &place);
    code = check(PMPI_Comm_split(node, (int)(place / ranks_per_node), place, out), "divide a node");
    PMPI_Comm_free(&node);
    return code;
}

/* Numbers the nodes: a rank's is that of the lowest rank of its node. */
static int find_nodes(wr_transport *t, int64_t ranks_per_node, int *node_of, int64_t *cores)
{
    MPI_Comm node;
    int code = split_node(t, ranks_per_node, &node);
    if (code)
        return code;
    int first = t->rank;
    cpu_set_t own, all;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    all = own; /* a bound rank knows its own cores only */
    code = check(PMPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node), "count cores");
    *cores = wr_cores_of(&all);
    if (!code)
        code = check(PMPI_Bcast(&first, 1, MPI_INT, 0, node), "find the first rank of this node");
    PMPI_Comm_free(&node);
    if (!code)
        code = check(PMPI_Allgather(&first, 1, MPI_INT, node_of, 1, MPI_INT, comm_of(t)),
                     "find nodes");
    for (int i = 0, nodes = 0; !code && i < t->size; i++)
        node_of[i] = node_of[i] == i ? nodes++ : node_of[node_of[i]];
    return code;
}

static void find_host(wr_transport *t)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;
    PMPI_Get_processor_name(name, &length);
    snprintf(t->host, sizeof t->host, "%s", name);
}

/* Nothing here can fail on one rank alone, short of MPI itself. */
static int open_on(wr_transport *t, const wr_tunables *tunables, int *numbers)
{
    int64_t cores;
    int code = find_nodes(t, tunables->ranks_per_node, numbers, &cores);
    if (code)
        return code;
    wr_transport_place(t, numbers);
    if (!tunables->ranks_per_node)
        find_host(t);
    t->multiple = wr_mpi_level() == MPI_THREAD_MULTIPLE;
    t->real = true;
    t->cores = (int)cores;
    t->spins = cores >= t->local_size ? SPINS : 0;
    return 0;
}

/* All ranks' codes, and the first bad rank's details if it can tell them. */
static int agree(MPI_Comm comm, int code)
{
    int rank, size;
    weir_error details = *weir_error_last();
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    int first = code ? rank : size, lowest = size;
    int lost = check(PMPI_Allreduce(&first, &lowest, 1, MPI_INT, MPI_MIN, comm), "agree");
    if (lost || lowest == size)
        return lost;
    details.rank = rank;
    lost = check(PMPI_Bcast(&details, sizeof details, MPI_BYTE, lowest, comm), "agree");
    return lost ? lost : wr_error_raise(&details);
}

/* Rank 0's tunables for all. */
static int unify(MPI_Comm comm, wr_tunables *tunables, bool *differed)
{
    wr_tunables own = *tunables;
    int code = check(PMPI_Bcast(tunables, sizeof *tunables, MPI_BYTE, 0, comm), "share tunables");
    *differed = !code && memcmp(&own, tunables, sizeof own) != 0;
    return code;
}

/* The transport, its state and their numbers; all or none. */
static wr_transport *alloc_all(MPI_Comm own, int **numbers)
{
    int rank, size;
    PMPI_Comm_rank(own, &rank);
    PMPI_Comm_size(own, &size);
    wr_transport *t = wr_alloc(sizeof *t);
    mpi_state *s = t ? wr_alloc(sizeof *s) : NULL;
    *numbers = s ? wr_alloc_array(WR_NUMBERS * (int64_t)size, sizeof **numbers) : NULL;
    if (!*numbers) {
        wr_free(s);
        wr_free(t);
        return NULL;
    }
    *s = (mpi_state){own, NULL};
    *t = (wr_transport){.ops = &mpi_ops, .rank = rank, .size = size, .state = s};
    return t;
}

static int copy_mpi(wr_transport *t, int tag, wr_transport **out)
{
    int *numbers = NULL;
    MPI_Request request;
    wr_transport *copy = alloc_all(comm_of(t), &numbers);
    int code = wr_agree(t, tag, copy ? 0 : WEIR_ENOMEM);
    if (!copy)
        return code;
    mpi_state *s = copy->state;
    *s = (mpi_state){MPI_COMM_NULL, t->state};
    memcpy(numbers, t->node_of, (size_t)t->size * sizeof *numbers);
    wr_transport_place(copy, numbers);
    copy->multiple = t->multiple;
    copy->cores = t->cores;
    copy->spins = t->spins;
    copy->idle = t->idle;
    copy->idle_user = t->idle_user;
    if (!code) /* not the blocking form, which keeps operations under way from going on */
        code = check(PMPI_Comm_idup(comm_of(t), &s->comm, &request), "copy the communicator");
    if (!code)
        code = wait_for(t, &request, "copy the communicator");
    if (code) {
        wr_transport_close(copy);
        return code;
    }
    PMPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    *out = copy;
    return 0;
}

int wr_transport_open_mpi(MPI_Comm comm, int code, wr_tunables *tunables, bool *differed,
                          wr_transport **out)
{
    int rank, between = 0, *numbers = NULL;
    MPI_Comm own = MPI_COMM_NULL;
    int lost = check(PMPI_Comm_rank(comm, &rank), "use the communicator");
    PMPI_Comm_test_inter(comm, &between);
    if (!lost && between)
        return wr_fail(WEIR_EINVAL, "an intercommunicator cannot be used");
    if (!lost)
        lost = check(PMPI_Comm_split(comm, 0, rank, &own), "split the communicator");
    if (lost)
        return lost; /* MPI itself fails: there is nobody to agree with */
    PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    wr_transport *t = code ? NULL : alloc_all(own, &numbers);
    code = agree(own, t || code ? code : WEIR_ENOMEM);
    if (!code)
        code = unify(own, tunables, differed);
    if (!code && t)
        code = open_on(t, tunables, numbers);
    if (!code && t) {
        *out = t;
        return 0;
    }
    if (t && !t->node_of)
        wr_free(numbers);
    if (t)
        wr_transport_close(t);
    else
        PMPI_Comm_free(&own);
    return code;
}
