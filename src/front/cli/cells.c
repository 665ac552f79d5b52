/* Reads a section box by box, on all ranks together, and folds each box into cells. A box has whole
 * rows of a few indices of the slower dimension where that fits memory; otherwise the faster one is
 * cut too, at cells. */
#include "cells.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "command.h"
#include "numbers_read.h"

enum { AT_A_TIME = 1024 };

/* Sums of so much of as many numbers as there are bytes are finite. */
#define SMALLER 0x1p-64

/* A dimension of the section; one that it lacks has size 1. */
typedef struct axis {
    int dimension; /* of the array; -1: none */
    int64_t size;
    int cells;
    int64_t *index;   /* owned; NULL: as the bracket says */
    int64_t depth;    /* indices better read at once: of a tile */
    int64_t from, to; /* this rank's */
    int64_t element;  /* elements from one to the next, in the picture */
} axis;

typedef struct box {
    int64_t slow_lo, slow_hi, fast_lo, fast_hi;
} box;

typedef struct reading {
    const cli_source *source;
    cli_cells *cells;
    axis slow, fast;
    int64_t room; /* elements of a box */
    char *buffer;
    double *small; /* sums times SMALLER, of cells that are infinite meanwhile */
} reading;

int64_t cli_cell_first(int64_t size, int cells, int64_t cell)
{
    return cells > 0 ? size / cells * cell + size % cells * cell / cells : 0;
}

static int64_t first(const axis *a, int64_t cell)
{
    return cli_cell_first(a->size, a->cells, cell);
}

static int64_t cell_of(const axis *a, int64_t index)
{
    int64_t lo = 0, hi = a->cells;
    while (hi - lo > 1) {
        const int64_t middle = (lo + hi) / 2;
        *(first(a, middle) <= index ? &lo : &hi) = middle;
    }
    return lo;
}

/* The index of the array that number i of the section is. */
static int64_t index_of(const cli_bracket *b, int d, int64_t i)
{
    return b->list && d == b->listed ? b->list[i] : b->lo[d] + i * b->step[d];
}

/* One element a cell, and these are all that there is. */
static int thin(const cli_bracket *b, axis *a)
{
    if (a->dimension < 0)
        return 0;
    a->index = malloc((size_t)a->cells * sizeof *a->index);
    if (!a->index)
        return WEIR_ENOMEM;
    for (int i = 0; i < a->cells; i++) {
        const int64_t lo = first(a, i), hi = first(a, i + 1);
        a->index[i] = index_of(b, a->dimension, lo + (hi - lo) / 2);
    }
    a->size = a->cells;
    return 0;
}

/* Whole cells for each rank. */
static void deal(axis *a, int ranks, int rank)
{
    a->from = first(a, (int64_t)a->cells * rank / ranks);
    a->to = first(a, (int64_t)a->cells * (rank + 1) / ranks);
}

static int set_axes(reading *r)
{
    const cli_source *s = r->source;
    const weir_array_info *info = s->info;
    int kept[2], n = 0, ranks, rank = 0;
    for (int d = 0; d < info->dimensions; d++)
        if (!s->bracket.dropped[d])
            kept[n++] = d;
    axis rows = {.dimension = n > 1 ? kept[0] : -1, .cells = r->cells->rows};
    axis columns = {.dimension = kept[n - 1], .cells = r->cells->columns};
    rows.size = r->cells->height;
    columns.size = r->cells->width;
    rows.element = columns.cells;
    columns.element = 1;
    r->slow = info->columns && n > 1 ? columns : rows;
    r->fast = info->columns && n > 1 ? rows : columns;
    const int d = r->slow.dimension;
    const int64_t step = d >= 0 ? llabs(s->bracket.step[d]) : 1;
    r->slow.depth = info->tile && d >= 0 && info->tile[d] > step ? info->tile[d] / step : 1;
    int code = r->cells->reduce == CLI_NEAREST ? thin(&s->bracket, &r->slow) : 0;
    if (!code && r->cells->reduce == CLI_NEAREST)
        code = thin(&s->bracket, &r->fast);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    deal(&r->slow, r->slow.cells >= ranks ? ranks : 1, r->slow.cells >= ranks ? rank : 0);
    deal(&r->fast, r->slow.cells >= ranks ? 1 : ranks, r->slow.cells >= ranks ? 0 : rank);
    return code;
}

/* Whole cells from an index on, as many as have `most` indices; if not even one, part of one. */
static int64_t end_of_cells(const axis *a, int64_t from, int64_t most)
{
    int64_t cell = cell_of(a, from), end = from + most;
    if (end >= a->to)
        return a->to;
    return first(a, cell + 1) > end ? end : first(a, cell_of(a, end));
}

/* After {0}, the first box of this rank; false after the last. Tiles are not cut in two where a box
 * can have whole ones. */
static bool next_box(const reading *r, box *b)
{
    const axis *slow = &r->slow, *fast = &r->fast;
    const int64_t depth = slow->depth < slow->size ? slow->depth : slow->size;
    if (b->slow_hi == 0 || b->slow_hi == slow->to) {
        b->fast_lo = b->slow_hi ? b->fast_hi : fast->from;
        b->slow_hi = slow->from;
        if (slow->from == slow->to || b->fast_lo >= fast->to)
            return false;
        const int64_t most = r->room / depth;
        b->fast_hi = end_of_cells(fast, b->fast_lo, most > 0 ? most : 1);
    }
    const int64_t wide = b->fast_hi - b->fast_lo, most = wide > 0 ? r->room / wide : 0;
    b->slow_lo = b->slow_hi;
    b->slow_hi = b->slow_lo + (most > 0 ? most : 1);
    if (b->slow_hi > slow->to)
        b->slow_hi = slow->to;
    else if (b->slow_hi / slow->depth > b->slow_lo / slow->depth)
        b->slow_hi -= b->slow_hi % slow->depth;
    return true;
}

/* What of one dimension of the array. */
typedef struct choice {
    cli_section range;
    const int64_t *index[WEIR_MAX_DIMENSIONS];
    int64_t count[WEIR_MAX_DIMENSIONS], stride[WEIR_MAX_DIMENSIONS];
} choice;

static void choose(const cli_bracket *b, const axis *a, const int64_t *range, choice *out)
{
    const int d = a->dimension;
    if (d < 0)
        return;
    if (a->index || (b->list && d == b->listed)) {
        out->index[d] = (a->index ? a->index : b->list) + range[0];
        out->count[d] = range[1] - range[0];
        return;
    }
    out->range.lo[d] = b->lo[d] + range[0] * b->step[d];
    out->range.hi[d] = b->lo[d] + (range[1] - 1) * b->step[d] + (b->step[d] > 0 ? 1 : -1);
}

static int read_box(const reading *r, const box *b)
{
    const cli_source *s = r->source;
    const int64_t element = weir_type_bytes(s->info->type);
    const int64_t slow[] = {b->slow_lo, b->slow_hi}, fast[] = {b->fast_lo, b->fast_hi};
    choice c = {0};
    for (int d = 0; d < s->info->dimensions; d++) {
        c.range.lo[d] = s->bracket.dropped[d] ? s->bracket.lo[d] : 0;
        c.range.hi[d] = c.range.lo[d] + 1;
        c.range.step[d] = s->bracket.dropped[d] ? 1 : s->bracket.step[d];
        c.stride[d] = element * (d == r->slow.dimension ? fast[1] - fast[0] : 1);
    }
    choose(&s->bracket, &r->slow, slow, &c);
    choose(&s->bracket, &r->fast, fast, &c);
    for (int d = 0; d < s->info->dimensions; d++)
        if (c.index[d])
            c.range.step[d] = 1;
    const weir_selection selection = {.lo = c.range.lo,
                                      .hi = c.range.hi,
                                      .step = c.range.step,
                                      .index = c.index,
                                      .count = c.count};
    const weir_layout layout = {.stride = c.stride};
    return weir_array_read_all(s->array, &selection, &layout, r->buffer, NULL);
}

/* Numbers are added four sums at a time, which is quicker and more exact than one. */
static double sum(const double *v, int64_t n)
{
    double s[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            s[k] += v[i + k];
    for (; i < n; i++)
        s[0] += v[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

static double extreme(const double *v, int64_t n, double so_far, int greatest)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(v[i]) || (greatest ? v[i] > so_far : v[i] < so_far))
            so_far = v[i];
    return so_far;
}

/* Once a sum is not finite, that of what is smaller may be; only there elements lose digits. */
static void add_small(const reading *r, const double *v, int64_t n, double *cell)
{
    double *small = &r->small[cell - r->cells->value];
    if (isfinite(*cell))
        *small = *cell * SMALLER;
    for (int64_t i = 0; i < n; i++)
        *small += v[i] * SMALLER;
    *cell = (double)INFINITY;
}

/* A run of elements of one cell. */
static void fold_run(const reading *r, const char *elements, int64_t count, double *cell)
{
    const int type = r->source->info->type;
    const enum cli_reduce reduce = r->cells->reduce;
    double v[AT_A_TIME];
    for (int64_t n; count > 0; count -= n, elements += n * weir_type_bytes(type)) {
        n = count < AT_A_TIME ? count : AT_A_TIME;
        cli_numbers_reader(type)(elements, n, v);
        const double next = reduce == CLI_NEAREST ? v[0]
                            : reduce == CLI_MEAN  ? *cell + sum(v, n)
                                                  : extreme(v, n, *cell, reduce == CLI_MAX);
        if (isfinite(next) || reduce != CLI_MEAN)
            *cell = next;
        else
            add_small(r, v, n, cell);
    }
}

static void fold_box(const reading *r, const box *b)
{
    const int64_t element = weir_type_bytes(r->source->info->type);
    const char *at = r->buffer;
    for (int64_t i = b->slow_lo, cell = cell_of(&r->slow, i); i < b->slow_hi; i++) {
        cell += i == first(&r->slow, cell + 1);
        double *row = r->cells->value + cell * r->slow.element;
        int64_t k = cell_of(&r->fast, b->fast_lo);
        for (int64_t lo = b->fast_lo, hi; lo < b->fast_hi; lo = hi, k++) {
            hi = first(&r->fast, k + 1) < b->fast_hi ? first(&r->fast, k + 1) : b->fast_hi;
            fold_run(r, at, hi - lo, row + k * r->fast.element);
            at += (hi - lo) * element;
        }
    }
}

/* What was rounded up is no more than a number can be. */
static double mean_of(const reading *r, const double *cell, double count)
{
    if (isfinite(*cell))
        return *cell / count;
    const double small = r->small[cell - r->cells->value] / count;
    return isfinite(small) ? fmax(-DBL_MAX, fmin(DBL_MAX, small / SMALLER)) : small;
}

/* Each cell of this rank, before or after the reading; those of others are 0, so that sums over
 * ranks are all cells. */
static void visit_cells(const reading *r, bool after)
{
    static const double start[] = {
        [CLI_MIN] = (double)INFINITY, [CLI_MAX] = -(double)INFINITY, [CLI_NEAREST] = 0};
    const axis *s = &r->slow, *f = &r->fast;
    for (int64_t i = 0; i < s->cells; i++)
        for (int64_t k = 0; k < f->cells; k++) {
            const int64_t rows = first(s, i + 1) - first(s, i);
            const int64_t columns = first(f, k + 1) - first(f, k);
            double *cell = r->cells->value + i * s->element + k * f->element;
            const bool own = first(s, i) >= s->from && first(s, i) < s->to &&
                             first(f, k) >= f->from && first(f, k) < f->to;
            if (!after)
                *cell = own ? start[r->cells->reduce] : 0;
            else if (own && r->cells->reduce == CLI_MEAN)
                *cell = mean_of(r, cell, (double)rows * (double)columns);
        }
}

/* The same number of collective calls on all ranks. */
static int read_boxes(reading *r)
{
    int64_t own = 0, most = 0;
    int code = 0;
    for (box b = {0}; next_box(r, &b);)
        own++;
    MPI_Allreduce(&own, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    box b = {0};
    visit_cells(r, false);
    for (int64_t i = 0; i < most && !code; i++) {
        if (i >= own) {
            code = weir_array_read_all(r->source->array, NULL, NULL, NULL, NULL);
            continue;
        }
        next_box(r, &b);
        code = read_box(r, &b);
        if (!code)
            fold_box(r, &b);
        if (r->cells->tell)
            r->cells->tell(r->cells->user, i + 1, most);
    }
    visit_cells(r, true);
    return code;
}

int cli_cells_read(const cli_source *s, int64_t memory, cli_cells *cells)
{
    const int count = cells->rows * cells->columns, rank = cli_rank();
    const int64_t element = weir_type_bytes(s->info->type);
    reading r = {.source = s, .cells = cells};
    r.room = memory / 2 / element; /* the library takes as much again to swap bytes */
    r.room = r.room < 1 ? 1 : r.room > s->elements ? s->elements : r.room;
    cells->value = malloc((size_t)count * sizeof(double));
    r.buffer = malloc((size_t)(r.room * element));
    r.small = malloc((size_t)count * sizeof(double));
    int code = cells->value && r.buffer && r.small ? set_axes(&r) : WEIR_ENOMEM, worst;
    MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    code = worst ? worst : read_boxes(&r);
    if (!code)
        MPI_Reduce(rank ? cells->value : MPI_IN_PLACE, cells->value, count, MPI_DOUBLE, MPI_SUM, 0,
                   MPI_COMM_WORLD);
    free(r.slow.index);
    free(r.fast.index);
    free(r.buffer);
    free(r.small);
    return code;
}

void cli_cells_release(cli_cells *cells)
{
    free(cells->value);
    cells->value = NULL;
}
