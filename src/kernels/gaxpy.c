/* Multiplication as in "An Extended Two-Phase Method for Accessing Sections of Out-of-Core Arrays",
 * section 2.1: the depth is dealt to the ranks. Their sub-blocks of a span whole rows together,
 * those of b whole columns; each rank multiplies its own, and a global sum makes a sub-block of c,
 * of which each rank gets a part, and writes it. A sub-block of a stays for a whole row of
 * sub-blocks of c. */
#include <string.h>

#include "base/arith.h"
#include "file/swap.h"
#include "kernels/gaxpy_shape.h"
#include "kernels/matmul.h"

typedef struct gaxpy {
    wr_matmul *m;
    wr_swaps swaps;
    wr_gaxpy_shape shape;
    char *a, *b, *c, *theirs, *memory;
    weir_request *reading[2], *writing;
} gaxpy;

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

static int swap_message(gaxpy *g, wr_parcel out, wr_place in)
{
    wr_swap swap;
    const int started = wr_swap_start(&g->swaps, out, 0, in, 0, &swap);
    const int over = wr_swap_wait(&g->swaps, &swap);
    return started ? started : over;
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
        for (int64_t k = 0; k < most; k += WR_SWAP_MOST) {
            int64_t sent = wr_min(WR_SWAP_MOST, out.hi - out.lo - k);
            int64_t received = wr_min(WR_SWAP_MOST, mine.hi - mine.lo - k);
            int code = swap_message(g, (wr_parcel){to, sent, g->c + out.lo + k},
                                    (wr_place){from, received, g->theirs});
            wr_task_note(&g->m->task, code);
            if (!code && received > 0)
                add_real(g->m->c->info.type, g->c + mine.lo + k, g->theirs, received);
        }
    }
}

/* --- running --- */

static wr_panel_step place_of(const gaxpy *g, int64_t row, int64_t column)
{
    const wr_matmul *m = g->m;
    return (wr_panel_step){.rows = wr_share(m->rows, row, g->shape.blocks[0]),
                           .columns = wr_share(m->columns, column, g->shape.blocks[1]),
                           .depth = wr_share(m->depth, m->ranks->rank, m->ranks->size)};
}

static void start_read(gaxpy *g, int which, const wr_panel_step *at)
{
    wr_matrix_part part;
    weir_array *array = which ? g->m->b : g->m->a;
    const weir_selection *wanted = wr_matrix_select(g->m, array, which ? at->depth : at->rows,
                                                    which ? at->columns : at->depth, &part);
    wr_task_read(&g->m->task, array, wanted, &part.layout, which ? g->b : g->a, &g->reading[which]);
}

static void start_write(gaxpy *g, const wr_panel_step *at)
{
    const wr_matmul *m = g->m;
    wr_matrix_part part;
    wr_span rows = at->rows, columns = at->columns;
    wr_span *slow = m->c->info.columns ? &columns : &rows;
    const wr_span lines = wr_share(slow->hi - slow->lo, m->ranks->rank, m->ranks->size);
    *slow = (wr_span){slow->lo + lines.lo, slow->lo + lines.hi};
    const weir_selection *made = wr_matrix_select(m, m->c, rows, columns, &part);
    wr_task_write(&g->m->task, m->c, made, &part.layout, g->c + bytes_of(g, at, m->ranks->rank).lo,
                  &g->writing);
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
        wr_task_wait(&m->task, &g->reading[i]);
    wr_task_wait(&m->task, &g->writing);
    memset(g->c, 0, (size_t)g->shape.c_room);
    if (!m->task.error.code)
        wr_matmul_add(m, &at, g->a, g->b, g->c);
    sum_up(g, &at);
    start_write(g, &at);
    const int64_t *blocks = g->shape.blocks;
    wr_task_tell(&m->task, row * blocks[1] + column + 1, blocks[0] * blocks[1]);
}

static int take_memory(gaxpy *g)
{
    const wr_gaxpy_shape *s = &g->shape;
    g->memory = wr_alloc(s->a_room + s->b_room + s->c_room + s->message_room);
    if (!g->memory)
        return WEIR_ENOMEM;
    g->a = g->memory;
    g->b = g->a + s->a_room;
    g->c = g->b + s->b_room;
    g->theirs = g->c + s->c_room;
    return 0;
}

static int run(gaxpy *g)
{
    wr_matmul *m = g->m;
    for (int64_t row = 0; row < g->shape.blocks[0]; row++)
        for (int64_t column = 0; column < g->shape.blocks[1]; column++)
            run_step(g, row, column);
    wr_task_wait(&m->task, &g->writing);
    return wr_task_end(&m->task, m->c);
}

int wr_multiply_gaxpy(wr_matmul *m)
{
    gaxpy g = {.m = m};
    const wr_panel_need need = wr_matmul_need(m);
    int code = wr_gaxpy_shape_build(&need, m->c->info.columns, &g.shape);
    if (code)
        return code; /* on all ranks */
    if (m->task.work.estimate) {
        wr_gaxpy_estimate(&g.shape, m->task.work.estimate);
        return 0;
    }
    code = wr_array_agree(m->c, take_memory(&g));
    if (!code)
        code = wr_swaps_open(m->c->file, &g.swaps);
    if (!code)
        code = run(&g);
    wr_swaps_close(&g.swaps);
    wr_free(g.memory);
    return wr_work_settle(&m->c, 1, code);
}
