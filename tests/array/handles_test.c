/* What the headers say of handles and threads: several threads of a rank use one array, pattern and
 * plan at a time, beside a collective call; a request is waited for by another thread than the one
 * that started it. Ranks are threads too. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "check.h"
#include "transport/local.h"
#include "weir/plan.h"

enum { THREADS = 3, RANKS = 2, ROUNDS = 40, WIDTH = 50, ROWS = RANKS * (THREADS + 1) };

/* What the threads of a rank share. */
typedef struct shared {
    weir_array *array;
    weir_pattern *pattern;
    weir_plan *plan;
    char plan_text[4000];
    int rank;
} shared;

typedef struct worker {
    shared *all;
    int number;
    weir_request *handed; /* started by the main thread */
    int into[WIDTH];
} worker;

static void fill(int *row, int value)
{
    for (int i = 0; i < WIDTH; i++)
        row[i] = value + i;
}

/* A row of its own, written and read, by blocking and nonblocking calls. */
static void use_row(shared *s, int64_t row, int round)
{
    int data[WIDTH], back[WIDTH] = {0};
    weir_request *request;
    const weir_selection own = {.lo = (int64_t[]){row, 0}, .hi = (int64_t[]){row + 1, WIDTH}};
    fill(data, (int)row * 1000 + round);
    if (round % 2) {
        CHECK(!weir_array_write(s->array, &own, NULL, data, NULL));
        CHECK(!weir_array_read(s->array, &own, NULL, back, &request));
        CHECK(!weir_request_wait(&request, NULL));
    } else {
        CHECK(!weir_array_write(s->array, &own, NULL, data, &request));
        CHECK(!weir_request_wait(&request, NULL));
        CHECK(!weir_array_read(s->array, &own, NULL, back, NULL));
    }
    CHECK(!memcmp(data, back, sizeof data));
    CHECK_EQUAL(weir_array_get_info(s->array)->shape[0], ROWS);
}

static void use_constants(const shared *s)
{
    char text[sizeof s->plan_text], memory[400], packed[100];
    weir_plan_print(s->plan, text, sizeof text);
    CHECK(!strcmp(text, s->plan_text));
    for (int i = 0; i < 400; i++)
        memory[i] = (char)i;
    CHECK(!weir_pattern_pack(s->pattern, 0, 100, memory, packed));
    for (int i = 0; i < 100; i++)
        CHECK(packed[i] == (char)(4 * i));
}

static void *work(void *user)
{
    worker *w = user;
    const int64_t row = w->all->rank * (THREADS + 1) + w->number;
    CHECK(!weir_request_wait(&w->handed, NULL));
    for (int i = 0; i < WIDTH; i++)
        CHECK_EQUAL(w->into[i], 7);
    for (int round = 0; round < ROUNDS; round++) {
        use_row(w->all, row, round);
        use_constants(w->all);
    }
    return NULL;
}

/* Collective calls of the last row of each rank, while others use theirs. */
static void write_together(shared *s)
{
    const int64_t row = s->rank * (THREADS + 1) + THREADS;
    int data[WIDTH], back[WIDTH] = {0};
    const weir_selection own = {.lo = (int64_t[]){row, 0}, .hi = (int64_t[]){row + 1, WIDTH}};
    for (int round = 0; round < ROUNDS; round++) {
        fill(data, (int)row * 1000 + round);
        CHECK(!weir_array_write_all(s->array, &own, NULL, data, NULL));
        CHECK(!weir_array_read_all(s->array, &own, NULL, back, NULL));
        CHECK(!memcmp(data, back, sizeof data));
    }
}

static void share(shared *s)
{
    weir_plan_request request = {.ranks = 1};
    CHECK(!weir_pattern_strided(0, 100, 1, 4, &s->pattern));
    request.patterns = (const weir_pattern *const[]){s->pattern};
    CHECK(!weir_plan_new(&request, &s->plan));
    weir_plan_print(s->plan, s->plan_text, sizeof s->plan_text);
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.all = s, .number = i};
        const int64_t lo[] = {s->rank * (THREADS + 1) + i, 0}, hi[] = {lo[0] + 1, WIDTH};
        CHECK(!weir_array_read(s->array, &(weir_selection){.lo = lo, .hi = hi}, NULL,
                               workers[i].into, &workers[i].handed));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, work, &workers[i]));
    write_together(s);
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
    weir_plan_free(s->plan);
    weir_pattern_free(s->pattern);
}

static void rank_body(wr_transport *t, void *hints)
{
    const weir_array_info info = {.type = WEIR_I4, .dimensions = 2, .shape = {ROWS, WIDTH}};
    const int seven = 7;
    weir_array_options options = {.fill = &seven, .overwrite = 1};
    wr_tunables tunables;
    wr_world *w;
    shared s = {.rank = t->rank};
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_array_create(w, "handles.npy", &info, &options, NULL, &s.array));
    CHECK(!weir_array_close(s.array));
    CHECK(!wr_array_open(w, "handles.npy", WEIR_READ | WEIR_WRITE, hints, &s.array));
    share(&s);
    CHECK(!weir_array_close(s.array));
    CHECK(!wr_array_delete(w, "handles.npy"));
    wr_world_release(w);
}

int main(void)
{
    static const char *const hints[] = {"collective=always", "cache=1M", "overlap=none",
                                        "exchange=p2p;progress=poll"};
    char folder[] = "handles-XXXXXX";
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    check_within(60);
    CHECK(mkdtemp(folder) && !chdir(folder));
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        CHECK(!wr_local_run(RANKS, &tunables, rank_body, (void *)hints[i]));
    CHECK(!chdir("..") && !rmdir(folder));
    return 0;
}
