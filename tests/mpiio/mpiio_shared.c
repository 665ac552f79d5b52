/* The shared pointer with all ranks at it at once: every record is in the file once, whole, those
 * of a rank in the order it wrote them; ordered records are in the order of ranks, whoever comes
 * last. On one node and as if on several. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { RECORDS = 60, MOST = 40, SECONDS = 60 };

typedef struct record {
    int32_t rank, number, length, check;
    int32_t more[MOST];
} record;

static record make(int number)
{
    record r = {.rank = door_rank, .number = number, .length = (door_rank * 7 + number * 3) % MOST};
    r.check = r.rank * 1000003 + r.number;
    for (int i = 0; i < r.length; i++)
        r.more[i] = r.check + i;
    return r;
}

static int words(const record *r)
{
    return 4 + r->length;
}

/* A view of every second word, so that records lie in pieces. */
static void set_view(MPI_File fh, bool pieces)
{
    MPI_Datatype type = MPI_INT32_T, wide;
    if (pieces) {
        MPI_Type_create_resized(MPI_INT32_T, 0, 8, &wide);
        type = wide;
        MPI_Type_commit(&type);
    }
    CHECK_OK(MPI_File_set_view(fh, 4, MPI_INT32_T, type, "native", MPI_INFO_NULL));
    if (pieces)
        MPI_Type_free(&type);
}

/* Rank 0 reads them one after the other. */
static void check_records(MPI_File fh, bool ordered)
{
    int next[64] = {0}, last = -1;
    MPI_Offset at = 0;
    CHECK_OK(MPI_File_sync(fh));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; door_rank == 0 && i < RECORDS * door_ranks; i++) {
        record r;
        CHECK_OK(MPI_File_read_at(fh, at, &r, 4, MPI_INT32_T, MPI_STATUS_IGNORE));
        CHECK(r.rank >= 0 && r.rank < door_ranks && r.length >= 0 && r.length < MOST);
        CHECK_EQUAL(r.number, next[r.rank]++);
        CHECK_EQUAL(r.check, r.rank * 1000003 + r.number);
        CHECK_OK(MPI_File_read_at(fh, at + 4, r.more, r.length, MPI_INT32_T, MPI_STATUS_IGNORE));
        for (int k = 0; k < r.length; k++)
            CHECK_EQUAL(r.more[k], r.check + k);
        if (ordered)
            CHECK_EQUAL(r.rank, (last + 1) % door_ranks);
        last = r.rank;
        at += words(&r);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void write_records(MPI_File fh, bool ordered)
{
    for (int i = 0; i < RECORDS; i++) {
        record r = make(i);
        MPI_Request request;
        if (ordered && i % 2) {
            CHECK_OK(MPI_File_write_ordered_begin(fh, &r, words(&r), MPI_INT32_T));
            CHECK_OK(MPI_File_write_ordered_end(fh, &r, MPI_STATUS_IGNORE));
        } else if (ordered) {
            if (door_rank == i % door_ranks)
                usleep(100); /* not by luck */
            CHECK_OK(MPI_File_write_ordered(fh, &r, words(&r), MPI_INT32_T, MPI_STATUS_IGNORE));
        } else if (i % 3) {
            CHECK_OK(MPI_File_write_shared(fh, &r, words(&r), MPI_INT32_T, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_File_iwrite_shared(fh, &r, words(&r), MPI_INT32_T, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
}

/* Every word is read by one rank; past the end there is nothing, but the pointer moves on. */
static void read_all_words(MPI_File fh, bool ordered)
{
    int64_t sums[2] = {0}, all[2];
    int count = 1;
    MPI_Offset at = -1;
    CHECK_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    for (int round = 0; ordered ? round < RECORDS * (MOST + 4) / 11 : count > 0; round++) {
        int32_t found[11] = {0};
        MPI_Status status;
        if (ordered)
            CHECK_OK(MPI_File_read_ordered(fh, found, 11, MPI_INT32_T, &status));
        else
            CHECK_OK(MPI_File_read_shared(fh, found, 11, MPI_INT32_T, &status));
        MPI_Get_count(&status, MPI_INT32_T, &count);
        for (int k = 0; k < count; k++)
            sums[0] += found[k];
        sums[1] += count;
    }
    MPI_Allreduce(sums, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    int64_t wanted[2] = {0}, total[2];
    for (int i = 0; i < RECORDS; i++) {
        record r = make(i);
        const int32_t *word = &r.rank;
        for (int k = 0; k < words(&r); k++)
            wanted[0] += word[k];
        wanted[1] += words(&r);
    }
    MPI_Allreduce(wanted, total, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(all[1], total[1]);
    CHECK_EQUAL(all[0], total[0]);
    CHECK_OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at > total[1]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Whoever is in another folder when it first uses the pointer finds the same one. */
static void test_folder(MPI_File fh)
{
    char here[1000];
    int32_t word = door_rank;
    MPI_Offset at = -1;
    CHECK(getcwd(here, sizeof here));
    if (door_rank == 1)
        CHECK(!chdir("/"));
    CHECK_OK(MPI_File_write_shared(fh, &word, 1, MPI_INT32_T, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_get_position_shared(fh, &at));
    CHECK_EQUAL(at, 4 * door_ranks);
    CHECK(!chdir(here));
}

static void check_nothing_left(const char *path)
{
    glob_t found;
    char pattern[1000];
    snprintf(pattern, sizeof pattern, "%s.pointers-*", path);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
    globfree(&found);
}

/* A position belongs to its view; no file is left behind. */
static void test_views(MPI_File fh)
{
    MPI_Offset at = -1;
    int32_t word = 5;
    for (int i = 0; i < 40; i++) {
        set_view(fh, i % 2);
        CHECK_OK(MPI_File_write_ordered(fh, &word, 1, MPI_INT32_T, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_get_position_shared(fh, &at));
        CHECK_EQUAL(at, door_ranks);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void run(MPI_Comm comm, const char *hints)
{
    MPI_File fh;
    MPI_Info info = door_info(hints);
    const int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    const char *path = door_path("shared");
    CHECK_OK(MPI_File_open(comm, path, amode, info, &fh));
    MPI_Info_free(&info);
    test_folder(fh);
    for (int pieces = 0; pieces < 2; pieces++)
        for (int ordered = 0; ordered < 2; ordered++) {
            check_within(SECONDS);
            MPI_Barrier(comm);
            CHECK_OK(MPI_File_set_size(fh, 0));
            set_view(fh, pieces);
            write_records(fh, ordered);
            check_records(fh, ordered);
            read_all_words(fh, ordered);
        }
    test_views(fh);
    CHECK_CLASS(MPI_File_seek_shared(fh, door_rank, MPI_SEEK_SET),
                door_ranks > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS);
    CHECK_CLASS(MPI_File_seek_shared(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_OK(MPI_File_close(&fh));
    check_nothing_left(path);
}

static void test_sequential(void)
{
    MPI_File fh;
    char letter = (char)('a' + door_rank), found = 0;
    const char *path = door_path("tape");
    MPI_Status status;
    int count = -1;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path,
                           MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL,
                           &fh));
    CHECK_OK(MPI_File_write_ordered(fh, &letter, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native",
                               MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_ordered(fh, &letter, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path,
                           MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &fh));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_File_read_ordered(fh, &found, 1, MPI_BYTE, &status));
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQUAL(count, round < 2);
        CHECK(round == 2 || found == letter);
    }
    CHECK_OK(MPI_File_close(&fh));
}

int main(int argc, char **argv)
{
    static const char *const per_node[] = {"0", "1", "2"};
    door_begin(&argc, &argv);
    CHECK(door_ranks <= 64);
    for (int i = 0; i < 3; i++) {
        MPI_Comm comm;
        setenv("WEIR_RANKS_PER_NODE", per_node[i], 1);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        run(comm, i == 2 ? "weir_collective=always" : "");
        MPI_Comm_free(&comm);
    }
    test_sequential();
    check_within(0);
    MPI_Finalize();
    return 0;
}
