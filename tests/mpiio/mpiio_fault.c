/* Storage that fails under the door: a limit on the size of files, a full file system, faults by
 * hint and by the environment. Every rank returns the same class of the standard in time, with a
 * text that names file and cause; what was counted is in the file, or in memory; and the file can
 * be used on. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { PIECE = 512, ROWS = 32, BYTES = ROWS * PIECE, GAP = 64, ROUNDS = 8, MOST_RANKS = 16 };

/* Row i of rank r lies at base + i * row + r * PIECE, with a gap behind each row. */
typedef struct scene {
    MPI_File fh;
    char path[200];
    int64_t base, row;
    bool write, filled; /* filled: the file has its old bytes everywhere; otherwise nothing */
    int code, class;
    int64_t counts[MOST_RANKS];
} scene;

static char new_byte(int rank, int64_t k)
{
    return (char)(k * 13 + k / 256 + rank * 3 + 2);
}

static int64_t place_of(const scene *s, int rank, int64_t k)
{
    return k / PIECE * s->row + rank * PIECE + k % PIECE;
}

static void open_file(scene *s, const char *hints)
{
    MPI_Datatype rows;
    MPI_Info info = door_info(hints);
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, s->path, amode, info, &s->fh));
    MPI_Info_free(&info);
    MPI_Type_create_hvector(ROWS, PIECE, (MPI_Aint)s->row, MPI_BYTE, &rows);
    MPI_Type_commit(&rows);
    CHECK_OK(MPI_File_set_view(s->fh, s->base + door_rank * PIECE, MPI_BYTE, rows, "native",
                               MPI_INFO_NULL));
    MPI_Type_free(&rows);
}

static void close_file(scene *s, bool keep)
{
    CHECK_OK(MPI_File_close(&s->fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (door_rank == 0 && !keep)
        CHECK(!unlink(s->path));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* New where it was counted; new or old, which may be nothing, elsewhere. */
static void check_file(const scene *s)
{
    struct stat about;
    int fd = open(s->path, O_RDONLY);
    CHECK(fd >= 0 && !fstat(fd, &about));
    int64_t size = ROWS * s->row;
    char *found = calloc((size_t)size, 1);
    CHECK(found && pread(fd, found, (size_t)size, s->base) >= 0);
    for (int64_t i = 0; i < size; i++) {
        int of = (int)(i % s->row / PIECE);
        int64_t k = i / s->row * PIECE + i % s->row % PIECE;
        bool touched = of < door_ranks && s->write, must = touched && k < s->counts[of];
        bool is_new = touched && found[i] == new_byte(of, k);
        CHECK(is_new || (!must && found[i] == (s->filled ? door_byte(i) : 0)));
        CHECK(!must || s->base + i < about.st_size);
    }
    free(found);
    close(fd);
}

/* [collective] One access of all ranks; all know how it went. */
static void access_together(scene *s)
{
    static char data[BYTES];
    MPI_Status status;
    MPI_Count count = -1;
    for (int64_t k = 0; k < BYTES; k++)
        data[k] = s->write ? new_byte(door_rank, k) : 0;
    check_within(5);
    s->code = s->write ? MPI_File_write_at_all(s->fh, 0, data, BYTES, MPI_BYTE, &status)
                       : MPI_File_read_at_all(s->fh, 0, data, BYTES, MPI_BYTE, &status);
    check_within(60);
    s->class = MPI_SUCCESS;
    if (s->code != MPI_SUCCESS)
        MPI_Error_class(s->code, &s->class);
    door_check_same(s->class);
    MPI_Get_elements_x(&status, MPI_BYTE, &count);
    CHECK(count >= 0 && count <= BYTES && (s->code != MPI_SUCCESS || count == BYTES));
    for (int64_t k = 0; k < count && !s->write; k++)
        CHECK(data[k] == door_byte(place_of(s, door_rank, k)));
    int64_t own = count;
    MPI_Allgather(&own, 1, MPI_INT64_T, s->counts, 1, MPI_INT64_T, MPI_COMM_WORLD);
    if (door_rank == 0)
        check_file(s);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int64_t counted(const scene *s)
{
    int64_t sum = 0;
    for (int q = 0; q < door_ranks; q++)
        sum += s->counts[q];
    return sum;
}

/* [collective] Files may not be larger than that on the victim, or -1 for all. */
static void limit_size(int64_t bytes, int victim)
{
    struct rlimit now;
    CHECK(!getrlimit(RLIMIT_FSIZE, &now));
    now.rlim_cur = bytes >= 0 && (victim < 0 || victim == door_rank) ? (rlim_t)bytes : now.rlim_max;
    CHECK(!setrlimit(RLIMIT_FSIZE, &now));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* In the third of eight rounds; far out, so that nothing else is as large. */
static void test_size_limit(int aggregators, int victim, const char *more)
{
    char hints[300];
    scene s = {.base = 64 << 20, .row = door_ranks * PIECE + GAP, .write = true};
    snprintf(s.path, sizeof s.path, "%s", door_path("limit"));
    int64_t window = ROWS * s.row / ROUNDS / aggregators;
    snprintf(hints, sizeof hints, "romio_cb_write=enable;cb_nodes=%d;weir_window=%lld;%s",
             aggregators, (long long)window, more);
    open_file(&s, hints);
    limit_size(s.base + window * 5 / 2, victim);
    access_together(&s);
    limit_size(-1, -1);
    if (victim < 0) {
        CHECK_EQUAL(s.class, MPI_ERR_NO_SPACE);
        CHECK(counted(&s) <= window * 5 / 2);
        CHECK(aggregators > 1 || counted(&s) >= window * 2 - 2 * ROWS / ROUNDS * GAP);
    }
    if (s.code != MPI_SUCCESS)
        door_check_text(s.code, s.path, "File too large");
    access_together(&s);
    CHECK_EQUAL(s.class, MPI_SUCCESS);
    close_file(&s, false);
}

static void test_full_folder(const char *folder)
{
    scene s = {.row = door_ranks * PIECE + GAP, .write = true};
    const char *hints = "romio_cb_write=enable;weir_window=5000;cb_nodes=2";
    if (!folder) {
        printf("left out: no small file system can be mounted\n");
        return;
    }
    snprintf(s.path, sizeof s.path, "%s/full", folder);
    s.row += 260 * 1024 / ROWS; /* the gaps do not fit */
    open_file(&s, hints);
    int code = MPI_File_preallocate(s.fh, 1 << 20);
    CHECK_CLASS(code, MPI_ERR_NO_SPACE);
    door_check_text(code, s.path, "No space left");
    CHECK_OK(MPI_File_set_size(s.fh, 0));
    close_file(&s, false);
    s.row = door_ranks * PIECE + GAP;
    s.base = (256 << 10) - ROWS * s.row / 2; /* half of it does */
    open_file(&s, hints);
    CHECK_OK(MPI_File_preallocate(s.fh, s.base));
    access_together(&s);
    CHECK_EQUAL(s.class, MPI_ERR_NO_SPACE);
    door_check_text(s.code, s.path, "No space left");
    CHECK(counted(&s) < BYTES * door_ranks);
    MPI_Offset size = -1;
    CHECK_OK(MPI_File_get_size(s.fh, &size));
    close_file(&s, false);
    s.base = 0; /* it can be used again */
    open_file(&s, hints);
    access_together(&s);
    CHECK_EQUAL(s.class, MPI_SUCCESS);
    close_file(&s, false);
}

static void fill(scene *s)
{
    door_make_file(s->path, ROWS * s->row);
    s->filled = true;
}

/* The k-th transfer of each rank, for all k that there are. */
static void test_injected(bool write, const char *fault, int class, const char *cause)
{
    scene s = {.row = door_ranks * PIECE + GAP, .write = write};
    snprintf(s.path, sizeof s.path, "%s", door_path("injected"));
    int failed = 0;
    for (int k = 1; k < 12; k++) {
        char hints[300];
        snprintf(hints, sizeof hints, "weir_collective=always;weir_window=%lld;weir_fault=%s:%d",
                 (long long)(ROWS * s.row / ROUNDS), fault, k);
        fill(&s);
        open_file(&s, hints);
        access_together(&s);
        if (s.code != MPI_SUCCESS) {
            CHECK_EQUAL(s.class, class);
            door_check_text(s.code, s.path, cause);
            failed++;
        }
        for (int i = 0; s.code != MPI_SUCCESS && i < door_ranks; i++)
            access_together(&s); /* each rank's fault comes once */
        CHECK_EQUAL(s.class, MPI_SUCCESS);
        close_file(&s, true);
    }
    CHECK(failed > 0 || !strcmp(fault, "short"));
    if (door_rank == 0)
        CHECK(!unlink(s.path));
}

/* Alone, only who fails knows. */
static void test_alone(void)
{
    scene s = {.row = door_ranks * PIECE + GAP, .write = true};
    char data[PIECE] = "";
    MPI_Status status;
    int count = -1;
    snprintf(s.path, sizeof s.path, "%s", door_path("alone"));
    fill(&s);
    open_file(&s, "weir_fault=eio:1");
    bool mine = door_rank == door_ranks - 1;
    for (int i = 0; i < 2; i++) {
        if (!mine)
            continue;
        int code = i ? MPI_File_read_at(s.fh, 0, data, PIECE, MPI_BYTE, &status)
                     : MPI_File_write_at(s.fh, 0, data, PIECE, MPI_BYTE, &status);
        CHECK_CLASS(code, i ? MPI_SUCCESS : MPI_ERR_IO);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQUAL(count, i ? PIECE : 0);
        if (i == 0)
            door_check_text(code, s.path, "Input/output error");
        for (int k = 0; i && k < PIECE; k++)
            CHECK(data[k] == door_byte(door_rank * PIECE + k));
    }
    close_file(&s, false);
}

/* A split write that nobody ended: close tells every rank. */
static void test_not_ended(void)
{
    scene s = {.row = door_ranks * PIECE + GAP};
    static char data[BYTES];
    MPI_Status status;
    snprintf(s.path, sizeof s.path, "%s", door_path("not-ended"));
    open_file(&s, "weir_collective=always;weir_fault=eio:1");
    CHECK_OK(MPI_File_write_all_begin(s.fh, data, BYTES, MPI_BYTE));
    CHECK_CLASS(MPI_File_write_all_begin(s.fh, data, BYTES, MPI_BYTE), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_read_all_end(s.fh, data, &status), MPI_ERR_OTHER);
    int code = MPI_File_close(&s.fh);
    CHECK_CLASS(code, MPI_ERR_IO);
    door_check_text(code, s.path, "Input/output error");
    MPI_Barrier(MPI_COMM_WORLD);
    if (door_rank == 0)
        CHECK(!unlink(s.path));
}

static void test_environment(void)
{
    scene s = {.row = door_ranks * PIECE + GAP, .write = true};
    snprintf(s.path, sizeof s.path, "%s", door_path("environment"));
    setenv("WEIR_FAULT", "enospc:1", 1);
    open_file(&s, "");
    unsetenv("WEIR_FAULT");
    access_together(&s);
    CHECK_EQUAL(s.class, MPI_ERR_NO_SPACE);
    door_check_text(s.code, s.path, "No space left");
    close_file(&s, false);
}

int main(int argc, char **argv)
{
    door_begin(&argc, &argv);
    CHECK(door_ranks <= MOST_RANKS);
    signal(SIGXFSZ, SIG_IGN);
    check_within(60);
    test_size_limit(1, -1, "");
    test_size_limit(1, 0, "");
    test_size_limit(door_ranks, -1, "weir_realms=cyclic");
    test_size_limit(door_ranks, door_ranks - 1, "romio_ds_write=disable");
    test_size_limit(1, -1, "weir_exchange=p2p");
    test_full_folder(argc > 1 ? argv[1] : NULL);
    test_injected(true, "eio", MPI_ERR_IO, "Input/output error");
    test_injected(false, "eio", MPI_ERR_IO, "Input/output error");
    test_injected(true, "enospc", MPI_ERR_NO_SPACE, "No space left");
    test_injected(true, "short", MPI_ERR_IO, "");
    test_alone();
    test_not_ended();
    test_environment();
    MPI_Finalize();
    return 0;
}
