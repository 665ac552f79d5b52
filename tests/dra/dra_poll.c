/* Progress without a thread, inside GA's synchronisation: this program is linked so that GA_Sync
 * is the door's, and calls nothing else of it until the array is written. */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <stdlib.h>

#include "check.h"
#include "dra/dra_support.h"

enum { N = 200 };

int main(int argc, char **argv)
{
    int dims[] = {N, N}, chunk[] = {-1, -1}, d_a, request, status = 0, rounds = 0;
    dra_size_t shape[] = {N, N}, typical[] = {-1, -1};
    double five = 5;
    setenv("WEIR_PROGRESS", "poll", 1);
    dra_begin(&argc, &argv);
    check_within(60);
    int g_a = NGA_Create(C_DBL, 2, dims, "g", chunk);
    GA_Fill(g_a, &five);
    DRA_OK(DRA_Init(1, -1, -1, -1));
    DRA_OK(NDRA_Create(C_DBL, 2, shape, "array", dra_path("poll"), DRA_RW, typical, &d_a));
    for (int write = 1; write >= 0; write--, status = 0) {
        if (!write)
            GA_Zero(g_a);
        DRA_OK(write ? NDRA_Write(g_a, d_a, &request) : NDRA_Read(g_a, d_a, &request));
        for (int i = 0; i < 200; i++)
            GA_Sync();
        DRA_OK(DRA_Probe(request, &status)); /* once: it is over by now */
        rounds += status == -1;
        DRA_OK(DRA_Wait(request));
    }
    CHECK_EQUAL(rounds, 2);
    int lo[] = {0, 0}, hi[] = {N - 1, N - 1}, ld[] = {N};
    double *got = malloc(sizeof *got * N * N);
    CHECK(got != NULL);
    NGA_Get(g_a, lo, hi, got, ld);
    for (int i = 0; i < N * N; i++)
        CHECK(got[i] == 5);
    free(got);
    GA_Sync();
    DRA_OK(DRA_Delete(d_a));
    DRA_OK(DRA_Terminate());
    check_within(0);
    dra_end();
    return 0;
}
