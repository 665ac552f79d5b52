/* Faults in the middle of slab operators and relaxations, with ranks as threads: whatever transfer
 * of one rank fails on whichever array, or whatever allocation, all ranks return the same error in
 * time, and the operator works when it is tried again. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "file/inside.h"
#include "kernel_naive.h"
#include "kernel_scene.h"
#include "storage/disarm.h"
#include "transport/local.h"

enum { RANKS = 3, ROWS = 23, COLUMNS = 17, MEMORY = 24 << 10, SEVERAL = 4, ONE_BY_ONE = 16 };

typedef struct trial {
    kernel_scene scene;
    int faulty, victim; /* array and rank */
    int64_t fail_after; /* allocation of the victim that fails, or -1 */
    bool reached;
    int codes[RANKS];
    int64_t failed;
} trial;

/* No transfer of this rank fails from now on. */
static void disarm(weir_array *a)
{
    test_disarm(a->file->group.handle.storage);
}

static void rank_body(wr_transport *t, void *user)
{
    trial *x = user;
    kernel_scene *s = &x->scene;
    weir_array *arrays[KERNEL_ARRAYS];
    const weir_work work = {.memory = MEMORY, .direct = s->direct};
    const int rank = t->rank;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    w->process->progress.meter = wr_alloc_meter();
    kernel_scene_open(s, w, arrays);
    for (int i = 0; i < s->arrays; i++)
        if (rank != x->victim || i != x->faulty)
            disarm(arrays[i]);
    const int64_t before = wr_alloc_count();
    wr_alloc_fail_after(rank == x->victim ? x->fail_after : -1);
    x->codes[rank] = kernel_scene_work(s, arrays, &work);
    if (rank == x->victim)
        x->reached = x->fail_after >= 0 && wr_alloc_count() - before > x->fail_after;
    wr_alloc_fail_after(-1);
    CHECK(!x->codes[rank] || weir_error_last()->code == x->codes[rank]);
    for (int i = 0; i < s->arrays; i++)
        disarm(arrays[i]);
    if (x->codes[rank])
        CHECK(!kernel_scene_work(s, arrays, &work));
    kernel_scene_close(s, arrays);
    wr_world_release(w);
}

static bool run_trial(trial *x)
{
    check_within(30);
    CHECK(!wr_local_run(RANKS, &x->scene.tunables, rank_body, x));
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "deed %d, direct %d, exchange %d, array %d, rank %d, allocation %lld: %d\n",
                (int)x->scene.deed, x->scene.direct, x->scene.relaxation.exchange, x->faulty,
                x->victim, (long long)x->fail_after, x->codes[0]);
    for (int i = 0; i < RANKS; i++) {
        CHECK_EQUAL(x->codes[i], x->codes[0]);
        kernel_scene_check_told(&x->scene, i);
    }
    CHECK(x->codes[0] <= 0);
    kernel_scene_check(&x->scene);
    kernel_scene_remove(&x->scene);
    x->failed += x->codes[0] != 0;
    return x->codes[0];
}

/* --- scenes --- */

static const int arrays_of[] = {[REDUCE] = 1, [FILL] = 1, [MEDIAN] = 2, [RELAX] = 3};

static void set_arrays(kernel_scene *s)
{
    s->arrays = arrays_of[s->deed];
    for (int i = 0; i < s->arrays; i++) {
        naive *a = &s->array[i];
        *a = (naive){.info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, COLUMNS}}};
        naive_settle(a);
        s->known[i] = true;
    }
    double *value = (double *)(void *)s->array[0].data;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        value[i] = s->deed == FILL ? 0 : i * 7919 % 101;
}

/* choice: deed, direct, victim, exchange of messages, overlap, storage, halo */
static void set_scene(kernel_scene *s, const int *choice, const char *fault)
{
    s->deed = (enum deed)choice[0];
    s->direct = choice[1];
    s->moderate = true;
    set_arrays(s);
    naive *to[] = {&s->array[1], &s->array[2]};
    s->window = choice[6] ? 13 : 3;
    s->relaxation = (weir_relaxation){.iterations = 2, .exchange = choice[6]};
    s->statistics = naive_reduce(&s->array[0]);
    if (s->deed == MEDIAN)
        naive_median(&s->array[0], &s->array[1], s->window);
    if (s->deed == RELAX)
        s->latest = naive_relax(&s->array[0], to, &s->relaxation);
    snprintf(s->hints, sizeof s->hints,
             "collective=always;window=300;exchange=%s;overlap=%s;storage=%s;fault=%s",
             choice[3] ? "p2p" : "auto", choice[4] ? "all" : "none", choice[5] ? "pool" : "posix",
             fault);
}

static void check_fault(trial *x, const int *choice, const char *kind)
{
    for (int64_t k = 1, missed = 0; missed < 2 && k < 400; k += 1 + k / SEVERAL) {
        char fault[40];
        snprintf(fault, sizeof fault, "%s:%lld", kind, (long long)k);
        set_scene(&x->scene, choice, fault);
        missed = run_trial(x) ? 0 : missed + 1;
        kernel_scene_release(&x->scene);
    }
}

/* The first allocations fail one by one; of later ones only some, and more of them under
 * WEIR_TEST_LONG: there are thousands. */
static int64_t later_allocation(int64_t k)
{
    return k < ONE_BY_ONE ? k + 1 : k + k / (test_long() ? ONE_BY_ONE : 2 * SEVERAL);
}

static void check_one(void *user, const int *choice)
{
    trial *x = user;
    x->victim = choice[2];
    x->fail_after = -1;
    for (x->faulty = 0; x->faulty < arrays_of[choice[0]]; x->faulty++) {
        check_fault(x, choice, "eio");
        check_fault(x, choice, "short");
    }
    set_scene(&x->scene, choice, "none");
    x->reached = true;
    for (x->fail_after = 0; x->reached; x->fail_after = later_allocation(x->fail_after))
        run_trial(x);
    CHECK_EQUAL(x->codes[0], 0);
    kernel_scene_release(&x->scene);
}

int main(void)
{
    rng r = {test_seed()};
    int levels[] = {RELAX + 1, 2, RANKS, 2, 2, 2, 2};
    trial *x = calloc(1, sizeof *x);
    CHECK(x);
    snprintf(x->scene.path, sizeof x->scene.path, "stencil-fault-%d", (int)getpid());
    x->scene.ranks = RANKS;
    wr_tunables_init(&x->scene.tunables);
    test_pairwise(&r, 7, levels, check_one, x);
    CHECK(x->failed > 100);
    free(x);
    return 0;
}
