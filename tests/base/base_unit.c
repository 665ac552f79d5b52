/* Errors, arithmetic, memory, log and events. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/cores.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "check.h"

static void test_error_details(void)
{
    char text[400];
    CHECK_EQUAL(wr_fail_system(ENOSPC, "data/a.npy", 4096, "write"), WEIR_ENOSPC);
    wr_error_note_rank(3);
    const weir_error *e = weir_error_last();
    CHECK_EQUAL(e->code, WEIR_ENOSPC);
    CHECK_EQUAL(e->errnum, ENOSPC);
    CHECK_EQUAL(e->offset, 4096);
    weir_error_format(e, text, sizeof text);
    CHECK(!strcmp(text, "rank 3: data/a.npy: cannot write at byte 4096: No space left on device"));
    int whole = weir_error_format(e, text, 10);
    CHECK(whole > 10 && strlen(text) == 9);

    weir_error moved;
    wr_error_take(&moved);
    CHECK_EQUAL(weir_error_last()->code, WEIR_OK);
    CHECK_EQUAL(wr_error_raise(&moved), WEIR_ENOSPC);
    CHECK_EQUAL(weir_error_last()->rank, 3);
    CHECK_EQUAL(wr_fail_system(EMFILE, "x", -1, "open"), WEIR_EIO);
    CHECK(!strcmp(weir_error_name(WEIR_EBUDGET), "memory budget exceeded"));
    CHECK(!strcmp(weir_error_name(7), "unknown error"));
}

static void test_long_path(void)
{
    char path[2000];
    memset(path, 'a', sizeof path);
    strcpy(path + sizeof path - 10, "/tail.npy");
    wr_fail_system(EIO, path, 0, "read");
    const char *file = weir_error_last()->file;
    CHECK_EQUAL((int64_t)strlen(file), WEIR_ERROR_FILE - 1);
    CHECK(!strncmp(file, "...a", 4) && strstr(file, "/tail.npy"));
}

/* A path that just fits stays whole; one character more, and its head goes. */
static void test_path_that_just_fits(void)
{
    char path[WEIR_ERROR_FILE + 1];
    for (size_t length = WEIR_ERROR_FILE - 1; length <= WEIR_ERROR_FILE; length++) {
        for (size_t i = 0; i < length; i++)
            path[i] = (char)('a' + i % 26);
        path[length] = '\0';
        wr_fail_system(EIO, path, 0, "read");
        const char *file = weir_error_last()->file;
        CHECK_EQUAL((int64_t)strlen(file), WEIR_ERROR_FILE - 1);
        if (length < WEIR_ERROR_FILE)
            CHECK(!strcmp(file, path));
        else
            CHECK(!strncmp(file, "...", 3) && !strcmp(file + 3, path + length - strlen(file + 3)));
    }
}

static void test_no_stale_details(void)
{
    wr_fail_system(ENOSPC, "data/a.npy", 4096, "write");
    wr_error_note_rank(3);
    wr_fail(WEIR_EINVAL, "bad");
    const weir_error *e = weir_error_last();
    CHECK(e->errnum == 0 && e->rank == -1 && e->offset == -1 && !*e->file);
    CHECK(!strcmp(e->text, "bad"));
    wr_error_note_rank(3);
    wr_fail_system(EIO, "b", -1, "read");
    CHECK(e->rank == -1 && e->offset == -1 && !strcmp(e->file, "b"));
    weir_error taken;
    wr_error_take(&taken);
    CHECK(e->errnum == 0 && e->rank == -1 && e->offset == -1 && !*e->file && !*e->text);
}

static void test_codes_of_errno(void)
{
    static const int rows[][2] = {
        {EINVAL, WEIR_EINVAL},
        {ENOMEM, WEIR_ENOMEM},
        {ENOENT, WEIR_ENOENT},
        {ENOTDIR, WEIR_ENOENT},
        {EEXIST, WEIR_EEXIST},
        {EACCES, WEIR_EACCESS},
        {EPERM, WEIR_EACCESS},
        {EROFS, WEIR_EACCESS},
        {ENOSPC, WEIR_ENOSPC},
        {EDQUOT, WEIR_ENOSPC},
        {EFBIG, WEIR_ENOSPC},
        {EOVERFLOW, WEIR_ERANGE},
        {ENOSYS, WEIR_EUNSUPPORTED},
        {EOPNOTSUPP, WEIR_EUNSUPPORTED},
        {EIO, WEIR_EIO},
        {EBADF, WEIR_EIO},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_case((int64_t)i);
        CHECK_EQUAL(wr_fail_system(rows[i][0], "x", 0, "open"), rows[i][1]);
        CHECK_EQUAL(weir_error_last()->code, rows[i][1]);
    }
    for (int code = WEIR_EINTERRUPTED; code <= WEIR_OK; code++)
        CHECK(strcmp(weir_error_name(code), "unknown error"));
    check_case(-1);
}

static void *other_thread(void *unused)
{
    (void)unused;
    CHECK_EQUAL(weir_error_last()->code, WEIR_OK);
    wr_fail(WEIR_EIO, "elsewhere");
    return NULL;
}

static void test_error_is_per_thread(void)
{
    pthread_t thread;
    wr_fail(WEIR_EINVAL, "here");
    CHECK(!pthread_create(&thread, NULL, other_thread, NULL));
    pthread_join(thread, NULL);
    CHECK_EQUAL(weir_error_last()->code, WEIR_EINVAL);
}

static void test_arithmetic(void)
{
    int64_t x = 5;
    CHECK(!wr_add(INT64_MAX, 1, &x) && !wr_sub(INT64_MIN, 1, &x) && !wr_mul(INT64_MAX, 2, &x));
    CHECK_EQUAL(x, 5);
    CHECK(wr_mul(-(INT64_C(1) << 31), INT64_C(1) << 32, &x));
    CHECK_EQUAL(x, INT64_MIN);
    CHECK(wr_clamp(-9, -3, 4) == -3 && wr_clamp(9, -3, 4) == 4 && wr_clamp(1, -3, 4) == 1);
    CHECK_EQUAL(wr_div_floor(-1, 8), -1);
    CHECK_EQUAL(wr_div_floor(-8, 8), -1);
    CHECK_EQUAL(wr_div_floor(7, 8), 0);
    CHECK_EQUAL(wr_div_ceil(-1, 8), 0);
    CHECK_EQUAL(wr_div_ceil(0, 8), 0);
    CHECK_EQUAL(wr_div_ceil(8, 8), 1);
    CHECK_EQUAL(wr_div_ceil(9, 8), 2);
    CHECK_EQUAL(wr_div_ceil(INT64_MAX, 2), INT64_C(1) << 62);
}

/* Parts join to all indices, and differ in size by 1 at most. */
static void test_shares(void)
{
    for (int64_t n = 0; n < 12; n++)
        for (int64_t parts = 1; parts < 9; parts++) {
            int64_t at = 0;
            for (int64_t k = 0; k < parts; k++) {
                const wr_span s = wr_share(n, k, parts);
                CHECK_EQUAL(s.lo, at);
                CHECK_EQUAL(s.hi - s.lo, n / parts + (k < n % parts));
                at = s.hi;
            }
            CHECK_EQUAL(at, n);
        }
}

static void test_failing_allocation(void)
{
    int64_t before = wr_alloc_count();
    wr_alloc_fail_after(1);
    void *first = wr_alloc(0), *second = wr_alloc(8), *third = wr_alloc(8);
    CHECK(first && !second && third);
    CHECK_EQUAL(weir_error_last()->code, WEIR_ENOMEM);
    CHECK_EQUAL(wr_alloc_count() - before, 3);
    wr_free(first);
    wr_free(third);

    int64_t *items = NULL, room = 0;
    CHECK(!wr_grow((void **)&items, &room, 3, sizeof *items));
    CHECK(room >= 3);
    int64_t *kept = items;
    wr_alloc_fail_after(0);
    CHECK_EQUAL(wr_grow((void **)&items, &room, 1000, sizeof *items), WEIR_ENOMEM);
    CHECK(items == kept && room < 1000);
    CHECK_EQUAL(wr_grow((void **)&items, &room, INT64_MAX, sizeof *items), WEIR_ENOMEM);
    CHECK(!wr_alloc_array(INT64_MAX, 16));
    wr_free(items);
}

static void test_arena_keeps_to_budget(void)
{
    wr_budget budget;
    wr_budget_init(&budget, 64 << 10);
    wr_arena arena = {.budget = &budget};
    char *small = wr_arena_alloc(&arena, 100), *large = wr_arena_alloc(&arena, 30 << 10);
    CHECK(small && large);
    memset(small, 1, 100);
    memset(large, 2, 30 << 10);
    CHECK((uintptr_t)wr_arena_alloc(&arena, 1) % _Alignof(max_align_t) == 0);
    CHECK(!wr_arena_alloc(&arena, 40 << 10));
    CHECK_EQUAL(weir_error_last()->code, WEIR_EBUDGET);
    CHECK(!wr_arena_alloc(&arena, INT64_MAX));
    CHECK(budget.used <= budget.limit && budget.peak >= (30 << 10));
    wr_arena_release(&arena);
    CHECK_EQUAL(budget.used, 0);
}

/* The budget has room, the system has not: nothing stays taken, and the arena goes on. */
static void test_arena_out_of_memory(void)
{
    wr_budget budget;
    wr_budget_init(&budget, 1 << 20);
    wr_arena arena = {.budget = &budget};
    CHECK(wr_arena_alloc(&arena, 100));
    int64_t used = budget.used;
    for (int64_t size = 17 << 10; size <= 200 << 10; size += 90 << 10) {
        wr_alloc_fail_after(0);
        CHECK(!wr_arena_alloc(&arena, size));
        wr_alloc_fail_after(-1);
        CHECK_EQUAL(weir_error_last()->code, WEIR_ENOMEM);
        CHECK_EQUAL(budget.used, used);
    }
    char *small = wr_arena_alloc(&arena, 100), *large = wr_arena_alloc(&arena, 20 << 10);
    CHECK(small && large);
    memset(small, 1, 100);
    memset(large, 2, 20 << 10);
    CHECK_EQUAL(small[99], 1);
    wr_arena_release(&arena);
    CHECK_EQUAL(budget.used, 0);
}

/* Random sizes: aligned, apart, kept, and not much more memory than asked for. */
static void test_arena_allocations(void)
{
    enum { PARTS = 200 };
    rng r = {test_seed()};
    unsigned char *part[PARTS];
    int64_t size[PARTS], asked = 0;
    wr_budget budget;
    wr_budget_init(&budget, INT64_MAX);
    wr_arena arena = {.budget = &budget};
    for (int i = 0; i < PARTS; i++) {
        size[i] = i < 2 ? 1 : rng_within(&r, 0, rng_chance(&r, 10) ? 40000 : 300);
        asked += size[i] + 32;
        part[i] = wr_arena_alloc(&arena, size[i]);
        CHECK(part[i] && (uintptr_t)part[i] % _Alignof(max_align_t) == 0);
        memset(part[i], i, (size_t)size[i]);
    }
    CHECK(part[0] != part[1]);
    for (int i = 0; i < PARTS; i++)
        for (int64_t k = 0; k < size[i]; k++)
            CHECK(part[i][k] == (unsigned char)i);
    CHECK(budget.used >= asked - 32 * PARTS && budget.used <= 2 * asked + (16 << 10));
    wr_arena_release(&arena);
    CHECK(budget.used == 0 && !arena.block);
}

static void test_budget_to_the_byte(void)
{
    wr_budget budget;
    wr_budget_init(&budget, 1000);
    CHECK(!wr_budget_take(&budget, 400) && !wr_budget_take(&budget, 600));
    CHECK_FAILS(wr_budget_take(&budget, 1), WEIR_EBUDGET, "budget of 1000");
    CHECK(!wr_budget_take(&budget, 0));
    wr_budget_give(&budget, 1);
    CHECK_FAILS(wr_budget_take(&budget, 2), WEIR_EBUDGET, "999 in use");
    CHECK(!wr_budget_take(&budget, 1));
    CHECK_EQUAL(budget.used, 1000);
    CHECK_EQUAL(budget.peak, 1000);
    CHECK_FAILS(wr_budget_take(&budget, INT64_MAX), WEIR_EBUDGET, "budget");
    CHECK(!wr_budget_take(NULL, INT64_MAX));
    wr_budget_give(NULL, 1);
}

static void *take_and_give(void *user)
{
    for (int i = 0; i < 20000; i++)
        if (!wr_budget_take(user, 600))
            wr_budget_give(user, 600);
    return NULL;
}

static void test_budget_among_threads(void)
{
    wr_budget budget;
    pthread_t thread[4];
    wr_budget_init(&budget, 1000);
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_create(&thread[i], NULL, take_and_give, &budget));
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQUAL(budget.used, 0);
    CHECK_EQUAL(budget.peak, 600);
}

typedef struct lines {
    char text[200000];
    int64_t used;
} lines;

static void log_sink(void *user, const char *line, int length)
{
    lines *l = user;
    memcpy(l->text + l->used, line, (size_t)length);
    l->used += length;
    l->text[l->used] = '\0';
}

static void put_text(const char *folder, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

/* The least of a control group and those it is in. */
static void test_cores_quota(void)
{
    char root[] = "quota-XXXXXX", inner[40], groups[40];
    CHECK(mkdtemp(root));
    snprintf(inner, sizeof inner, "%s/a", root);
    snprintf(groups, sizeof groups, "%s/groups", root);
    CHECK(!mkdir(inner, 0700));
    CHECK(wr_cores_quota(root, groups) == INT64_MAX);
    put_text(root, "groups", "3:cpu:/b\n0::/a\n");
    put_text(root, "cpu.max", "max 100000\n");
    CHECK(wr_cores_quota(root, groups) == INT64_MAX);
    put_text(inner, "cpu.max", "250000 100000\n");
    CHECK_EQUAL(wr_cores_quota(root, groups), 3);
    put_text(root, "cpu.max", "50000 100000\n");
    CHECK_EQUAL(wr_cores_quota(root, groups), 1);
    put_text(root, "cpu.max", "800000 100000\n");
    CHECK_EQUAL(wr_cores_quota(root, groups), 3);
    put_text(root, "groups", "0::/\n");
    CHECK_EQUAL(wr_cores_quota(root, groups), 8);
    put_text(root, "groups", "0::/a/gone\n");
    CHECK_EQUAL(wr_cores_quota(root, groups), 3);
    static const char *const left[] = {"a/cpu.max", "a", "cpu.max", "groups", ""};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        snprintf(groups, sizeof groups, "%s/%s", root, left[i]);
        CHECK(!remove(groups));
    }
    cpu_set_t none, two;
    CPU_ZERO(&none);
    CPU_ZERO(&two);
    CPU_SET(1, &two);
    CPU_SET(5, &two);
    CHECK(wr_cores_of(&none) >= 1);
    CHECK(wr_cores_of(&two) >= 1 && wr_cores_of(&two) <= 2);
}

static void test_log(void)
{
    static lines l;
    wr_log log = {.level = WR_LOG_INFO, .sink = log_sink, .user = &l};
    wr_log_line(&log, WR_LOG_DEBUG, "not %s", "this");
    wr_log_line(&log, WR_LOG_INFO, "falls back to %s", "posix");
    CHECK(!strcmp(l.text, "weir: info: falls back to posix\n"));
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    l.used = 0;
    wr_log_line(&log, WR_LOG_ERROR, "%s", text);
    CHECK(l.used < 600 && l.text[l.used - 1] == '\n');
    wr_log_line(&(wr_log){0}, WR_LOG_ERROR, "silent");
    wr_log_line(NULL, WR_LOG_ERROR, "silent");
}

/* Lines around the limit of 512 bytes: whole, or cut with a newline at the end. */
static void test_log_lines_that_just_fit(void)
{
    static lines l;
    wr_log log = {.level = WR_LOG_ERROR, .sink = log_sink, .user = &l};
    char text[600], wanted[700];
    for (int length = 505; length <= 520; length++) {
        int head = (int)strlen("weir: error: "), body = length - head - 1;
        memset(text, 'x', (size_t)body);
        text[body] = '\0';
        snprintf(wanted, sizeof wanted, "weir: error: %s", text);
        l.used = 0;
        wr_log_line(&log, WR_LOG_ERROR, "%s", text);
        CHECK(length <= 511 ? l.used == length : l.used == 511 || l.used == 512);
        CHECK(l.text[l.used - 1] == '\n' && !strncmp(l.text, wanted, (size_t)l.used - 1));
    }
}

static int events_sink(void *user, const char *text, int64_t length)
{
    lines *l = user;
    if (l->used + length > (int64_t)sizeof l->text)
        return ENOSPC;
    memcpy(l->text + l->used, text, (size_t)length);
    l->used += length;
    return 0;
}

static void *note_events(void *user)
{
    for (int64_t i = 0; i < 500; i++)
        WR_EVENT((wr_events *)user, "read", NULL, {"offset", i}, {"bytes", INT64_MIN});
    return NULL;
}

static void test_events_among_threads(void)
{
    static lines l;
    wr_events *events;
    pthread_t thread[4];
    CHECK(!wr_events_new(&events, events_sink, &l));
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_create(&thread[i], NULL, note_events, events));
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    CHECK(!wr_events_close(events));
    int number = 0;
    for (char *at = l.text, *end; at < l.text + l.used; at = end + 1, number++) {
        long long time, offset, bytes = 0;
        end = memchr(at, '\n', (size_t)(l.text + l.used - at));
        CHECK(end && sscanf(at, "%lld read offset=%lld bytes=%lld", &time, &offset, &bytes) == 3);
        CHECK_EQUAL(bytes, INT64_MIN);
    }
    CHECK_EQUAL(number, 2000);
    WR_EVENT((wr_events *)NULL, "nothing", NULL, {"x", 1});
}

/* A name longer than a line is cut; the next event is a line of its own. */
static void test_events_long_name(void)
{
    static lines l;
    wr_events *events;
    char name[8001];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK(!wr_events_new(&events, events_sink, &l));
    WR_EVENT(events, name, NULL, {"key", 1});
    WR_EVENT(events, "next", NULL, {name, INT64_MAX});
    WR_EVENT(events, "last", NULL, {"key", -5});
    CHECK(!wr_events_close(events));
    char *first = memchr(l.text, '\n', (size_t)l.used), *second = first + 1;
    CHECK(first && first - l.text <= 5120 && first[-1] == 'n' && strstr(l.text, " nnnn"));
    second = memchr(second, '\n', (size_t)(l.text + l.used - second));
    CHECK(second && second - first <= 5121 && strstr(first, " next nnnn") < second);
    CHECK(l.text[l.used - 1] == '\n' && strstr(second, " last key=-5\n"));
}

static int failing_sink(void *user, const char *text, int64_t length)
{
    (void)text, (void)length;
    return ++*(int *)user == 2 ? EIO : 0;
}

/* After the first error nothing is handed over, and that error is the one reported. */
static void test_events_stops_at_error(void)
{
    wr_events *events;
    int calls = 0;
    CHECK(!wr_events_new(&events, failing_sink, &calls));
    for (int i = 0; i < 20; i++)
        note_events(events);
    CHECK_EQUAL(calls, 2);
    CHECK_FAILS(wr_events_close(events), WEIR_EIO, "write the events");
    CHECK_EQUAL(calls, 2);
}

static void test_events_errors(void)
{
    wr_events *events;
    static lines full = {.used = sizeof full.text};
    CHECK(!wr_events_new(&events, events_sink, &full));
    note_events(events);
    CHECK_FAILS(wr_events_close(events), WEIR_ENOSPC, "write the events");
    CHECK_FAILS(wr_events_open(&events, "/nonexistent/e", 0), WEIR_ENOENT,
                "open the file of events");
    CHECK(!wr_events_close(NULL));
    wr_alloc_fail_after(0);
    CHECK_EQUAL(wr_events_open(&events, "/dev/null", 0), WEIR_ENOMEM);
}

/* Two ranks append whole lines to one file, and what was there stays. */
static void test_events_file(void)
{
    char path[] = "/tmp/weir_events_XXXXXX", text[400] = "", line[200];
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, "before\n", 7) == 7);
    for (int round = 0; round < 2; round++) {
        wr_events *events[2] = {NULL, NULL};
        for (int rank = 0; rank < 2; rank++)
            CHECK(!wr_events_open(&events[rank], path, rank));
        for (int rank = 0; rank < 2; rank++)
            WR_EVENT(events[rank], "read", "/a b\nc", {"round", round});
        for (int rank = 1; rank >= 0; rank--)
            CHECK(!wr_events_close(events[rank]));
    }
    CHECK(pread(fd, text, sizeof text - 1, 0) > 0 && !strncmp(text, "before\n", 7));
    for (int i = 0; i < 4; i++) {
        snprintf(line, sizeof line, " read rank=%d pid=%ld round=%d file=/a b?c\n", i % 2,
                 (long)getpid(), i / 2);
        CHECK(strstr(text, line));
    }
    close(fd);
    unlink(path);
}

static void test_events_host(void)
{
    char host[256] = "", path[400];
    wr_events *events = NULL;
    gethostname(host, sizeof host - 1);
    CHECK(!wr_events_open(&events, "/tmp/weir_events_%h_%h", 0) && !wr_events_close(events));
    snprintf(path, sizeof path, "/tmp/weir_events_%s_%s", host, host);
    CHECK(!unlink(path));
    char *longer = malloc(PATH_MAX + 1);
    CHECK(longer != NULL);
    memset(longer, 'n', PATH_MAX);
    longer[PATH_MAX] = '\0';
    CHECK_FAILS(wr_events_open(&events, longer, 0), WEIR_EINVAL, "too long");
    free(longer);
}

int main(void)
{
    test_error_details();
    test_long_path();
    test_path_that_just_fits();
    test_no_stale_details();
    test_codes_of_errno();
    test_error_is_per_thread();
    test_arithmetic();
    test_shares();
    test_failing_allocation();
    test_arena_keeps_to_budget();
    test_arena_out_of_memory();
    test_arena_allocations();
    test_budget_to_the_byte();
    test_budget_among_threads();
    test_cores_quota();
    test_log();
    test_log_lines_that_just_fit();
    test_events_among_threads();
    test_events_long_name();
    test_events_stops_at_error();
    test_events_errors();
    test_events_file();
    test_events_host();
    return 0;
}
