/* Shared memory that is short, cannot be had, or was left behind by ranks that were killed.
 * usage: full_region many FILES [MOST]      files open at once, with a limit on the size of files
 *        full_region killed                 while a segment has a name, if it ever has one
 *        full_region pointer [killed]       while the file of a shared pointer exists */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "file/pointer.h"
#include "transport/region.h"
#include "weir_mpi.h"

enum { PIECE = 4096, PIECES = 64, MOST_FILES = 400, MOST_SECONDS = 120 };

static int rank, ranks;
static bool to_be_killed;
static char data[PIECE * PIECES], back[PIECE * PIECES];

void __real_wr_segment_hide(wr_segment *segment);
void __wrap_wr_segment_hide(wr_segment *segment);

void __wrap_wr_segment_hide(wr_segment *segment)
{
    if (to_be_killed)
        raise(SIGKILL);
    __real_wr_segment_hide(segment);
}

/* Mebibytes of shared memory that this rank has. */
static double shared(void)
{
    char line[600];
    unsigned long from, to, sum = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "weir-region") && sscanf(line, "%lx-%lx", &from, &to) == 2)
            sum += to - from;
    fclose(maps);
    return (double)sum / (1 << 20);
}

/* Number `call` on number `file`: by all, in two forms, as pieces that lie between each other. */
static void access_file(weir_file *f, int file, int call)
{
    weir_pattern *where, *memory;
    int64_t count;
    CHECK(!weir_pattern_strided((int64_t)rank * PIECE, PIECES, PIECE, (int64_t)ranks * PIECE,
                                &where));
    CHECK(!weir_pattern_contiguous(0, sizeof data, &memory));
    for (int k = 0; k < PIECES; k++)
        memset(data + k * PIECE, 7 * rank + 3 * file + 5 * call + k, PIECE);
    if (call % 2) {
        weir_request *request;
        CHECK(!weir_file_write_all(f, where, memory, data, NULL, &request));
        CHECK(!weir_request_wait(&request, &count));
    } else {
        CHECK(!weir_file_write_all(f, where, memory, data, &count, NULL));
    }
    CHECK_EQUAL(count, sizeof data);
    memset(back, 0, sizeof back);
    CHECK(!weir_file_read_all(f, where, memory, back, &count, NULL));
    CHECK(count == sizeof back && !memcmp(data, back, sizeof back));
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

static void limit_files(int64_t bytes)
{
    struct rlimit most = {(rlim_t)bytes, (rlim_t)bytes};
    CHECK(!setrlimit(RLIMIT_FSIZE, &most));
}

static void open_many(wr_world *w, int files, int64_t most, const char *id)
{
    static weir_file *f[MOST_FILES];
    char path[100];
    CHECK(files <= MOST_FILES);
    for (int call = 0; call < 2; call++)
        for (int i = 0; i < files; i++) {
            snprintf(path, sizeof path, "full-region-%s-%d", id, i);
            if (!f[i])
                CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE,
                                    "collective=always;aggregators=2", &f[i]));
            if (most && !i && !call) /* what storage costs has been measured */
                limit_files(most);
            access_file(f[i], i, call);
        }
    if (rank == 0)
        printf("%d ranks, %d files: %.1f MiB shared\n", ranks, files, shared());
    CHECK(shared() < 60);
    for (int i = 0; i < files; i++) {
        CHECK(!weir_file_close(f[i]));
        snprintf(path, sizeof path, "full-region-%s-%d", id, i);
        if (rank == 0)
            CHECK(!weir_file_remove(path));
    }
}

/* Another handle of the file has its pointer meanwhile, which is not taken for one that is left. */
static void use_pointer(wr_world *w, bool killed)
{
    weir_file *f, *other;
    int64_t was;
    const int mode = WEIR_READ | WEIR_WRITE | WEIR_CREATE;
    CHECK(!wr_file_open(w, "full-region-pointer", mode, NULL, &f));
    CHECK(!wr_pointer_advance(f, 1, 10, &was));
    MPI_Barrier(MPI_COMM_WORLD);
    if (killed)
        raise(SIGKILL);
    CHECK(!wr_file_open(w, "full-region-pointer", mode, NULL, &other));
    CHECK(!wr_pointer_advance(other, 1, 100, &was));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!wr_pointer_advance(f, 1, 0, &was));
    CHECK_EQUAL(was, 10 * ranks);
    CHECK(!weir_file_close(f));
    CHECK(!wr_pointer_advance(other, 1, 0, &was));
    CHECK_EQUAL(was, 100 * ranks);
    CHECK(!weir_file_close(other));
    if (rank == 0)
        CHECK(!weir_file_remove("full-region-pointer"));
}

int main(int argc, char **argv)
{
    char id[20];
    wr_world *w;
    CHECK(argc > 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    alarm(MOST_SECONDS);
    snprintf(id, sizeof id, "%d", (int)getpid());
    MPI_Bcast(id, sizeof id, MPI_CHAR, 0, MPI_COMM_WORLD);
    to_be_killed = !strcmp(argv[1], "killed");
    CHECK(!wr_world_get(MPI_COMM_WORLD, &w));
    if (!strcmp(argv[1], "many"))
        open_many(w, atoi(argv[2]), argc > 3 ? atoll(argv[3]) : 0, id);
    if (!strcmp(argv[1], "pointer"))
        use_pointer(w, argc > 2);
    MPI_Finalize();
    return 0;
}
