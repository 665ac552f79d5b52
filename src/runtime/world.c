/* Worlds: how they begin and end, and who keeps one. */
#include "runtime/world.h"

#include <string.h>

#include "base/timer.h"

static void set_log(wr_world *w)
{
    w->log.level = (int)w->tunables.log.which;
}

static int open_events(wr_world *w)
{
    if (!*w->tunables.events)
        return 0;
    return wr_events_open(&w->events, w->tunables.events, w->transport->rank);
}

/* Done while waiting. */
static void idle(void *user)
{
    wr_world *w = user;
    wr_progress_move(&w->process->progress);
}

void wr_process_open(wr_process *p, const wr_tunables *tunables)
{
    *p = (wr_process){0};
    pthread_mutex_init(&p->costs.lock, NULL);
    pthread_mutex_init(&p->regions.lock, NULL);
    wr_progress_open(&p->progress, tunables);
}

void wr_process_close(wr_process *p)
{
    wr_progress_close(&p->progress);
    pthread_mutex_destroy(&p->regions.lock);
    pthread_mutex_destroy(&p->costs.lock);
}

/* Everything that needs no other rank. */
static int init_local(wr_world *w, wr_process *process)
{
    pthread_mutex_init(&w->lock, NULL);
    wr_budget_init(&w->budget, INT64_MAX);
    set_log(w);
    w->process = process ? process : &w->own;
    if (!process)
        wr_process_open(w->process, &w->tunables);
    return open_events(w);
}

int wr_world_open(wr_transport *transport, const wr_tunables *tunables, wr_world **out)
{
    return wr_world_open_in(NULL, transport, tunables, out);
}

int wr_world_open_in(wr_process *process, wr_transport *transport, const wr_tunables *tunables,
                     wr_world **out)
{
    wr_world *w = wr_alloc(sizeof *w);
    int code = w ? 0 : WEIR_ENOMEM;
    if (w) {
        *w = (wr_world){.transport = transport, .tunables = *tunables};
        code = init_local(w, process);
    }
    code = wr_agree(transport, WR_TAG_WORLD, code);
    if (!code && w)
        code = wr_channels_add(w);
    if (!code && w) {
        transport->idle = idle;
        transport->idle_user = w;
        wr_channel_set(w, 0, &w->channel);
        w->link = wr_link_measure(transport);
        *out = w;
        return 0;
    }
    wr_world_release(w);
    return code;
}

void wr_world_close(wr_world *w)
{
    if (!w)
        return;
    wr_transport *t = w->transport;
    if (w->ends)
        w->ends(w->user);
    wr_world_release(w);
    wr_transport_close(t);
}

void wr_world_release(wr_world *w)
{
    if (!w)
        return;
    w->transport->idle = NULL;
    if (w->process == &w->own)
        wr_process_close(w->process);
    wr_channels_release(w);
    wr_events_close(w->events);
    wr_free(w->places);
    pthread_mutex_destroy(&w->lock);
    wr_free(w);
}

void wr_stats_get(const wr_tally *t, int64_t stats[WR_STATS])
{
    const int64_t all = wr_tally_get(&t->ns) + wr_tally_get(&t->rest_ns);
    for (int i = 0; i < 2; i++) {
        stats[WR_STAT_WANTED + i] = wr_tally_get(&t->wanted[i]);
        stats[WR_STAT_MOVED + i] = wr_tally_get(&t->moved[i]);
    }
    stats[WR_STAT_CALLS] = wr_tally_get(&t->calls);
    stats[WR_STAT_ERRORS] = wr_tally_get(&t->errors);
    stats[WR_STAT_NS] = stats[WR_STAT_MOST_NS] = all;
    stats[WR_STAT_MEMORY] = wr_memory_peak();
}

void wr_world_learn_stats(wr_world *w, wr_channel *channel)
{
    int64_t stats[WR_STATS];
    if (!w->tunables.stats || w->transport->size == 1)
        return;
    wr_stats_get(&w->process->tally, stats);
    int code = wr_channel_reduce(channel, WR_SUM, WR_STAT_SUMS, stats);
    if (!code)
        code = wr_channel_reduce(channel, WR_MAX, WR_STATS - WR_STAT_SUMS, stats + WR_STAT_SUMS);
    if (code)
        return;
    pthread_mutex_lock(&w->lock);
    memcpy(w->stats, stats, sizeof stats);
    pthread_mutex_unlock(&w->lock);
}

void wr_world_name_waited(const wr_world *w, int rank)
{
    if (wr_timer_now)
        wr_timer_name(w->places && rank != WR_NOBODY ? w->places[rank] : rank);
}

void wr_world_wait(wr_world *w, wr_word *word, uint32_t seen)
{
    wr_progress_wait(&w->process->progress, w->transport, word, seen);
}

void wr_world_wait_job(wr_world *w, wr_job *job)
{
    while (!wr_job_is_over(&w->process->progress, job))
        wr_world_wait(w, &job->over, 0);
}

void wr_world_leave(wr_world *w)
{
    pthread_mutex_lock(&w->lock);
    bool in_use = w->orphan = w->users != NULL;
    pthread_mutex_unlock(&w->lock);
    if (!in_use)
        wr_world_close(w);
}

void wr_world_end(wr_world *w)
{
    wr_progress_stop(&w->process->progress);
    while (w->users) {
        wr_world_user *l = w->users;
        w->users = l->next;
        l->place = NULL;
        l->evict(l);
    }
    wr_world_close(w);
}

void wr_world_join(wr_world *w, wr_world_user *l, void (*evict)(wr_world_user *world_user))
{
    pthread_mutex_lock(&w->lock);
    *l = (wr_world_user){w->users, &w->users, evict};
    if (l->next)
        l->next->place = &l->next;
    w->users = l;
    pthread_mutex_unlock(&w->lock);
}

void wr_world_part(wr_world *w, wr_world_user *l)
{
    pthread_mutex_lock(&w->lock);
    *l->place = l->next;
    if (l->next)
        l->next->place = l->place;
    bool last = w->orphan && !w->users;
    pthread_mutex_unlock(&w->lock);
    if (last)
        wr_world_close(w);
}
