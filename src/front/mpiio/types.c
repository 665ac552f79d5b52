/* Datatypes to patterns: constructors are decoded recursively, one function for each kind. What
 * came of a type is kept, for named types in a table, for derived ones as an attribute of the
 * type. */
#include "front/mpiio/types.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "front/mpiio/contents.h"
#include "front/mpiio/mpi_file.h"
#include "front/mpiio/reach.h"

enum { TABLE = 256, DEEPEST = 64 };

/* Patterns under construction, freed together. */
typedef struct parts {
    int64_t count;
    int64_t *offset;
    const weir_pattern **part;
    int64_t made, room;
    weir_pattern **own;
} parts;

/* How deep a type lies in the one asked for, and where: NULL is in memory. */
typedef struct level {
    int depth;
    const wr_datarep *rep;
} level;

static int decode(MPI_Datatype type, level at, wr_type *out);

void wr_type_release(wr_type *t)
{
    weir_pattern_free(t->pattern);
    t->pattern = NULL;
}

int wr_type_repeat(const wr_type *type, int64_t count, weir_pattern **out)
{
    return weir_pattern_repeat(type->pattern, count, type->extent, out);
}

static int open_parts(parts *p, int64_t count)
{
    *p = (parts){.count = count};
    p->offset = wr_alloc_array(wr_max(count, 1), sizeof *p->offset);
    p->part = wr_alloc_array(wr_max(count, 1), sizeof(weir_pattern *));
    return p->offset && p->part ? 0 : WEIR_ENOMEM;
}

/* Takes the pattern over. */
static int own_part(parts *p, weir_pattern *made)
{
    int code = wr_grow((void **)&p->own, &p->room, p->made + 1, sizeof(weir_pattern *));
    if (code)
        weir_pattern_free(made);
    else
        p->own[p->made++] = made;
    return code;
}

static int close_parts(parts *p, int code, weir_pattern **out)
{
    if (!code)
        code = weir_pattern_concat(p->count, p->offset, p->part, out);
    for (int64_t k = 0; k < p->made; k++)
        weir_pattern_free(p->own[k]);
    wr_free(p->own);
    wr_free(p->offset);
    wr_free(p->part);
    return code;
}

/* Blocks of `length[k * length_step]` items of one type at `place[k]` units of bytes. */
typedef struct blocks {
    int64_t count;
    const int64_t *length, *place;
    int64_t length_step, unit;
} blocks;

static int64_t length_of(const blocks *b, int64_t k)
{
    return b->length[k * b->length_step];
}

/* Of a type whose items in a row are one run, blocks are runs. */
static int dense_blocks(const wr_type *item, const blocks *b, weir_pattern **out)
{
    int64_t *offset = wr_alloc_array(wr_max(b->count, 1), sizeof *offset), lo, hi;
    int64_t *bytes = wr_alloc_array(wr_max(b->count, 1), sizeof *bytes);
    int code = offset && bytes ? 0 : WEIR_ENOMEM;
    weir_pattern_bounds(item->pattern, &lo, &hi);
    for (int64_t k = 0; !code && k < b->count; k++)
        if (!wr_mul(b->place[k], b->unit, &offset[k]) || !wr_add(offset[k], lo, &offset[k]) ||
            !wr_mul(length_of(b, k), item->size, &bytes[k]))
            code = wr_fail(WEIR_ERANGE, "a datatype reaches too far");
    if (!code)
        code = weir_pattern_runs(b->count, offset, bytes, out);
    wr_free(offset);
    wr_free(bytes);
    return code;
}

static int make_blocks(const wr_type *item, const blocks *b, weir_pattern **out)
{
    if (item->dense)
        return dense_blocks(item, b, out);
    parts p;
    int code = open_parts(&p, b->count);
    for (int64_t k = 0; !code && k < b->count; k++) {
        if (k > 0 && length_of(b, k) == length_of(b, k - 1)) {
            p.part[k] = p.part[k - 1];
        } else {
            weir_pattern *made;
            code = wr_type_repeat(item, length_of(b, k), &made);
            if (!code)
                code = own_part(&p, made);
            if (!code)
                p.part[k] = made;
        }
        if (!wr_mul(b->place[k], b->unit, &p.offset[k]))
            code = wr_fail(WEIR_ERANGE, "a datatype reaches too far");
    }
    return close_parts(&p, code, out);
}

/* `count` blocks of `length` items, `stride` bytes apart. */
static int make_vector(const wr_type *item, int64_t count, int64_t length, int64_t stride,
                       weir_pattern **out)
{
    weir_pattern *block;
    int code = wr_type_repeat(item, length, &block);
    if (code)
        return code;
    code = weir_pattern_repeat(block, count, stride, out);
    weir_pattern_free(block);
    return code;
}

static level below(level at)
{
    return (level){at.depth + 1, at.rep};
}

static int make_struct(const wr_contents *c, level at, weir_pattern **out, wr_reach *reach)
{
    int64_t count = c->number[0];
    parts p;
    int code = open_parts(&p, count);
    for (int64_t k = 0; !code && k < count; k++) {
        wr_type item;
        weir_pattern *made;
        code = decode(c->type[k], below(at), &item);
        if (code)
            break;
        code = wr_type_repeat(&item, c->number[1 + k], &made);
        wr_type_release(&item);
        if (!code && at.rep)
            wr_reach_add(reach, &item, c->number[1 + count + k], c->number[1 + k]);
        if (!code)
            code = own_part(&p, made);
        if (!code)
            p.part[k] = made;
        p.offset[k] = c->number[1 + count + k];
    }
    return close_parts(&p, code, out);
}

/* Which indices of one dimension: `count` runs of `length`, `step` apart from `start` on, then one
 * more of `tail`. */
typedef struct span {
    int64_t start, length, count, step, tail;
} span;

/* `item` at the indices of a span, `stride` bytes each. */
static int make_span(const weir_pattern *item, const span *s, int64_t stride, weir_pattern **out)
{
    weir_pattern *run = NULL, *runs = NULL, *tail = NULL;
    int64_t step = 0, places[2];
    int code = 0;
    if (!wr_mul(s->step, stride, &step) || !wr_mul(s->start, stride, &places[0]) ||
        !wr_mul(s->count, step, &places[1]) || !wr_add(places[0], places[1], &places[1]))
        code = wr_fail(WEIR_ERANGE, "a datatype reaches too far");
    if (!code)
        code = weir_pattern_repeat(item, s->length, stride, &run);
    if (!code)
        code = weir_pattern_repeat(run, s->count, step, &runs);
    if (!code)
        code = weir_pattern_repeat(item, s->tail, stride, &tail);
    if (!code)
        code = weir_pattern_concat(2, places, (const weir_pattern *[]){runs, tail}, out);
    weir_pattern_free(run);
    weir_pattern_free(runs);
    weir_pattern_free(tail);
    return code;
}

/* An array of `sizes`, dimension by dimension, the fastest first: the last one in C's order. */
static int make_grid(const wr_type *item, int64_t dimensions, const int64_t *sizes,
                     const span *spans, bool fortran, weir_pattern **out)
{
    int64_t stride = item->extent;
    weir_pattern *all;
    int code = wr_type_repeat(item, 1, &all);
    for (int64_t k = 0; !code && k < dimensions; k++) {
        int64_t d = fortran ? k : dimensions - 1 - k;
        weir_pattern *next;
        code = make_span(all, &spans[d], stride, &next);
        weir_pattern_free(all);
        all = code ? NULL : next;
        if (!code && !wr_mul(stride, sizes[d], &stride))
            code = wr_fail(WEIR_ERANGE, "a datatype reaches too far");
    }
    if (code)
        weir_pattern_free(all);
    else
        *out = all;
    return code;
}

static int make_subarray(const wr_type *item, const wr_contents *c, weir_pattern **out)
{
    int64_t n = c->number[0];
    const int64_t *sizes = c->number + 1, *some = sizes + n, *start = some + n;
    span *spans = wr_alloc_array(wr_max(n, 1), sizeof *spans);
    if (!spans)
        return WEIR_ENOMEM;
    for (int64_t d = 0; d < n; d++)
        spans[d] = (span){.start = start[d], .length = some[d], .count = 1, .step = some[d]};
    int code = make_grid(item, n, sizes, spans, c->number[1 + 3 * n] == MPI_ORDER_FORTRAN, out);
    wr_free(spans);
    return code;
}

/* One dimension of a distributed array: `size` indices over `procs`, of which this is `at`. */
static span distribute(int64_t size, int64_t how, int64_t argument, int64_t procs, int64_t at)
{
    bool standard = argument == MPI_DISTRIBUTE_DFLT_DARG;
    if (how == MPI_DISTRIBUTE_NONE)
        return (span){.length = size, .count = 1, .step = size};
    if (how == MPI_DISTRIBUTE_BLOCK) {
        int64_t block = standard ? wr_div_ceil(size, procs) : argument, start = at * block;
        int64_t length = wr_max(0, wr_min(block, size - start));
        return (span){.start = start, .length = length, .count = 1, .step = block};
    }
    int64_t block = standard ? 1 : argument, start = at * block, round = block * procs;
    if (start >= size)
        return (span){.start = start, .step = round};
    int64_t full = start + block > size ? 0 : (size - start - block) / round + 1;
    int64_t tail = wr_max(0, wr_min(block, size - (start + full * round)));
    return (span){start, block, full, round, tail};
}

static int make_darray(const wr_type *item, const wr_contents *c, weir_pattern **out)
{
    int64_t ranks = c->number[0], rank = c->number[1], n = c->number[2];
    const int64_t *sizes = c->number + 3, *how = sizes + n, *argument = how + n;
    const int64_t *procs = argument + n;
    span *spans = wr_alloc_array(wr_max(n, 1), sizeof *spans);
    if (!spans)
        return WEIR_ENOMEM;
    for (int64_t d = 0; d < n; d++) {
        ranks /= procs[d];
        spans[d] = distribute(sizes[d], how[d], argument[d], procs[d], rank / ranks);
        rank %= ranks;
    }
    int code = make_grid(item, n, sizes, spans, procs[n] == MPI_ORDER_FORTRAN, out);
    wr_free(spans);
    return code;
}

/* Constructors of one type. */
static int make_from(const wr_type *item, const wr_contents *c, weir_pattern **out)
{
    const int64_t *n = c->number;
    int64_t bytes;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return wr_type_repeat(item, 1, out);
    case MPI_COMBINER_CONTIGUOUS:
        return wr_type_repeat(item, n[0], out);
    case MPI_COMBINER_VECTOR:
        if (!wr_mul(n[2], item->extent, &bytes))
            return wr_fail(WEIR_ERANGE, "a datatype reaches too far");
        return make_vector(item, n[0], n[1], bytes, out);
    case MPI_COMBINER_HVECTOR:
        return make_vector(item, n[0], n[1], n[2], out);
    case MPI_COMBINER_INDEXED:
        return make_blocks(item, &(blocks){n[0], n + 1, n + 1 + n[0], 1, item->extent}, out);
    case MPI_COMBINER_HINDEXED:
        return make_blocks(item, &(blocks){n[0], n + 1, n + 1 + n[0], 1, 1}, out);
    case MPI_COMBINER_INDEXED_BLOCK:
        return make_blocks(item, &(blocks){n[0], n + 1, n + 2, 0, item->extent}, out);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return make_blocks(item, &(blocks){n[0], n + 1, n + 2, 0, 1}, out);
    case MPI_COMBINER_SUBARRAY:
        return make_subarray(item, c, out);
    case MPI_COMBINER_DARRAY:
        return make_darray(item, c, out);
    default:
        return wr_fail(WEIR_EUNSUPPORTED, "a datatype made by combiner %d", c->combiner);
    }
}

/* Where the second member of a pair type lies; 0: it is no pair. */
static int64_t second_of(MPI_Datatype type)
{
    const struct {
        MPI_Datatype type;
        int64_t place;
    } pairs[] = {
        {MPI_FLOAT_INT, sizeof(float)}, {MPI_DOUBLE_INT, sizeof(double)},
        {MPI_LONG_INT, sizeof(long)},   {MPI_2INT, sizeof(int)},
        {MPI_SHORT_INT, sizeof(int)},   {MPI_LONG_DOUBLE_INT, sizeof(long double)},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (type == pairs[k].type)
            return pairs[k].place;
    return 0;
}

static int make_named(MPI_Datatype type, int64_t size, weir_pattern **out)
{
    int64_t second = second_of(type), first = size - (int64_t)sizeof(int);
    if (!second)
        return weir_pattern_contiguous(0, size, out);
    return weir_pattern_runs(2, (const int64_t[]){0, second}, (const int64_t[]){first, sizeof(int)},
                             out);
}

static int make_pattern(MPI_Datatype type, level at, wr_type *out)
{
    wr_contents c;
    wr_type item = {0};
    wr_reach reach = {0};
    int code = wr_contents_get(type, &c);
    if (code)
        return code;
    switch (c.combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        code = at.rep ? weir_pattern_contiguous(0, out->size, &out->pattern)
                      : make_named(type, out->size, &out->pattern);
        break;
    case MPI_COMBINER_STRUCT:
        code = make_struct(&c, at, &out->pattern, &reach);
        if (!code && at.rep)
            code = wr_reach_end(&reach, out);
        break;
    default:
        code = decode(c.type[0], below(at), &item);
        if (!code)
            code = make_from(&item, &c, &out->pattern);
        if (!code && at.rep)
            code = wr_reach_of(&item, &c, out);
        wr_type_release(&item);
    }
    wr_contents_release(&c);
    return code;
}

/* What MPI says of a type in memory, and what a representation does of a named one in a file. */
static int ask(MPI_Datatype type, level at, wr_type *out)
{
    MPI_Count size, lb, extent;
    if (at.rep) {
        int code = wr_type_is_named(type) ? wr_datarep_bytes(at.rep, type, &out->size) : 0;
        out->extent = out->size;
        return code;
    }
    if (PMPI_Type_size_x(type, &size) || PMPI_Type_get_extent_x(type, &lb, &extent))
        return wr_fail(WEIR_EINVAL, "size or extent of a datatype");
    out->size = size;
    out->lb = lb;
    out->extent = extent;
    return 0;
}

static int decode(MPI_Datatype type, level at, wr_type *out)
{
    *out = (wr_type){0};
    if (at.depth == DEEPEST)
        return wr_fail(WEIR_ERANGE, "a datatype nested more than %d deep", DEEPEST);
    int code = ask(type, at, out);
    if (!code)
        code = make_pattern(type, at, out);
    if (code) {
        wr_type_release(out);
        return code;
    }
    int64_t lo, hi, decoded = weir_pattern_bytes(out->pattern);
    if (at.rep)
        out->size = decoded;
    weir_pattern_bounds(out->pattern, &lo, &hi);
    out->dense =
        out->size == out->extent && hi - lo == out->size && weir_pattern_pieces(out->pattern) == 1;
    if (decoded != out->size) {
        wr_type_release(out);
        return wr_fail(WEIR_EINVAL, "a datatype of %lld bytes was decoded to %lld",
                       (long long)out->size, (long long)decoded);
    }
    return 0;
}

int wr_type_in_file(MPI_Datatype type, const wr_datarep *rep, wr_type *out)
{
    return decode(type, (level){0, rep}, out);
}

/* --- keeping --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int type_key = MPI_KEYVAL_INVALID;
static struct {
    MPI_Datatype type;
    wr_type *_Atomic known;
} table[TABLE]; /* of named types: a hash table, only ever added to */

static int drop(MPI_Datatype type, int key, void *value, void *unused)
{
    (void)type, (void)key, (void)unused;
    wr_type_release(value);
    wr_free(value);
    return MPI_SUCCESS;
}

static uint64_t slot_of(MPI_Datatype type)
{
    return ((uint64_t)(uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15)) >> 56;
}

static wr_type *find_named(MPI_Datatype type)
{
    for (uint64_t k = slot_of(type);; k++) {
        wr_type *known = table[k % TABLE].known;
        if (!known || table[k % TABLE].type == type)
            return known;
    }
}

static void keep_named(MPI_Datatype type, wr_type *known)
{
    uint64_t k = slot_of(type);
    while (table[k % TABLE].known)
        k++;
    table[k % TABLE].type = type;
    table[k % TABLE].known = known; /* last: find_named looks without the lock */
}

/* With the lock held. */
static int learn(MPI_Datatype type, wr_type **out)
{
    wr_type *t = wr_alloc(sizeof *t);
    int code = t ? decode(type, (level){0}, t) : WEIR_ENOMEM;
    if (!code && t && wr_type_is_named(type)) {
        keep_named(type, t);
    } else if (!code) {
        if (type_key == MPI_KEYVAL_INVALID)
            code = PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, drop, &type_key, NULL);
        if (!code)
            code = PMPI_Type_set_attr(type, type_key, t);
        if (code) {
            code = wr_fail(WEIR_ETRANSPORT, "cannot keep what a datatype is");
            wr_type_release(t);
        }
    }
    if (code)
        wr_free(t);
    else
        *out = t;
    return code;
}

static int get(MPI_Datatype type, wr_type **out)
{
    void *value;
    int found = 0;
    *out = find_named(type);
    if (*out)
        return 0;
    pthread_mutex_lock(&lock);
    if (type_key != MPI_KEYVAL_INVALID)
        PMPI_Type_get_attr(type, type_key, &value, &found);
    int code = 0;
    if (found)
        *out = value;
    else
        code = learn(type, out);
    pthread_mutex_unlock(&lock);
    return code;
}

int wr_type_get(MPI_Datatype type, const wr_type **out)
{
    wr_type *known = NULL;
    int code = get(type, &known);
    *out = known;
    return code;
}

/* Only MPI_Pack says so in every MPI, to a communicator whose errors must not end the program. With
 * the lock held. */
static bool is_committed(MPI_Datatype type)
{
    static MPI_Comm own = MPI_COMM_NULL;
    char from[1] = "", to[1];
    int position = 0;
    if (own == MPI_COMM_NULL) {
        if (PMPI_Comm_dup(MPI_COMM_SELF, &own) != MPI_SUCCESS)
            return true;
        PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    }
    return PMPI_Pack(from, 0, type, to, 1, &position, own) == MPI_SUCCESS;
}

int wr_type_get_committed(MPI_Datatype type, const wr_type **out)
{
    wr_type *known = NULL;
    int code = get(type, &known);
    *out = known;
    if (code || known->committed)
        return code;
    pthread_mutex_lock(&lock);
    known->committed = wr_type_is_named(type) || is_committed(type);
    pthread_mutex_unlock(&lock);
    return known->committed ? 0 : wr_misuse(MPI_ERR_TYPE, "a datatype that is not committed");
}
