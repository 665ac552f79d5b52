/* Random calls of exclusive-access files against an array of bytes: what is under way counts as
 * done, since what comes later must see it. Each rank has files of its own. */
#include <eaf.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST = 300000, ACCESS = 70000, PENDING = 48, MEBIBYTE = 1 << 20 };
enum { END = -1977, FULL = -10007 };

typedef struct pending {
    bool used, write;
    int id, wanted;
    int64_t bytes, there;
    char *memory, *expected;
} pending;

typedef struct scene {
    rng r;
    int fd, type;
    char name[64];
    char bytes[MOST + ACCESS];
    int64_t length;
    pending pending[PENDING];
} scene;

static scene s;

static void fill(char *memory, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        memory[i] = (char)rng_next(&s.r);
}

/* What a read brings is what is there; it is at the end of file if that is not all. */
static int64_t count_there(int64_t at, int64_t bytes)
{
    int64_t left = s.length > at ? s.length - at : 0;
    return bytes < left ? bytes : left;
}

static void note_write(int64_t at, const char *memory, int64_t bytes)
{
    memcpy(s.bytes + at, memory, (size_t)bytes);
    if (bytes && at + bytes > s.length)
        s.length = at + bytes;
}

static void finish(pending *p)
{
    CHECK_EQUAL(EAF_Wait(s.fd, p->id), p->wanted);
    if (!p->write)
        CHECK(!memcmp(p->memory, p->expected, (size_t)p->there));
    CHECK_EQUAL(EAF_Wait(s.fd, p->id), 0);
    free(p->memory);
    free(p->expected);
    p->used = false;
}

static void finish_all(void)
{
    for (int i = 0; i < PENDING; i++)
        if (s.pending[i].used)
            finish(&s.pending[i]);
}

static void start(pending *p, int64_t at)
{
    *p = (pending){.used = true, .write = rng_chance(&s.r, 50)};
    p->bytes = rng_within(&s.r, 0, ACCESS);
    p->memory = malloc((size_t)p->bytes + 1);
    p->expected = malloc((size_t)p->bytes + 1);
    CHECK(p->memory && p->expected);
    p->id = 77;
    if (p->write) {
        fill(p->memory, p->bytes);
        note_write(at, p->memory, p->bytes);
        CHECK_EQUAL(EAF_Awrite(s.fd, (double)at, p->memory, (size_t)p->bytes, &p->id), 0);
        return;
    }
    p->there = count_there(at, p->bytes);
    memcpy(p->expected, s.bytes + at, (size_t)p->there);
    p->wanted = p->there < p->bytes ? END : 0;
    int code = EAF_Aread(s.fd, (double)at, p->memory, (size_t)p->bytes, &p->id);
    if (s.type < 0)
        CHECK_EQUAL(code, 0);
    else
        CHECK_EQUAL(code, p->wanted);
    p->wanted = s.type < 0 ? p->wanted : 0; /* in memory it is over at once */
}

static void start_or_finish(int64_t at)
{
    pending *p = &s.pending[rng_within(&s.r, 0, PENDING - 1)];
    if (p->used)
        finish(p);
    else
        start(p, at);
}

static void access_now(int64_t at)
{
    static char memory[ACCESS];
    int64_t bytes = rng_within(&s.r, 0, ACCESS), there = count_there(at, bytes);
    if (rng_chance(&s.r, 50)) {
        fill(memory, bytes);
        CHECK_EQUAL(EAF_Write(s.fd, (double)at, memory, (size_t)bytes), 0);
        note_write(at, memory, bytes);
        return;
    }
    int code = EAF_Read(s.fd, (double)at, memory, (size_t)bytes);
    CHECK_EQUAL(code, there < bytes ? END : 0);
    CHECK_EQUAL(EAF_Eof(code), there == bytes);
    CHECK(!memcmp(memory, s.bytes + at, (size_t)there));
}

static void probe(void)
{
    pending *p = &s.pending[rng_within(&s.r, 0, PENDING - 1)];
    int status = -1;
    if (!p->used)
        return;
    int code = EAF_Probe(p->id, &status);
    CHECK(status == 0 || status == 1);
    CHECK_EQUAL(code, status ? 0 : p->wanted);
}

static void resize(void)
{
    int64_t length = rng_within(&s.r, 0, MOST);
    CHECK_EQUAL(EAF_Truncate(s.fd, (double)length), 0);
    if (length < s.length)
        memset(s.bytes + length, 0, (size_t)(s.length - length));
    s.length = length;
}

static void open_again(void)
{
    int fd = s.fd;
    finish_all();
    CHECK_EQUAL(EAF_Close(s.fd), 0);
    CHECK_EQUAL(EAF_Write(fd, 0, s.bytes, 1), -10006);
    CHECK_EQUAL(EAF_Open(s.name, s.type, &s.fd), 0);
}

static void check_length(void)
{
    double length = -1;
    CHECK_EQUAL(EAF_Length(s.fd, &length), 0);
    CHECK_EQUAL((int64_t)length, s.length);
}

static void step(void)
{
    int64_t at = rng_within(&s.r, 0, MOST);
    int what = (int)rng_within(&s.r, 0, 99);
    if (what < 55)
        start_or_finish(at);
    else if (what < 80)
        access_now(at);
    else if (what < 90)
        probe();
    else if (what < 94)
        resize();
    else if (what < 96)
        open_again();
    else
        check_length();
}

static void run(int type, int rank, int64_t cases)
{
    s.type = type;
    s.length = 0;
    memset(s.bytes, 0, sizeof s.bytes);
    snprintf(s.name, sizeof s.name, "eaf_model.%d.%d", rank, type);
    CHECK_EQUAL(EAF_Delete(s.name), 0);
    CHECK_EQUAL(EAF_Open(s.name, type, &s.fd), 0);
    for (int64_t i = 0; i < cases; i++) {
        check_case(i);
        step();
    }
    finish_all();
    CHECK_EQUAL(EAF_Close(s.fd), 0);
    CHECK_EQUAL(EAF_Delete(s.name), 0);
    check_case(-1);
}

int main(int count, char **words)
{
    int rank = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    s.r.state = test_seed() + (uint64_t)rank;
    check_within(120);
    run(EAF_RW, rank, test_cases(600, 20000));
    run(1, rank, test_cases(600, 20000));
    check_within(0);
    MPI_Finalize();
    return 0;
}
