/* The arithmetic of a trial. */
#include "trial.h"

enum { IN_TURN = 2 }; /* buffers */

void cli_pace_note(cli_pace *p, double part, double seconds)
{
    p->last = part;
    p->last_at = seconds;
    if (++p->steps > IN_TURN)
        return;
    p->first = part;
    p->first_at = seconds;
}

/* Of the whole at this pace. */
static double scale(const cli_pace *p)
{
    if (p->last > p->first)
        return p->first_at + (1 - p->first) * (p->last_at - p->first_at) / (p->last - p->first);
    return p->first > 0 ? p->first_at / p->first : p->first_at;
}

double cli_trial_seconds(const cli_trial *t)
{
    double work = scale(&t->pace);
    if (t->again.steps)
        work = t->anew * work + (1 - t->anew) * scale(&t->again);
    work += t->write_price * (double)t->written;
    const int64_t behind = t->written > t->kept ? t->written - t->kept : 0;
    const double stored = t->store_price * (double)behind;
    work = work > stored ? work : stored;
    return t->before + work + t->store_price * (double)(t->written - behind);
}
