/* Every rule of weir report, with a job for which it holds, and expects what its model says, and a
 * job beside it for which it does not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "front/cli/report_rules.h"

#define S INT64_C(1000000000)
#define MIB (INT64_C(1) << 20)

static report_job *job;
static report_figures figures;
static report_advice advice[ADVICE_MOST];
static int count;

/* 10 s, of ranks that do nothing. */
static void begin(int ranks)
{
    report_job_free(job);
    job = report_job_new();
    CHECK(job);
    job->ranks = job->found = ranks;
    job->hosts = 1;
    job->length = 10 * S;
    job->named = 1;
    job->file[0].name = strdup("/data/a.h5");
    job->file[0].size = 64 * MIB;
    job->rank = calloc((size_t)ranks, sizeof *job->rank);
    for (int i = 0; i < ranks; i++)
        job->rank[i] =
            (job_rank){.rank = i, .complete = 1, .whole = 1, .length = 10 * S, .waited_rank = -1};
}

/* Calls that take as long on every rank; a second of it in file access. */
static job_call *add_calls(int alone, int write, int64_t seconds)
{
    job_call *c = &job->call[job->calls++];
    *c = (job_call){.write = write,
                    .alone = alone,
                    .ranks = job->ranks,
                    .count = 10 * job->ranks,
                    .most = 10,
                    .wanted = 64 * MIB,
                    .moved = 64 * MIB,
                    .syscalls = 64,
                    .slowest = seconds * S,
                    .busiest = S,
                    .spent = seconds * S * job->ranks,
                    .phase = {[TRACE_ACCESS] = S * job->ranks}};
    for (int i = 0; i < job->ranks; i++) {
        job->rank[i].spent[write] += seconds * S;
        job->rank[i].phase[TRACE_ACCESS] += S;
        job->rank[i].time[TRACE_ACCESS] += S;
        job->rank[i].served_ns += alone ? 0 : S;
        job->rank[i].wanted[write] += 64 * MIB / job->ranks;
        job->rank[i].alone += alone ? 64 * MIB / job->ranks : 0;
    }
    return c;
}

static const report_advice *find(const char *rule)
{
    report_figures_find(job, &figures);
    count = report_advise(job, &figures, advice);
    CHECK(count >= 1 && count <= ADVICE_MOST);
    for (int i = 0; i < count; i++) {
        CHECK(strlen(advice[i].text) > 20 && !strchr(advice[i].text, '\n'));
        if (!strcmp(advice[i].rule->name, rule))
            return &advice[i];
    }
    return NULL;
}

static void check_near(double got, double wanted)
{
    if (got < wanted * 0.99 || got > wanted * 1.01)
        printf("%g is not %g\n", got, wanted);
    CHECK(got >= wanted * 0.99 && got <= wanted * 1.01);
}

static void check_says(const report_advice *a, const char *text)
{
    CHECK(a);
    if (!strstr(a->text, text))
        printf("no \"%s\" in: %s\n", text, a->text);
    CHECK(strstr(a->text, text));
}

static void test_problems(void)
{
    begin(4);
    CHECK(!find("errors") && !find("unfinished"));
    check_says(find("nothing"), "no call");
    add_calls(0, 1, 1);
    job->length = job->rank[0].length = 100 * S;
    CHECK(find("little"));
    begin(4);
    job->errors = job->rank[2].errors = 3;
    add_calls(0, 1, 1)->errors = 3;
    check_says(find("errors"), "3 calls failed, first on rank 2, most of them of a.h5");
    CHECK(advice[0].rule->kind == RULE_PROBLEM);
    begin(4);
    job->rank[3].complete = 0;
    job->unfinished = 1;
    check_says(find("unfinished"), "on 1 of 4 ranks, first on rank 3");
    begin(4);
    job->ranks = 6;
    check_says(find("unfinished"), "traces of 2 of 6 ranks are missing");
}

/* One aggregator of 4 is in file access for 4 of 5 s: with 4 of them 2 s are left. */
static void test_aggregators(void)
{
    begin(4);
    job_call *c = add_calls(0, 1, 5);
    c->busiest = 4 * S;
    c->shape.aggregators = 1;
    CHECK(!find("aggregators"));
    c->phase[TRACE_WAIT] = 12 * S;
    job->rank[3].waited_rank = 0;
    job->rank[3].waited_ns = 31 * S / 10;
    check_says(find("aggregators"), "ranks wait 60 % of their time in these calls, and a.h5 is");
    job->rank[0].served = MIB; /* only now is that an aggregator */
    const report_advice *a = find("aggregators");
    check_says(a, "rank 3 waits 62 % of its time in calls for aggregator 0");
    check_says(a, "try aggregators=4 (cb_nodes)");
    check_near(a->factor, 2.5);
    check_near(a->saved, 3e9);
    c->plan = strdup("  write, 4 ranks on 1 nodes of 2 cores, blocking\n");
    check_says(find("aggregators"), "try aggregators=2");
    c->shape.aggregators = 2;
    CHECK(!find("aggregators"));
}

static void test_uneven_aggregators(void)
{
    begin(4);
    add_calls(0, 1, 5);
    for (int i = 0; i < 4; i++)
        job->rank[i].served = MIB;
    CHECK(!find("uneven-aggregators"));
    job->rank[1].served_ns = 5 * S;
    const report_advice *a = find("uneven-aggregators");
    check_says(a, "aggregator 1 is in file access 2.5 times as long as the mean of the 4");
    CHECK(!strcmp(a->hint, "realms=balanced"));
    check_near(a->saved, 3e9);
}

/* Large pieces move at 64 MiB a second: 1 MiB a rank in small ones could take 1/64 s. */
static void test_small_alone(void)
{
    begin(4);
    job_call *c = add_calls(1, 0, 2);
    c->most = 1000;
    c->count = 4000;
    c->wanted = c->moved = 4 * MIB;
    c->syscalls = 4000;
    const report_advice *a = find("small-alone");
    check_says(a, "4,000 independent reads of 1.02 KiB each, of a.h5");
    check_says(a, "nothing recorded tells");
    CHECK(a->saved < 0);
    job_call *large = add_calls(0, 0, 1);
    large->moved = 4 * 64 * MIB;
    large->syscalls = 128;
    a = find("small-alone");
    check_says(a, "more than 10 times faster");
    check_near(a->saved, 2e9 * (1 - 1.0 / 64 / 2));
    c->count = c->most = 10;
    CHECK(!find("small-alone"));
}

/* Half of what moves is not wanted by this rank, but by others. */
static void test_sieve_alone(void)
{
    begin(4);
    job_call *c = add_calls(1, 0, 1);
    c->moved = 4 * c->wanted;
    const report_advice *a = find("sieve-alone");
    check_says(a, "move 4.0 times what they want, most of which others want");
    check_near(a->saved, 0.75e9);
    check_near(a->factor, 4);
    job->file[0].size = 1024 * MIB;
    CHECK(!find("sieve-alone"));
}

/* A system call takes 10 us elsewhere; 1000 of them replace 3 of 4 parts of the bytes. */
static void test_sieve(void)
{
    begin(4);
    job->file[0].size = 1024 * MIB;
    job_call *c = add_calls(1, 0, 1);
    c->moved = 4 * c->wanted;
    c->shape.run = c->wanted / 1000;
    job_call *other = add_calls(1, 0, 1);
    other->syscalls = 4 * S / 10000;
    const report_advice *a = find("sieve");
    check_says(a, "try access_read=list (romio_ds_read=disable)");
    check_near(a->saved, 1e9 * (1 - 0.25 - 1000 * 10e3 / 4e9));
    c->shape.run = 64;
    CHECK(!find("sieve"));
}

/* Runs of 1 KiB, 2 KiB apart, in a call each: sieving takes twice the bytes at 256 MiB a second. */
static void test_tiny_runs(void)
{
    begin(4);
    job_call *c = add_calls(1, 0, 2);
    c->shape.run = 1024;
    c->shape.stride = 2048;
    c->syscalls = 65536;
    c->phase[TRACE_ACCESS] = 8 * S;
    c->busiest = 2 * S;
    CHECK(!find("tiny-runs"));
    job_call *large = add_calls(1, 0, 1);
    large->moved = 4 * 256 * MIB;
    large->wanted = large->moved;
    const report_advice *a = find("tiny-runs");
    check_says(a, "65,536 pieces, for runs of 1 KiB, 2 KiB apart: try access_read=sieve");
    check_near(a->saved, 2e9 * (1 - 0.5 / 8));
    c->shape.stride = 1 << 20;
    CHECK(!find("tiny-runs"));
}

/* Half of the time is waiting, and windows 1/8 of what they could be: 7/8 of that are saved. */
static void test_window(void)
{
    begin(4);
    job_call *c = add_calls(0, 1, 4);
    c->phase[TRACE_WAIT] = 8 * S;
    c->shape.window = MIB / 4;
    c->shape.rounds = 64;
    const report_advice *a = find("window");
    check_says(a, "take 64 rounds, because windows have only 256 KiB: try window=2M");
    check_near(a->saved, 2e9 * 7 / 8);
    c->shape.window = 2 * MIB;
    CHECK(!find("window"));
}

/* 256 calls of 256 KiB, 3 of 4 s besides file access: 3/4 of that is saved. */
static void test_small_calls(void)
{
    begin(4);
    job_call *c = add_calls(0, 1, 4);
    c->most = 256;
    const report_advice *a = find("small-calls");
    check_says(a, "256 collective writes of 256 KiB, all ranks together");
    CHECK(!strcmp(a->hint, "write_behind=enable"));
    check_near(a->saved, 3e9 * 3 / 4);
    c->write = 0;
    CHECK(!*find("small-calls")->hint);
    c->most = 10;
    CHECK(!find("small-calls"));
}

static void test_one_rank(void)
{
    begin(4);
    add_calls(1, 1, 4);
    CHECK(!find("one-rank"));
    for (int i = 0; i < 4; i++)
        job->rank[i].alone = job->rank[i].wanted[1] = i == 2 ? 100 * MIB : MIB;
    CHECK(find("one-rank")->saved < 0 && advice[0].rank == 2);
    check_says(find("one-rank"), "rank 2 moves 97 % of all bytes");
    job->hosts = 4;
    check_near(find("one-rank")->saved, 3e9);
}

static void test_uneven_ranks(void)
{
    begin(4);
    add_calls(1, 1, 4);
    CHECK(!find("uneven-ranks"));
    job->rank[3].phase[TRACE_ACCESS] = 5 * S;
    const report_advice *a = find("uneven-ranks");
    check_says(a, "rank 3 is in file access on its own 2.5 times as long");
    check_near(a->saved, 3e9);
}

/* The others work for 6 s and wait for 3, rank 1 works for 9. */
static void test_late_rank(void)
{
    begin(4);
    add_calls(0, 1, 1);
    for (int i = 0; i < 4; i++)
        if (i != 1) {
            job->rank[i].spent[1] = 4 * S;
            job->rank[i].phase[TRACE_WAIT] = 3 * S;
            job->rank[i].waited_rank = 1;
            job->rank[i].waited_ns = 3 * S;
        }
    const report_advice *a = find("late-rank");
    check_says(a, "rank 1 comes late to collective calls");
    check_near(a->saved, 2.25e9);
    for (int i = 0; i < 4; i++)
        job->rank[i].waited_rank = (i + 1) % 4;
    CHECK(!find("late-rank"));
}

static void test_outside(void)
{
    begin(4);
    add_calls(0, 1, 1);
    CHECK(!find("outside"));
    for (int i = 0; i < 4; i++)
        job->rank[i].time[TRACE_WAIT] = 2 * S;
    check_says(find("outside"), "syncing files takes 20 % of the time");
    check_near(find("outside")->saved, 2e9);
}

static void test_overlap(void)
{
    begin(4);
    job_call *c = add_calls(0, 1, 4);
    check_says(find("overlap"), "at most 40 %");
    check_near(find("overlap")->saved, 4e9);
    c->form = TRACE_NONBLOCKING;
    CHECK(!find("overlap"));
    CHECK(find("nothing") && count == 1);
}

/* What is too short to judge, and too little. */
static void test_worth(void)
{
    begin(4);
    job_call *c = add_calls(0, 1, 4);
    c->form = TRACE_NONBLOCKING;
    c->most = 256;
    CHECK(find("small-calls"));
    c->slowest = S / 4;
    CHECK(!find("small-calls") && find("nothing"));
    c->slowest = S / 100;
    job->length = S / 50;
    CHECK(!find("small-calls"));
}

/* What gains more comes first; of two for the same calls one is told. */
static void test_order(void)
{
    begin(4);
    job_call *c = add_calls(0, 1, 4);
    c->most = 256;
    c->phase[TRACE_WAIT] = 8 * S;
    c->shape.window = MIB / 4;
    c->shape.rounds = 64;
    CHECK(!find("window") && find("small-calls"));
    job->errors = 1;
    CHECK(find("errors") == &advice[0] && find("small-calls") == &advice[1]);
    CHECK(find("overlap") == &advice[2] && count == 3);
}

int main(void)
{
    CHECK_EQUAL(report_rules_count, 16); /* one of these for each */
    test_problems();
    test_aggregators();
    test_uneven_aggregators();
    test_small_alone();
    test_sieve_alone();
    test_sieve();
    test_tiny_runs();
    test_window();
    test_small_calls();
    test_one_rank();
    test_uneven_ranks();
    test_late_rank();
    test_outside();
    test_overlap();
    test_worth();
    test_order();
    report_job_free(job);
    return 0;
}
