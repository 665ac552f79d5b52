/* Access methods. "A New Flexible MPI Collective I/O Implementation", sections 5.1 and 6.3: the
 * method below the collective buffer may change from window to window; the rule of section 6.3 is
 * access=extent. */
#include "plan/method.h"

#include "base/arith.h"
#include "pattern/cursor.h"
#include "plan/union.h"

enum { SAMPLE = 8 };

/* Data of one rank in [lo, hi). */
static int64_t data_within(const wr_want *want, int64_t lo, int64_t hi)
{
    int64_t from = wr_max(wr_pattern_data_below(want->pattern, lo), want->begin);
    int64_t to = wr_min(wr_pattern_data_below(want->pattern, hi), want->end);
    return wr_max(0, to - from);
}

/* What all ranks want in [lo, hi): bytes, and an estimate of runs. */
static void measure(const wr_windows *w, int64_t lo, int64_t hi, int64_t *bytes, int64_t *runs)
{
    const wr_queued *one;
    *bytes = *runs = 0;
    for (int64_t i = 0; (one = wr_want_queue_get(&w->queue, i, hi)); i++) {
        const wr_want *want = &w->wants[one->want];
        const wr_node *root = wr_pattern_root(want->pattern);
        int64_t data = data_within(want, lo, hi);
        *bytes += data;
        *runs += data ? data / wr_max(1, root->bytes / root->runs) + 1 : 0;
    }
}

static int64_t price(int64_t calls, int64_t bytes, int64_t call_ns, int64_t mib_ns)
{
    return calls * call_ns + ((bytes >> 6) * mib_ns >> 14);
}

/* When writing, what is joined must also be read before. */
int64_t wr_method_gap(const wr_windows *w)
{
    const wr_plan_input *in = w->in;
    if (wr_method_of(in)->exact)
        return 0;
    int64_t mib_ns = in->mib_ns;
    if (in->direction == WR_WRITE)
        mib_ns = wr_plan_back_mib_ns(in) + 2 * in->read_mib_ns;
    int64_t call_ns = in->call_ns - (in->direction == WR_WRITE ? in->read_call_ns : 0);
    return call_ns > 0 ? (call_ns << 20) / wr_max(1, mib_ns) : 0;
}

/* By the first part of the window, which is listed to see: 1, 0 or a negative code. */
static int sieve_is_cheaper(wr_windows *w, int64_t lo, int64_t hi)
{
    const wr_plan_input *in = w->in;
    bool write = in->direction == WR_WRITE;
    int64_t bytes, runs;
    measure(w, lo, hi, &bytes, &runs);
    if (runs <= 1 || (2 * bytes >= hi - lo && (hi - lo - bytes) / runs <= wr_method_gap(w)))
        return 1;
    wr_window part = {.lo = lo, .hi = lo + wr_max(1, (hi - lo) / SAMPLE)};
    int code = wr_union_count(w, wr_method_gap(w), &part, &runs, &bytes);
    if (code)
        return code;
    int64_t span = part.hi - part.lo;
    int64_t list = price(runs, bytes, in->call_ns, in->mib_ns);
    int64_t exists = write ? wr_plan_back_mib_ns(in) : in->mib_ns;
    int64_t sieve = price(1, span, in->call_ns / SAMPLE, exists);
    if (write && part.holes)
        list += price(runs, bytes, in->read_call_ns, in->read_mib_ns);
    if (write)
        sieve += price(1, span, in->read_call_ns / SAMPLE, in->read_mib_ns);
    return sieve <= list;
}

/* The rule of section 6.3: sieve where pieces are close, one call a piece where they are far apart.
 */
static int choose_by_extent(wr_windows *w, int64_t lo, int64_t hi, const char **reason)
{
    (void)lo, (void)hi;
    const bool sieve = w->queue.wide == 0;
    *reason = sieve ? "stride within the extent" : "stride beyond the extent";
    return sieve;
}

static int choose_cheaper(wr_windows *w, int64_t lo, int64_t hi, const char **reason)
{
    int sieve = sieve_is_cheaper(w, lo, hi);
    *reason = sieve ? "one call is cheaper than many" : "wide gaps cost more than calls";
    return sieve;
}

const wr_method wr_methods[] = {
    [WR_ACCESS_AUTO] = {.name = "auto",
                        .help = "what is cheaper, window by window",
                        .choose = choose_cheaper},
    [WR_ACCESS_SIEVE] = {.name = "sieve",
                         .help = "one run, with whatever lies between",
                         .why = "access=sieve",
                         .sieve = true},
    [WR_ACCESS_LIST] = {.name = "list",
                        .help = "what is wanted, in file order",
                        .why = "access=list",
                        .exact = true,
                        .plain = true},
    [WR_ACCESS_NAIVE] = {.name = "naive",
                         .help = "the same; a rank alone makes a call for each piece",
                         .why = "access=naive",
                         .exact = true,
                         .plain = true},
    [WR_ACCESS_EXTENT] = {.name = "extent",
                          .help = "sieve where no stride is longer than N bytes",
                          .choose = choose_by_extent,
                          .exact = true},
    {0},
};

const wr_method *wr_method_of(const wr_plan_input *in)
{
    return &wr_methods[wr_plan_is_exact(in) ? WR_ACCESS_LIST : in->access];
}
