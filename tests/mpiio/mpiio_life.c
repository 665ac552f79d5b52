/* How files behind the door come and go: opens that fail on one rank fail on all and leave nothing;
 * files outlive their communicator and end with MPI; other processes see nothing of them. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { ROUNDS = 200, WARM = 20, PIECE = 24, MANY = 12 };

static const int everything = MPI_MODE_CREATE | MPI_MODE_RDWR;

static MPI_File open_on(MPI_Comm comm, const char *path, int amode)
{
    MPI_File fh;
    CHECK_OK(MPI_File_open(comm, path, amode, MPI_INFO_NULL, &fh));
    return fh;
}

/* [collective on comm] Interleaved pieces of all its ranks go there and come back. */
static void use(MPI_File fh, MPI_Comm comm, int salt)
{
    int rank, ranks, count = -1;
    char data[2 * PIECE], back[2 * PIECE];
    MPI_Datatype pieces;
    MPI_Status status;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Type_vector(2, PIECE, ranks * PIECE, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    for (int i = 0; i < 2 * PIECE; i++)
        data[i] = (char)(salt + rank * 50 + i);
    memset(back, 0, sizeof back);
    CHECK_OK(MPI_File_set_view(fh, rank * PIECE, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    MPI_Type_free(&pieces);
    CHECK_OK(MPI_File_write_at_all(fh, 0, data, 2 * PIECE, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, 2 * PIECE);
    CHECK_OK(MPI_File_read_at_all(fh, 0, back, 2 * PIECE, MPI_BYTE, &status));
    CHECK(!memcmp(data, back, sizeof data));
    CHECK_OK(MPI_File_read_at(fh, PIECE, back, PIECE, MPI_BYTE, &status));
    CHECK(!memcmp(data + PIECE, back, PIECE));
}

static int count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    CHECK(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* One of the ways in which ranks do not come together; the odd one out is the last or the first. */
static int open_badly(int how, const char *path, MPI_File *fh)
{
    bool odd = door_rank == (how % 2 ? door_ranks - 1 : 0);
    int amode = everything;
    switch (how / 2) {
    case 0:
        path = odd ? "no/such/folder" : path;
        break;
    case 1:
        amode = odd ? MPI_MODE_CREATE | MPI_MODE_WRONLY : amode;
        break;
    case 2:
        amode = odd ? MPI_MODE_RDONLY | MPI_MODE_WRONLY : amode;
        break;
    case 3:
        path = odd ? "" : path;
        break;
    case 4:
        path = "no/such/folder/either";
        break;
    default:
        amode = odd ? amode | MPI_MODE_UNIQUE_OPEN : amode;
    }
    return MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, fh);
}

static void test_failing_opens(const char *path)
{
    const int classes[] = {MPI_ERR_NO_SUCH_FILE, MPI_ERR_NOT_SAME,     MPI_ERR_AMODE,
                           MPI_ERR_BAD_FILE,     MPI_ERR_NO_SUCH_FILE, MPI_ERR_NOT_SAME};
    int before = 0;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_File fh;
        int how = i % 12, class = -1;
        bool same = door_ranks == 1 && classes[how / 2] == MPI_ERR_NOT_SAME;
        check_case(i);
        check_within(20);
        int code = open_badly(how, path, &fh);
        MPI_Error_class(code, &class);
        door_check_same(class);
        CHECK_CLASS(code, same ? MPI_SUCCESS : classes[how / 2]);
        CHECK((fh == MPI_FILE_NULL) == !same);
        if (same)
            CHECK_OK(MPI_File_close(&fh));
        if (i % 5 == 0) {
            fh = open_on(MPI_COMM_WORLD, path, everything);
            CHECK_OK(MPI_File_close(&fh));
        }
        if (i == WARM)
            before = count_descriptors();
    }
    CHECK_EQUAL(count_descriptors(), before);
    check_case(-1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (door_rank == 0)
        unlink(path);
}

/* Each rank its own file, then each half of them. */
static void test_small_communicators(void)
{
    char name[50];
    MPI_Comm half;
    snprintf(name, sizeof name, "self-%d", door_rank);
    const int amode = everything | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File own = open_on(MPI_COMM_SELF, door_path(name), amode);
    MPI_Comm_split(MPI_COMM_WORLD, door_rank % 2, -door_rank, &half);
    snprintf(name, sizeof name, "half-%d", door_rank % 2);
    MPI_File shared = open_on(half, door_path(name), amode);
    for (int i = 0; i < 3; i++) {
        use(own, MPI_COMM_SELF, door_rank + i);
        use(shared, half, i);
    }
    CHECK_OK(MPI_File_close(&own));
    use(shared, half, 7);
    CHECK_OK(MPI_File_close(&shared));
    MPI_Comm_free(&half);
}

static void test_freed_communicator(const char *path)
{
    MPI_Comm copy;
    MPI_Group group;
    int size = -1;
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_File fh = open_on(copy, path, everything | MPI_MODE_DELETE_ON_CLOSE);
        MPI_Comm_free(&copy);
        use(fh, MPI_COMM_WORLD, i);
        CHECK_OK(MPI_File_get_group(fh, &group));
        MPI_Group_size(group, &size);
        CHECK_EQUAL(size, door_ranks);
        MPI_Group_free(&group);
        CHECK_OK(MPI_File_sync(fh));
        CHECK_OK(MPI_File_close(&fh));
    }
}

/* As on file systems where a file that another host has removed cannot be stored. */
__attribute__((visibility("default"))) int fsync(int fd)
{
    struct stat s;
    CHECK(!fstat(fd, &s));
    errno = ESTALE;
    return s.st_nlink ? (int)syscall(SYS_fsync, fd) : -1;
}

static void test_deleted(const char *path)
{
    MPI_File fh;
    MPI_Info weak = door_info("weir_coherence=weak");
    const int amode = everything | MPI_MODE_DELETE_ON_CLOSE;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, weak, &fh));
    use(fh, MPI_COMM_WORLD, 1);
    MPI_Info_free(&weak);
    CHECK_OK(MPI_File_close(&fh));
}

/* Many at once, some twice, closed in another order. */
static void test_many_files(void)
{
    MPI_File fh[MANY];
    char name[50];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many-%d", i / 2);
        fh[i] = open_on(MPI_COMM_WORLD, door_path(name), everything);
    }
    for (int i = 0; i < MANY; i++)
        use(fh[i * 5 % MANY], MPI_COMM_WORLD, i);
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(MPI_File_close(&fh[i * 7 % MANY]));
        for (int k = 0; k < MANY; k++)
            if (fh[k] != MPI_FILE_NULL)
                CHECK_OK(MPI_File_sync(fh[k]));
    }
    for (int i = 0; i < MANY / 2; i++) {
        snprintf(name, sizeof name, "many-%d", i);
        if (door_rank == 0)
            CHECK_OK(MPI_File_delete(door_path(name), MPI_INFO_NULL));
    }
}

/* The file of that name and its parts, all in this folder. */
static int count_parts(const char *path)
{
    DIR *folder = opendir(".");
    int count = 0;
    CHECK(folder);
    for (const struct dirent *e; (e = readdir(folder));)
        count += !strncmp(e->d_name, path, strlen(path));
    closedir(folder);
    return count;
}

/* A file on three disks is removed with all its parts, by its name and when it is closed; one on a
 * disk that is not there is not made, which all ranks are told. */
static void test_striped(const char *path)
{
    MPI_File fh;
    MPI_Info good = door_info("weir_storage=striped;weir_disks=.:.:.;striping_unit=10;"
                              "weir_realms=disks;romio_cb_write=enable"),
             bad = door_info("weir_storage=striped;weir_disks=.:no-such-disk");
    for (int deletes = 0; deletes < 2; deletes++) {
        int amode = everything | (deletes ? MPI_MODE_DELETE_ON_CLOSE : 0);
        CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, good, &fh));
        use(fh, MPI_COMM_WORLD, deletes);
        CHECK_EQUAL(count_parts(path), 4);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_File_close(&fh));
        if (!deletes) {
            fh = open_on(MPI_COMM_WORLD, path, MPI_MODE_RDWR);
            use(fh, MPI_COMM_WORLD, 3);
            CHECK_OK(MPI_File_close(&fh));
            if (door_rank == 0)
                CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQUAL(count_parts(path), 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, everything, bad, &fh), MPI_ERR_NO_SUCH_FILE);
    CHECK_EQUAL(count_parts(path), 0);
    MPI_Info_free(&good);
    MPI_Info_free(&bad);
}

/* What a command says on both its outputs; its status. */
static int run(const char *command, char *said, size_t size)
{
    FILE *f = popen(command, "r");
    CHECK(f);
    size_t got = fread(said, 1, size - 1, f);
    said[got] = '\0';
    return pclose(f);
}

/* A child, with and without exec, has no part in the files of its parent. */
static void test_children(const char *path)
{
    char said[4000];
    MPI_File fh = open_on(MPI_COMM_WORLD, path, everything | MPI_MODE_DELETE_ON_CLOSE);
    use(fh, MPI_COMM_WORLD, 1);
    CHECK_EQUAL(run("ls -l /proc/self/fd 2>&1", said, sizeof said), 0);
    if (strstr(said, path))
        fprintf(stderr, "%s", said);
    CHECK(!strstr(said, path));
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        int status = -1;
        if (child == 0 && i == 0)
            _exit(0);
        if (child == 0)
            execl("/bin/true", "true", NULL);
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        use(fh, MPI_COMM_WORLD, 2 + i);
    }
    CHECK_OK(MPI_File_close(&fh));
}

/* Where the door is. */
static void find_door(char *path, size_t size)
{
    char line[1000];
    FILE *maps = fopen("/proc/self/maps", "r");
    *path = '\0';
    CHECK(maps);
    while (!*path && fgets(line, sizeof line, maps))
        if (strstr(line, "libweir_mpiio") && !strstr(line, "engine"))
            snprintf(path, size, "%.*s", (int)strcspn(strchr(line, '/'), "\n"), strchr(line, '/'));
    fclose(maps);
    CHECK(*path);
}

/* Programs that never call MPI do not notice that the door was loaded. */
static void test_preloaded(void)
{
    char door[1000], command[1200], said[1000];
    find_door(door, sizeof door);
    snprintf(command, sizeof command, "LD_PRELOAD=%s /bin/true 2>&1", door);
    CHECK_EQUAL(run(command, said, sizeof said), 0);
    CHECK(!*said);
    snprintf(command, sizeof command, "LD_PRELOAD=%s WEIR_LOG=debug /bin/echo quiet 2>&1", door);
    CHECK_EQUAL(run(command, said, sizeof said), 0);
    CHECK(!strcmp(said, "quiet\n"));
}

/* A program of its own whose file has a handler that ends it. */
static int be_fatal(int argc, char **argv)
{
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
#if MPI_VERSION >= 4
    if (!strcmp(argv[1], "abort"))
        handler = MPI_ERRORS_ABORT;
#endif
    door_begin(&argc, &argv);
    MPI_File fh = open_on(MPI_COMM_WORLD, door_path("fatal"), everything);
    CHECK_OK(MPI_File_set_errhandler(fh, handler));
    CHECK(!unlink(door_path("fatal")));
    printf("before\n");
    fflush(stdout);
    MPI_File_seek(fh, -1, MPI_SEEK_SET);
    printf("after\n");
    MPI_Finalize();
    return 0;
}

/* Without the environment of this one, which would make it a rank of it. */
static void test_fatal(const char *program, const char *how)
{
    char command[1000], said[8000];
    snprintf(command, sizeof command, "env -i PATH=\"$PATH\" %s %s 2>&1", program, how);
    CHECK(run(command, said, sizeof said) != 0);
    CHECK(strstr(said, "before\n") && !strstr(said, "after\n"));
}

/* Written before MPI_Finalize, which closes what is open, and there afterwards. */
static void check_after(const char *path)
{
    FILE *f = fopen(path, "r");
    CHECK(f);
    for (int i = 0; i < 2 * PIECE * door_ranks; i++) {
        int of = i / PIECE % door_ranks, data = i / PIECE / door_ranks * PIECE + i % PIECE;
        CHECK_EQUAL((char)getc(f), (char)(9 + of * 50 + data));
    }
    CHECK(getc(f) == EOF && !fclose(f) && !unlink(path));
}

/* A pipe has nobody at its other end: refused, not waited for. */
static void test_pipe(const char *path)
{
    static const int amodes[] = {MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR, 0};
    MPI_File fh;
    if (door_rank == 0)
        CHECK(!mkfifo(path, 0666));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; amodes[i]; i++)
        CHECK(MPI_File_open(MPI_COMM_WORLD, path, amodes[i], MPI_INFO_NULL, &fh) != MPI_SUCCESS);
    CHECK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh) != MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (door_rank == 0)
        CHECK(!unlink(path));
}

/* A file that must not become as large is an error on all ranks, and not the end of one. */
static void test_size_limit(const char *path)
{
    enum { MOST = 64 << 10, BYTES = 1 << 20 };
    static char data[BYTES];
    struct rlimit before, limit;
    CHECK(!getrlimit(RLIMIT_FSIZE, &before));
    limit = (struct rlimit){MOST, before.rlim_max};
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
    MPI_File fh = open_on(MPI_COMM_WORLD, path, everything | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Offset at = (MPI_Offset)door_rank * BYTES;
    CHECK_CLASS(MPI_File_write_at_all(fh, at, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_File_write_at(fh, at + BYTES, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_File_set_size(fh, BYTES), MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_File_preallocate(fh, BYTES), MPI_ERR_NO_SPACE);
    CHECK_OK(MPI_File_close(&fh));
    CHECK(!setrlimit(RLIMIT_FSIZE, &before));
}

int main(int argc, char **argv)
{
    MPI_Comm copy, freed;
    char own[50];
    if (argc > 1)
        return be_fatal(argc, argv);
    door_begin(&argc, &argv);
    test_failing_opens(door_path("failing"));
    check_within(60);
    test_small_communicators();
    test_freed_communicator(door_path("freed"));
    test_deleted(door_path("deleted"));
    test_many_files();
    test_pipe(door_path("pipe"));
    test_size_limit(door_path("limit"));
    test_striped(door_path("striped"));
    test_children(door_path("children"));
    if (door_rank == 0)
        test_preloaded();
    if (door_ranks == 1) {
        test_fatal(argv[0], "fatal");
        test_fatal(argv[0], "abort");
    }
    const char *left = door_path("left");
    snprintf(own, sizeof own, "left-%d", door_rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    MPI_File open[] = {open_on(MPI_COMM_WORLD, left, everything), open_on(copy, left, everything),
                       open_on(freed, left, everything),
                       open_on(MPI_COMM_SELF, door_path(own), everything)};
    MPI_Comm_free(&freed);
    for (int i = 0; i < 3; i++)
        use(open[i], MPI_COMM_WORLD, 9);
    CHECK(!unlink(door_path(own)));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (door_rank == 0)
        check_after(left);
    return 0;
}
