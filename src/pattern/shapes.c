/* The constructors that take runs and patterns, and what a pattern says of itself. */
#include "base/arith.h"
#include "base/error.h"
#include "pattern/build.h"

static int check_run(int64_t offset, int64_t bytes)
{
    if (bytes < 0)
        return wr_fail(WEIR_EINVAL, "pattern: a run of %lld bytes", (long long)bytes);
    if (offset < -WR_OFFSET_MAX || offset > WR_OFFSET_MAX || bytes > WR_OFFSET_MAX)
        return wr_fail(WEIR_ERANGE, "pattern: offset %lld, %lld bytes: 2^62 or more",
                       (long long)offset, (long long)bytes);
    return 0;
}

int weir_pattern_contiguous(int64_t offset, int64_t bytes, weir_pattern **out)
{
    wr_builder b = {0};
    return wr_build_end(&b, check_run(offset, bytes), wr_term_run(offset, bytes), out);
}

int weir_pattern_strided(int64_t offset, int64_t count, int64_t run, int64_t stride,
                         weir_pattern **out)
{
    wr_builder b = {0};
    wr_term all = WR_TERM_EMPTY;
    int code = check_run(offset, run);
    if (!code)
        code = wr_build_loop(&b, count, stride, wr_term_run(offset, run), &all);
    return wr_build_end(&b, code, all, out);
}

int weir_pattern_runs(int64_t count, const int64_t *offsets, const int64_t *lengths,
                      weir_pattern **out)
{
    if (count < 0)
        return wr_fail(WEIR_EINVAL, "pattern: negative count");
    wr_builder b = {0};
    wr_term all = WR_TERM_EMPTY;
    wr_term *terms = wr_build_terms(&b, count);
    int code = terms ? 0 : WEIR_ENOMEM;
    for (int64_t i = 0; !code && i < count; i++) {
        code = check_run(offsets[i], lengths[i]);
        terms[i] = wr_term_run(offsets[i], lengths[i]);
    }
    if (!code)
        code = wr_build_list(&b, count, terms, &all);
    return wr_build_end(&b, code, all, out);
}

static int shift(wr_term *term, int64_t by)
{
    if (!wr_add(term->offset, by, &term->offset))
        return wr_fail(WEIR_ERANGE, "pattern: an offset does not fit 64 bits");
    return check_run(term->offset, 0);
}

int weir_pattern_concat(int64_t count, const int64_t *offsets, const weir_pattern *const *parts,
                        weir_pattern **out)
{
    if (count < 0)
        return wr_fail(WEIR_EINVAL, "pattern: negative count");
    wr_builder b = {0};
    wr_term all = WR_TERM_EMPTY;
    wr_term part = WR_TERM_EMPTY;
    wr_term *terms = wr_build_terms(&b, count);
    int code = terms ? 0 : WEIR_ENOMEM;
    for (int64_t i = 0; !code && i < count; i++) {
        if (i == 0 || parts[i] != parts[i - 1])
            code = wr_build_import(&b, parts[i], &part);
        terms[i] = part;
        if (!code && offsets && !wr_term_is_empty(part))
            code = shift(&terms[i], offsets[i]);
    }
    if (!code)
        code = wr_build_list(&b, count, terms, &all);
    return wr_build_end(&b, code, all, out);
}

/* The largest count for which data and bounds stay below 2^62. */
static int64_t count_forever(const weir_pattern *p, int64_t extent)
{
    const wr_node *root = wr_pattern_root(p);
    int64_t count = WR_OFFSET_MAX / wr_max(root->bytes, 1);
    int64_t room = extent > 0 ? WR_OFFSET_MAX - wr_max(p->origin, 0) - root->hi
                              : WR_OFFSET_MAX + wr_min(p->origin, 0) + root->lo;
    if (extent)
        count = wr_min(count, room / (extent > 0 ? extent : -extent) + 1);
    return count;
}

int weir_pattern_repeat(const weir_pattern *pattern, int64_t count, int64_t extent,
                        weir_pattern **out)
{
    if (count == WEIR_FOREVER) {
        if (extent < -WR_OFFSET_MAX || extent > WR_OFFSET_MAX)
            return wr_fail(WEIR_ERANGE, "pattern: extent %lld", (long long)extent);
        count = count_forever(pattern, extent);
    }
    wr_builder b = {0};
    wr_term inner, all = WR_TERM_EMPTY;
    int code = wr_build_import(&b, pattern, &inner);
    if (!code)
        code = wr_build_loop(&b, count, extent, inner, &all);
    return wr_build_end(&b, code, all, out);
}

int64_t weir_pattern_bytes(const weir_pattern *pattern)
{
    return wr_pattern_root(pattern)->bytes;
}

int64_t weir_pattern_pieces(const weir_pattern *pattern)
{
    return wr_pattern_root(pattern)->runs;
}

void weir_pattern_bounds(const weir_pattern *pattern, int64_t *lo, int64_t *hi)
{
    *lo = pattern->origin + wr_pattern_root(pattern)->lo;
    *hi = pattern->origin + wr_pattern_root(pattern)->hi;
}

int weir_pattern_is_ordered(const weir_pattern *pattern)
{
    return wr_pattern_root(pattern)->ordered;
}

int weir_pattern_is_disjoint(const weir_pattern *pattern)
{
    return wr_pattern_root(pattern)->disjoint;
}

int64_t weir_pattern_footprint(const weir_pattern *p)
{
    return (int64_t)sizeof *p + p->nodes * (int64_t)sizeof *p->node +
           p->words * (int64_t)sizeof *p->word + p->kids * (int64_t)sizeof *p->kid;
}
