/* Arrays on the command line, for array_numpy.py.
 * usage: array_tool write PATH TYPE C|F MEMBERS [SIZE ...]: element i, by rows, is i
 *        array_tool read PATH: type, shape and the elements as f8, by rows */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "check.h"
#include "transport/local.h"

enum { RANKS = 3 };

typedef struct task {
    bool write;
    const char *path;
    weir_array_info info;
} task;

static int64_t count_elements(const weir_array_info *info)
{
    int64_t all = 1;
    for (int d = 0; d < info->dimensions; d++)
        all *= info->shape[d];
    return all;
}

static void write_array(const task *k, wr_world *w)
{
    const int64_t all = count_elements(&k->info);
    const int from = k->info.type == WEIR_F2 ? WEIR_F2 : WEIR_I8;
    int64_t *value = calloc((size_t)all + 1, sizeof *value);
    weir_array *a;
    CHECK(value);
    for (int64_t i = 0; i < all && from == WEIR_I8; i++)
        value[i] = i;
    CHECK(!wr_array_create(w, k->path, &k->info, NULL, "", &a));
    const weir_selection all_of_it = {0};
    CHECK(!weir_array_write_all(a, w->transport->rank ? NULL : &all_of_it,
                                &(weir_layout){.type = from}, value, NULL));
    CHECK(!weir_array_close(a));
    free(value);
}

static void show(const weir_array_info *info, const double *value, int parts)
{
    printf("%s", weir_type_name(info->type));
    for (int d = 0; d < info->dimensions; d++)
        printf(" %lld", (long long)info->shape[d]);
    printf("\n");
    for (int64_t i = 0; i < count_elements(info) * parts; i++)
        printf("%.17g\n", value[i]);
}

static void read_array(const task *k, wr_world *w)
{
    weir_array *a;
    int code = wr_array_open(w, k->path, WEIR_READ, "", &a);
    if (code) {
        if (w->transport->rank == 0)
            printf("%s: %s\n", weir_error_last()->file, weir_error_last()->text);
        return;
    }
    const weir_array_info *info = weir_array_get_info(a);
    const int parts = info->type == WEIR_C8 || info->type == WEIR_C16 ? 2 : 1;
    const bool moved = info->type == WEIR_F2; /* never converted */
    double *value = calloc((size_t)count_elements(info) * 2 + 1, sizeof *value);
    CHECK(value);
    weir_layout layout = {.type = moved ? WEIR_F2 : parts == 2 ? WEIR_C16 : WEIR_F8};
    CHECK(!weir_array_read_all(a, &(weir_selection){0}, &layout, value, NULL));
    if (w->transport->rank == 0)
        show(info, value, moved ? 0 : parts);
    free(value);
    CHECK(!weir_array_close(a));
}

static void rank_body(wr_transport *t, void *user)
{
    const task *k = user;
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    (k->write ? write_array : read_array)(k, w);
    wr_world_release(w);
}

int main(int argc, char **argv)
{
    CHECK(argc > 2);
    task k = {.write = !strcmp(argv[1], "write"), .path = argv[2]};
    if (k.write) {
        CHECK(argc > 5 && argc - 6 <= WEIR_MAX_DIMENSIONS);
        k.info.type = weir_type_find(argv[3]);
        k.info.columns = *argv[4] == 'F';
        k.info.members = atoi(argv[5]);
        k.info.dimensions = argc - 6;
        for (int d = 0; d < k.info.dimensions; d++)
            k.info.shape[d] = atoll(argv[6 + d]);
        k.info.distribution.grid[0] = k.info.members;
    }
    CHECK(!wr_local_run(RANKS, &(wr_tunables){0}, rank_body, &k));
    return 0;
}
