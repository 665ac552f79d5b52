/* Batcher's odd-even merge sort (Knuth, The Art of Computer Programming 3, section 5.2.2), cut down
 * to what the median needs. Columns are padded to a power of two with places that hold nothing and
 * count as infinite. When so many columns are merged that an element has more than half of all on
 * one side of it, it is not the median, and counts as infinite too. Comparisons with infinities are
 * made here, once; those whose results nobody looks at are left out. */
#include "kernels/network.h"

#include <stdbool.h>
#include <string.h>

enum { LOW = -1, HIGH = -2 }; /* places that hold an infinity, not a wire */
enum { PLACES = 16 * WR_NETWORK_MOST };

typedef struct builder {
    wr_network *network;
    int places;
    int16_t wire[PLACES]; /* what a place holds */
} builder;

static void compare(builder *b, int x, int y)
{
    const int16_t first = b->wire[x], second = b->wire[y];
    if (first == LOW || second == HIGH || first == second)
        return;
    if (first == HIGH || second == LOW) {
        b->wire[x] = second;
        b->wire[y] = first;
        return;
    }
    b->network->at[b->network->count++] =
        (wr_comparator){first, second, WR_KEEP_LOW | WR_KEEP_HIGH};
}

/* Runs of `run` places that are sorted become runs twice as long. */
static void merge(builder *b, int run)
{
    for (int k = run; k >= 1; k /= 2)
        for (int x = k % run; x + k < b->places; x++) {
            if ((x - k % run) / k % 2)
                continue;
            if (x / (2 * run) == (x + k) / (2 * run))
                compare(b, x, x + k);
        }
}

void wr_network_sort(int window, wr_comparator *at, wr_network *out)
{
    builder b = {.network = out, .places = window};
    *out = (wr_network){.at = at};
    for (int i = 0; i < window; i++)
        b.wire[i] = (int16_t)i;
    for (int run = 1; run < window; run *= 2)
        merge(&b, run);
}

/* Of `columns` columns from place `first` on, merged, only the middle can be the median. */
static void narrow(builder *b, int first, int columns, int window)
{
    const int half = window * window / 2, count = columns * window;
    for (int i = 0; i < count; i++)
        if (i > half)
            b->wire[first + i] = HIGH;
        else if (count - 1 - i > half)
            b->wire[first + i] = LOW;
}

/* Leaves out what the output does not depend on. */
static void prune(wr_network *n)
{
    bool wanted[WR_NETWORK_MOST * WR_NETWORK_MOST] = {false};
    int kept = n->count;
    wanted[n->output] = true;
    for (int i = n->count - 1; i >= 0; i--) {
        wr_comparator c = n->at[i];
        c.keep = (int16_t)((wanted[c.low] ? WR_KEEP_LOW : 0) | (wanted[c.high] ? WR_KEEP_HIGH : 0));
        if (!c.keep)
            continue;
        wanted[c.low] = wanted[c.high] = true;
        n->at[--kept] = c;
    }
    n->count -= kept;
    memmove(n->at, n->at + kept, (size_t)n->count * sizeof *n->at);
}

void wr_network_median(int window, wr_comparator *at, wr_network *out)
{
    int column = 1;
    while (column < window)
        column *= 2;
    builder b = {.network = out, .places = column * window};
    *out = (wr_network){.at = at};
    for (int i = 0; i < b.places; i++)
        b.wire[i] = (int16_t)(i % column < window ? i / column * window + i % column : HIGH);
    for (int run = column; run < b.places; run *= 2) {
        merge(&b, run);
        for (int first = 0; first < b.places; first += 2 * run) {
            const int left = b.places - first, places = 2 * run < left ? 2 * run : left;
            narrow(&b, first, places / column, window);
        }
    }
    out->output = b.wire[window * window / 2];
    prune(out);
}
