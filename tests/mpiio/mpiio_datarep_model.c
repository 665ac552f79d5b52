/* Random transfers of files in external32 against a model: random datatypes in file and memory,
 * all forms of transfer, chunks of any size, ends of files within elements. Every rank has its own
 * part of the file; what it must contain is computed element by element. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpiio/door_support.h"
#include "mpiio/twin_type.h"

enum { PART = 1 << 17, MEMORY = 1 << 16, MOST_BYTES = 2500, FORMS = 6, STEPS = 6 };

/* The view of this rank, and its part of the file. */
static twin etype, filetype;
static int64_t displacement;
static unsigned char part[PART];

static const char *path;
static MPI_File fh;

/* One transfer: `count` items of a type from an offset in etypes on. */
typedef struct job {
    const twin *type;
    int count;
    int64_t offset, elements, bytes; /* bytes in the file */
} job;

/* Element k of items in a row. */
static element element_of(const typed *t, int64_t k)
{
    element e = t->map[k % t->count];
    e.at += k / t->count * t->extent;
    return e;
}

/* Where in this rank's part data byte k of its view is. */
static int64_t place_of(int64_t k)
{
    return displacement - (int64_t)door_rank * PART + typed_byte(&filetype.file, k);
}

/* A filetype that may be written again and again. */
static bool is_usable(const twin *t)
{
    int64_t lo, hi, last = 0;
    typed_bounds(&t->file, &lo, &hi);
    for (int k = 0; k < t->file.count; k++) {
        if (t->file.map[k].at < last)
            return false;
        last = t->file.map[k].at + t->file.map[k].bytes;
    }
    return t->file.size > 0 && lo >= 0 && t->file.extent >= hi - lo;
}

static void choose_view(rng *r)
{
    static const twin byte = {.memory = {.type = MPI_BYTE, .count = 1, .map = {{0, 1}}, .size = 1},
                              .file = {.count = 1, .map = {{0, 1}}, .size = 1, .extent = 1}};
    bool bytes = rng_chance(r, 50);
    twin_release(&filetype);
    if (bytes)
        etype = byte;
    else
        twin_named(r, &etype);
    twin_random(r, bytes ? NULL : &etype, (int)rng_within(r, 0, 3), &filetype);
    while (!is_usable(&filetype)) {
        twin_release(&filetype);
        twin_random(r, bytes ? NULL : &etype, (int)rng_within(r, 0, 2), &filetype);
    }
    displacement = (int64_t)door_rank * PART + rng_within(r, 0, 100);
    MPI_Aint extent;
    CHECK_OK(MPI_File_set_view(fh, displacement, etype.memory.type, filetype.memory.type,
                               "external32", MPI_INFO_NULL));
    CHECK_OK(MPI_File_get_type_extent(fh, filetype.memory.type, &extent));
    CHECK_EQUAL(extent, filetype.file.extent);
}

/* Whether elements lie on one another in memory, or too far away. */
static bool is_tangled(const job *j)
{
    static unsigned char taken[2 * MEMORY];
    memset(taken, 0, sizeof taken);
    for (int64_t k = 0; k < j->elements; k++) {
        element e = element_of(&j->type->memory, k);
        if (e.at < -MEMORY || e.at + e.bytes > MEMORY)
            return true;
        for (int64_t i = 0; i < e.bytes; i++)
            if (taken[MEMORY + e.at + i]++)
                return true;
    }
    return false;
}

/* A memory type for this view; to be released. */
static void choose_job(rng *r, twin *type, job *j)
{
    bool bytes = etype.memory.type == MPI_BYTE;
    twin_random(r, bytes ? NULL : &etype, (int)rng_within(r, 0, 3), type);
    *j = (job){.type = type};
    int64_t most = MOST_BYTES / type->file.size;
    j->count = (int)rng_within(r, 0, rng_chance(r, 50) ? 3 : most);
    j->offset = rng_within(r, 0, 20);
    j->bytes = j->count * type->file.size;
    j->elements = (int64_t)j->count * type->file.count;
    if (is_tangled(j) ||
        (j->bytes && place_of(j->offset * etype.file.size + j->bytes - 1) >= PART)) {
        j->count = 0;
        j->bytes = j->elements = 0;
    }
}

static int transfer(int form, const job *j, bool write, void *memory, MPI_Status *status)
{
    door_order o = {.write = write,
                    .together = form % 2,
                    .at = form < 4,
                    .large = form == 3,
                    .offset = j->offset,
                    .buffer = memory,
                    .count = j->count,
                    .type = j->type->memory.type};
    MPI_Request request;
    if (!o.at)
        CHECK_OK(MPI_File_seek(fh, j->offset, MPI_SEEK_SET));
    if (form == 0 || form == 1 || form == 4)
        return door_transfer(fh, &o, status);
    if (form == 5) {
        int code = door_begin_split(fh, &o);
        return code ? code : door_end(fh, &o, status);
    }
    CHECK_OK(door_start(fh, &o, &request));
    door_wait(j->count % DOOR_WAYS, 1, &request, status);
    return MPI_SUCCESS;
}

static void check_status(const job *j, int form, const MPI_Status *status, int64_t elements)
{
    MPI_Count bytes;
    MPI_Offset at;
    int64_t wanted = 0;
    for (int64_t k = 0; k < elements; k++)
        wanted += element_of(&j->type->memory, k).bytes;
    MPI_Get_elements_x(status, MPI_BYTE, &bytes);
    CHECK_EQUAL(bytes, wanted);
    if (form < 4)
        return;
    CHECK_OK(MPI_File_get_position(fh, &at));
    CHECK_EQUAL(at, j->offset + j->bytes / etype.file.size);
}

/* [collective] The file has what the model has. */
static void check_file(void)
{
    static unsigned char found[PART];
    int file = open(path, O_RDONLY);
    CHECK(file >= 0);
    memset(found, 0, sizeof found);
    CHECK(pread(file, found, sizeof found, (off_t)door_rank * PART) >= 0);
    CHECK(!memcmp(found, part, sizeof part));
    close(file);
}

static void write_some(rng *r, int form)
{
    static unsigned char memory[2 * MEMORY];
    unsigned char *origin = memory + MEMORY, bytes[16];
    twin type;
    job j;
    MPI_Status status;
    choose_job(r, &type, &j);
    for (size_t k = 0; k < sizeof memory; k++)
        memory[k] = (unsigned char)rng_next(r);
    int64_t data = j.offset * etype.file.size;
    for (int64_t k = 0; k < j.elements; k++) {
        element m = element_of(&type.memory, k), f = element_of(&type.file, k);
        twin_draw(r, m.bytes, f.bytes, origin + m.at);
        twin_encode(m.bytes, f.bytes, origin + m.at, bytes);
        for (int64_t i = 0; i < f.bytes; i++)
            part[place_of(data++)] = bytes[i];
    }
    CHECK_OK(transfer(form, &j, true, origin, &status));
    check_status(&j, form, &status, j.elements);
    twin_release(&type);
}

static void read_some(rng *r, int form)
{
    static unsigned char memory[2 * MEMORY], wanted[2 * MEMORY];
    unsigned char bytes[16];
    struct stat about;
    twin type;
    job j;
    MPI_Status status;
    choose_job(r, &type, &j);
    for (size_t k = 0; k < sizeof memory; k++)
        wanted[k] = memory[k] = (unsigned char)rng_next(r);
    CHECK_EQUAL(stat(path, &about), 0);
    int64_t data = j.offset * etype.file.size, end = about.st_size - (int64_t)door_rank * PART, k;
    for (k = 0; k < j.elements; k++) {
        element m = element_of(&type.memory, k), f = element_of(&type.file, k);
        if (place_of(data + f.bytes - 1) >= end)
            break;
        for (int64_t i = 0; i < f.bytes; i++)
            bytes[i] = part[place_of(data++)];
        twin_decode(m.bytes, f.bytes, bytes, wanted + MEMORY + m.at);
    }
    CHECK_OK(transfer(form, &j, false, memory + MEMORY, &status));
    check_status(&j, form, &status, k);
    CHECK(!memcmp(memory, wanted, sizeof memory));
    twin_release(&type);
}

/* [collective] In the order of ranks, and whoever comes first: the shared pointer counts etypes of
 * the file. */
static void check_shared_pointer(rng *same)
{
    enum { MOST = 40 };
    long values[MOST] = {0}, again[MOST];
    int64_t count = rng_within(same, 0, MOST / 2) + (door_rank % 3 ? MOST / 2 : 0), before = 0, sum;
    MPI_Offset at;
    MPI_Status status;
    for (int64_t k = 0; k < count; k++)
        values[k] = -1000L * door_rank - (long)k;
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    MPI_Exscan(&count, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    before = door_rank ? before : 0;
    MPI_Allreduce(&count, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_OK(MPI_File_write_ordered(fh, values, (int)count, MPI_LONG, &status));
    CHECK_OK(MPI_File_get_position_shared(fh, &at));
    CHECK_EQUAL(at, sum);
    CHECK_OK(MPI_File_read_at(fh, before, again, (int)count, MPI_LONG, &status));
    CHECK(!memcmp(values, again, (size_t)count * sizeof *values));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_write_shared(fh, values, (int)count, MPI_LONG, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_get_position_shared(fh, &at));
    CHECK_EQUAL(at, 2 * sum);
}

/* [collective] One file from opening to closing. */
static void run_case(rng *same, rng *own)
{
    static const char *const hints[] = {"weir_window=1", "weir_window=9", "weir_window=100",
                                        "weir_window=1M", "weir_window=37;cb_nodes=1"};
    MPI_Info info = door_info(hints[rng_within(same, 0, 4)]);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
    MPI_Info_free(&info);
    CHECK_OK(MPI_File_set_size(fh, 0));
    memset(part, 0, sizeof part);
    CHECK_OK(MPI_File_set_atomicity(fh, rng_chance(same, 20)));
    for (int step = 0; step < STEPS; step++) {
        int form = (int)rng_within(same, 0, FORMS - 1);
        if (step % 3 == 0)
            choose_view(own);
        if (rng_chance(same, 60))
            write_some(own, form);
        else
            read_some(own, form);
        MPI_Barrier(MPI_COMM_WORLD);
        check_file();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rng_chance(same, 20))
        check_shared_pointer(same);
    CHECK_OK(MPI_File_close(&fh));
}

int main(int argc, char **argv)
{
    door_begin(&argc, &argv);
    path = door_path("datarep model");
    uint64_t seed = door_rank ? 0 : test_seed();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    int64_t cases = test_cases(door_ranks > 2 ? 20 : 60, 2000); /* MPICH polls: slow */
    for (int64_t k = 0; k < cases; k++) {
        uint64_t number = seed * 1000003 + (uint64_t)k;
        rng same = {number}, own = {number * 31 + (uint64_t)door_rank};
        check_case(k);
        check_within(60);
        run_case(&same, &own);
    }
    twin_release(&filetype);
    if (door_rank == 0)
        MPI_File_delete(path, MPI_INFO_NULL);
    check_within(0);
    return MPI_Finalize();
}
