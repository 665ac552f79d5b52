/* Patterns between ranks: each rank sends a random pattern and its packed data to the next one,
 * which attaches it, unpacks and compares with what the sender must have had (all ranks know the
 * seed). */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#include "pattern/pattern.h"
#include "pattern/random_pattern.h"

enum { CASES = 50, SPAN = 2 * MODEL_SPAN };

static int rank, ranks;

static modelled pattern_of(uint64_t seed, int of, int number)
{
    rng r = {seed + (uint64_t)(of * CASES + number) * UINT64_C(2654435761)};
    return random_pattern(&r, 4, number % 2);
}

static void fill(char *memory, int of)
{
    for (int i = 0; i < SPAN; i++)
        memory[i] = (char)(i * 31 + of * 17 + i / 251);
}

/* Zeroes what the pattern does not touch. */
static void keep_only(const modelled *m, char *memory)
{
    static char touched[SPAN];
    memset(touched, 0, sizeof touched);
    for (int64_t i = 0; i < m->bytes; i++)
        touched[MODEL_SPAN + m->offset[i]] = 1;
    for (int i = 0; i < SPAN; i++)
        memory[i] = touched[i] ? memory[i] : 0;
}

/* Lengths fit an int: at most a few thousand bytes each. */
static void exchange(const void *out, int size, void *in, int room, int *got)
{
    MPI_Status status;
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Sendrecv(out, size, MPI_BYTE, next, 0, in, room, MPI_BYTE, before, 0, MPI_COMM_WORLD,
                 &status);
    MPI_Get_count(&status, MPI_BYTE, got);
}

static void check_one(uint64_t seed, int number)
{
    static char memory[SPAN], wanted[SPAN], data[MODEL_BYTES], received[MODEL_BYTES];
    static _Alignas(max_align_t) char block[1 << 20];
    modelled mine = pattern_of(seed, rank, number);
    modelled theirs = pattern_of(seed, (rank + ranks - 1) % ranks, number);
    int got;
    fill(memory, rank);
    CHECK(!weir_pattern_pack(mine.pattern, 0, mine.bytes, memory + MODEL_SPAN, data));
    exchange(mine.pattern, (int)weir_pattern_footprint(mine.pattern), block, sizeof block, &got);
    weir_pattern attached = wr_pattern_attach(block);
    CHECK_EQUAL(got, weir_pattern_footprint(&attached));
    CHECK(wr_hash_equal(attached.hash, theirs.pattern->hash));
    exchange(data, (int)mine.bytes, received, sizeof received, &got);
    CHECK_EQUAL(got, weir_pattern_bytes(&attached));
    fill(wanted, (rank + ranks - 1) % ranks);
    keep_only(&theirs, wanted);
    memset(memory, 0, sizeof memory);
    CHECK(!weir_pattern_unpack(&attached, 0, got, memory + MODEL_SPAN, received));
    CHECK(!memcmp(memory, wanted, sizeof memory));
    modelled_free(&mine);
    modelled_free(&theirs);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t seed = rank == 0 ? test_seed() : 0;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < CASES; i++) {
        check_case(i);
        check_one(seed, i);
    }
    MPI_Finalize();
    return 0;
}
