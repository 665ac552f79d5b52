/* Where things lie, without files: the order an array is stored in, parts of boxes (the DRA paper,
 * section 4: row- or column-major, as the typical request suggests). */
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
