/* What a call on a file counts for, in the totals of the process and in its profile. */
#include "file/inside.h"

void wr_file_count(const weir_file *f, const wr_access_request *a, const wr_over *over)
{
    const wr_watch *w = &f->group.handle.watch;
    wr_tally_add(&w->tally->calls, 1);
    if (over->code)
        wr_tally_add(&w->tally->errors, 1);
    else
        wr_tally_add(&w->tally->wanted[a->direction], a->end - a->begin);
    if (w->timed)
        wr_tally_add(&w->tally->ns, over->spent->ns);
    if (!w->profile)
        return;
    const wr_call_kind kind = {.file = w->file,
                               .direction = a->direction,
                               .together = over->together,
                               .form = (int)over->form,
                               .exchange = wr_no_name,
                               .way = wr_no_name};
    wr_finished finished = {.class = over->class - 1,
                            .wanted = a->end - a->begin,
                            .failed = over->code != 0,
                            .spent = *over->spent};
    wr_watch_finished(w, &kind, &finished, over->timer);
}

void wr_file_begin_rest(weir_file *f, wr_timer *t)
{
    wr_timer_begin(t, &f->group.handle.watch, WR_ACCESSING);
}

void wr_file_end_rest(wr_timer *t)
{
    wr_timer_end(t);
    if (t->watch)
        wr_tally_add(&t->watch->tally->rest_ns, t->spent.ns);
}
