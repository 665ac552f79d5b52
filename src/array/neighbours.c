/* Data of other ranks' parts: boundaries, and what several ranks want. A collective read brings
 * them, which reads each byte once and sends it to who wants it. */
#include <string.h>

#include "array/distribution.h"
#include "array/moves.h"
#include "base/arith.h"

int weir_disk_map(int disks, int members, int blocks, int *map)
{
    if (disks < 1 || members < 0)
        return wr_fail(WEIR_EINVAL, "%d disks for %d local arrays", disks, members);
    for (int m = 0; m < members; m++)
        map[m] = blocks ? (int)((int64_t)m * disks / members) : m % disks;
    return 0;
}

/* The rank whose boundary this one gets, or -1. */
static int find_neighbour(const weir_distribution *d, int dimensions, const weir_shift *shift,
                          int rank)
{
    int place[WEIR_MAX_DIMENSIONS], number = 0;
    const int along = shift->dimension, grid = wr_distribution_grid(d, along);
    wr_distribution_place(d, dimensions, rank, place);
    place[along] += shift->count > 0 ? 1 : -1;
    if ((place[along] < 0 || place[along] >= grid) && !shift->wrap)
        return -1;
    place[along] = (place[along] + grid) % grid;
    for (int i = 0; i < dimensions; i++)
        number = number * wr_distribution_grid(d, i) + place[i];
    return number;
}

typedef struct boundary {
    const weir_array *array;
    const weir_distribution *distribution;
    const weir_shift *shift;
    int ranks; /* of the grid */
    int64_t *lists[WEIR_MAX_DIMENSIONS];
    int64_t counts[WEIR_MAX_DIMENSIONS];
} boundary;

/* The indices of the neighbour's part; along the shift's dimension its first or last slices. */
static int list_indices(const boundary *b, int neighbour, wr_arena *memory, int64_t **list,
                        int64_t *count)
{
    const weir_array_info *info = &b->array->info;
    int place[WEIR_MAX_DIMENSIONS];
    wr_distribution_place(b->distribution, info->dimensions, neighbour, place);
    for (int d = 0; d < info->dimensions; d++) {
        wr_axis axis = wr_distribution_axis(b->distribution, d, info->shape[d], place[d]);
        int64_t first = 0;
        count[d] = axis.total;
        if (d == b->shift->dimension) {
            count[d] = b->shift->count > 0 ? wr_min(b->shift->count, axis.total)
                                           : -wr_max(b->shift->count, -axis.total);
            first = b->shift->count > 0 ? 0 : axis.total - count[d];
        }
        list[d] = wr_arena_alloc(memory, wr_max(1, count[d]) * (int64_t)sizeof *list[d]);
        if (!list[d])
            return WEIR_ENOMEM;
        for (int64_t i = 0; i < count[d]; i++)
            list[d][i] = wr_axis_at(&axis, first + i);
    }
    return 0;
}

static int check(const weir_array *array, const weir_shift *s, const weir_distribution *d,
                 int *ranks)
{
    if (!array->info.members && !s->distribution)
        return wr_fail(WEIR_EINVAL, "a shift of an array that is not distributed");
    if (s->dimension < 0 || s->dimension >= array->info.dimensions || s->count == 0)
        return wr_fail(WEIR_EINVAL, "a shift by %lld in dimension %d of %d", (long long)s->count,
                       s->dimension, array->info.dimensions);
    if (wr_check_reserved(s->reserved, "weir_shift"))
        return WEIR_EINVAL;
    return wr_distribution_check(d, array->info.dimensions, wr_array_transport(array)->size, ranks);
}

int weir_array_shift(weir_array *array, const weir_shift *shift, void *base, int64_t *shape)
{
    if (wr_array_check_alive(array))
        return WEIR_ETRANSPORT;
    const int dimensions = array->info.dimensions, rank = wr_array_transport(array)->rank;
    boundary b = {.array = array, .shift = shift};
    wr_arena memory = {0};
    wr_move m = {.array = array, .direction = WR_READ, .together = true};
    wr_mapping mapping = {0};
    weir_selection s = {.index = (const int64_t *const *)b.lists, .count = b.counts};
    b.distribution = shift->distribution ? shift->distribution : &array->info.distribution;
    int code = check(array, shift, b.distribution, &b.ranks), from = -1;
    if (!code && rank < b.ranks)
        from = find_neighbour(b.distribution, dimensions, shift, rank);
    memset(shape, 0, (size_t)dimensions * sizeof *shape);
    if (!code && from >= 0)
        code = list_indices(&b, from, &memory, b.lists, b.counts);
    if (!code && from >= 0)
        memcpy(shape, b.counts, (size_t)dimensions * sizeof *shape);
    if (!code)
        code = wr_mapping_build(array, from >= 0 ? &s : NULL, NULL, false, &mapping);
    if (!code)
        code = wr_move_prepare(&m, &mapping, array->info.type, base);
    code = wr_move_run(&m, NULL, code);
    wr_arena_release(&memory);
    return code;
}
