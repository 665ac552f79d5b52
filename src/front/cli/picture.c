/* What pictures on paper and in a terminal share: how many cells fit, and where round indices
 * are. */
#include "picture.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { OBLONG = 4, MOST_PIXELS = 16 << 20, SMALLEST = 20 };

const char *cli_parse_extent(const char *text, void *out)
{
    cli_extent *e = out;
    char *end, *last;
    e->given = 1;
    const long width = strtol(text, &end, 10),
               height = *end == 'x' ? strtol(end + 1, &last, 10) : 0;
    if (!isdigit((unsigned char)*text) || *end != 'x' || !isdigit((unsigned char)end[1]) || *last)
        return "must be a width and a height such as 800x600";
    if (width < SMALLEST || height < SMALLEST / 2 || width > 16000 || height > 16000 ||
        width * height > MOST_PIXELS)
        return "must be at least 20x10, and at most 16 million pixels";
    e->width = (int)width;
    e->height = (int)height;
    return NULL;
}

void cli_ticks_of_axis(const cli_axis *a, int most, cli_ticks *out)
{
    const int64_t last = a->list ? a->size - 1 : a->first + (a->size - 1) * a->step;
    const double first = a->list ? 0 : (double)a->first, step = a->list ? 1 : (double)a->step;
    cli_ticks_of_indices(a->list ? 0 : a->first, last, most, out);
    for (int i = 0; i < out->count; i++) {
        if (a->list)
            snprintf(out->text[i], CLI_TICK_TEXT, "%lld", (long long)a->list[(int64_t)out->at[i]]);
        out->at[i] = ((out->at[i] - first) / step + 0.5) / (double)a->size;
    }
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* So many indices in a cell, or places for one, as fit. */
typedef struct ratio {
    int64_t indices, places;
} ratio;

static ratio ratio_of(int64_t size, int64_t room)
{
    const int64_t indices = size / room + (size % room > 0);
    return (ratio){indices, indices > 1 ? 1 : greater(1, room / size)};
}

static int cells_of(int64_t size, ratio r, int *places)
{
    const int64_t cells = size / r.indices + (size % r.indices > 0);
    *places = (int)(cells * r.places);
    return (int)cells;
}

bool cli_picture_is_oblong(const cli_picture *p)
{
    return greater(p->cells.height, p->cells.width) / OBLONG >
           lesser(p->cells.height, p->cells.width);
}

void cli_picture_fit(cli_picture *p, cli_extent room, int tall, cli_extent *shown)
{
    const int64_t height = p->cells.height, width = p->cells.width;
    ratio down = ratio_of(height, room.height), across = ratio_of(width, room.width);
    if (!p->curve && !cli_picture_is_oblong(p)) {
        if (down.indices == 1 && width <= room.width / tall) {
            down.places = lesser(down.places, room.width / (tall * width));
            across = (ratio){1, tall * down.places};
        } else {
            across.indices = greater(across.indices, (down.indices + tall - 1) / tall);
            down = (ratio){across.indices * tall, 1};
            across.places = 1;
        }
    }
    p->cells.columns = cells_of(width, across, &shown->width);
    p->cells.rows = cells_of(height, down, &shown->height);
}
