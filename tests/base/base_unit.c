/* Errors, arithmetic, memory, log and trace. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arith.h"
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
    CHECK_EQUAL(wr_div_floor(-1, 8), -1);
    CHECK_EQUAL(wr_div_floor(-8, 8), -1);
    CHECK_EQUAL(wr_div_floor(7, 8), 0);
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
    wr_alloc_fail_after(0);
    CHECK(!wr_arena_alloc(&arena, 20 << 10));
    wr_alloc_fail_after(-1);
    wr_arena_release(&arena);
    CHECK_EQUAL(budget.used, 0);
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

static int trace_sink(void *user, const char *text, int64_t length)
{
    lines *l = user;
    if (l->used + length > (int64_t)sizeof l->text)
        return ENOSPC;
    memcpy(l->text + l->used, text, (size_t)length);
    l->used += length;
    return 0;
}

static void *trace_events(void *user)
{
    for (int64_t i = 0; i < 500; i++)
        WR_TRACE((wr_trace *)user, "read", {"offset", i}, {"bytes", INT64_MIN});
    return NULL;
}

static void test_trace_among_threads(void)
{
    static lines l;
    wr_trace *trace;
    pthread_t thread[4];
    CHECK(!wr_trace_new(&trace, trace_sink, &l));
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_create(&thread[i], NULL, trace_events, trace));
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    CHECK(!wr_trace_close(trace));
    int events = 0;
    for (char *at = l.text, *end; at < l.text + l.used; at = end + 1, events++) {
        long long time, offset, bytes = 0;
        end = memchr(at, '\n', (size_t)(l.text + l.used - at));
        CHECK(end && sscanf(at, "%lld read offset=%lld bytes=%lld", &time, &offset, &bytes) == 3);
        CHECK_EQUAL(bytes, INT64_MIN);
    }
    CHECK_EQUAL(events, 2000);
    WR_TRACE((wr_trace *)NULL, "nothing", {"x", 1});
}

static void test_trace_errors(void)
{
    wr_trace *trace;
    static lines full = {.used = sizeof full.text};
    CHECK(!wr_trace_new(&trace, trace_sink, &full));
    trace_events(trace);
    CHECK_FAILS(wr_trace_close(trace), WEIR_ENOSPC, "write the trace");
    CHECK_FAILS(wr_trace_open(&trace, "/nonexistent/trace"), WEIR_ENOENT, "open the trace");
    CHECK(!wr_trace_close(NULL));
    wr_alloc_fail_after(0);
    CHECK_EQUAL(wr_trace_open(&trace, "/dev/null"), WEIR_ENOMEM);
}

static void test_trace_file(void)
{
    char path[] = "/tmp/weir_trace_XXXXXX", line[100] = "";
    int fd = mkstemp(path);
    wr_trace *trace = NULL;
    CHECK(fd >= 0 && !wr_trace_open(&trace, path));
    WR_TRACE(trace, "open", {"rank", 0});
    CHECK(!wr_trace_close(trace));
    CHECK(read(fd, line, sizeof line - 1) > 0 && strstr(line, " open rank=0\n"));
    close(fd);
    unlink(path);
}

int main(void)
{
    test_error_details();
    test_long_path();
    test_error_is_per_thread();
    test_arithmetic();
    test_failing_allocation();
    test_arena_keeps_to_budget();
    test_budget_among_threads();
    test_log();
    test_trace_among_threads();
    test_trace_errors();
    test_trace_file();
    return 0;
}
