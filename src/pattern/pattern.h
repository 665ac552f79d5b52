/* The inside of a pattern: a flat array of nodes, children before parents, the root last.
 *
 * A leaf is one run. A loop repeats its child. A list holds entries in data order, in one of three
 * shapes: `uniform` (one child for all entries), `runs` (entries are runs of their own length) and
 * `mixed` (a child per entry). Offsets inside a node are relative to its first data byte.
 *
 * Normal form, kept by the constructors in build.c and demanded by nothing else:
 *   loops have at least 2 iterations, lists at least 2 entries, and nothing is empty;
 *   a loop over a run of its own stride is a longer run;
 *   a loop whose child loop ends where the next iteration starts is one loop;
 *   runs that touch in a list are one run;
 *   a list of equal entries with a constant spacing is a loop.
 *
 * Invariants
 *   P1  bounds of nodes and patterns and all byte counts are below 2^62 in size, so the sum of any
 *       two fits
 *   P2  a node's child has a smaller number, and no path is longer than WR_DEPTH
 *   P3  ordered: starts and ends of runs never decrease in data order; disjoint: each run starts
 *       at or after the end of the one before; disjoint implies ordered
 *   P4  a pattern is one block of memory without pointers that matter: copied anywhere, to another
 *       rank too, it is the same pattern (wr_pattern_attach) */
#ifndef WR_PATTERN_PATTERN_H
#define WR_PATTERN_PATTERN_H

#include <stdbool.h>

#include "weir/pattern.h"

enum { WR_DEPTH = 32 };
#define WR_OFFSET_MAX ((INT64_C(1) << 62) - 1)

enum wr_node_kind { WR_LEAF, WR_LOOP, WR_LIST };

typedef struct wr_node {
    uint8_t kind;
    bool ordered, disjoint;
    uint8_t depth;  /* of the nodes below it; 0 for a leaf */
    int32_t child;  /* loop, uniform list; otherwise -1 */
    int64_t count;  /* leaf: bytes; loop: iterations; list: entries */
    int64_t stride; /* loop */
    int64_t word;   /* list: where its offsets start in word[]; not uniform: count + 1 data
                       positions follow them */
    int64_t kid;    /* mixed list: where its children start in kid[]; otherwise -1 */
    int64_t bytes;  /* data */
    int64_t runs;
    int64_t lo, hi;      /* bounds; lo <= 0 < hi unless empty */
    int64_t first, last; /* lengths of the first and last run */
} wr_node;

typedef struct wr_hash {
    uint64_t half[2];
} wr_hash;

struct weir_pattern {
    int64_t origin; /* offset of the root's first data byte */
    int32_t nodes;
    int64_t words, kids;
    wr_node *node; /* all three in the same block of memory as this struct */
    int64_t *word;
    int32_t *kid;
    wr_hash hash;
};

static inline const wr_node *wr_pattern_root(const weir_pattern *p)
{
    return &p->node[p->nodes - 1];
}

/* One entry of a loop or list: a child, or, where that is NULL, a run of `run` bytes. */
typedef struct wr_entry {
    const wr_node *child;
    int64_t run;
    int64_t place; /* offset relative to the node */
    int64_t data;  /* data position relative to the node */
} wr_entry;

static inline wr_entry wr_entry_get(const weir_pattern *p, const wr_node *n, int64_t i)
{
    wr_entry e = {0};
    if (n->kind == WR_LOOP || n->child >= 0) {
        e.child = &p->node[n->child];
        e.place = n->kind == WR_LOOP ? i * n->stride : p->word[n->word + i];
        e.data = i * e.child->bytes;
    } else {
        const int64_t *data = p->word + n->word + n->count;
        e.child = n->kid >= 0 ? &p->node[p->kid[n->kid + i]] : NULL;
        e.place = p->word[n->word + i];
        e.data = data[i];
        e.run = data[i + 1] - data[i];
    }
    if (e.child && e.child->kind == WR_LEAF) {
        e.run = e.child->count;
        e.child = NULL;
    }
    return e;
}

/* Number of data bytes before offset x, for a disjoint pattern; for one that is only ordered, the
 * data position of the first byte of the first run that ends after x, or of x in that run. */
int64_t wr_pattern_data_below(const weir_pattern *pattern, int64_t x);

/* Where a data position lies. */
int64_t wr_pattern_offset(const weir_pattern *pattern, int64_t data);

/* Bounds of the data [begin, end) of an ordered pattern, begin < end; *hi may be too high, up to
 * the end of the last run, where the pattern is not disjoint. */
void wr_pattern_bounds_of(const weir_pattern *pattern, int64_t begin, int64_t end, int64_t *lo,
                          int64_t *hi);

/* What an ordered pattern has in [lo, hi), in as many nodes as it has batches there. */
int wr_pattern_clip(const weir_pattern *pattern, int64_t lo, int64_t hi, weir_pattern **out);

/* A pattern is one block of weir_pattern_footprint() bytes that can be copied anywhere, also into
 * memory that others map elsewhere; this gives a usable header for such a copy, valid as long as
 * the copy is. */
weir_pattern wr_pattern_attach(const void *block);

/* A pattern of one run that needs no memory of its own. */
typedef struct wr_run_pattern {
    weir_pattern pattern;
    wr_node node;
} wr_run_pattern;

const weir_pattern *wr_run_pattern_set(wr_run_pattern *run, int64_t offset, int64_t bytes);

static inline bool wr_hash_equal(wr_hash a, wr_hash b)
{
    return a.half[0] == b.half[0] && a.half[1] == b.half[1];
}

#endif
