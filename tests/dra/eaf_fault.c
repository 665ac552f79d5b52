/* Files on a storage that misbehaves: `eaf_fault K` makes the K-th transfer of each file fail, in a
 * way of the rank's own; `eaf_fault slow` makes every transfer late, so that what returns at once
 * has been started only. */
#include <eaf.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <sf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

enum { RECORD = 4096, RECORDS = 6, FEW = 2, NO_WRITE = -1999, NO_READ = -1997 };
enum { FAILED = 1 };

static const char *const kinds[] = {"eio", "enospc", "short", "eintr"};
static const char *const reasons[] = {"Input/output error", "No space left", "Input/output error",
                                      NULL};
static char memory[RECORDS][RECORD], name[32];
static int rank, lost_writes, lost_reads; /* of RECORDS each */
static const char *reason;

static void check_text(void (*errmsg)(int, char *), int code)
{
    char text[80];
    errmsg(code, text);
    bool good = reason && strstr(text, reason);
    if (!good)
        fprintf(stderr, "rank %d: \"%s\" without \"%s\"\n", rank, text, reason ? reason : "");
    CHECK(good);
}

/* Counts a result, which is 0 or `code` with a text that tells why. */
static int count(int result, int code)
{
    if (!result)
        return 0;
    CHECK_EQUAL(result, code);
    check_text(EAF_Errmsg, code);
    return 1;
}

static int reopen(int fd)
{
    if (fd >= 0)
        CHECK_EQUAL(EAF_Close(fd), 0);
    CHECK_EQUAL(EAF_Open(name, EAF_RW, &fd), 0);
    return fd;
}

static void test_now(void)
{
    int fd = reopen(-1), failed = 0;
    for (int i = 0; i < RECORDS; i++)
        failed += count(EAF_Write(fd, i * RECORD, memory[i], RECORD), NO_WRITE);
    CHECK_EQUAL(failed, lost_writes);
    CHECK_EQUAL(EAF_Truncate(fd, RECORDS * RECORD), 0);
    fd = reopen(fd);
    failed = 0;
    for (int i = 0; i < RECORDS; i++) {
        char got[RECORD];
        failed += count(EAF_Read(fd, i * RECORD, got, RECORD), NO_READ);
        CHECK(lost_writes || !memcmp(got, memory[i], RECORD));
    }
    CHECK_EQUAL(failed, lost_reads);
    CHECK_EQUAL(EAF_Close(fd), 0);
    CHECK_EQUAL(EAF_Delete(name), 0);
}

static void test_later(void)
{
    int fd = reopen(-1), failed = 0, ids[RECORDS];
    static char got[RECORDS][RECORD];
    for (int i = 0; i < RECORDS; i++)
        CHECK_EQUAL(EAF_Awrite(fd, i * RECORD, memory[i], RECORD, &ids[i]), 0);
    for (int i = 0; i < RECORDS; i++)
        failed += count(EAF_Wait(fd, ids[i]), NO_WRITE);
    CHECK_EQUAL(failed, lost_writes);
    CHECK_EQUAL(EAF_Truncate(fd, RECORDS * RECORD), 0);
    fd = reopen(fd);
    failed = 0;
    for (int i = 0; i < RECORDS; i++)
        CHECK_EQUAL(EAF_Aread(fd, i * RECORD, got[i], RECORD, &ids[i]), 0);
    for (int i = 0; i < RECORDS; i++)
        failed += count(EAF_Wait(fd, ids[i]), NO_READ);
    CHECK_EQUAL(failed, lost_reads);
    CHECK(lost_writes || !memcmp(got, memory, sizeof got));
    fd = reopen(fd);
    for (int i = 0; i < RECORDS; i++)
        CHECK_EQUAL(EAF_Awrite(fd, i * RECORD, memory[i], RECORD, &ids[i]), 0);
    CHECK_EQUAL(EAF_Close(fd), lost_writes ? NO_WRITE : 0); /* nobody has waited */
    CHECK_EQUAL(EAF_Delete(name), 0);
}

static void test_shared(void)
{
    int handle, ids[RECORDS];
    char shared[] = "eaf_fault_shared";
    CHECK_EQUAL(SF_Create(shared, 0, 0, 0, &handle), 0);
    for (int i = 0; i < RECORDS; i++) {
        double at = (rank * RECORDS + i) * RECORD;
        CHECK_EQUAL(SF_Write(handle, at, RECORD, memory[i], &ids[i]), 0);
    }
    int failed = SF_Waitall(ids, RECORDS);
    CHECK_EQUAL(failed, lost_writes ? FAILED : 0);
    if (failed)
        check_text(SF_Errmsg, FAILED);
    CHECK_EQUAL(SF_Destroy(handle), 0);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All transfers take 0.3 s, which calls that start them do not. */
static void test_slow(void)
{
    int fd = reopen(-1), ids[RECORDS], status = -1, handle;
    char shared[] = "eaf_slow_shared";
    CHECK_EQUAL(SF_Create(shared, 0, 0, 0, &handle), 0);
    double start = now();
    for (int i = 0; i < FEW; i++)
        CHECK_EQUAL(EAF_Awrite(fd, i * RECORD, memory[i], RECORD, &ids[i]), 0);
    for (int i = FEW; i < 2 * FEW; i++) {
        double at = (rank * RECORDS + i) * RECORD;
        CHECK_EQUAL(SF_Write(handle, at, RECORD, memory[i], &ids[i]), 0);
    }
    CHECK_EQUAL(EAF_Probe(ids[0], &status), 0);
    double started = now() - start;
    CHECK_EQUAL(status, 1);
    CHECK(started < 0.2);
    for (int i = 0; i < FEW; i++)
        CHECK_EQUAL(EAF_Wait(fd, ids[i]), 0);
    CHECK_EQUAL(SF_Waitall(ids + FEW, FEW), 0);
    double over = now() - start;
    printf("started in %.4f s, over in %.4f s\n", started, over);
    CHECK(over >= 0.29);
    CHECK_EQUAL(SF_Destroy(handle), 0);
    CHECK_EQUAL(EAF_Close(fd), 0);
    CHECK_EQUAL(EAF_Delete(name), 0);
}

int main(int words, char **word)
{
    char fault[32];
    MPI_Init(&words, &word);
    GA_Initialize();
    MA_init(C_DBL, 10000, 10000);
    rank = GA_Nodeid();
    snprintf(name, sizeof name, "eaf_fault.%d", rank);
    CHECK(words == 2);
    bool slow = !strcmp(word[1], "slow");
    int kind = rank % 4;
    snprintf(fault, sizeof fault, slow ? "delay:300000" : "%s:%s", kinds[kind], word[1]);
    CHECK(!setenv("WEIR_FAULT", fault, 1)); /* before the first file */
    reason = reasons[kind];
    lost_writes = reason != NULL;
    lost_reads = lost_writes && strcmp(kinds[kind], "short"); /* what is missing is read again */
    for (int i = 0; i < RECORDS; i++)
        memset(memory[i], 'a' + i + rank, RECORD);
    CHECK_EQUAL(EAF_Delete(name), 0);
    check_within(60);
    if (slow) {
        test_slow();
    } else {
        test_now();
        test_later();
        test_shared();
    }
    check_within(0);
    GA_Terminate();
    MPI_Finalize();
    return 0;
}
