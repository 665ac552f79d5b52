/* What a program may rely on at the edges of exclusive-access files, one promise after another. */
#include <eaf.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "check.h"

enum { END = -1977, NO_WRITE = -1999, NO_READ = -1997, NO_REQUEST = -1994, NO_PLACE = -2000 };
enum { NOT_OPEN = -44, NO_FILE = -10006, FULL = -10007, NOT_REMOVED = -10013, NOT_WHOLE = -10018 };

static char name[64];

/* The text of a code is there, fits, and says what it must. */
static void check_text(int code, const char *part)
{
    char text[81] = {0};
    text[80] = 'x';
    EAF_Errmsg(code, text);
    CHECK(strlen(text) > 0 && strlen(text) < 80 && text[80] == 'x');
    if (!strstr(text, part))
        fprintf(stderr, "\"%s\" without \"%s\"\n", text, part);
    CHECK(strstr(text, part));
}

static void test_open(void)
{
    int fd = 5;
    CHECK_EQUAL(EAF_Open("no/such/folder/file", EAF_RW, &fd), NOT_OPEN);
    check_text(NOT_OPEN, "No such file or directory");
    CHECK_EQUAL(EAF_Open(name, EAF_R, &fd), NOT_OPEN);
    CHECK_EQUAL(EAF_Open(name, 0, &fd), NOT_OPEN);
    check_text(NOT_OPEN, "type");
    CHECK_EQUAL(EAF_Open(name, -4, &fd), NOT_OPEN);
    CHECK(access(name, F_OK));
    CHECK_EQUAL(EAF_Close(0), NO_FILE);
    CHECK_EQUAL(EAF_Close(-1), NO_FILE);
    CHECK_EQUAL(EAF_Truncate(1 << 30, 0), NO_FILE);
    check_text(NO_FILE, "number");
}

/* Reading and writing as the type says; writing begins a new file, both keep the old one. */
static void test_types(void)
{
    char memory[4] = "abc", got[4] = "";
    double length = -1;
    int fd;
    CHECK_EQUAL(EAF_Open(name, EAF_W, &fd), 0);
    CHECK_EQUAL(EAF_Write(fd, 0, memory, 4), 0);
    CHECK_EQUAL(EAF_Read(fd, 0, got, 4), NO_READ);
    CHECK_EQUAL(EAF_Close(fd), 0);
    CHECK_EQUAL(EAF_Open(name, EAF_R, &fd), 0);
    CHECK_EQUAL(EAF_Read(fd, 0, got, 4), 0);
    CHECK(!strcmp(got, "abc"));
    CHECK_EQUAL(EAF_Write(fd, 0, memory, 4), NO_WRITE);
    check_text(NO_WRITE, "writing");
    CHECK_EQUAL(EAF_Close(fd), 0);
    CHECK_EQUAL(EAF_Open(name, EAF_RW, &fd), 0);
    CHECK_EQUAL(EAF_Length(fd, &length), 0);
    CHECK_EQUAL((int)length, 4);
    CHECK_EQUAL(EAF_Close(fd), 0);
    CHECK_EQUAL(EAF_Open(name, EAF_W, &fd), 0);
    CHECK_EQUAL(EAF_Length(fd, &length), 0);
    CHECK_EQUAL((int)length, 0);
    CHECK_EQUAL(EAF_Close(fd), 0);
    CHECK_EQUAL(EAF_Delete(name), 0);
}

static void test_places(void)
{
    char memory[8] = "1234567", got[8] = "";
    double far = 5.0 * 1024 * 1024 * 1024 + 3, length = 0;
    int fd, id = 9;
    CHECK_EQUAL(EAF_Open(name, EAF_RW, &fd), 0);
    CHECK_EQUAL(EAF_Write(fd, 0.5, memory, 8), NOT_WHOLE);
    CHECK_EQUAL(EAF_Write(fd, -1, memory, 8), NO_PLACE);
    CHECK_EQUAL(EAF_Read(fd, 1e30, memory, 8), NO_PLACE);
    CHECK_EQUAL(EAF_Write(fd, 0, memory, (size_t)-1), NO_PLACE);
    CHECK_EQUAL(EAF_Aread(fd, -8, memory, 8, &id), NO_PLACE);
    CHECK_EQUAL(EAF_Wait(fd, id), 0);
    CHECK_EQUAL(EAF_Truncate(fd, -1), NO_PLACE);
    CHECK_EQUAL(EAF_Write(fd, far, memory, 8), 0);
    CHECK_EQUAL(EAF_Length(fd, &length), 0);
    CHECK(length == far + 8);
    CHECK_EQUAL(EAF_Read(fd, far, got, 8), 0);
    CHECK(!memcmp(got, memory, 8));
    CHECK_EQUAL(EAF_Read(fd, far + 1, got, 8), END);
    CHECK_EQUAL(EAF_Eof(END), 0);
    CHECK(EAF_Eof(0) && EAF_Eof(NO_READ));
    check_text(END, "end of file");
    CHECK_EQUAL(EAF_Close(fd), 0);
    CHECK_EQUAL(EAF_Delete(name), 0);
}

static void test_requests(void)
{
    char memory[8] = "1234567";
    int fd, id = 9, status = -1;
    CHECK_EQUAL(EAF_Open(name, EAF_RW, &fd), 0);
    CHECK_EQUAL(EAF_Probe(123456, &status), NO_REQUEST);
    CHECK_EQUAL(EAF_Wait(fd, 123456), NO_REQUEST);
    CHECK_EQUAL(EAF_Wait(fd, -1), 0);
    CHECK_EQUAL(EAF_Awrite(fd, 0, memory, 8, &id), 0);
    for (status = 1; status;)
        CHECK_EQUAL(EAF_Probe(id, &status), 0);
    CHECK_EQUAL(EAF_Wait(fd, id), 0);
    CHECK_EQUAL(EAF_Aread(fd, 4, memory, 8, &id), 0);
    for (int code = status = 1; status; CHECK_EQUAL(code, status ? 0 : END))
        code = EAF_Probe(id, &status);
    CHECK_EQUAL(EAF_Probe(id, &status), END);
    CHECK_EQUAL(EAF_Wait(fd, id), END);
    CHECK_EQUAL(EAF_Awrite(fd, 0, memory, 8, &id), 0);
    CHECK_EQUAL(EAF_Close(fd), 0); /* forgets it */
    CHECK_EQUAL(EAF_Probe(id, &status), 0);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(EAF_Delete(name), 0);
}

static void test_names(void)
{
    char kind[8] = "";
    long free_mib = -1;
    struct statvfs s = {0};
    CHECK_EQUAL(EAF_Delete(name), 0);
    CHECK_EQUAL(mkdir(name, 0777), 0);
    CHECK_EQUAL(EAF_Delete(name), NOT_REMOVED);
    CHECK_EQUAL(rmdir(name), 0);
    CHECK_EQUAL(EAF_Stat(name, &free_mib, kind, 8), 0);
    CHECK(!strcmp(kind, "UFS") && !statvfs(".", &s));
    double there = (double)s.f_bavail * (double)s.f_frsize / (1 << 20);
    CHECK((double)free_mib > there / 2 && (double)free_mib < there * 2 + 2);
    CHECK_EQUAL(EAF_Stat("/file", &free_mib, kind, 8), 0);
    CHECK_EQUAL(EAF_Stat("no/such/folder/file", &free_mib, kind, 8), -1991);
    CHECK_EQUAL(EAF_Stat(name, &free_mib, kind, 7), -10016);
}

/* In memory: found again by name, not on disk, no more than was asked for. */
static void test_memory(void)
{
    static char memory[1 << 20], got[1 << 20];
    double length = -1;
    int fd, again, other, id;
    memset(memory, 7, sizeof memory);
    CHECK_EQUAL(EAF_Open(name, 1, &fd), 0);
    CHECK(access(name, F_OK));
    CHECK_EQUAL(EAF_Write(fd, 0, memory, sizeof memory), 0);
    CHECK_EQUAL(EAF_Write(fd, 1, memory, sizeof memory), FULL);
    check_text(FULL, "memory");
    CHECK_EQUAL(EAF_Awrite(fd, 1 << 20, memory, 1, &id), FULL);
    CHECK_EQUAL(EAF_Truncate(fd, (1 << 20) + 1), -10019);
    CHECK_EQUAL(EAF_Aread(fd, 0, got, sizeof got, &id), 0);
    CHECK_EQUAL(EAF_Wait(fd, id), 0);
    CHECK(!memcmp(memory, got, sizeof got));
    CHECK_EQUAL(EAF_Close(fd), 0);
    CHECK_EQUAL(EAF_Length(fd, &length), NO_FILE);
    CHECK_EQUAL(EAF_Open(name, 2, &again), 0);
    CHECK_EQUAL(again, fd);
    CHECK_EQUAL(EAF_Write(fd, 1 << 20, memory, sizeof memory), 0);
    CHECK_EQUAL(EAF_Length(fd, &length), 0);
    CHECK_EQUAL((int)length, 2 << 20);
    CHECK_EQUAL(EAF_Open("other", 1, &other), 0);
    CHECK(other != fd);
    CHECK_EQUAL(EAF_Delete("other"), 0);
    CHECK_EQUAL(EAF_Delete(name), 0);
    CHECK_EQUAL(EAF_Close(fd), NO_FILE);
    CHECK_EQUAL(EAF_Open(name, 1, &fd), 0);
    CHECK_EQUAL(EAF_Read(fd, 0, got, 1), END);
    CHECK_EQUAL(EAF_Delete(name), 0);
}

static void test_many(void)
{
    enum { MANY = 300 };
    int fd[MANY];
    char own[80];
    for (int i = 0; i < MANY; i++) {
        snprintf(own, sizeof own, "%s.%d", name, i);
        CHECK_EQUAL(EAF_Open(own, EAF_RW, &fd[i]), 0);
        CHECK_EQUAL(EAF_Write(fd[i], 0, &i, sizeof i), 0);
    }
    for (int i = 0, got = -1; i < MANY; i++) {
        snprintf(own, sizeof own, "%s.%d", name, i);
        CHECK_EQUAL(EAF_Read(fd[i], 0, &got, sizeof got), 0);
        CHECK_EQUAL(got, i);
        CHECK_EQUAL(EAF_Close(fd[i]), 0);
        CHECK_EQUAL(EAF_Delete(own), 0);
    }
}

int main(int count, char **words)
{
    int rank = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "eaf_edges.%d", rank);
    CHECK_EQUAL(EAF_Delete(name), 0);
    check_within(60);
    test_open();
    test_types();
    test_places();
    test_requests();
    test_names();
    test_memory();
    test_many();
    check_within(0);
    MPI_Finalize();
    return 0;
}
