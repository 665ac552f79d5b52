/* Exact quantiles of what does not fit in memory: passes that count, each in finer bins of where
 * the wanted elements must be, until bins hold one value. Elements are looked at as integers of the
 * same order, so this is exact for every type. Once all that is left fits, it is kept, and the rest
 * happens in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "kernels/estimate.h"
#include "kernels/order_key.h"
#include "kernels/survey.h"

enum {
    BLOCK = 1024,
    MOST_QUANTILES = 128,
    LEAST_BINS = 4 * MOST_QUANTILES, /* two for each span: with one it would not become less */
    MOST_BINS = 1 << 18,
    FEW_UPPER = 12,
    MOST_UPPER = 16,
    AMPLE = 1 << 20
};

/* Keys [lo, hi], in which there is a wanted element; `before` elements are less than lo. */
typedef struct span {
    uint64_t lo, hi;
    int64_t before;
    int shift;      /* a bin has the keys that agree but for so many bits */
    int64_t *count; /* its bins */
} span;

typedef struct search {
    const weir_array *array;
    int bits;                           /* of a key */
    int64_t bins;                       /* of all spans */
    int64_t *own, *all;                 /* counts of this rank; of all */
    int64_t wanted[2 * MOST_QUANTILES]; /* places in the order, ascending */
    uint64_t key[2 * MOST_QUANTILES];   /* of these, once found */
    int of[2 * MOST_QUANTILES];         /* span of each; -1: found */
    int wants, spans;
    span span[2 * MOST_QUANTILES], next[2 * MOST_QUANTILES];
    unsigned char *near; /* whether a span has keys with these upper bits, */
    int upper;           /* of which there are so many */
    uint64_t least, most;
    int64_t nans;
    uint64_t *kept; /* keys of the last pass that are in spans; */
    int64_t keeps, room;
    bool keeping;
    int64_t each; /* bins of a span */
    int foretold; /* passes */
    bool changed; /* there are fewer elements in a span than a pass before counted */
} search;

/* --- counting --- */

static inline unsigned upper_bits(const search *s, uint64_t key)
{
    return (unsigned)(s->bits > s->upper ? key >> (s->bits - s->upper) : key);
}

/* The last span that begins at or before the key. */
static inline const span *span_of(const search *s, uint64_t key)
{
    int lo = 0, hi = s->spans;
    while (hi - lo > 1) {
        const int middle = (lo + hi) / 2;
        if (s->span[middle].lo <= key)
            lo = middle;
        else
            hi = middle;
    }
    return &s->span[lo];
}

static void count_spans(search *s, const uint64_t *keys, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const uint64_t key = keys[i];
        if (!s->near[upper_bits(s, key)])
            continue;
        const span *p = span_of(s, key);
        if (key < p->lo || key > p->hi)
            continue;
        p->count[(key - p->lo) >> p->shift]++;
        if (s->keeping && s->keeps < s->room) /* more, if somebody writes to the array */
            s->kept[s->keeps++] = key;
    }
}

/* The first pass: everything is in one span. */
static void count_first(search *s, const uint64_t *keys, int64_t count)
{
    const int shift = s->span[0].shift;
    int64_t *const counts = s->own;
    uint64_t least = s->least, most = s->most;
    for (int64_t i = 0; i < count; i++) {
        least = keys[i] < least ? keys[i] : least;
        most = keys[i] > most ? keys[i] : most;
        counts[keys[i] >> shift]++;
    }
    s->least = least;
    s->most = most;
}

static void visit_with(search *s, const wr_survey_part *part, bool first)
{
    uint64_t keys[BLOCK];
    const int64_t size = s->array->body.element;
    for (int64_t at = 0; at < part->elements; at += BLOCK) {
        const int64_t count = wr_min(BLOCK, part->elements - at);
        const int64_t nans =
            wr_order_keys(s->array->info.type, part->at[0] + at * size, keys, count);
        if (first)
            s->nans += nans;
        (first ? count_first : count_spans)(s, keys, count);
    }
}

static void visit_first(void *user, const wr_survey_part *part)
{
    visit_with(user, part, true);
}

static void visit_spans(void *user, const wr_survey_part *part)
{
    visit_with(user, part, false);
}

/* --- spans --- */

static int bits_for(uint64_t width)
{
    return width ? 64 - __builtin_clzll(width) : 0;
}

/* Bins for every span, all with the same number of them. */
static void deal_bins(search *s)
{
    int64_t each = 1;
    while (each * 2 * s->spans <= s->bins)
        each *= 2;
    s->each = each;
    memset(s->near, 0, (size_t)1 << s->upper);
    memset(s->own, 0, (size_t)s->bins * sizeof *s->own);
    for (int i = 0; i < s->spans; i++) {
        span *p = &s->span[i];
        const int bits = bits_for(p->hi - p->lo), kept = bits_for((uint64_t)each) - 1;
        p->shift = bits > kept ? bits - kept : 0;
        p->count = s->own + i * each;
        for (unsigned k = upper_bits(s, p->lo); k <= upper_bits(s, p->hi); k++)
            s->near[k] = 1;
    }
}

/* [collective] What all ranks have counted. */
static int sum_ranks(search *s, const wr_survey *p)
{
    memcpy(s->all, s->own, (size_t)s->bins * sizeof *s->own);
    return wr_survey_sum(p, s->all, s->bins);
}

/* The bin of a span that has place `wanted`, as a span; *own becomes what this rank has in it. */
static span narrow(search *s, const span *p, int64_t wanted, int64_t *own)
{
    const int64_t *count = s->all + (p->count - s->own);
    int64_t before = p->before, bin = 0;
    while (bin + 1 < s->each && before + count[bin] <= wanted)
        before += count[bin++];
    s->changed = s->changed || before + count[bin] <= wanted;
    *own = p->count[bin];
    const uint64_t lo = p->lo + ((uint64_t)bin << p->shift);
    const uint64_t hi = lo + (UINT64_MAX >> 1 >> (63 - p->shift));
    return (span){.lo = lo > s->least ? lo : s->least,
                  .hi = hi < lo || hi > p->hi ? p->hi : hi,
                  .before = before};
}

/* Spans of what is still wanted; returns how many keys this rank has in them. */
static int64_t narrow_all(search *s)
{
    span *const next = s->next;
    int64_t left = 0;
    int spans = 0;
    for (int i = 0; i < s->wants; i++) {
        int64_t own;
        if (s->of[i] < 0)
            continue;
        span n = narrow(s, &s->span[s->of[i]], s->wanted[i], &own);
        n.hi = n.hi < s->most ? n.hi : s->most;
        if (n.lo == n.hi || !s->span[s->of[i]].shift) {
            s->key[i] = n.lo;
            s->of[i] = -1;
            continue;
        }
        if (!spans || next[spans - 1].lo != n.lo) {
            next[spans++] = n;
            left += own;
        }
        s->of[i] = spans - 1;
    }
    memcpy(s->span, next, (size_t)spans * sizeof *next);
    s->spans = spans;
    return left;
}

/* --- places --- */

/* Where in the order of n elements a quantile is: between two places. */
static double place_of(double p, int64_t n, int64_t *below)
{
    const double place = p * (double)(n - 1);
    *below = wr_clamp((int64_t)floor(place), 0, n - 1);
    return place - (double)*below;
}

static int compare_places(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void want(search *s, const weir_quantiles *q, int64_t n)
{
    int64_t places[2 * MOST_QUANTILES], below;
    int count = 0;
    for (int i = 0; i < q->quantiles; i++) {
        place_of(q->p[i], n, &below);
        places[count++] = below;
        places[count++] = wr_min(below + 1, n - 1);
    }
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int i = 0; i < count; i++)
        if (!s->wants || s->wanted[s->wants - 1] != places[i])
            s->wanted[s->wants++] = places[i];
}

static uint64_t key_at(const search *s, int64_t place)
{
    int i = 0;
    while (s->wanted[i] != place)
        i++;
    return s->key[i];
}

/* As numpy.quantile interpolates: from the nearer end. */
static double interpolate(const search *s, double p, int64_t n)
{
    int64_t below;
    const int type = s->array->info.type;
    const double part = place_of(p, n, &below);
    const uint64_t low = key_at(s, below), high = key_at(s, wr_min(below + 1, n - 1));
    const double distance = wr_order_distance(type, low, high);
    if (part == 0 || low == high)
        return wr_order_number(type, low);
    return part < 0.5 ? wr_order_number(type, low) + distance * part
                      : wr_order_number(type, high) - distance * (1 - part);
}

/* --- passes --- */

static int first_pass(search *s, const wr_survey *p)
{
    weir_array *array = p->array[0];
    const wr_survey_visit visit = {.visit = visit_first, .user = s, .all = s->foretold * p->all};
    s->span[0] = (span){.hi = UINT64_MAX >> (64 - s->bits)};
    s->spans = 1;
    s->least = UINT64_MAX;
    deal_bins(s);
    int code = wr_survey_run(p, &visit, 0);
    /* keys of 64 bits as integers with a sign, of the same order */
    int64_t ends[] = {-1 - (int64_t)(s->least ^ UINT64_C(1) << 63),
                      (int64_t)(s->most ^ UINT64_C(1) << 63)};
    if (!code)
        code = wr_array_agree(array, wr_file_reduce(array->file, WR_MAX, 2, ends));
    s->least = (uint64_t)(-1 - ends[0]) ^ UINT64_C(1) << 63;
    s->most = (uint64_t)ends[1] ^ UINT64_C(1) << 63;
    if (!code)
        code = wr_survey_sum(p, &s->nans, 1);
    return code ? code : sum_ranks(s, p);
}

/* Counts once more what is in spans: what was kept, or else by reading it. */
static int next_pass(search *s, const wr_survey *p, int64_t left, int *passes)
{
    weir_array *array = p->array[0];
    int64_t most = left;
    int code = wr_array_agree(array, wr_file_reduce(array->file, WR_MAX, 1, &most));
    if (code)
        return code;
    deal_bins(s);
    if (s->kept && s->keeping) {
        const int64_t count = s->keeps;
        s->keeps = 0; /* in the place of those before */
        count_spans(s, s->kept, count);
    } else {
        const wr_survey_visit visit = {.visit = visit_spans,
                                       .user = s,
                                       .before = *passes * p->all,
                                       .all = wr_max(s->foretold, *passes + 1) * p->all};
        s->keeping = s->kept && most <= s->room;
        ++*passes;
        code = wr_survey_run(p, &visit, 0);
    }
    return code ? code : sum_ranks(s, p);
}

static int run(search *s, const wr_survey *p, weir_quantiles *q)
{
    int passes = 1, code = first_pass(s, p);
    const int64_t n = p->all - s->nans;
    const bool none = !n || (s->nans && !q->skip_nans);
    if (!code && !none) {
        want(s, q, n);
        for (int64_t left = narrow_all(s); !code && s->spans;) {
            code = next_pass(s, p, left, &passes);
            left = code ? 0 : narrow_all(s);
            if (s->changed) /* as all ranks have counted it */
                code = wr_fail(WEIR_EIO, "%s has changed while it was read", p->array[0]->path);
        }
    }
    if (!code) /* fewer passes than were foretold */
        code = wr_survey_over(p, (passes + 1) * p->all);
    if (code)
        return code;
    for (int i = 0; i < q->quantiles; i++)
        q->value[i] = none ? (double)NAN : interpolate(s, q->p[i], n);
    q->count = p->all;
    q->nans = s->nans;
    q->passes = passes;
    return 0;
}

static int check(const weir_array *array, const weir_quantiles *q)
{
    if (array->info.type == WEIR_C8 || array->info.type == WEIR_C16)
        return wr_fail(WEIR_EINVAL, "%s has complex elements", array->path);
    if (q->quantiles < 1 || q->quantiles > MOST_QUANTILES)
        return wr_fail(WEIR_EINVAL, "%d quantiles, not 1 to %d", q->quantiles, MOST_QUANTILES);
    for (int i = 0; i < q->quantiles; i++)
        if (!(q->p[i] >= 0 && q->p[i] <= 1))
            return wr_fail(WEIR_EINVAL, "a quantile is from 0 to 1, not %g", q->p[i]);
    return wr_check_reserved(q->reserved, "weir_quantiles");
}

/* What it takes besides parts, by what there is. */
typedef struct needs {
    int64_t bins, room, words;
    int upper;
} needs;

static needs find_needs(int64_t memory)
{
    needs n = {.bins = LEAST_BINS, .upper = FEW_UPPER};
    while (n.bins < MOST_BINS && n.bins * 2 <= memory / 64)
        n.bins *= 2;
    if (memory >= AMPLE) {
        n.room = memory / 2 / (int64_t)sizeof(uint64_t);
        n.upper = MOST_UPPER;
    }
    n.words = 2 * n.bins + n.room + (INT64_C(1) << n.upper) / (int64_t)sizeof(int64_t);
    return n;
}

/* With all places in spans of their own, each pass finds as many bits of them as bins have. */
static int most_passes(int bits, int64_t bins, int quantiles)
{
    const int first = bits_for((uint64_t)bins) - 1;
    const int each = bits_for((uint64_t)(bins / 2 / quantiles)) - 1;
    return bits <= first ? 1 : 1 + (bits - first + each - 1) / each;
}

/* Two are the rule where keys are kept; otherwise elements that differ take nearly the most. */
static int foretell(const needs *n, int most)
{
    return n->room && most > 2 ? 2 : most;
}

static void deal_memory(search *s, const needs *n, int64_t *memory)
{
    s->bins = n->bins;
    s->own = memory;
    s->all = memory + n->bins;
    s->kept = n->room ? (uint64_t *)(memory + 2 * n->bins) : NULL;
    s->room = n->room;
    s->near = (unsigned char *)(memory + 2 * n->bins + n->room);
    s->upper = n->upper;
}

int weir_array_quantiles(weir_array *array, const weir_selection *of, weir_quantiles *quantiles,
                         const weir_work *work)
{
    wr_survey p = {.work = wr_work_of(work), .arrays = 1, .array = {array}, .of = {of}};
    const needs n = find_needs(p.work.memory);
    const int bits = 8 * (int)array->body.element;
    int code = check(array, quantiles);
    const int most = code ? 0 : most_passes(bits, n.bins, quantiles->quantiles),
              passes = foretell(&n, most);
    const int64_t own = (int64_t)sizeof(search) + n.words * (int64_t)sizeof(int64_t);
    code = wr_survey_build(&p, own, passes, code);
    if (!code && p.work.estimate && most > 1)
        wr_estimate_say(p.work.estimate, "; %d passes, 1 to %d by what elements are", passes, most);
    if (code || p.work.estimate)
        return code;
    search *s = wr_alloc(sizeof *s);
    int64_t *memory = wr_alloc_array(n.words, sizeof *memory);
    code = wr_array_agree(array, s && memory ? 0 : WEIR_ENOMEM);
    if (!code && s && memory) { /* a rank that has none makes all fail */
        memset(s, 0, sizeof *s);
        s->array = array;
        s->bits = bits;
        s->foretold = passes;
        deal_memory(s, &n, memory);
        code = run(s, &p, quantiles);
    }
    wr_free(memory);
    wr_free(s);
    return code;
}
