/* What is promised to programs on several hosts whose file system caches (docs/coherence.md): one
 * function for each promise, which says how many bytes and calls were wrong.
 *
 * usage: promises [NAME...], in the folder that hosts share; all, or those named. Every rank knows
 * what all do, and so what it must read. The first and the last rank are on different hosts. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "mpiio/door_support.h"
#include "weir/weir.h"

enum { ROOM = 1 << 20, LIMIT = 60 };

static unsigned char want[ROOM], got[ROOM], given[ROOM];
static int64_t wrong;
static int64_t times; /* that each is tried, about */

/* --- what is done, and what is seen --- */

#define OK(call) expect((call), #call, __LINE__)
#define DONE(call) expect_weir((call), #call, __LINE__)

static void complain(const char *what, const char *how, int line)
{
    if (!wrong++)
        fprintf(stderr, "rank %d, line %d: %s: %s\n", door_rank, line, what, how);
}

static void expect(int code, const char *what, int line)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    complain(what, text, line);
}

static void expect_weir(int code, const char *what, int line)
{
    if (code)
        complain(what, weir_error_last()->text, line);
}

/* What is at an offset since a time. */
static unsigned char value(int64_t at, int64_t time)
{
    return (unsigned char)(1 + (at * 7 + time * 41 + at / 251) % 250);
}

static void fill(unsigned char *bytes, int64_t lo, int64_t hi, int64_t time)
{
    for (int64_t i = lo; i < hi; i++)
        bytes[i] = value(i, time);
}

/* got[lo, hi), of which `count` bytes were read, is as it should be. */
static void compare(int64_t lo, int64_t hi, int64_t count, int line)
{
    char text[100];
    if (count != hi - lo) {
        snprintf(text, sizeof text, "%lld bytes of [%lld, %lld)", (long long)count, (long long)lo,
                 (long long)hi);
        complain("read", text, line);
    }
    for (int64_t i = lo; i < lo + count; i++)
        if (got[i] != want[i]) {
            snprintf(text, sizeof text, "byte %lld is %d, not %d", (long long)i, got[i], want[i]);
            complain("read", text, line);
        }
}

#define LOOK(fh, lo, hi) look((fh), MPI_File_read_at, (lo), (hi), __LINE__)
#define LOOK_ALL(fh, lo, hi) look((fh), MPI_File_read_at_all, (lo), (hi), __LINE__)

static void look(MPI_File fh,
                 int (*read)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *),
                 int64_t lo, int64_t hi, int line)
{
    MPI_Status status;
    int count = 0;
    memset(got + lo, 0xEE, (size_t)(hi - lo));
    int code = read(fh, lo, got + lo, (int)(hi - lo), MPI_BYTE, &status);
    expect(code, "read", line);
    if (!code)
        MPI_Get_count(&status, MPI_BYTE, &count);
    compare(lo, hi, count, line);
}

#define LOOK_SIZE(fh, size) look_size((fh), (size), __LINE__)

static void look_size(MPI_File fh, int64_t wanted, int line)
{
    MPI_Offset size = -1;
    char text[100];
    expect(MPI_File_get_size(fh, &size), "size", line);
    snprintf(text, sizeof text, "%lld, not %lld", (long long)size, (long long)wanted);
    if (size != wanted)
        complain("size", text, line);
}

static void open_new(const char *path, const char *hints, MPI_File *fh)
{
    MPI_Info info = door_info(hints);
    memset(want, 0, ROOM);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, fh));
    OK(MPI_File_set_size(*fh, 0));
    MPI_Info_free(&info);
}

/* --- what ranks write: a piece each, with holes between them --- */

typedef struct deal {
    int64_t base, piece, hole;
} deal;

static int64_t piece_of(const deal *d, int64_t rank)
{
    return d->base + (rank % door_ranks) * (d->piece + d->hole);
}

static int64_t end_of(const deal *d)
{
    return piece_of(d, door_ranks - 1) + d->piece;
}

static void note(const deal *d, int64_t time)
{
    for (int q = 0; q < door_ranks; q++)
        fill(want, piece_of(d, q), piece_of(d, q) + d->piece, time);
}

/* The piece that has number `which`, modulo the number of ranks. */
static void write_piece(MPI_File fh, const deal *d, int64_t which, int64_t time, bool together)
{
    const int64_t lo = piece_of(d, which);
    fill(given, lo, lo + d->piece, time);
    OK((together ? MPI_File_write_at_all : MPI_File_write_at)(fh, lo, given + lo, (int)d->piece,
                                                              MPI_BYTE, MPI_STATUS_IGNORE));
}

static const int64_t pieces[] = {100, 30000};

/* --- sync --- */

static void try_sync(const char *path)
{
    for (int i = 0; i < 2; i++) {
        MPI_File fh;
        open_new(path, "", &fh);
        for (int64_t time = 0; time < times; time++) {
            const deal d = {time * pieces[i], pieces[i], pieces[i] / 2};
            write_piece(fh, &d, door_rank, time, time % 3 == 2);
            note(&d, time);
            OK(MPI_File_sync(fh));
            LOOK_SIZE(fh, end_of(&d));
            LOOK(fh, 0, end_of(&d));
            MPI_Barrier(MPI_COMM_WORLD);
        }
        OK(MPI_File_close(&fh));
    }
}

static void move_run(weir_file *f, bool write, int64_t lo, int64_t hi)
{
    weir_pattern *where, *memory;
    int64_t count;
    DONE(weir_pattern_contiguous(lo, hi - lo, &where));
    DONE(weir_pattern_contiguous(0, hi - lo, &memory));
    if (write)
        DONE(weir_file_write(f, where, memory, given + lo, &count, NULL));
    else
        DONE(weir_file_read(f, where, memory, got + lo, &count, NULL));
    weir_pattern_free(where);
    weir_pattern_free(memory);
    if (!write)
        compare(lo, hi, count, __LINE__);
}

static void try_file_sync(const char *path)
{
    weir_file *f;
    memset(want, 0, ROOM);
    DONE(weir_file_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, NULL, &f));
    for (int64_t time = 0; time < times; time++) {
        const deal d = {time * 500, 1000, 300};
        int64_t lo = piece_of(&d, door_rank), size;
        fill(given, lo, lo + d.piece, time);
        move_run(f, true, lo, lo + d.piece);
        note(&d, time);
        DONE(weir_file_sync(f));
        DONE(weir_file_get_size(f, &size));
        if (size != end_of(&d))
            complain("size", "old", __LINE__);
        move_run(f, false, 0, end_of(&d));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    DONE(weir_file_close(f));
}

/* --- arrays --- */

enum { ROWS = 48, COLUMNS = 30, ELEMENTS = ROWS * COLUMNS };

static int32_t element(int64_t i, int64_t time)
{
    return (int32_t)(i + 1000000 * time);
}

static weir_array *create_array(MPI_Comm comm, const char *path)
{
    weir_array *a = NULL;
    const weir_array_info info = {.type = WEIR_I4, .dimensions = 2, .shape = {ROWS, COLUMNS}};
    DONE(weir_array_create(comm, path, &info, &(weir_array_options){.overwrite = 1}, NULL, &a));
    return a;
}

/* Rows [first, ROWS) in steps. */
static void write_rows(weir_array *a, int64_t first, int64_t step, int64_t time)
{
    int32_t data[ELEMENTS];
    int64_t n = 0;
    const int64_t lo[] = {first, 0}, hi[] = {ROWS, COLUMNS}, steps[] = {step, 1};
    for (int64_t i = first; i < ROWS; i += step)
        for (int64_t k = 0; k < COLUMNS; k++)
            data[n++] = element(i * COLUMNS + k, time);
    DONE(weir_array_write(a, &(weir_selection){.lo = lo, .hi = hi, .step = steps}, NULL, data,
                          NULL));
}

static void look_rows(weir_array *a, int64_t time)
{
    int32_t data[ELEMENTS] = {0};
    DONE(weir_array_read(a, &(weir_selection){0}, NULL, data, NULL));
    for (int64_t i = 0; i < ELEMENTS; i++)
        if (data[i] != element(i, time))
            complain("array", "an old element", __LINE__);
}

static void try_array_sync(const char *path)
{
    weir_array *a = create_array(MPI_COMM_WORLD, path);
    for (int64_t time = 0; a && time < times; time++) {
        write_rows(a, (door_rank + time) % door_ranks, door_ranks, time);
        DONE(weir_array_sync(a));
        look_rows(a, time);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (a)
        DONE(weir_array_close(a));
}

static void look_at_array(MPI_Comm comm, const char *path, int64_t time)
{
    weir_array *a = NULL;
    DONE(weir_array_open(comm, path, WEIR_READ, NULL, &a));
    if (!a)
        return;
    look_rows(a, time);
    DONE(weir_array_close(a));
}

/* One rank makes it, ranks on other hosts look at it; then the other way round. */
static void try_replaced_array(const char *path)
{
    for (int64_t time = 0; time < times; time++) {
        const int maker = time % 2 ? door_ranks - 1 : 0;
        if (door_rank == maker) {
            weir_array *a = create_array(MPI_COMM_SELF, path);
            if (a) {
                write_rows(a, 0, 1, time);
                DONE(weir_array_close(a));
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        look_at_array(time % 4 < 2 ? MPI_COMM_SELF : MPI_COMM_WORLD, path, time);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* --- close, then open --- */

static void try_close(const char *path)
{
    MPI_File fh;
    open_new(path, "", &fh);
    for (int64_t time = 0; time < times; time++) {
        const deal d = {time * 900, 1000, 300};
        write_piece(fh, &d, door_rank, time, time % 2);
        note(&d, time);
        OK(MPI_File_close(&fh));
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
        LOOK_SIZE(fh, end_of(&d));
        LOOK(fh, 0, end_of(&d));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&fh));
}

static void open_own(const char *path, int amode, MPI_File *fh)
{
    OK(MPI_File_open(MPI_COMM_SELF, path, amode, MPI_INFO_NULL, fh));
}

/* A file of one size: one rank changes it and the others, who may have it open, look; and so on. */
static void try_own_of(const char *path, int64_t bytes)
{
    for (int64_t time = 0; time < times; time++) {
        MPI_File fh, kept;
        const int writer = time % 2 ? door_ranks - 1 : 0;
        const bool keeps = time % 4 > 1 && door_rank != writer;
        if (keeps)
            open_own(path, MPI_MODE_RDONLY, &kept);
        if (keeps)
            LOOK(kept, 0, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        fill(want, 0, bytes, time);
        if (door_rank == writer) {
            open_own(path, MPI_MODE_CREATE | MPI_MODE_WRONLY, &fh);
            OK(MPI_File_write_at(fh, 0, want, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
            OK(MPI_File_close(&fh));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        open_own(path, MPI_MODE_RDONLY, &fh);
        LOOK_SIZE(fh, bytes);
        LOOK(fh, 0, bytes);
        OK(MPI_File_close(&fh));
        if (keeps)
            OK(MPI_File_close(&kept));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void try_own(const char *path)
{
    try_own_of(path, 1 << 10);
    try_own_of(path, 1 << 20);
}

/* Ranks that only read it, together, sync after one that has written it by a handle of its own. */
static void try_readers(const char *path)
{
    MPI_File own = MPI_FILE_NULL, fh;
    const int writer = door_ranks - 1;
    memset(want, 0, ROOM);
    if (door_rank == writer)
        open_own(path, MPI_MODE_CREATE | MPI_MODE_RDWR, &own);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    for (int64_t time = 0; time < times; time++) {
        const int64_t lo = 400 * time, hi = lo + 1000;
        fill(want, lo, hi, time);
        if (door_rank == writer) {
            OK(MPI_File_write_at(own, lo, want + lo, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
            OK(MPI_File_sync(own));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_sync(fh));
        LOOK_SIZE(fh, hi);
        LOOK(fh, 0, hi);
        LOOK_ALL(fh, 0, hi);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (door_rank == writer)
        OK(MPI_File_close(&own));
    OK(MPI_File_close(&fh));
}

/* --- without a sync --- */

/* Pieces in turn, each call by other ranks and over part of what was written before. */
static void try_together(const char *path)
{
    for (int i = 0; i < 2; i++) {
        MPI_File fh;
        open_new(path, "", &fh);
        for (int64_t time = 0; time < 3 * times; time++) {
            const deal d = {time % 5 * (pieces[i] / 3), pieces[i], time % 2 * 50};
            write_piece(fh, &d, door_rank + time, time, true);
            note(&d, time);
            if (time % 3 == 1)
                LOOK_ALL(fh, 0, end_of(&d));
            const int64_t other = piece_of(&d, door_rank + time + 1);
            LOOK_ALL(fh, other, other + d.piece);
        }
        OK(MPI_File_close(&fh));
    }
}

/* The same by calls that do not block, or are split. */
static void try_forms(const char *path)
{
    MPI_File fh;
    open_new(path, "", &fh);
    for (int64_t time = 0; time < 2 * times; time++) {
        MPI_Request requests[2];
        const deal d = {time % 5 * 700, 2000, 100};
        const int64_t lo = piece_of(&d, door_rank + time),
                      other = piece_of(&d, door_rank + time + 1);
        const int bytes = (int)d.piece;
        fill(given, lo, lo + bytes, time);
        note(&d, time);
        memset(got, 0xEE, ROOM);
        if (time % 2) {
            OK(MPI_File_iwrite_at_all(fh, lo, given + lo, bytes, MPI_BYTE, &requests[0]));
            OK(MPI_File_iread_at_all(fh, other, got + other, bytes, MPI_BYTE, &requests[1]));
            MPI_Waitall(2, requests, door_no_statuses);
        } else {
            OK(MPI_File_write_at_all_begin(fh, lo, given + lo, bytes, MPI_BYTE));
            OK(MPI_File_write_at_all_end(fh, given + lo, MPI_STATUS_IGNORE));
            OK(MPI_File_read_at_all_begin(fh, other, got + other, bytes, MPI_BYTE));
            OK(MPI_File_read_at_all_end(fh, got + other, MPI_STATUS_IGNORE));
        }
        compare(other, other + bytes, bytes, __LINE__);
    }
    OK(MPI_File_close(&fh));
}

/* A rank reads what it has written itself, by a call of the other kind; and writes over it. */
static void try_own_writes(const char *path)
{
    for (int i = 0; i < 2; i++) {
        MPI_File fh;
        open_new(path, "", &fh);
        for (int64_t time = 0; time < 2 * times; time++) {
            const deal d = {0, pieces[i], 10};
            const int64_t lo = piece_of(&d, door_rank);
            write_piece(fh, &d, door_rank, time, time % 4 < 2);
            note(&d, time);
            if (time % 2)
                LOOK(fh, lo, lo + d.piece);
            else
                LOOK_ALL(fh, lo, lo + d.piece);
        }
        OK(MPI_File_close(&fh));
    }
}

/* A rank writes together and then alone, without reading: what it wrote last is what stays. */
static void try_last_write(const char *path)
{
    for (int64_t time = 0; time < times; time++) {
        MPI_File fh;
        const deal d = {0, time % 2 ? 30000 : 700, 10};
        memset(want, 0, ROOM);
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                         &fh));
        OK(MPI_File_set_size(fh, 0));
        for (int k = 0; k < 4; k++) {
            write_piece(fh, &d, door_rank, 2 * time, true);
            if (!k)
                LOOK_SIZE(fh, end_of(&d));
            write_piece(fh, &d, door_rank, 2 * time + 1, false);
        }
        note(&d, 2 * time + 1);
        OK(MPI_File_close(&fh));
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
        LOOK(fh, 0, end_of(&d));
        OK(MPI_File_close(&fh));
    }
}

static void try_size(const char *path)
{
    static const int64_t sizes[] = {100000, 3000, 50000, 10, 5000};
    MPI_File fh;
    open_new(path, "", &fh);
    for (int64_t time = 0; time < 5; time++) {
        const deal d = {0, 9000, 100};
        write_piece(fh, &d, door_rank, time, time % 2);
        note(&d, time);
        OK(MPI_File_set_size(fh, sizes[time]));
        memset(want + sizes[time], 0, (size_t)(ROOM - sizes[time]));
        LOOK_SIZE(fh, sizes[time]);
        LOOK(fh, 0, sizes[time]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&fh));
}

/* The last rank writes alone what then is a hole in what all write together. */
static void write_around(const char *path, const char *hints)
{
    enum { BLOCK = 64, GAP = 64, BLOCKS = 6, ROW = BLOCKS * (BLOCK + GAP) };
    MPI_Datatype blocks;
    MPI_File fh;
    MPI_Type_create_hvector(BLOCKS, BLOCK, BLOCK + GAP, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    open_new(path, hints, &fh);
    for (int64_t time = 0; time < times; time++) {
        const int64_t row = ROW, all = row * door_ranks;
        fill(want, 0, all, time);
        for (int64_t at = BLOCK; at < all && door_rank == door_ranks - 1; at += BLOCK + GAP)
            OK(MPI_File_write_at(fh, at, want + at, GAP, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_set_view(fh, door_rank * row, MPI_BYTE, blocks, "native", MPI_INFO_NULL));
        OK(MPI_File_write_at_all(fh, 0, want + door_rank * row, 1, blocks, MPI_STATUS_IGNORE));
        OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        OK(MPI_File_sync(fh));
        LOOK(fh, 0, all);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&blocks);
    OK(MPI_File_close(&fh));
}

static void try_holes(const char *path)
{
    write_around(path, "");
    write_around(path, "romio_ds_write=enable");
    write_around(path, "weir_access_write=sieve");
}

static void try_atomic(const char *path)
{
    MPI_File fh;
    open_new(path, "", &fh);
    OK(MPI_File_set_atomicity(fh, 1));
    for (int64_t time = 0; time < 3 * times; time++) {
        const int64_t lo = 200 * time, hi = lo + 2000;
        fill(want, lo, hi, time);
        if (time % 3 == 2)
            OK(MPI_File_write_at_all(fh, lo, want + lo, door_rank ? 0 : (int)(hi - lo), MPI_BYTE,
                                     MPI_STATUS_IGNORE));
        else if (door_rank == (time % 2 ? door_ranks - 1 : 0))
            OK(MPI_File_write_at(fh, lo, want + lo, (int)(hi - lo), MPI_BYTE, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        LOOK(fh, 0, hi);
        LOOK_SIZE(fh, hi);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&fh));
}

/* --- the shared pointer --- */

/* Records of a rank and their number there: each once, whatever the order, and the ranks' own in
 * the order in which they wrote. */
static void look_at_records(MPI_File fh, int each)
{
    int32_t *records = (int32_t *)(void *)got;
    int next[100] = {0};
    const int all = each * door_ranks;
    MPI_Status status;
    int count = 0;
    OK(MPI_File_read_at(fh, 0, records, 2 * all, MPI_INT32_T, &status));
    MPI_Get_count(&status, MPI_INT32_T, &count);
    if (count != 2 * all)
        complain("records", "missing", __LINE__);
    for (int i = 0; i < count / 2; i++) {
        const int32_t *r = &records[(ptrdiff_t)2 * i];
        if (r[0] < 1 || r[0] > door_ranks || r[1] != next[r[0]]++)
            complain("records", "one is not there once, or in its turn", __LINE__);
    }
}

static void share_pointer(const char *path)
{
    MPI_File fh;
    open_new(path, "", &fh);
    for (int i = 0; i < 2 * times; i++) {
        const int32_t record[] = {door_rank + 1, i};
        OK(i % 4 == 3 ? MPI_File_write_ordered(fh, record, 2, MPI_INT32_T, MPI_STATUS_IGNORE)
                      : MPI_File_write_shared(fh, record, 2, MPI_INT32_T, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_sync(fh));
    look_at_records(fh, 2 * (int)times);
    OK(MPI_File_close(&fh));
}

/* It is made anew in every file, by who comes first. */
static void try_shared_pointer(const char *path)
{
    for (int64_t i = 0; i < times; i += 4) {
        share_pointer(path);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static const struct {
    const char *name, *says;
    void (*run)(const char *path);
} promises[] = {
    {"sync", "after MPI_File_sync all see what all wrote, sizes and holes", try_sync},
    {"file_sync", "after weir_file_sync", try_file_sync},
    {"array_sync", "after weir_array_sync", try_array_sync},
    {"readers", "after the sync of who only reads, too", try_readers},
    {"close", "who opens sees what was written before close", try_close},
    {"own", "also a rank alone that had the file open, or read, before", try_own},
    {"replaced", "an array in another's place is the new one for who opens it", try_replaced_array},
    {"together", "collective calls see each other without a sync", try_together},
    {"forms", "also those that do not block, or are split", try_forms},
    {"own_writes", "a rank sees its own writes, together and alone", try_own_writes},
    {"last_write", "of these the last one stays, also where nobody reads", try_last_write},
    {"size", "a size that was set is seen by all, and what was cut off is gone", try_size},
    {"holes", "what a rank wrote in the holes of a collective write stays", try_holes},
    {"atomic", "in atomic mode hosts see each other without a sync", try_atomic},
    {"shared_pointer", "a shared pointer gives each place once", try_shared_pointer},
};

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(name, argv[i]))
            return true;
    return argc < 2;
}

/* Whether it was kept. */
static bool keep(int i)
{
    const char *path = door_path(promises[i].name);
    double begin = MPI_Wtime();
    int64_t all;
    wrong = 0;
    promises[i].run(path);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (door_rank == 0) {
        MPI_File_delete(path, MPI_INFO_NULL);
        printf("%s: %s: %s (%lld wrong, %d ms)\n", all ? "BROKEN" : "kept", promises[i].name,
               promises[i].says, (long long)all, (int)((MPI_Wtime() - begin) * 1000));
        fflush(stdout);
    }
    return !all;
}

int main(int argc, char **argv)
{
    const char *shared = getenv("CLUSTER_SHARED");
    CHECK(!shared || !chdir(shared));
    door_begin(&argc, &argv);
    bool kept = true;
    times = test_long() ? 20 : 4;
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        check_within(LIMIT);
        if (is_wanted(promises[i].name, argc, argv))
            kept &= keep((int)i);
    }
    check_within(0);
    MPI_Finalize();
    return !kept;
}
