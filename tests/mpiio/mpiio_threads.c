/* Two threads of each process use two files, on one communicator or on two, by plain MPI calls of
 * all kinds, with no order between the threads. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { N = 3000, SIDES = 2, SHARED_AT = 1 << 20 };
enum form { BLOCKS, STARTS, SPLITS, FORMS };

/* A thread, its file, and a communicator that no other thread uses, for what the test says. */
typedef struct side {
    int number;
    MPI_File fh;
    MPI_Comm comm;
    rng common; /* the same on all ranks */
    int64_t rounds;
    int data[N];
} side;

static int stamp_of(const side *s, int64_t round, int rank)
{
    return (int)(round * 64 + rank * SIDES + s->number) * 10000;
}

static void fill(side *s, int stamp)
{
    for (int i = 0; i < N; i++)
        s->data[i] = stamp + i;
}

static void check_data(const side *s, int stamp)
{
    for (int i = 0; i < N; i++)
        CHECK_EQUAL(s->data[i], stamp + i);
}

/* Ranks take turns, or the file as it comes. */
static void set_view(side *s, bool turns)
{
    MPI_Datatype filetype;
    int size = sizeof(int);
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)size * (turns ? door_ranks : 1), &filetype);
    MPI_Type_commit(&filetype);
    MPI_Offset start = turns ? (MPI_Offset)door_rank * size : SHARED_AT;
    CHECK_OK(MPI_File_set_view(s->fh, start, MPI_INT, filetype, "native", MPI_INFO_NULL));
    MPI_Type_free(&filetype);
}

static void transfer(side *s, door_order o, enum form form)
{
    MPI_Status status;
    MPI_Request request;
    int count = -1;
    o.buffer = s->data;
    o.count = N;
    o.type = MPI_INT;
    if (form == STARTS && !(o.shared && o.together)) {
        CHECK_OK(door_start(s->fh, &o, &request));
        door_wait((int)rng_within(&s->common, 0, DOOR_WAYS - 1), 1, &request, &status);
    } else if (form == SPLITS && o.together) {
        CHECK_OK(door_begin_split(s->fh, &o));
        CHECK_OK(door_end(s->fh, &o, &status));
    } else {
        CHECK_OK(door_transfer(s->fh, &o, &status));
    }
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, N);
}

static enum form some_form(side *s)
{
    return (enum form)rng_within(&s->common, 0, FORMS - 1);
}

/* This rank's own part, by an offset or the individual pointer. */
static void use_own(side *s, int64_t round)
{
    const int stamp = stamp_of(s, round, door_rank);
    for (int write = 1; write >= 0; write--) {
        door_order o = {.write = write,
                        .together = rng_chance(&s->common, 50),
                        .at = rng_chance(&s->common, 50)};
        CHECK_OK(MPI_File_seek(s->fh, 0, MPI_SEEK_SET));
        if (write)
            fill(s, stamp);
        else
            memset(s->data, 0, sizeof s->data);
        transfer(s, o, some_form(s));
    }
    check_data(s, stamp);
}

/* The shared pointer, in no order or in that of ranks; everybody's data come back once. */
static void use_shared(side *s, int64_t round)
{
    set_view(s, false);
    bool ordered = rng_chance(&s->common, 50);
    fill(s, stamp_of(s, round, door_rank));
    transfer(s, (door_order){.write = true, .shared = true, .together = ordered}, some_form(s));
    CHECK_OK(MPI_File_seek_shared(s->fh, 0, MPI_SEEK_SET));
    memset(s->data, 0, sizeof s->data);
    bool in_turn = rng_chance(&s->common, 50);
    transfer(s, (door_order){.shared = true, .together = in_turn}, some_form(s));
    int writer = 0, seen;
    while (writer < door_ranks && s->data[0] != stamp_of(s, round, writer))
        writer++;
    CHECK(writer < door_ranks && (!ordered || !in_turn || writer == door_rank));
    check_data(s, stamp_of(s, round, writer));
    MPI_Allreduce(&(int){1 << writer}, &seen, 1, MPI_INT, MPI_BOR, s->comm);
    CHECK_EQUAL(seen, (1 << door_ranks) - 1);
    set_view(s, true);
}

/* What concerns the file as a whole. */
static void use_whole(side *s)
{
    MPI_Offset size = -1;
    CHECK_OK(MPI_File_set_atomicity(s->fh, rng_chance(&s->common, 50)));
    CHECK_OK(MPI_File_sync(s->fh));
    CHECK_OK(MPI_File_set_size(s->fh, 77));
    CHECK_OK(MPI_File_get_size(s->fh, &size));
    CHECK_EQUAL(size, 77);
    MPI_Barrier(s->comm); /* before others make it longer */
}

static void *use(void *user)
{
    side *s = user;
    set_view(s, true);
    for (int64_t round = 0; round < s->rounds; round++) {
        int64_t kind = rng_within(&s->common, 0, 9);
        if (kind == 0)
            use_whole(s);
        else if (kind < 4)
            use_shared(s, round);
        else
            use_own(s, round);
    }
    return NULL;
}

static void play(uint64_t seed, bool one, const char *hints)
{
    static side sides[SIDES];
    pthread_t threads[SIDES];
    MPI_Info info = door_info(hints);
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    check_within(60);
    for (int i = 0; i < SIDES; i++) {
        side *s = &sides[i];
        *s = (side){.number = i, .common.state = seed + (uint64_t)i, .rounds = test_cases(15, 500)};
        MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
        CHECK_OK(MPI_File_open(one ? MPI_COMM_WORLD : s->comm, door_path(i ? "one" : "other"),
                               amode, info, &s->fh));
    }
    for (int i = 0; i < SIDES; i++)
        CHECK(!pthread_create(&threads[i], NULL, use, &sides[i]));
    for (int i = 0; i < SIDES; i++)
        CHECK(!pthread_join(threads[i], NULL));
    for (int i = SIDES - 1; i >= 0; i--) {
        CHECK_OK(MPI_File_close(&sides[i].fh));
        MPI_Comm_free(&sides[i].comm);
    }
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    static const char *const hints[] = {
        "", "weir_collective=always;weir_window=8K;weir_overlap=all",
        "weir_exchange=p2p;weir_collective=always;weir_overlap=none", "weir_exchange=leaders"};
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("skipped: no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &door_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &door_ranks);
    uint64_t seed = door_rank ? 0 : test_seed();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < 2 * sizeof hints / sizeof *hints; i++)
        play(seed + 10 * i, i % 2, hints[i / 2]);
    check_within(0);
    MPI_Finalize();
    return 0;
}
