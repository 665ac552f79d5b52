/* What the interface promises where calls go wrong: ranks that ask for different things, copies
 * that fail, writes that are refused, folders that a failed creation has made, lists of nothing.
 * Ranks are threads. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array/array.h"
#include "check.h"
#include "transport/local.h"
#include "weir/kernels.h"

enum { N = 8, RANKS = 2 };

static const weir_array_info square = {.type = WEIR_I4, .dimensions = 2, .shape = {N, N}};
static const weir_selection whole;

static bool is_there(const char *path)
{
    struct stat status;
    return !stat(path, &status);
}

static void differ_in_creating(wr_world *w)
{
    const int rank = w->transport->rank, seven = 7;
    weir_array_options fill = {.fill = rank ? NULL : &seven};
    weir_array_info set = square;
    const char *disks[] = {rank ? "d0" : "d1"};
    weir_array_options elsewhere = {.disks = 1, .disk = disks};
    weir_array *a;
    CHECK_FAILS(wr_array_create(w, "differ.npy", &square, &fill, NULL, &a), WEIR_EDISAGREE, "");
    set.members = 2;
    set.distribution.grid[0] = 2;
    CHECK_FAILS(wr_array_create(w, "differ", &set, &elsewhere, NULL, &a), WEIR_EDISAGREE, "");
    set.distribution.grid[0] = rank ? 2 : 1;
    set.distribution.grid[1] = rank ? 1 : 2;
    CHECK_FAILS(wr_array_create(w, "differ", &set, NULL, NULL, &a), WEIR_EDISAGREE, "");
}

static int all_rows(void *user, int rank, weir_selection *section)
{
    (void)user, (void)rank, (void)section;
    return 1;
}

static void differ_in_reading(wr_world *w)
{
    int memory[N * N];
    weir_array *a;
    CHECK(!wr_array_create(w, "reading.npy", &square, NULL, NULL, &a));
    int code = w->transport->rank ? weir_array_read_all(a, &whole, NULL, memory, NULL)
                                  : weir_array_read_by(a, all_rows, NULL, NULL, memory);
    CHECK_EQUAL(code, WEIR_EDISAGREE);
    CHECK(!weir_array_read_by(a, all_rows, NULL, NULL, memory));
    CHECK(!weir_array_discard(a));
}

/* A copy that could not read everything is no array. */
static void copy_what_fails(wr_world *w)
{
    weir_array *from, *to;
    weir_array_options replace = {.overwrite = 1, .fill = &(int){5}};
    int old[N * N];
    CHECK(!wr_array_create(w, "whole.npy", &square, NULL, NULL, &from));
    CHECK(!weir_array_close(from));
    CHECK(!wr_array_create(w, "copy.npy", &square, &replace, NULL, &to));
    CHECK(!weir_array_close(to));
    CHECK(!wr_array_open(w, "whole.npy", WEIR_READ, NULL, &from));
    replace.fill = NULL;
    CHECK(!wr_array_create(w, "copy.npy", &square, &replace, NULL, &to));
    CHECK(!wr_array_agree(to, 0));
    if (w->transport->rank == 0)
        CHECK(!truncate("whole.npy", 4096 + 16));
    CHECK(!wr_array_agree(to, 0));
    CHECK_EQUAL(weir_array_copy(from, to, 0), WEIR_EIO);
    CHECK_FAILS(weir_array_close(to), WEIR_EIO, "did not get its name");
    CHECK(strstr(weir_error_last()->file, "copy.npy.partial-"));
    char left[WEIR_ERROR_FILE];
    memcpy(left, weir_error_last()->file, sizeof left);
    CHECK(!weir_array_close(from));
    CHECK(!wr_array_open(w, "copy.npy", WEIR_READ, NULL, &to));
    CHECK(!weir_array_read(to, &whole, NULL, old, NULL) && old[0] == 5 && old[N * N - 1] == 5);
    CHECK(!weir_array_close(to));
    CHECK(!wr_array_delete(w, left));
    CHECK(!wr_array_delete(w, "copy.npy"));
    CHECK(!wr_array_delete(w, "whole.npy"));
}

/* A write that was refused changed nothing, waited for or not. */
static void refuse_a_write(wr_world *w)
{
    const int64_t far[] = {N, N};
    weir_selection outside = {.hi = (const int64_t[]){2 * N, N}, .lo = far};
    weir_request *request = NULL;
    weir_array *a;
    int memory[N * N] = {0};
    CHECK(!wr_array_create(w, "refused.npy", &square, NULL, NULL, &a));
    outside.lo = NULL;
    CHECK(!weir_array_write_all(a, &outside, NULL, memory, &request));
    CHECK(!weir_array_close(a));
    CHECK_EQUAL(weir_request_wait(&request, NULL), WEIR_EINVAL);
    CHECK(!wr_array_delete(w, "refused.npy"));
}

/* Of disks in the set's own folder nothing is left; of others only what was there. */
static void disks_of_its_own(wr_world *w)
{
    weir_array_info set = square;
    const char *inside[] = {"./d0", ".d1"}, *missing[] = {"d0", "no/such"};
    weir_array_options good = {.disks = 2, .disk = inside}, bad = {.disks = 2, .disk = missing};
    weir_array *a;
    set.members = 2;
    set.distribution.grid[0] = 2;
    CHECK_EQUAL(wr_array_create(w, "promise-disks", &set, &bad, NULL, &a), WEIR_ENOENT);
    CHECK(!wr_array_create(w, "promise-disks", &set, &good, NULL, &a));
    CHECK(!weir_array_discard(a));
    CHECK(!wr_array_create(w, "promise-disks", &set, &good, NULL, &a));
    CHECK(!weir_array_sync(a));
    CHECK(!weir_array_close(a));
    good.overwrite = 1;
    CHECK(!wr_array_create(w, "promise-disks", &set, &good, NULL, &a));
    CHECK(!weir_array_close(a));
    CHECK(!wr_array_delete(w, "promise-disks"));
    CHECK(!is_there("promise-disks"));
    if (w->transport->rank == 0)
        CHECK(system("! ls -d promise-disks* 2>/dev/null") == 0);
}

static void lists_of_nothing(wr_world *w)
{
    const int64_t none[] = {0};
    weir_selection empty = {.box_lo = none, .box_hi = none};
    int memory[N * N];
    weir_array *a;
    memset(memory, 1, sizeof memory);
    CHECK(!wr_array_create(w, "nothing.npy", &square, NULL, NULL, &a));
    CHECK(!weir_array_read_all(a, &empty, NULL, memory, NULL) && memory[0] == 0x01010101);
    CHECK(!weir_array_write_all(a, &empty, NULL, memory, NULL));
    CHECK(!weir_array_read_all(a, &whole, NULL, memory, NULL) && memory[0] == 0);
    CHECK(!weir_array_discard(a));
}

/* What this rank has written it reads, though it read a neighbour meanwhile. */
static void cache_sees_own_writes(wr_world *w)
{
    const int64_t first[] = {1, N};
    weir_selection row = {.hi = first}, other = {.lo = (const int64_t[]){4, 0}};
    weir_request *request;
    weir_array *a;
    int nines[N], memory[N * N];
    for (int i = 0; i < N; i++)
        nines[i] = 9;
    CHECK(!wr_array_create(w, "cached.npy", &square, NULL, "cache=2M", &a));
    CHECK(!weir_array_write(a, &row, NULL, nines, &request));
    CHECK(!weir_array_read(a, &other, NULL, memory, NULL));
    CHECK(!weir_request_wait(&request, NULL));
    CHECK(!weir_array_read(a, &row, NULL, memory, NULL) && memory[0] == 9 && memory[N - 1] == 9);
    CHECK(!weir_array_discard(a));
}

static void keep_what_is_no_array(wr_world *w)
{
    weir_array_options replace = {.overwrite = 1};
    weir_array *a;
    if (w->transport->rank == 0) {
        FILE *f = fopen("letter.txt", "w");
        CHECK(f && fputs("this is no array, but it matters", f) >= 0 && !fclose(f));
    }
    CHECK(!wr_agree(w->transport, 0, 0));
    CHECK_FAILS(wr_array_create(w, "letter.txt", &square, &replace, NULL, &a), WEIR_EEXIST, "");
    CHECK_FAILS(wr_array_delete(w, "letter.txt"), WEIR_EEXIST, "no array");
    CHECK(is_there("letter.txt") && !wr_agree(w->transport, 0, 0));
    if (w->transport->rank == 0)
        unlink("letter.txt");
}

/* A set of more members than stay open, each filled with its number times `factor`. */
enum { MEMBERS = 100 };

static void make_members(wr_world *w, const char *path, int factor)
{
    weir_array_options replace = {.overwrite = 1};
    weir_array_info set = {.type = WEIR_I4, .dimensions = 1, .shape = {MEMBERS}};
    int memory[MEMBERS];
    weir_array *a;
    set.members = MEMBERS;
    set.distribution.grid[0] = MEMBERS;
    for (int i = 0; i < MEMBERS; i++)
        memory[i] = i * factor;
    CHECK(!wr_array_create(w, path, &set, &replace, NULL, &a));
    CHECK(!weir_array_write_all(a, w->transport->rank ? NULL : &whole, NULL, memory, NULL));
    CHECK(!weir_array_close(a));
}

/* A set that is replaced under its readers is the old one to them, or gone: never some of both. */
static void replace_under_readers(wr_world *w)
{
    weir_array *a, *b;
    int memory[MEMBERS];
    make_members(w, "replaced", 1);
    CHECK(!wr_array_open(w, "replaced", WEIR_READ, NULL, &a));
    for (int64_t i = 0; i < 10; i++) { /* these members stay open */
        weir_selection one = {.lo = &i, .hi = &(int64_t){i + 1}};
        CHECK(!weir_array_read(a, &one, NULL, memory, NULL) && memory[0] == i);
    }
    make_members(w, "replaced", 1000);
    for (int64_t i = 0; i < MEMBERS; i++) {
        weir_selection one = {.lo = &i, .hi = &(int64_t){i + 1}};
        int code = weir_array_read(a, &one, NULL, memory, NULL);
        CHECK(code == WEIR_ENOENT || (!code && memory[0] == i));
        CHECK(!code || strstr(weir_error_last()->file, "/local-"));
        CHECK(code || i < 10);
    }
    CHECK(!wr_array_open(w, "replaced", WEIR_READ, NULL, &b));
    CHECK(!weir_array_read(b, &whole, NULL, memory, NULL) && memory[5] == 5000 &&
          memory[99] == 99000);
    CHECK(!weir_array_close(b));
    CHECK(!weir_array_close(a));
    CHECK(!wr_array_delete(w, "replaced"));
}

static void change_folder(wr_world *w, const char *folder)
{
    CHECK(!wr_agree(w->transport, 0, 0));
    if (w->transport->rank == 0) /* ranks are threads: the folder is everybody's */
        CHECK(!chdir(folder));
    CHECK(!wr_agree(w->transport, 0, 0));
}

/* An open set is the same one wherever the program goes, to read and to write. */
static void leave_for_another_folder(wr_world *w)
{
    weir_array *a;
    int memory[MEMBERS];
    const int64_t last[] = {MEMBERS - 1};
    const weir_selection end = {.lo = last};
    if (w->transport->rank == 0)
        CHECK(!mkdir("elsewhere", 0777));
    CHECK(!wr_agree(w->transport, 0, 0));
    make_members(w, "moving", 1);
    make_members(w, "elsewhere/moving", 1000);
    CHECK(!wr_array_open(w, "moving", WEIR_READ | WEIR_WRITE, NULL, &a));
    change_folder(w, "elsewhere");
    CHECK(!weir_array_read(a, &whole, NULL, memory, NULL) && memory[5] == 5 && memory[99] == 99);
    CHECK(!wr_agree(w->transport, 0, 0));
    CHECK(!weir_array_write_all(a, w->transport->rank ? NULL : &end, NULL, &(int){-1}, NULL));
    CHECK(!weir_array_sync(a));
    CHECK(!weir_array_close(a));
    CHECK(!wr_array_open(w, "moving", WEIR_READ, NULL, &a));
    CHECK(!weir_array_read(a, &end, NULL, memory, NULL) && memory[0] == 99000);
    CHECK(!weir_array_close(a));
    CHECK(!wr_array_delete(w, "moving"));
    change_folder(w, "..");
    CHECK(!wr_array_open(w, "moving", WEIR_READ, NULL, &a));
    CHECK(!weir_array_read(a, &end, NULL, memory, NULL) && memory[0] == -1);
    CHECK(!weir_array_close(a));
    CHECK(!wr_array_delete(w, "moving"));
    if (w->transport->rank == 0)
        CHECK(!rmdir("elsewhere"));
}

static void rank_body(wr_transport *t, void *user)
{
    wr_world *w;
    CHECK(!wr_world_open(t, user, &w));
    differ_in_creating(w);
    differ_in_reading(w);
    copy_what_fails(w);
    refuse_a_write(w);
    disks_of_its_own(w);
    lists_of_nothing(w);
    cache_sees_own_writes(w);
    keep_what_is_no_array(w);
    replace_under_readers(w);
    leave_for_another_folder(w);
    wr_world_release(w);
}

/* In a process of its own: gives one name to two arrays in turn, until it is killed or alone. */
static pid_t start_replacing(const char *name, const char *const made[2])
{
    char next[64];
    snprintf(next, sizeof next, "%s.next", name);
    const pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    for (int i = 1;; i++) /* a rename to itself does nothing */
        if (getppid() != parent || link(made[i % 2], next) || rename(next, name))
            _exit(1);
}

/* An array that is replaced while it is opened is one or the other, not the header of one and the
 * elements of the other. */
static void open_while_replaced(wr_transport *t, void *user)
{
    static const char *const made[] = {"small.npy", "large.npy"}, name[] = "either.npy";
    wr_world *w;
    weir_array *a;
    CHECK(!wr_world_open(t, user, &w));
    for (int i = 0; i < 2; i++) {
        int length = i ? 300 : 100;
        weir_array_info info = {.type = WEIR_I4, .dimensions = 1, .shape = {length}};
        weir_array_options fill = {.fill = &length};
        CHECK(!wr_array_create(w, made[i], &info, &fill, NULL, &a) && !weir_array_close(a));
    }
    CHECK(!link(made[0], name));
    pid_t child = start_replacing(name, made);
    for (int i = 0; i < 2000; i++) {
        int memory[300];
        int code = wr_array_open(w, name, WEIR_READ, NULL, &a);
        CHECK(!code || code == WEIR_EDISAGREE);
        if (code)
            continue;
        int64_t length = weir_array_get_info(a)->shape[0];
        CHECK(!weir_array_read(a, &whole, NULL, memory, NULL));
        CHECK(memory[0] == length && memory[length - 1] == length);
        CHECK(!weir_array_close(a));
    }
    CHECK(!kill(child, SIGKILL) && waitpid(child, &(int){0}, 0) == child);
    CHECK(!unlink(name) && !unlink(made[0]) && !unlink(made[1]));
    unlink("either.npy.next");
    wr_world_release(w);
}

int main(void)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(1, &tunables, open_while_replaced, &tunables));
    for (int per_node = 0; per_node < 3; per_node++) {
        check_within(60);
        tunables.ranks_per_node = per_node;
        CHECK(!wr_local_run(RANKS, &tunables, rank_body, &tunables));
    }
    return 0;
}
