/* Built-in prices, and what a file teaches. */
#include "base/price.h"

#include "base/arith.h"
#include "base/tunables.h"

enum {
    FORGET = 256, /* silent calls: then what small runs take may have changed */
    EARLY = 8,    /* of these may find out what nobody knows */
    QUIET = 16,   /* of these before one doubts what is known; twice as many each time, */
    DOUBLED = 4,  /* so often */
    REACH = 1000  /* by what factor what was timed may differ from what was known */
};

/* Of a page cache by measurement of ext4; of what is past it, or behind a network, by order of
 * magnitude. A page cache is one even when a cold file is read: no plan may depend on that. */
const wr_built_in wr_built_in_prices[WR_PRICE_KINDS] = {
    [WR_IN_CACHE] = {.price = {[WR_READ] = {500, 40000, 150}, [WR_WRITE] = {1700, 220000, 110}},
                     .reach = 4},
    [WR_ON_DEVICE] =
        {.price = {[WR_READ] = {60000, 900000, 110}, [WR_WRITE] = {100000, 4000000, 150}},
         .reach = 16},
    [WR_ON_NETWORK] =
        {.price = {[WR_READ] = {200000, 1000000, 180}, [WR_WRITE] = {200000, 2000000, 180}},
         .reach = 1000},
};

static void add(wr_timing *all, const wr_timing *more)
{
    if (!more->amount)
        return;
    all->from = all->amount ? wr_min(all->from, more->from) : more->from;
    all->to = wr_max(all->to, more->to);
    all->ns = wr_max(all->ns, more->ns);
    all->amount += more->amount;
    all->ranks += more->ranks;
}

void wr_timings_add(wr_timings *all, const wr_timings *more)
{
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < WR_TIMED; i++)
            add(&all->of[d][i], &more->of[d][i]);
}

void wr_timings_span(wr_timings *all)
{
    int64_t from = INT64_MAX, to = 0, ns = 0;
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < WR_TIMED; i++) {
            const wr_timing *t = &all->of[d][i];
            from = t->amount ? wr_min(from, t->from) : from;
            to = wr_max(to, t->to);
            ns += t->ns;
        }
    for (int d = 0; d < 2 && ns; d++)
        for (int i = 0; i < WR_TIMED; i++)
            all->of[d][i].ns =
                (int64_t)((double)all->of[d][i].ns / (double)ns * (double)(to - from));
}

int64_t wr_price_hundredths(int64_t scaling, int64_t at_once)
{
    return wr_max(100, wr_min(100 * at_once, scaling * at_once / 2));
}

static void follow(int64_t *price, int64_t *latest, int64_t known, int64_t timed)
{
    const int64_t before = *price ? *price : known;
    timed = wr_max(known / REACH, wr_min(timed, known * REACH));
    const int64_t least = wr_min(timed, *latest ? *latest : before);
    *latest = timed;
    if (4 * least <= 3 * before || 4 * least >= 5 * before)
        *price = wr_max(1, least);
}

/* The inverse of what plans make of prices: a file takes one small write at a time, and large ones
 * as far as they scale; it is read by several at once. */
static void learn(wr_learned *l, enum wr_direction d, const wr_price *known,
                  const wr_timing took[WR_TIMED], int64_t at_once, bool moved)
{
    const wr_timing *runs = &took[WR_TIMED_RUNS], *bytes = &took[WR_TIMED_BYTES];
    const int64_t readers = wr_min(runs->ranks, at_once), movers = wr_min(bytes->ranks, at_once);
    if (runs->amount)
        follow(&l->price[d].call_ns, &l->latest[d].call_ns, known->call_ns,
               runs->ns * (d == WR_READ ? readers : 1) / runs->amount);
    if (bytes->amount) {
        const int64_t hundredths =
            d == WR_READ ? 100 * movers : wr_price_hundredths(known->scaling, movers);
        follow(&l->price[d].mib_ns, &l->latest[d].mib_ns, wr_max(known->mib_ns, WR_MEMORY_MIB_NS),
               (int64_t)((double)bytes->ns * (double)(hundredths << 20) / 100 /
                         (double)bytes->amount));
    }
    l->silent[d] = runs->amount ? 0 : l->silent[d] + moved;
    if (l->silent[d] == FORGET)
        l->price[d].call_ns = l->latest[d].call_ns = l->silent[d] = 0;
}

static void count_quiet(wr_learned *l, bool told)
{
    l->quiet = told || l->doubts ? 0 : l->quiet + 1;
    l->doubted = told && !l->doubts ? 0 : l->doubted + l->doubts;
    l->doubts = 0;
}

int64_t wr_prices_trust(const wr_learned *learned, int64_t runs, int64_t bytes)
{
    if (runs < WR_SMALL_RUNS || bytes / runs > WR_SMALL_RUN)
        return WR_TRUSTED;
    if (learned->quiet >= QUIET << wr_min(learned->doubted, DOUBLED))
        return WR_DOUBTED;
    const bool unknown = !learned->latest[WR_WRITE].call_ns;
    return unknown && learned->quiet && learned->quiet <= EARLY ? WR_GUESSED : WR_TRUSTED;
}

void wr_prices_learn(wr_learned *learned, const wr_price known[2], const wr_timings *took,
                     int64_t at_once, int moved)
{
    for (int d = 0; d < 2; d++)
        learn(learned, (enum wr_direction)d, &known[d], took->of[d], at_once, d == moved);
    if (moved == WR_WRITE)
        count_quiet(learned, took->of[WR_WRITE][WR_TIMED_RUNS].amount);
}
