/* From a builder's nodes to a finished pattern: one block of memory that holds just what the root
 * reaches, numbered the same way however it was built, so that equal patterns have equal hashes. */
#include <stddef.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "pattern/build.h"

/* Room for a pattern of that many parts, its arrays pointing into one block, nothing filled in. */
static weir_pattern *allocate(int32_t nodes, int64_t words, int64_t kids)
{
    int64_t size, part;
    if (!wr_mul(words, (int64_t)sizeof(int64_t), &size) ||
        !wr_mul(kids, (int64_t)sizeof(int32_t), &part) || !wr_add(size, part, &size) ||
        !wr_add(size, nodes * (int64_t)sizeof(wr_node) + (int64_t)sizeof(weir_pattern), &size))
        size = INT64_MAX;
    weir_pattern *p = wr_alloc(size);
    if (!p)
        return NULL;
    *p = (weir_pattern){.nodes = nodes, .words = words, .kids = kids};
    *p = wr_pattern_attach(p);
    return p;
}

/* Marks what `root` reaches, parents before children, and counts it in `p`. */
static void mark(const wr_builder *b, int32_t root, int32_t *number, weir_pattern *p)
{
    number[root] = 1;
    for (int32_t i = root; i >= 0; i--) {
        const wr_node *n = &b->node[i];
        if (!number[i])
            continue;
        p->nodes++;
        if (n->child >= 0)
            number[n->child] = 1;
        if (n->kind == WR_LIST)
            p->words += n->child >= 0 ? n->count : 2 * n->count + 1;
        for (int64_t k = 0; n->kid >= 0 && k < n->count; k++)
            number[b->kid[n->kid + k]] = 1;
        p->kids += n->kid >= 0 ? n->count : 0;
    }
}

/* Numbers the marked nodes: a node comes after its children, these in the order of their first use.
 * Recursion is bounded by WR_DEPTH. `next` is the number to give; 2 and up mean "numbered". */
static void renumber(const wr_builder *b, int32_t i, int32_t *number, int32_t *next)
{
    const wr_node *n = &b->node[i];
    if (number[i] != 1)
        return;
    if (n->child >= 0)
        renumber(b, n->child, number, next);
    for (int64_t k = 0; n->kid >= 0 && k < n->count; k++)
        renumber(b, b->kid[n->kid + k], number, next);
    number[i] = 2 + (*next)++;
}

static void copy_node(const wr_builder *b, int32_t i, const int32_t *number, weir_pattern *p)
{
    wr_node n = b->node[i];
    if (n.child >= 0)
        n.child = number[n.child] - 2;
    if (n.kind == WR_LIST) {
        int64_t words = n.child >= 0 ? n.count : 2 * n.count + 1;
        memcpy(p->word + p->words, b->word + n.word, (size_t)words * sizeof *p->word);
        n.word = p->words;
        p->words += words;
    }
    int64_t kids = p->kids;
    for (int64_t k = 0; n.kid >= 0 && k < n.count; k++)
        p->kid[p->kids++] = number[b->kid[n.kid + k]] - 2;
    n.kid = n.kid >= 0 ? kids : -1;
    p->node[number[i] - 2] = n;
}

/* In the order of the new numbers, so that words and kids lie in that order too. */
static int copy_marked(const wr_builder *b, wr_arena *scratch, const int32_t *number,
                       weir_pattern *p)
{
    int32_t *old = wr_arena_alloc(scratch, p->nodes * (int64_t)sizeof *old);
    if (!old)
        return WEIR_ENOMEM;
    for (int32_t i = 0; i < b->nodes; i++)
        if (number[i] >= 2)
            old[number[i] - 2] = i;
    p->words = p->kids = 0;
    for (int32_t i = 0; i < p->nodes; i++)
        copy_node(b, old[i], number, p);
    return 0;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static void absorb(wr_hash *h, int64_t value)
{
    uint64_t v = (uint64_t)value;
    h->half[0] = mix(h->half[0] ^ v, UINT64_C(0x9e3779b97f4a7c15)) + h->half[1];
    h->half[1] = mix(h->half[1] + v, UINT64_C(0xc2b2ae3d27d4eb4f)) ^ (h->half[0] >> 17);
}

/* Of everything the pattern says: origin, nodes, words, kids. */
static wr_hash digest(const weir_pattern *pattern)
{
    wr_hash h = {{UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)}};
    absorb(&h, pattern->origin);
    for (int32_t i = 0; i < pattern->nodes; i++) {
        const wr_node *n = &pattern->node[i];
        absorb(&h, n->kind);
        absorb(&h, n->count);
        absorb(&h, n->kind == WR_LOOP ? n->stride : n->kid >= 0);
        absorb(&h, n->child);
    }
    for (int64_t i = 0; i < pattern->words; i++)
        absorb(&h, pattern->word[i]);
    for (int64_t i = 0; i < pattern->kids; i++)
        absorb(&h, pattern->kid[i]);
    absorb(&h, 0);
    return h;
}

/* The end of both ways to a pattern: frees it if `code` says that it failed, or its bounds do. */
static int hand_over(weir_pattern *p, int code, weir_pattern **out)
{
    if (!code)
        code = wr_pattern_check_origin(p);
    if (code) {
        weir_pattern_free(p);
        return code;
    }
    p->hash = digest(p);
    *out = p;
    return 0;
}

static int finish_nodes(wr_builder *b, int32_t root, int64_t origin, weir_pattern **out)
{
    int32_t *number = wr_arena_alloc(&b->scratch, b->nodes * (int64_t)sizeof *number);
    if (!number)
        return WEIR_ENOMEM;
    memset(number, 0, (size_t)b->nodes * sizeof *number);
    weir_pattern size = {0};
    mark(b, root, number, &size);
    weir_pattern *p = allocate(size.nodes, size.words, size.kids);
    if (!p)
        return WEIR_ENOMEM;
    int32_t next = 0;
    renumber(b, root, number, &next);
    p->origin = origin;
    return hand_over(p, copy_marked(b, &b->scratch, number, p), out);
}

static int finish_run(int64_t origin, int64_t bytes, weir_pattern **out)
{
    weir_pattern *p = allocate(1, 0, 0);
    if (!p)
        return WEIR_ENOMEM;
    p->origin = bytes ? origin : 0;
    p->node[0] = (wr_node){.kind = WR_LEAF, .child = -1, .kid = -1, .count = bytes};
    return hand_over(p, wr_node_complete(p, &p->node[0]), out);
}

const weir_pattern *wr_run_pattern_set(wr_run_pattern *run, int64_t offset, int64_t bytes)
{
    _Static_assert(offsetof(wr_run_pattern, node) == sizeof(weir_pattern), "one block, as any");
    run->pattern = (weir_pattern){.origin = bytes ? offset : 0, .nodes = 1, .node = &run->node};
    run->node = (wr_node){.kind = WR_LEAF, .child = -1, .kid = -1, .count = bytes};
    wr_node_complete(&run->pattern, &run->node); /* of a leaf it cannot fail */
    run->pattern.hash = digest(&run->pattern);
    return &run->pattern;
}

int wr_build_finish(wr_builder *b, wr_term root, weir_pattern **out)
{
    if (root.run > 0 || wr_term_is_empty(root))
        return finish_run(root.offset, root.run, out);
    return finish_nodes(b, root.node, root.offset, out);
}

weir_pattern wr_pattern_attach(const void *block)
{
    weir_pattern p = *(const weir_pattern *)block;
    p.node = (wr_node *)(void *)((char *)(uintptr_t)block + sizeof p);
    p.word = (int64_t *)(void *)(p.node + p.nodes);
    p.kid = (int32_t *)(void *)(p.word + p.words);
    return p;
}

void weir_pattern_free(weir_pattern *pattern)
{
    wr_free(pattern);
}
