#include "dra/dra_support.h"

#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "weir/dra.h"

int dra_rank, dra_ranks;

void dra_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    GA_Initialize();
    MA_init(C_DBL, 100000, 100000);
    dra_rank = GA_Nodeid();
    dra_ranks = GA_Nnodes();
}

void dra_end(void)
{
    GA_Terminate();
    MPI_Finalize();
}

void dra_expect(int got, int code, const char *text, const char *call, const char *file, int line)
{
    if (got != code || (code && !strstr(weir_dra_error(), text)))
        fprintf(stderr, "rank %d: %s gave %d, \"%s\"\n", dra_rank, call, got, weir_dra_error());
    check_equal(got, code, call, file, line);
    if (code)
        check_that(strstr(weir_dra_error(), text), text, file, line);
}

uint64_t dra_same(uint64_t value)
{
    MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return value;
}

char *dra_path(const char *what)
{
    static char names[8][200];
    static uint64_t run, next;
    if (!run)
        run = dra_same((uint64_t)getpid());
    char *name = names[next++ % 8];
    snprintf(name, sizeof *names, "dra-%llu-%s", (unsigned long long)run, what);
    return name;
}
