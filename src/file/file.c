/* Opening, closing, size, sync, and the checks before an access. */
#include "file/inside.h"

#include <errno.h>
#include <string.h>

#include "access/direct_read.h"
#include "base/cores.h"
#include "base/timer.h"
#include "file/following.h"
#include "file/pointer.h"
#include "file/same_file.h"
#include "plan/realms.h"
#include "storage/costs.h"
#include "storage/patience.h"

/* What rank 0 finds out for all. */
typedef struct agreed {
    int code;
    weir_error error;
    wr_tunables tunables;
    wr_price cost[2];
    wr_link link;
    int64_t cores;
    wr_file_mark mark;
    int64_t identity;
} agreed;

static int check_mode(int mode)
{
    int known = WEIR_READ | WEIR_WRITE | WEIR_CREATE | WEIR_EXCLUSIVE | WEIR_TRUNCATE | WEIR_SOLE;
    if (mode & ~known || !(mode & (WEIR_READ | WEIR_WRITE)))
        return wr_fail(WEIR_EINVAL, "mode %d: neither reading nor writing, or unknown", mode);
    if (mode & WEIR_TRUNCATE && !(mode & WEIR_WRITE))
        return wr_fail(WEIR_EINVAL, "a file opened for reading only cannot be truncated");
    return 0;
}

/* Those of rank 0's node; where ranks are threads, those of the process. */
static int64_t count_cores(const wr_transport *t)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (t->cores)
        return t->cores;
    sched_getaffinity(0, sizeof cores, &cores);
    return wr_cores_of(&cores);
}

/* The world's tunables, which hold the environment, and hints, which are weaker. */
static int mix_hints(const wr_world *w, const char *hints, wr_tunables *out)
{
    int code = 0;
    *out = w->tunables;
    if (hints) {
        wr_tunables_init(out);
        code = wr_tunables_set_hints(out, hints);
    }
    if (!code && hints)
        code = wr_tunables_set_environment(out);
    out->ranks_per_node = w->tunables.ranks_per_node;
    return code;
}

static int find_out(wr_world *w, const wr_opening *how, agreed *a)
{
    int code = mix_hints(w, how->hints, &a->tunables);
    a->cores = count_cores(w->transport);
    if (how->at_once)
        a->tunables.write_behind.which = 0;
    return code ? code : wr_tunables_settle(&a->tunables);
}

/* On another node than rank 0. */
static bool is_elsewhere(const wr_transport *t)
{
    return t->node != t->node_of[0];
}

static int flags_of(int mode)
{
    return (mode & WEIR_READ ? WR_OPEN_READ : 0) | (mode & WEIR_WRITE ? WR_OPEN_WRITE : 0) |
           (mode & WEIR_CREATE ? WR_OPEN_CREATE : 0) |
           (mode & WEIR_EXCLUSIVE ? WR_OPEN_EXCLUSIVE : 0) |
           (mode & WEIR_TRUNCATE ? WR_OPEN_TRUNCATE : 0);
}

static int open_storage(weir_file *f, const wr_opening *how, int mode)
{
    wr_world *w = f->group.handle.world;
    wr_storage_options options = {.tunables = &f->group.handle.tunables,
                                  .log = &w->log,
                                  .budget = &w->budget,
                                  .events = w->events,
                                  .watch = &f->group.handle.watch,
                                  .members = how->members,
                                  .folder = how->folder,
                                  .ops = how->ops,
                                  .given = how->given,
                                  .patient = f->one_name && is_elsewhere(w->transport)};
    int flags = flags_of(mode);
    f->group.handle.can_read = true;
    if (wr_file_opens_later(f))
        return wr_storage_open_later(how->path, &options, &f->group.handle.storage);
    /* a write may have to read first */
    if (mode & WEIR_WRITE) {
        int code =
            wr_storage_open(how->path, flags | WR_OPEN_READ, &options, &f->group.handle.storage);
        f->group.handle.can_read = !code;
        if (!code || code != WEIR_EACCESS)
            return code;
    }
    f->group.handle.can_read = mode & WEIR_READ;
    return wr_storage_open(how->path, flags, &options, &f->group.handle.storage);
}

/* What rank 0 has open, `mark`: the own host may remember for a while that there was no file of
 * that name, or another. */
static int open_likewise(weir_file *f, const wr_opening *how, const wr_file_mark *mark)
{
    const wr_transport *t = f->group.handle.world->transport;
    const bool elsewhere = f->one_name && is_elsewhere(t);
    wr_storage **s = &f->group.handle.storage;
    wr_patience patience = wr_patience_start(elsewhere);
    int code = open_storage(f, how, how->mode & (WEIR_READ | WEIR_WRITE));
    while (!code && (*s)->facts.mark.number && !wr_file_mark_meets(&(*s)->facts.mark, mark)) {
        wr_fail_system(ESTALE, how->path, -1, "open");
        if (!wr_patience_again(&patience, how->path))
            return 0; /* then they are compared */
        wr_storage_close(*s);
        *s = NULL;
        code = open_storage(f, how, how->mode & (WEIR_READ | WEIR_WRITE));
    }
    if (code == WEIR_ENOENT && elsewhere) {
        wr_fail(code, "host %.60s sees no file of this name (is the folder shared?)", t->host);
        wr_error_note_file(how->path, -1);
    }
    return code;
}

static void settle(wr_group *p, const agreed *a)
{
    p->handle.tunables = a->tunables;
    wr_write_behind_init(&p->handle.write_behind, a->tunables.write_behind_memory);
    p->handle.cores = a->cores;
    p->unit = p->align = 1;
}

/* What nobody has set is as the file system says; by rank 0. */
static void adopt_stripe(wr_tunables *t, const wr_storage_facts *facts)
{
    if (!t->striping_unit && t->realm_align <= 1)
        t->striping_unit = facts->dealt.bytes;
}

/* By rank 0: how the file system deals the file, which is the first of several. */
static void ask_stripe(wr_group *p, const wr_opening *how, agreed *a)
{
    wr_storage_facts *facts = &p->handle.storage->facts;
    bool many = how->members && how->members->count;
    if (many)
        wr_storage_ask_system(how->members->member[0].path, &p->handle.tunables, facts);
    if (!facts->disks && p->handle.tunables.storage.which != WR_STORAGE_MEM)
        facts->dealt =
            wr_system_stripe_ask(many ? how->members->member[0].path : how->path, facts->local);
    if (facts->dealt.bytes)
        wr_log_line(&p->handle.world->log, WR_LOG_INFO,
                    facts->dealt.servers ? "%s: stripes of %lld bytes over %lld servers"
                                         : "%s: the file system prefers blocks of %lld bytes",
                    p->handle.storage->path, (long long)facts->dealt.bytes,
                    (long long)facts->dealt.servers);
    adopt_stripe(&a->tunables, facts);
    p->handle.tunables.striping_unit = a->tunables.striping_unit;
}

/* Whether what is to be written can be locked, or, between nodes, used by a shared pointer; of
 * several files rank 0 asks the first. */
static bool can_lock(const wr_group *p, const wr_opening *how)
{
    const wr_transport *t = p->handle.world->transport;
    bool writes = how->mode & WEIR_WRITE && !how->members;
    bool asks = writes || (t->rank == 0 && (how->mode & WEIR_WRITE || t->nodes > 1));
    return !asks || wr_range_probe(p->handle.storage);
}

/* Nobody may read, modify and write then, unless nobody else has the file. Not in collective calls
 * either: realms keep aggregators apart, but nothing keeps them apart from what a rank writes alone
 * at the same time, by a request, a thread or another handle, which is legal in their holes. */
static void go_without_locks(wr_group *p, bool writes)
{
    if (p->handle.world->transport->rank == 0 && writes && !p->handle.sole)
        wr_log_line(&p->handle.world->log, WR_LOG_WARN,
                    "%s: the file system has no range locks: writes with holes go run by run",
                    p->handle.storage->path);
    p->handle.lockless = !p->handle.sole;
    wr_range_go_without(p->handle.storage);
}

/* What follows from the kind of file system. */
static void set_coherence(wr_group *p, int mode, bool weak)
{
    wr_handle *handle = &p->handle;
    const wr_transport *t = handle->world->transport;
    handle->weak = weak;
    handle->owned = weak && t->nodes > 1 && mode & WEIR_WRITE;
    const bool claimed = handle->tunables.coherence.which == WR_COHERENCE_STRONG;
    if (t->rank == 0)
        wr_log_line(&handle->world->log, WR_LOG_INFO, "%s: file system %s: %s",
                    handle->storage->path, handle->storage->facts.kind,
                    weak      ? "weak: hosts see each other's writes after a sync; every byte has "
                                "one owner until then (docs/coherence.md)"
                    : claimed ? "coherence=strong was set: if hosts cache it, they read old data"
                    : handle->storage->facts.local ? "this machine's own"
                                                   : "hosts see what others write");
}

/* [collective] All have it open, and all the same one: names may differ, files not. What plans and
 * locks depend on becomes the same on all ranks. */
static int agree_on_file(weir_file *f, const wr_opening *how, int code)
{
    enum {
        PROOF,
        NOT_PROOF,
        LOOK,
        NOT_LOOK,
        KERNEL,
        NOT_KERNEL,
        FAILED,
        BLIND,
        ALIGNMENT,
        LOCKLESS,
        WEAK,
        CARRIES,
        REMOTE,
        WORDS
    };
    wr_group *p = &f->group;
    int64_t all[WORDS] = {[FAILED] = code != 0, [BLIND] = !p->handle.can_read};
    if (p->handle.ready) {
        const wr_likeness own = wr_file_likeness(f);
        const int64_t same[] = {own.proof, own.look, own.kernel};
        for (int i = 0; i < 3; i++) {
            all[PROOF + 2 * i] = same[i];
            all[PROOF + 2 * i + 1] = ~same[i];
        }
    }
    if (p->handle.ready && p->handle.storage->facts.direct)
        all[ALIGNMENT] = p->handle.storage->facts.alignment;
    all[LOCKLESS] = p->handle.ready && !can_lock(p, how);
    all[WEAK] = p->handle.ready && p->handle.storage->facts.weak;
    all[CARRIES] = p->handle.ready && p->handle.storage->facts.carries;
    all[REMOTE] = p->handle.ready && !p->handle.storage->facts.local;
    if (all[WEAK]) /* a page that a host keeps has one owner */
        all[ALIGNMENT] |= wr_page_bytes();
    int lost = wr_channel_reduce(&p->channel, WR_OR, WORDS, all);
    if (lost || all[FAILED])
        return lost ? lost : wr_channel_agree(&p->channel, code);
    const bool proven = !(all[PROOF] & all[NOT_PROOF]);
    if (!proven && (all[LOOK] & all[NOT_LOOK] || !(all[KERNEL] & all[NOT_KERNEL])))
        code = wr_file_compare(f, how);
    if (code)
        return code;
    p->handle.can_read = !all[BLIND];
    p->handle.open_flags = flags_of(how->mode & (WEIR_READ | WEIR_WRITE));
    if (p->handle.can_read)
        p->handle.open_flags |= WR_OPEN_READ;
    if (all[LOCKLESS])
        go_without_locks(p, how->mode & WEIR_WRITE);
    while (p->align < all[ALIGNMENT]) /* powers of two */
        p->align *= 2;
    p->handle.carries = all[CARRIES];
    p->handle.local = !all[REMOTE];
    set_coherence(p, how->mode, all[WEAK]);
    return 0;
}

/* Rank 0 first, as it is told, and tells how that went; the others then find the file there. */
static int open_in_turn(weir_file *f, const wr_opening *how)
{
    wr_group *p = &f->group;
    wr_transport *t = p->handle.world->transport;
    agreed a = {0};
    wr_pointer_init(f);
    if (t->rank == 0) {
        a.link = p->handle.world->link;
        a.code = find_out(p->handle.world, how, &a);
        settle(p, &a);
        if (!a.code)
            a.code = open_storage(f, how, how->mode);
        if (!a.code)
            ask_stripe(p, how, &a);
        if (!a.code)
            wr_costs_get(&p->handle.world->process->costs, &p->handle.storage->facts,
                         &p->handle.tunables, a.cost);
        if (!a.code) {
            a.mark = p->handle.storage->facts.mark;
            a.identity = p->handle.storage->facts.identity;
        }
        if (a.code) {
            wr_error_note_rank(0);
            a.error = *weir_error_last();
        }
    }
    int code = wr_channel_broadcast(&p->channel, &a, sizeof a);
    if (!code && a.code)
        return wr_error_raise(&a.error);
    f->follows = f->one_name && !how->members && !how->ops &&
                 a.tunables.independent.which != WR_INDEPENDENT_ENABLE;
    if (!code && t->rank) {
        settle(p, &a);
        code = open_likewise(f, how, &a.mark);
    }
    f->identity = a.identity;
    for (int i = 0; i < 2; i++)
        p->handle.price[i] = a.cost[i];
    p->handle.link = a.link;
    p->handle.sole = how->mode & WEIR_SOLE && t->size == 1;
    code = agree_on_file(f, how, wr_file_follow(f, code));
    f->mode = how->mode;
    if (!code)
        code = wr_pointer_open(f);
    return code ? code : wr_group_prepare(p, &p->handle.tunables);
}

/* [collective] One reduction tells whether anybody has failed, whether all want the same, by one
 * name, and which channels are taken. */
static int meet(wr_world *world, const wr_opening *how, int code, int64_t *words, bool *one_name)
{
    enum { MODE = WR_CHANNEL_WORDS, NOT_MODE, SAME, NOT_SAME, NAME, NOT_NAME, FAILED, WORDS };
    const int64_t name = code ? 0 : wr_name_hash(how->path);
    int64_t all[WORDS] = {[NAME] = name,       [NOT_NAME] = ~name,
                          [MODE] = how->mode,  [NOT_MODE] = ~(int64_t)how->mode,
                          [SAME] = how->same,  [NOT_SAME] = ~how->same,
                          [FAILED] = code != 0};
    wr_channels_taken(world, all);
    int lost = wr_channel_reduce(&world->channel, WR_OR, WORDS, all);
    if (lost || all[FAILED])
        return lost ? lost : wr_channel_agree(&world->channel, code);
    if (all[MODE] & all[NOT_MODE] || all[SAME] & all[NOT_SAME])
        return wr_fail(WEIR_EDISAGREE, "ranks open the file in different modes");
    memcpy(words, all, WR_CHANNEL_WORDS * sizeof *words);
    *one_name = !(all[NAME] & all[NOT_NAME]);
    return 0;
}

/* Everything but the memory of the file itself, by local actions. */
static void let_go(weir_file *f)
{
    wr_write_behind_release(&f->group.handle.write_behind);
    wr_map_close(&f->group.handle.map);
    wr_direct_reader_close(f->group.handle.direct_reader);
    f->group.handle.direct_reader = NULL;
    wr_pointer_close(f);
    wr_pointer_remove(f);
    wr_storage_close(f->group.handle.storage); /* first: what it has under way uses the rest */
    f->group.handle.storage = NULL;
    for (int i = 0; i < 2; i++)
        wr_window_cache_release(&f->group.window_cache[i]);
    wr_custom_release(&f->group.custom);
    wr_group_end_regions(&f->group);
    wr_transport_close(f->group.wide);
    f->group.wide = NULL;
    wr_free(f->group.seat);
    f->group.seat = NULL;
    wr_channel_close(&f->group.channel);
}

static void evict(wr_world_user *world_user)
{
    weir_file *f = (weir_file *)(void *)world_user;
    wr_file_finish(f, true);
    if (f->group.handle.storage &&
        wr_write_behind_flush_last(&f->group.handle)) /* close returns an error anyway */
        wr_log_line(&f->group.handle.world->log, WR_LOG_ERROR, "%s", weir_error_last()->text);
    let_go(f);
    f->group.handle.world = NULL;
}

static void discard(weir_file *f)
{
    wr_request_free(f->spare);
    wr_handle_release(&f->group.handle);
    pthread_mutex_destroy(&f->lock);
    wr_free(f);
}

static void release(weir_file *f)
{
    wr_world *world = f->group.handle.world;
    let_go(f);
    wr_world_part(world, &f->world_user);
    discard(f);
}

/* MPI_Finalize has closed the file. */
static int check_alive(const weir_file *f)
{
    return f->group.handle.world ? 0
                                 : wr_fail(WEIR_ETRANSPORT, "MPI has ended, and closed the file");
}

/* Other collective calls come after those that are under way. */
int wr_file_settle(weir_file *f)
{
    int code = check_alive(f);
    if (!code)
        wr_operations_settle(&f->group.operations, f->group.handle.world);
    return code;
}

/* [collective] Whatever hosts have stored is seen by all: of ranks that have the same open one a
 * node looks. */
static int refresh(weir_file *f)
{
    wr_handle *handle = &f->group.handle;
    if (!handle->weak)
        return 0;
    const bool looks = !f->follows || handle->world->transport->local_rank == 0;
    int code = looks ? wr_handle_sync(handle, WR_SYNC_REFRESH) : 0;
    code = wr_channel_agree(&f->group.channel, code);
    if (!code)
        handle->aged = f->group.unsettled = false;
    return code;
}

/* [collective] Whatever was written is stored, and seen by all. */
static int sync_all(weir_file *f)
{
    wr_handle *handle = &f->group.handle;
    int code = wr_write_behind_flush(handle);
    weir_error error = *weir_error_last();
    const bool wrote = atomic_exchange(&handle->wrote_alone, false);
    int unsynced = wr_file_sync_node(f);
    code = wr_channel_agree(&f->group.channel, code ? wr_error_raise(&error) : unsynced);
    f->group.learned.keeps = f->group.learned.keeps && code;
    if (!code)
        code = refresh(f);
    if (code && wrote)
        handle->wrote_alone = true;
    return code;
}

/* [collective] What aggregators keep gets into the file, and what their hosts keep is seen by all.
 */
static int flush(weir_file *f)
{
    if (f->group.handle.weak)
        return sync_all(f);
    if (!f->group.learned.keeps)
        return 0;
    int code = wr_channel_agree(&f->group.channel, wr_write_behind_flush(&f->group.handle));
    f->group.learned.keeps = code != 0;
    return code;
}

int wr_file_open_as(wr_world *world, const wr_opening *how, weir_file **out)
{
    int64_t words[WR_CHANNEL_WORDS];
    weir_request *spare = NULL;
    weir_file *f = wr_alloc(sizeof *f);
    int code = how->code ? how->code : f ? check_mode(how->mode) : WEIR_ENOMEM;
    if (!code)
        code = wr_request_new_spare(&spare);
    bool one_name = false;
    code = meet(world, how, code, words, &one_name);
    if (!code && f) {
        *f = (weir_file){.spare = spare, .one_name = one_name};
        wr_group_init(&f->group, world);
        pthread_mutex_init(&f->lock, NULL);
        code = wr_channel_take(world, words, &f->group.channel);
        if (!code)
            f->group.inner = wr_channel_inner(&f->group.channel);
    }
    if (code || !f) {
        wr_request_free(spare);
        wr_free(f);
        return code;
    }
    if (world->process->profile)
        f->group.handle.watch.file = wr_profile_file(world->process->profile, how->path);
    wr_world_join(world, &f->world_user, evict);
    wr_timer timing;
    wr_file_begin_rest(f, &timing);
    code = open_in_turn(f, how);
    wr_file_end_rest(&timing);
    if (code) {
        release(f);
        return code;
    }
    *out = f;
    return 0;
}

int weir_file_remove(const char *path)
{
    return wr_storage_remove(path);
}

/* For WEIR_LOG=debug: what this rank has sent to other nodes on the communicator so far. */
static void log_traffic(wr_world *w)
{
    const wr_transport *t = w->transport;
    const wr_traffic *agree = &t->traffic[WR_TO_AGREE], *exchange = &t->traffic[WR_TO_EXCHANGE];
    if (w->log.level < WR_LOG_DEBUG || t->nodes == 1)
        return;
    wr_log_line(&w->log, WR_LOG_DEBUG,
                "rank %d to other nodes: %lld messages, %lld bytes to exchange data; "
                "%lld messages, %lld bytes to agree",
                t->rank, (long long)exchange->messages, (long long)exchange->bytes,
                (long long)agree->messages, (long long)agree->bytes);
}

/* Where another host has removed the file, hosts may not be able to store what they still have. */
static int close_storage(weir_file *f)
{
    int code = wr_storage_close(f->group.handle.storage);
    f->group.handle.storage = NULL;
    return f->removed ? 0 : code;
}

/* Everyone has stopped using it before anyone lets go. */
int weir_file_close(weir_file *file)
{
    if (check_alive(file)) {
        discard(file);
        return WEIR_ETRANSPORT;
    }
    wr_waiter waiter = wr_transport_waiter(file->group.handle.world->transport, true);
    wr_profile *profile = file->group.handle.watch.profile;
    wr_timer timing;
    wr_file_begin_rest(file, &timing);
    wr_file_finish(file, false);
    wr_io_worker_stop(&file->group.handle);
    wr_lease_reaper_stop(&file->group.handle);
    int lost = wr_write_behind_flush(&file->group.handle);
    const bool next = file->mode & WEIR_WRITE && !file->removed; /* somebody may open it */
    if (!lost && file->group.handle.weak && next)
        lost = wr_handle_sync(&file->group.handle, WR_SYNC_STORE);
    weir_error error = *weir_error_last();
    wr_channel_barrier(&file->group.channel, &waiter);
    wr_pointer_close(file);
    if (file->group.handle.world->transport->rank == 0)
        wr_costs_learn(&file->group.handle.world->process->costs,
                       &file->group.handle.storage->facts, &file->group.handle.tunables,
                       &file->group.handle.samples);
    int code = close_storage(file);
    if (lost)
        code = wr_error_raise(&error);
    code = wr_channel_agree(&file->group.channel, code);
    wr_pointer_remove(file);
    wr_world_learn_stats(file->group.handle.world, &file->group.channel);
    wr_channel_barrier(&file->group.channel, &waiter);
    log_traffic(file->group.handle.world);
    wr_file_end_rest(&timing);
    release(file);
    if (profile)
        wr_profile_save_closed(profile);
    return code;
}

int wr_file_check(const weir_file *f, const wr_access_request *a)
{
    int64_t lo, hi;
    bool write = a->direction == WR_WRITE;
    if (check_alive(f))
        return WEIR_ETRANSPORT;
    if (!(f->mode & (write ? WEIR_WRITE : WEIR_READ)))
        return wr_fail(WEIR_EACCESS, "the file is not open for %s", write ? "writing" : "reading");
    weir_pattern_bounds(a->file, &lo, &hi);
    if (a->end - a->begin != weir_pattern_bytes(a->memory))
        return wr_fail(WEIR_EINVAL, "%lld bytes of the file for %lld bytes of memory",
                       (long long)(a->end - a->begin), (long long)weir_pattern_bytes(a->memory));
    if (a->begin < 0 || a->end > weir_pattern_bytes(a->file))
        return wr_fail(WEIR_ERANGE, "data %lld to %lld of a pattern of %lld", (long long)a->begin,
                       (long long)a->end, (long long)weir_pattern_bytes(a->file));
    if (lo < 0)
        return wr_fail(WEIR_EINVAL, "offset %lld in a file", (long long)lo);
    if (!weir_pattern_is_ordered(a->file))
        return wr_fail(WEIR_EINVAL, "the pattern in the file is not ordered");
    if (write && !weir_pattern_is_disjoint(a->file))
        return wr_fail(WEIR_EINVAL, "the pattern to write has a byte twice");
    return 0;
}

/* A blocking collective call behind others that are under way. */
static int queue(weir_file *f, const wr_access_request *a, int code, int64_t *count, int *class)
{
    wr_group_access access = {
        .op = {.together = true, .code = code}, .group = &f->group, .a = *a, .form = WR_BLOCKING};
    if (code)
        access.op.error = *weir_error_last();
    if (wr_group_access_start(&access)) {
        wr_operations_settle(&f->group.operations, f->group.handle.world);
        if (code)
            wr_error_raise(&access.op.error);
        return wr_collective_run(&f->group, a, code, NULL, count);
    }
    wr_operation_wait(&access.op);
    *count = access.count;
    *class = access.class;
    return access.op.code ? wr_error_raise(&access.op.error) : 0;
}

int wr_file_access(weir_file *f, const wr_access_request *a, bool together, int code,
                   int64_t *count)
{
    int64_t counted = 0;
    int class = 0;
    wr_timer timing;
    if (check_alive(f))
        return WEIR_ETRANSPORT;
    wr_timer_begin(&timing, &f->group.handle.watch, WR_EXCHANGING);
    wr_transport_idle(f->group.handle.world->transport);
    if (!code)
        code = wr_file_check(f, a);
    if (together && !wr_operations_settled(&f->group.operations)) {
        code = queue(f, a, code, &counted, &class);
    } else if (together) {
        code = wr_collective_run(&f->group, a, code, NULL, &counted);
    } else if (!code) {
        wr_outcome o = wr_alone_run(&f->group.handle, a, NULL, NULL);
        code = o.code;
        class = o.class;
        counted = wr_outcome_count(&o, a);
    }
    if (timing.watch)
        wr_timer_stop(&timing);
    if (timing.watch && together && !class)
        class = timing.class + 1;
    wr_file_count(f, a,
                  &(wr_over){.code = code,
                             .together = together,
                             .form = WR_BLOCKING,
                             .class = class,
                             .spent = &timing.spent,
                             .timer = timing.watch ? &timing : NULL});
    if (count)
        *count = counted;
    if (code && !*weir_error_last()->file)
        wr_error_note_file(f->group.handle.storage->path, weir_error_last()->offset);
    return code;
}

int wr_file_complete(wr_access_request *a, wr_run_pattern *nothing)
{
    int code = 0;
    if (!a->file != !a->memory)
        code =
            wr_fail(WEIR_EINVAL, "a pattern %s and none %s", a->file ? "in the file" : "in memory",
                    a->file ? "in memory" : "in the file");
    if (!a->file || !a->memory)
        a->file = a->memory = wr_run_pattern_set(nothing, 0, 0);
    a->end = weir_pattern_bytes(a->file);
    return code;
}

int weir_file_get_size(weir_file *file, int64_t *size)
{
    if (check_alive(file))
        return WEIR_ETRANSPORT;
    wr_transport_idle(file->group.handle.world->transport);
    wr_handle *handle = &file->group.handle;
    int code = wr_write_behind_flush(handle);
    const bool peeks = !code && !handle->ready && !handle->weak;
    if (peeks && wr_storage_peek_size(handle->storage, size))
        return 0;
    if (!code)
        code = wr_handle_ready(handle);
    if (!code)
        code = wr_handle_catch_up(handle);
    return code ? code : wr_storage_get_size(handle->storage, size);
}

/* [collective] All ranks name the same size, and one that makes sense. */
static int agree_on_size(weir_file *file, int64_t size)
{
    int64_t both[] = {size, ~size};
    int code = wr_file_settle(file);
    if (!code)
        code = wr_channel_reduce(&file->group.channel, WR_OR, 2, both);
    if (!code && both[0] & both[1])
        code = wr_fail(WEIR_EDISAGREE, "ranks name different sizes");
    if (!code && size < 0)
        code = wr_fail(WEIR_EINVAL, "size %lld", (long long)size);
    return code;
}

/* In atomic mode while no access is half through. */
static int resize_alone(wr_group *group, int64_t size, int (*how)(wr_storage *s, int64_t size))
{
    int code =
        group->handle.atomic ? wr_handle_lock(&group->handle, WR_LOCK_EXCLUSIVE, 0, INT64_MAX) : 0;
    if (code)
        return code;
    pthread_mutex_lock(&group->handle.moving);
    code = how(group->handle.storage, size);
    if (!code && group->handle.weak)
        code = wr_storage_sync(group->handle.storage, WR_SYNC_STORE);
    pthread_mutex_unlock(&group->handle.moving);
    if (group->handle.atomic)
        wr_handle_unlock(&group->handle, 0, INT64_MAX);
    return code;
}

/* [collective] Rank 0 does it for all. */
static int resize_all(weir_file *file, int64_t size, int (*how)(wr_storage *s, int64_t size))
{
    int code = flush(file);
    if (code)
        return code;
    if (file->group.handle.world->transport->rank == 0)
        code = resize_alone(&file->group, size, how);
    code = wr_channel_agree(&file->group.channel, code);
    return code ? code : refresh(file);
}

static int resize(weir_file *file, int64_t size, int (*how)(wr_storage *s, int64_t size))
{
    wr_timer timing;
    int code = agree_on_size(file, size);
    if (code)
        return code;
    wr_file_begin_rest(file, &timing);
    code = resize_all(file, size, how);
    wr_file_end_rest(&timing);
    return code;
}

int weir_file_set_size(weir_file *file, int64_t size)
{
    return resize(file, size, wr_storage_set_size);
}

int wr_file_preallocate(weir_file *file, int64_t size)
{
    return resize(file, size, wr_storage_preallocate);
}

int wr_file_fail_lockless(const weir_file *file, const char *what)
{
    wr_fail(WEIR_EUNSUPPORTED, "%s: the file system has no range locks", what);
    wr_error_note_file(file->group.handle.storage->path, -1);
    return WEIR_EUNSUPPORTED;
}

int weir_file_set_atomic(weir_file *file, int atomic)
{
    enum { ON, OFF, LOCKLESS, WORDS };
    int64_t all[WORDS] = {[ON] = !!atomic, [OFF] = !atomic};
    wr_handle *handle = &file->group.handle;
    int code = wr_file_settle(file);
    if (code)
        return code;
    wr_file_rest(file); /* locks are given back as they were taken */
    all[LOCKLESS] = atomic && !handle->sole && !wr_range_probe(handle->storage);
    code = wr_channel_reduce(&file->group.channel, WR_OR, WORDS, all);
    if (!code && all[ON] & all[OFF])
        code = wr_fail(WEIR_EDISAGREE, "ranks want atomic mode on and off");
    if (!code && all[LOCKLESS])
        code = wr_file_fail_lockless(file, "no atomic mode");
    if (!code)
        code = flush(file);
    if (!code)
        handle->atomic = atomic;
    return code;
}

int weir_file_get_atomic(const weir_file *file, int *atomic)
{
    int code = check_alive(file);
    if (!code)
        *atomic = file->group.handle.atomic;
    return code;
}

int weir_file_sync(weir_file *file)
{
    wr_timer timing;
    if (wr_file_settle(file))
        return WEIR_ETRANSPORT;
    wr_file_begin_rest(file, &timing);
    int code = sync_all(file);
    wr_file_end_rest(&timing);
    return code;
}

/* What the storage was opened with stays as long as it is open. */
static void keep_opened(wr_tunables *t, const wr_tunables *opened)
{
    t->storage = opened->storage;
    t->independent = opened->independent;
    t->coherence = opened->coherence;
    t->direct = opened->direct;
    t->fault = opened->fault;
    t->io_threads = opened->io_threads;
    t->io_depth = opened->io_depth;
    memcpy(t->disks, opened->disks, sizeof t->disks);
}

int wr_file_set_hints(weir_file *file, const char *hints, int code)
{
    if (wr_file_settle(file))
        return WEIR_ETRANSPORT;
    wr_transport *t = file->group.handle.world->transport;
    wr_tunables tunables = {0};
    int lost = flush(file); /* what is kept depends on them */
    if (lost)
        return lost;
    if (!code && t->rank == 0)
        code = mix_hints(file->group.handle.world, hints, &tunables);
    if (!code && t->rank == 0)
        code = wr_tunables_settle(&tunables);
    if (!code && t->rank == 0)
        adopt_stripe(&tunables, &file->group.handle.storage->facts);
    code = wr_channel_agree(&file->group.channel, code);
    if (!code)
        code = wr_channel_broadcast(&file->group.channel, &tunables, sizeof tunables);
    if (!code)
        code = wr_group_prepare(&file->group, &tunables);
    if (code)
        return code;
    keep_opened(&tunables, file->group.handle.storage->tunables);
    file->group.handle.tunables = tunables;
    wr_range_set_wait(file->group.handle.storage, tunables.lock_wait);
    wr_write_behind_init(&file->group.handle.write_behind, tunables.write_behind_memory);
    return 0;
}
