/* Atomic mode through MPI calls: whoever writes the core of a view with gaps writes all of it with
 * one number, and whoever reads it sees one number, whatever else is under way. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { CORE = 60, MORE = 10, MOST = CORE + 2 * MORE, GAP = 5 };

static rng own;

/* In etypes of the view: the core is [MORE, MORE + CORE). */
typedef struct part {
    int data[MOST];
    int first, count;
} part;

static part part_of(bool write)
{
    part p = {.first = (int)rng_within(&own, 0, MORE), .count = CORE + MORE};
    int stamp = door_rank * 1000000 + (int)rng_within(&own, 1, 999999);
    for (int i = 0; i < MOST; i++)
        p.data[i] = write ? stamp : -1;
    return p;
}

/* What was read is one writer's. */
static int check_part(const part *p)
{
    const int *core = p->data + MORE - p->first;
    for (int i = 0; i < CORE; i++)
        CHECK_EQUAL(core[i], core[0]);
    return core[0];
}

static door_order order_of(part *p, bool write, bool together)
{
    return (door_order){.write = write,
                        .together = together,
                        .at = true,
                        .offset = p->first,
                        .buffer = p->data,
                        .count = p->count,
                        .type = MPI_INT};
}

static int transfer(MPI_File fh, bool write, bool together)
{
    part p = part_of(write);
    MPI_Status status;
    int count = -1;
    const door_order o = order_of(&p, write, together);
    CHECK_OK(door_transfer(fh, &o, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, p.count);
    return check_part(&p);
}

/* Handles on one file; the second's ranks are the other way round. */
typedef struct handles {
    MPI_Comm reversed;
    MPI_File fh[2];
} handles;

static MPI_File open_one(MPI_Comm comm, const char *path, const char *hints)
{
    MPI_File fh;
    MPI_Datatype filetype, resized;
    int flag = -1;
    MPI_Info info = door_info(hints);
    CHECK_OK(MPI_File_open(comm, path, MPI_MODE_RDWR, info, &fh));
    MPI_Info_free(&info);
    MPI_Type_vector(1, 1, 1, MPI_INT, &filetype);
    MPI_Type_create_resized(filetype, 0, GAP * (MPI_Aint)sizeof(int), &resized);
    MPI_Type_commit(&resized);
    CHECK_OK(MPI_File_set_view(fh, 12, MPI_INT, resized, "native", MPI_INFO_NULL));
    MPI_Type_free(&filetype);
    MPI_Type_free(&resized);
    CHECK_OK(MPI_File_set_atomicity(fh, 3));
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK_EQUAL(flag, 1);
    return fh;
}

static handles open_both(const char *path, const char *hints)
{
    handles h;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -door_rank, &h.reversed);
    h.fh[0] = open_one(MPI_COMM_WORLD, path, hints);
    h.fh[1] = open_one(h.reversed, path, hints);
    return h;
}

static void close_both(handles *h)
{
    CHECK_OK(MPI_File_close(&h->fh[1]));
    CHECK_OK(MPI_File_close(&h->fh[0]));
    MPI_Comm_free(&h->reversed);
}

/* Some accesses alone, more on some ranks, so that collective calls meet them under way. */
static void play_alone(const handles *h)
{
    for (int64_t i = rng_within(&own, 0, 5); i > 0; i--)
        transfer(h->fh[rng_chance(&own, 50)], rng_chance(&own, 50), false);
}

/* Others in flight, alone and together, around a collective call that blocks. */
static void play_flight(const handles *h, rng *common)
{
    enum { FLIGHT = 4 };
    part p[FLIGHT];
    MPI_Request request[FLIGHT];
    MPI_Status status[FLIGHT];
    for (int i = 0; i < FLIGHT; i++) {
        bool together = i % 2, write = rng_chance(together ? common : &own, 60);
        p[i] = part_of(write);
        const door_order o = order_of(&p[i], write, together);
        MPI_File fh = h->fh[rng_chance(together ? common : &own, 50)];
        CHECK_OK(door_start(fh, &o, &request[i]));
    }
    play_alone(h);
    transfer(h->fh[rng_chance(common, 50)], rng_chance(common, 60), true);
    door_wait((int)rng_within(&own, 0, DOOR_WAYS - 1), FLIGHT, request, status);
    for (int i = 0; i < FLIGHT; i++)
        check_part(&p[i]);
}

/* Rank 0 leaves the library with a split call begun, and the others need the range first. */
static void play_split(const handles *h, rng *common)
{
    bool write = rng_chance(common, 60);
    part p = part_of(write);
    const door_order o = order_of(&p, write, true);
    MPI_File fh = h->fh[rng_chance(common, 50)];
    MPI_Status status;
    CHECK_OK(door_begin_split(fh, &o));
    if (door_rank)
        play_alone(h);
    if (door_rank)
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 1; i < door_ranks && !door_rank; i++)
        MPI_Recv(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_OK(door_end(fh, &o, &status));
    check_part(&p);
}

static void play(const char *path, const char *hints, rng *common)
{
    handles h = open_both(path, hints);
    for (int64_t round = test_cases(20, 500); round > 0; round--) {
        play_alone(&h);
        MPI_File fh = h.fh[rng_chance(common, 50)];
        transfer(fh, rng_chance(common, 60), true);
        play_alone(&h);
        transfer(fh, rng_chance(common, 60), true);
        play_flight(&h, common);
        play_split(&h, common);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int first = transfer(h.fh[0], false, false);
    door_check_same(first); /* nobody writes any more */
    CHECK_EQUAL(transfer(h.fh[1], false, true), first);
    close_both(&h);
}

/* What one rank has written others see when they hear of it, with no sync between. */
static void check_visible(const char *path, const char *hints)
{
    handles h = open_both(path, hints);
    for (int writer = 0; writer < door_ranks; writer++) {
        int stamp = 0;
        if (door_rank == writer)
            stamp = transfer(h.fh[0], true, false);
        MPI_Bcast(&stamp, 1, MPI_INT, writer, MPI_COMM_WORLD);
        CHECK_EQUAL(transfer(h.fh[0], false, false), stamp);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    close_both(&h);
}

static void check_mode(const char *path)
{
    MPI_File fh;
    int flag = -1;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK_EQUAL(flag, 0);
    if (door_ranks > 1)
        CHECK_CLASS(MPI_File_set_atomicity(fh, door_rank == 0), MPI_ERR_NOT_SAME);
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_File_set_atomicity(fh, 1));
    CHECK_OK(MPI_File_set_atomicity(fh, 0));
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_File_close(&fh));
}

int main(int argc, char **argv)
{
    static const char *const hints[] = {
        "",
        "romio_cb_write=enable;romio_cb_read=enable;weir_window=400",
        "romio_cb_write=disable;romio_cb_read=disable",
        "romio_ds_write=enable;ind_wr_buffer_size=300",
        "weir_exchange=p2p;romio_cb_write=enable;weir_overlap=none",
        "weir_write_behind=always",
    };
    door_begin(&argc, &argv);
    uint64_t seed = door_rank ? 0 : test_seed();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    rng common = {seed};
    own.state = seed + 1000 * (uint64_t)(door_rank + 1);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        const char *path = door_path("atomic");
        door_make_file(path, 0);
        check_within(60);
        MPI_File fh;
        CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
        CHECK_OK(MPI_File_set_size(fh, (MPI_Offset)(MOST + 5) * GAP * (MPI_Offset)sizeof(int)));
        CHECK_OK(MPI_File_close(&fh));
        check_mode(path);
        check_visible(path, hints[i]);
        play(path, hints[i], &common);
        MPI_Barrier(MPI_COMM_WORLD);
        if (door_rank == 0)
            CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    }
    check_within(0);
    MPI_Finalize();
    return 0;
}
