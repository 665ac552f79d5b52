/* The log of plans, and what the profile learns of them. */
#include "access/did.h"

#include <string.h>

#include "access/handle.h"
#include "base/timer.h"
#include "plan/say.h"

enum { TEXT = 2048 };

void wr_log_plan(const wr_handle *handle, int64_t number, const wr_plan_input *in,
                 const wr_plan *plan)
{
    char text[TEXT];
    wr_text t = {text, sizeof text, 0};
    if (in->alone || handle->world->transport->rank == 0) {
        wr_say_input(&t, in);
        wr_say_plan(&t, in, plan);
    } else { /* all else is the same as there */
        wr_say_moved(&t, plan);
    }
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        wr_log_line(&handle->world->log, WR_LOG_DEBUG, "%s, rank %d, %s %lld: %s",
                    handle->storage->path, handle->world->transport->rank,
                    in->alone ? "access" : "call", (long long)number, line);
    }
}

static void say_locks(wr_text *t, const wr_did *did)
{
    static const char *const kinds[] = {[WR_LOCK_SHARED] = " shared",
                                        [WR_LOCK_EXCLUSIVE] = " exclusive",
                                        [WR_LOCK_MODIFY] = " modify"};
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        if (did->locks >> i & 1)
            wr_say(t, "%s", kinds[i]);
    wr_say(t, "%s", did->leased ? " lease" : did->locks ? "" : " nothing");
}

void wr_log_did(const wr_handle *handle, const wr_did *did)
{
    char text[TEXT];
    wr_text t = {text, sizeof text, 0};
    wr_say(&t, "did: way %s; exchange ", wr_way_names[did->way]);
    if (did->exchange)
        wr_say_exchange(&t, did->exchange);
    wr_say(&t, "%s; windows %lld, in flight %lld, aside %lld; locks", did->exchange ? "" : "none",
           (long long)did->windows, (long long)did->most_open, (long long)did->aside);
    say_locks(&t, did);
    wr_say(&t, "; by %s%s; meetings %lld", wr_progress_is_thread() ? "thread" : "caller",
           did->handed ? ", handed" : "", (long long)did->meetings);
    wr_log_line(&handle->world->log, WR_LOG_DEBUG, "%s, rank %d, %s %lld: %s",
                handle->storage->path, handle->world->transport->rank,
                did->meetings ? "call" : "access", (long long)did->number, text);
}

/* Of the whole pattern, of which an access may be a part: it is the order of magnitude that counts.
 */
static void set_request(const wr_access_request *a, wr_call_kind *kind)
{
    const int64_t runs = wr_pattern_root(a->file)->runs;
    int64_t lo, hi;
    if (a->begin == a->end || runs <= 0)
        return;
    weir_pattern_bounds(a->file, &lo, &hi);
    kind->run = wr_min(a->end - a->begin, weir_pattern_bytes(a->file) / runs);
    kind->stride = runs > 1 ? (hi - lo - kind->run) / (runs - 1) : 0;
}

int wr_note_class(const wr_handle *handle, const wr_noted *n)
{
    wr_profile *p = handle->watch.profile;
    const bool windows = n->plan->collective || n->plan->way[0] == WR_WAY_SIEVE;
    wr_call_kind kind = {.file = handle->watch.file,
                         .direction = n->a->direction,
                         .together = !n->in->alone,
                         .form = (int)n->in->form,
                         .exchange = n->exchange,
                         .way = wr_way_names[n->did->way ? n->did->way : n->did->alone],
                         .aggregators = n->plan->collective ? n->plan->aggregators : 0,
                         .window = windows ? n->plan->window : 0,
                         .rounds = n->did->windows};
    bool wants_plan = false;
    set_request(n->a, &kind);
    const int64_t now = wr_timer_now ? wr_timer_now->last : wr_clock_ns();
    const int class = wr_profile_class(p, &kind, now - n->did->began, &wants_plan);
    if (wants_plan) {
        char text[WR_PLAN_TEXT];
        wr_text t = {text, sizeof text, 0};
        wr_say_input(&t, n->in);
        wr_say_plan(&t, n->in, n->plan);
        wr_profile_set_plan(p, class, text);
    }
    return class + 1;
}
