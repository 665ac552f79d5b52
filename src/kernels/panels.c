/* Multiplication with blocks of the result that stay in memory while panels of the factors go by:
 * the next panels are read while BLAS multiplies the ones that are there. */
#include <string.h>

#include "kernels/matmul.h"

/* The panels of a factor: while one is computed with, the other is on its way. */
typedef struct factor {
    weir_array *array;
    char *data[2];
    weir_request *reading[2];
    int now;
} factor;

typedef struct multiplying {
    wr_matmul *m;
    wr_panel_shape shape;
    factor a, b;
    char *result[2], *memory;
    weir_request *writing[2];
    int64_t blocks; /* begun */
} multiplying;

static void start_factor(multiplying *p, factor *f, wr_span rows, wr_span columns)
{
    wr_matrix_part part;
    const int next = 1 - f->now;
    const weir_selection *wanted = wr_matrix_select(p->m, f->array, rows, columns, &part);
    wr_task_read(&p->m->task, f->array, wanted, &part.layout, f->data[next], &f->reading[next]);
}

static void start_panels(multiplying *p, int64_t k)
{
    if (k >= p->shape.steps)
        return;
    const wr_panel_step step = wr_panel_step_of(&p->shape, p->m->ranks->rank, k);
    if (step.new_a)
        start_factor(p, &p->a, step.rows, step.depth);
    if (step.new_b)
        start_factor(p, &p->b, step.depth, step.columns);
}

static void await_factor(multiplying *p, factor *f)
{
    f->now = 1 - f->now;
    wr_task_wait(&p->m->task, &f->reading[f->now]);
}

/* Everyone takes part in every step: others may not know of an error yet. */
static void run_step(multiplying *p, int64_t k)
{
    wr_matmul *m = p->m;
    wr_matrix_part part;
    const wr_panel_step step = wr_panel_step_of(&p->shape, m->ranks->rank, k);
    if (step.new_a)
        await_factor(p, &p->a);
    if (step.new_b)
        await_factor(p, &p->b);
    start_panels(p, k + 1);
    const int out = (int)(p->blocks % p->shape.results);
    if (step.begins) {
        wr_task_wait(&m->task, &p->writing[out]);
        memset(p->result[out], 0, (size_t)p->shape.c_room);
    }
    if (!m->task.error.code)
        wr_matmul_add(m, &step, p->a.data[p->a.now], p->b.data[p->b.now], p->result[out]);
    if (step.ends) {
        const weir_selection *made = wr_matrix_select(m, m->c, step.rows, step.columns, &part);
        wr_task_write(&m->task, m->c, made, &part.layout, p->result[out], &p->writing[out]);
        p->blocks++;
    }
    wr_task_tell(&m->task, k + 1, p->shape.steps);
}

static int take_memory(multiplying *p)
{
    const wr_panel_shape *s = &p->shape;
    p->memory = wr_alloc(2 * (s->a_room + s->b_room) + s->results * s->c_room);
    if (!p->memory)
        return WEIR_ENOMEM;
    for (int i = 0; i < 2; i++) {
        p->a.data[i] = p->memory + i * s->a_room;
        p->b.data[i] = p->memory + 2 * s->a_room + i * s->b_room;
        p->result[i] = p->memory + 2 * (s->a_room + s->b_room) + i * s->c_room;
    }
    return 0;
}

static int run(multiplying *p)
{
    wr_matmul *m = p->m;
    start_panels(p, 0);
    for (int64_t k = 0; k < p->shape.steps; k++)
        run_step(p, k);
    for (int i = 0; i < 2; i++)
        wr_task_wait(&m->task, &p->writing[i]);
    return wr_task_end(&m->task, m->c);
}

int wr_multiply_panels(wr_matmul *m)
{
    multiplying p = {.m = m, .a = {.array = m->a, .now = 1}, .b = {.array = m->b, .now = 1}};
    const wr_panel_need need = wr_matmul_need(m);
    int code = wr_panel_shape_build(&need, &p.shape);
    if (code)
        return code; /* on all ranks */
    if (m->task.work.estimate) {
        wr_panel_estimate(&p.shape, m->task.work.estimate);
        return 0;
    }
    code = wr_array_agree(m->c, take_memory(&p));
    if (!code)
        code = run(&p);
    wr_free(p.memory);
    return wr_work_settle(&m->c, 1, code);
}
