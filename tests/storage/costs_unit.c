/* What storing costs: measured, timed by the way, remembered. */
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "storage/costs.h"
#include "storage_support.h"

static bool plausible(const wr_price *cost)
{
    return cost->call_ns > 0 && cost->mib_ns > 0 && cost->scaling > 0;
}

/* What `weir doctor` shows. */
static void test_measuring(void)
{
    wr_storage_facts facts;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    int before = count_descriptors();
    wr_storage_measure(".", &tunables, NULL, &facts);
    CHECK(plausible(&facts.cost[WR_READ]) && plausible(&facts.cost[WR_WRITE]));
    CHECK_EQUAL(wr_tunables_set_hints(&tunables, "direct=always;storage=uring"), 0);
    wr_storage_measure(".", &tunables, NULL, &facts);
    CHECK(plausible(&facts.cost[WR_READ]) && plausible(&facts.cost[WR_WRITE]));
    CHECK_EQUAL(count_descriptors(), before);
    opened o = {0};
    open_well(&o, "any", FRESH, "storage=mem");
    wr_storage_measure("/proc", &tunables, &o.log, &facts);
    CHECK(strstr(o.logged, "costs not measured"));
    CHECK_EQUAL(facts.cost[WR_READ].mib_ns, wr_storage_default_facts().cost[WR_READ].mib_ns);
    close_well(&o);
    forget_file("any");
}

/* --- costs that are known --- */

static const wr_storage_facts somewhere = {.local = true, .system = 77};

/* Samples of so many ns a call and a MiB, both ways; of times that these functions take themselves
 * nothing is left. */
static wr_samples timed(int64_t call_ns, int64_t mib_ns)
{
    wr_samples s = {0};
    for (int i = 0; i < 2; i++) {
        s.of[i].calls = s.of[i].larges = 5;
        s.of[i].call_ns = call_ns;
        s.of[i].mib_ns = mib_ns;
    }
    return s;
}

/* What a process that starts now expects of reading somewhere. */
static wr_price expected(const wr_tunables *t)
{
    wr_costs fresh = {.lock = PTHREAD_MUTEX_INITIALIZER};
    wr_price cost[2];
    wr_costs_get(&fresh, &somewhere, t, cost);
    return cost[WR_READ];
}

static const wr_price built_in = {500, 40000, 150};

static bool same(wr_price a, wr_price b)
{
    return a.call_ns == b.call_ns && a.mib_ns == b.mib_ns && a.scaling == b.scaling;
}

/* Only the one file with costs is in the folder; its path. */
static const char *find_costs(const char *folder)
{
    static char path[300];
    glob_t found;
    char all[200];
    snprintf(all, sizeof all, "%s/*", folder);
    CHECK_EQUAL(glob(all, GLOB_PERIOD | GLOB_NOSORT, NULL, &found), 0);
    CHECK(found.gl_pathc == 3); /* with . and .. */
    *path = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (strstr(found.gl_pathv[i], "weir/costs-"))
            snprintf(path, sizeof path, "%s", found.gl_pathv[i]);
    globfree(&found);
    CHECK(*path);
    return path;
}

static void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

/* What was learned holds for the next process; what cannot be trusted does not. */
static void test_remembering(void)
{
    static wr_costs costs = {.lock = PTHREAD_MUTEX_INITIALIZER};
    char folder[60], parent[50];
    wr_tunables t;
    wr_samples fast = timed(400, 20000), wild = timed(1, INT64_MAX / 8), few = timed(100, 1000);
    wr_tunables_init(&t);
    snprintf(parent, sizeof parent, "storage-costs-%d", (int)getpid());
    snprintf(folder, sizeof folder, "%s/weir", parent);
    snprintf(t.costs_folder, sizeof t.costs_folder, "none");
    wr_costs_learn(&costs, &somewhere, &t, &fast);
    snprintf(t.costs_folder, sizeof t.costs_folder, "%s", folder);
    CHECK(same(expected(&t), built_in) && access(parent, F_OK));
    few.of[WR_READ].calls = few.of[WR_READ].larges = 1;
    few.of[WR_WRITE] = few.of[WR_READ];
    wr_costs_learn(&costs, &somewhere, &t, &few);
    CHECK(access(parent, F_OK));
    costs.count = 0;
    wr_costs_learn(&costs, &somewhere, &t, &fast);
    CHECK(same(expected(&t), (wr_price){500, 20000, 150})); /* 400 is no news */
    const char *path = find_costs(folder);
    CHECK(!chmod(path, 0666) && same(expected(&t), built_in) && !chmod(path, 0600));
    const time_t then = time(NULL) - 40 * (time_t)86400;
    struct timespec old[2] = {{.tv_sec = then}, {.tv_sec = then}};
    CHECK(!utimensat(AT_FDCWD, path, old, 0) && same(expected(&t), built_in));
    if (!geteuid()) {
        CHECK(!utimensat(AT_FDCWD, path, NULL, 0) && !chown(path, 65534, 65534));
        CHECK(same(expected(&t), built_in) && !chown(path, 0, 0));
    }
    static const char *const damaged[] = {"", "weir costs 2\nread 1 1 100\nwrite 1 1 100\nend\n",
                                          "weir costs 1\nread 1 1 100\n",
                                          "weir costs 1\nread 1 -1 100\nwrite 1 1 100\nend\n",
                                          "weir costs 1\nread 1 1 100\nwrite 1 1 999\nend\n"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        put_text(path, damaged[i]);
        CHECK(same(expected(&t), built_in));
    }
    put_text(path, "weir costs 1\nread 1 2 100\nwrite 1 1 100\nend\n");
    CHECK(same(expected(&t), (wr_price){1, 2, 100}));
    wr_costs_learn(&costs, &somewhere, &t, &wild); /* within four times of what is built in */
    CHECK(same(expected(&t), (wr_price){125, 160000, 150}));
    unlink(find_costs(folder));
    CHECK(!symlink("/dev/null", path) && same(expected(&t), built_in) && !unlink(path));
    CHECK(!mkfifo(path, 0600) && same(expected(&t), built_in) && !unlink(path));
    CHECK(!rmdir(folder) && !rmdir(parent));
}

/* A page cache, past it, a network; a delay that was asked for; more than are kept. */
static void test_costs(void)
{
    static wr_costs costs = {.lock = PTHREAD_MUTEX_INITIALIZER};
    wr_storage_facts facts = {.local = true};
    wr_tunables t;
    wr_price cost[2], far[2];
    wr_tunables_init(&t);
    snprintf(t.costs_folder, sizeof t.costs_folder, "none");
    wr_costs_get(&costs, &facts, &t, cost);
    CHECK(same(cost[WR_READ], wr_storage_default_facts().cost[WR_READ]));
    CHECK(same(cost[WR_WRITE], wr_storage_default_facts().cost[WR_WRITE]));
    CHECK_EQUAL(costs.count, 0);
    facts.local = false;
    wr_costs_get(&costs, &facts, &t, far);
    CHECK(far[WR_READ].call_ns > 10 * cost[WR_READ].call_ns);
    CHECK_EQUAL(wr_tunables_set_hints(&t, "fault=delay:1000"), 0);
    wr_costs_get(&costs, &facts, &t, cost);
    CHECK_EQUAL(cost[WR_WRITE].call_ns, far[WR_WRITE].call_ns + 1000000);
    for (int i = 1; i <= 2 * WR_COSTS_KEPT; i++) {
        facts.system = i;
        wr_costs_get(&costs, &facts, &t, cost);
    }
    CHECK(costs.count / 2 == WR_COSTS_KEPT);
}

/* Small and large transfers count; what is too little is not timed. */
static void test_samples(void)
{
    enum { TIMES = 5 };
    static const int64_t shapes[][2] = {{100, 6400}, {2, 1 << 20}, {20, 1 << 20}};
    wr_samples s = {0};
    wr_sample_end(&s, WR_READ, 0, 100, 100);
    CHECK_EQUAL(s.of[WR_READ].calls, 0);
    CHECK_EQUAL(wr_sample_start(1, 8), 0);
    for (int i = 0; i < 3 * TIMES; i++) {
        int64_t start = wr_sample_start(shapes[i % 3][0], shapes[i % 3][1]);
        CHECK(start > 0);
        wr_sample_end(&s, WR_WRITE, start, shapes[i % 3][0], shapes[i % 3][1]);
    }
    CHECK_EQUAL(s.of[WR_WRITE].calls, TIMES);
    CHECK_EQUAL(s.of[WR_WRITE].larges, TIMES);
    CHECK_EQUAL(s.of[WR_READ].calls + s.of[WR_READ].larges, 0);
    CHECK_EQUAL(s.took.of[WR_WRITE][WR_TIMED_RUNS].amount, TIMES * 100);
    CHECK_EQUAL(s.took.of[WR_WRITE][WR_TIMED_BYTES].amount, TIMES << 20);
    CHECK_EQUAL(s.took.of[WR_READ][WR_TIMED_RUNS].amount, 0);
}

/* --- prices that follow a file --- */

enum { CORES = 2 };
static const wr_price known[2] = {[WR_READ] = {500, 40000, 150}, [WR_WRITE] = {1700, 220000, 110}};

/* A call of `ranks` ranks that each took `ns` for their share of 1000 small runs, and of 10 MiB. */
static void call_took(wr_learned *l, enum wr_direction d, int64_t small_ns, int64_t large_ns,
                      int64_t ranks)
{
    wr_timings took = {0};
    for (int i = 0; i < ranks; i++) {
        wr_timings one = {0};
        if (small_ns)
            one.of[d][WR_TIMED_RUNS] = (wr_timing){small_ns, 1, 1000 / ranks, 0, 0};
        if (large_ns)
            one.of[d][WR_TIMED_BYTES] = (wr_timing){large_ns, 1, (10 << 20) / ranks, 0, 0};
        wr_timings_add(&took, &one);
    }
    wr_prices_learn(l, known, &took, CORES, (int)d);
}

/* One after the other: as long as from the first start to the last end, half of it for reads and
 * half for writes. */
static void test_span(void)
{
    wr_timings all = {.of[WR_READ][WR_TIMED_RUNS] = {10, 1, 16, 100, 110}}, next = all;
    next.of[WR_READ][WR_TIMED_RUNS].from = 90;
    next.of[WR_READ][WR_TIMED_RUNS].to = 95;
    wr_timings_add(&all, &next);
    CHECK_EQUAL(all.of[WR_READ][WR_TIMED_RUNS].ns, 10);
    wr_timings_span(&all);
    CHECK_EQUAL(all.of[WR_READ][WR_TIMED_RUNS].ns, 20);
    all.of[WR_WRITE][WR_TIMED_BYTES] = (wr_timing){20, 1, 1000, 110, 190};
    wr_timings_span(&all);
    CHECK_EQUAL(all.of[WR_READ][WR_TIMED_RUNS].ns, 50);
    CHECK_EQUAL(all.of[WR_WRITE][WR_TIMED_BYTES].ns, 50);
    CHECK_EQUAL(all.of[WR_READ][WR_TIMED_RUNS].amount, 32);
}

/* Less at once, more when it is said twice, little differences never. */
static void test_learning(void)
{
    wr_learned l = {0};
    call_took(&l, WR_WRITE, 5000000, 0, 2);
    CHECK_EQUAL(l.price[WR_WRITE].call_ns, 0);
    call_took(&l, WR_WRITE, 6000000, 0, 2);
    CHECK_EQUAL(l.price[WR_WRITE].call_ns, 5000);
    call_took(&l, WR_WRITE, 5500000, 0, 2);
    CHECK_EQUAL(l.price[WR_WRITE].call_ns, 5000);
    call_took(&l, WR_WRITE, 90000000, 0, 2);
    CHECK_EQUAL(l.price[WR_WRITE].call_ns, 5000);
    call_took(&l, WR_WRITE, 1500000, 0, 2);
    CHECK_EQUAL(l.price[WR_WRITE].call_ns, 1500);
    CHECK_EQUAL(l.price[WR_READ].call_ns + l.price[WR_WRITE].mib_ns, 0);
    for (int i = 0; i < 255; i++)
        call_took(&l, WR_WRITE, 0, 2000000, 1);
    CHECK_EQUAL(l.price[WR_WRITE].call_ns, 1500);
    call_took(&l, WR_WRITE, 0, 2000000, 1);
    CHECK_EQUAL(l.price[WR_WRITE].call_ns, 0); /* too long ago */
    CHECK_EQUAL(l.price[WR_WRITE].mib_ns, 0);  /* 200000 is like 220000 */
    call_took(&l, WR_WRITE, 0, 500000, 2);     /* two write 1.1 times as fast as one */
    CHECK_EQUAL(l.price[WR_WRITE].mib_ns, 55000);
}

/* Readers do not wait for each other, as far as there are cores for them. */
static void test_learning_reads(void)
{
    wr_learned l = {0};
    call_took(&l, WR_READ, 100000, 300000, 2);
    CHECK_EQUAL(l.price[WR_READ].call_ns, 200);
    CHECK_EQUAL(l.price[WR_READ].mib_ns, 60000);
    call_took(&l, WR_READ, 50000, 150000, 10);
    CHECK_EQUAL(l.price[WR_READ].call_ns, 100);
    CHECK_EQUAL(l.price[WR_READ].mib_ns, 30000);
}

int main(void)
{
    check_within(60);
    test_measuring();
    test_costs();
    test_samples();
    test_span();
    test_learning();
    test_learning_reads();
    test_remembering();
    return 0;
}
