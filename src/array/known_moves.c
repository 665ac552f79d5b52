/* Collective moves in which every rank can say what all want: a selection as a function of the
 * rank, a distribution. Nobody tells anybody ("An Extended Two-Phase Method for Accessing Sections
 * of Out-of-Core Arrays", section 4: the descriptors need not be exchanged). */
#include "array/distribution.h"
#include "array/moves.h"

/* What a rank wants: one of the two ways. */
typedef struct wish {
    weir_array *array;
    bool write;
    weir_selection_of *of;
    void *user;
    const weir_distribution *distribution;
    const weir_layout *layout;
} wish;

/* Of other ranks only what they want in the file is known, and asked for: layout NULL. */
static int map_rank(const wish *w, int rank, const weir_layout *layout, wr_mapping *out)
{
    weir_selection s = {0};
    if (w->distribution)
        return wr_mapping_build_part(w->array, w->distribution, rank, layout, out);
    int wants = w->of(w->user, rank, &s);
    return wr_mapping_build(w->array, wants ? &s : NULL, layout, w->write, out);
}

static int pattern_of(void *user, int rank, weir_pattern **out)
{
    wr_mapping mapping;
    int code = map_rank(user, rank, NULL, &mapping);
    if (code)
        return code;
    if (mapping.elements) {
        *out = mapping.pair.file;
        mapping.pair.file = NULL;
    }
    wr_mapping_release(&mapping);
    return 0;
}

static int check(const wish *w)
{
    int ranks;
    if (!w->distribution)
        return 0;
    return wr_distribution_check(w->distribution, w->array->info.dimensions,
                                 wr_array_transport(w->array)->size, &ranks);
}

static int run(wish *w, const void *base)
{
    if (wr_array_check_alive(w->array))
        return WEIR_ETRANSPORT;
    const wr_transport *t = wr_array_transport(w->array);
    wr_known known = {.pattern = pattern_of, .user = w};
    wr_move m = {.array = w->array, .direction = w->write ? WR_WRITE : WR_READ, .together = true};
    wr_mapping mapping;
    int code = check(w);
    if (!code)
        code = wr_known_sum(&known, t->size);
    if (!code)
        code = map_rank(w, t->rank, w->layout, &mapping);
    if (!code)
        code = wr_move_prepare(&m, &mapping, wr_layout_type(w->array, w->layout), base);
    return wr_move_run(&m, &known, code);
}

int weir_array_read_by(weir_array *array, weir_selection_of *of, void *user,
                       const weir_layout *layout, void *base)
{
    return run(&(wish){.array = array, .of = of, .user = user, .layout = layout}, base);
}

int weir_array_write_by(weir_array *array, weir_selection_of *of, void *user,
                        const weir_layout *layout, const void *base)
{
    return run(&(wish){.array = array, .write = true, .of = of, .user = user, .layout = layout},
               base);
}

int weir_array_read_distributed(weir_array *array, const weir_distribution *distribution,
                                const weir_layout *layout, void *base)
{
    return run(&(wish){.array = array, .distribution = distribution, .layout = layout}, base);
}

int weir_array_write_distributed(weir_array *array, const weir_distribution *distribution,
                                 const weir_layout *layout, const void *base)
{
    return run(
        &(wish){.array = array, .write = true, .distribution = distribution, .layout = layout},
        base);
}
