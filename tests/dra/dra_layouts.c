/* Global arrays that do not lie in one block on each rank: written from each kind and read into
 * each, the bytes are the same. And what is deleted is gone for every rank. */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "dra_support.h"

enum { ROWS = 70, COLUMNS = 50, KINDS = 6 };

static int make_irregular(int *shape)
{
    /* rows 0, 3 and from there on; as many blocks as ranks allow */
    int blocks[2] = {dra_ranks > 1 ? 2 : 1, 1}, starts[] = {0, 3, 0}, one[] = {0, 0};
    return NGA_Create_irreg(C_DBL, 2, shape, "irregular", blocks, dra_ranks > 1 ? starts : one);
}

static int make_by_handle(int *shape, int kind)
{
    int g = GA_Create_handle(), block[2] = {9, 7}, grid[2] = {dra_ranks, 1}, last = dra_ranks - 1;
    GA_Set_data(g, 2, shape, C_DBL);
    if (kind == 2)
        GA_Set_block_cyclic(g, block);
    if (kind == 3)
        GA_Set_block_cyclic_proc_grid(g, block, grid);
    if (kind == 4)
        GA_Set_restricted(g, &last, 1);
    CHECK(GA_Allocate(g));
    return g;
}

static int make(int kind)
{
    int shape[] = {ROWS, COLUMNS}, chunk[] = {-1, -1}, width[] = {2, 1};
    if (kind == 0)
        return NGA_Create(C_DBL, 2, shape, "plain", chunk);
    if (kind == 1)
        return make_irregular(shape);
    if (kind == 5)
        return NGA_Create_ghosts(C_DBL, 2, shape, width, "ghosts", chunk);
    return make_by_handle(shape, kind);
}

static double value(int kind, int row, int column)
{
    return kind * 1e6 + row * 1e3 + column;
}

static void fill(int g, int kind)
{
    double row[COLUMNS];
    for (int i = dra_rank; i < ROWS; i += dra_ranks) {
        int lo[] = {i, 0}, hi[] = {i, COLUMNS - 1}, stride = COLUMNS;
        for (int j = 0; j < COLUMNS; j++)
            row[j] = value(kind, i, j);
        NGA_Put(g, lo, hi, row, &stride);
    }
    GA_Sync();
}

static void check(int g, int kind)
{
    double row[COLUMNS];
    for (int i = dra_rank; i < ROWS; i += dra_ranks) {
        int lo[] = {i, 0}, hi[] = {i, COLUMNS - 1}, stride = COLUMNS;
        NGA_Get(g, lo, hi, row, &stride);
        for (int j = 0; j < COLUMNS; j++)
            CHECK(row[j] == value(kind, i, j));
    }
    GA_Sync();
}

/* A section across the blocks of both, so that it begins and ends within some. */
static void move_section(int from, int to, int d)
{
    int lo[] = {2, 5}, hi[] = {ROWS - 4, COLUMNS - 3}, request;
    dra_size_t dlo[] = {2, 5}, dhi[] = {ROWS - 4, COLUMNS - 3};
    DRA_OK(NDRA_Write_section(0, from, lo, hi, d, dlo, dhi, &request));
    DRA_OK(DRA_Wait(request));
    DRA_OK(NDRA_Read_section(0, to, lo, hi, d, dlo, dhi, &request));
    DRA_OK(DRA_Wait(request));
}

static void test_kinds(void)
{
    dra_size_t shape[] = {ROWS, COLUMNS}, typical[] = {-1, -1};
    int g[KINDS], d, request;
    DRA_OK(NDRA_Create(C_DBL, 2, shape, "layouts", dra_path("layouts"), DRA_RW, typical, &d));
    for (int i = 0; i < KINDS; i++)
        g[i] = make(i);
    for (int from = 0; from < KINDS; from++) {
        fill(g[from], from);
        DRA_OK(NDRA_Write(g[from], d, &request));
        DRA_OK(DRA_Wait(request));
        for (int step = 0; step < KINDS; step++) {
            int to = (from + step) % KINDS;
            if (step % 3 == 2 && !test_long())
                continue;
            check_case(from * KINDS + to);
            if (to == from)
                GA_Zero(g[to]);
            DRA_OK(NDRA_Read(g[to], d, &request));
            DRA_OK(DRA_Wait(request));
            check(g[to], from);
            move_section(g[to], g[from], d);
            check(g[from], from);
        }
    }
    check_case(-1);
    DRA_OK(DRA_Delete(d));
    for (int i = 0; i < KINDS; i++)
        GA_Destroy(g[i]);
}

/* Memory for some of a section only: it is moved in rounds, plain, transposed and reshaped, and
 * what is on disk then is what a plain array reads; by rows, or in tiles. */
static void test_rounds(int kind, int request_side)
{
    enum { A = 700, B = 500 };
    int shapes[3][3] = {{A, B}, {B, A}, {10, A / 10, B}}, block[] = {7, 5, 3}, plain[] = {A, B};
    int chunk[] = {-1, -1}, lo[3] = {0}, hi[3], *shape = shapes[kind], n = kind == 2 ? 3 : 2;
    dra_size_t disk[] = {A, B}, typical[] = {request_side, request_side};
    dra_size_t dlo[2] = {0}, dhi[] = {A - 1, B - 1};
    char *path = dra_path("rounds"), tiles[300];
    static double value[A * B];
    int d, request, g = GA_Create_handle(), other = NGA_Create(C_DBL, 2, plain, "plain", chunk);
    GA_Set_data(g, n, shape, C_DBL);
    GA_Set_block_cyclic(g, block);
    CHECK(GA_Allocate(g));
    for (int i = 0; i < n; i++)
        hi[i] = shape[i] - 1;
    for (int i = 0; i < A * B; i++)
        value[i] = i + 0.5;
    if (dra_rank == 0)
        NGA_Put(g, lo, hi, value, shape + 1);
    GA_Sync();
    DRA_OK(NDRA_Create(C_DBL, 2, disk, "rounds", path, DRA_RW, typical, &d));
    DRA_OK(NDRA_Write_section(kind == 1, g, lo, hi, d, dlo, dhi, &request));
    DRA_OK(DRA_Wait(request));
    DRA_OK(NDRA_Read(other, d, &request));
    DRA_OK(DRA_Wait(request));
    NGA_Get(other, lo, (int[]){A - 1, B - 1}, value, plain + 1);
    for (int i = 0; i < A * B; i++)
        CHECK(value[i] == (kind == 1 ? i % B * A + i / B : i) + 0.5);
    GA_Zero(g);
    DRA_OK(NDRA_Read_section(kind == 1, g, lo, hi, d, dlo, dhi, &request));
    DRA_OK(DRA_Wait(request));
    NGA_Get(g, lo, hi, value, shape + 1);
    for (int i = 0; i < A * B; i++)
        CHECK(value[i] == i + 0.5);
    DRA_OK(DRA_Close(d));
    snprintf(tiles, sizeof tiles, "%s/c/0/0", path);
    CHECK_EQUAL(!access(tiles, F_OK), request_side > 0);
    DRA_OK(DRA_Open(path, DRA_R, &d));
    GA_Zero(g);
    DRA_OK(NDRA_Read_section(kind == 1, g, lo, hi, d, dlo, dhi, &request));
    DRA_OK(DRA_Wait(request));
    NGA_Get(g, lo, hi, value, shape + 1);
    for (int i = 0; i < A * B; i++)
        CHECK(value[i] == i + 0.5);
    DRA_OK(DRA_Delete(d));
    CHECK(access(path, F_OK));
    GA_Destroy(g);
    GA_Destroy(other);
}

static void test_gone(void)
{
    dra_size_t shape[] = {ROWS, COLUMNS}, typical[] = {-1, -1};
    for (int i = 0; i < 5; i++) {
        char *path = dra_path("gone"), label[300];
        int d;
        DRA_OK(NDRA_Create(C_DBL, 2, shape, "gone", path, DRA_RW, typical, &d));
        DRA_OK(DRA_Close(d));
        DRA_OK(DRA_Open(path, DRA_R, &d));
        DRA_OK(DRA_Delete(d));
        snprintf(label, sizeof label, "%s.dra", path);
        CHECK(access(path, F_OK) && access(label, F_OK));
    }
}

int main(int count, char **words)
{
    dra_begin(&count, &words);
    check_within(100);
    DRA_OK(DRA_Init(8, -1, -1, -1));
    test_kinds();
    test_gone();
    DRA_OK(DRA_Init(8, -1, -1, 3e5));
    for (int kind = 0; kind < 3; kind++)
        test_rounds(kind, kind ? 40 : -1);
    test_rounds(0, 40);
    DRA_OK(DRA_Terminate());
    check_within(0);
    dra_end();
    return 0;
}
