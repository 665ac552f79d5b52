/* Where things lie, without files: the order an array is stored in, parts of boxes (the DRA paper,
 * section 4: row- or column-major, as the typical request suggests, or in blocks). */
#include "dra_state.h"

/* Bytes of the typical request that lie one after the other, dimensions taken from the fastest. */
static int64_t run(const wr_dra_order *o, bool columns, int64_t element, int64_t enough)
{
    int64_t bytes = element;
    for (int i = 0; i < o->dimensions; i++) {
        const int d = columns ? i : o->dimensions - 1 - i;
        const bool whole = o->request[d] < 1 || o->request[d] >= o->shape[d];
        const int64_t taken = whole ? o->shape[d] : o->request[d];
        if (bytes >= enough || taken >= enough)
            return enough;
        bytes *= taken;
        if (!whole)
            break;
    }
    return bytes < enough ? bytes : enough;
}

/* Runs as long as a buffer are long enough; by rows is how GA has its blocks in memory. */
bool wr_dra_by_columns(const wr_dra_order *order, int64_t element, int64_t memory)
{
    enum { ENOUGH = 1 << 20 };
    const int64_t enough = memory && memory / 4 < ENOUGH ? memory / 4 : ENOUGH;
    return run(order, true, element, enough) > run(order, false, element, enough);
}

static int64_t product(int dimensions, const int64_t *size, int64_t element)
{
    for (int i = 0; i < dimensions; i++)
        element *= size[i];
    return element;
}

/* Like the typical request, but of LEAST to MOST bytes, as far as the array goes. */
static void shape_tile(const wr_dra_order *o, int64_t element, int64_t *tile)
{
    enum { LEAST = 64 << 10, MOST = 1 << 20 };
    for (int i = 0; i < o->dimensions; i++)
        tile[i] = o->request[i] < 1 || o->request[i] > o->shape[i] ? o->shape[i] : o->request[i];
    while (product(o->dimensions, tile, element) > MOST) {
        int longest = 0;
        for (int i = 1; i < o->dimensions; i++)
            longest = tile[i] > tile[longest] ? i : longest;
        tile[longest] = (tile[longest] + 1) / 2;
    }
    while (product(o->dimensions, tile, element) < LEAST) {
        int shortest = -1;
        for (int i = 0; i < o->dimensions; i++)
            if (tile[i] < o->shape[i] && (shortest < 0 || tile[i] < tile[shortest]))
                shortest = i;
        if (shortest < 0)
            return;
        tile[shortest] =
            2 * tile[shortest] < o->shape[shortest] ? 2 * tile[shortest] : o->shape[shortest];
    }
}

/* Requests of a few bytes gain nothing; nor do arrays of a few tiles. */
bool wr_dra_in_tiles(const wr_dra_order *o, int64_t element, int64_t *tile)
{
    enum { SMALL = 4 << 10, SHORT = 32 << 10, TILES = 16 };
    int64_t request[WR_DRA_DIMENSIONS];
    for (int i = 0; i < o->dimensions; i++) {
        const bool whole = o->request[i] < 1 || o->request[i] > o->shape[i];
        request[i] = whole ? o->shape[i] : o->request[i];
    }
    if (run(o, false, element, SHORT) == SHORT || run(o, true, element, SHORT) == SHORT ||
        product(o->dimensions, request, element) < SMALL)
        return false;
    shape_tile(o, element, tile);
    return product(o->dimensions, o->shape, element) >=
           TILES * product(o->dimensions, tile, element);
}

int64_t wr_dra_count(int dimensions, const wr_dra_box *box)
{
    int64_t count = 1;
    for (int i = 0; i < dimensions; i++)
        count *= box->hi[i] > box->lo[i] ? box->hi[i] - box->lo[i] : 0;
    return count;
}

void wr_dra_strides(int dimensions, const wr_dra_box *box, int64_t element, int64_t *stride)
{
    for (int i = dimensions - 1; i >= 0; i--) {
        stride[i] = element;
        element *= box->hi[i] - box->lo[i];
    }
}

/* The largest box that begins with element `first` and ends before `last`; returns its elements. */
static int64_t take(int dimensions, const wr_dra_box *box, int64_t first, int64_t last,
                    wr_dra_box *out)
{
    int64_t index[WR_DRA_DIMENSIONS] = {0}, rest = first, below = 1;
    int level = dimensions - 1;
    for (int i = dimensions - 1; i >= 0; i--) {
        const int64_t extent = box->hi[i] - box->lo[i];
        index[i] = rest % extent;
        rest /= extent;
    }
    while (level > 0 && index[level] == 0 &&
           below * (box->hi[level] - box->lo[level]) <= last - first)
        below *= box->hi[level] - box->lo[level], level--;
    const int64_t extent = box->hi[level] - box->lo[level];
    int64_t many = (last - first) / below;
    if (many > extent - index[level])
        many = extent - index[level];
    for (int i = 0; i < dimensions; i++) {
        out->lo[i] = box->lo[i] + (i > level ? 0 : index[i]);
        out->hi[i] = i > level ? box->hi[i] : out->lo[i] + (i == level ? many : 1);
    }
    return many * below;
}

int wr_dra_range(int dimensions, const wr_dra_box *box, int64_t first, int64_t last,
                 wr_dra_box *out)
{
    int boxes = 0;
    while (first < last)
        first += take(dimensions, box, first, last, &out[boxes++]);
    return boxes;
}
