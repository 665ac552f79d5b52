/* Calls of the door, and whether they do what the model says. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpiio/model.h"

enum { GUARD = 64 };

/* Memory around an access. */
typedef struct arena {
    int64_t lo, size;
    unsigned char *start, *expected;
    void *origin; /* place 0 */
} arena;

static void open_arena(const model *m, const deed *a, arena *s)
{
    int64_t hi = 0;
    s->lo = 0;
    for (int64_t k = 0; k < a->bytes; k++) {
        s->lo = a->in_memory[k] < s->lo ? a->in_memory[k] : s->lo;
        hi = a->in_memory[k] >= hi ? a->in_memory[k] + 1 : hi;
    }
    s->lo -= GUARD;
    s->size = hi + GUARD - s->lo;
    s->start = malloc((size_t)s->size);
    s->expected = malloc((size_t)s->size);
    CHECK(s->start && s->expected);
    s->origin = s->start - s->lo;
    for (int64_t i = 0; i < s->size; i++)
        s->start[i] = s->expected[i] = model_content(m, door_rank, s->lo + i);
    for (int64_t k = 0; k < a->visible && !a->write; k++)
        s->expected[a->in_memory[k] - s->lo] = a->expected[k];
}

static void close_arena(const arena *s)
{
    for (int64_t i = 0; i < s->size; i++)
        CHECK_EQUAL(s->start[i], s->expected[i]);
    free(s->start);
    free(s->expected);
}

/* Whole basic elements among so many bytes; -1: the last one is cut. */
static int64_t elements_of(const typed *t, int64_t bytes)
{
    int64_t n = 0;
    if (t->size == 0)
        return 0;
    for (int e = 0; bytes > 0; e = (e + 1) % t->count, n++)
        bytes -= t->map[e].bytes;
    return bytes ? -1 : n;
}

/* MPI_Get_elements takes a pair for one element in Open MPI 4.1; in MPICH 4.0 it ends the program
 * for many derived types. */
static bool can_count(const typed *t)
{
#ifdef MPICH
    return !t->pairs && !t->derived;
#else
    return !t->pairs;
#endif
}

static void check_status(const deed *a, const MPI_Status *status)
{
    const int64_t moved = a->write ? a->bytes : a->visible;
    int count = -7, cancelled = -7;
    MPI_Count bytes = -7, elements = -7;
    MPI_Get_elements_x(status, MPI_BYTE, &bytes);
    CHECK_EQUAL(bytes, moved);
    MPI_Test_cancelled(status, &cancelled);
    CHECK_EQUAL(cancelled, 0);
    if (a->memory->size == 0)
        return;
    MPI_Get_count(status, a->memory->type, &count);
    CHECK_EQUAL(count, moved % a->memory->size ? MPI_UNDEFINED : (int)(moved / a->memory->size));
    int64_t whole = can_count(a->memory) ? elements_of(a->memory, moved) : -1;
    if (whole >= 0) {
        MPI_Get_elements_x(status, a->memory->type, &elements);
        CHECK_EQUAL(elements, whole);
    }
}

/* The same access from MPI_BOTTOM. */
static MPI_Datatype make_absolute(const deed *a, const arena *s)
{
    MPI_Datatype type;
    MPI_Aint address;
    MPI_Get_address(s->origin, &address);
    MPI_Type_create_hindexed(1, &a->count, &address, a->memory->type, &type);
    MPI_Type_commit(&type);
    return type;
}

/* An access under way. */
typedef struct journey {
    const deed *a;
    arena s;
    door_order o;
    MPI_Datatype absolute;
} journey;

static void set_out(const model *m, const deed *a, journey *j)
{
    *j = (journey){.a = a, .absolute = MPI_DATATYPE_NULL};
    open_arena(m, a, &j->s);
    j->o = (door_order){.write = a->write,
                        .together = a->together,
                        .at = a->at,
                        .shared = a->shared,
                        .large = a->large,
                        .offset = a->offset,
                        .buffer = j->s.origin,
                        .count = a->count,
                        .type = a->memory->type};
    if (a->bottom) {
        j->absolute = make_absolute(a, &j->s);
        j->o.buffer = MPI_BOTTOM;
        j->o.count = 1;
        j->o.type = j->absolute;
    }
}

/* The type may be freed as soon as the access has begun. */
static void get_going(const model *m, journey *j, MPI_Request *request, MPI_Status *status)
{
    MPI_Offset position = -1;
    if (j->a->form == NONBLOCKING)
        CHECK_OK(door_start(m->fh, &j->o, request));
    else if (j->a->form == SPLIT)
        CHECK_OK(door_begin_split(m->fh, &j->o));
    else
        CHECK_OK(door_transfer(m->fh, &j->o, status));
    if (j->absolute != MPI_DATATYPE_NULL)
        MPI_Type_free(&j->absolute);
    CHECK_OK(MPI_File_get_position(m->fh, &position));
    CHECK_EQUAL(position, j->a->after);
    if (j->a->form == SPLIT)
        CHECK_OK(door_end(m->fh, &j->o, status));
}

static void arrive(const journey *j, const MPI_Status *status)
{
    check_status(j->a, status);
    close_arena(&j->s);
}

void model_perform(const model *m, int count, const deed *deeds, int way)
{
    MPI_Request requests[SLOTS];
    MPI_Status status[SLOTS];
    journey j[SLOTS];
    int waiting = 0;
    for (int i = 0; i <= count; i++) {
        bool more = i < count && deeds[i].form == NONBLOCKING;
        if (!more && waiting) {
            door_wait(way, waiting, requests, status);
            for (int k = 0; k < waiting; k++)
                arrive(&j[k], &status[k]);
            waiting = 0;
        }
        if (i == count)
            break;
        set_out(m, &deeds[i], &j[waiting]);
        get_going(m, &j[waiting], &requests[waiting], &status[waiting]);
        if (more)
            waiting++;
        else
            arrive(&j[0], &status[0]);
    }
}

/* Bytes of the file, and its size, as any program sees them. */
static int64_t look(const char *path, int64_t at, int64_t bytes, unsigned char *found,
                    int64_t *size)
{
    struct stat about;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && !fstat(fd, &about));
    *size = about.st_size;
    int64_t got = pread(fd, found, (size_t)bytes, at);
    close(fd);
    return got;
}

/* The same, as any program sees them that opens it by MPI. */
static int64_t look_by_mpi(const char *path, int64_t at, int64_t bytes, unsigned char *found,
                           int64_t *size)
{
    MPI_File fh;
    MPI_Offset end = -1;
    MPI_Status status;
    int count = -1;
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_get_size(fh, &end));
    CHECK_OK(MPI_File_read_at(fh, at, found, (int)bytes, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_OK(MPI_File_close(&fh));
    *size = end;
    return count;
}

static void check_bytes(const model *m)
{
    static unsigned char found[ROOM];
    int64_t size, below = m->base < ROOM ? m->base : ROOM;
    int64_t (*by)(const char *, int64_t, int64_t, unsigned char *, int64_t *) =
        test_weak() ? look_by_mpi : look;
    CHECK_EQUAL(by(m->path, m->base, ROOM, found, &size), m->size);
    CHECK_EQUAL(size, m->base + m->size);
    for (int64_t i = 0; i < m->size; i++)
        if (found[i] != m->bytes[i]) {
            CHECK_EQUAL(i, -1); /* names the byte */
        }
    CHECK_EQUAL(by(m->path, m->base - below, below, found, &size), below);
    for (int64_t i = 0; i < below; i++)
        CHECK_EQUAL(found[i], 0);
}

/* Rank 0 looks, and where hosts differ all do; the others wait. */
void model_check_file(const model *m)
{
    MPI_Offset size = -1;
    CHECK_OK(MPI_File_sync(m->fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_weak())
        CHECK_OK(MPI_File_sync(m->fh));
    CHECK_OK(MPI_File_get_size(m->fh, &size));
    CHECK_EQUAL(size, m->base + m->size);
    if (door_rank == 0 || test_weak())
        check_bytes(m);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_sync(m->fh));
}

void model_check_pointer(const model *m)
{
    MPI_Offset position = -1, byte = -1;
    int64_t wanted = m->position[door_rank];
    CHECK_OK(MPI_File_get_position(m->fh, &position));
    CHECK_EQUAL(position, wanted);
    CHECK_OK(MPI_File_get_position_shared(m->fh, &position));
    CHECK_EQUAL(position, m->shared);
    MPI_Barrier(MPI_COMM_WORLD); /* before anybody moves it */
    if (m->filetype[door_rank].size == 0)
        return;
    for (int i = 0; i < 3; i++, wanted = wanted * 3 + 1) {
        int64_t data = wanted * m->etype.size;
        bool beyond = model_is_once(m, door_rank) && data >= m->filetype[door_rank].size;
        CHECK_CLASS(MPI_File_get_byte_offset(m->fh, wanted, &byte),
                    beyond ? MPI_ERR_ARG : MPI_SUCCESS);
        if (!beyond)
            CHECK_EQUAL(byte, m->base + model_byte(m, door_rank, data));
    }
}

void model_open(model *m, int amode, MPI_Info info)
{
    CHECK_OK(MPI_File_open(m->comm, m->path, amode, info, &m->fh));
    m->amode = amode;
    m->same = true;
    m->shared = amode & MPI_MODE_APPEND ? m->base + m->size : 0;
    typed_named(0, &m->etype);
    for (int q = 0; q < door_ranks; q++) {
        m->filetype[q] = m->etype;
        m->displacement[q] = 0;
        m->position[q] = amode & MPI_MODE_APPEND ? m->base + m->size : 0;
    }
    m->never = !strcmp(door_hint(m->fh, "weir_collective_write"), "never");
}

static void drop_view(model *m)
{
    for (int q = 0; q < door_ranks; q++)
        typed_release(&m->filetype[q]);
    typed_release(&m->etype);
}

void model_close(model *m)
{
    CHECK_OK(MPI_File_close(&m->fh));
    CHECK(m->fh == MPI_FILE_NULL);
    drop_view(m);
}

static void check_view(const model *m)
{
    MPI_Offset at = -1;
    MPI_Datatype type[2];
    const typed *wanted[] = {&m->etype, &m->filetype[door_rank]};
    char datarep[MPI_MAX_DATAREP_STRING] = "";
    CHECK_OK(MPI_File_get_view(m->fh, &at, &type[0], &type[1], datarep));
    CHECK(!strcmp(datarep, "native"));
    CHECK_EQUAL(at, m->displacement[door_rank]);
    for (int i = 0; i < 2; i++) {
        MPI_Count size, lb, extent;
        MPI_Type_size_x(type[i], &size);
        MPI_Type_get_extent_x(type[i], &lb, &extent);
        CHECK(size == wanted[i]->size && lb == wanted[i]->lb && extent == wanted[i]->extent);
        if (type[i] != wanted[i]->type) /* not a named one */
            MPI_Type_free(&type[i]);
    }
}

/* A filetype that reaches behind its extent. */
static void shorten(model *m, typed *t)
{
    int64_t first, end;
    typed whole = *t;
    typed_bounds(t, &first, &end);
    if (end - first < 2)
        return;
    recipe c = {.combiner = MPI_COMBINER_RESIZED,
                .item = {&whole},
                .stride = rng_within(&m->r, 1, end - first - 1)};
    CHECK(recipe_cook(&c, t));
    typed_release(&whole);
}

void model_set_view(model *m)
{
    wish unit = {.in_file = true, .elements = 12, .reach = 200};
    wish tile = {.in_file = true, .elements = 150, .reach = 3000, .leaf = &m->etype};
    drop_view(m);
    do
        typed_random(&m->r, &unit, (int)rng_within(&m->r, 0, 2), &m->etype);
    while (m->etype.size == 0 && (typed_release(&m->etype), true));
    bool share = rng_chance(&m->r, 40);
    m->same = rng_chance(&m->r, 30);
    m->shared = 0;
    int64_t start = m->base + rng_within(&m->r, 0, 500);
    rng same = m->r;
    for (int q = 0; q < door_ranks; q++) {
        m->displacement[q] = share ? start : m->base + rng_within(&m->r, 0, 500);
        m->position[q] = 0;
        if (m->same && q > 0)
            m->displacement[q] = m->displacement[0];
        if (m->same)
            m->r = same;
        if (share && !m->same) {
            m->r = same;
            typed_random_share(&m->r, &m->etype, q, door_ranks, &m->filetype[q]);
        } else {
            typed_random(&m->r, &tile, (int)rng_within(&m->r, 0, 3), &m->filetype[q]);
            if (rng_chance(&m->r, 15))
                shorten(m, &m->filetype[q]);
        }
    }
    CHECK_OK(MPI_File_set_view(m->fh, m->displacement[door_rank], m->etype.type,
                               m->filetype[door_rank].type, "native", MPI_INFO_NULL));
    check_view(m);
    model_check_pointer(m);
}
