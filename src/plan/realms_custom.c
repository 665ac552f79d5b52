/* Realms that the caller gives, as patterns: checked once to be apart, then repeated by their
 * period over what is accessed. */
#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/realms.h"

static void bounds_of(const wr_custom_realms *c, int64_t *lo, int64_t *hi)
{
    *lo = INT64_MAX;
    *hi = INT64_MIN;
    for (int64_t i = 0; i < c->count; i++) {
        int64_t first, end;
        if (!weir_pattern_bytes(c->realm[i]))
            continue;
        weir_pattern_bounds(c->realm[i], &first, &end);
        *lo = wr_min(*lo, first);
        *hi = wr_max(*hi, end);
    }
}

int wr_custom_verify(const wr_custom_realms *c)
{
    int64_t lo, hi;
    for (int64_t i = 0; i < c->count; i++)
        if (!weir_pattern_is_ordered(c->realm[i]))
            return wr_fail(WEIR_EINVAL, "realm %lld is not ordered", (long long)i);
    bounds_of(c, &lo, &hi);
    if (lo >= hi)
        return wr_fail(WEIR_EINVAL, "realms without a byte");
    if (c->period && c->period < hi - lo)
        return wr_fail(WEIR_EINVAL, "realms span %lld bytes, more than their period of %lld",
                       (long long)(hi - lo), (long long)c->period);
    if (c->period && (!wr_add(lo, c->period, &hi) || hi > WR_OFFSET_MAX))
        return wr_fail(WEIR_ERANGE, "realms every %lld bytes: too far apart", (long long)c->period);
    return wr_realms_verify(c->count, c->realm, lo, hi);
}

void wr_custom_release(wr_custom_realms *c)
{
    for (int64_t i = 0; i < c->count; i++)
        weir_pattern_free((weir_pattern *)c->realm[i]);
    wr_free((void *)c->realm);
    *c = (wr_custom_realms){0};
}

int wr_custom_cut(const wr_plan_input *in, wr_plan *out)
{
    const wr_custom_realms *c = out->given;
    int64_t lo, hi;
    if (!c || !c->count)
        return wr_fail(WEIR_EINVAL, "realms=custom, but none were given");
    bounds_of(c, &lo, &hi);
    if (!c->period && in->wanted.active && (in->wanted.lo < lo || in->wanted.hi > hi))
        return wr_fail(WEIR_EINVAL, "the access of [%lld, %lld) leaves the realms, [%lld, %lld)",
                       (long long)in->wanted.lo, (long long)in->wanted.hi, (long long)lo,
                       (long long)hi);
    out->scattered = 1;
    out->aggregators = c->count;
    return 0;
}

/* A realm from its first repetition that reaches into [lo, hi) to its last. */
int wr_custom_make(const wr_plan *plan, int64_t i, weir_pattern **out)
{
    const wr_custom_realms *c = plan->given;
    int64_t lo, hi;
    weir_pattern *repeated;
    bounds_of(c, &lo, &hi);
    const int64_t first = c->period ? wr_div_floor(plan->lo - lo, c->period) : 0;
    const int64_t last = c->period ? wr_div_floor(plan->hi - 1 - lo, c->period) : 0;
    int code = weir_pattern_repeat(c->realm[i], wr_max(1, last - first + 1), c->period, &repeated);
    if (code)
        return code;
    code = weir_pattern_concat(1, (int64_t[]){first * c->period},
                               (const weir_pattern *const[]){repeated}, out);
    weir_pattern_free(repeated);
    return code;
}
