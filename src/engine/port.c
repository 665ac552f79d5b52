/* Moving covers, locks, and what a plan is made from. */
#include "engine/port.h"

#include <errno.h>
#include <string.h>

#include "base/arith.h"
#include "engine/council.h"
#include "engine/idle.h"
#include "pattern/cursor.h"
#include "plan/seats.h"
#include "storage/lock.h"

enum { BATCHES = 64 };

/* Whether all ranks can meet in a hall. */
static bool can_share(const wr_port *port)
{
    const wr_transport *t = port->world->transport;
    return t->nodes == 1 && t->local_size <= WR_HALL_RANKS && !port->channel.apart;
}

wr_plan_input wr_port_input(const wr_port *port, enum wr_direction direction,
                            const wr_summary *wanted, int64_t file_size)
{
    const wr_transport *ranks = port->world->transport;
    wr_plan_input in = wr_plan_input_tuned(direction, &port->tunables, port->price);
    in.ranks = ranks->size;
    in.nodes = ranks->nodes;
    in.shared = can_share(port);
    if (port->channel.apart && in.exchange != WR_EXCHANGE_ALLTOALL)
        in.exchange = WR_EXCHANGE_P2P;
    in.seats = port->seats;
    in.cores = port->cores;
    in.wanted = *wanted;
    in.file_size = file_size;
    in.unit = port->unit;
    in.origin = port->origin;
    in.align = wr_max(in.align, port->align);
    in.disks = port->storage->facts.disks;
    if (in.disks)
        in.stripe = port->storage->facts.stripe;
    if (port->block && in.realms == WR_REALMS_PERSISTENT) {
        in.base = port->base;
        in.block = port->block;
        in.aggregators = port->owners;
        in.seats = port->owners > port->seats ? in.ranks : port->seats;
    }
    in.custom = port->custom.count;
    in.realms = in.custom ? WR_REALMS_CUSTOM : in.realms;
    in.behind = in.behind && !in.custom && !port->atomic;
    in.custom_hash = port->custom_hash;
    in.given = in.custom ? &port->custom : NULL;
    in.blind = direction == WR_WRITE && !wr_port_may_modify(port);
    return in;
}

int wr_port_demand_all(const wr_port *port, int64_t stop)
{
    if (stop == INT64_MAX)
        return 0;
    wr_fail(WEIR_EIO, "the file has ended where there must be data");
    wr_error_note_file(port->storage->path, stop);
    return WEIR_EIO;
}

bool wr_port_by_messages(const wr_port *port)
{
    return wr_plan_by_messages(port->tunables.exchange.which, can_share(port));
}

/* [collective] How many ranks of each node may be aggregators, by node. */
static int count_seats(wr_port *port, const char *text, int64_t *seats)
{
    const wr_transport *t = port->world->transport;
    int64_t most;
    int code = wr_seats_of(text, t->host, &most); /* the same on all ranks */
    for (int node = 0, n; node < t->nodes && !code; node += n) {
        n = (int)wr_min(t->nodes - node, WR_COUNCIL_VALUES);
        for (int i = 0; i < n; i++)
            seats[node + i] =
                node + i == t->node && t->local_rank == 0 ? wr_min(most, t->local_size) : 0;
        code = wr_council_reduce(&port->channel, WR_SUM, n, &seats[node]);
    }
    return code;
}

/* [collective] The first so many of each node; NULL, and all ranks, where that comes to none. */
static int find_seats(wr_port *port, const char *text, int64_t *count, int **out)
{
    const wr_transport *t = port->world->transport;
    int64_t *seats = wr_alloc_array(t->nodes, sizeof *seats);
    int *seat = wr_alloc_array(t->size, sizeof *seat);
    int code = wr_council_agree(&port->channel, seats && seat ? 0 : WEIR_ENOMEM);
    if (seats && !code)
        code = count_seats(port, text, seats);
    *count = 0;
    for (int place = 0; seats && seat && !code && place < t->size; place++) {
        int64_t *left = &seats[t->node_of[t->by_node[place]]];
        if (*left > 0)
            seat[(*count)++] = place;
        --*left;
    }
    wr_free(seats);
    if (!code && !*count && t->rank == 0)
        wr_log_line(&port->world->log, WR_LOG_WARN,
                    "aggregator_hosts=%.80s names no host that has ranks: all may be aggregators",
                    text);
    if (code || !*count)
        wr_free(seat);
    *out = code || !*count ? NULL : seat;
    *count = *count ? *count : t->size;
    return code;
}

int wr_port_prepare(wr_port *port, const wr_tunables *tunables)
{
    wr_transport *t = port->world->transport, *wide = port->wide;
    int64_t seats = t->size;
    int *seat = NULL;
    int code = *tunables->aggregator_hosts
                   ? find_seats(port, tunables->aggregator_hosts, &seats, &seat)
                   : 0;
    if (!code && tunables->exchange.which == WR_EXCHANGE_ALLTOALL && !port->wide)
        code = wr_agree(t, port->channel.tag, t->ops->copy(t, port->channel.tag, &wide));
    if (code) {
        if (wide != port->wide)
            wr_transport_close(wide);
        wr_free(seat);
        return code;
    }
    port->wide = wide;
    wr_free(port->seat);
    port->seat = seat;
    port->seats = seats;
    return 0;
}

void wr_port_end_regions(wr_port *port)
{
    wr_idle_take(port);
    wr_port_close_regions(port);
}

void wr_port_close_regions(wr_port *port)
{
    wr_hall_close(&port->hall);
    wr_region_close(&port->requests);
    atomic_fetch_sub(&port->world->in_flight, port->in_flight);
    port->in_flight = 0;
}

/* Zeroes what a read did not bring. */
static void zero_missing(const wr_transfer *t)
{
    int64_t bytes = wr_transfer_bytes(t); /* memory of a cover is contiguous */
    memset(t->memory + t->done, 0, (size_t)(bytes - t->done));
}

/* What is left of a transfer that came back short, as a transfer: the rest of a run, or whole runs.
 * */
static wr_transfer rest_of(const wr_transfer *t)
{
    int64_t runs = t->done / t->run, part = t->done % t->run;
    wr_transfer rest = *t;
    rest.offset += runs * t->stride + part;
    rest.memory += runs * t->memory_stride + part;
    rest.run = t->run - part;
    rest.count = part ? 1 : t->count - runs;
    rest.done = 0;
    rest.error = 0;
    rest.next = NULL;
    return rest;
}

int wr_port_judge(wr_port *port, wr_transfer *t)
{
    while (!t->error && t->direction == WR_READ && t->done < wr_transfer_bytes(t)) {
        int64_t size, missing = wr_transfer_missing(t);
        int code = wr_storage_get_size(port->storage, &size);
        if (code || missing >= size)
            return code;
        /* the file has grown since, or more is wrong: what is there must be read */
        wr_transfer rest = rest_of(t);
        rest.user = NULL;
        wr_storage_submit(port->storage, &rest);
        wr_storage_reap(port->storage, true);
        t->done += rest.done;
        t->error = rest.error ? rest.error : rest.done ? 0 : EIO;
    }
    return t->done < wr_transfer_bytes(t) ? wr_transfer_check(port->storage, t) : 0;
}

void wr_port_reap_all(wr_port *port)
{
    const wr_transfer *t;
    while ((t = wr_storage_reap(port->storage, true)))
        wr_passage_note(t);
}

int wr_port_look(wr_port *port, int count, wr_transfer *transfers, int64_t *valid)
{
    int code = 0;
    for (int i = 0; i < count; i++) {
        wr_transfer *t = &transfers[i];
        if (t->done == wr_transfer_bytes(t))
            continue;
        int one = wr_port_judge(port, t);
        code = code ? code : one;
        if (t->done == wr_transfer_bytes(t))
            continue;
        *valid = wr_min(*valid, wr_transfer_missing(t));
        if (t->direction == WR_READ)
            zero_missing(t);
    }
    return code;
}

int wr_port_move_held(wr_port *port, enum wr_direction direction, const weir_pattern *cover,
                      char *buffer, int64_t *valid)
{
    wr_transfer transfers[BATCHES];
    wr_cursor c;
    wr_batch b;
    int used = 0, code = 0;
    int64_t start = wr_sample_start(&port->samples), runs = 0;
    wr_cursor_init(&c, cover);
    *valid = INT64_MAX;
    while (!code && wr_cursor_next(&c, INT64_MAX, &b)) {
        runs += b.count;
        transfers[used] = wr_port_transfer(direction, &b, buffer);
        wr_storage_submit(port->storage, &transfers[used++]);
        if (used == BATCHES) {
            wr_port_reap_all(port);
            code = wr_port_look(port, used, transfers, valid);
            used = 0;
        }
    }
    wr_port_reap_all(port);
    int last = wr_port_look(port, used, transfers, valid);
    code = code ? code : last;
    if (!code && *valid == INT64_MAX)
        wr_sample_end(&port->samples, direction, start, runs, weir_pattern_bytes(cover));
    return code;
}

int wr_port_move(wr_port *port, enum wr_direction direction, const weir_pattern *cover,
                 char *buffer, int64_t *valid)
{
    pthread_mutex_lock(&port->moving);
    int code = wr_port_move_held(port, direction, cover, buffer, valid);
    pthread_mutex_unlock(&port->moving);
    return code;
}

/* Where locks have run out, writes without holes go on without: nobody reads before writing there,
 * because that is refused. */
static int forgive(int code, enum wr_lock_kind kind)
{
    int errnum = code < 0 && kind == WR_LOCK_SHARED ? weir_error_last()->errnum : 0;
    return errnum == ENOLCK || errnum == ENOSYS || errnum == EOPNOTSUPP ? 0 : code;
}

/* Who cannot read cannot lock shared either, and does not modify. */
static enum wr_lock_kind kind_for(const wr_port *port, enum wr_lock_kind kind)
{
    return port->can_read ? kind : WR_LOCK_EXCLUSIVE;
}

/* What needs more than a table of this process's locks. */
static int check_locks(const wr_port *port)
{
    if (!port->lockless || !port->atomic)
        return 0;
    wr_fail(WEIR_EUNSUPPORTED, "no atomic mode: the file system has no range locks");
    wr_error_note_file(port->storage->path, -1);
    return WEIR_EUNSUPPORTED;
}

int wr_port_lock(wr_port *port, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    wr_waiter waiter = wr_transport_waiter(port->world->transport, true);
    int code = check_locks(port);
    if (code)
        return code;
    return forgive(wr_range_lock(port->storage, kind_for(port, kind), lo, hi, &waiter), kind);
}

int wr_port_try(wr_port *port, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    int code = wr_range_try(port->storage, kind_for(port, kind), lo, hi);
    return code == 1 ? WR_BUSY : forgive(code, kind);
}

int wr_port_fail_late(wr_port *port, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    return wr_range_fail_late(port->storage, kind_for(port, kind), lo, hi);
}

void wr_port_unlock(wr_port *port, int64_t lo, int64_t hi)
{
    wr_range_unlock(port->storage, lo, hi);
}

/* Unlocks the cover's runs below offset `end`. */
static void unlock_runs(wr_port *port, const weir_pattern *cover, int64_t end)
{
    wr_cursor c;
    wr_batch b;
    for (wr_cursor_init(&c, cover); wr_cursor_next_run(&c, INT64_MAX, &b) && b.offset < end;)
        wr_port_unlock(port, b.offset, b.offset + b.run);
}

int wr_port_try_window(wr_port *port, const wr_window *w, enum wr_lock_kind kind, bool scattered)
{
    int code = 0;
    wr_cursor c;
    wr_batch b;
    if (!scattered)
        return wr_port_try(port, kind, w->lo, w->hi);
    wr_cursor_init(&c, w->cover);
    while (!code && wr_cursor_next_run(&c, INT64_MAX, &b)) {
        code = wr_port_try(port, kind, b.offset, b.offset + b.run);
        if (code)
            unlock_runs(port, w->cover, b.offset);
    }
    return code;
}

void wr_port_unlock_window(wr_port *port, const wr_window *w, bool scattered)
{
    if (scattered)
        unlock_runs(port, w->cover, INT64_MAX);
    else
        wr_port_unlock(port, w->lo, w->hi);
}
