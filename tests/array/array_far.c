/* Arrays past 4 GiB: sparse files, sections whose offsets and strides need more than 32 bits,
 * in one file and in a set with members of more than 2 GiB. */
#include <string.h>

#include "array/array.h"
#include "check.h"
#include "transport/local.h"

enum { RANKS = 2, ROWS = 70000, COLUMNS = 70000 }; /* of one byte: 4.9 GB */

static unsigned char value(int64_t i, int64_t j)
{
    return (unsigned char)(i * 7 + j * 13 + 1);
}

/* Every 9999th row and every 23333rd column, and the last element, from both ends of the array. */
static void check_array(wr_world *w, const char *path, const weir_array_info *info)
{
    const int rank = w->transport->rank;
    const int64_t step[] = {9999, 23333}, back[] = {-9999, -23333};
    const int64_t lo[] = {rank, 1}, last[] = {ROWS - 1, COLUMNS - 1};
    unsigned char memory[8][4];
    weir_array *a;
    weir_selection mine = {.lo = lo, .step = step}, corner = {.lo = last};
    CHECK(!wr_array_create(w, path, info, NULL, NULL, &a));
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 3; j++)
            memory[i][j] = value(rank + 9999 * i, 1 + 23333 * j);
    const int64_t stride[] = {4, 1};
    const weir_layout layout = {.stride = stride};
    CHECK(!weir_array_write_all(a, &mine, &layout, memory, NULL));
    unsigned char end = 200, got = 0;
    if (rank == 0)
        CHECK(!weir_array_write(a, &corner, NULL, &end, NULL));
    CHECK(!weir_array_close(a));
    CHECK(!wr_array_open(w, path, WEIR_READ, NULL, &a));
    CHECK(!weir_array_read(a, &corner, NULL, &got, NULL) && got == 200);
    memset(memory, 0, sizeof memory);
    CHECK(!weir_array_read_all(a, &mine, &layout, memory, NULL));
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 3; j++)
            CHECK_EQUAL(memory[i][j], value(rank + 9999 * i, 1 + 23333 * j));
    const int64_t from[] = {rank + 7 * 9999, 1 + 2 * 23333};
    weir_selection reversed = {.lo = from, .step = back};
    CHECK(!weir_array_read(a, &reversed, &layout, memory, NULL));
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 3; j++)
            CHECK_EQUAL(memory[7 - i][2 - j], value(rank + 9999 * i, 1 + 23333 * j));
    CHECK(!weir_array_close(a));
    CHECK(!wr_array_delete(w, path));
}

static void rank_body(wr_transport *t, void *user)
{
    wr_tunables tunables;
    wr_world *w;
    (void)user;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    for (int columns = 0; columns < 2; columns++) {
        weir_array_info info = {
            .type = WEIR_U1, .dimensions = 2, .shape = {ROWS, COLUMNS}, .columns = columns};
        check_within(60);
        check_array(w, "array-far.npy", &info);
        info.members = 2;
        info.distribution.grid[1] = 2;
        check_array(w, "array-far-set", &info);
    }
    wr_world_release(w);
}

int main(void)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(RANKS, &tunables, rank_body, NULL));
    return 0;
}
