/* The parts of a plan: what each rank of a real collective call works by, against what one process
 * works out that has all the requests. The global part is the same bytes on every rank; an
 * aggregator's own part is its realm and its windows.
 *
 * Ranks are threads. The linker puts __wrap_ functions in the place of those that decide (--wrap),
 * which write down what was decided for whom. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/scene.h"
#include "storage/backends.h"
#include "transport/local.h"

enum { MOST_RANKS = 9, ROOM = 1 << 20 };

/* A part as bytes. */
typedef struct text {
    int64_t length;
    uint8_t bytes[ROOM];
} text;

/* What one rank was told in one call. */
typedef struct record {
    wr_plan_input in;
    wr_plan plan;
    int64_t cut[WR_CUTS];
    text part;
} record;

/* What one rank was told in a scene. */
typedef struct rank_records {
    int calls;
    const wr_plan *current; /* where the engine keeps the plan of the call under way */
    record call[CALLS];
} rank_records;

static rank_records records[MOST_RANKS];
static _Thread_local rank_records *own;

int __real_wr_plan_build(const wr_plan_input *in, wr_plan *out);
int __wrap_wr_plan_build(const wr_plan_input *in, wr_plan *out);
int __real_wr_windows_next(wr_windows *w, wr_window *out);
int __wrap_wr_windows_next(wr_windows *w, wr_window *out);

static void add(text *t, const void *bytes, int64_t count)
{
    CHECK(t->length + count <= ROOM);
    memcpy(t->bytes + t->length, bytes, (size_t)count);
    t->length += count;
}

static void add_pattern(text *t, const weir_pattern *p)
{
    add(t, &p->hash, sizeof p->hash);
}

static void add_window(text *t, const wr_window *w)
{
    int64_t numbers[] = {w->lo, w->hi, w->holes, w->overlap};
    add(t, numbers, sizeof numbers);
    add(t, w->method, (int64_t)strlen(w->method));
    add(t, w->reason, (int64_t)strlen(w->reason));
    add_pattern(t, w->cover);
}

int __wrap_wr_plan_build(const wr_plan_input *in, wr_plan *out)
{
    int code = __real_wr_plan_build(in, out);
    if (in->alone)
        return code;
    CHECK(own && !code && own->calls < CALLS);
    record *r = &own->call[own->calls++];
    r->in = *in;
    r->plan = *out;
    memset(r->cut, 0, sizeof r->cut);
    if (in->cut) {
        memcpy(r->cut, in->cut, sizeof r->cut);
        r->in.cut = r->plan.cut = r->cut;
    }
    r->part.length = 0;
    own->current = out;
    return code;
}

int __wrap_wr_windows_next(wr_windows *w, wr_window *out)
{
    int code = __real_wr_windows_next(w, out);
    CHECK(code >= 0);
    if (!own || w->plan != own->current) /* of a rank that goes alone */
        return code;
    text *told = &own->call[own->calls - 1].part;
    if (told->length == 0)
        add_pattern(told, w->realm);
    if (code)
        add_window(told, out);
    return code;
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_world *w;
    own = &records[t->rank];
    own->calls = 0;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    scene_run(s, w);
    wr_world_release(w);
    own = NULL;
}

/* All requests of a call in one place. */
typedef struct together {
    int64_t count;
    wr_want wants[MOST_RANKS];
    wr_summary wanted;
} together;

static together gather(const call *c, int from, int to)
{
    together all = {0};
    for (int i = from; i < to; i++) {
        const modelled *m = &c->part[i].where;
        wr_summary one = wr_summary_of(m->pattern, 0, m->bytes);
        wr_summary_add(&all.wanted, &one);
        if (m->bytes)
            all.wants[all.count++] = (wr_want){m->pattern, 0, m->bytes, i};
    }
    return all;
}

/* Realm i and its windows. */
static void work_out(const together *all, const record *r, int64_t i, text *out)
{
    weir_pattern *realm;
    wr_windows walk;
    wr_window w;
    int more;
    out->length = 0;
    CHECK(!wr_plan_realm(&r->plan, i, &realm));
    add_pattern(out, realm);
    wr_want wants[MOST_RANKS];
    int64_t count = 0;
    for (int64_t k = 0; k < all->count; k++)
        if (wr_want_meets(&all->wants[k], realm)) /* an aggregator hears of no others */
            wants[count++] = all->wants[k];
    wr_windows_init(&walk, &r->in, &r->plan, realm, count, wants);
    while ((more = __real_wr_windows_next(&walk, &w)) == 1) {
        add_window(out, &w);
        wr_window_release(&w);
    }
    CHECK_EQUAL(more, 0);
    wr_windows_release(&walk);
    weir_pattern_free(realm);
}

/* What the ranks know together is what one process knows; ranks of other nodes are only added up.
 */
static void check_input(const wr_plan_input *in, const wr_summary *wanted)
{
    const wr_summary *got = &in->wanted;
    if (in->nodes == 1)
        CHECK(!memcmp(got, wanted, sizeof *got));
    CHECK(got->lo == wanted->lo && got->hi == wanted->hi && got->active == wanted->active);
    CHECK(got->bytes == wanted->bytes && got->runs == wanted->runs);
}

static int64_t parts_checked, nodes_checked;

/* The parts of aggregators, whose ranks are those from `base` on. */
static void check_parts(const together *all, const record *r, int base, int number,
                        bool *aggregates)
{
    static text wanted;
    for (int64_t i = 0; i < r->plan.aggregators; i++) {
        int64_t rank = base + wr_plan_seat(&r->plan, i);
        const text *told = &records[rank].call[number].part;
        work_out(all, r, i, &wanted);
        CHECK_EQUAL(told->length, wanted.length);
        CHECK(!memcmp(told->bytes, wanted.bytes, (size_t)wanted.length));
        aggregates[rank] = true;
        parts_checked++;
    }
}

/* Where nodes go for themselves each has its own. */
static void check_nodes(const scene *s, const call *c, int number, bool *aggregates)
{
    const int each = (int)s->tunables.ranks_per_node;
    for (int from = 0; from < s->ranks; from += each) {
        const int to = from + each < s->ranks ? from + each : s->ranks;
        together node = gather(c, from, to);
        static record mine;
        mine = records[0].call[number];
        if (!node.count)
            continue;
        CHECK(!wr_plan_for_node(&node.wanted, to - from, &mine.in, &mine.plan));
        check_parts(&node, &mine, from, number, aggregates);
        nodes_checked++;
    }
}

static void check_call(const scene *s, const call *c, int number)
{
    together all = gather(c, 0, s->ranks);
    const record *first = &records[0].call[number];
    check_input(&first->in, &all.wanted);
    bool aggregates[MOST_RANKS] = {0};
    for (int i = 1; i < s->ranks; i++) {
        const record *r = &records[i].call[number];
        CHECK(!memcmp(&r->in, &first->in, offsetof(wr_plan_input, cut)));
        CHECK(!memcmp(&r->plan, &first->plan, offsetof(wr_plan, cut)));
        CHECK(!memcmp(r->cut, first->cut, sizeof r->cut));
    }
    bool used = first->plan.collective && all.count && first->plan.seats == s->ranks;
    if (used && first->plan.per_node)
        check_nodes(s, c, number, aggregates);
    else if (used)
        check_parts(&all, first, 0, number, aggregates);
    for (int i = 0; used && i < s->ranks; i++)
        CHECK(aggregates[i] || records[i].call[number].part.length == 0);
}

static void check_scene(const scene *s)
{
    int number = 0;
    for (int i = 0; i < CALLS; i++)
        if (s->calls[i].together)
            check_call(s, &s->calls[i], number++);
    for (int i = 0; i < s->ranks; i++)
        CHECK_EQUAL(records[i].calls, number);
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(100, 10000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    s->storage = "mem";
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        s->ranks = (int)rng_within(&r, 1, MOST_RANKS);
        snprintf(s->path, sizeof s->path, "plan-parts-%lld", (long long)i);
        scene_make(&r, s);
        if (s->tunables.ranks_per_node < 0) /* nodes are ascending here */
            s->tunables.ranks_per_node *= -1;
        for (int k = 0; k < CALLS; k++) { /* in the thread that writes down */
            s->calls[k].form = WR_BLOCKING;
            s->calls[k].lingers = false;
        }
        if (getenv("WEIR_TEST_SHOW"))
            fprintf(stderr, "%lld: %d ranks, %lld a node, %s\n", (long long)i, s->ranks,
                    (long long)s->tunables.ranks_per_node, s->hints);
        CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
        check_scene(s);
        for (int k = 0; k < s->ranks; k++)
            scene_check_rank(s, k);
        wr_mem_unlink(s->path);
    }
    CHECK(parts_checked > cases && nodes_checked > 0);
    free(s);
    return 0;
}
