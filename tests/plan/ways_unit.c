/* Ways, locks, movers and windows in flight: what a plan says, input by input. */
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "check.h"
#include "plan/cover.h"
#include "plan/say.h"

/* Tunables as they are by default; pieces of 64 bytes, 1000 bytes apart, or one run. */
static wr_plan_input input_of(enum wr_direction direction, int64_t pieces, int64_t run)
{
    wr_tunables t;
    wr_plan_input in;
    weir_pattern *p;
    wr_tunables_init(&t);
    wr_plan_input_tune(&in, direction, &t, wr_built_in_prices[WR_IN_CACHE].price);
    CHECK(!weir_pattern_strided(100, pieces, run, run + 1000, &p));
    in.wanted = wr_summary_of(p, 0, weir_pattern_bytes(p));
    weir_pattern_free(p);
    in.alone = 1;
    in.leased = 1;
    in.local = true;
    return in;
}

/* The lines "way" to "moved by", in one. */
static const char *told(const wr_plan_input *in)
{
    static char text[1000];
    wr_plan plan;
    wr_text t = {text, sizeof text, 0};
    CHECK(!wr_plan_build(in, &plan));
    wr_say_ways(&t, in, &plan);
    for (char *end; (end = strchr(text, '\n'));)
        *end = end[1] ? '|' : '\0';
    return text;
}

static void expect(const wr_plan_input *in, const char *wanted)
{
    const char *got = told(in);
    if (strcmp(got, wanted) != 0)
        fprintf(stderr, "not \"%s\" but \"%s\"\n", wanted, got);
    CHECK(!strcmp(got, wanted));
}

static void test_reading(void)
{
    wr_plan_input in = input_of(WR_READ, 1, 800);
    expect(&in, "way: list|locks: nothing|moved by: the caller");
    in.whole = in.cold = 1; /* too little to look */
    expect(&in, "way: list|locks: nothing|moved by: the caller");
    in = input_of(WR_READ, 1, WR_LOOK_BYTES); /* one run: by a call, of an array from its pages */
    expect(&in, "way: list|locks: nothing|moved by: the caller");
    in.whole = 1;
    expect(&in, "way: mapped, or else list|locks: nothing|moved by: the caller");
    in.local = false; /* others may change it unseen */
    expect(&in, "way: list|locks: nothing|moved by: the caller");
    in = input_of(WR_READ, 1000, 64);
    expect(&in, "way: mapped, or else sieve|locks: nothing|"
                "in flight: 1 windows of at most 4194304 bytes|moved by: the caller");
    wr_plan_input other = in;
    other.cold = 1; /* a byte file on the device */
    expect(&other, "way: sieve|locks: nothing|in flight: 1 windows of at most 4194304 bytes|"
                   "moved by: the caller");
    other = in;
    other.weak = 1;
    expect(&other, "way: sieve|locks: nothing|in flight: 1 windows of at most 4194304 bytes|"
                   "moved by: the caller");
    in.whole = 1;
    CHECK(wr_plan_must_look(&in));
    expect(&in, "way: mapped, or else sieve|locks: nothing|"
                "in flight: 1 windows of at most 4194304 bytes|moved by: the caller");
    in.frugal = in.cold = 1;
    expect(&in, "way: direct, or else sieve|locks: nothing|"
                "in flight: 3 windows of at most 4194304 bytes|moved by: the caller");
    in.direct = WR_SWITCH_NEVER;
    in.access = WR_ACCESS_LIST;
    expect(&in, "way: list|locks: nothing|moved by: the caller");
    in.atomic = 1;
    expect(&in, "way: list|locks: all, to read|moved by: the caller");
}

static void test_writing(void)
{
    wr_plan_input in = input_of(WR_WRITE, 1, 800);
    expect(&in, "way: list|locks: lease or range|moved by: the caller");
    in.task = 1;
    expect(&in, "way: list|locks: range|moved by: the caller");
    in.sole = 1;
    expect(&in, "way: list|locks: nothing|moved by: the caller");
    in.sole = 0;
    in.atomic = 1;
    expect(&in, "way: list|locks: all, to write|moved by: the caller");
    in = input_of(WR_WRITE, 1, WR_LEASE_BYTES + 1);
    expect(&in, "way: list|locks: range|moved by: the caller");
    in = input_of(WR_WRITE, 1000, 64);
    expect(&in, "way: mapped, or else list|locks: lease or range|moved by: the caller");
    wr_plan_input other = in; /* long runs, weak systems, and who may sieve */
    other.weak = 1;
    expect(&other, "way: list|locks: nothing|moved by: the caller");
    other = input_of(WR_WRITE, 1000, WR_STORED_RUN + 1);
    expect(&other, "way: list|locks: range|moved by: the caller");
    other = in;
    other.between = 1;
    CHECK(!strncmp(told(&other), "way: sieve", 10));
    in.access = WR_ACCESS_SIEVE;
    in.sieve_buffer = 512;
    expect(&in, "way: sieve, or else list|locks: windows, or else lease or range|"
                "in flight: 1 windows of at most 512 bytes|moved by: the caller");
    in.sole = 1;
    expect(&in, "way: sieve, or else list|locks: windows with holes, or else lease or range|"
                "in flight: 1 windows of at most 512 bytes|moved by: the caller");
    in.column = 100;
    in.sieve_unit = WR_SIEVE_COLUMN;
    in.atomic = 1;
    expect(&in, "way: columns|locks: all, to modify|"
                "in flight: 1 windows of at most 512 bytes|moved by: the caller");
    in.blind = 1;
    expect(&in, "way: list|locks: all, to modify|moved by: the caller");
}

/* In a call of two ranks: who writes apart may write back what lies between, if that is cheaper. */
static void test_between(void)
{
    wr_plan_input in = input_of(WR_WRITE, 1000, 64);
    wr_summary other = in.wanted;
    wr_plan plan;
    other.lo += other.hi;
    other.hi += other.hi;
    other.step_at = other.lo;
    wr_summary_add(&in.wanted, &other);
    in.alone = 0;
    in.ranks = in.cores = 2;
    in.nodes = in.shared = 1;
    in.collective = WR_SWITCH_AUTO;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK(in.wanted.apart && plan.between && plan.reason == WR_CHEAPER_ALONE);
    in.blind = 1;
    CHECK(!wr_plan_build(&in, &plan) && !plan.between);
    in.blind = 0;
    in.wanted.apart = 0;
    CHECK(!wr_plan_build(&in, &plan) && !plan.between && plan.reason == WR_MAY_OVERLAP);
    in.wanted.apart = 1;
    in.call_ns = 100;
    CHECK(!wr_plan_build(&in, &plan) && !plan.between);
    in = input_of(WR_WRITE, 1000, 64);
    in.between = 1;
    expect(&in, "way: sieve, or else list|locks: windows, or else lease or range|"
                "in flight: 1 windows of at most 524288 bytes|moved by: the caller");
}

/* An operation of one rank, in the page cache. */
static wr_moving moving_of(int64_t bytes)
{
    return (wr_moving){.beside = 1,
                       .form = WR_NONBLOCKING,
                       .alone = 1,
                       .bytes = bytes,
                       .one_run = 1,
                       .memory = 1,
                       .cached = 1,
                       .may_keep = 1 << 20,
                       .thread = 1};
}

static void test_movers(void)
{
    wr_moving m = moving_of(WR_BRIEF_BYTES);
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_AT_ONCE);
    m.cached = 0;
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_BY_THREAD);
    m.direction = WR_WRITE;
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_AT_ONCE);
    m = moving_of(WR_BRIEF_BYTES + 1);
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_BY_THREAD);
    m.thread = 0;
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_BY_CALLERS);
    m = moving_of(0);
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_AT_ONCE);
    m.alone = 0;
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_BY_THREAD);
    m.messages = 1;
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_BY_CALLERS);
    m.multiple = 1;
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_BY_THREAD);
    m.form = WR_SPLIT;
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_BY_CALLERS);
    m.overlap = WR_OVERLAP_ALL;
    CHECK_EQUAL(wr_moving_mover(&m), WR_MOVED_BY_THREAD);
    CHECK(wr_moving_prefers_aside(&m));
    m.overlap = WR_OVERLAP_AUTO;
    CHECK(!wr_moving_prefers_aside(&m));
    m.memory = 0;
    CHECK(wr_moving_prefers_aside(&m));
}

/* Four ranks of a node that write 64 MiB, by operations. */
static wr_plan_input together(enum wr_form form)
{
    wr_plan_input in = input_of(WR_WRITE, 1, 64 << 20);
    in.alone = 0;
    in.form = form;
    in.ranks = in.cores = in.seats = 4;
    in.nodes = in.shared = in.unit = 1;
    in.collective = WR_SWITCH_ALWAYS;
    in.aggregators = 1;
    in.window = 4 << 20;
    in.room = in.may_keep = 64 << 20;
    in.aside = 1;
    in.moving = (wr_moving){.beside = 1, .form = form, .thread = 1, .may_keep = 1, .multiple = 1};
    return in;
}

static void test_windows(void)
{
    wr_plan plan;
    wr_plan_input in = together(WR_NONBLOCKING);
    CHECK(!wr_plan_build(&in, &plan));
    CHECK(plan.aside && plan.left && plan.slots == 2 && !plan.handed);
    in = together(WR_SPLIT);
    CHECK(!wr_plan_build(&in, &plan));
    CHECK_EQUAL(plan.slots, (64 << 20) / wr_slot_bytes(plan.window));
    CHECK(!plan.fits && plan.handed && plan.mover == WR_MOVED_BY_CALLERS);
    in.room = 1 << 30;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK(plan.fits && !plan.handed);
    CHECK_EQUAL(plan.slots, plan.most / plan.window + 1);
    wr_plan_shrink(&in, &plan); /* fewer windows first, then smaller ones */
    CHECK(plan.slots == 2 && !plan.fits && plan.handed && plan.window == 4 << 20);
    wr_plan_shrink(&in, &plan);
    CHECK(plan.window == 1 << 20 && in.limit == 1 << 20);
    for (int i = 0; i < 2; i++)
        wr_plan_shrink(&in, &plan);
    CHECK_EQUAL(in.limit, WR_SMALLEST_WINDOW);
    wr_plan_shrink(&in, &plan);
    CHECK_EQUAL(in.limit, -1);
    wr_plan_do_without(&in, &plan, false);
    CHECK(plan.collective && plan.exchange == WR_EXCHANGE_P2P && plan.window == 4 << 20);
    wr_plan_do_without(&in, &plan, true);
    CHECK(!plan.collective && !plan.handed && plan.way[0] == WR_WAY_NONE);
    in = together(WR_SPLIT); /* between parties each window has a gate's and a part's beside it */
    in.shared = 0;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK_EQUAL(plan.slots, (64 << 20) / (3 * wr_slot_bytes(plan.window)));
    CHECK(plan.cell == plan.window);
    in.exchange = WR_EXCHANGE_ALLTOALL; /* one, as large as it can be */
    CHECK(!wr_plan_build(&in, &plan));
    CHECK(plan.slots == 1 && plan.window == (64 << 20) / 3 && !plan.cell);
    in.atomic = 1;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK(!plan.collective && plan.reason == WR_ATOMIC_BESIDE);
}

/* Write-behind begins when its calls would have saved enough, and never where runs are long. */
static void test_keeping(void)
{
    wr_plan_input in = together(WR_BLOCKING);
    int64_t saved = 0, calls = 0;
    in.write_behind = WR_BEHIND_ENABLE;
    in.call_ns = 1700;
    in.wanted.once_bytes = 512; /* a header */
    in.wanted.once_runs = 1;
    CHECK(wr_plan_keeping_saves(&in, 0) <= WR_KEEP_NS);
    in.wanted.once_runs = 100;
    in.wanted.once_bytes = 100 * 100;
    in.wanted.lo = 0;
    in.wanted.hi = 4 << 20;
    in.mib_ns = in.read_mib_ns = 200000;
    in.among = false; /* far apart, at new places: kept or not, there is a call for each run */
    CHECK_EQUAL(wr_plan_keeping_saves(&in, 0), 0);
    in.among = true;
    for (; saved <= WR_KEEP_NS && calls < 100; calls++)
        saved = wr_plan_keeping_saves(&in, saved);
    CHECK(calls > 4 && calls < 10);
    in.wanted.once_bytes = 100 * 3200;
    CHECK(wr_plan_keeping_saves(&in, saved) < WR_KEEP_NS);
    in.call_ns = 150000;
    CHECK(wr_plan_keeping_saves(&in, 0) > WR_KEEP_NS);
    in.wanted.hi = 400000; /* which is read and written in one piece, if it is not kept */
    CHECK(wr_plan_keeping_saves(&in, 0) < WR_KEEP_NS);
    in.call_ns = 0;
    in.write_behind = WR_BEHIND_ALWAYS;
    CHECK(wr_plan_keeping_saves(&in, 0) > WR_KEEP_NS);
}

static void test_holds(void)
{
    wr_plan plan;
    wr_plan_input in = together(WR_BLOCKING);
    CHECK(!wr_plan_build(&in, &plan));
    CHECK(plan.way[0] == WR_WAY_ROUNDS && plan.hold[0] == WR_HOLD_WINDOWS && plan.meetings == 2);
    in.write_behind = 1;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK(plan.way[0] == WR_WAY_KEPT && plan.hold[0] == WR_HOLD_NOTHING);
    in.write_behind = 0;
    in.atomic = 1;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK(plan.hold_all == WR_HOLD_MODIFY && !plan.hold[0] && plan.meetings == 3);
    in.atomic = 0;
    in.nodes = 2;
    in.shared = 0;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK_EQUAL(plan.meetings, 4); /* aggregators are asked, and memory is there */
    in.described = true;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK_EQUAL(plan.meetings, 3);
    in.held = (wr_held){plan.exchange, plan.aggregators, plan.slots, plan.window};
    CHECK(!wr_plan_build(&in, &plan));
    CHECK_EQUAL(plan.meetings, 3); /* some rank has no memory set aside */
    in.ready = true;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK_EQUAL(plan.meetings, 2);
    in.held.slots--;
    CHECK(!wr_plan_build(&in, &plan));
    CHECK_EQUAL(plan.meetings, 3);
}

/* The short way to an input of one run, which the log never shows: whatever is tuned, and whatever
 * was in the memory before, its plan is that of the whole input. */
static void test_one_run(int combination)
{
    const enum wr_direction direction = combination & 1 ? WR_WRITE : WR_READ;
    wr_plan_input in[2];
    wr_plan plan[2];
    weir_pattern *p;
    wr_tunables t;
    wr_tunables_init(&t);
    t.access[direction].which = combination >> 1 & 3;
    t.write_behind.which = combination >> 3 & 1;
    memset(in, 0xab, sizeof in);
    CHECK(!weir_pattern_contiguous(100, 64, &p));
    wr_plan_input_plain(&in[0], direction);
    wr_plan_input_tune_alone(&in[1], direction, &t, wr_built_in_prices[WR_IN_CACHE].price);
    for (int i = 0; i < 2; i++) {
        wr_summary_set(&in[i].wanted, p, 0, 64);
        in[i].alone = true;
        in[i].atomic = combination >> 4 & 1;
        in[i].sole = combination >> 5 & 1;
        in[i].leased = combination >> 6 & 1;
        in[i].task = combination >> 7 & 1;
        wr_plan_alone(&in[i], &plan[i]);
    }
    weir_pattern_free(p);
    CHECK_EQUAL(plan[0].way[0], WR_WAY_LIST);
    CHECK(!memcmp(&plan[0], &plan[1], sizeof plan[0]));
}

int main(void)
{
    for (int i = 0; i < 256; i++)
        test_one_run(i);
    test_reading();
    test_writing();
    test_between();
    test_movers();
    test_windows();
    test_holds();
    test_keeping();
    return 0;
}
