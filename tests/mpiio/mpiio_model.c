/* Random programs against a model: random nested datatypes in file and memory, views, explicit
 * offsets, pointers of one rank and of all, collective and independent accesses that block, are
 * split, or are under way together, sizes, seeks, hints, reopening; some files begin past 2 and 4
 * GiB. Checked after each step: every byte of the file as any program sees
 * it, every byte of memory around each access, counts, pointers, sizes.
 *
 * Where ranks write one byte in a collective call the highest wins; independent accesses of a phase
 * do not meet, but lie between one another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpiio/model.h"

enum { STEPS = 25 };

static const int64_t bases[] = {0, 0, 0, 0, (INT64_C(1) << 31) - 700, (INT64_C(1) << 32) - 300};

static const char *const hints[] = {"cb_buffer_size=64",
                                    "cb_buffer_size=5000",
                                    "cb_nodes=1",
                                    "cb_nodes=2",
                                    "cb_nodes=100",
                                    "romio_cb_write=enable",
                                    "romio_cb_write=disable",
                                    "romio_cb_write=automatic",
                                    "romio_cb_read=enable",
                                    "romio_cb_read=disable",
                                    "romio_ds_write=enable",
                                    "romio_ds_write=disable",
                                    "romio_ds_read=enable",
                                    "romio_ds_read=disable",
                                    "romio_cb_alltoall=disable",
                                    "romio_cb_pfr=enable",
                                    "romio_no_indep_rw=true",
                                    "weir_independent=enable",
                                    "romio_cb_fr_type=aar",
                                    "romio_cb_fr_type=60",
                                    "romio_cb_fr_alignment=37",
                                    "ind_rd_buffer_size=100",
                                    "ind_wr_buffer_size=70",
                                    "striping_unit=128",
                                    "weir_window=100",
                                    "weir_window=13",
                                    "weir_window=1M",
                                    "weir_realms=cyclic",
                                    "weir_realms=static",
                                    "weir_realms=persistent",
                                    "weir_access_write=naive",
                                    "weir_access_read=extent:50",
                                    "weir_exchange=p2p",
                                    "weir_storage=pool",
                                    "weir_storage=uring",
                                    "weir_direct=always",
                                    "weir_coherence=weak",
                                    "weir_fault=eintr:3",
                                    "access_style=write_once,random",
                                    "cb_nodes=none"};

/* Some of them; to be freed. */
static MPI_Info choose_hints(model *m, int most)
{
    char pairs[500] = "";
    int64_t count = rng_within(&m->r, 0, most);
    for (int64_t i = 0; i < count; i++) {
        const char *pair = hints[rng_within(&m->r, 0, sizeof hints / sizeof *hints - 1)];
        snprintf(pairs + strlen(pairs), sizeof pairs - strlen(pairs), "%s;", pair);
    }
    return door_info(pairs);
}

/* A direction that the file is open for. */
static bool choose_write(model *m)
{
    bool write = rng_chance(&m->r, 55);
    return m->amode & MPI_MODE_RDWR ? write : m->amode & MPI_MODE_WRONLY;
}

/* Nobody writes before all have read, or seen where the file ends. */
static void end_phase(const model *m, bool written)
{
    if (written)
        model_check_file(m);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

/* What all do in one call, with the memory types of a slot. */
static void choose_together(model *m, int slot, deed *every, const deed *kind)
{
    for (int q = 0; q < door_ranks; q++) {
        deed *a = &every[q];
        *a = *kind;
        model_choose(m, q, slot, a);
        if (a->write && m->never && !model_is_apart(m, q, a)) {
            a->count = 0;
            a->bytes = 0;
            a->after = m->position[q];
        }
        if (a->shared) /* the next rank's is behind it */
            model_apply(m, q, a);
    }
    for (int q = 0; q < door_ranks && !kind->shared; q++)
        model_apply(m, q, &every[q]);
}

/* Several at a time may be nonblocking: they are done in the order they were started. */
static void step_together(model *m)
{
    static deed every[MOST_RANKS], own[SLOTS];
    bool write = choose_write(m);
    deed kind = {.write = write, .together = true, .large = rng_chance(&m->r, 30)};
    kind.form = (enum model_form)rng_within(&m->r, BLOCKING, NONBLOCKING);
    int slot = (int)rng_within(&m->r, 0, SLOTS - 1);
    int count = kind.form == NONBLOCKING && !m->never ? (int)rng_within(&m->r, 1, SLOTS) : 1;
    model_new_phase(m);
    for (int i = 0; i < count; i++) {
        kind.at = rng_chance(&m->r, 50);
        kind.shared = !kind.at && m->same && kind.form != NONBLOCKING && rng_chance(&m->r, 60);
        choose_together(m, (slot + i) % SLOTS, every, &kind);
        own[i] = every[door_rank];
    }
    model_perform(m, count, own, (int)rng_within(&m->r, 0, DOOR_WAYS - 1));
    end_phase(m, write);
}

/* The shared pointer, by one rank after the other in some order. */
static void step_shared(model *m)
{
    bool write = choose_write(m);
    int first = (int)rng_within(&m->r, 0, door_ranks - 1);
    if (!m->same)
        return;
    model_new_phase(m);
    for (int i = 0; i < 2 * door_ranks; i++) {
        static deed a;
        int q = (first + i * i) % door_ranks;
        a = (deed){.write = write, .shared = true, .large = rng_chance(&m->r, 30)};
        a.form = rng_chance(&m->r, 50) ? BLOCKING : NONBLOCKING;
        int way = (int)rng_within(&m->r, 0, DOOR_WAYS - 1);
        model_choose(m, q, 0, &a);
        model_apply(m, q, &a);
        if (q == door_rank)
            model_perform(m, 1, &a, way);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end_phase(m, write);
}

/* Reads of a phase with writes stay below the end that the file had before it. */
static bool may_come(model *m, int q, const deed *a, bool writes, int64_t size)
{
    for (int64_t k = 0; writes && !a->write && k < a->bytes; k++)
        if (a->in_file[k] >= size)
            return false;
    return model_is_apart(m, q, a);
}

static void step_alone(model *m)
{
    static deed own[SLOTS];
    bool writes = choose_write(m);
    int64_t size = m->size;
    int mine = 0;
    model_new_phase(m);
    for (int i = 0; i < SLOTS * door_ranks; i++) {
        static deed a;
        int q = i % door_ranks;
        bool both = m->amode & MPI_MODE_RDWR;
        a = (deed){.write = writes && (!both || rng_chance(&m->r, 70)),
                   .at = rng_chance(&m->r, 50),
                   .large = rng_chance(&m->r, 30)};
        a.form = rng_chance(&m->r, 50) ? BLOCKING : NONBLOCKING;
        model_choose(m, q, i / door_ranks, &a);
        if (rng_chance(&m->r, 30) || !may_come(m, q, &a, writes, size))
            continue;
        model_apply(m, q, &a);
        if (q == door_rank)
            own[mine++] = a;
    }
    model_perform(m, mine, own, (int)rng_within(&m->r, 0, DOOR_WAYS - 1));
    end_phase(m, writes);
}

static void step_size(model *m)
{
    int64_t size = rng_within(&m->r, 0, rng_chance(&m->r, 50) ? 1000 : ROOM / 4);
    bool reserve = rng_chance(&m->r, 40) && m->base == 0;
    if (m->amode & MPI_MODE_RDONLY)
        return;
    if (reserve)
        CHECK_OK(MPI_File_preallocate(m->fh, m->base + size));
    else
        CHECK_OK(MPI_File_set_size(m->fh, m->base + size));
    if (!reserve || size > m->size)
        model_resize(m, size);
    model_check_file(m);
}

/* Each rank for itself; also to where there is nothing. */
static void step_seek(model *m)
{
    static const int whence[] = {MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END};
    for (int q = 0; q < door_ranks; q++) {
        int how = (int)rng_within(&m->r, 0, m->filetype[q].size > 0 ? 2 : 1);
        int64_t from = how == 0 ? 0 : how == 1 ? m->position[q] : model_end(m, q);
        int64_t by = rng_within(&m->r, -from - (rng_chance(&m->r, 10) ? 9 : 0), 30);
        bool valid = from + by >= 0;
        if (valid)
            m->position[q] = from + by;
        if (q == door_rank)
            CHECK_CLASS(MPI_File_seek(m->fh, by, whence[how]), valid ? MPI_SUCCESS : MPI_ERR_ARG);
    }
    model_check_pointer(m);
    end_phase(m, false);
}

static void step_seek_shared(model *m)
{
    static const int whence[] = {MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END};
    int how = (int)rng_within(&m->r, 0, m->same && m->filetype[0].size > 0 ? 2 : 1);
    int64_t from = how == 0 ? 0 : how == 1 ? m->shared : model_end(m, 0);
    int64_t by = rng_within(&m->r, -from - (rng_chance(&m->r, 10) ? 9 : 0), 30);
    bool valid = from + by >= 0;
    if (valid)
        m->shared = from + by;
    CHECK_CLASS(MPI_File_seek_shared(m->fh, by, whence[how]), valid ? MPI_SUCCESS : MPI_ERR_ARG);
    model_check_pointer(m);
    end_phase(m, false);
}

static void step_hints(model *m)
{
    MPI_Info info = choose_hints(m, 3);
    CHECK_OK(MPI_File_set_info(m->fh, info));
    MPI_Info_free(&info);
    m->never = !strcmp(door_hint(m->fh, "weir_collective_write"), "never");
}

static void step_views(model *m)
{
    int64_t count = rng_chance(&m->r, 80) ? 1 : 3;
    for (int64_t i = 0; i < count; i++)
        model_set_view(m);
}

static void step_reopen(model *m)
{
    static const int modes[] = {MPI_MODE_RDWR,
                                MPI_MODE_RDWR | MPI_MODE_CREATE,
                                MPI_MODE_RDWR | MPI_MODE_APPEND,
                                MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN,
                                MPI_MODE_RDONLY,
                                MPI_MODE_WRONLY,
                                MPI_MODE_WRONLY | MPI_MODE_APPEND};
    MPI_Info info = choose_hints(m, 4);
    model_close(m);
    model_open(m, modes[rng_within(&m->r, 0, sizeof modes / sizeof *modes - 1)], info);
    MPI_Info_free(&info);
    model_check_pointer(m);
    if (m->base > 0 || rng_chance(&m->r, 60))
        model_set_view(m);
}

static void take_step(model *m)
{
    static const struct {
        const char *name;
        void (*take)(model *);
        int share;
    } steps[] = {{"together", step_together, 34},
                 {"alone", step_alone, 20},
                 {"views", step_views, 12},
                 {"seek", step_seek, 6},
                 {"size", step_size, 6},
                 {"hints", step_hints, 6},
                 {"reopen", step_reopen, 4},
                 {"shared", step_shared, 8},
                 {"seek shared", step_seek_shared, 4}};
    int64_t chosen = rng_within(&m->r, 0, 99);
    int i = 0;
    for (; chosen >= steps[i].share; i++)
        chosen -= steps[i].share;
    if (getenv("WEIR_TEST_SHOW") && door_rank == 0)
        fprintf(stderr, "step %lld: %s\n", (long long)m->step, steps[i].name);
    steps[i].take(m);
}

/* With 1 or 2 ranks a node, or as placed. */
static MPI_Comm place_ranks(model *m)
{
    static const char *const per_node[] = {"0", "0", "1", "2"};
    MPI_Comm comm;
    setenv("WEIR_RANKS_PER_NODE", per_node[rng_within(&m->r, 0, 3)], 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

static void run_case(model *m, uint64_t seed, int64_t number)
{
    *m = (model){.r = {seed + (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15)},
                 .path = door_path("model")};
    for (int q = 0; q < door_ranks; q++)
        for (int i = 0; i < SLOTS; i++)
            m->memory[q][i].type = MPI_DATATYPE_NULL;
    m->base = bases[rng_within(&m->r, 0, sizeof bases / sizeof *bases - 1)];
    m->comm = place_ranks(m);
    MPI_Info info = choose_hints(m, 4);
    model_open(m, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    MPI_Info_free(&info);
    CHECK_OK(MPI_File_set_size(m->fh, m->base));
    if (m->base > 0)
        model_set_view(m);
    for (m->step = 0; m->step < STEPS; m->step++) {
        check_case(number * 1000 + m->step);
        check_within(test_weak() ? 120 : 30);
        take_step(m);
    }
    model_close(m);
    MPI_Comm_free(&m->comm);
    for (int q = 0; q < door_ranks; q++)
        for (int i = 0; i < SLOTS; i++)
            if (m->memory[q][i].type != MPI_DATATYPE_NULL)
                typed_release(&m->memory[q][i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (door_rank == 0)
        CHECK_OK(MPI_File_delete(m->path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    door_begin(&argc, &argv);
    CHECK(door_ranks <= MOST_RANKS);
    uint64_t seed = door_rank == 0 ? test_seed() : 0;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    model *m = malloc(sizeof *m);
    CHECK(m);
    int64_t cases = test_cases(door_ranks > 2 ? 10 : 20, 200); /* MPICH polls: slow */
    for (int64_t i = 0; i < cases; i++)
        run_case(m, seed, i);
    check_within(0);
    free(m);
    MPI_Finalize();
    return 0;
}
