/* Block, cyclic and block-cyclic distributions: a block size and a grid per dimension give, for
 * each place of the grid, an axis of the indices it has. */
#include "array/distribution.h"

#include "base/arith.h"
#include "base/error.h"

int wr_distribution_check(const weir_distribution *d, int dimensions, int most, int *ranks)
{
    int64_t product = 1;
    for (int i = 0; i < dimensions; i++) {
        if (d->grid[i] < 0 || d->block[i] < 0)
            return wr_fail(WEIR_EINVAL, "distribution: grid %d and block %lld in dimension %d",
                           d->grid[i], (long long)d->block[i], i);
        product *= wr_distribution_grid(d, i);
        if (product > most)
            return wr_fail(WEIR_EINVAL, "distribution: the grid has more than %d ranks", most);
    }
    *ranks = (int)product;
    return wr_check_reserved(d->reserved, "weir_distribution");
}

int64_t wr_distribution_block(const weir_distribution *d, int dimension, int64_t n)
{
    int64_t grid = wr_distribution_grid(d, dimension), block = d->block[dimension];
    if (!block)
        block = wr_div_ceil(n, grid);
    return wr_max(1, wr_min(block, n));
}

void wr_distribution_place(const weir_distribution *d, int dimensions, int rank, int *place)
{
    for (int i = dimensions - 1; i >= 0; i--) {
        int grid = wr_distribution_grid(d, i);
        place[i] = rank % grid;
        rank /= grid;
    }
}

wr_axis wr_distribution_axis(const weir_distribution *d, int dimension, int64_t n, int place)
{
    int64_t block = wr_distribution_block(d, dimension, n);
    int64_t grid = wr_distribution_grid(d, dimension), blocks = wr_div_ceil(n, block);
    if (place >= blocks)
        return (wr_axis){.step = 1};
    const int64_t first = place * block;
    wr_axis axis = {.lo = first, .step = 1, .count = block, .blocks = 1};
    if (blocks <= grid) { /* one block each */
        axis.count = wr_min(block, n - first);
    } else {
        int64_t rest = n % (grid * block) - first;
        axis.jump = grid * block;
        axis.blocks = n / axis.jump + (rest >= block);
        axis.tail = rest > 0 && rest < block ? rest : 0;
    }
    axis.total = axis.count * axis.blocks + axis.tail;
    return axis;
}

int weir_distribution_shape(const weir_distribution *distribution, int dimensions,
                            const int64_t *shape, int rank, int64_t *part)
{
    int ranks = 0, place[WEIR_MAX_DIMENSIONS] = {0};
    if (dimensions < 0 || dimensions > WEIR_MAX_DIMENSIONS)
        return wr_fail(WEIR_EINVAL, "%d dimensions", dimensions);
    int code = wr_distribution_check(distribution, dimensions, INT32_MAX, &ranks);
    if (code)
        return code;
    wr_distribution_place(distribution, dimensions, rank < 0 ? 0 : rank, place);
    for (int i = 0; i < dimensions; i++)
        part[i] = rank < 0 || rank >= ranks
                      ? 0
                      : wr_distribution_axis(distribution, i, shape[i], place[i]).total;
    return 0;
}

int weir_distribution_place(const weir_distribution *distribution, int dimensions, int rank,
                            int *place)
{
    int ranks = 0;
    if (dimensions < 0 || dimensions > WEIR_MAX_DIMENSIONS)
        return wr_fail(WEIR_EINVAL, "%d dimensions", dimensions);
    int code = wr_distribution_check(distribution, dimensions, INT32_MAX, &ranks);
    if (!code && (rank < 0 || rank >= ranks))
        code = wr_fail(WEIR_EINVAL, "rank %d of a grid of %d", rank, ranks);
    if (!code)
        wr_distribution_place(distribution, dimensions, rank, place);
    return code;
}

int64_t weir_distribution_index(const weir_distribution *distribution, int dimension, int64_t n,
                                int place, int64_t local)
{
    if (dimension < 0 || dimension >= WEIR_MAX_DIMENSIONS || n < 0 || place < 0 ||
        place >= wr_distribution_grid(distribution, dimension))
        return -1;
    wr_axis axis = wr_distribution_axis(distribution, dimension, n, place);
    return local < 0 || local >= axis.total ? -1 : wr_axis_at(&axis, local);
}

/* The largest prime that divides n. */
static int largest_prime(int n)
{
    int largest = 1;
    for (int p = 2; (int64_t)p * p <= n; p++)
        while (n % p == 0) {
            largest = p;
            n /= p;
        }
    return n > 1 ? n : largest;
}

int weir_distribution_grid(int ranks, int dimensions, int *grid)
{
    bool open[WEIR_MAX_DIMENSIONS] = {false};
    int left = ranks, opened = 0;
    if (ranks < 1 || dimensions < 0 || dimensions > WEIR_MAX_DIMENSIONS)
        return wr_fail(WEIR_EINVAL, "a grid of %d ranks in %d dimensions", ranks, dimensions);
    for (int i = 0; i < dimensions; i++) {
        if (grid[i] < 0 || (grid[i] && left % grid[i]))
            return wr_fail(WEIR_EINVAL, "a grid of %d ranks cannot have %d in dimension %d", ranks,
                           grid[i], i);
        left /= grid[i] ? grid[i] : 1;
        open[i] = !grid[i];
        opened += open[i];
    }
    if (left > 1 && !opened)
        return wr_fail(WEIR_EINVAL, "the grid does not have %d ranks", ranks);
    for (int i = 0; i < dimensions; i++)
        grid[i] = open[i] ? 1 : grid[i];
    for (int p; left > 1; left /= p) {
        int best = -1;
        p = largest_prime(left);
        for (int i = 0; i < dimensions; i++)
            if (open[i] && (best < 0 || grid[i] < grid[best]))
                best = i;
        grid[best] *= p;
    }
    return 0;
}
