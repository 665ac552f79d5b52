/* What operators allocate is within what they say they would, also where elements are converted or
 * swapped on the way: storage is slow, so that as many buffers are there at once as ever can be.
 *
 * The linker puts __wrap_ functions in the place of allocation (--wrap), which note what is large:
 * buffers of operators, and staging of accesses. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "array/naive_array.h"
#include "transport/local.h"
#include "weir/kernels.h"

enum { SIDE = 256, THICKNESS = 8, LARGE = 8 << 10, ARRAYS = 3, NOTED = 64 };

/* Of thin factors two blocks of the product fit. MANY results do not. */
enum deed {
    PANELS,
    THIN,
    GAXPY,
    TRANSPOSE,
    COPY,
    MEDIAN,
    SELECT,
    RELAX,
    FILL,
    DOWN,
    ACROSS,
    MANY,
    DEEDS
};

typedef struct scene {
    enum deed deed;
    int type[ARRAYS];
    bool swapped[ARRAYS];
    int64_t memory;
    char path[ARRAYS][100];
} scene;

/* --- what is allocated --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    void *at;
    int64_t bytes;
} noted[NOTED];
static int64_t live, peak;

void *__real_wr_alloc(int64_t size);
void *__wrap_wr_alloc(int64_t size);
void *__real_wr_alloc_large(int64_t size);
void *__wrap_wr_alloc_large(int64_t size);
void __real_wr_free(void *memory);
void __wrap_wr_free(void *memory);

static void note(void *at, int64_t bytes)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (noted[i].at && i < NOTED - 1)
        i++;
    CHECK(!noted[i].at);
    noted[i].at = at;
    noted[i].bytes = bytes;
    live += bytes;
    peak = live > peak ? live : peak;
    pthread_mutex_unlock(&lock);
}

void *__wrap_wr_alloc_large(int64_t size)
{
    void *at = __real_wr_alloc_large(size);
    if (at && size >= LARGE)
        note(at, size);
    return at;
}

void *__wrap_wr_alloc(int64_t size)
{
    void *at = __real_wr_alloc(size);
    if (at && size >= LARGE)
        note(at, size);
    return at;
}

void __wrap_wr_free(void *memory)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; memory && i < NOTED; i++)
        if (noted[i].at == memory) {
            live -= noted[i].bytes;
            noted[i].at = NULL;
        }
    pthread_mutex_unlock(&lock);
    __real_wr_free(memory);
}

/* --- scenes --- */

static weir_array *make(const scene *s, wr_world *w, int which)
{
    static const char *const hints[] = {
        "storage=pool;map=0;access=list;prefetch=2;fault=delay:1000",
        "storage=pool;map=0;access=list;prefetch=2;fault=delay:5000"};
    naive n = {.info = {.type = s->type[which], .dimensions = 2, .shape = {SIDE, SIDE}}};
    weir_array *a;
    if (s->deed == THIN && which < 2)
        n.info.shape[!which] = THICKNESS;
    if (which == 2 && (s->deed == DOWN || s->deed == ACROSS))
        n.info.shape[s->deed == ACROSS] = 1;
    naive_settle(&n);
    CHECK(!wr_array_create(w, s->path[which], &n.info, NULL, "", &a));
    CHECK(!weir_array_close(a));
    if (s->swapped[which])
        naive_swap_files(&n, s->path[which]);
    naive_release(&n);
    CHECK(!wr_array_open(w, s->path[which], WEIR_READ | WEIR_WRITE, hints[which == 2], &a));
    return a;
}

static int act(const scene *s, weir_array *const *x, const weir_work *work)
{
    weir_relaxation relaxation = {.iterations = 1};
    const double value = 1;
    const int same[] = {0, 1}, down[] = {1, 0}, across[] = {0, 1}, none[] = {0, 0};
    int last;
    switch (s->deed) {
    case PANELS:
    case THIN:
        return weir_array_multiply(x[0], x[1], x[2], WEIR_PANELS, work);
    case GAXPY:
        return weir_array_multiply(x[0], x[1], x[2], WEIR_GAXPY, work);
    case TRANSPOSE:
        return weir_array_transpose(x[0], x[2], NULL, work);
    case COPY:
        return weir_array_transpose(x[0], x[2], same, work);
    case MEDIAN:
        return weir_array_median(x[0], x[2], 3, work);
    case SELECT:
        return weir_array_median(x[0], x[2], 35, work);
    case RELAX:
        return weir_array_relax(x[0], x + 1, &relaxation, work, &last);
    case FILL:
        return weir_array_fill(x[2], &value, work);
    default:
        return weir_array_reduce_along(x[0], x[2],
                                       &(weir_reduction){.kind = WEIR_MEAN,
                                                         .along = s->deed == DOWN     ? down
                                                                  : s->deed == ACROSS ? across
                                                                                      : none},
                                       work);
    }
}

static void rank_body(wr_transport *t, void *user)
{
    const scene *s = user;
    weir_array *x[ARRAYS];
    weir_estimate e;
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    for (int i = 0; i < ARRAYS; i++)
        x[i] = make(s, w, i);
    CHECK(!act(s, x, &(weir_work){.memory = s->memory, .direct = 1, .estimate = &e}));
    const int64_t before = live;
    peak = live;
    CHECK(!act(s, x, &(weir_work){.memory = s->memory, .direct = 1}));
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "deed %d, type %d, swapped %d: %lld of %lld, %s\n", (int)s->deed,
                s->type[0], s->swapped[2], (long long)(peak - before), (long long)e.memory, e.how);
    CHECK(peak - before <= e.memory && e.memory <= s->memory);
    CHECK(2 * (peak - before) > e.memory);
    CHECK_EQUAL(live, before);
    for (int i = 0; i < ARRAYS; i++) {
        CHECK(!weir_array_close(x[i]));
        remove_tree(s->path[i]);
    }
    wr_world_release(w);
}

int main(void)
{
    wr_tunables tunables;
    scene s = {.type = {WEIR_F8, WEIR_F8, WEIR_F8}};
    wr_tunables_init(&tunables);
    for (int i = 0; i < ARRAYS; i++)
        snprintf(s.path[i], sizeof s.path[i], "kernels-memory-%d-%d", (int)getpid(), i);
    for (s.deed = 0; s.deed < DEEDS; s.deed++)
        for (s.memory = 1 << 20; s.memory > 200 << 10; s.memory /= 2)
            for (int kind = 0; kind < 4; kind++) {
                s.swapped[1] = s.swapped[2] = kind & 1;
                s.type[0] = kind & 2 ? WEIR_F4 : WEIR_F8;
                const bool converts = s.deed == TRANSPOSE || s.deed == COPY || s.deed >= DOWN;
                if ((s.type[0] == WEIR_F4 && !converts) ||
                    (s.deed >= DOWN && (s.memory < 1 << 20 || kind == 1 || kind == 2)))
                    continue;
                check_within(60);
                CHECK(!wr_local_run(1, &tunables, rank_body, &s));
            }
    return 0;
}
