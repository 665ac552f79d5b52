/* Checked 64-bit arithmetic: offsets, counts and their products.
 *
 * Each function returns false, and leaves *out alone, when the result does not fit; the caller
 * turns that into WEIR_ERANGE with a text that names what was too large. */
#ifndef WR_BASE_ARITH_H
#define WR_BASE_ARITH_H

#include <stdbool.h>
#include <stdint.h>

static inline bool wr_add(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool wr_sub(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool wr_mul(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline int64_t wr_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t wr_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The address so many bytes from another. Adding to a pointer must not leave the object; a step
 * behind the last element does, and so does a base that is no address at all. */
static inline char *wr_at(const char *base, int64_t offset)
{
    return (char *)((uintptr_t)base + (uintptr_t)offset);
}

/* What of [lo, hi] is nearest to v; lo <= hi. */
static inline int64_t wr_clamp(int64_t v, int64_t lo, int64_t hi)
{
    return wr_max(lo, wr_min(v, hi));
}

/* Quotient rounded towards minus infinity; b > 0. */
static inline int64_t wr_div_floor(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Quotient rounded towards plus infinity; b > 0. */
static inline int64_t wr_div_ceil(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

/* The greatest multiple of `to` that is at most x; to > 0. */
static inline int64_t wr_round_down(int64_t x, int64_t to)
{
    return wr_div_floor(x, to) * to;
}

/* The least multiple of `to` that is at least x; to > 0. */
static inline int64_t wr_round_up(int64_t x, int64_t to)
{
    return wr_div_ceil(x, to) * to;
}

/* Indices [lo, hi). */
typedef struct wr_span {
    int64_t lo, hi;
} wr_span;

/* Part k of n indices that are cut into `parts`, the first ones larger by 1 where need be. */
static inline wr_span wr_share(int64_t n, int64_t k, int64_t parts)
{
    const int64_t each = n / parts, more = n % parts, lo = each * k + wr_min(k, more);
    return (wr_span){lo, lo + each + (k < more)};
}

/* Whether order[0, n) has each of 0 to n - 1 once; n <= 64. */
static inline bool wr_is_permutation(int n, const int *order)
{
    uint64_t seen = 0;
    for (int i = 0; i < n; i++) {
        if (order[i] < 0 || order[i] >= n || (seen >> order[i] & 1))
            return false;
        seen |= UINT64_C(1) << order[i];
    }
    return true;
}

/* Greatest common divisor; of 0 and x it is x. Not negative if the arguments are not. */
static inline int64_t wr_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
