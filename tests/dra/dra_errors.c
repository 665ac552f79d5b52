/* What can go wrong is a code on every rank, the program goes on, and nothing else is damaged.
 * usage: dra_errors [FOLDER]: a small file system to fill. */
#include <dra.h>
#include <errno.h>
#include <fcntl.h>
#include <ga.h>
#include <glob.h>
#include <macdecls.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "dra/dra_support.h"
#include "weir/dra.h"
#include "weir/weir.h"

enum { N = 40, BIG = 400 };

int NDRA_Create_config(int type, int ndim, dra_size_t dims[], char *name, char *filename, int mode,
                       dra_size_t reqdims[], int numfiles, int ioprocs, int *d_a);

/* Linked in its place, to fail. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_weir_pattern_copy(const weir_pattern *from, const void *source, const weir_pattern *to,
                             void *target);
int __wrap_weir_pattern_copy(const weir_pattern *from, const void *source, const weir_pattern *to,
                             void *target);

static bool copies_fail;

int __wrap_weir_pattern_copy(const weir_pattern *from, const void *source, const weir_pattern *to,
                             void *target)
{
    const weir_error error = {.code = WEIR_ENOMEM, .text = "told to fail"};
    return copies_fail ? weir_error_raise(&error)
                       : __real_weir_pattern_copy(from, source, to, target);
}

/* NOLINTEND(bugprone-reserved-identifier) */

static dra_size_t unknown[2] = {-1, -1};

static int make(int type, int rows, int columns)
{
    int dims[] = {rows, columns}, chunk[] = {-1, -1};
    int g_a = NGA_Create(type, 2, dims, "g", chunk);
    GA_Zero(g_a);
    return g_a;
}

static int make_cyclic(void)
{
    int g_a = GA_Create_handle(), dims[] = {N, N}, block[] = {7, 5};
    GA_Set_data(g_a, 2, dims, C_DBL);
    GA_Set_block_cyclic(g_a, block);
    CHECK(GA_Allocate(g_a));
    return g_a;
}

static void fill(int g_a, double value)
{
    GA_Fill(g_a, &value);
}

static int create(char *file, int type, long rows, long columns, int *d_a)
{
    dra_size_t dims[] = {rows, columns};
    return NDRA_Create(type, 2, dims, "array", file, DRA_RW, unknown, d_a);
}

static int write_whole(int g_a, int d_a)
{
    int request, code = NDRA_Write(g_a, d_a, &request);
    return code ? code : DRA_Wait(request);
}

static int read_whole(int g_a, int d_a)
{
    int request, code = NDRA_Read(g_a, d_a, &request);
    return code ? code : DRA_Wait(request);
}

/* All of a global array has that value. */
static void check_value(int g_a, int rows, int columns, double value)
{
    int lo[] = {0, 0}, hi[] = {rows - 1, columns - 1}, ld[] = {columns};
    double *got = malloc(sizeof *got * (size_t)(rows * columns));
    CHECK(got != NULL);
    NGA_Get(g_a, lo, hi, got, ld);
    for (int i = 0; i < rows * columns; i++)
        CHECK(got[i] == value);
    free(got);
    GA_Sync();
}

static void check_array(char *file, int g_a, double value)
{
    int d_a;
    fill(g_a, -1);
    DRA_OK(DRA_Open(file, DRA_R, &d_a));
    DRA_OK(read_whole(g_a, d_a));
    check_value(g_a, N, N, value);
    DRA_OK(DRA_Close(d_a));
}

static void test_limits(void)
{
    int d_a = 77, other;
    const long integer = 5;
    double looks_small, looks_odd;
    char *file = dra_path("limits");
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EINVAL, "DRA_Init");
    memcpy(&looks_small, &integer, sizeof integer); /* what a program gives that passes integers */
    memcpy(&looks_odd, &(long){-1}, sizeof looks_odd);
    DRA_OK(DRA_Init(-1, looks_small, looks_odd, looks_small));
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_OK(DRA_Delete(d_a));
    DRA_OK(DRA_Init(1, 8. * N * N, 12. * N * N, 1e6));
    DRA_FAILS(create(file, C_DBL, N, N + 1, &d_a), WEIR_EBUDGET, "allows an array");
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_FAILS(create(file, C_INT, N, N, &other), WEIR_EBUDGET, "as many as");
    DRA_OK(DRA_Init(5, -1, 12. * N * N, 1e6));
    DRA_FAILS(create(file, C_DBL, N, N, &other), WEIR_EBUDGET, "on disk");
    DRA_OK(DRA_Delete(d_a));
    DRA_OK(DRA_Init(5, -1, 20. * N * N, 1e6)); /* two at a time: until it is closed, a new one is */
    for (int i = 0; i < 3; i++) {              /* beside that which it replaces */
        DRA_OK(create(file, C_DBL, N, N, &d_a));
        DRA_OK(DRA_Close(d_a));
    }
    DRA_FAILS(create(file, C_DBL, N, 2 * N, &d_a), WEIR_EBUDGET, "on disk");
    for (int i = 0; i < 3; i++) {
        DRA_OK(DRA_Open(file, DRA_R, &d_a));
        DRA_OK(DRA_Delete(d_a));
        DRA_OK(create(file, C_DBL, N, N, &d_a));
        DRA_OK(DRA_Close(d_a));
    }
    DRA_OK(create(file, C_INT, N, N, &d_a));
    DRA_OK(DRA_Delete(d_a)); /* both are gone */
    DRA_OK(create(file, C_DBL, N, 2 * N, &d_a));
    DRA_OK(DRA_Delete(d_a));
    DRA_FAILS(create(file, C_DBL, N, 3 * N, &d_a), WEIR_EBUDGET, "on disk");
    DRA_OK(DRA_Terminate());
}

static void test_arguments(void)
{
    int d_a = 77, request = 0, status;
    dra_size_t dims[8] = {1, 1, 1, 1, 1, 1, 1, 1}, lo[] = {0, 0}, hi[] = {N - 1, N};
    int glo[] = {0, 0}, ghi[] = {N - 1, N - 1};
    char *file = dra_path("arguments"), longest[300] = "";
    memset(longest, 'x', sizeof longest - 1);
    DRA_FAILS(NDRA_Create(C_DBL, 8, dims, "a", file, DRA_RW, dims, &d_a), WEIR_EINVAL,
              "dimensions");
    DRA_FAILS(create(file, C_CHAR, N, N, &d_a), WEIR_EINVAL, "type");
    DRA_FAILS(create(file, C_DBL, N, 0, &d_a), WEIR_EINVAL, "indices");
    DRA_FAILS(create(longest, C_DBL, N, N, &d_a), WEIR_EINVAL, "characters");
    DRA_FAILS(create("", C_DBL, N, N, &d_a), WEIR_EINVAL, "characters");
    DRA_FAILS(NDRA_Create(C_DBL, 2, dims, "a", file, 5, dims, &d_a), WEIR_EINVAL, "mode");
    DRA_FAILS(create("no/such/folder/a", C_DBL, N, N, &d_a), WEIR_ENOENT, "no/such/folder/a");
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_ENOENT, file);
    if (dra_ranks > 1)
        DRA_FAILS(DRA_Open(file, dra_rank ? DRA_R : DRA_RW, &d_a), WEIR_EDISAGREE, "fit together");
    CHECK_EQUAL(d_a, 77);
    DRA_FAILS(DRA_Close(d_a), WEIR_EINVAL, "77");
    DRA_FAILS(DRA_Delete(0), WEIR_EINVAL, "no open");
    DRA_OK(DRA_Wait(DRA_REQ_INVALID));
    DRA_OK(DRA_Probe(DRA_REQ_INVALID, &status));
    CHECK_EQUAL(status, -1);
    DRA_FAILS(DRA_Wait(-5), WEIR_EINVAL, "no request");
    int g_a = make(C_DBL, N, N), ints = make(C_INT, N, N), wide = make(C_DBL, N, N + 1);
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_FAILS(NDRA_Write(ints, d_a, &request), WEIR_EINVAL, "type");
    DRA_FAILS(NDRA_Write(wide, d_a, &request), WEIR_EINVAL, "shapes");
    DRA_FAILS(NDRA_Write(12345, d_a, &request), WEIR_EINVAL, "no global array");
    DRA_FAILS(NDRA_Write_section(0, g_a, glo, ghi, d_a, lo, hi, &request), WEIR_EINVAL, "40");
    hi[1] = N - 2;
    DRA_FAILS(NDRA_Write_section(0, g_a, glo, ghi, d_a, lo, hi, &request), WEIR_EINVAL, "1600");
    hi[1] = N - 1;
    lo[0] = dra_rank == dra_ranks - 1 ? -1 : 0; /* one rank alone is wrong */
    DRA_FAILS(NDRA_Write_section(0, g_a, glo, ghi, d_a, lo, hi, &request), WEIR_EINVAL, "-1 to");
    DRA_OK(write_whole(g_a, d_a));
    DRA_OK(DRA_Close(d_a));
    DRA_OK(DRA_Open(file, DRA_R, &d_a));
    DRA_FAILS(NDRA_Write(g_a, d_a, &request), WEIR_EACCESS, "reading only");
    DRA_OK(DRA_Close(d_a));
    DRA_OK(DRA_Open(file, DRA_W, &d_a));
    DRA_FAILS(NDRA_Read(g_a, d_a, &request), WEIR_EACCESS, "writing only");
    DRA_OK(DRA_Delete(d_a));
    GA_Destroy(g_a);
    GA_Destroy(ints);
    GA_Destroy(wide);
}

/* Rank 0 does something to a file, and the others wait. */
static void cut(const char *file, long bytes)
{
    if (dra_rank == 0)
        CHECK(truncate(file, bytes) == 0);
    GA_Sync();
}

static void overwrite(const char *file, const char *text)
{
    if (dra_rank == 0) {
        int fd = open(file, O_WRONLY | O_CREAT, 0666);
        CHECK(fd >= 0);
        CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
        CHECK(close(fd) == 0);
    }
    GA_Sync();
}

static void test_damage(void)
{
    int d_a, g_a = make(C_DBL, N, N);
    char *file = dra_path("damage"), label[300], info[300];
    snprintf(label, sizeof label, "%s.dra", file);
    snprintf(info, sizeof info, "%s.info", file);
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_OK(write_whole(g_a, d_a));
    DRA_OK(DRA_Close(d_a));
    cut(file, 5000);
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EFORMAT, "cut short");
    overwrite(label, "no label");
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EFORMAT, label);
    overwrite(file, "no array");
    if (dra_rank == 0)
        unlink(label);
    GA_Sync();
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EFORMAT, file);
    overwrite(info, "2 5 x");
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EFORMAT, info);
    overwrite(info, "2 100 100 1004 1 10 10 1 1\nname\n");
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EFORMAT, "cut short");
    overwrite(info, "2 1000000 1000000 1004 0 1 1 4 4\nname\n");
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EFORMAT, info);
    overwrite(info, "3 999999999999 999999999 999999999 1004 0 9999999 9999999 9999999 1 1\n");
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EFORMAT, info);
    if (dra_rank == 0) {
        unlink(info);
        unlink(file);
    }
    GA_Destroy(g_a);
}

/* How many files have such a name; the same on all ranks. */
static long count_files(const char *pattern)
{
    glob_t found = {0};
    GA_Sync();
    long count = glob(pattern, 0, NULL, &found) ? 0 : (long)found.gl_pathc;
    globfree(&found);
    GA_Sync();
    return count;
}

/* Arrays that Weir has and GA does not. */
static void test_foreign(void)
{
    int d_a;
    char *file = dra_path("foreign");
    weir_array *array;
    const weir_array_info info = {
        .type = WEIR_F8, .dimensions = 8, .shape = {1, 1, 1, 1, 1, 1, 1, 2}};
    CHECK(!weir_array_create(MPI_COMM_WORLD, file, &info, NULL, NULL, &array));
    CHECK(!weir_array_close(array));
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EUNSUPPORTED, "of 8 dimensions");
    CHECK(!weir_array_remove(MPI_COMM_WORLD, file));
}

/* What would keep us waiting for somebody at its other end is not opened: in place of the array, of
 * its label, of the description of one as the DRA library has it. */
static void test_pipes(void)
{
    static const char *const endings[][2] = {{"", NULL}, {".dra", ""}, {".info", ""}};
    int d_a;
    char *file = dra_path("pipe"), path[300];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2 && endings[i][k] && dra_rank == 0; k++) {
            snprintf(path, sizeof path, "%s%s", file, endings[i][k]);
            CHECK(!mkfifo(path, 0666));
        }
        GA_Sync();
        CHECK(DRA_Open(file, DRA_R, &d_a) < 0);
        CHECK(DRA_Open(file, DRA_RW, &d_a) < 0);
        GA_Sync();
        for (int k = 0; k < 2 && endings[i][k] && dra_rank == 0; k++) {
            snprintf(path, sizeof path, "%s%s", file, endings[i][k]);
            unlink(path);
        }
    }
}

/* The k-th transfer from now on fails, of what is opened before the next call; NULL: none does. */
static void set_fault(const char *fault, int k)
{
    char setting[40];
    DRA_OK(DRA_Terminate());
    snprintf(setting, sizeof setting, "%s:%d", fault ? fault : "", k);
    if (fault)
        setenv("WEIR_FAULT", setting, 1);
    DRA_OK(DRA_Init(-1, -1, -1, -1));
}

/* The k-th transfer of a write fails, for every k until none does: all ranks are told, the array
 * gets no name, and the older one of that name is as it was. */
static void fail_writes(const char *fault, int code, int g_a, char *file)
{
    int d_a, k = 1, failed = 1;
    for (; failed && k < 50; k++) {
        set_fault(fault, k);
        DRA_OK(create(file, C_DBL, N, N, &d_a));
        unsetenv("WEIR_FAULT");
        fill(g_a, 7);
        failed = write_whole(g_a, d_a);
        CHECK(!failed || failed == code);
        if (failed) {
            CHECK(DRA_Close(d_a) < 0);
            set_fault(NULL, 0);
            check_array(file, g_a, 5);
        }
    }
    CHECK(k > 2 && !failed);
    DRA_OK(DRA_Delete(d_a));
}

/* The same of a read: the array is as good as before. */
static void fail_reads(const char *fault, int code, int g_a, char *file)
{
    int d_a, k = 1, failed = 1;
    for (; failed && k < 50; k++) {
        set_fault(fault, k);
        DRA_OK(DRA_Open(file, DRA_R, &d_a));
        unsetenv("WEIR_FAULT");
        fill(g_a, -1);
        failed = read_whole(g_a, d_a);
        CHECK(!failed || failed == code);
        if (failed)
            DRA_OK(read_whole(g_a, d_a));
        check_value(g_a, N, N, 5);
        DRA_OK(DRA_Close(d_a));
    }
    CHECK(k > 2 && !failed);
}

static void test_faults(const char *fault, int code, int g_a)
{
    int d_a;
    char *file = dra_path("faults");
    fill(g_a, 5);
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_OK(write_whole(g_a, d_a));
    DRA_OK(DRA_Close(d_a));
    if (code == WEIR_EIO)
        fail_reads(fault, code, g_a, file);
    fail_writes(fault, code, g_a, file);
    set_fault(NULL, 0);
    GA_Destroy(g_a);
}

/* A write to an array that was opened fails: who opens it afterwards is told. */
static void test_marked(void)
{
    int d_a, g_a = make(C_DBL, N, N);
    char *file = dra_path("marked"), label[300];
    snprintf(label, sizeof label, "%s.dra", file);
    fill(g_a, 5);
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_OK(write_whole(g_a, d_a));
    DRA_OK(DRA_Close(d_a));
    DRA_OK(DRA_Terminate());
    setenv("WEIR_FAULT", "eio:1", 1);
    DRA_OK(DRA_Init(-1, -1, -1, -1));
    DRA_OK(DRA_Open(file, DRA_RW, &d_a));
    unsetenv("WEIR_FAULT");
    DRA_FAILS(write_whole(g_a, d_a), WEIR_EIO, file);
    DRA_FAILS(DRA_Close(d_a), WEIR_EIO, "has failed");
    DRA_OK(DRA_Terminate());
    DRA_OK(DRA_Init(-1, -1, -1, -1));
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_EFORMAT, "incomplete");
    if (dra_rank == 0)
        unlink(label);
    GA_Sync();
    DRA_OK(DRA_Open(file, DRA_R, &d_a));
    DRA_OK(DRA_Delete(d_a));
    GA_Destroy(g_a);
}

/* Whether the label beside a file says so. */
static bool is_writing(const char *file)
{
    char path[300], text[100] = "";
    snprintf(path, sizeof path, "%s.dra", file);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && !close(fd));
    return strstr(text, "state writing") != NULL;
}

/* Where the label cannot be written nothing is; where it can later on, it is. */
static void test_label(void)
{
    int d_a, request, g_a = make(C_DBL, N, N);
    char *file = dra_path("label"), label[300], aside[300], victim[300];
    snprintf(label, sizeof label, "%s.dra", file);
    snprintf(aside, sizeof aside, "%s.aside", file);
    snprintf(victim, sizeof victim, "%s.dra-new", file); /* once a name that anybody could take */
    CHECK(dra_rank || !symlink(aside, victim));
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_OK(DRA_Close(d_a));
    CHECK(dra_rank || (access(aside, F_OK) && !unlink(victim)));
    DRA_OK(DRA_Open(file, DRA_RW, &d_a));
    CHECK(dra_rank || (!rename(label, aside) && !mkdir(label, 0777)));
    DRA_FAILS(NDRA_Write(g_a, d_a, &request), WEIR_EIO, "label");
    CHECK(dra_rank || (!rmdir(label) && !rename(aside, label)));
    GA_Sync();
    CHECK(!is_writing(file));
    DRA_OK(write_whole(g_a, d_a));
    CHECK(is_writing(file));
    GA_Sync();
    DRA_OK(DRA_Close(d_a));
    CHECK(!is_writing(file));
    DRA_OK(DRA_Open(file, DRA_R, &d_a));
    DRA_OK(DRA_Delete(d_a));
    GA_Destroy(g_a);
}

/* What has the name and is no array stays, also where a new one is made elsewhere at first. */
static void test_left_alone(void)
{
    int d_a;
    char *file = dra_path("letter"), text[20] = "";
    overwrite(file, "a letter");
    for (int scratch = 0; scratch < 2; scratch++) {
        if (scratch)
            setenv("WEIR_DRA_SCRATCH", "/dev/shm", 1);
        DRA_FAILS(create(file, C_DBL, N, N, &d_a), WEIR_EEXIST, "no array");
        unsetenv("WEIR_DRA_SCRATCH");
    }
    int fd = open(file, O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof text) == 8 && !close(fd) && !strcmp(text, "a letter"));
    GA_Sync();
    CHECK(dra_rank || !unlink(file));
}

/* A program may go elsewhere while arrays are open; their names are those it gave. */
static void test_elsewhere(const char *scratch)
{
    int d_a, type, dimensions, g_a = make(C_DBL, N, N);
    dra_size_t shape[2];
    char *file = dra_path("elsewhere"), here[400], name[100], given[300];
    CHECK(getcwd(here, sizeof here) != NULL);
    fill(g_a, 6);
    for (int opened = 0; opened < 2; opened++) {
        if (*scratch)
            setenv("WEIR_DRA_SCRATCH", scratch, 1);
        DRA_OK(opened ? DRA_Open(file, DRA_RW, &d_a) : create(file, C_DBL, N, N, &d_a));
        unsetenv("WEIR_DRA_SCRATCH");
        CHECK(!chdir("/"));
        DRA_OK(NDRA_Inquire(d_a, &type, &dimensions, shape, name, given));
        CHECK(!strcmp(given, file));
        DRA_OK(write_whole(g_a, d_a));
        DRA_OK(DRA_Close(d_a));
        CHECK(!chdir(here));
        check_array(file, g_a, 6);
    }
    DRA_OK(DRA_Open(file, DRA_RW, &d_a));
    CHECK(!chdir("/"));
    DRA_OK(DRA_Delete(d_a));
    CHECK(!chdir(here));
    snprintf(given, sizeof given, "%s*", file);
    CHECK_EQUAL(count_files(given), 0);
    GA_Destroy(g_a);
}

/* The last rank cannot prepare what it is to write: it writes nothing, rather than anything. */
static void test_staging(void)
{
    int d_a, request, g_a = make_cyclic(), plain = make(C_DBL, N, N);
    int lo[] = {0, 0}, hi[] = {N - 1, N - 1}, ld[] = {N};
    dra_size_t dlo[] = {0, 0}, dhi[] = {N - 1, N - 1};
    char *file = dra_path("staging");
    static double got[N * N];
    fill(plain, 5);
    fill(g_a, 7);
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_OK(write_whole(plain, d_a));
    copies_fail = dra_rank == dra_ranks - 1;
    DRA_OK(NDRA_Write_section(1, g_a, lo, hi, d_a, dlo, dhi, &request));
    DRA_FAILS(DRA_Wait(request), WEIR_ENOMEM, "told");
    copies_fail = false;
    DRA_OK(read_whole(plain, d_a));
    NGA_Get(plain, lo, hi, got, ld);
    for (int i = 0; i < N * N; i++)
        CHECK(got[i] == 5 || (dra_ranks > 1 && got[i] == 7));
    GA_Sync();
    DRA_FAILS(DRA_Close(d_a), WEIR_EIO, "not kept");
    CHECK(access(file, F_OK) != 0);
    GA_Destroy(g_a);
    GA_Destroy(plain);
}

static void test_full(char *folder)
{
    int d_a, g_a = make(C_DBL, BIG, BIG), small = make(C_DBL, N, N);
    char file[300], older[300];
    snprintf(file, sizeof file, "%s/full", folder);
    snprintf(older, sizeof older, "%s/older", folder);
    fill(small, 3);
    DRA_OK(create(older, C_DBL, N, N, &d_a));
    DRA_OK(write_whole(small, d_a));
    DRA_OK(DRA_Close(d_a));
    int code = create(file, C_DBL, BIG, BIG, &d_a);
    if (!code) {
        fill(g_a, 1);
        DRA_FAILS(write_whole(g_a, d_a), WEIR_ENOSPC, "full");
        CHECK(DRA_Close(d_a) < 0);
        CHECK(access(file, F_OK) != 0);
    } else {
        CHECK_EQUAL(code, WEIR_ENOSPC);
    }
    check_array(older, small, 3);
    GA_Destroy(g_a);
    GA_Destroy(small);
}

/* New arrays are in another folder until they are closed; those that are deleted never move. */
static void test_scratch(void)
{
    int d_a, g_a = make(C_DBL, N, N);
    char *file = dra_path("scratched"), there[300], here[300];
    snprintf(there, sizeof there, "/dev/shm/%s*", file);
    snprintf(here, sizeof here, "%s*", file);
    setenv("WEIR_DRA_SCRATCH", "/dev/shm", 1);
    fill(g_a, 9);
    for (int keep = 0; keep < 2; keep++) {
        DRA_OK(create(file, C_DBL, N, N, &d_a));
        DRA_OK(write_whole(g_a, d_a));
        CHECK_EQUAL(count_files(there), 1);
        CHECK_EQUAL(count_files(here), 0);
        DRA_OK(keep ? DRA_Close(d_a) : DRA_Delete(d_a));
        CHECK_EQUAL(count_files(there), 0);
        CHECK_EQUAL(count_files(here), 2 * keep); /* it and its label */
    }
    unsetenv("WEIR_DRA_SCRATCH");
    check_array(file, g_a, 9);
    DRA_OK(DRA_Open(file, DRA_R, &d_a));
    DRA_OK(DRA_Delete(d_a));
    GA_Destroy(g_a);
}

/* An array of 3 x 3 as GA's own library writes it, in as many files. */
static void make_old(const char *file, int files)
{
    char path[320], text[80];
    snprintf(path, sizeof path, "%s.info", file);
    snprintf(text, sizeof text, "2 3 3 %d 0 3 %d %d %d\nolder\n", C_DBL, files > 1 ? 1 : 3, files,
             files);
    overwrite(path, text);
    memset(text, 'x', sizeof text);
    text[files > 1 ? 24 : 72] = 0;
    for (int i = 0; i < files; i++) {
        snprintf(path, sizeof path, files > 1 ? "%s.%d" : "%s", file, i);
        overwrite(path, text);
    }
}

/* A new array in place of an old one, from the scratch folder or from beside it; a set keeps its
 * disks. */
static void replace(int old_files, int files, int scratch)
{
    int d_a, g_a = make(C_DBL, N, N);
    dra_size_t dims[] = {N, N};
    char *file = dra_path("replaced"), around[320], here[400], disks[900];
    make_old(file, old_files);
    CHECK(getcwd(here, sizeof here) != NULL);
    snprintf(disks, sizeof disks, "%s/dra-disk-1:%s/dra-disk-2", here, here);
    setenv("WEIR_DISKS", disks, 1);
    if (scratch)
        setenv("WEIR_DRA_SCRATCH", "/dev/shm", 1);
    fill(g_a, 9);
    DRA_OK(NDRA_Create_config(C_DBL, 2, dims, "new", file, DRA_RW, unknown, files, 0, &d_a));
    DRA_OK(write_whole(g_a, d_a));
    DRA_OK(DRA_Close(d_a));
    unsetenv("WEIR_DRA_SCRATCH");
    check_array(file, g_a, 9);
    snprintf(around, sizeof around, "%s*", file);
    CHECK_EQUAL(count_files(around), 2); /* it and its label */
    CHECK_EQUAL(count_files("dra-disk-[12]/*"), files > 1 ? files : 0);
    DRA_OK(DRA_Open(file, DRA_R, &d_a));
    DRA_OK(DRA_Delete(d_a)); /* with local arrays on disks that are still named */
    unsetenv("WEIR_DISKS");
    CHECK_EQUAL(count_files(around), 0);
    CHECK_EQUAL(count_files("dra-disk-[12]/*"), 0);
    GA_Destroy(g_a);
}

/* The new array has no room where the old one is: that one stays, and both can be found. */
static void test_no_room(char *folder)
{
    int d_a, g_a = make(C_DBL, BIG, BIG);
    char file[300], left[340], *name = dra_path("no-room");
    snprintf(file, sizeof file, "%s/%s", folder, name);
    make_old(file, 1);
    setenv("WEIR_DRA_SCRATCH", "/dev/shm", 1);
    DRA_OK(create(file, C_DBL, BIG, BIG, &d_a));
    DRA_OK(write_whole(g_a, d_a));
    snprintf(left, sizeof left, "/dev/shm/%s.", name);
    DRA_FAILS(DRA_Close(d_a), WEIR_ENOSPC, left);
    unsetenv("WEIR_DRA_SCRATCH");
    snprintf(left, sizeof left, "/dev/shm/%s.*", name);
    CHECK_EQUAL(count_files(left), 1);
    DRA_OK(DRA_Open(file, DRA_R, &d_a));
    DRA_OK(DRA_Delete(d_a));
    snprintf(left, sizeof left, "rm /dev/shm/%s.*", name);
    CHECK(dra_rank || system(left) == 0);
    GA_Destroy(g_a);
}

/* What programs forget is done for them. */
static void test_forgotten(void)
{
    int d_a, other, request, g_a = make(C_DBL, N, N);
    char *file = dra_path("forgotten");
    fill(g_a, 4);
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_OK(NDRA_Write(g_a, d_a, &request));
    DRA_OK(DRA_Terminate());
    DRA_OK(DRA_Init(-1, -1, -1, -1));
    check_array(file, g_a, 4);
    DRA_OK(DRA_Open(file, DRA_RW, &d_a));
    DRA_OK(create(file, C_DBL, N, 2, &other)); /* in its place, once closed */
    DRA_OK(DRA_Close(d_a));
    DRA_OK(DRA_Delete(other));
    DRA_FAILS(DRA_Open(file, DRA_R, &d_a), WEIR_ENOENT, "forgotten");
    GA_Destroy(g_a);
}

/* What is synced: files or folders fail. */
static bool files_fail, folders_fail;

__attribute__((visibility("default"))) int fsync(int fd) /* the library's as well */
{
    struct stat facts;
    CHECK(!fstat(fd, &facts));
    errno = EIO;
    return (S_ISDIR(facts.st_mode) ? folders_fail : files_fail) ? -1 : (int)syscall(SYS_fsync, fd);
}

static void set_durable(bool durable)
{
    DRA_OK(DRA_Terminate());
    if (durable)
        unsetenv("WEIR_DURABLE");
    else
        setenv("WEIR_DURABLE", "disable", 1);
    DRA_OK(DRA_Init(-1, -1, -1, -1));
}

/* Rank 0 decides what is synced, whatever the others have in their environment. */
static void test_environments(char *file, int g_a)
{
    int d_a;
    for (int i = 0; i < 2; i++) {
        set_durable(i == !dra_rank);
        setenv("WEIR_DRA_SCRATCH", ".", 1);
        DRA_OK(create(file, C_DBL, N, N, &d_a));
        DRA_OK(write_whole(g_a, d_a));
        DRA_OK(DRA_Close(d_a));
        unsetenv("WEIR_DRA_SCRATCH");
        DRA_OK(DRA_Open(file, DRA_RW, &d_a));
        DRA_OK(write_whole(g_a, d_a));
        DRA_OK(DRA_Close(d_a));
    }
}

/* What cannot be synced: why, and where the array is then. */
static void test_durable(void)
{
    int d_a, g_a = make(C_DBL, N, N);
    char *file = dra_path("durable"), around[300];
    char *before = getenv("WEIR_DURABLE");
    const bool durable = !before || !strcmp(before, "enable");
    fill(g_a, 8);
    test_environments(file, g_a);
    set_durable(true);
    setenv("WEIR_DRA_SCRATCH", ".", 1);
    DRA_OK(create(file, C_DBL, N, N, &d_a));
    DRA_OK(write_whole(g_a, d_a));
    folders_fail = true;
    DRA_FAILS(DRA_Close(d_a), WEIR_EIO, "may undo its move");
    folders_fail = false;
    CHECK(strstr(weir_dra_error(), file) && !strstr(weir_dra_error(), "cannot be moved"));
    unsetenv("WEIR_DRA_SCRATCH");
    snprintf(around, sizeof around, "%s*", file);
    CHECK_EQUAL(count_files(around), 2); /* with the label of the one before */
    check_array(file, g_a, 8);
    DRA_OK(DRA_Open(file, DRA_RW, &d_a));
    DRA_OK(write_whole(g_a, d_a));
    files_fail = true;
    DRA_FAILS(DRA_Close(d_a), WEIR_EIO, "marked as incomplete: cannot sync");
    files_fail = false;
    set_durable(durable);
    if (dra_rank == 0) {
        snprintf(around, sizeof around, "rm %s*", file);
        CHECK(!system(around));
    }
    GA_Destroy(g_a);
    GA_Sync();
}

static void remove_left(void)
{
    if (dra_rank == 0)
        CHECK(system("rm -rf dra-*-faults* dra-*-marked* dra-disk-[12]") == 0);
    GA_Sync();
}

int main(int argc, char **argv)
{
    dra_begin(&argc, &argv);
    check_within(100);
    test_limits();
    DRA_OK(DRA_Init(-1, -1, -1, -1));
    test_arguments();
    test_damage();
    test_foreign();
    test_pipes();
    test_scratch();
    test_forgotten();
    for (int i = 0; i < 8; i++)
        replace(i & 1 ? 3 : 1, i & 2 ? 4 : 1, i & 4);
    test_marked();
    test_label();
    test_durable();
    test_left_alone();
    test_elsewhere("");
    test_elsewhere(".");
    test_staging();
    test_faults("eio", WEIR_EIO, make(C_DBL, N, N));
    test_faults("eio", WEIR_EIO, make_cyclic());
    test_faults("enospc", WEIR_ENOSPC, make(C_DBL, N, N));
    if (argc > 1) {
        test_no_room(argv[1]);
        test_full(argv[1]);
    }
    DRA_OK(DRA_Terminate());
    remove_left();
    check_within(0);
    dra_end();
    return 0;
}
