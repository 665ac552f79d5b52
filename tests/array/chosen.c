#include "chosen.h"

#include <stdlib.h>
#include <string.h>

#include "format/convert.h"

/* Indices per dimension, in the order a section takes them, by the coordinates it is in. */
typedef struct taken {
    int64_t count[WEIR_MAX_DIMENSIONS];
    int64_t index[WEIR_MAX_DIMENSIONS][CHOSEN_LIST];
} taken;

static void add(chosen *c, int64_t number, int64_t place)
{
    if (c->elements == c->room) {
        c->room = c->room ? 2 * c->room : 64;
        c->number = realloc(c->number, (size_t)c->room * sizeof *c->number);
        c->place = realloc(c->place, (size_t)c->room * sizeof *c->place);
        CHECK(c->number && c->place);
    }
    c->number[c->elements] = number;
    c->place[c->elements++] = place;
}

static void shuffle(rng *r, int count, int *order)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)rng_within(r, 0, i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* Size of what a section's coordinates count in dimension d. */
static int64_t size_of(const naive *a, const chosen *c, int d)
{
    int place[WEIR_MAX_DIMENSIONS];
    int64_t n = 0;
    if (!c->section.local)
        return a->info.shape[d];
    naive_place(&a->info.distribution, a->info.dimensions, c->section.local - 1, place);
    while (naive_owned(&a->info, &a->info.distribution, d, place[d], n) >= 0)
        n++;
    return n;
}

static void random_range(rng *r, int64_t n, int64_t *lo, int64_t *hi, int64_t *step)
{
    if (!n || rng_chance(r, 4)) { /* empty */
        *lo = rng_within(r, 0, n);
        *hi = rng_within(r, 0, *lo);
        *step = rng_within(r, 1, 3);
        return;
    }
    int64_t first = rng_chance(r, 50) ? 0 : rng_within(r, 0, n - 1);
    int64_t last = rng_chance(r, 50) ? n - 1 : rng_within(r, first, n - 1);
    *step = rng_chance(r, 50) ? 1 : rng_within(r, 1, 5);
    *lo = first;
    *hi = last + 1;
    if (rng_chance(r, 25)) {
        *lo = last;
        *hi = first - 1;
        *step = -*step;
    }
}

/* Distinct ones if `write`; others perhaps repeated. */
static void random_list(rng *r, int64_t n, bool write, bool few, chosen *c, int d)
{
    int order[CHOSEN_LIST];
    shuffle(r, (int)n, order);
    c->index[d] = c->list[d];
    c->count[d] = rng_within(r, 0, write || few ? n : n ? n + 2 : 0);
    for (int64_t i = 0; i < c->count[d]; i++)
        c->list[d][i] = write ? order[i] : rng_within(r, 0, n - 1);
    if (rng_chance(r, 80) && n && !c->count[d])
        c->list[d][c->count[d]++] = order[0];
}

static void random_indices(rng *r, const naive *a, const choice *how, chosen *c)
{
    const int dimensions = a->info.dimensions;
    const bool lists = !how->ranges && rng_chance(r, 40), bounds = rng_chance(r, 85);
    for (int d = 0; d < dimensions; d++) {
        int64_t n = size_of(a, c, d);
        random_range(r, n, &c->lo[d], &c->hi[d], &c->step[d]);
        if (lists && rng_chance(r, 50))
            random_list(r, n, how->write, dimensions > 5, c, d);
    }
    if (how->apart_of && dimensions) {
        int d = 0; /* the same on all ranks */
        c->lo[d] = how->apart_at;
        c->hi[d] = how->apart_at < a->info.shape[d] ? a->info.shape[d] : how->apart_at;
        c->step[d] = how->apart_of;
        c->index[d] = NULL;
    }
    if (bounds || how->apart_of) { /* some of the three may be missing */
        c->section.lo = how->apart_of || rng_chance(r, 85) ? c->lo : NULL;
        c->section.hi = how->apart_of || rng_chance(r, 85) ? c->hi : NULL;
        c->section.step = how->apart_of || rng_chance(r, 85) ? c->step : NULL;
    }
    if (lists) {
        c->section.index = c->index;
        c->section.count = c->count;
    }
}

static void take_indices(const naive *a, const chosen *c, taken *t)
{
    for (int d = 0; d < a->info.dimensions; d++) {
        const int64_t n = size_of(a, c, d), step = c->section.step ? c->step[d] : 1;
        int64_t lo = c->section.lo ? c->lo[d] : step > 0 ? 0 : n - 1, count = 0;
        int64_t hi = c->section.hi ? c->hi[d] : step > 0 ? n : -1;
        if (c->section.index && c->index[d]) {
            memcpy(t->index[d], c->list[d], sizeof t->index[d]);
            t->count[d] = c->count[d];
            continue;
        }
        for (int64_t i = lo; step > 0 ? i < hi : i > hi; i += step)
            t->index[d][count++] = i;
        t->count[d] = count;
    }
}

/* Dense in some order, or with gaps between, and some dimensions backwards. */
static void random_layout(rng *r, const naive *a, const choice *how, const taken *t, chosen *c)
{
    const int dimensions = a->info.dimensions;
    const bool own = !how->dense && rng_chance(r, 30), ordered = rng_chance(r, 60);
    int64_t stride = c->size, before = 0;
    shuffle(r, dimensions, c->order);
    for (int i = dimensions - 1; i >= 0; i--) {
        int d = ordered ? c->order[i] : i;
        int64_t n = t->count[d] ? t->count[d] : 1;
        c->stride[d] = stride;
        stride = stride * n + (own && rng_chance(r, 40) ? rng_within(r, 0, 9) : 0);
        if (own && rng_chance(r, 20)) {
            before += (n - 1) * c->stride[d];
            c->stride[d] = -c->stride[d];
        }
    }
    c->base = CHOSEN_GUARD + before;
    c->bytes = 2 * CHOSEN_GUARD + stride;
    if (own)
        c->layout.stride = c->stride;
    if (ordered)
        c->layout.order = c->order;
}

/* Global index of index i of the section's coordinates. */
static int64_t whole_index(const naive *a, const chosen *c, const int *place, int d, int64_t i)
{
    return c->section.local ? naive_owned(&a->info, &a->info.distribution, d, place[d], i) : i;
}

/* Every element of the indices, memory from `base` on by c->stride. */
static void list_elements(const naive *a, const taken *t, int64_t base, chosen *c)
{
    const int dimensions = a->info.dimensions;
    int place[WEIR_MAX_DIMENSIONS];
    int64_t all = 1, index[WEIR_MAX_DIMENSIONS];
    for (int d = 0; d < dimensions; d++)
        all *= t->count[d];
    if (c->section.local)
        naive_place(&a->info.distribution, dimensions, c->section.local - 1, place);
    for (int64_t k = 0; k < all; k++) {
        int64_t rest = k, at = base;
        for (int d = dimensions - 1; d >= 0; d--) {
            int64_t number = rest % t->count[d];
            rest /= t->count[d];
            index[d] = whole_index(a, c, place, d, t->index[d][number]);
            at += number * c->stride[d];
        }
        add(c, naive_number(a, index), at);
    }
}

/* Boxes that may overlap; to be written, slices of the first dimension in any order. */
static void random_boxes(rng *r, const naive *a, const choice *how, chosen *c)
{
    const int dimensions = a->info.dimensions;
    int64_t count = rng_within(r, 1, CHOSEN_BOXES), cut[CHOSEN_BOXES + 1];
    int order[CHOSEN_BOXES];
    for (int64_t b = 0; b < count; b++)
        for (int d = 0; d < dimensions; d++) {
            int64_t n = size_of(a, c, d);
            int64_t lo = rng_within(r, 0, n);
            c->box_lo[b * dimensions + d] = lo;
            c->box_hi[b * dimensions + d] = rng_within(r, rng_chance(r, 5) ? 0 : lo, n);
        }
    if (how->write && dimensions) {
        for (int64_t b = 0, at = 0; b <= count; b++)
            cut[b] = at = rng_within(r, at, size_of(a, c, 0));
        shuffle(r, (int)count, order);
        for (int64_t b = 0; b < count; b++) {
            c->box_lo[b * dimensions] = cut[order[b]];
            c->box_hi[b * dimensions] = cut[order[b] + 1];
        }
    }
    c->section.boxes = how->write && !dimensions ? 1 : count;
    c->section.box_lo = c->box_lo;
    c->section.box_hi = c->box_hi;
}

static void list_boxes(const naive *a, chosen *c)
{
    const int dimensions = a->info.dimensions;
    for (int64_t b = 0; b < c->section.boxes; b++) {
        taken t;
        int64_t stride = c->size;
        for (int d = 0; d < dimensions; d++) {
            int64_t lo = c->box_lo[b * dimensions + d], hi = c->box_hi[b * dimensions + d];
            for (t.count[d] = 0; lo < hi; lo++)
                t.index[d][t.count[d]++] = lo;
        }
        for (int i = dimensions - 1; i >= 0; i--) {
            int d = c->layout.order ? c->order[i] : i;
            c->stride[d] = stride;
            stride *= t.count[d];
        }
        list_elements(a, &t, c->base, c);
        c->base += stride;
    }
    c->bytes = c->base + CHOSEN_GUARD;
    c->base = CHOSEN_GUARD;
}

static int random_type(rng *r, const naive *a, const choice *how)
{
    if (how->plain || !rng_chance(r, 25))
        return a->info.type;
    for (;;) {
        int type = (int)rng_within(r, WEIR_BOOL, WEIR_C16);
        if (type == a->info.type ||
            !wr_convert_check(how->write ? type : a->info.type, how->write ? a->info.type : type))
            return type;
    }
}

static void take_part(const naive *a, const choice *how, taken *t)
{
    int place[WEIR_MAX_DIMENSIONS];
    const int dimensions = a->info.dimensions;
    const bool there = how->place < distribution_places(how->by, dimensions);
    naive_place(how->by, dimensions, how->place, place);
    for (int d = 0; d < dimensions; d++) {
        t->count[d] = 0;
        for (int64_t i; there; t->index[d][t->count[d]++] = i) {
            i = naive_owned(&a->info, how->by, d, place[d], t->count[d]);
            if (i < 0)
                break;
        }
    }
}

void chosen_random(rng *r, const naive *a, const choice *how, chosen *c)
{
    taken t;
    const int dimensions = a->info.dimensions;
    memset(c, 0, sizeof *c);
    c->type = random_type(r, a, how);
    c->size = weir_type_bytes(c->type);
    c->layout.type = c->type != a->info.type || rng_chance(r, 30) ? c->type : 0;
    c->base = CHOSEN_GUARD;
    c->bytes = 2 * CHOSEN_GUARD;
    c->nothing = !how->by && rng_chance(r, 8);
    if (c->nothing || (how->by && how->place >= distribution_places(how->by, dimensions)))
        return;
    if (a->info.members && !how->apart_of && !how->by && rng_chance(r, 35))
        c->section.local = (int)rng_within(r, 1, a->info.members);
    if (!how->ranges && !how->apart_of && !how->by && rng_chance(r, 20)) {
        random_boxes(r, a, how, c);
        shuffle(r, dimensions, c->order);
        c->layout.order = rng_chance(r, 50) ? c->order : NULL;
        list_boxes(a, c);
        return;
    }
    if (how->by)
        take_part(a, how, &t);
    else {
        random_indices(r, a, how, c);
        take_indices(a, c, &t);
    }
    random_layout(r, a, how, &t, c);
    list_elements(a, &t, c->base, c);
}

void chosen_release(chosen *c)
{
    free(c->number);
    free(c->place);
    c->number = c->place = NULL;
}

static void move(int from, const char *source, int to, char *target)
{
    if (from == to)
        memcpy(target, source, (size_t)weir_type_bytes(from));
    else
        wr_convert(&(wr_elements){from, (char *)source, weir_type_bytes(from)},
                   &(wr_elements){to, target, weir_type_bytes(to)}, 1);
}

void chosen_store(const chosen *c, naive *a, const char *memory)
{
    for (int64_t i = 0; i < c->elements; i++)
        move(c->type, memory + c->place[i], a->info.type, a->data + c->number[i] * a->element);
}

void chosen_fetch(const chosen *c, const naive *a, char *memory)
{
    for (int64_t i = 0; i < c->elements; i++)
        move(a->info.type, a->data + c->number[i] * a->element, c->type, memory + c->place[i]);
}
