/* Very many wants: what a window costs depends on who touches it, and not on all the others.
 *
 * Searches in patterns are counted: the linker puts a __wrap_ function in the place of the one that
 * most of them go through (--wrap). What they do not show, comparing wants with each other, is seen
 * in processor time, compared within one run. */
#include <stdlib.h>
#include <time.h>

#include "base/arith.h"
#include "check.h"
#include "plan/cover.h"

static int64_t searches;

int64_t __real_wr_pattern_data_below(const weir_pattern *pattern, int64_t x);
int64_t __wrap_wr_pattern_data_below(const weir_pattern *pattern, int64_t x);

int64_t __wrap_wr_pattern_data_below(const weir_pattern *pattern, int64_t x)
{
    searches++;
    return __real_wr_pattern_data_below(pattern, x);
}

/* Each want has `runs` runs of `run` bytes; wants begin `apart` bytes from one to the next, and
 * have their next runs behind the last of them, in turn. */
typedef struct layout {
    int64_t runs, run, apart, window;
    enum wr_direction direction;
} layout;

/* What a walk over them took. */
typedef struct cost {
    int64_t windows, listed, touching, searches, nanoseconds;
} cost;

static int64_t processor_time(void)
{
    struct timespec t;
    CHECK(!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t));
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static cost walk(const layout *l, int64_t count, const wr_want *wants)
{
    const int64_t hi = l->runs * count * l->apart;
    const wr_plan_input in = {.direction = l->direction,
                              .ranks = count,
                              .nodes = 1,
                              .cores = 1,
                              .window = l->window,
                              .call_ns = 2000,
                              .mib_ns = 200000,
                              .read_call_ns = 1000,
                              .read_mib_ns = 200000};
    const wr_plan plan = {.hi = hi, .window = l->window, .aggregators = 1, .collective = true};
    cost c = {0};
    weir_pattern *realm;
    wr_windows w;
    wr_window window;
    const int64_t *list, before = searches, start = processor_time();
    int more;
    CHECK(!weir_pattern_contiguous(0, hi, &realm));
    wr_windows_init(&w, &in, &plan, realm, count, wants);
    while ((more = wr_windows_next(&w, &window)) == 1) {
        c.windows++;
        c.listed += window.method[0] == 'l';
        c.touching += wr_windows_touching(&w, &window, &list);
        wr_window_release(&window);
    }
    CHECK_EQUAL(more, 0);
    wr_windows_release(&w);
    weir_pattern_free(realm);
    c.searches = searches - before;
    c.nanoseconds = processor_time() - start;
    return c;
}

/* The least of some walks. */
static cost cost_of(const layout *l, int64_t count)
{
    wr_want *wants = calloc((size_t)count, sizeof *wants);
    CHECK(wants);
    for (int64_t i = 0; i < count; i++) {
        weir_pattern *p;
        CHECK(!weir_pattern_strided(i * l->apart, l->runs, l->run, count * l->apart, &p));
        wants[i] = (wr_want){p, 0, weir_pattern_bytes(p), (int)i};
    }
    cost least = walk(l, count, wants);
    for (int i = 0; i < 5; i++)
        least.nanoseconds = wr_min(least.nanoseconds, walk(l, count, wants).nanoseconds);
    for (int64_t i = 0; i < count; i++)
        weir_pattern_free((weir_pattern *)wants[i].pattern);
    free(wants);
    return least;
}

/* Ten times the wants in a window: about ten times the time, and not a hundred times. */
static void test_one_window(void)
{
    static const layout sparse = {1, 100, 10000, 16 << 20, WR_WRITE};
    const cost few = cost_of(&sparse, 1000), many = cost_of(&sparse, 10000);
    CHECK(few.listed == 1 && few.windows == 1);
    CHECK(many.listed == many.windows && many.windows <= 2);
    CHECK_EQUAL(few.touching, 1000);
    CHECK_EQUAL(many.touching, 10000);
    CHECK(many.nanoseconds < 30 * few.nanoseconds);
}

/* Ten times the wants and the windows, each window touched by as many as before. */
static void test_many_windows(const layout *l)
{
    const cost few = cost_of(l, 50), many = cost_of(l, 500);
    CHECK(few.windows >= 50 && many.windows >= 500);
    CHECK(many.touching <= 9 * many.windows);
    CHECK(many.searches < 12 * few.searches);
}

int main(void)
{
    static const layout dense = {8, 1 << 20, 1 << 20, 2 << 20, WR_READ};
    static const layout surveyed = {8, 1 << 20, 2 << 20, 2 << 20, WR_WRITE};
    static const layout listed = {8, 1 << 18, 2 << 20, 2 << 20, WR_WRITE};
    test_one_window();
    test_many_windows(&dense);
    test_many_windows(&surveyed);
    test_many_windows(&listed);
    return 0;
}
