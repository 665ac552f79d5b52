/* Collective writes in what a cluster shares. usage: collective_writer WHAT FILE [FOLDER]
 *   make    a new array
 *   check   that it is still as made, and that all can write the file beside it
 *   array   writes a new array in its place, again and again
 *   door    by MPI-IO the file beside it, with holes, again and again
 *   large   that file, which is larger than all shared memory, by few aggregators and by many
 * What never ends says in FOLDER that it is under way: a file HOST-RANK with its process id. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "mpiio/door_support.h"
#include "weir/weir.h"

enum { ROWS = 512, COLUMNS = 256, BLOCK = 5000, LARGE = 1000 * BLOCK, LIMIT = 100 };

static const char *folder;

static void tell(void)
{
    char host[100], name[1000];
    CHECK(!gethostname(host, sizeof host));
    snprintf(name, sizeof name, "%s/%s-%d", folder, host, door_rank);
    FILE *f = fopen(name, "w");
    CHECK(f && fprintf(f, "%ld\n", (long)getpid()) > 0 && !fclose(f));
}

static weir_array *create(const char *path)
{
    weir_array *a;
    const weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, COLUMNS}};
    const weir_array_options options = {.overwrite = 1};
    CHECK(!weir_array_create(MPI_COMM_WORLD, path, &info, &options, "collective=always", &a));
    return a;
}

/* Rows rank, rank + ranks, ...: number `call` of them all. */
static int access_rows(weir_array *a, bool write, double call, double *data)
{
    const int64_t lo[] = {door_rank, 0}, hi[] = {ROWS, COLUMNS}, step[] = {door_ranks, 1};
    const weir_selection rows = {.lo = lo, .hi = hi, .step = step};
    if (!write)
        return weir_array_read_all(a, &rows, NULL, data, NULL);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        data[i] = call + (double)i;
    return weir_array_write_all(a, &rows, NULL, data, NULL);
}

static void make_array(const char *path, double *data)
{
    weir_array *a = create(path);
    CHECK(!access_rows(a, true, 0, data));
    CHECK(!weir_array_close(a));
}

static void check_array(const char *path, double *data)
{
    weir_array *a;
    CHECK(!weir_array_open(MPI_COMM_WORLD, path, WEIR_READ, NULL, &a));
    CHECK(!access_rows(a, false, 0, data));
    for (int64_t i = 0, n = 0; i < ROWS; i++)
        for (int64_t k = 0; i % door_ranks == door_rank && k < COLUMNS; k++, n++)
            CHECK(data[n] == (double)n);
    CHECK(!weir_array_close(a));
}

static void write_arrays(const char *path, double *data)
{
    weir_array *a = create(path);
    for (double call = 1; !access_rows(a, true, call, data); call++)
        if (call == 1)
            tell();
    exit(3);
}

/* Blocks rank, rank + ranks, ... of each row, of which one more is a hole. */
static void open_blocks(const char *path, const char *hints, MPI_File *fh)
{
    MPI_Datatype block, type;
    MPI_Info info = door_info(hints);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, fh));
    MPI_Info_free(&info);
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)(door_ranks + 1) * BLOCK, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_File_set_view(*fh, (MPI_Offset)door_rank * BLOCK, MPI_BYTE, type, "native",
                               MPI_INFO_NULL));
    MPI_Type_free(&type);
    MPI_Type_free(&block);
}

static int write_blocks(MPI_File fh, int call, int count, char *data)
{
    for (int64_t i = 0; i < count; i++)
        data[i] = (char)(call + i / 7 + door_rank);
    return MPI_File_write_at_all(fh, 0, data, count, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void write_files(const char *path, char *data)
{
    MPI_File fh;
    open_blocks(path, "", &fh);
    for (int call = 1; !write_blocks(fh, call, 40 * BLOCK, data); call++)
        if (call == 1)
            tell();
    exit(3);
}

static void check_blocks(const char *path, const char *hints, int count)
{
    MPI_File fh;
    char *data = malloc((size_t)count), *back = malloc((size_t)count);
    CHECK(data && back);
    open_blocks(path, hints, &fh);
    CHECK_OK(write_blocks(fh, 3, count, data));
    CHECK_OK(MPI_File_read_at_all(fh, 0, back, count, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(!memcmp(back, data, (size_t)count));
    CHECK_OK(MPI_File_close(&fh));
    free(data);
    free(back);
}

int main(int argc, char **argv)
{
    door_begin(&argc, &argv);
    const char *shared = getenv("CLUSTER_SHARED");
    CHECK(argc > 2 && shared && !chdir(shared));
    const char *what = argv[1];
    char beside[1000];
    snprintf(beside, sizeof beside, "%s-blocks", argv[2]);
    folder = argc > 3 ? argv[3] : ".";
    check_within(LIMIT);
    double *data = malloc(ROWS * COLUMNS * sizeof *data);
    CHECK(data);
    if (!strcmp(what, "make"))
        make_array(argv[2], data);
    else if (!strcmp(what, "array"))
        write_arrays(argv[2], data);
    else if (!strcmp(what, "door"))
        write_files(beside, (char *)data);
    else if (!strcmp(what, "check")) {
        check_array(argv[2], data);
        check_blocks(beside, "", 40 * BLOCK);
    } else if (!strcmp(what, "large")) {
        check_blocks(beside, "", LARGE);
        check_blocks(beside, "cb_nodes=100", LARGE);
    } else
        CHECK(false); /* no such way */
    free(data);
    MPI_Finalize();
    return 0;
}
