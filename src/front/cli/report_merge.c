/* Sums over ranks. Bins of ranks differ in width and begin when the rank first opened a file: they
 * are spread over the columns of the job that they overlap. */
#include "report_merge.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report_tally.h"

void report_spread(const merge_line *line, int64_t from, int64_t to, double value)
{
    const int64_t end = line->width * line->count;
    if (from < 0 || to <= from || from >= end) /* a trace that changes while it is read */
        return;
    for (int64_t at = from; at < to && at < end;) {
        const int64_t place = at / line->width, next = (place + 1) * line->width;
        const int64_t until = next < to ? next : to;
        line->field[place] += value * (double)(until - at) / (double)(to - from);
        at = until;
    }
}

int report_merge_file(const report_job *job, const char *name)
{
    const uint64_t hash = report_hash(name);
    for (int i = 0; i < job->named; i++)
        if (job->file[i].hash == hash)
            return i;
    return JOB_FILES;
}

static void spread_bin(const report_job *job, const report_trace *t, double *field, int bin,
                       double value)
{
    const merge_line line = {field, job->columns, job->width};
    const int64_t from = t->start - job->start + bin * t->width;
    report_spread(&line, from, from + t->width, value);
}

void report_merge_cell(report_trace *t, const trace_cell *cell)
{
    report_job *job = t->user;
    trace_file *file = &t->file[cell->file];
    if (t->rank < 0 || t->rank >= job->ranks)
        return;
    if (file->slot < 0)
        file->slot = report_merge_file(job, file->name);
    job_file *f = &job->file[file->slot];
    const double bytes = (double)cell->bytes;
    job->bytes[cell->write] += bytes;
    f->bytes[cell->write] += bytes;
    const ptrdiff_t at = (ptrdiff_t)(t->rank / job->row_ranks) * JOB_COLUMNS;
    spread_bin(job, t, job->moved[cell->write] + at, cell->bin, bytes);
    if (!f->cell[cell->write])
        return;
    int64_t row = cell->row * file->step / f->step;
    row = row < TRACE_ROWS ? row : TRACE_ROWS - 1;
    spread_bin(job, t, f->cell[cell->write] + row * JOB_COLUMNS, cell->bin, bytes);
}

/* With aggregators only these have a way; the plan is the same on all ranks. */
static int same_plan(const job_call *c, const trace_call *from, int file)
{
    const trace_shape *a = &c->shape, *b = &from->shape;
    return c->file == file && c->write == from->write && c->alone == from->alone &&
           c->form == from->form && a->aggregators == b->aggregators && a->window == b->window &&
           !strcmp(a->exchange, b->exchange) && (a->aggregators || !strcmp(a->way, b->way));
}

static job_call *get_call(report_job *job, const trace_call *from, int file)
{
    for (int i = 0; i < job->calls; i++)
        if (same_plan(&job->call[i], from, file))
            return &job->call[i];
    if (job->calls == JOB_CALLS)
        return NULL;
    job_call *c = &job->call[job->calls++];
    *c = (job_call){.file = file,
                    .write = from->write,
                    .alone = from->alone,
                    .form = from->form,
                    .shape = from->shape,
                    .slowest = -1,
                    .busiest = -1,
                    .plan_rank = -1,
                    .rank = -1};
    return c;
}

/* A rank may have several classes of calls that are one here. */
static void add_rank_of(job_call *c, const trace_call *from, int rank)
{
    const trace_shape before = c->shape; /* only aggregators tell rounds and way */
    if (c->rank != rank) {
        c->ranks++;
        c->rank = rank;
        c->rank_spent = c->rank_access = c->rank_count = 0;
    }
    c->rank_spent = trace_add(c->rank_spent, from->spent);
    c->rank_access = trace_add(c->rank_access, from->phase[TRACE_ACCESS]);
    c->rank_count = trace_add(c->rank_count, from->count);
    c->most = c->rank_count > c->most ? c->rank_count : c->most;
    if (c->rank_spent > c->slowest || (c->rank_spent == c->slowest && rank < c->slowest_rank)) {
        c->slowest = c->rank_spent;
        c->slowest_rank = rank;
        c->shape = from->shape;
    }
    c->busiest = c->rank_access > c->busiest ? c->rank_access : c->busiest;
    const trace_shape *way = strcmp(before.way, "none") != 0 ? &before : &from->shape;
    const int64_t rounds = from->shape.rounds;
    memcpy(c->shape.way, way->way, sizeof c->shape.way);
    c->shape.rounds = rounds > before.rounds ? rounds : before.rounds;
}

static void add_call(job_call *c, trace_call *from, int rank)
{
    c->count = trace_add(c->count, from->count);
    c->wanted = trace_add(c->wanted, from->wanted);
    c->moved = trace_add(c->moved, from->moved);
    c->syscalls = trace_add(c->syscalls, from->syscalls);
    c->spent = trace_add(c->spent, from->spent);
    c->errors = trace_add(c->errors, from->errors);
    for (int p = 0; p < TRACE_PHASES; p++)
        c->phase[p] = trace_add(c->phase[p], from->phase[p]);
    c->longest = from->longest > c->longest ? from->longest : c->longest;
    add_rank_of(c, from, rank);
    if (from->plan && (!c->plan || rank < c->plan_rank)) {
        free(c->plan);
        c->plan = from->plan;
        c->plan_rank = rank;
        from->plan = NULL;
    }
}

int64_t report_size_limit(int place)
{
    return place < JOB_SIZES - 1 ? INT64_C(128) << (3 * place) : INT64_MAX;
}

static void add_size(int64_t *sizes, int64_t bytes, int64_t count)
{
    int place = 0;
    if (!count)
        return;
    while (bytes / count >= report_size_limit(place))
        place++;
    sizes[place] = trace_add(sizes[place], count);
}

static void add_to_rank(job_rank *r, const trace_call *c)
{
    r->spent[c->write] = trace_add(r->spent[c->write], c->spent);
    r->wanted[c->write] = trace_add(r->wanted[c->write], c->wanted);
    r->moved[c->write] = trace_add(r->moved[c->write], c->moved);
    for (int p = 0; p < TRACE_PHASES; p++)
        r->phase[p] = trace_add(r->phase[p], c->phase[p]);
    if (c->alone)
        r->alone = trace_add(r->alone, c->wanted);
    if (!c->shape.aggregators)
        return;
    r->served = trace_add(r->served, c->moved);
    r->served_ns = trace_add(r->served_ns, c->phase[TRACE_ACCESS]);
}

static void merge_call(report_job *job, job_rank *r, trace_call *c, int slot)
{
    job_file *file = &job->file[slot];
    job_call *call = get_call(job, c, slot);
    file->wanted[c->write] = trace_add(file->wanted[c->write], c->wanted);
    file->moved[c->write] = trace_add(file->moved[c->write], c->moved);
    add_size(job->sizes[c->write], c->moved, c->syscalls);
    add_size(job->requests[c->write], c->wanted, c->count);
    add_to_rank(r, c);
    if (call)
        add_call(call, c, r->rank);
    else
        job->left_calls++;
}

static void merge_time(report_job *job, const report_trace *t, job_rank *r)
{
    const int at = t->rank / job->band_ranks * JOB_COLUMNS;
    const merge_line line = {job->alive + at, job->columns, job->width};
    for (int b = 0; b < t->bins; b++)
        for (int p = 0; p < TRACE_PHASES; p++)
            if (t->time[p][b]) {
                r->time[p] = trace_add(r->time[p], t->time[p][b]);
                spread_bin(job, t, job->phase[p] + at, b, (double)t->time[p][b]);
            }
    report_spread(&line, t->start - job->start, t->start - job->start + t->length,
                  (double)t->length);
}

void report_merge(report_job *job, report_trace *t, job_rank *rank)
{
    merge_time(job, t, rank);
    for (int i = 0; i < t->calls; i++) {
        trace_call *c = &t->call[i];
        if (!c->known)
            continue;
        trace_file *file = &t->file[c->file];
        if (file->slot < 0)
            file->slot = report_merge_file(job, file->name);
        if (!job->file[file->slot].name && file->slot < JOB_FILES)
            job->file[file->slot].name = strdup(file->name);
        merge_call(job, rank, c, file->slot);
    }
    rank->waited_rank = -1;
    for (int i = 0; i < t->waits; i++)
        if (rank->waited_rank < 0 || t->waited[i].ns > rank->waited_ns) {
            rank->waited_rank = t->waited[i].rank;
            rank->waited_ns = t->waited[i].ns;
        }
}
