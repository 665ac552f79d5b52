/* Random calls of shared files against an array of bytes: in a round each rank writes blocks of its
 * own, many under way; after it each reads anything. Then promises at the edges. */
#include <ga-mpi.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <sf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { BLOCK = 5000, BLOCKS = 120, WHOLE = BLOCK * BLOCKS, MOST = 3 * BLOCK };
enum { PENDING = 40, ROUNDS = 6 };
enum { END = -1977, NO_WRITE = -1999, NO_HANDLE = -1994, NOT_OPEN = -1990, FAILED = 1 };

static int rank, ranks;

/* The same on all ranks, so that each knows what the others write. */
static unsigned char content(uint64_t seed, int round, int64_t at)
{
    rng r = {seed + (uint64_t)round * 1000003 + (uint64_t)at};
    return (unsigned char)rng_next(&r);
}

/* Which round wrote a block last, and who writes it in a round. */
static bool is_written(uint64_t seed, int round, int block)
{
    rng r = {seed ^ (uint64_t)(round * BLOCKS + block)};
    return rng_chance(&r, 60);
}

static int writer(int round, int block)
{
    return (block + round) % ranks;
}

static int last_round(uint64_t seed, int rounds, int block)
{
    int round = rounds;
    while (round >= 0 && !is_written(seed, round, block))
        round--;
    return round;
}

static void write_round(int handle, uint64_t seed, int round)
{
    int ids[PENDING], pending = 0;
    static char memory[PENDING][BLOCK];
    for (int block = 0; block < BLOCKS; block++) {
        if (!is_written(seed, round, block) || writer(round, block) != rank)
            continue;
        if (pending == PENDING) {
            CHECK_EQUAL(SF_Waitall(ids, pending), 0);
            pending = 0;
        }
        double at = (double)block * BLOCK;
        for (int i = 0; i < BLOCK; i++)
            memory[pending][i] = (char)content(seed, round, (int64_t)at + i);
        CHECK_EQUAL(SF_Write(handle, at, BLOCK, memory[pending], &ids[pending]), 0);
        pending++;
    }
    CHECK_EQUAL(SF_Waitall(ids, pending), 0);
    for (int i = 0; i < pending; i++)
        CHECK_EQUAL(ids[i], -1);
}

static void read_some(int handle, uint64_t seed, int rounds, rng *r)
{
    static char memory[MOST];
    int64_t size = 0;
    for (int block = 0; block < BLOCKS; block++)
        size = last_round(seed, rounds, block) >= 0 ? (int64_t)(block + 1) * BLOCK : size;
    for (int i = 0; i < 20; i++) {
        int64_t at = rng_within(r, 0, WHOLE), bytes = rng_within(r, 1, MOST);
        int id = 0, ends = at + bytes > size;
        CHECK_EQUAL(SF_Read(handle, (double)at, (double)bytes, memory, &id), 0);
        CHECK_EQUAL(SF_Wait(&id), ends ? END : 0);
        for (int64_t k = 0; k < bytes && at + k < size; k++) {
            int round = last_round(seed, rounds, (int)((at + k) / BLOCK));
            unsigned char wanted = round < 0 ? 0 : content(seed, round, at + k);
            CHECK_EQUAL((unsigned char)memory[k], wanted);
        }
    }
}

static void run_model(uint64_t seed)
{
    rng own = {seed + (uint64_t)rank};
    char name[] = "sf_model";
    int handle = 0;
    CHECK_EQUAL(SF_Create(name, 1e9, 1e8, 1e4, &handle), 0);
    CHECK(handle < 0);
    for (int round = 0; round < ROUNDS; round++) {
        check_case(round);
        write_round(handle, seed, round);
        GA_Sync();
        if (round == ROUNDS / 2) {
            CHECK_EQUAL(SF_Close(handle), 0);
            CHECK_EQUAL(SF_Open(handle), 0);
        }
        read_some(handle, seed, round, &own);
        GA_Sync();
    }
    CHECK_EQUAL(SF_Destroy(handle), 0);
    CHECK(access("sf_model.0", F_OK));
    check_case(-1);
}

static void test_handles(void)
{
    char name[] = "sf_edge", nowhere[] = "no/such/folder/sf", text[80], memory[8] = "1234567";
    int handle = 3, id = 4, ids[2];
    CHECK_EQUAL(SF_Create(nowhere, 0, 0, 0, &handle), NOT_OPEN);
    SF_Errmsg(NOT_OPEN, text);
    CHECK(strstr(text, "No such file or directory"));
    CHECK_EQUAL(SF_Destroy(-3000), NO_HANDLE);
    CHECK_EQUAL(SF_Write(12345, 0, 8, memory, &id), NO_HANDLE);
    CHECK_EQUAL(SF_Open(0), NO_HANDLE);
    CHECK_EQUAL(SF_Create(name, 0, 0, 0, &handle), 0);
    CHECK_EQUAL(SF_Write(handle, -1, 8, memory, &id), -2000);
    CHECK_EQUAL(SF_Write(handle, 0, -8, memory, &id), -2000);
    CHECK_EQUAL(SF_Write(handle, rank * 8, 8, memory, &id), 0);
    CHECK_EQUAL(SF_Wait(&id), 0);
    CHECK_EQUAL(id, -1);
    CHECK_EQUAL(SF_Wait(&id), 0);
    CHECK_EQUAL(SF_Fsync(handle), 0);
    CHECK_EQUAL(SF_Close(handle), 0);
    CHECK_EQUAL(SF_Read(handle, 0, 8, memory, &id), NO_HANDLE);
    CHECK_EQUAL(SF_Rwtor(handle), 0);
    CHECK_EQUAL(SF_Write(handle, 0, 8, memory, &id), NO_WRITE);
    CHECK_EQUAL(SF_Read(handle, 1e6, 8, memory, &ids[0]), 0);
    CHECK_EQUAL(SF_Read(handle, rank * 8, 8, memory, &ids[1]), 0);
    CHECK_EQUAL(SF_Waitall(ids, 2), FAILED);
    SF_Errmsg(FAILED, text);
    CHECK(strstr(text, "shorter"));
    CHECK_EQUAL(SF_Destroy(handle), 0);
    CHECK_EQUAL(SF_Close(handle), NO_HANDLE);
}

/* With a suffix of the program's own a file is found as it was left. */
static void test_suffix(void)
{
    char name[] = "sf_kept", memory[8] = "1234567", got[8] = "";
    int handle, id;
    CHECK_EQUAL(SF_Create_suffix(name, 0, 0, 0, &handle, 4711), 0);
    CHECK_EQUAL(SF_Write(handle, rank * 8, 8, memory, &id), 0);
    CHECK_EQUAL(SF_Wait(&id), 0);
    if (rank == 0)
        CHECK_EQUAL(rename("sf_kept.4711", "sf_kept.12"), 0);
    CHECK_EQUAL(SF_Destroy(handle), 0); /* nothing left to remove */
    CHECK_EQUAL(SF_Create_suffix(name, 0, 0, 0, &handle, 12), 0);
    CHECK_EQUAL(SF_Read(handle, (ranks - 1 - rank) * 8, 8, got, &id), 0);
    CHECK_EQUAL(SF_Wait(&id), 0);
    CHECK(!memcmp(got, memory, 8));
    CHECK_EQUAL(SF_Destroy(handle), 0);
    CHECK(access("sf_kept.12", F_OK));
}

static void test_many(void)
{
    enum { MANY = 150 };
    int handles[MANY], id;
    char name[] = "sf_many";
    for (int i = 0; i < MANY; i++) {
        CHECK_EQUAL(SF_Create(name, 0, 0, 0, &handles[i]), 0);
        CHECK_EQUAL(SF_Write(handles[i], rank * 4, 4, (char *)&i, &id), 0);
        CHECK_EQUAL(SF_Wait(&id), 0);
    }
    for (int i = 0, got = -1; i < MANY; i++) {
        CHECK_EQUAL(SF_Read(handles[i], rank * 4, 4, (char *)&got, &id), 0);
        CHECK_EQUAL(SF_Wait(&id), 0);
        CHECK_EQUAL(got, i);
        CHECK_EQUAL(SF_Destroy(handles[i]), 0);
    }
}

/* Two groups that create files at the same time, with different numbers taken. */
static void test_groups(void)
{
    char name[32], memory[8] = "1234567";
    int handle, own = -1, id, list[64], count = 0, was = GA_Pgroup_get_default();
    for (int i = rank % 2; i < ranks; i += 2)
        list[count++] = i;
    int group = GA_Pgroup_create(list, count);
    GA_Pgroup_set_default(group);
    snprintf(name, sizeof name, "sf_group%d", rank % 2);
    CHECK_EQUAL(SF_Create(name, 0, 0, 0, &handle), 0);
    if (rank % 2 == 0)
        CHECK_EQUAL(SF_Create(name, 0, 0, 0, &own), 0);
    GA_Pgroup_set_default(was);
    int together;
    snprintf(name, sizeof name, "sf_all");
    CHECK_EQUAL(SF_Create(name, 0, 0, 0, &together), 0);
    CHECK_EQUAL(SF_Write(together, rank * 8, 8, memory, &id), 0);
    CHECK_EQUAL(SF_Wait(&id), 0);
    CHECK_EQUAL(SF_Destroy(together), 0);
    GA_Pgroup_set_default(group);
    CHECK_EQUAL(SF_Destroy(handle), 0);
    if (rank % 2 == 0)
        CHECK_EQUAL(SF_Destroy(own), 0);
    GA_Pgroup_set_default(was);
    GA_Pgroup_destroy(group);
}

/* A file is opened again and removed where it was created, whatever folder the program is in. */
static void test_folders(void)
{
    int handle, id, got = -1;
    if (rank == 0)
        CHECK(!mkdir("sf_folder", 0777));
    GA_Sync();
    CHECK_EQUAL(SF_Create("sf_moved", 0, 0, 0, &handle), 0);
    CHECK_EQUAL(SF_Write(handle, rank * 4, 4, (char *)&rank, &id), 0);
    CHECK_EQUAL(SF_Wait(&id), 0);
    CHECK_EQUAL(SF_Close(handle), 0);
    CHECK(!chdir("sf_folder"));
    CHECK_EQUAL(SF_Open(handle), 0);
    CHECK_EQUAL(SF_Read(handle, rank * 4, 4, (char *)&got, &id), 0);
    CHECK_EQUAL(SF_Wait(&id), 0);
    CHECK_EQUAL(got, rank);
    CHECK_EQUAL(SF_Destroy(handle), 0);
    CHECK(!chdir(".."));
    CHECK_EQUAL(system("! ls sf_moved.* sf_folder/* >/dev/null 2>&1"), 0);
    GA_Sync();
    if (rank == 0)
        CHECK(!rmdir("sf_folder"));
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    GA_Initialize();
    MA_init(C_DBL, 10000, 10000);
    rank = GA_Nodeid();
    ranks = GA_Nnodes();
    uint64_t seed = rank ? 0 : test_seed();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, GA_MPI_Comm());
    remove("sf_model.0"); /* what is there is kept, and a test that failed leaves it */
    GA_Sync();
    check_within(120);
    run_model(seed);
    test_handles();
    test_suffix();
    if (ranks <= 2) /* each is several collective calls, slow where ranks share cores */
        test_many();
    test_groups();
    test_folders();
    check_within(0);
    GA_Terminate();
    MPI_Finalize();
    return 0;
}
