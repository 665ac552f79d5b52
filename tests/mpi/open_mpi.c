/* Opening by ranks of one host or several: what is shared is one file, what each host has in its
 * own /dev/shm is not. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "weir/weir.h"

enum { PIECE = 1000 };

static int rank, ranks, local_rank, hosts;

static void find_hosts(void)
{
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_rank);
    MPI_Comm_free(&node);
    int first = local_rank == 0;
    MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* What all wrote together each reads alone, by the name or without it. */
static void use(const char *path, bool loses_name)
{
    char memory[PIECE];
    weir_file *f;
    weir_pattern *where, *all;
    int64_t size;
    CHECK(!weir_pattern_contiguous((int64_t)rank * PIECE, PIECE, &where));
    CHECK(!weir_pattern_contiguous(0, PIECE, &all));
    CHECK(!weir_file_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, NULL, &f));
    memset(memory, 'a' + rank, sizeof memory);
    CHECK(!weir_file_write_all(f, where, all, memory, NULL, NULL));
    CHECK(!weir_file_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    if (loses_name && rank == 0)
        CHECK(!unlink(path));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!weir_file_get_size(f, &size));
    CHECK_EQUAL(size, (int64_t)ranks * PIECE);
    memset(memory, 0, sizeof memory);
    CHECK(!weir_file_read(f, where, all, memory, NULL, NULL));
    for (int i = 0; i < PIECE; i++)
        CHECK_EQUAL(memory[i], 'a' + rank);
    CHECK(!weir_file_close(f));
    if (!loses_name && rank == 0)
        CHECK(!unlink(path));
    weir_pattern_free(where);
    weir_pattern_free(all);
}

/* Each host makes its own. */
static void use_own(const char *path)
{
    weir_file *f;
    int fd = local_rank ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(local_rank || (fd >= 0 && write(fd, "x", 1) == 1 && !close(fd)));
    MPI_Barrier(MPI_COMM_WORLD);
    int code = weir_file_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE, NULL, &f);
    if (hosts > 1)
        CHECK_FAILS(code, WEIR_EDISAGREE, "have different files of this name");
    else
        CHECK(!code && !weir_file_close(f));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(local_rank || !unlink(path));
}

int main(int argc, char **argv)
{
    char shared[300], own[100];
    int number = getpid();
    MPI_Init(&argc, &argv);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(shared, sizeof shared, "%s/open-mpi-%d", argc > 1 ? argv[1] : ".", number);
    snprintf(own, sizeof own, "/dev/shm/open-mpi-%d", number);
    check_within(60);
    find_hosts();
    use(shared, false);
    if (argc == 1) /* of other file systems what is removed may be gone */
        use(shared, true);
    use_own(own);
    MPI_Finalize();
    return 0;
}
