/* A rank is killed in the middle of a write; another run finds what is left.
 * usage: dra_killed kill|check FOLDER */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dra/dra_support.h"
#include "weir/error.h"

enum { N = 300 };

static char older[300], fresh[300], opened[300];

static int make(double value)
{
    int dims[] = {N, N}, chunk[] = {-1, -1};
    int g_a = NGA_Create(C_DBL, 2, dims, "g", chunk);
    GA_Fill(g_a, &value);
    return g_a;
}

static int create(char *file)
{
    int d_a;
    dra_size_t dims[] = {N, N};
    DRA_OK(NDRA_Create(C_DBL, 2, dims, "array", file, DRA_RW, dims, &d_a));
    return d_a;
}

static void store(char *file, int g_a)
{
    int request, d_a = create(file);
    DRA_OK(NDRA_Write(g_a, d_a, &request));
    DRA_OK(DRA_Wait(request));
    DRA_OK(DRA_Close(d_a));
}

/* The storage is so slow that neither write is over when the last rank is killed. */
static void die(void)
{
    int request[2], g_a = make(1), other, d_a;
    store(older, g_a);
    store(opened, g_a);
    DRA_OK(DRA_Terminate());
    setenv("WEIR_FAULT", "bandwidth:1", 1);
    setenv("WEIR_WINDOW", "64K", 1);
    DRA_OK(DRA_Init(-1, -1, -1, -1));
    d_a = create(fresh);
    DRA_OK(DRA_Open(opened, DRA_RW, &other));
    double two = 2;
    GA_Fill(g_a, &two);
    DRA_OK(NDRA_Write(g_a, d_a, &request[0]));
    DRA_OK(NDRA_Write(g_a, other, &request[1]));
    if (dra_rank == dra_ranks - 1)
        raise(SIGKILL);
    DRA_Wait(request[0]);
    DRA_Wait(request[1]);
}

static void look(void)
{
    int d_a, request, g_a = make(0), lo[] = {0, 0}, hi[] = {N - 1, N - 1}, ld[] = {N};
    double *got = malloc(sizeof *got * N * N);
    CHECK(got != NULL);
    DRA_FAILS(DRA_Open(fresh, DRA_R, &d_a), WEIR_EFORMAT, "incomplete");
    DRA_FAILS(DRA_Open(opened, DRA_R, &d_a), WEIR_EFORMAT, "incomplete");
    DRA_OK(DRA_Open(older, DRA_R, &d_a));
    DRA_OK(NDRA_Read(g_a, d_a, &request));
    DRA_OK(DRA_Wait(request));
    NGA_Get(g_a, lo, hi, got, ld);
    for (int i = 0; i < N * N; i++)
        CHECK(got[i] == 1);
    free(got);
    DRA_OK(DRA_Close(d_a));
    store(fresh, g_a); /* what was left is in nobody's way */
    DRA_OK(DRA_Open(fresh, DRA_R, &d_a));
}

int main(int argc, char **argv)
{
    dra_begin(&argc, &argv);
    check_within(60);
    snprintf(older, sizeof older, "%s/older", argv[2]);
    snprintf(fresh, sizeof fresh, "%s/fresh", argv[2]);
    snprintf(opened, sizeof opened, "%s/opened", argv[2]);
    DRA_OK(DRA_Init(-1, -1, -1, -1));
    if (strcmp(argv[1], "kill") == 0)
        die();
    else
        look();
    DRA_OK(DRA_Terminate());
    check_within(0);
    dra_end();
    return 0;
}
