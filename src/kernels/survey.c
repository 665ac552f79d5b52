/* Sections in parts that fit memory twice: one is looked at while the next is read. Parts are dealt
 * round-robin, so that what is read at a time is near to each other. */
#include "kernels/survey.h"

#include "array/mapping.h"
#include "base/arith.h"
#include "kernels/estimate.h"

enum { BUFFERS = 2, MOST_BYTES = 4 << 20, ALIGN = 64 };

/* --- what parts are --- */

/* How many indices a section takes along each dimension of its array. */
static int count_taken(const weir_array *a, const weir_selection *of, int64_t *taken)
{
    static const weir_selection everything;
    wr_axes axes;
    if (of && (of->box_lo || of->local))
        return wr_fail(WEIR_EINVAL, "%s: a section has ranges and lists, not boxes or one member",
                       a->path);
    int code = wr_axes_build(&a->body, of ? of : &everything, NULL, a->body.element, false, &axes);
    if (code)
        return code;
    for (int d = 0; d < a->info.dimensions; d++)
        taken[d] = axes.taken[d];
    wr_axes_release(&axes);
    return 0;
}

/* Dimensions of section i that count; the first one's are everyone's. */
static int keep_dimensions(wr_survey *p, int i)
{
    int64_t taken[WEIR_MAX_DIMENSIONS] = {0};
    const weir_array *a = p->array[i];
    int kept = 0, code = wr_array_check_pair(p->array[0], a);
    if (!code)
        code = count_taken(a, p->of[i], taken);
    if (code)
        return code;
    for (int d = 0; d < a->info.dimensions; d++) {
        if (taken[d] == 1)
            continue;
        if (i && (kept == p->dimensions || p->shape[kept] != taken[d]))
            return wr_fail(WEIR_EINVAL, "sections of %s and %s differ in shape", p->array[0]->path,
                           a->path);
        p->shape[kept] = taken[d];
        p->kept[i][kept++] = d;
    }
    if (i && kept != p->dimensions)
        return wr_fail(WEIR_EINVAL, "sections of %s and %s differ in shape", p->array[0]->path,
                       a->path);
    p->dimensions = kept;
    return 0;
}

/* As the first array is stored. */
static int set_order(wr_survey *p)
{
    const wr_body *body = &p->array[0]->body;
    int n = 0;
    p->all = 1;
    for (int i = 0; i < body->dimensions; i++)
        for (int d = 0; d < p->dimensions; d++)
            if (p->kept[0][d] == body->order[i])
                p->order[n++] = d;
    for (int d = 0; d < p->dimensions; d++)
        if (!p->shape[d])
            p->all = 0;
    for (int d = 0; d < p->dimensions; d++)
        if (!wr_mul(p->all, p->shape[d], &p->all)) /* lists may have indices twice */
            return wr_fail(WEIR_ERANGE, "a section of %s has too many elements", p->array[0]->path);
    return 0;
}

/* As many of the fastest dimensions as fit are whole; then whole tiles, where that can be. */
static void cut(wr_survey *p, int64_t room)
{
    p->elements = p->parts = 1;
    for (int i = p->dimensions - 1; i >= 0; i--) {
        const int d = p->order[i];
        const int64_t grain = p->array[0]->body.grain[p->kept[0][d]];
        int64_t block = wr_clamp(room / p->elements, 1, wr_max(1, p->shape[d]));
        if (grain > 1 && block > grain && block < p->shape[d])
            block = wr_round_down(block, grain);
        p->block[d] = block;
        p->elements *= block;
        p->parts *= wr_div_ceil(p->shape[d], block);
    }
}

/* Bytes of a buffer for parts of one section. */
static int64_t room_of(const wr_survey *p, int i)
{
    return wr_round_up(p->elements * p->array[i]->body.element, ALIGN);
}

static int build(wr_survey *p, int64_t besides)
{
    int64_t element = 0;
    int code = wr_work_check(&p->work);
    for (int i = 0; i < p->arrays && !code; i++) {
        code = keep_dimensions(p, i);
        element += p->array[i]->body.element;
    }
    if (!code)
        code = set_order(p);
    if (code)
        return code;
    const int64_t least = besides + BUFFERS * (element + (int64_t)ALIGN * p->arrays);
    if (p->work.memory < least) {
        code = wr_fail(WEIR_EBUDGET,
                       "%lld bytes of memory are too little: the least that would do is %lld",
                       (long long)p->work.memory, (long long)least);
        wr_error_note_file(p->array[0]->path, -1);
        return code;
    }
    const int64_t bytes = (p->work.memory - besides) / BUFFERS - (int64_t)ALIGN * p->arrays;
    cut(p, wr_min(bytes, MOST_BYTES) / wr_max(1, element));
    p->steps = wr_div_ceil(p->parts, wr_array_transport(p->array[0])->size);
    for (int i = 0; i < p->arrays; i++)
        p->buffer += room_of(p, i);
    p->memory = besides + BUFFERS * p->buffer;
    return 0;
}

static void estimate(const wr_survey *p, int passes, weir_estimate *out)
{
    *out = (weir_estimate){.memory = p->memory, .calls = passes * p->steps * p->arrays};
    for (int i = 0; i < p->arrays; i++)
        out->read += passes * p->all * p->array[i]->body.element;
    wr_estimate_say(out, "parts of ");
    for (int d = 0; d < p->dimensions; d++)
        wr_estimate_say(out, d ? " x %lld" : "%lld", (long long)p->block[d]);
    if (!p->dimensions)
        wr_estimate_say(out, "1");
    wr_estimate_say_steps(out, passes * p->steps);
}

int wr_survey_build(wr_survey *p, int64_t besides, int passes, int code)
{
    if (!code)
        code = build(p, besides);
    if (!p->work.estimate)
        return wr_array_agree(p->array[0], code);
    if (!code)
        estimate(p, passes, p->work.estimate);
    return code;
}

/* --- reading them --- */

typedef struct reading {
    const wr_survey *p;
    wr_task task;
    wr_survey_part part[BUFFERS];
    weir_request *request[BUFFERS][WR_SURVEY_ARRAYS];
    char *buffer;
} reading;

/* This rank's part of a step; false if it has none. */
static bool find(const wr_survey *p, int64_t step, wr_survey_part *out)
{
    const wr_transport *t = wr_array_transport(p->array[0]);
    int64_t number = step * t->size + t->rank;
    out->elements = 1;
    if (number >= p->parts)
        return false;
    for (int i = p->dimensions - 1; i >= 0; i--) {
        const int d = p->order[i];
        const int64_t blocks = wr_div_ceil(p->shape[d], p->block[d]);
        out->lo[d] = number % blocks * p->block[d];
        out->hi[d] = wr_min(p->shape[d], out->lo[d] + p->block[d]);
        out->elements *= out->hi[d] - out->lo[d];
        number /= blocks;
    }
    return true;
}

/* What of an array a part of its section is. */
typedef struct choice {
    weir_selection selection;
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], step[WEIR_MAX_DIMENSIONS];
    const int64_t *index[WEIR_MAX_DIMENSIONS];
    int64_t count[WEIR_MAX_DIMENSIONS];
    int order[WEIR_MAX_DIMENSIONS];
} choice;

/* Places [lo, hi) among the indices of one dimension. */
static void choose_range(const wr_survey *p, int i, int d, int64_t lo, int64_t hi, choice *out)
{
    const weir_selection *of = p->of[i];
    const int64_t step = of && of->step ? of->step[d] : 1;
    const int64_t whole = step > 0 ? 0 : p->array[i]->info.shape[d] - 1;
    const int64_t first = of && of->lo ? of->lo[d] : whole;
    out->step[d] = step;
    out->lo[d] = first + lo * step;
    out->hi[d] = first + (hi - 1) * step + (step > 0 ? 1 : -1);
    if (of && of->index && of->index[d]) {
        out->index[d] = of->index[d] + lo;
        out->count[d] = hi - lo;
        out->lo[d] = 0;
        out->hi[d] = out->step[d] = 1;
    }
}

static void choose(const wr_survey *p, int i, const wr_survey_part *part, choice *out)
{
    const int dimensions = p->array[i]->info.dimensions;
    int single = 0;
    for (int d = 0, k = 0; d < dimensions; d++) {
        out->index[d] = NULL;
        out->count[d] = 0;
        if (k < p->dimensions && p->kept[i][k] == d) {
            choose_range(p, i, d, part->lo[k], part->hi[k], out);
            k++;
        } else {
            choose_range(p, i, d, 0, 1, out);
            out->order[single++] = d;
        }
    }
    for (int k = 0; k < p->dimensions; k++)
        out->order[single + k] = p->kept[i][p->order[k]];
    out->selection = (weir_selection){
        .lo = out->lo, .hi = out->hi, .step = out->step, .index = out->index, .count = out->count};
}

static void start(reading *r, int64_t step)
{
    const wr_survey *p = r->p;
    const int which = (int)(step % BUFFERS);
    wr_survey_part *part = &r->part[which];
    choice chosen = {0};
    char *to = r->buffer ? r->buffer + which * p->buffer : NULL;
    const bool there = find(p, step, part);
    for (int i = 0; i < p->arrays; i++) {
        if (there)
            choose(p, i, part, &chosen);
        const weir_layout layout = {.order = chosen.order};
        wr_task_read(&r->task, p->array[i], there ? &chosen.selection : NULL, &layout, to,
                     &r->request[which][i]);
        part->at[i] = to;
        if (to)
            to += room_of(p, i);
    }
}

/* True where the part of that step is there, and sound. */
static bool finish(reading *r, int64_t step)
{
    wr_survey_part unused;
    for (int i = 0; i < r->p->arrays; i++)
        wr_task_wait(&r->task, &r->request[step % BUFFERS][i]);
    return !r->task.error.code && find(r->p, step, &unused);
}

static bool ask_enough(reading *r, const wr_survey_visit *v)
{
    int64_t said = v->enough(v->user) || r->task.error.code;
    wr_task_note(&r->task, wr_file_reduce(r->p->array[0]->file, WR_MAX, 1, &said));
    return said;
}

/* After an error steps are gone through only for other ranks' sake. */
static bool is_awaited(const reading *r)
{
    return !r->p->work.direct && wr_array_transport(r->p->array[0])->size > 1;
}

static void pass(reading *r, const wr_survey_visit *v)
{
    const wr_survey *p = r->p;
    int64_t done = 0;
    for (int64_t step = 0; step < p->steps; step++) {
        if (!step || v->enough)
            start(r, step);
        if (step + 1 < p->steps && !v->enough) /* nothing is under way while ranks agree */
            start(r, step + 1);
        if (finish(r, step)) {
            const wr_survey_part *part = &r->part[step % BUFFERS];
            v->visit(v->user, part);
            done += part->elements;
        }
        done = step + 1 < p->steps ? done : p->all;
        wr_task_tell(&r->task,
                     v->before + wr_min(p->all, done * wr_array_transport(p->array[0])->size),
                     v->all);
        if (v->enough && ask_enough(r, v))
            return;
        if (!v->enough && r->task.error.code && !is_awaited(r)) {
            if (step + 1 < p->steps)
                finish(r, step + 1);
            return;
        }
    }
}

int wr_survey_run(const wr_survey *p, const wr_survey_visit *v, int code)
{
    reading r = {.p = p, .task = {.work = p->work}};
    wr_task_note(&r.task, code);
    if (!code) {
        r.buffer = wr_alloc_large(BUFFERS * p->buffer);
        wr_task_note(&r.task, r.buffer ? 0 : WEIR_ENOMEM);
    }
    pass(&r, v);
    wr_free(r.buffer);
    return wr_task_end(&r.task, p->array[0]);
}

int wr_survey_over(const wr_survey *p, int64_t all)
{
    wr_task task = {.work = p->work};
    wr_task_tell(&task, all, all);
    return wr_task_end(&task, p->array[0]);
}

int wr_survey_sum(const wr_survey *p, int64_t *values, int64_t count)
{
    weir_array *array = p->array[0];
    int code = 0;
    for (int64_t at = 0; at < count && !code; at += WR_CHANNEL_VALUES)
        code = wr_file_reduce(array->file, WR_SUM, (int)wr_min(WR_CHANNEL_VALUES, count - at),
                              values + at);
    return wr_array_agree(array, code);
}

int64_t wr_survey_number(const wr_survey *p, const wr_survey_part *part, int64_t k)
{
    int64_t place[WEIR_MAX_DIMENSIONS], number = 0;
    for (int i = p->dimensions - 1; i >= 0; i--) {
        const int d = p->order[i];
        const int64_t size = part->hi[d] - part->lo[d];
        place[d] = part->lo[d] + k % size;
        k /= size;
    }
    for (int d = 0; d < p->dimensions; d++)
        number = number * p->shape[d] + place[d];
    return number;
}
