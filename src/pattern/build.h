/* Building patterns bottom-up, in normal form.
 *
 * A builder collects nodes; a term is a part built so far: a run, or a node at an offset, or
 * nothing. Each wr_build_* function turns terms into a term and keeps the normal form. Used by the
 * constructors; not visible outside the room. */
#ifndef WR_PATTERN_BUILD_H
#define WR_PATTERN_BUILD_H

#include "base/memory.h"
#include "pattern/pattern.h"

/* Empty: run == 0 and node < 0. A run: run > 0. Otherwise a loop or list. */
typedef struct wr_term {
    int64_t offset; /* of the first data byte */
    int64_t run;
    int32_t node;
} wr_term;

/* A zeroed builder is empty. */
typedef struct wr_builder {
    wr_node *node;
    int64_t *word;
    int32_t *kid;
    int32_t *slot; /* hash table of node numbers, -1 where free; twice as many as nodes at least */
    int64_t nodes, node_room, words, word_room, kids, kid_room, slots;
    wr_arena scratch; /* for terms; lives as long as the builder */
} wr_builder;

#define WR_TERM_EMPTY ((wr_term){0, 0, -1})

static inline bool wr_term_is_empty(wr_term t)
{
    return t.run == 0 && t.node < 0;
}

/* A run; empty if bytes == 0. */
static inline wr_term wr_term_run(int64_t offset, int64_t bytes)
{
    return (wr_term){offset, bytes, -1};
}

int wr_build_loop(wr_builder *b, int64_t count, int64_t stride, wr_term inner, wr_term *out);

/* Uses terms[0, count) as scratch space. */
int wr_build_list(wr_builder *b, int64_t count, wr_term *terms, wr_term *out);

/* Copies the nodes of a finished pattern. */
int wr_build_import(wr_builder *b, const weir_pattern *pattern, wr_term *out);

/* `count` terms of scratch space, or NULL with an error raised. */
wr_term *wr_build_terms(wr_builder *b, int64_t count);

/* Makes a pattern of what `root` reaches. The builder stays valid. */
int wr_build_finish(wr_builder *b, wr_term root, weir_pattern **out);

/* The last word of a constructor: finishes `root` unless `code` is already negative, then releases
 * the builder. */
int wr_build_end(wr_builder *b, int code, wr_term root, weir_pattern **out);

/* Fills in everything that follows from a node's kind, count, stride and entries, whose nodes must
 * be complete; `p` supplies the arrays. WEIR_ERANGE or WEIR_EINVAL if P1 or P2 would not hold. */
int wr_node_complete(const weir_pattern *p, wr_node *n);

/* WEIR_ERANGE unless the pattern's bounds keep P1. */
int wr_pattern_check_origin(const weir_pattern *pattern);

#endif
