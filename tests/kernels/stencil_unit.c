/* What random scenes do not show of stencils: networks for all windows, calls that make no sense,
 * numbers that never settle, and what is read of the file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "array/io_count.h"
#include "array/naive_array.h"
#include "kernel_naive.h"
#include "kernels/median_select.h"
#include "kernels/network.h"
#include "transport/local.h"
#include "weir/kernels.h"

enum { RANKS = 3, SIDE = 60, BYTES = SIDE * SIDE * 8, LONG = 200000 };

static char names[8][100];
static io_count counts[RANKS];
static int64_t estimated[2]; /* bytes read, with halos from the file and from neighbours */

/* --- networks --- */

static void run_network(const wr_network *n, int *wire)
{
    for (int i = 0; i < n->count; i++) {
        const wr_comparator c = n->at[i];
        int low = wire[c.low], high = wire[c.high];
        wire[c.low] = !(c.keep & WR_KEEP_LOW) ? -1 : low < high ? low : high;
        wire[c.high] = !(c.keep & WR_KEEP_HIGH) ? -1 : low < high ? high : low;
    }
}

static void check_network(rng *r, int window, const wr_network *sort, const wr_network *median)
{
    int wire[WR_NETWORK_MOST * WR_NETWORK_MOST], less = 0, equal = 0,
                                                 all[sizeof wire / sizeof *wire];
    const int count = window * window;
    for (int i = 0; i < count; i++)
        all[i] = wire[i] = (int)rng_within(r, 0, rng_chance(r, 50) ? 1 : 50);
    for (int c = 0; c < window; c++)
        run_network(sort, wire + (ptrdiff_t)c * window);
    run_network(median, wire);
    for (int i = 0; i < count; i++) {
        less += all[i] < wire[median->output];
        equal += all[i] == wire[median->output];
    }
    CHECK(less <= count / 2 && less + equal > count / 2);
}

static void check_networks(rng *r)
{
    wr_network sort, median;
    for (int window = 1; window <= WR_NETWORK_MOST; window += 2) {
        wr_comparator *room = malloc(2 * (size_t)wr_network_room(window) * sizeof(wr_comparator));
        CHECK(room);
        wr_network_sort(window, room, &sort);
        wr_network_median(window, room + wr_network_room(window), &median);
        CHECK(sort.count <= wr_network_room(window) && median.count <= wr_network_room(window));
        for (int i = 0; i < 50; i++)
            check_network(r, window, &sort, &median);
        free(room);
    }
}

/* --- large windows --- */

/* Values of which many are equal, of floats also special ones; all bits, where they mean any. */
static void fill_image(rng *r, naive *a)
{
    const bool real = a->info.type == WEIR_F4 || a->info.type == WEIR_F8;
    random_elements(r, a->info.type, a->data, a->elements);
    for (int64_t k = 0; k < a->elements && real && rng_chance(r, 90); k++) {
        static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, -NAN, 2.5};
        const double v = special[rng_within(r, 0, 8)];
        const float f = (float)v;
        memcpy(a->data + k * a->element, a->element == 4 ? (const void *)&f : (const void *)&v,
               (size_t)a->element);
    }
}

/* Part of the image is made from a part that has all its windows, or all that there is of them. */
static void check_selection(rng *r)
{
    naive from = {.info = {.type = (int)rng_within(r, WEIR_BOOL, WEIR_F8), .dimensions = 2}}, to;
    const int window = 3 + 2 * (int)rng_within(r, 0, rng_chance(r, 50) ? 5 : 30);
    wr_image m = {.in = NULL};
    wr_selector s;
    for (int d = 0; d < 2; d++) {
        const int64_t n = from.info.shape[d] = rng_within(r, 1, 14);
        m.lo[d] = rng_within(r, 0, n - 1);
        m.hi[d] = rng_within(r, m.lo[d] + 1, n);
        m.in_lo[d] = m.lo[d] > window / 2 ? m.lo[d] - window / 2 : 0;
        m.in_hi[d] = m.hi[d] + window / 2 < n ? m.hi[d] + window / 2 : n;
    }
    to = from;
    naive_settle(&from);
    naive_settle(&to);
    fill_image(r, &from);
    naive_median(&from, &to, window);
    const int64_t size = m.element = from.element, width = from.info.shape[1];
    char *in = malloc((size_t)(from.elements * size)), *at = in;
    char *out = malloc((size_t)(from.elements * size));
    const int64_t tile = rng_within(r, 1, window + 1);
    void *memory = malloc((size_t)wr_selector_bytes(window, tile));
    CHECK(in && out && memory);
    const size_t line = (size_t)((m.in_hi[1] - m.in_lo[1]) * size);
    for (int64_t i = m.in_lo[0]; i < m.in_hi[0]; i++, at += line)
        memcpy(at, from.data + (i * width + m.in_lo[1]) * size, line);
    m.in = in;
    m.out = out;
    wr_selector_init(&s, from.info.type, window, tile, memory);
    wr_selector_run(&s, &m);
    for (int64_t i = m.lo[0]; i < m.hi[0]; i++)
        for (int64_t j = m.lo[1]; j < m.hi[1]; j++)
            CHECK(!memcmp(wr_image_to(&m, i, j), to.data + (i * width + j) * size, (size_t)size));
    free(memory);
    free(out);
    free(in);
    naive_release(&from);
    naive_release(&to);
}

/* --- arrays --- */

static weir_array *make(wr_world *w, const char *name, int type, int64_t rows, int64_t columns)
{
    weir_array *a;
    weir_array_info info = {.type = type, .dimensions = 2, .shape = {rows, columns}};
    CHECK(!wr_array_create(w, name, &info, NULL, "access=list;prefetch=1;map=0", &a));
    return a;
}

static void write_value(weir_array *a, int64_t row, int64_t column, double value)
{
    int64_t lo[] = {row, column}, hi[] = {row + 1, column + 1};
    weir_selection s = {.lo = lo, .hi = hi};
    const bool writes = wr_array_transport(a)->rank == 0;
    CHECK(!weir_array_write_all(a, writes ? &s : NULL, NULL, &value, NULL));
}

static void check_misuse(weir_array *const *a, weir_array *narrow, weir_array *complex)
{
    int last;
    weir_statistics s;
    weir_relaxation r = {.iterations = 1}, endless = {0}, odd = {.tolerance = (double)NAN};
    weir_array *const same[] = {a[1], a[1]}, *const back[] = {a[1], a[0]};
    weir_array *const thin[] = {a[1], narrow};
    const weir_work less = {.memory = -1};
    const double value = 1;
    CHECK_FAILS(weir_array_median(a[0], a[1], 2, NULL), WEIR_EINVAL, "not odd");
    CHECK_FAILS(weir_array_median(a[0], a[1], 32769, NULL), WEIR_EINVAL, "1 to 32767");
    CHECK_FAILS(weir_array_median(a[0], a[0], 3, NULL), WEIR_EINVAL, "the same");
    CHECK_FAILS(weir_array_median(a[0], narrow, 3, NULL), WEIR_EINVAL, "differ in shape");
    CHECK_FAILS(weir_array_median(complex, a[1], 3, NULL), WEIR_EINVAL, "real");
    CHECK_FAILS(weir_array_reduce(complex, &s, NULL), WEIR_EINVAL, "complex");
    CHECK_FAILS(weir_array_reduce(a[0], &s, &less), WEIR_EINVAL, "a budget of -1 bytes");
    CHECK_FAILS(weir_array_fill(a[0], &value, &less), WEIR_EINVAL, "a budget of -1 bytes");
    CHECK_FAILS(weir_array_median(a[0], a[1], 3, &less), WEIR_EINVAL, "a budget of -1 bytes");
    CHECK_FAILS(weir_array_relax(a[0], a + 1, &r, &less, &last), WEIR_EINVAL, "a budget of -1");
    CHECK_FAILS(weir_array_relax(a[0], same, &r, NULL, &last), WEIR_EINVAL, "the same");
    CHECK_FAILS(weir_array_relax(a[0], back, &r, NULL, &last), WEIR_EINVAL, "the same");
    CHECK_FAILS(weir_array_relax(a[0], thin, &r, NULL, &last), WEIR_EINVAL, "differ");
    CHECK_FAILS(weir_array_relax(complex, a + 1, &r, NULL, &last), WEIR_EINVAL, "f4 or f8");
    CHECK_FAILS(weir_array_relax(a[0], a + 1, &endless, NULL, &last), WEIR_EINVAL, "never end");
    CHECK_FAILS(weir_array_relax(a[0], a + 1, &odd, NULL, &last), WEIR_EINVAL, "never end");
}

/* What is not a number spreads: there is no end to wait for. */
static void check_lost(weir_array *const *a)
{
    int last;
    weir_relaxation r = {.tolerance = 0.5};
    write_value(a[0], 7, 8, (double)NAN);
    CHECK_FAILS(weir_array_relax(a[0], a + 1, &r, NULL, &last), WEIR_ERANGE, "finite");
    r.iterations = 4;
    CHECK(!weir_array_relax(a[0], a + 1, &r, NULL, &last));
    CHECK(r.done == 4 && isinf(r.residual) && last == 1);
    write_value(a[0], 7, 8, 0);
}

/* --- messages --- */

enum { NEVER_STARTED = 4711 };

/* A transport's operations, watched. */
typedef struct watch {
    wr_transport_ops ops; /* first: a transport has these */
    const wr_transport_ops *inside;
} watch;

static _Thread_local bool failing; /* receives of a row */

static const wr_transport_ops *inside(const wr_transport *t)
{
    return ((const watch *)(const void *)t->ops)->inside;
}

static int receive_or_fail(wr_transport *t, wr_place from, int tag, wr_request *r)
{
    if (!failing || from.bytes != (int64_t)SIDE * 8)
        return inside(t)->receive(t, from, tag, r);
    r->parts = NEVER_STARTED;
    return wr_fail(WEIR_ENOMEM, "no memory for a message");
}

static int test_started(wr_transport *t, wr_request *r, bool *over)
{
    CHECK(r->parts != NEVER_STARTED);
    return inside(t)->test(t, r, over);
}

/* What could not be started is an error, and nobody waits for it. */
static void check_failing(weir_array *const *a)
{
    int last;
    weir_relaxation r = {.iterations = 1, .exchange = 1};
    failing = wr_array_transport(a[0])->rank == 1;
    CHECK_FAILS(weir_array_relax(a[0], a + 1, &r, &(weir_work){.direct = 1}, &last), WEIR_ENOMEM,
                "no memory for a message");
    failing = false;
}

/* Rows that take several messages. */
static void check_long(wr_world *w)
{
    static const double value[] = {3, 5, 9};
    weir_array *a[3];
    int last;
    weir_relaxation r = {.iterations = 1, .exchange = 1};
    double *row = malloc(LONG * sizeof *row);
    CHECK(row);
    for (int i = 0; i < 3; i++)
        a[i] = make(w, names[5 + i], WEIR_F8, 3, LONG);
    const int64_t lo[] = {w->transport->rank, 0}, hi[] = {w->transport->rank + 1, LONG};
    const weir_selection own = {.lo = lo, .hi = hi};
    for (int64_t i = 0; i < LONG; i++)
        row[i] = value[w->transport->rank] + (double)i;
    CHECK(!weir_array_write_all(a[0], &own, NULL, row, NULL));
    CHECK(!weir_array_relax(a[0], a + 1, &r, &(weir_work){.direct = 1}, &last));
    CHECK(!weir_array_read_all(a[1], &own, NULL, row, NULL));
    for (int64_t i = 0; i < LONG; i++) {
        const bool inner = w->transport->rank == 1 && i > 0 && i < LONG - 1;
        const double wanted = inner ? (3 + 9 + 5 + 5) / 4.0 : value[w->transport->rank];
        CHECK(row[i] == wanted + (double)i);
    }
    for (int i = 0; i < 3; i++)
        CHECK(!weir_array_discard(a[i]));
    free(row);
}

/* What windows take besides slabs does not make these smaller, as long as there is memory. */
static void check_slabs(weir_array *const *a)
{
    weir_estimate e;
    CHECK(!weir_array_median(a[0], a[1], 511, &(weir_work){.estimate = &e}));
    CHECK(!strcmp(e.how, "slabs of 20 x 60, 1 step"));
}

/* More bytes than there are numbers for. */
static void check_many(wr_world *w)
{
    int last;
    weir_array *a[3];
    weir_estimate e;
    weir_relaxation r = {.iterations = INT32_MAX};
    for (int i = 0; i < 3; i++)
        a[i] = make(w, names[5 + i], WEIR_F8, 1 << 16, 1 << 16);
    CHECK(!weir_array_relax(a[0], a + 1, &r, &(weir_work){.estimate = &e}, &last));
    CHECK(e.read == INT64_MAX && e.written == INT64_MAX);
    CHECK(e.calls > INT32_MAX && e.calls < INT64_MAX);
    for (int i = 0; i < 3; i++)
        CHECK(!weir_array_discard(a[i]));
}

/* --- what is read --- */

static void relax_counted(weir_array *const *a, int exchange)
{
    int last;
    weir_estimate e;
    weir_relaxation r = {.iterations = 2, .exchange = exchange};
    weir_work work = {.direct = 1, .memory = 60 << 10, .estimate = &e};
    const int rank = wr_array_transport(a[0])->rank;
    CHECK(!weir_array_relax(a[0], a + 1, &r, &work, &last));
    CHECK(!strcmp(e.how, "blocks of 20 x 60, 1 step an iteration"));
    if (rank == 0)
        estimated[exchange] = e.read;
    CHECK_EQUAL(e.written, 2 * (int64_t)BYTES);
    work.estimate = NULL;
    io_count_next(a[0]->world);
    CHECK(!weir_array_relax(a[0], a + 1, &r, &work, &last));
}

static void rank_body(wr_transport *t, void *user)
{
    weir_array *a[3];
    wr_world *w;
    watch watched = {*t->ops, t->ops};
    watched.ops.receive = receive_or_fail;
    watched.ops.test = test_started;
    t->ops = &watched.ops;
    CHECK(!wr_world_open(t, user, &w));
    io_count_watch(w, &counts[t->rank]);
    for (int i = 0; i < 3; i++)
        a[i] = make(w, names[i], WEIR_F8, SIDE, SIDE);
    weir_array *complex = make(w, names[3], WEIR_C8, SIDE, SIDE);
    weir_array *narrow = make(w, names[4], WEIR_F8, SIDE, SIDE - 1);
    check_misuse(a, narrow, complex);
    check_lost(a);
    check_slabs(a);
    relax_counted(a, 0);
    relax_counted(a, 1);
    io_count_next(w);
    check_long(w);
    check_many(w);
    check_failing(a);
    for (int i = 0; i < 3; i++)
        CHECK(!weir_array_discard(a[i]));
    CHECK(!weir_array_discard(complex));
    CHECK(!weir_array_discard(narrow));
    CHECK(!wr_agree(t, 0, 0));
    wr_world_release(w);
    t->ops = watched.inside;
}

int main(void)
{
    rng r = {test_seed()};
    wr_tunables tunables;
    check_networks(&r);
    for (int i = 0; i < 200; i++)
        check_selection(&r);
    for (int i = 0; i < 8; i++)
        snprintf(names[i], sizeof names[i], "stencil-unit-%d-%d", (int)getpid(), i);
    wr_tunables_init(&tunables);
    check_within(60);
    CHECK(!wr_local_run(RANKS, &tunables, rank_body, &tunables));
    for (int exchange = 0; exchange < 2; exchange++) {
        int64_t bytes = 0;
        for (int i = 0; i < RANKS; i++)
            bytes += counts[i].read[1 + exchange].bytes;
        CHECK_EQUAL(bytes, estimated[exchange]);
    }
    CHECK(estimated[1] < estimated[0]);
    return 0;
}
