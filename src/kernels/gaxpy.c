/* Multiplication as in "An Extended Two-Phase Method for Accessing Sections of Out-of-Core Arrays",
 * section 2.1: the depth is dealt to the ranks. Their sub-blocks of a span whole rows together,
 * those of b whole columns; each rank multiplies its own, and a global sum makes a sub-block of c,
 * of which each rank gets a part, and writes it. A sub-block of a stays for a whole row of
 * sub-blocks of c. */
#include <string.h>

#include "array/slab_shape.h"
#include "base/arith.h"
#include "kernels/blas.h"
#include "kernels/estimate.h"
#include "kernels/matmul.h"

/* A message is short enough for the transport to need no memory for it: none fails on one side. */
enum { MESSAGE = 1 << 20 };

typedef struct gaxpy {
    wr_matmul *m;
    wr_channel channel;
    int64_t blocks[2];        /* sub-blocks of c, along rows and columns */
    int64_t high, wide, deep; /* rows and columns of one, and a rank's depth, at most */
    char *a, *b, *c, *theirs, *memory;
    weir_request *reading[2], *writing;
} gaxpy;

/* --- the shape --- */

/* Far below 2^63 also where that is more than any memory. */
static int64_t room_of(const gaxpy *g, int64_t x, int64_t y)
{
    return wr_slab_room(wr_min(x * y * g->m->c->body.element, INT64_C(1) << 58));
}

/* For the part of a sub-block of c that a rank writes. */
static int64_t part_room(const gaxpy *g)
{
    const int ranks = g->m->ranks->size;
    return g->m->c->info.columns ? room_of(g, g->high, wr_div_ceil(g->wide, ranks))
                                 : room_of(g, wr_div_ceil(g->high, ranks), g->wide);
}

static int64_t message_room(const gaxpy *g)
{
    return g->m->ranks->size > 1 ? wr_min(part_room(g), MESSAGE) : 0;
}

static int64_t count_bytes(const gaxpy *g)
{
    return room_of(g, g->high, g->deep) + room_of(g, g->deep, g->wide) +
           room_of(g, g->high, g->wide) + message_room(g) +
           (g->m->c->info.swapped ? part_room(g) : 0);
}

/* The widest sub-blocks that fit; 0: none. */
static int64_t widest(gaxpy *g)
{
    int64_t least = 0, most = wr_min(wr_max(1, g->m->columns), WR_BLAS_MOST);
    while (least < most) {
        g->wide = least + (most - least + 1) / 2;
        if (count_bytes(g) <= g->m->work.memory)
            least = g->wide;
        else
            most = g->wide - 1;
    }
    return g->wide = least;
}

/* b is read once for each row of sub-blocks, a only once. */
static double cost_of(const gaxpy *g)
{
    const double rows = (double)g->blocks[0], columns = (double)g->blocks[1];
    return rows * (double)g->deep * (double)g->m->columns * (double)g->m->c->body.element +
           rows * (1 + 2 * columns) * WR_ACCESS_COST;
}

static void choose_blocks(gaxpy *g)
{
    const int64_t rows = wr_max(1, g->m->rows), columns = wr_max(1, g->m->columns);
    gaxpy best = *g;
    double least = -1;
    for (int64_t parts = wr_div_ceil(rows, WR_BLAS_MOST); parts <= rows;
         parts = parts < rows ? wr_min(rows, wr_more_parts(parts)) : rows + 1) {
        g->blocks[0] = parts;
        g->high = wr_div_ceil(rows, parts);
        if (!widest(g))
            continue;
        g->blocks[1] = wr_div_ceil(columns, g->wide);
        g->wide = wr_div_ceil(columns, g->blocks[1]);
        double cost = cost_of(g);
        if (least >= 0 && cost >= least)
            continue;
        least = cost;
        best = *g;
    }
    *g = best;
}

static int make_shape(gaxpy *g)
{
    g->high = g->wide = 1;
    g->deep = wr_max(1, wr_div_ceil(g->m->depth, g->m->ranks->size));
    if (g->deep > WR_BLAS_MOST)
        return wr_fail(WEIR_ERANGE, "multiply: a depth of %lld on each rank is too much",
                       (long long)g->deep);
    if (count_bytes(g) > g->m->work.memory)
        return wr_fail(WEIR_EBUDGET,
                       "multiplying in %lld bytes of memory: the least that would do is %lld",
                       (long long)g->m->work.memory, (long long)count_bytes(g));
    choose_blocks(g);
    if (!g->m->rows || !g->m->columns)
        g->blocks[0] = 0;
    return 0;
}

static void estimate(const gaxpy *g, weir_estimate *out)
{
    *out = (weir_estimate){.read = g->m->a->info.bytes + g->blocks[0] * g->m->b->info.bytes,
                           .written = g->m->c->info.bytes,
                           .calls = g->blocks[0] * (1 + 2 * g->blocks[1]),
                           .memory = count_bytes(g)};
    if (!g->blocks[0])
        out->read = 0;
    wr_estimate_say(out, "sub-blocks of %lld x %lld, %lld of the depth a rank", (long long)g->high,
                    (long long)g->wide, (long long)g->deep);
    wr_estimate_say_steps(out, g->blocks[0] * g->blocks[1]);
}

/* --- the global sum --- */

static void add_real(int type, char *to, const char *from, int64_t bytes)
{
    if (type == WEIR_F4 || type == WEIR_C8) {
        float *sum = (float *)(void *)to;
        const float *more = (const float *)(const void *)from;
        for (int64_t i = 0; i < bytes / (int64_t)sizeof *sum; i++)
            sum[i] += more[i];
    } else {
        double *sum = (double *)(void *)to;
        const double *more = (const double *)(const void *)from;
        for (int64_t i = 0; i < bytes / (int64_t)sizeof *sum; i++)
            sum[i] += more[i];
    }
}

/* Bytes [lo, hi) of a sub-block of c, which are a rank's. */
static wr_span bytes_of(const gaxpy *g, const wr_panel_step *at, int rank)
{
    const int64_t rows = at->rows.hi - at->rows.lo, columns = at->columns.hi - at->columns.lo;
    const bool by_columns = g->m->c->info.columns;
    const int64_t line = (by_columns ? rows : columns) * g->m->c->body.element;
    const wr_span lines = wr_share(by_columns ? columns : rows, rank, g->m->ranks->size);
    return (wr_span){lines.lo * line, lines.hi * line};
}

/* Starts a message, and waits for it with the one that comes meanwhile. */
static int swap_message(gaxpy *g, wr_parcel out, wr_place in)
{
    wr_transport *t = g->m->ranks;
    wr_request sent, received;
    int code = 0, later = 0, begun = 0, due = 0;
    if (out.bytes > 0)
        begun = !(code = t->ops->send(t, out, g->channel.tag, false, &sent));
    if (in.bytes > 0)
        due = !(later = t->ops->receive(t, in, g->channel.tag, &received));
    if (due)
        later = wr_request_wait(t, &received);
    if (begun)
        code = wr_request_wait(t, &sent);
    return code ? code : later;
}

/* Every rank's part of a sub-block gets what the others have of it. Who has failed takes part, with
 * anything: all will know before the product is used. */
static void sum_up(gaxpy *g, const wr_panel_step *at)
{
    const wr_transport *t = g->m->ranks;
    const wr_span mine = bytes_of(g, at, t->rank);
    for (int distance = 1; distance < t->size; distance++) {
        const int to = (t->rank + distance) % t->size;
        const int from = (t->rank - distance + t->size) % t->size;
        const wr_span out = bytes_of(g, at, to);
        const int64_t most = wr_max(out.hi - out.lo, mine.hi - mine.lo);
        for (int64_t k = 0; k < most; k += MESSAGE) {
            int64_t sent = wr_min(MESSAGE, out.hi - out.lo - k);
            int64_t received = wr_min(MESSAGE, mine.hi - mine.lo - k);
            int code = swap_message(g, (wr_parcel){to, sent, g->c + out.lo + k},
                                    (wr_place){from, received, g->theirs});
            wr_note_error(&g->m->first, code);
            if (!code && received > 0)
                add_real(g->m->c->info.type, g->c + mine.lo + k, g->theirs, received);
        }
    }
}

/* --- running --- */

static wr_panel_step place_of(const gaxpy *g, int64_t row, int64_t column)
{
    const wr_matmul *m = g->m;
    return (wr_panel_step){.rows = wr_share(m->rows, row, g->blocks[0]),
                           .columns = wr_share(m->columns, column, g->blocks[1]),
                           .depth = wr_share(m->depth, m->ranks->rank, m->ranks->size)};
}

static void start_read(gaxpy *g, int which, const wr_panel_step *at)
{
    wr_matrix_part part;
    weir_array *array = which ? g->m->b : g->m->a;
    const weir_array_section *wanted = wr_matrix_section(g->m, array, which ? at->depth : at->rows,
                                                         which ? at->columns : at->depth, &part);
    wr_note_error(&g->m->first, wr_work_read(&g->m->work, array, wanted, which ? g->b : g->a,
                                             &g->reading[which]));
}

static void start_write(gaxpy *g, const wr_panel_step *at)
{
    const wr_matmul *m = g->m;
    wr_matrix_part part;
    wr_span rows = at->rows, columns = at->columns;
    wr_span *slow = m->c->info.columns ? &columns : &rows;
    const wr_span lines = wr_share(slow->hi - slow->lo, m->ranks->rank, m->ranks->size);
    *slow = (wr_span){slow->lo + lines.lo, slow->lo + lines.hi};
    const weir_array_section *made = wr_matrix_section(m, m->c, rows, columns, &part);
    wr_note_error(&g->m->first,
                  wr_work_write(&m->work, m->c, made, g->c + bytes_of(g, at, m->ranks->rank).lo,
                                &g->writing));
}

/* Everyone takes part in every step: others may not know of an error yet. */
static void run_step(gaxpy *g, int64_t row, int64_t column)
{
    wr_matmul *m = g->m;
    const wr_panel_step at = place_of(g, row, column);
    if (column == 0)
        start_read(g, 0, &at);
    start_read(g, 1, &at);
    for (int i = 0; i < 2; i++)
        wr_note_error(&m->first, weir_wait(&g->reading[i], NULL));
    wr_note_error(&m->first, weir_wait(&g->writing, NULL));
    memset(g->c, 0, (size_t)room_of(g, g->high, g->wide));
    if (!m->first.error.code)
        wr_matmul_add(m, &at, g->a, g->b, g->c);
    sum_up(g, &at);
    start_write(g, &at);
    wr_work_progress(&m->work, row * g->blocks[1] + column + 1, g->blocks[0] * g->blocks[1]);
}

static int take_memory(gaxpy *g)
{
    const int64_t a = room_of(g, g->high, g->deep), b = room_of(g, g->deep, g->wide);
    const int64_t c = room_of(g, g->high, g->wide);
    g->memory = wr_alloc(a + b + c + message_room(g));
    if (!g->memory)
        return WEIR_ENOMEM;
    g->a = g->memory;
    g->b = g->a + a;
    g->c = g->b + b;
    g->theirs = g->c + c;
    return 0;
}

static int prepare(gaxpy *g)
{
    int code = make_shape(g);
    if (code)
        return code;
    if (g->m->work.estimate) {
        estimate(g, g->m->work.estimate);
        return 0;
    }
    code = wr_array_agree(g->m->c, take_memory(g));
    return code ? code : wr_channel_open(g->m->c->world, &g->channel);
}

int wr_multiply_gaxpy(wr_matmul *m)
{
    gaxpy g = {.m = m};
    int code = prepare(&g);
    if (code || m->work.estimate) {
        wr_free(g.memory);
        return code;
    }
    for (int64_t row = 0; row < g.blocks[0]; row++)
        for (int64_t column = 0; column < g.blocks[1]; column++)
            run_step(&g, row, column);
    wr_note_error(&m->first, weir_wait(&g.writing, NULL));
    code = wr_work_end(m->c, &m->first);
    wr_channel_close(&g.channel);
    wr_free(g.memory);
    return code;
}
