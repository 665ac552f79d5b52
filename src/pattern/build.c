/* The builder: normal form is established here and nowhere else.
 *
 * The idea is that of datatype processing in "A New Flexible MPI Collective I/O Implementation",
 * section 5.3: keep the description as short as the user's own, and never expand it. */
#include "pattern/build.h"

#include <string.h>

#include "base/arith.h"
#include "base/error.h"

enum {
    SEGMENT = 8, /* equally spaced entries worth a loop inside a list */
    SLOTS = 16,  /* of the first hash table */
    NODES_MAX = INT32_MAX
};

static int too_large(void)
{
    return wr_fail(WEIR_ERANGE, "pattern: an offset or a number of bytes exceeds 2^62");
}

static bool in_range(int64_t x)
{
    return x >= -WR_OFFSET_MAX && x <= WR_OFFSET_MAX;
}

/* The arrays of an unfinished pattern, for the functions that read nodes. */
static weir_pattern view(const wr_builder *b)
{
    return (weir_pattern){.nodes = (int32_t)b->nodes,
                          .node = b->node,
                          .word = b->word,
                          .kid = b->kid,
                          .words = b->words,
                          .kids = b->kids};
}

/* What wr_node_complete needs to know of an entry, whether it is a node or a bare run. */
static wr_node entry_node(wr_entry e)
{
    if (e.child)
        return *e.child;
    return (wr_node){.kind = WR_LEAF,
                     .ordered = true,
                     .disjoint = true,
                     .bytes = e.run,
                     .runs = 1,
                     .hi = e.run,
                     .first = e.run,
                     .last = e.run};
}

/* Whether data at `gap` bytes after the start of `a` may follow `a`. */
static void follow(wr_node *n, const wr_node *a, const wr_node *b, int64_t gap)
{
    n->ordered = n->ordered && gap >= a->hi - a->last && gap >= a->hi - b->first;
    n->disjoint = n->disjoint && n->ordered && gap >= a->hi;
}

static int complete_loop(const weir_pattern *p, wr_node *n)
{
    const wr_node child = entry_node(wr_entry_get(p, n, 0));
    int64_t span;
    if (!wr_mul(n->count - 1, n->stride, &span) || !in_range(span) ||
        !wr_mul(n->count, child.bytes, &n->bytes) || n->bytes > WR_OFFSET_MAX ||
        !wr_mul(n->count, child.runs, &n->runs))
        return too_large();
    n->lo = child.lo + wr_min(span, 0);
    n->hi = child.hi + wr_max(span, 0);
    n->first = child.first;
    n->last = child.last;
    n->depth = (uint8_t)(child.depth + 1);
    n->ordered = child.ordered;
    n->disjoint = child.disjoint;
    if (n->count > 1)
        follow(n, &child, &child, n->stride);
    return 0;
}

static int complete_list(const weir_pattern *p, wr_node *n)
{
    wr_node before = {0};
    int64_t before_place = 0, sum = 0;
    n->ordered = n->disjoint = true;
    n->bytes = n->runs = 0;
    for (int64_t i = 0; i < n->count; i++) {
        wr_entry e = wr_entry_get(p, n, i);
        const wr_node child = entry_node(e);
        if (!in_range(e.place))
            return too_large();
        sum += child.bytes;
        if (sum > WR_OFFSET_MAX)
            return too_large();
        n->runs += child.runs;
        n->lo = i ? wr_min(n->lo, e.place + child.lo) : child.lo;
        n->hi = i ? wr_max(n->hi, e.place + child.hi) : child.hi;
        n->depth = (uint8_t)wr_max(n->depth, child.depth + 1);
        n->ordered = n->ordered && child.ordered;
        n->disjoint = n->disjoint && child.disjoint;
        if (i)
            follow(n, &before, &child, e.place - before_place);
        else
            n->first = child.first;
        n->last = child.last;
        before = child;
        before_place = e.place;
    }
    n->bytes = sum;
    return 0;
}

int wr_node_complete(const weir_pattern *p, wr_node *n)
{
    n->depth = 0;
    if (n->kind == WR_LEAF) {
        n->ordered = n->disjoint = true;
        n->lo = 0;
        n->bytes = n->hi = n->first = n->last = n->count;
        n->runs = n->count > 0;
        return n->count <= WR_OFFSET_MAX ? 0 : too_large();
    }
    int code = n->kind == WR_LOOP ? complete_loop(p, n) : complete_list(p, n);
    if (code)
        return code;
    if (n->depth >= WR_DEPTH)
        return wr_fail(WEIR_EINVAL, "pattern: nested more than %d deep", WR_DEPTH - 1);
    return in_range(n->lo) && in_range(n->hi) ? 0 : too_large();
}

int wr_pattern_check_origin(const weir_pattern *pattern)
{
    const wr_node *root = wr_pattern_root(pattern);
    bool fits = in_range(pattern->origin) && in_range(pattern->origin + root->lo) &&
                in_range(pattern->origin + root->hi);
    return fits ? 0 : too_large();
}

/* Words a list takes: offsets, and data positions if its entries differ. */
static int64_t list_words(const wr_node *n)
{
    return n->child >= 0 ? n->count : 2 * n->count + 1;
}

static bool same_node(const wr_builder *b, const wr_node *x, const wr_node *y)
{
    if (x->kind != y->kind || x->count != y->count || x->child != y->child ||
        (x->kind == WR_LOOP && x->stride != y->stride))
        return false;
    if (x->kind != WR_LIST)
        return true;
    size_t words = (size_t)list_words(x);
    if ((x->kid < 0) != (y->kid < 0) ||
        memcmp(b->word + x->word, b->word + y->word, words * sizeof *b->word))
        return false;
    return x->kid < 0 ||
           !memcmp(b->kid + x->kid, b->kid + y->kid, (size_t)x->count * sizeof *b->kid);
}

static uint64_t stir(uint64_t h, int64_t value)
{
    h = (h ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t node_hash(const wr_builder *b, const wr_node *n)
{
    const int64_t fields[] = {n->kind, n->count, n->stride, n->child};
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        h = stir(h, fields[i]);
    int64_t words = n->kind == WR_LIST ? list_words(n) : 0;
    for (int64_t i = 0; i < words; i++)
        h = stir(h, b->word[n->word + i]);
    for (int64_t i = 0; n->kid >= 0 && i < n->count; i++)
        h = stir(h, b->kid[n->kid + i]);
    return h;
}

/* The slot that holds a node equal to n, or the free one where it belongs. */
static int32_t *find_slot(const wr_builder *b, const wr_node *n)
{
    uint64_t mask = (uint64_t)b->slots - 1, i = node_hash(b, n) & mask;
    while (b->slot[i] >= 0 && !same_node(b, n, &b->node[b->slot[i]]))
        i = (i + 1) & mask;
    return &b->slot[i];
}

static int grow_slots(wr_builder *b)
{
    if (2 * (b->nodes + 1) <= b->slots)
        return 0;
    int64_t slots = b->slots ? 2 * b->slots : SLOTS;
    int32_t *slot = wr_alloc_array(slots, sizeof *slot);
    if (!slot)
        return WEIR_ENOMEM;
    wr_free(b->slot);
    b->slot = slot;
    b->slots = slots;
    memset(slot, -1, (size_t)slots * sizeof *slot);
    for (int64_t i = 0; i < b->nodes; i++)
        *find_slot(b, &b->node[i]) = (int32_t)i;
    return 0;
}

/* Completes and stores a node, or finds an equal one. A list's words and kids must be the last ones
 * in the builder; they are dropped again if an equal node exists. */
static int add_node(wr_builder *b, wr_node n, int32_t *out)
{
    const weir_pattern p = view(b);
    int code = wr_node_complete(&p, &n);
    if (!code)
        code = grow_slots(b);
    if (code)
        return code;
    int32_t *slot = find_slot(b, &n);
    if (*slot >= 0) {
        b->words = n.kind == WR_LIST ? n.word : b->words;
        b->kids = n.kid >= 0 ? n.kid : b->kids;
        *out = *slot;
        return 0;
    }
    if (b->nodes >= NODES_MAX)
        return wr_fail(WEIR_EINVAL, "pattern: more than 2^31 nodes");
    code = wr_grow((void **)&b->node, &b->node_room, b->nodes + 1, sizeof *b->node);
    if (code)
        return code;
    b->node[b->nodes] = n;
    *out = *slot = (int32_t)b->nodes++;
    return 0;
}

static int add_leaf(wr_builder *b, int64_t bytes, int32_t *out)
{
    wr_node n = {.kind = WR_LEAF, .child = -1, .kid = -1, .count = bytes};
    return add_node(b, n, out);
}

/* The node number of a term; a run becomes a leaf. */
static int term_node(wr_builder *b, wr_term t, int32_t *out)
{
    if (t.run > 0)
        return add_leaf(b, t.run, out);
    *out = t.node;
    return 0;
}

int wr_build_loop(wr_builder *b, int64_t count, int64_t stride, wr_term inner, wr_term *out)
{
    if (count < 0)
        return wr_fail(WEIR_EINVAL, "pattern: negative count");
    if (count == 0 || wr_term_is_empty(inner)) {
        *out = WR_TERM_EMPTY;
        return 0;
    }
    if (count == 1) {
        *out = inner;
        return 0;
    }
    if (inner.run > 0 && inner.run == stride) {
        int64_t bytes;
        if (!wr_mul(count, stride, &bytes) || !in_range(bytes))
            return too_large();
        *out = wr_term_run(inner.offset, bytes);
        return 0;
    }
    wr_node n = {.kind = WR_LOOP, .kid = -1, .count = count, .stride = stride};
    int code = term_node(b, inner, &n.child);
    if (code)
        return code;
    const wr_node *child = &b->node[n.child];
    int64_t span;
    if (child->kind == WR_LOOP && wr_mul(child->count, child->stride, &span) && span == stride &&
        wr_mul(count, child->count, &n.count)) {
        n.stride = child->stride;
        n.child = child->child;
    }
    *out = (wr_term){.offset = inner.offset};
    return add_node(b, n, &out->node);
}

/* Drops empty terms and joins runs that touch; returns how many terms are left. */
static int64_t join_runs(int64_t count, wr_term *terms)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        wr_term *last = kept ? &terms[kept - 1] : NULL;
        if (wr_term_is_empty(terms[i]))
            continue;
        if (last && last->run && terms[i].run && terms[i].offset - last->offset == last->run &&
            in_range(last->run + terms[i].run))
            last->run += terms[i].run;
        else
            terms[kept++] = terms[i];
    }
    return kept;
}

static bool same_part(wr_term a, wr_term b)
{
    return a.run == b.run && a.node == b.node;
}

/* Replaces each stretch of equal, equally spaced terms by a loop, where it is long enough or all
 * there is; returns how many terms are left, or a negative code. */
static int64_t find_loops(wr_builder *b, int64_t count, wr_term *terms)
{
    int64_t kept = 0;
    for (int64_t i = 0, next; i < count; i = next) {
        next = i + 1;
        int64_t step = 0;
        if (next < count && same_part(terms[i], terms[next])) {
            step = terms[next].offset - terms[i].offset;
            for (next++; next < count && same_part(terms[i], terms[next]); next++)
                if (terms[next].offset - terms[next - 1].offset != step)
                    break;
        }
        if (next - i < SEGMENT && !(i == 0 && next == count))
            next = i + 1;
        int code = wr_build_loop(b, next - i, step, terms[i], &terms[kept++]);
        if (code)
            return code;
    }
    return kept;
}

/* The term as a loop: iterations, stride, child. A run or list is a loop of one iteration. */
static wr_node as_loop(const wr_builder *b, wr_term t)
{
    if (t.run == 0 && b->node[t.node].kind == WR_LOOP)
        return b->node[t.node];
    return (wr_node){.kind = WR_LOOP, .count = 1, .child = t.node};
}

static bool is_child(const wr_builder *b, wr_term t, int32_t child)
{
    return t.run ? b->node[child].kind == WR_LEAF && b->node[child].count == t.run
                 : t.node == child;
}

/* Appends to a loop what goes on where it stops: the same loop, or one more iteration. Returns how
 * many terms are left, or a negative code. */
static int64_t join_loops(wr_builder *b, int64_t count, wr_term *terms)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        wr_term next = terms[i], *last = kept ? &terms[kept - 1] : NULL;
        wr_node x = last ? as_loop(b, *last) : (wr_node){.count = 1}, y = as_loop(b, next);
        bool more = y.count > 1 ? y.child == x.child && y.stride == x.stride
                                : x.count > 1 && is_child(b, next, x.child);
        if (x.count > 1 && more && next.offset - last->offset == x.count * x.stride) {
            wr_term child = {.offset = last->offset, .node = x.child};
            if (b->node[x.child].kind == WR_LEAF)
                child = wr_term_run(last->offset, b->node[x.child].count);
            int code = wr_build_loop(b, x.count + y.count, x.stride, child, last);
            if (code)
                return code;
        } else {
            terms[kept++] = next;
        }
    }
    return kept;
}

/* Stores offsets, and data positions if `positions`, of a list's entries. */
static int add_words(wr_builder *b, int64_t count, const wr_term *terms, bool positions)
{
    int64_t need = b->words + (positions ? 2 * count + 1 : count);
    int code = wr_grow((void **)&b->word, &b->word_room, need, sizeof *b->word);
    if (code)
        return code;
    for (int64_t i = 0; i < count; i++)
        b->word[b->words++] = terms[i].offset - terms[0].offset;
    int64_t data = 0;
    for (int64_t i = 0; positions && i <= count; i++) {
        b->word[b->words++] = data;
        if (i < count)
            data += terms[i].run ? terms[i].run : b->node[terms[i].node].bytes;
        if (data > WR_OFFSET_MAX)
            return too_large();
    }
    return 0;
}

static int add_kids(wr_builder *b, int64_t count, const wr_term *terms)
{
    int code = wr_grow((void **)&b->kid, &b->kid_room, b->kids + count, sizeof *b->kid);
    for (int64_t i = 0; !code && i < count; i++) {
        int32_t node;
        code = term_node(b, terms[i], &node);
        if (!code)
            b->kid[b->kids++] = node;
    }
    return code;
}

static int add_list(wr_builder *b, int64_t count, const wr_term *terms, wr_term *out)
{
    bool uniform = true, runs = true;
    for (int64_t i = 0; i < count; i++) {
        uniform = uniform && same_part(terms[i], terms[0]);
        runs = runs && terms[i].run > 0;
        if (!in_range(terms[i].offset) || !in_range(terms[i].offset - terms[0].offset))
            return too_large();
    }
    wr_node n = {.kind = WR_LIST, .child = -1, .kid = -1, .count = count, .word = b->words};
    int code = uniform ? term_node(b, terms[0], &n.child) : 0;
    if (!code && !uniform && !runs) {
        n.kid = b->kids;
        code = add_kids(b, count, terms);
    }
    if (!code)
        code = add_words(b, count, terms, !uniform);
    *out = (wr_term){.offset = terms[0].offset};
    return code ? code : add_node(b, n, &out->node);
}

int wr_build_list(wr_builder *b, int64_t count, wr_term *terms, wr_term *out)
{
    count = join_runs(count, terms);
    count = find_loops(b, count, terms);
    if (count > 0)
        count = join_loops(b, count, terms);
    if (count < 0)
        return (int)count;
    if (count <= 1) {
        *out = count ? terms[0] : WR_TERM_EMPTY;
        return 0;
    }
    return add_list(b, count, terms, out);
}

int wr_build_import(wr_builder *b, const weir_pattern *pattern, wr_term *out)
{
    const wr_node *root = wr_pattern_root(pattern);
    if (root->kind == WR_LEAF) {
        *out = root->count ? wr_term_run(pattern->origin, root->count) : WR_TERM_EMPTY;
        return 0;
    }
    int code =
        wr_grow((void **)&b->word, &b->word_room, b->words + pattern->words, sizeof *b->word);
    if (!code)
        code = wr_grow((void **)&b->kid, &b->kid_room, b->kids + pattern->kids, sizeof *b->kid);
    int32_t *number =
        code ? NULL : wr_arena_alloc(&b->scratch, pattern->nodes * (int64_t)sizeof *number);
    if (!number)
        return code ? code : WEIR_ENOMEM;
    for (int32_t i = 0; i < pattern->nodes; i++) {
        wr_node n = pattern->node[i];
        if (n.child >= 0)
            n.child = number[n.child];
        if (n.kind == WR_LIST) {
            size_t words = (size_t)list_words(&n);
            memcpy(b->word + b->words, pattern->word + n.word, words * sizeof *b->word);
            n.word = b->words;
            b->words += (int64_t)words;
        }
        if (n.kid >= 0) {
            int64_t start = b->kids;
            for (int64_t k = 0; k < n.count; k++)
                b->kid[b->kids++] = number[pattern->kid[n.kid + k]];
            n.kid = start;
        }
        code = add_node(b, n, &number[i]);
        if (code)
            return code;
    }
    *out = (wr_term){.offset = pattern->origin, .node = number[pattern->nodes - 1]};
    return 0;
}

wr_term *wr_build_terms(wr_builder *b, int64_t count)
{
    int64_t bytes;
    if (!wr_mul(count, (int64_t)sizeof(wr_term), &bytes))
        bytes = INT64_MAX;
    return wr_arena_alloc(&b->scratch, bytes);
}

static void release(wr_builder *b)
{
    wr_free(b->node);
    wr_free(b->word);
    wr_free(b->kid);
    wr_free(b->slot);
    wr_arena_release(&b->scratch);
    *b = (wr_builder){0};
}

int wr_build_end(wr_builder *b, int code, wr_term root, weir_pattern **out)
{
    if (!code)
        code = wr_build_finish(b, root, out);
    release(b);
    return code;
}
