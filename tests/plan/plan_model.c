/* Plans against the naive model: realms cover everything once, windows cover what is wanted, and
 * what is said of holes and overlap is true. */
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "pattern/cursor.h"
#include "pattern/random_pattern.h"
#include "plan/balance.h"
#include "plan/cover.h"
#include "plan/list_end.h"
#include "plan/realms.h"
#include "plan/union.h"

enum { FEW = 6, RANKS = 40, SPAN = 2 * MODEL_SPAN };

typedef struct scene {
    modelled request[RANKS];
    wr_want want[RANKS];
    const modelled *of[RANKS]; /* whose pattern a want has */
    wr_summary summary[RANKS];
    int ranks;
    unsigned char wanted[SPAN]; /* by how many ranks */
    wr_plan_input in;
    wr_plan plan;
    int64_t cut[WR_CUTS];
    wr_custom_realms given;
    const weir_pattern *realm[RANKS];
} scene;

static int64_t cell(int64_t offset)
{
    CHECK(offset >= -MODEL_SPAN && offset < MODEL_SPAN);
    return offset + MODEL_SPAN;
}

static void random_requests(rng *r, scene *s)
{
    s->ranks = (int)rng_within(r, 1, rng_chance(r, 80) ? FEW : RANKS);
    memset(s->wanted, 0, sizeof s->wanted);
    for (int i = 0; i < s->ranks; i++) {
        do {
            modelled_free(&s->request[i]);
            s->request[i] = random_pattern(r, (int)rng_within(r, 1, 4), true);
        } while (!weir_pattern_is_ordered(s->request[i].pattern));
        const modelled *m = &s->request[i];
        int64_t begin = rng_chance(r, 70) ? 0 : rng_within(r, 0, m->bytes);
        int64_t end = rng_chance(r, 70) ? m->bytes : rng_within(r, begin, m->bytes);
        if (i && rng_chance(r, 10)) { /* just what another one wants */
            const wr_want *same = &s->want[rng_within(r, 0, i - 1)];
            m = s->of[same->rank];
            begin = same->begin;
            end = same->end;
        }
        s->want[i] = (wr_want){m->pattern, begin, end, i};
        s->of[i] = m;
        s->summary[i] = wr_summary_of(m->pattern, begin, end);
        unsigned char mine[SPAN] = {0}; /* once a rank, however often it wants a byte */
        for (int64_t k = begin; k < end; k++)
            mine[cell(m->offset[k])] = 1;
        for (int64_t k = 0; k < SPAN; k++)
            s->wanted[k] = (unsigned char)(s->wanted[k] + mine[k]);
    }
}

/* Bytes [0, period) dealt to so many realms in random pieces, some realms perhaps without any. */
static void random_realms(rng *r, scene *s)
{
    enum { PIECES = 12 };
    int64_t offset[RANKS][PIECES], length[RANKS][PIECES], count[RANKS] = {0}, at = 0;
    const int64_t first = rng_within(r, -50, 50);
    s->given = (wr_custom_realms){.count = rng_within(r, 1, s->ranks), .realm = s->realm};
    for (int i = 0; i < PIECES; i++) {
        int64_t to = rng_within(r, 0, s->given.count - 1), k = count[to]++;
        offset[to][k] = first + at;
        at += length[to][k] = rng_within(r, i == 0, 300);
    }
    s->given.period = at;
    for (int64_t i = 0; i < s->given.count; i++) {
        weir_pattern *p;
        CHECK(!weir_pattern_runs(count[i], offset[i], length[i], &p));
        s->realm[i] = p;
    }
    CHECK(!wr_custom_verify(&s->given));
    s->in.custom = s->given.count;
    s->in.given = &s->given;
}

static void random_input(rng *r, scene *s)
{
    int64_t rules = 0;
    while (wr_realm_rules[rules].name)
        rules++;
    s->in = (wr_plan_input){
        .direction = rng_within(r, 0, 1),
        .ranks = s->ranks,
        .nodes = 1,
        .cores = 2,
        .file_size = rng_chance(r, 50) ? MODEL_SPAN : 100,
        .unit = rng_chance(r, 30) ? rng_within(r, 1, 100) : 1,
        .align = rng_chance(r, 30) ? rng_within(r, 1, 300) : 1,
        .dealt = rng_chance(r, 50) ? rng_within(r, 1, 500) : 0,
        .base = rng_within(r, 0, 100),
        .block = rng_chance(r, 50) ? rng_within(r, 1, 500) : 0,
        .disks = rng_chance(r, 70) ? rng_within(r, 1, 9) : 0,
        .stripe = rng_within(r, 1, 300),
        .realms = rng_within(r, 0, rules - 1),
        .aggregators = rng_within(r, 0, FEW + 1),
        .collective = WR_SWITCH_ALWAYS,
        .access = rng_within(r, 0, 4),
        .access_extent = rng_within(r, 1, 50),
        .window = rng_chance(r, 20) ? rng_within(r, 1, 8) : rng_within(r, 8, 5000),
        .buffer = 16 << 20,
        .call_ns = rng_within(r, 0, 3000),
        .mib_ns = rng_within(r, 1, 100000000),
        .read_call_ns = rng_within(r, 0, 1000),
        .read_mib_ns = rng_within(r, 1, 100000000),
    };
    if (s->in.realms <= WR_REALMS_PERSISTENT && rng_chance(r, 30)) { /* whole tiles */
        s->in.granule = 1 << rng_within(r, 0, 6);
        s->in.coarse = s->in.granule << rng_within(r, 0, 2);
        s->in.batch = rng_chance(r, 30) ? rng_within(r, 1, 300) : 0;
        s->in.block *= s->in.coarse;
        s->in.base *= s->in.coarse;
    }
    for (int i = 0; i < s->ranks; i++)
        wr_summary_add(&s->in.wanted, &s->summary[i]);
    CHECK(s->in.wanted.once_bytes <= s->in.wanted.bytes);
    CHECK(s->in.wanted.once_bytes <= s->in.wanted.hi - s->in.wanted.lo);
    CHECK(s->in.wanted.once_runs <= s->in.wanted.runs);
    if (s->in.realms == WR_REALMS_BALANCED)
        wr_balance_wants(&s->in, s->ranks, s->want, s->cut);
    s->given = (wr_custom_realms){0};
    if (s->in.realms == WR_REALMS_CUSTOM)
        random_realms(r, s);
}

/* A byte's place in a pattern, or -1. */
static void map_pattern(const weir_pattern *p, int64_t *data_at)
{
    wr_cursor c;
    wr_batch b;
    for (int64_t i = 0; i < SPAN; i++)
        data_at[i] = -1;
    for (wr_cursor_init(&c, p); wr_cursor_next_run(&c, INT64_MAX, &b);)
        for (int64_t k = 0; k < b.run; k++)
            data_at[cell(b.offset + k)] = b.data + k;
}

static void check_window(const scene *s, const int64_t *in_realm, const wr_window *w,
                         unsigned char *handled)
{
    static int64_t in_cover[SPAN];
    bool holes = false, overlap = false;
    CHECK(w->lo < w->hi);
    CHECK(weir_pattern_is_disjoint(w->cover));
    CHECK(weir_pattern_bytes(w->cover) <= s->plan.window && weir_pattern_bytes(w->cover) > 0);
    map_pattern(w->cover, in_cover);
    for (int64_t i = 0; i < SPAN; i++) {
        int64_t offset = i - MODEL_SPAN;
        bool inside = offset >= w->lo && offset < w->hi && in_realm[i] >= 0;
        if (in_cover[i] >= 0) {
            CHECK(inside);
            if (s->in.granule && offset & (s->in.granule - 1)) /* so does the one before */
                CHECK_EQUAL(in_cover[i - 1], in_cover[i] - 1);
            else if (s->in.granule)
                CHECK(in_cover[i + s->in.granule - 1] == in_cover[i] + s->in.granule - 1);
            holes = holes || !s->wanted[i];
            overlap = overlap || s->wanted[i] > 1;
        }
        if (inside && s->wanted[i]) {
            CHECK(in_cover[i] >= 0);
            handled[i]++;
        }
    }
    CHECK(w->holes || !holes);
    CHECK(w->overlap || !overlap);
    if (s->in.direction == WR_WRITE && s->plan.window <= 4096) {
        CHECK_EQUAL(w->holes, holes);
    }
}

/* A walk that gave this window knows who touches it. */
static void check_touches(const scene *s, wr_windows *walk, const wr_window *w)
{
    const int64_t *list;
    int64_t count = wr_windows_touching(walk, w, &list), found = 0;
    for (int i = 0; i < s->ranks; i++) {
        bool touches = false;
        for (int64_t k = s->want[i].begin; k < s->want[i].end; k++) {
            int64_t offset = s->of[i]->offset[k];
            touches = touches || (offset >= w->lo && offset < w->hi);
        }
        CHECK_EQUAL(wr_want_touches(&s->want[i], w->lo, w->hi), touches);
        if (touches) {
            CHECK(found < count);
            CHECK_EQUAL(list[found++], i);
        }
    }
    CHECK_EQUAL(found, count);
}

static void check_equal_windows(const wr_window *a, const wr_window *b)
{
    CHECK(a->lo == b->lo && a->hi == b->hi && a->holes == b->holes && a->overlap == b->overlap);
    CHECK(!strcmp(a->method, b->method) && !strcmp(a->reason, b->reason));
    CHECK(wr_hash_equal(a->cover->hash, b->cover->hash));
}

/* A window does not depend on those before it: a walk that starts there, and has asked every want
 * once, makes the same. */
static void check_afresh(const scene *s, const wr_windows *walk, int64_t at, const wr_window *w)
{
    wr_windows afresh;
    wr_window same;
    wr_windows_init(&afresh, &s->in, &s->plan, walk->realm, s->ranks, s->want);
    afresh.at = at;
    CHECK_EQUAL(wr_windows_next(&afresh, &same), 1);
    check_equal_windows(w, &same);
    wr_window_release(&same);
    wr_windows_release(&afresh);
}

/* Whichever allocation fails, nothing is left that the caller would have to release. */
static void check_without_memory(const scene *s, const wr_windows *walk, int64_t at)
{
    bool reached = true;
    for (int64_t skip = 0; reached; skip++) {
        wr_windows afresh;
        wr_window w;
        wr_windows_init(&afresh, &s->in, &s->plan, walk->realm, s->ranks, s->want);
        afresh.at = at;
        const int64_t before = wr_alloc_count();
        wr_alloc_fail_after(skip);
        const int code = wr_windows_next(&afresh, &w);
        reached = wr_alloc_count() - before > skip;
        wr_alloc_fail_after(-1);
        CHECK(code == 1 || code == WEIR_ENOMEM);
        if (code == 1)
            wr_window_release(&w);
        wr_windows_release(&afresh);
    }
}

/* The simple way: whether all that is wanted in [lo, hi) can be listed. */
static bool can_list(const scene *s, int64_t lo, int64_t hi)
{
    int64_t bytes = 0, runs = 0;
    for (int i = 0; i < s->ranks; i++) {
        const wr_want *want = &s->want[i];
        const wr_node *root = wr_pattern_root(want->pattern);
        int64_t from = wr_max(wr_pattern_data_below(want->pattern, lo), want->begin);
        int64_t to = wr_min(wr_pattern_data_below(want->pattern, hi), want->end);
        if (to <= from || !wr_want_touches(want, lo, hi))
            continue;
        bytes += to - from;
        runs += (to - from) / wr_max(1, root->bytes / root->runs) + 1;
    }
    return bytes <= s->plan.window && runs <= WR_PIECES / 2;
}

/* How far a window reaches that is listed. */
static void check_list_end(rng *r, const scene *s, const weir_pattern *realm)
{
    wr_windows walk;
    const int64_t lo = rng_within(r, s->plan.lo, s->plan.hi - 1);
    const int64_t least = rng_within(r, lo + 1, s->plan.hi),
                  most = rng_within(r, least, s->plan.hi);
    int64_t end = least, bad = most + 1, got = least;
    while (bad - end > 1) {
        int64_t mid = end + (bad - end) / 2;
        *(can_list(s, lo, mid) ? &end : &bad) = mid;
    }
    wr_windows_init(&walk, &s->in, &s->plan, realm, s->ranks, s->want);
    CHECK(!wr_list_end(&walk, lo, most, &got));
    CHECK_EQUAL(got, end);
    wr_windows_release(&walk);
}

/* The same walk again, out of the window cache; and another one, which must not be taken for it. */
static void check_repetition(const scene *s, const weir_pattern *realm,
                             wr_window_cache *window_cache)
{
    wr_windows made, found;
    wr_window a, b;
    int more;
    wr_windows_init(&made, &s->in, &s->plan, realm, s->ranks, s->want);
    wr_windows_init(&found, &s->in, &s->plan, realm, s->ranks, s->want);
    wr_windows_remember(&found, window_cache);
    CHECK(found.repeats);
    do {
        more = wr_windows_next(&made, &a);
        CHECK_EQUAL(wr_windows_next(&found, &b), more);
        if (more == 1) {
            check_equal_windows(&a, &b);
            check_touches(s, &found, &b);
            wr_window_release(&a);
            wr_window_release(&b);
        }
    } while (more == 1);
    wr_windows_release(&made);
    wr_windows_release(&found);
    wr_want other = s->want[0];
    wr_plan_input in = s->in;
    if (other.begin < other.end)
        other.end--;
    else
        in.window++;
    wr_windows_init(&found, &in, &s->plan, realm, 1, &other);
    wr_windows_remember(&found, window_cache);
    CHECK(!found.repeats);
    wr_windows_release(&found);
}

static void check_windows(const scene *s, const weir_pattern *realm, unsigned char *handled)
{
    static int64_t in_realm[SPAN];
    wr_windows walk;
    wr_window_cache window_cache = {0};
    wr_window w;
    int more;
    memset(in_realm, -1, sizeof in_realm);
    for (int64_t i = 0; i < SPAN; i++) { /* realms reach beyond the model: look only within it */
        int64_t x = i - MODEL_SPAN;
        if (wr_pattern_data_below(realm, x + 1) > wr_pattern_data_below(realm, x))
            in_realm[i] = 0;
    }
    wr_windows_init(&walk, &s->in, &s->plan, realm, s->ranks, s->want);
    wr_windows_remember(&walk, &window_cache);
    CHECK(!walk.repeats);
    int expected = -1; /* not known */
    for (int64_t at = walk.at; (more = wr_windows_next(&walk, &w)) == 1; at = w.hi) {
        CHECK(expected);
        expected = -1;
        check_window(s, in_realm, &w, handled);
        check_touches(s, &walk, &w);
        check_afresh(s, &walk, at, &w);
        if (walk.number % 8 == 2)
            check_without_memory(s, &walk, at);
        if (walk.number % 3 == 0) {
            expected = !wr_windows_end(&walk);
            check_touches(s, &walk, &w); /* although the walk has gone on */
        }
        wr_window_release(&w);
    }
    CHECK_EQUAL(more, 0);
    CHECK(expected < 1);
    wr_windows_release(&walk);
    if (window_cache.whole)
        check_repetition(s, realm, &window_cache);
    wr_window_cache_release(&window_cache);
}

static void check_one(rng *r)
{
    static scene s;
    static unsigned char handled[SPAN];
    random_requests(r, &s);
    random_input(r, &s);
    wr_plan again;
    CHECK(!wr_plan_build(&s.in, &s.plan));
    CHECK(!wr_plan_build(&s.in, &again));
    CHECK(!memcmp(&again, &s.plan, sizeof again));
    int64_t n = s.plan.aggregators;
    weir_pattern *realm[RANKS + 1];
    memset(handled, 0, sizeof handled);
    for (int64_t i = 0; i < n; i++)
        CHECK(!wr_plan_realm(&s.plan, i, &realm[i]));
    if (s.in.realms != WR_REALMS_CUSTOM) /* of which one period was verified, and many may be too
                                            many to tell apart in the time for that */
        CHECK(!wr_realms_verify(n, (const weir_pattern *const *)realm, s.plan.lo, s.plan.hi));
    if (s.plan.lo < s.plan.hi)
        check_list_end(r, &s, realm[0]);
    for (int64_t i = 0; i < n; i++) {
        check_windows(&s, realm[i], handled);
        weir_pattern_free(realm[i]);
    }
    for (int64_t i = 0; i < SPAN; i++)
        CHECK_EQUAL(handled[i], s.wanted[i] > 0);
    for (int i = 0; i < s.ranks; i++)
        modelled_free(&s.request[i]);
    for (int64_t i = 0; i < s.given.count; i++)
        weir_pattern_free((weir_pattern *)s.realm[i]);
}

/* Each aggregator is another rank, in ascending order; nodes of equal size have equal shares. */
static void test_places(void)
{
    for (int64_t ranks = 1; ranks <= 40; ranks++)
        for (int64_t n = 1; n <= ranks; n++) {
            wr_plan plan = {.aggregators = n, .seats = ranks};
            int64_t last = -1;
            for (int64_t i = 0; i < n; i++) {
                int64_t place = wr_plan_seat(&plan, i);
                CHECK(place > last && place < ranks);
                CHECK(ranks % n || place == i * (ranks / n));
                last = place;
            }
        }
}

/* What ranks want several times is counted once where they are in step. */
static void test_once(void)
{
    wr_summary all = {0};
    for (int rank = 0; rank < 4; rank++) { /* 100 runs of 40 bytes each, shifted by 10 of them */
        weir_pattern *p;
        CHECK(!weir_pattern_strided(7 + rank * 10000, 100, 40, 1000, &p));
        wr_summary part = wr_summary_of(p, 0, 4000);
        wr_summary_add(&all, &part);
        weir_pattern_free(p);
    }
    CHECK_EQUAL(all.bytes, 16000);
    CHECK_EQUAL(all.runs, 400);
    CHECK_EQUAL(all.once_runs, 130);
    CHECK_EQUAL(all.once_bytes, 130 * 40);
    all = (wr_summary){0};
    for (int rank = 0; rank < 25; rank++) { /* side by side: they fill each stride */
        weir_pattern *p;
        CHECK(!weir_pattern_strided(rank * 40, 100, 40, 1000, &p));
        wr_summary part = wr_summary_of(p, 0, 4000);
        wr_summary_add(&all, &part);
        weir_pattern_free(p);
    }
    CHECK_EQUAL(all.once_bytes, 100000);
    CHECK(all.once_runs <= 100);
}

/* Every byte of a disk is one aggregator's, whatever there are more of. */
static void test_disks(void)
{
    enum { STRIPE = 10, MOST = 12 };
    for (int64_t disks = 1; disks <= MOST; disks++)
        for (int64_t ranks = 1; ranks <= MOST; ranks++) {
            wr_plan_input in = {.ranks = ranks,
                                .nodes = 1,
                                .cores = 1,
                                .wanted = {.lo = 3, .hi = 3000, .bytes = 2997, .runs = 1},
                                .disks = disks,
                                .stripe = STRIPE,
                                .realms = WR_REALMS_DISKS,
                                .window = 100,
                                .buffer = 1000};
            wr_plan plan;
            int64_t owner[MOST] = {0};
            CHECK(!wr_plan_build(&in, &plan));
            CHECK(plan.aggregators <= ranks && (disks > ranks || plan.aggregators == disks));
            for (int64_t i = 0; i < plan.aggregators; i++) {
                weir_pattern *realm;
                CHECK(!wr_plan_realm(&plan, i, &realm));
                for (int64_t at = 3; at < 3000; at++) {
                    int64_t *of_disk = &owner[at / STRIPE % disks];
                    if (wr_pattern_data_below(realm, at + 1) == wr_pattern_data_below(realm, at))
                        continue;
                    CHECK(!*of_disk || *of_disk == i + 1);
                    *of_disk = i + 1;
                }
                weir_pattern_free(realm);
            }
        }
}

static void test_verifier(void)
{
    weir_pattern *a, *b, *c;
    CHECK(!weir_pattern_contiguous(0, 100, &a));
    CHECK(!weir_pattern_contiguous(100, 50, &b));
    CHECK(!weir_pattern_contiguous(90, 60, &c));
    CHECK(!wr_realms_verify(2, (const weir_pattern *[]){a, b}, 0, 150));
    CHECK_FAILS(wr_realms_verify(2, (const weir_pattern *[]){a, b}, 0, 151), WEIR_EINVAL,
                "leave 1 bytes");
    CHECK_FAILS(wr_realms_verify(2, (const weir_pattern *[]){a, c}, 0, 150), WEIR_EINVAL,
                "realms 0 and 1 overlap");
    wr_custom_realms two = {2, 150, (const weir_pattern *[]){a, b}};
    CHECK(!wr_custom_verify(&two));
    two.period = 0;
    CHECK(!wr_custom_verify(&two));
    two.period = 160;
    CHECK_FAILS(wr_custom_verify(&two), WEIR_EINVAL, "leave 10 bytes");
    two.period = INT64_MAX;
    CHECK_FAILS(wr_custom_verify(&two), WEIR_ERANGE, "too far apart");
    two.period = 149;
    CHECK_FAILS(wr_custom_verify(&two), WEIR_EINVAL, "more than their period");
    two = (wr_custom_realms){2, 150, (const weir_pattern *[]){a, c}};
    CHECK_FAILS(wr_custom_verify(&two), WEIR_EINVAL, "overlap");
    weir_pattern_free(a);
    weir_pattern_free(b);
    weir_pattern_free(c);
}

/* Data of what ranks want in each of `n` balanced realms: the most, in percent of the mean. */
static int64_t imbalance(int ranks, const wr_want *want, int64_t n)
{
    wr_plan_input in = {.ranks = n,
                        .nodes = 1,
                        .cores = 1,
                        .aggregators = n,
                        .window = 1 << 20,
                        .buffer = 4 << 20,
                        .realms = WR_REALMS_BALANCED,
                        .collective = WR_SWITCH_ALWAYS,
                        .call_ns = 1000,
                        .mib_ns = 100000};
    wr_plan plan;
    int64_t most = 0, cut[WR_CUTS];
    for (int i = 0; i < ranks; i++) {
        wr_summary part = wr_summary_of(want[i].pattern, want[i].begin, want[i].end);
        wr_summary_add(&in.wanted, &part);
    }
    wr_balance_wants(&in, ranks, want, cut);
    CHECK(!wr_plan_build(&in, &plan));
    for (int64_t i = 0; i < n; i++) {
        weir_pattern *realm;
        int64_t lo, hi, data = 0;
        CHECK(!wr_plan_realm(&plan, i, &realm));
        weir_pattern_bounds(realm, &lo, &hi);
        for (int k = 0; k < ranks && weir_pattern_bytes(realm); k++)
            data += wr_pattern_data_below(want[k].pattern, hi) -
                    wr_pattern_data_below(want[k].pattern, lo);
        most = wr_max(most, data);
        weir_pattern_free(realm);
    }
    return most * 100 / (in.wanted.bytes / n);
}

/* Cuts are aligned, also where realms are more than cuts. */
static void test_balance_align(void)
{
    enum { REALMS = 100, ALIGN = 4096 };
    weir_pattern *all;
    wr_plan plan;
    wr_plan_input in = {.ranks = REALMS,
                        .nodes = 1,
                        .cores = 1,
                        .aggregators = REALMS,
                        .window = 1 << 20,
                        .buffer = 4 << 20,
                        .align = ALIGN,
                        .realms = WR_REALMS_BALANCED,
                        .collective = WR_SWITCH_ALWAYS};
    CHECK(!weir_pattern_strided(777, 100000, 100, 1000, &all));
    const wr_want want = {all, 0, weir_pattern_bytes(all), 0};
    int64_t cut[WR_CUTS];
    in.wanted = wr_summary_of(all, 0, want.end);
    wr_balance_wants(&in, 1, &want, cut);
    CHECK(!wr_plan_build(&in, &plan));
    for (int64_t i = 0; i < REALMS; i++) {
        weir_pattern *realm;
        int64_t lo, hi;
        CHECK(!wr_plan_realm(&plan, i, &realm));
        weir_pattern_bounds(realm, &lo, &hi);
        CHECK(!i || !weir_pattern_bytes(realm) || lo % ALIGN == 0);
        weir_pattern_free(realm);
    }
    weir_pattern_free(all);
}

/* 90 % of the data in a tenth of the range, or in very much less, at its ends or within. Of more
 * realms than cuts each has at most what lies between three. */
static void test_balance(void)
{
    static const int64_t number[] = {1, 2, 3, 5, 7, 16, 48, 64, 100, 200};
    static const int64_t at[] = {0, 500000000, 999000000}, stride[] = {1000, 10, 2};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            weir_pattern *wide, *narrow;
            CHECK(!weir_pattern_strided(0, 10000, 1, 100000, &wide));
            CHECK(!weir_pattern_strided(at[i], 90000, 1, stride[k], &narrow));
            const wr_want want[] = {{wide, 0, 10000, 0}, {narrow, 0, 90000, 1}};
            for (size_t n = 0; n < sizeof number / sizeof *number; n++)
                CHECK(imbalance(2, want, number[n]) <=
                      wr_max(105, number[n] > WR_CUTS ? number[n] * 210 / WR_CUTS : 0));
            weir_pattern_free(wide);
            weir_pattern_free(narrow);
        }
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(1500, 50000);
    test_places();
    test_once();
    test_disks();
    test_verifier();
    test_balance();
    test_balance_align();
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        check_one(&r);
    }
    return 0;
}
