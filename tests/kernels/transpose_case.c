#include "transpose_case.h"

#include <stdlib.h>
#include <string.h>

#include "format/convert.h"

static void random_axes(rng *r, transpose_case *k)
{
    const int n = k->from.info.dimensions;
    k->reversed = rng_chance(r, 25);
    for (int d = 0; d < n; d++)
        k->axes[d] = n - 1 - d;
    for (int d = n - 1; d > 0 && !k->reversed; d--) {
        int other = (int)rng_within(r, 0, d), kept = k->axes[d];
        k->axes[d] = k->axes[other];
        k->axes[other] = kept;
    }
}

static void random_target(rng *r, transpose_case *k)
{
    naive *to = &k->to;
    naive_random(r, to);
    to->info.dimensions = k->from.info.dimensions;
    for (int d = 0; d < to->info.dimensions; d++)
        to->info.shape[d] = k->from.info.shape[k->axes[d]];
    naive_cut(r, to);
    if (to->info.members) {
        random_distribution(r, &to->info, 9, &to->info.distribution);
        to->info.members = distribution_places(&to->info.distribution, to->info.dimensions);
    }
    if (wr_convert_check(k->from.info.type, to->info.type) || rng_chance(r, 70))
        to->info.type = k->from.info.type;
    naive_settle(to);
}

static void transpose_naively(transpose_case *k)
{
    int64_t index[WEIR_MAX_DIMENSIONS], source[WEIR_MAX_DIMENSIONS];
    const int from_type = k->from.info.type, to_type = k->to.info.type;
    for (int64_t i = 0; i < k->to.elements; i++) {
        naive_index(&k->to, i, index);
        for (int d = 0; d < k->to.info.dimensions; d++)
            source[k->axes[d]] = index[d];
        char *from = k->from.data + naive_number(&k->from, source) * k->from.element;
        char *to = k->to.data + i * k->to.element;
        if (from_type == to_type)
            memcpy(to, from, (size_t)k->to.element);
        else
            wr_convert(&(wr_elements){from_type, from, 0}, &(wr_elements){to_type, to, 0}, 1);
    }
}

void transpose_case_make(rng *r, const hint_limits *limits, transpose_case *k)
{
    naive_random(r, &k->from);
    naive_settle(&k->from);
    random_elements(r, k->from.info.type, k->from.data, k->from.elements);
    random_axes(r, k);
    random_target(r, k);
    transpose_naively(k);
    k->direct = rng_chance(r, 40);
    k->memory = rng_chance(r, 40) ? 1 : rng_chance(r, 50) ? 0 : rng_within(r, 70000, 200000);
    for (int i = 0; i < 2; i++) {
        k->swapped[i] = rng_chance(r, 15) && !test_weak(); /* by one host alone */
        random_array_hints(r, limits, k->hints[i], sizeof k->hints[i]);
    }
}

void transpose_case_release(transpose_case *k)
{
    naive_release(&k->from);
    naive_release(&k->to);
}

static weir_array *make_array(transpose_case *k, wr_world *w, int which)
{
    naive *n = which ? &k->to : &k->from;
    const weir_array_options options = naive_options(n);
    const bool first = w->transport->rank == 0;
    weir_array *a;
    CHECK(!wr_array_create(w, k->path[which], &n->info, &options, "", &a));
    CHECK(!weir_array_write_all(a, first && !which ? &(weir_selection){0} : NULL, NULL, n->data,
                                NULL));
    CHECK(!weir_array_close(a));
    if (first && k->swapped[which]) {
        naive files = *n; /* others look at the case meanwhile */
        naive_swap_files(&files, k->path[which]);
    }
    CHECK(!wr_agree(w->transport, 0, 0));
    CHECK(!wr_array_open(w, k->path[which], WEIR_READ | (which ? WEIR_WRITE : 0), k->hints[which],
                         &a));
    return a;
}

/* Too little is refused, naming what does. */
static int64_t find_memory(const transpose_case *k, weir_array *from, weir_array *to)
{
    weir_work work = {.memory = 1, .direct = k->direct};
    const int *axes = k->reversed ? NULL : k->axes;
    CHECK_FAILS(weir_array_transpose(from, to, axes, &work), WEIR_EBUDGET,
                "the least that would do is ");
    int64_t least = strtoll(strstr(weir_error_last()->text, "do is ") + 6, NULL, 10);
    work.memory = least - 1;
    CHECK_FAILS(weir_array_transpose(from, to, axes, &work), WEIR_EBUDGET, "the least");
    return least;
}

static void check_files(const transpose_case *k)
{
    naive from = k->from, to = k->to;
    from.info.swapped = k->swapped[0] && from.element > 1;
    to.info.swapped = k->swapped[1] && to.element > 1;
    naive_check_files(&from, k->path[0]);
    naive_check_files(&to, k->path[1]);
    for (int i = 0; i < 2; i++)
        remove_tree(k->path[i]);
}

void transpose_case_run(transpose_case *k, wr_world *w)
{
    weir_estimate estimate;
    weir_work work = {.memory = k->memory, .direct = k->direct, .estimate = &estimate};
    const int *axes = k->reversed ? NULL : k->axes;
    weir_array *from = make_array(k, w, 0), *to = make_array(k, w, 1);
    if (k->memory == 1)
        work.memory = find_memory(k, from, to);
    CHECK(!weir_array_transpose(from, to, axes, &work));
    CHECK(estimate.memory <= (work.memory ? work.memory : 64 << 20));
    CHECK(estimate.read == k->from.info.bytes && estimate.written == k->to.info.bytes);
    CHECK(strstr(estimate.how, "slabs of ") == estimate.how);
    work.estimate = NULL;
    CHECK(!weir_array_transpose(from, to, axes, &work));
    CHECK(!weir_array_close(from));
    CHECK(!weir_array_close(to));
    CHECK(!wr_agree(w->transport, 0, 0));
    if (w->transport->rank == 0)
        check_files(k);
    CHECK(!wr_agree(w->transport, 0, 0));
}
