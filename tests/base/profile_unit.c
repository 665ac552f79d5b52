/* The tables of a profile: sums stay exact when bins and rows run out, what has no entry goes to
 * `other`, nothing grows, and threads share one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/profile_tables.h"
#include "base/timer.h"
#include "base/wait.h"
#include "check.h"

enum { MS = 1000000, FIRST_STEP = 1 << WR_FIRST_SHIFT };

static char folder[] = "/tmp/weir_profile_XXXXXX";

static wr_profile *make(void)
{
    const wr_identity who = {.job = 1, .size = 1, .folder = folder, .version = "test"};
    wr_profile *p = wr_profile_new(&who);
    CHECK(p != NULL);
    return p;
}

static int64_t sum_cells(const wr_profile *p, int file, int d)
{
    int64_t sum = 0;
    const wr_profiled_file *f = &p->file[file];
    for (int i = 0; f->cells && i < WR_BINS; i++)
        for (int row = 0; row < WR_ROWS; row++)
            sum += f->cells[d][i][row];
    return sum;
}

static int64_t sum_time(const int64_t bin[WR_BINS])
{
    int64_t sum = 0;
    for (int i = 0; i < WR_BINS; i++)
        sum += bin[i];
    return sum;
}

/* A bin holds what passed in it, and no more than its width, however often that has doubled. */
static void test_bins(void)
{
    wr_profile *p = make();
    int64_t all = 0;
    for (int64_t at = 0, step = 1; at < INT64_C(3600000) * MS;
         at += 2 * step, step += step / 16 + 7) {
        wr_profile_time(p, WR_WAITING, (wr_span){p->start + at, p->start + at + step});
        all += step;
    }
    CHECK_EQUAL(sum_time(p->time[WR_WAITING]), all);
    CHECK(p->width > 10000 * (int64_t)MS && p->width % WR_FIRST_BIN == 0);
    for (int i = 0; i < WR_BINS; i++)
        CHECK(p->time[WR_WAITING][i] <= p->width);
    wr_profile_behind(p, (wr_span){p->start, p->start + 1});
    CHECK_EQUAL(p->behind[0], 1);
    wr_profile_add(p, &(wr_gathered){.phase = {1, 2, 3}, .at = p->start});
    CHECK_EQUAL(p->time[WR_ACCESSING][0], 2);
    const int64_t end = wr_profile_bin_end(p, p->start + 1);
    CHECK_EQUAL(end, p->start + p->width);
    wr_profile_free(p);
}

/* Rows double as offsets grow: in each order of offsets all bytes are there, where they belong. */
static void test_rows(rng *r)
{
    wr_profile *p = make();
    wr_tally tally = {0};
    wr_watch w = {.tally = &tally, .profile = p, .file = wr_profile_file(p, "a file")};
    int64_t all[2] = {0}, largest = 0;
    for (int i = 0; i < 3000; i++) {
        const int d = rng_chance(r, 50);
        const int64_t lo = rng_within(r, 0, INT64_C(1) << rng_within(r, 0, 60)),
                      span = rng_within(r, 1, INT64_C(1) << rng_within(r, 1, 40)),
                      bytes = rng_within(r, 1, span);
        wr_watch_moved(&w, (enum wr_direction)d, (wr_span){lo, lo + span}, bytes, 1);
        all[d] += bytes;
        largest = lo + span > largest ? lo + span : largest;
    }
    wr_watch_tell(&w, wr_clock_ns());
    for (int d = 0; d < 2; d++) {
        CHECK_EQUAL(sum_cells(p, w.file, d), all[d]);
        CHECK_EQUAL(wr_tally_get(&tally.moved[d]), all[d]);
    }
    const wr_profiled_file *f = &p->file[w.file];
    CHECK_EQUAL(f->size, largest);
    CHECK(INT64_C(64) << f->shift >= largest && INT64_C(16) << f->shift <= largest);
    CHECK_EQUAL(f->runs, 3000);
    CHECK_EQUAL(wr_profile_file(p, "a file"), w.file);
    wr_profile_free(p);
}

/* The first byte of each row is in that row, before and after rows are joined. */
static void test_places(void)
{
    wr_profile *p = make();
    wr_tally tally = {0};
    wr_watch w = {.tally = &tally, .profile = p, .file = wr_profile_file(p, "f")};
    for (int64_t row = 0; row < WR_ROWS; row++) {
        wr_watch_moved(&w, WR_WRITE, (wr_span){row * FIRST_STEP, row * FIRST_STEP + 5}, 5, 1);
        wr_watch_tell(&w, p->start);
    }
    for (int row = 0; row < WR_ROWS; row++)
        CHECK_EQUAL(p->file[0].cells[WR_WRITE][0][row], 5);
    wr_watch_moved(&w, WR_WRITE, (wr_span){8 * WR_ROWS * FIRST_STEP - 1, 8 * WR_ROWS * FIRST_STEP},
                   1, 1);
    wr_watch_tell(&w, p->start);
    CHECK_EQUAL(p->file[0].shift, WR_FIRST_SHIFT + 3);
    for (int row = 0; row < WR_ROWS; row++)
        CHECK_EQUAL(p->file[0].cells[WR_WRITE][0][row], row < 8 ? 40 : row == WR_ROWS - 1);
    wr_profile_free(p);
}

/* More files, classes, plans and partners than there are entries. */
static void test_other(void)
{
    wr_profile *p = make();
    char name[40];
    for (int i = 0; i < WR_PROFILED_FILES + 5; i++) {
        snprintf(name, sizeof name, "file %d", i);
        CHECK_EQUAL(wr_profile_file(p, name), i < WR_PROFILED_FILES ? i : WR_PROFILED_FILES);
    }
    int plans = 0;
    for (int i = 0; i < 3 * WR_CLASSES; i++) {
        const wr_call_kind kind = {.aggregators = i,
                                   .direction = (enum wr_direction)(i % 2),
                                   .exchange = "shm",
                                   .way = "rounds",
                                   .file = WR_PROFILED_FILES};
        bool wants = false;
        const int class = wr_profile_class(p, &kind, 10, &wants);
        CHECK_EQUAL(class, i < WR_CLASSES ? i : WR_CLASSES + i % 2);
        plans += wants;
        wr_profile_call(p,
                        &(wr_finished){.class = class,
                                       .file = WR_PROFILED_FILES,
                                       .wanted = 1,
                                       .spent.ns = 2,
                                       .failed = i % 3 == 0},
                        NULL);
    }
    CHECK_EQUAL(plans, WR_PLANS);
    CHECK_EQUAL(p->class[WR_CLASSES].count + p->class[WR_CLASSES + 1].count, 2 * WR_CLASSES);
    for (int i = 0; i < 3 * WR_PARTNERS; i++)
        wr_profile_add(p, &(wr_gathered){.whom = i, .waited = 1, .at = p->start});
    CHECK_EQUAL(p->partner[WR_PARTNERS].ns, 2 * WR_PARTNERS);
    wr_profile_free(p);
}

/* The plans kept are those of what costs most; a class that comes to cost much gets a place. */
static void test_plans(void)
{
    wr_profile *p = make();
    bool wants;
    char longer[2 * WR_PLAN_TEXT];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    for (int i = 0; i < WR_PLANS; i++)
        wr_profile_class(p, &(wr_call_kind){.window = 1 + i}, 1000 + i, &wants);
    const wr_call_kind late = {.window = 500};
    wr_profile_class(p, &late, 1500, &wants);
    CHECK(!wants);
    const int class = wr_profile_class(p, &late, 1500, &wants);
    CHECK(wants);
    wr_profile_set_plan(p, class, longer);
    CHECK_EQUAL((int64_t)strlen(p->plan[p->class[class].plan].text), WR_PLAN_TEXT - 1);
    CHECK_EQUAL(p->class[0].plan, -1);
    wr_profile_class(p, &late, 1, &wants);
    CHECK(!wants);
    wr_profile_free(p);
}

/* What a file has moved is charged to the next call that ends on it, and what is left to the latest
 * one. */
static void test_charges(void)
{
    wr_profile *p = make();
    wr_tally tally = {0};
    wr_watch w = {.tally = &tally, .profile = p, .file = wr_profile_file(p, "f")};
    wr_watch_moved(&w, WR_READ, (wr_span){0, 100}, 100, 4);
    wr_watch_tell(&w, p->start);
    wr_call_kind kind = {.exchange = "none", .way = "list"};
    wr_finished f = {.class = -1, .wanted = 70};
    wr_watch_finished(&w, &kind, &f, NULL);
    CHECK_EQUAL(p->class[f.class].moved, 100);
    CHECK_EQUAL(p->class[f.class].runs, 4);
    wr_watch_moved(&w, WR_WRITE, (wr_span){0, 11}, 11, 1);
    wr_watch_tell(&w, p->start);
    wr_profile_save(p, true);
    CHECK_EQUAL(p->class[f.class].moved, 111);
    wr_profile_free(p);
}

/* Who waits in the storage accesses the file; what was waited for can be named. */
static void test_timer(void)
{
    wr_profile *p = make();
    wr_tally tally = {0};
    wr_watch w = {.tally = &tally, .profile = p, .timed = true, .file = wr_profile_file(p, "f")};
    wr_timer t, inner;
    wr_timer_begin(&t, &w, WR_EXCHANGING);
    wr_timer_begin(&inner, &w, WR_EXCHANGING);
    CHECK(t.watch && !inner.watch);
    const wr_visit visit = wr_watch_begin(&w);
    wr_nap_any(0, NULL, 100);
    CHECK_EQUAL(t.spent.phase[WR_WAITING], 0);
    wr_watch_end(&w, visit);
    wr_nap_any(0, NULL, 100);
    wr_timer_name(7);
    const int64_t named = t.spent.phase[WR_WAITING];
    wr_nap_any(0, NULL, 100);
    wr_nap_any(0, NULL, 100); /* for nobody knows whom before */
    wr_timer_name(7);
    wr_nap_any(0, NULL, 100);
    wr_timer_name(WR_NOBODY); /* as one that did not wait does */
    wr_timer_name(8);
    wr_timer_end(&inner);
    wr_timer_end(&t);
    const wr_spent *s = &t.spent;
    CHECK(s->phase[WR_WAITING] > 50000 && s->phase[WR_ACCESSING] > 50000);
    CHECK_EQUAL(s->phase[0] + s->phase[1] + s->phase[2], s->ns);
    CHECK_EQUAL(sum_time(p->time[0]) + sum_time(p->time[1]) + sum_time(p->time[2]), s->ns);
    CHECK_EQUAL(p->partner[0].rank, 7);
    CHECK_EQUAL(p->partners, 1);
    CHECK(p->partner[0].ns >= named + 100000 && p->partner[WR_PARTNERS].ns >= 200000);
    CHECK_EQUAL(p->partner[0].ns + p->partner[WR_PARTNERS].ns, s->phase[WR_WAITING]);
    const wr_visit behind = wr_watch_begin(&w);
    wr_watch_end(&w, behind);
    CHECK(sum_time(p->behind) > 0);
    w.timed = false;
    wr_timer_begin(&t, &w, WR_EXCHANGING);
    CHECK(!t.watch);
    wr_profile_free(p);
}

/* What a visit moves is charged to its call at the end, in one piece or more, and of another file
 * to that; a visit within another, or within a sync, takes nothing away. */
static void test_visits(void)
{
    wr_profile *p = make();
    wr_tally tally = {0};
    wr_watch w = {.tally = &tally, .profile = p, .timed = true, .file = wr_profile_file(p, "f")},
             other = w;
    other.file = wr_profile_file(p, "g");
    for (int rest = WR_EXCHANGING; rest <= WR_ACCESSING; rest++) {
        wr_timer t;
        wr_timer_begin(&t, &w, (enum wr_phase)rest);
        for (int i = 0; i < 3; i++) {
            const wr_visit visit = wr_watch_begin(&w), inner = wr_watch_begin(&w);
            wr_watch_moved(&w, WR_READ, (wr_span){0, 10}, 10, 1);
            wr_watch_end(&w, inner);
            wr_watch_moved(&w, WR_READ, (wr_span){20, 30}, 10, 1);
            wr_watch_end(&w, visit);
        }
        const wr_visit visit = wr_watch_begin(&other);
        wr_watch_moved(&other, WR_WRITE, (wr_span){0, 5}, 5, 1);
        wr_watch_end(&other, visit);
        CHECK(!w.moved.bytes && !other.moved.bytes && !t.visits);
        wr_timer_stop(&t);
        wr_finished f = {.class = -1, .wanted = 60, .spent = t.spent};
        wr_watch_finished(&w, &(wr_call_kind){.exchange = wr_no_name, .way = wr_no_name}, &f, &t);
        CHECK_EQUAL(p->class[f.class].moved, 60 * (rest + 1));
        CHECK_EQUAL(p->class[f.class].runs, 6 * (rest + 1));
        CHECK_EQUAL(p->file[other.file].moved, 5 * (rest + 1));
    }
    CHECK_EQUAL(sum_cells(p, w.file, WR_READ), 120);
    CHECK_EQUAL(sum_cells(p, other.file, WR_WRITE), 10);
    wr_profile_free(p);
}

/* --- the file --- */

static void read_text(const char *suffix, char text[1 << 16])
{
    char path[100];
    snprintf(path, sizeof path, "%s/0000000000000001.0.%s", folder, suffix);
    FILE *f = fopen(path, "r");
    text[0] = '\0';
    if (!f)
        return;
    text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
    fclose(f);
}

static void test_file(void)
{
    static char text[1 << 16];
    wr_profile *p = make();
    wr_tally tally = {0};
    wr_watch w = {.tally = &tally, .profile = p, .file = wr_profile_file(p, "two\nlines \\")};
    wr_watch_moved(&w, WR_WRITE, (wr_span){0, 100}, 100, 1);
    wr_watch_tell(&w, p->start);
    const wr_call_kind kind = {.together = true,
                               .exchange = "shm",
                               .way = "rounds",
                               .aggregators = 3,
                               .direction = WR_WRITE,
                               .form = 2};
    bool wants;
    const int class = wr_profile_class(p, &kind, 1, &wants);
    wr_profile_set_plan(p, class, "plan: x\nway: y\n");
    wr_profile_call(p, &(wr_finished){.class = class, .wanted = 50, .spent = {9, {1, 3, 5}}}, NULL);
    wr_profile_save(p, false);
    read_text("weir", text);
    CHECK(!strncmp(text, "weir-trace 1\njob 0000000000000001\nrank 0 1\n", 42));
    CHECK(strstr(text, "\ncomplete 0\n") && strstr(text, "\nversion test\n"));
    CHECK(strstr(text, "\nfile 0 100 two\\nlines \\\\\n") != NULL);
    CHECK(strstr(text, "\ncell 0 write 0 0 100\n") != NULL);
    CHECK(strstr(text, "\ncall 0 0 write together nonblocking 1 50 100 1 9 1 3 5 9 0\n") != NULL);
    CHECK(strstr(text, "\nshape 0 3 0 0 0 0 shm rounds\n") != NULL);
    CHECK(strstr(text, "\nplan 0 plan: x\\nway: y\\n\n") != NULL);
    CHECK(!strcmp(text + strlen(text) - 14, "\nerrors 0\nend\n"));
    p->bin_end = INT64_MIN;
    p->start -= INT64_C(3600000) * MS; /* an hour in which nothing happened has its bins, too */
    wr_profile_save(p, true);
    read_text("weir", text);
    CHECK(strstr(text, "\ncomplete 1\n") != NULL);
    CHECK(strstr(text, "\nbins 220 16384000000\n") != NULL);
    read_text("part", text);
    CHECK(!*text);
    wr_profile_rename(p, &(wr_identity){.job = 2, .rank = 3, .size = 8, .node = 5});
    read_text("weir", text);
    CHECK(!*text);
    CHECK(p->rank == 3 && p->size == 8 && p->node == 5);
    wr_profile_free(p);
}

/* A child leaves its parent's file alone. */
static void test_fork(void)
{
    static char before[1 << 16], after[1 << 16];
    wr_profile *p = make();
    wr_profile_save(p, false);
    read_text("weir", before);
    const pid_t child = fork();
    if (child == 0) {
        wr_profile_save(p, true);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && !status);
    read_text("weir", after);
    CHECK(*before && !strcmp(before, after));
    wr_profile_free(p);
}

static int warnings;

static void note(void *user, const char *line, int length)
{
    (void)user, (void)length;
    warnings += strstr(line, "no trace") != NULL;
}

/* A folder stays where it is when the program goes elsewhere; after a save there is a pause. */
static void test_folder(void)
{
    static char text[2 * WR_PROFILE_TEXT];
    char before[WR_PROFILE_TEXT];
    wr_identity who = {.folder = "inside", .version = "test", .size = 1};
    CHECK(getcwd(before, sizeof before) && !chdir(folder));
    wr_profile *p = wr_profile_new(&who);
    CHECK(p && !chdir(before));
    wr_profile_save(p, true);
    CHECK(p->next_closed >= wr_clock_ns() && p->next - p->next_closed <= INT64_C(4000000000));
    snprintf(text, sizeof text, "%s/inside/0000000000000000.0.weir", folder);
    CHECK(!unlink(text));
    CHECK(!rmdir(p->folder));
    wr_profile_free(p);
    memset(text, 'x', sizeof text - 1);
    who.folder = text;
    p = wr_profile_new(&who);
    CHECK(p && p->broken);
    wr_profile_free(p);
}

/* It says once that it cannot be written, and goes on. */
static void test_unwritable(void)
{
    const wr_identity who = {.folder = "/dev/null/x",
                             .version = "test",
                             .size = 1,
                             .log = {.level = WR_LOG_WARN, .sink = note}};
    wr_profile *p = wr_profile_new(&who);
    CHECK(p != NULL);
    CHECK(!strcmp(p->folder, who.folder));
    for (int i = 0; i < 3; i++)
        wr_profile_save(p, i == 2);
    wr_profile_save_now_and_then(p, INT64_MAX - 1);
    CHECK_EQUAL(warnings, 1);
    wr_profile_free(p);
    wr_alloc_fail_after(0);
    CHECK(!wr_profile_new(&who));
}

/* --- threads --- */

enum { THREADS = 4, CALLS = 500 };

static void *make_calls(void *user)
{
    wr_profile *p = user;
    wr_tally tally = {0};
    wr_watch w = {.tally = &tally, .profile = p, .timed = true, .file = wr_profile_file(p, "f")};
    for (int i = 0; i < CALLS; i++) {
        wr_timer t;
        wr_timer_begin(&t, &w, WR_EXCHANGING);
        const wr_visit visit = wr_watch_begin(&w);
        wr_watch_moved(&w, WR_READ, (wr_span){i * 1000000, i * 1000000 + 10}, 10, 1);
        wr_watch_end(&w, visit);
        wr_timer_stop(&t);
        const wr_call_kind kind = {.window = i % 7, .exchange = "none", .way = "list"};
        wr_finished f = {.class = -1, .wanted = 10, .spent = t.spent};
        wr_watch_finished(&w, &kind, &f, &t);
        if (i % 100 == 0)
            wr_profile_save_closed(p);
    }
    return NULL;
}

static void test_threads(void)
{
    wr_profile *p = make();
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, make_calls, p));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    int64_t count = 0, moved = 0, ns = 0;
    for (int i = 0; i < p->classes; i++) {
        count += p->class[i].count;
        moved += p->class[i].moved;
        ns += p->class[i].spent.ns;
    }
    CHECK_EQUAL(count, THREADS * CALLS);
    CHECK_EQUAL(moved, 10 * THREADS * CALLS);
    CHECK_EQUAL(sum_cells(p, 0, WR_READ), 10 * THREADS * CALLS);
    CHECK_EQUAL(sum_time(p->time[0]) + sum_time(p->time[1]) + sum_time(p->time[2]), ns);
    wr_profile_free(p);
}

int main(void)
{
    rng r = {test_seed()};
    CHECK(mkdtemp(folder) != NULL);
    CHECK(sizeof(wr_profile) < 256 << 10);
    test_bins();
    test_rows(&r);
    test_places();
    test_other();
    test_plans();
    test_charges();
    test_timer();
    test_visits();
    test_file();
    test_fork();
    test_folder();
    test_unwritable();
    test_threads();
    char command[100];
    snprintf(command, sizeof command, "%s/0000000000000001.0.weir", folder);
    unlink(command);
    CHECK(!rmdir(folder));
}
