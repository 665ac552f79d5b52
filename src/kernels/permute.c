/* Transposition in squares whose sides are a cache line: each line of either side is touched once,
 * so it does not matter how many of them fall on the same place of the cache. */
#include "kernels/permute.h"

#include <string.h>

#include "base/arith.h"

enum { LINE = 64 };

/* A plane: `rows` along the target's fastest dimension, `columns` along the source's. */
typedef struct plane {
    int64_t rows, columns;
    int64_t from_row, to_column; /* strides */
} plane;

/* A block of squares is small enough for its pages to be known to the processor all at once. */
enum { BLOCK = 64 };

/* Two elements of 8 bytes. */
typedef uint64_t two __attribute__((vector_size(16), aligned(8), may_alias));

/* A square of 8 x 8 elements of 8 bytes, in squares of 2 x 2. */
static inline void turn_square_8(const char *restrict from, int64_t row, char *restrict to,
                                 int64_t column)
{
    for (int64_t l = 0; l < 8; l += 2)
        for (int64_t k = 0; k < 8; k += 2) {
            const two a = *(const two *)(const void *)(from + k * row + l * 8);
            const two b = *(const two *)(const void *)(from + (k + 1) * row + l * 8);
            *(two *)(void *)(to + l * column + k * 8) = __builtin_shufflevector(a, b, 0, 2);
            *(two *)(void *)(to + (l + 1) * column + k * 8) = __builtin_shufflevector(a, b, 1, 3);
        }
}

/* `size` is a constant where this is called, so that elements are moved by single instructions. */
static inline void turn_squares(const plane *p, const char *restrict from, char *restrict to,
                                const int64_t size)
{
    const int64_t side = LINE / size, row = p->from_row * size, column = p->to_column * size;
    int64_t i = 0;
    for (; i + side <= p->rows; i += side) {
        int64_t j = 0;
        for (; size == 8 && j + side <= p->columns; j += side)
            turn_square_8(from + i * row + j * 8, row, to + j * column + i * 8, column);
        for (; j + side <= p->columns; j += side) {
            char square[LINE * LINE];
            for (int64_t k = 0; k < side; k++)
                for (int64_t l = 0; l < side; l++)
                    memcpy(square + (l * side + k) * size, from + (i + k) * row + (j + l) * size,
                           (size_t)size);
            for (int64_t l = 0; l < side; l++)
                memcpy(to + (j + l) * column + i * size, square + l * LINE, LINE);
        }
        for (; j < p->columns; j++)
            for (int64_t k = i; k < i + side; k++)
                memcpy(to + j * column + k * size, from + k * row + j * size, (size_t)size);
    }
    for (; i < p->rows; i++)
        for (int64_t j = 0; j < p->columns; j++)
            memcpy(to + j * column + i * size, from + i * row + j * size, (size_t)size);
}

static void turn_block(const plane *p, int64_t element, const char *from, char *to)
{
    switch (element) {
    case 1:
        turn_squares(p, from, to, 1);
        return;
    case 2:
        turn_squares(p, from, to, 2);
        return;
    case 4:
        turn_squares(p, from, to, 4);
        return;
    case 8:
        turn_squares(p, from, to, 8);
        return;
    default:
        turn_squares(p, from, to, 16);
    }
}

static void turn(const plane *p, int64_t element, const char *from, char *to)
{
    plane block = *p;
    for (int64_t i = 0; i < p->rows; i += BLOCK)
        for (int64_t j = 0; j < p->columns; j += BLOCK) {
            block.rows = wr_min(BLOCK, p->rows - i);
            block.columns = wr_min(BLOCK, p->columns - j);
            turn_block(&block, element, from + (i * p->from_row + j) * element,
                       to + (j * p->to_column + i) * element);
        }
}

static int find_fastest(int dimensions, const int64_t *shape, const int64_t *stride)
{
    int fastest = dimensions - 1;
    for (int d = 0; d < dimensions; d++) /* of those of size 1 any stride may be 1 */
        if (stride[d] == 1 && (shape[d] > 1 || shape[fastest] == 1 || stride[fastest] != 1))
            fastest = d;
    return fastest;
}

/* Steps through all dimensions but two; false after the last. */
static bool advance(const wr_permutation *p, const int *skip, int64_t *at)
{
    for (int d = p->dimensions - 1; d >= 0; d--) {
        if (d == skip[0] || d == skip[1])
            continue;
        if (++at[d] < p->shape[d])
            return true;
        at[d] = 0;
    }
    return false;
}

void wr_permute(const wr_permutation *p, const void *from, void *to)
{
    int64_t at[WEIR_MAX_DIMENSIONS] = {0};
    if (!p->dimensions) {
        memcpy(to, from, (size_t)p->element);
        return;
    }
    for (int d = 0; d < p->dimensions; d++)
        if (!p->shape[d])
            return;
    const int fast[] = {find_fastest(p->dimensions, p->shape, p->from),
                        find_fastest(p->dimensions, p->shape, p->to)};
    const plane across = {.rows = p->shape[fast[1]],
                          .columns = p->shape[fast[0]],
                          .from_row = p->from[fast[1]],
                          .to_column = p->to[fast[0]]};
    do {
        const char *source = from;
        char *target = to;
        for (int d = 0; d < p->dimensions; d++) {
            source += at[d] * p->from[d] * p->element;
            target += at[d] * p->to[d] * p->element;
        }
        if (fast[0] == fast[1])
            memcpy(target, source, (size_t)(p->shape[fast[0]] * p->element));
        else
            turn(&across, p->element, source, target);
    } while (advance(p, fast, at));
}
