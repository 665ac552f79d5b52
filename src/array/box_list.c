/* Lists of boxes: one pair of patterns for each box, joined in file order. Where boxes lie beside
 * each other their runs interleave in the file: then runs are sorted, 24 bytes for each while that
 * lasts, and what several boxes have in common is taken once and copied in memory. */
#include <stdlib.h>

#include "array/mapping.h"
#include "base/arith.h"
#include "pattern/cursor.h"

/* Offsets in bytes, and how many elements. */
typedef struct stretch {
    int64_t file, memory, count;
} stretch;

typedef struct stretches {
    int64_t count, room;
    stretch *item;
    int64_t file_element, memory_element;
} stretches;

static int put(stretches *s, stretch item)
{
    int code = wr_grow((void **)&s->item, &s->room, s->count + 1, sizeof *s->item);
    if (!code)
        s->item[s->count++] = item;
    return code;
}

/* The runs that file and memory have in common. Offsets stay in bytes. */
static int list_stretches(const wr_pair *pair, stretches *out)
{
    wr_cursor file, memory;
    wr_batch f, m;
    int code = 0;
    wr_cursor_init(&file, pair->file);
    wr_cursor_init(&memory, pair->memory);
    while (!code && wr_cursor_peek(&file, &f) && wr_cursor_peek(&memory, &m)) {
        int64_t count = wr_min(f.run / out->file_element, m.run / out->memory_element);
        code = put(out, (stretch){f.offset, m.offset, count});
        wr_cursor_skip(&file, count * out->file_element);
        wr_cursor_skip(&memory, count * out->memory_element);
    }
    return code;
}

static int by_file(const void *a, const void *b)
{
    const stretch *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->memory > y->memory) - (x->memory < y->memory);
}

/* Offsets and lengths of one member of each item, as a pattern. */
static int runs_of(const stretches *s, bool in_memory, weir_pattern **out)
{
    int64_t *words = wr_alloc_array(wr_max(1, 2 * s->count), sizeof *words);
    if (!words)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < s->count; i++) {
        const stretch *item = &s->item[i];
        words[i] = in_memory ? item->memory : item->file;
        words[s->count + i] = item->count * (in_memory ? s->memory_element : s->file_element);
    }
    int code = weir_pattern_runs(s->count, words, words + s->count, out);
    wr_free(words);
    return code;
}

/* Takes off the head of `now` what is in the first `kept` stretches, which lie apart and ascend:
 * that is copied instead. What starts in their range is in it without a gap up to their end. */
static int cut_common(const stretches *s, int64_t kept, stretch *now, stretches *again)
{
    const int64_t fe = s->file_element, me = s->memory_element;
    const stretch *last = &s->item[kept - 1];
    int code = 0;
    while (!code && now->count && now->file < last->file + last->count * fe) {
        const stretch *in = last;
        while (in->file > now->file)
            in--;
        int64_t before = (now->file - in->file) / fe;
        int64_t count = wr_min(now->count, in->count - before);
        code = put(again, (stretch){in->memory + before * me, now->memory, count});
        *now = (stretch){now->file + count * fe, now->memory + count * me, now->count - count};
    }
    return code;
}

/* Splits sorted stretches into those that are read, and, in `again`, copies of their parts: `file`
 * is then where in memory the part is read to. */
static int split_common(stretches *s, stretches *again)
{
    int64_t kept = 0;
    int code = 0;
    for (int64_t i = 0; i < s->count && !code; i++) {
        stretch now = s->item[i];
        code = kept ? cut_common(s, kept, &now, again) : 0;
        if (now.count)
            s->item[kept++] = now;
    }
    s->count = kept;
    return code;
}

static int add_common(const stretches *again, wr_mapping *out)
{
    weir_pattern *from = NULL, *to = NULL;
    stretches a = *again;
    if (!a.count)
        return 0;
    a.file_element = a.memory_element; /* both sides are in memory */
    int code = runs_of(&a, false, &from);
    if (!code)
        code = wr_mapping_keep(out, from);
    if (!code)
        code = runs_of(&a, true, &to);
    if (!code)
        code = wr_mapping_keep(out, to);
    return code ? code : wr_mapping_add(out, &(wr_again){from, to, 0, 0});
}

static int merge(int64_t count, const wr_pair *pairs, stretches *s, bool write, wr_mapping *out)
{
    stretches again = {.memory_element = s->memory_element};
    int code = 0;
    for (int64_t i = 0; i < count && !code; i++)
        code = list_stretches(&pairs[i], s);
    if (!code && s->count)
        qsort(s->item, (size_t)s->count, sizeof *s->item, by_file);
    if (!code)
        code = split_common(s, &again);
    if (!code && write && again.count)
        code = wr_fail(WEIR_EINVAL, "boxes that are to be written overlap");
    if (!code)
        code = runs_of(s, false, &out->pair.file);
    if (!code)
        code = runs_of(s, true, &out->pair.memory);
    if (!code)
        code = add_common(&again, out);
    wr_free(again.item);
    return code;
}

static int by_bounds(const void *a, const void *b)
{
    int64_t x, y, end;
    weir_pattern_bounds(((const wr_pair *)a)->file, &x, &end);
    weir_pattern_bounds(((const wr_pair *)b)->file, &y, &end);
    return (x > y) - (x < y);
}

/* Whether no two of the pairs, sorted, have offsets between each other's. */
static bool lie_apart(int64_t count, const wr_pair *pairs)
{
    int64_t end = INT64_MIN;
    for (int64_t i = 0; i < count; i++) {
        int64_t lo, hi;
        if (!weir_pattern_bytes(pairs[i].file))
            continue;
        weir_pattern_bounds(pairs[i].file, &lo, &hi);
        if (lo < end)
            return false;
        end = hi;
    }
    return true;
}

/* `layout` has the element's bytes, and where the next box is; that moves on. */
static int box_pair(const weir_array *array, const weir_selection *s, int64_t box,
                    const weir_layout *given, wr_layout *layout, wr_pair *out)
{
    wr_body body;
    wr_axes axes;
    int64_t bytes = layout->element;
    int code = wr_selection_body(array, s, &body);
    if (code)
        return code;
    weir_selection one = *s;
    one.lo = s->box_lo + box * body.dimensions;
    one.hi = s->box_hi + box * body.dimensions;
    one.step = NULL;
    one.index = NULL;
    code = wr_axes_build(&body, &one, given, layout->element, true, &axes);
    if (code)
        return code;
    axes.layout.offset = layout->offset;
    code = wr_axes_place(array, &body, !s->local, &axes, out);
    for (int d = 0; d < body.dimensions; d++)
        bytes *= axes.taken[d]; /* fits: the pattern does */
    layout->offset += bytes;
    wr_axes_release(&axes);
    return code;
}

int wr_mapping_boxes(const weir_array *array, const weir_selection *s, const weir_layout *given,
                     bool write, wr_mapping *out)
{
    wr_layout layout = {.element = wr_layout_element(array, given)};
    stretches all = {.file_element = array->body.element, .memory_element = layout.element};
    int64_t made = 0;
    if (s->boxes < 0 || (s->boxes && (!s->box_lo || !s->box_hi)) || (given && given->stride))
        return wr_fail(WEIR_EINVAL, "%lld boxes without bounds, or with strides in memory",
                       (long long)s->boxes);
    wr_pair *pairs = wr_alloc_array(s->boxes, sizeof *pairs);
    int code = pairs ? 0 : WEIR_ENOMEM;
    while (made < s->boxes && !code) {
        code = box_pair(array, s, made, given, &layout, &pairs[made]);
        made += !code;
    }
    if (!code)
        qsort(pairs, (size_t)made, sizeof *pairs, by_bounds);
    if (!code && lie_apart(made, pairs)) {
        code = wr_pairs_join(made, pairs, &out->pair);
        made = 0;
    } else if (!code) {
        code = merge(made, pairs, &all, write, out);
    }
    while (made)
        wr_pair_release(&pairs[--made]);
    if (!code)
        out->elements = weir_pattern_bytes(out->pair.file) / array->body.element;
    wr_free(pairs);
    wr_free(all.item);
    return code;
}
