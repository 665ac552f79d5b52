#include "client.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

int client_rank, client_ranks;

void client_must(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: rank %d: not true: %s\n", file, line, client_rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void *client_alloc(size_t bytes)
{
    void *memory = calloc(bytes ? bytes : 1, 1);
    MUST(memory);
    return memory;
}

size_t client_kind_bytes(client_kind kind)
{
    static const size_t bytes[] = {1, 2, 4, 8, 4, 8};
    return bytes[kind];
}

client_box client_whole(const client_array *array)
{
    client_box box;
    for (int d = 0; d < CLIENT_DIMS; d++) {
        box.start[d] = 0;
        box.stride[d] = box.block[d] = 1;
        box.count[d] = d < array->dims ? array->shape[d] : 1;
    }
    return box;
}

client_box client_split(client_box box, int dim, int part, int parts)
{
    int64_t n = box.count[dim], lo = n * part / parts, hi = n * (part + 1) / parts;
    box.start[dim] += lo * box.stride[dim];
    box.count[dim] = hi - lo;
    return box;
}

client_box client_deal(client_box box, int dim, int part, int parts)
{
    int64_t n = box.count[dim];
    box.start[dim] += part * box.stride[dim];
    box.stride[dim] *= parts;
    box.count[dim] = n > part ? (n - part + parts - 1) / parts : 0;
    return box;
}

static int64_t cells_in(const client_array *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->dims; d++)
        n *= a->shape[d];
    return n;
}

static bool is_inside(const client_box *box, int dim, int64_t index)
{
    int64_t from = index - box->start[dim], block = from / box->stride[dim];
    return from >= 0 && block < box->count[dim] && from % box->stride[dim] < box->block[dim];
}

client_cells client_cells_of(const client_array *array, const client_box *box)
{
    client_cells cells = {.array = array, .chosen = client_alloc((size_t)cells_in(array))};
    client_cells_add(&cells, box, false);
    return cells;
}

void client_cells_release(client_cells *cells)
{
    free(cells->chosen);
    *cells = (client_cells){0};
}

void client_cells_add(client_cells *cells, const client_box *box, bool toggle)
{
    const client_array *a = cells->array;
    int64_t n = cells_in(a);
    cells->count = 0;
    for (int64_t i = 0; i < n; i++) {
        bool inside = true;
        int64_t rest = i;
        for (int d = a->dims - 1; d >= 0; d--) {
            inside = inside && is_inside(box, d, rest % a->shape[d]);
            rest /= a->shape[d];
        }
        cells->chosen[i] = toggle ? cells->chosen[i] != inside : cells->chosen[i] || inside;
        cells->count += cells->chosen[i];
    }
}

/* Small enough to be exact in every kind but the two shortest. */
static int32_t value_of(int number, int64_t cell)
{
    uint64_t z = ((uint64_t)number << 40) + (uint64_t)cell + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int32_t)((z ^ z >> 31) & 0xffffff);
}

static void put_value(const client_array *a, int64_t cell, void *item)
{
    static const char mark[] = "weir-client-mark";
    int32_t v = value_of(a->number, cell);
    switch (a->kind) {
    case CLIENT_BYTE:
        *(char *)item = (char)(a->number ? v & 0x7f : mark[(size_t)cell % (sizeof mark - 1)]);
        break;
    case CLIENT_SHORT:
        memcpy(item, &(int16_t){(int16_t)(v & 0x7fff)}, 2);
        break;
    case CLIENT_INT:
        memcpy(item, &(int32_t){v * 100}, 4);
        break;
    case CLIENT_LONG:
        memcpy(item, &(int64_t){(int64_t)v << 32 | v}, 8);
        break;
    case CLIENT_FLOAT:
        memcpy(item, &(float){(float)v}, 4);
        break;
    case CLIENT_DOUBLE:
        memcpy(item, &(double){v / 3.0}, 8);
        break;
    }
}

void *client_values(const client_cells *cells, int64_t step)
{
    const client_array *a = cells->array;
    size_t bytes = client_kind_bytes(a->kind) * (size_t)step;
    int64_t n = cells_in(a);
    char *items = client_alloc((size_t)cells->count * bytes), *next = items;
    for (int64_t i = 0; i < n; i++)
        if (cells->chosen[i]) {
            put_value(a, i, next);
            next += bytes;
        }
    return items;
}

int64_t client_count_wrong(const client_cells *cells, const void *items, int64_t step)
{
    const client_array *a = cells->array;
    size_t bytes = client_kind_bytes(a->kind);
    const char *next = items;
    int64_t n = cells_in(a), wrong = 0;
    for (int64_t i = 0; i < n; i++) {
        char wanted[8];
        if (!cells->chosen[i])
            continue;
        put_value(a, i, wanted);
        if (memcmp(next, wanted, bytes) && !wrong++)
            printf("rank %d: %s: cell %lld is wrong\n", client_rank, a->name, (long long)i);
        next += bytes * (size_t)step;
    }
    return wrong;
}

void client_transpose(client_kind kind, const void *from, void *to, int64_t rows, int64_t columns)
{
    size_t bytes = client_kind_bytes(kind);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            memcpy((char *)to + (size_t)(j * rows + i) * bytes,
                   (const char *)from + (size_t)(i * columns + j) * bytes, bytes);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &client_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &client_ranks);
    MUST(argc > 2 && argc % 2);
    for (int i = 1; i < argc; i += 2) {
        if (!strcmp(argv[i], "write")) {
            client_write(argv[i + 1]);
            continue;
        }
        int64_t wrong = client_read(argv[i + 1]);
        MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        bool spoiled = !strcmp(argv[i], "spoiled");
        MUST(spoiled || !strcmp(argv[i], "read"));
        MUST(spoiled == (wrong > 0));
    }
    MPI_Finalize();
    return 0;
}
