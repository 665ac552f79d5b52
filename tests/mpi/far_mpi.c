/* Offsets past 4 GiB in a real sparse file, and more than 2 GiB in one call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "check.h"
#include "engine/far_cases.h"
#include "weir_mpi.h"

/* More than 2 GiB, and more than Linux moves in one call; ends in the middle of a page. */
enum { MARK = 5000, TAIL = 4096 + 77, PAST = 1000, SHARED = 4 << 20, PAGE = 4096 };
static const int64_t large = (INT64_C(1) << 31) + TAIL, middle = INT64_C(1) << 31;

static int rank;
static wr_world *world;
static char path[100], shm_path[100];

/* Whether the file system of the working folder has files of this size. */
static bool allowed(int64_t size)
{
    int fits = 1;
    if (rank == 0) {
        FILE *f = fopen(path, "w");
        CHECK(f);
        fits = !ftruncate(fileno(f), size);
        CHECK(!fclose(f) && !unlink(path));
        if (!fits)
            printf("no files of %lld bytes here: left out\n", (long long)size);
    }
    MPI_Bcast(&fits, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return fits;
}

static void test_far(void)
{
    static const char *const hints[] = {
        "collective=always;storage=posix", "collective=always;access=sieve;storage=uring",
        "collective=always;exchange=p2p;realms=cyclic;storage=pool"};
    static const int bits[] = {32, 40, 42};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            int64_t base = INT64_C(1) << bits[i];
            if (!allowed(base + base / 2))
                return;
            check_within(60);
            check_far(world, path, hints[k], base);
        }
    if (rank == 0)
        unlink(path);
}

/* `large` bytes of address space over little memory: all but the parts with marks are the same
 * SHARED bytes again and again. */
static char *map_large(void)
{
    int fd = memfd_create("far-mpi", MFD_CLOEXEC);
    char *base = mmap(NULL, (size_t)(large + PAGE), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(fd >= 0 && !ftruncate(fd, SHARED) && base != MAP_FAILED);
    for (int64_t at = SHARED; at + SHARED < middle; at += SHARED)
        CHECK(mmap(base + at, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
              MAP_FAILED);
    close(fd);
    return base;
}

/* Where the file holds something else than zeros. */
static const int64_t marks[] = {0, 100000, middle - MARK / 2, large - 99};

static char mark_byte(int64_t offset)
{
    return (char)(1 + offset * 31 % 125);
}

static int64_t mark_end(int mark)
{
    return marks[mark] + MARK < large ? marks[mark] + MARK : large;
}

/* Rank 0 moves all of it in one call, and reads past the end; the others move a few bytes that are
 * part of it. */
static void move_large(weir_file *f, bool write, char *base)
{
    weir_pattern *where, *memory;
    int64_t bytes = rank == 0 ? large : MARK, past = write || rank ? 0 : PAST, count = -1;
    CHECK(!weir_pattern_contiguous(rank == 0 ? 0 : marks[2], bytes + past, &where));
    CHECK(!weir_pattern_contiguous(0, bytes + past, &memory));
    check_within(120);
    int code = write ? weir_file_write_all(f, where, memory, base, &count, NULL)
                     : weir_file_read_all(f, where, memory, base, &count, NULL);
    CHECK_EQUAL(code, 0);
    CHECK_EQUAL(count, bytes);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

static void set_marks(char *base, int64_t origin)
{
    for (int i = 0; i < 4; i++)
        for (int64_t k = marks[i]; k < mark_end(i); k++)
            if (rank == 0 || i == 2)
                base[k - origin] = mark_byte(k);
}

static void check_marks(const char *base, int64_t origin)
{
    for (int i = 0; i < 4; i++)
        for (int64_t k = marks[i]; k < mark_end(i); k++)
            if (rank == 0 || i == 2)
                CHECK_EQUAL(base[k - origin], mark_byte(k));
    for (int64_t k = MARK; k < 100000 && rank == 0; k++)
        CHECK_EQUAL(base[k], 0);
}

static void make_marks(void)
{
    FILE *f = fopen(shm_path, "w");
    CHECK(f && !ftruncate(fileno(f), large));
    for (int i = 0; i < 4; i++) {
        CHECK(!fseeko(f, marks[i], SEEK_SET));
        for (int64_t k = marks[i]; k < mark_end(i); k++)
            CHECK(putc(mark_byte(k), f) != EOF);
    }
    CHECK(!fclose(f));
}

static void test_large_read(const char *hints)
{
    weir_file *f;
    char small[MARK], *base = rank == 0 ? map_large() : small;
    if (rank == 0)
        make_marks();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!wr_file_open(world, shm_path, WEIR_READ, hints, &f));
    move_large(f, false, base);
    check_marks(base, rank == 0 ? 0 : marks[2]);
    CHECK(!weir_file_close(f));
    if (rank == 0)
        CHECK(!munmap(base, (size_t)(large + PAGE)) && !unlink(shm_path));
}

/* Takes as much of the disk for a moment. */
static void test_large_write(const char *hints)
{
    struct statvfs v;
    weir_file *f;
    CHECK(!statvfs(".", &v));
    if ((int64_t)v.f_bavail * (int64_t)v.f_frsize < 3 * large) {
        printf("no room for %lld bytes here: left out\n", (long long)large);
        return;
    }
    char small[MARK], *base = rank == 0 ? map_large() : small;
    CHECK(!wr_file_open(world, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &f));
    set_marks(base, rank == 0 ? 0 : marks[2]);
    move_large(f, true, base);
    memset(small, 0, sizeof small);
    for (int i = 0; i < 4 && rank == 0; i++)
        memset(base + marks[i], 0, (size_t)(mark_end(i) - marks[i]));
    move_large(f, false, base);
    check_marks(base, rank == 0 ? 0 : marks[2]);
    CHECK(!weir_file_close(f));
    if (rank == 0)
        CHECK(!munmap(base, (size_t)(large + PAGE)) && !unlink(path));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int number = (int)getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "far-mpi-%d.bin", number);
    /* a sparse file there takes no memory when it is read */
    snprintf(shm_path, sizeof shm_path, "%s/far-mpi-%d.bin",
             access("/dev/shm", W_OK) ? "." : "/dev/shm", number);
    CHECK(!wr_world_get(MPI_COMM_WORLD, &world));
    test_far();
    test_large_read("collective=always");
    test_large_read("collective=never");
    if (test_long()) {
        test_large_read("collective=always;exchange=p2p");
        test_large_read("collective=always;access=list;realms=cyclic;window=1M");
        test_large_write("collective=always");
        test_large_write("collective=never");
        test_large_write("collective=always;exchange=p2p");
    }
    MPI_Finalize();
    return 0;
}
