#include "array_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void random_array_hints(rng *r, const hint_limits *limits, char *out, size_t room)
{
    static const char *const storage[] = {"posix", "pool", "uring"};
    static const char *const realms[] = {"even", "static", "cyclic", "persistent", "balanced"};
    static const char *const access[] = {"auto", "sieve", "list", "naive"};
    static const char *const together[] = {"auto", "always", "always", "never"};
    static const char *const overlap[] = {"auto", "none", "io", "all"};
    static const char *const map[] = {"0", "8K", "256M"};
    int64_t window = rng_chance(r, 15) ? rng_within(r, 1, 30) : rng_within(r, 31, 20000);
    snprintf(out, room,
             "storage=%s;realms=%s;access=%s;collective=%s;window=%lld;aggregators=%lld;"
             "realm_align=%lld;exchange=%s;sieve_buffer=%lld;sieve_unit=%s;overlap=%s;"
             "overlap_memory=%lld;progress=%s;cache=%s;direct=%s;map=%s",
             storage[rng_within(r, 0, limits->rings ? 2 : 1)], realms[rng_within(r, 0, 4)],
             access[rng_within(r, 0, 3)], together[rng_within(r, 0, 3)], (long long)window,
             (long long)rng_within(r, 0, 10),
             (long long)(rng_chance(r, 30) ? rng_within(r, 1, 700) : 1),
             rng_chance(r, 30) ? "p2p" : "auto", (long long)rng_within(r, 1, 3000),
             rng_chance(r, 40) ? "column" : "byte", overlap[rng_within(r, 0, 3)],
             (long long)(rng_chance(r, 50) ? rng_within(r, 0, 40000) : 1 << 26),
             rng_chance(r, 20) ? "poll" : "thread", limits->cache ? "1M" : "0",
             rng_chance(r, 10) ? "always" : "auto", map[rng_within(r, 0, 2)]);
}

static void random_memory(rng *r, const array_scene *s, array_part *p)
{
    const chosen *c = &p->what;
    p->before = malloc((size_t)c->bytes);
    p->after = malloc((size_t)c->bytes);
    p->wanted = malloc((size_t)c->bytes);
    CHECK(p->before && p->after && p->wanted);
    random_elements(r, WEIR_I1, p->before, c->bytes);
    for (int64_t i = 0; i < c->elements; i++)
        random_elements(r, c->type, p->before + c->place[i], 1);
    memcpy(p->after, p->before, (size_t)c->bytes);
    memcpy(p->wanted, p->before, (size_t)c->bytes);
    CHECK(s->array.data);
}

/* What the ranks choose, of a call that is known but for that. */
static void choose(rng *r, array_scene *s, array_call *k, bool apart)
{
    for (int i = 0; i < s->ranks; i++) {
        array_part *p = &k->part[i];
        choice how = {.write = k->write, .place = i};
        if (k->way == BY_DISTRIBUTION)
            how.by = &k->by;
        else if (k->write && apart) {
            how.apart_of = s->ranks;
            how.apart_at = i;
        }
        chosen_random(r, &s->array, &how, &p->what);
        if (how.apart_of && i && !s->array.info.dimensions) {
            p->what.nothing = true;
            p->what.elements = 0;
        }
        random_memory(r, s, p);
    }
}

/* Ranks in their order: of a byte that several write the highest one's counts. */
static void model_call(array_scene *s, array_call *k)
{
    for (int i = 0; i < s->ranks; i++) {
        array_part *p = &k->part[i];
        if (k->write)
            chosen_store(&p->what, &s->array, p->before);
        else
            chosen_fetch(&p->what, &s->array, p->wanted);
    }
}

void array_scene_make(rng *r, array_scene *s)
{
    const bool cache = rng_chance(r, 15);
    s->limits.cache = cache;
    random_array_hints(r, &s->limits, s->hints, sizeof s->hints);
    const bool never = strstr(s->hints, "collective=never");
    wr_tunables_init(&s->tunables);
    s->tunables.ranks_per_node = rng_chance(r, 30) ? rng_within(r, 1, 4) : 0;
    if (s->create) {
        random_elements(r, s->array.info.type, s->fill, 1);
        if (rng_chance(r, 60) || s->array.info.format == WEIR_ZARR2) /* where NaN is NaN */
            memset(s->fill, 0, sizeof s->fill);
        for (int64_t i = 0; i < s->array.elements; i++)
            memcpy(s->array.data + i * s->array.element, s->fill, (size_t)s->array.element);
    }
    s->calls = (int)rng_within(r, 1, ARRAY_CALLS);
    for (int i = 0; i < s->calls; i++) {
        array_call *k = &s->call[i];
        *k = (array_call){0};
        k->write = cache ? i == 0 : (i == 0 && s->create) || rng_chance(r, 40);
        k->together = rng_chance(r, 75);
        k->way = k->together && rng_chance(r, 50) ? (enum way)rng_within(r, 0, WAYS - 1) : 0;
        if (k->way == BY_SECTION && rng_chance(r, 50))
            k->form = WR_NONBLOCKING;
        k->lingers = k->form == WR_NONBLOCKING && k->together && rng_chance(r, 50);
        random_distribution(r, &s->array.info, s->ranks, &k->by);
        choose(r, s, k, never || !k->together);
        model_call(s, k);
    }
}

/* --- doing it --- */

static int section_of(void *user, int rank, weir_selection *out)
{
    const array_call *k = user;
    const chosen *c = &k->part[rank].what;
    *out = c->section;
    return !c->nothing;
}

static int run_blocking(weir_array *a, array_call *k, array_part *p)
{
    const weir_selection *section = chosen_section(&p->what);
    char *base = p->after + p->what.base;
    if (k->way == BY_RANK)
        return k->write ? weir_array_write_by(a, section_of, k, &p->what.layout, base)
                        : weir_array_read_by(a, section_of, k, &p->what.layout, base);
    if (k->way == BY_DISTRIBUTION)
        return k->write ? weir_array_write_distributed(a, &k->by, &p->what.layout, base)
                        : weir_array_read_distributed(a, &k->by, &p->what.layout, base);
    if (k->write)
        return (k->together ? weir_array_write_all : weir_array_write)(a, section, &p->what.layout,
                                                                       base, NULL);
    return (k->together ? weir_array_read_all : weir_array_read)(a, section, &p->what.layout, base,
                                                                 NULL);
}

static void start(weir_array *a, const array_call *k, array_part *p, weir_request **out)
{
    const weir_selection *section = chosen_section(&p->what);
    char *base = p->after + p->what.base;
    if (k->write)
        CHECK(!(k->together ? weir_array_write_all : weir_array_write)(a, section, &p->what.layout,
                                                                       base, out));
    else
        CHECK(!(k->together ? weir_array_read_all : weir_array_read)(a, section, &p->what.layout,
                                                                     base, out));
}

static void wait_for(array_scene *s, int rank, int calls, weir_request **pending)
{
    for (int i = 0; i < calls; i++)
        if (pending[i])
            s->call[i].part[rank].code = weir_request_wait(&pending[i], NULL);
}

static weir_array *enter(array_scene *s, wr_world *w)
{
    weir_array *a;
    weir_array_options options = naive_options(&s->array);
    options.fill = s->fill;
    if (s->create)
        CHECK(!wr_array_create(w, s->path, &s->array.info, &options, s->hints, &a));
    else
        CHECK(!wr_array_open(w, s->path, WEIR_READ | WEIR_WRITE, s->hints, &a));
    const weir_array_info *info = weir_array_get_info(a), *wanted = &s->array.info;
    CHECK(info->type == wanted->type && info->dimensions == wanted->dimensions);
    CHECK(info->bytes == wanted->bytes && info->members == wanted->members);
    CHECK(!memcmp(info->shape, wanted->shape, sizeof info->shape));
    CHECK_EQUAL(info->swapped, wanted->swapped);
    return a;
}

static void sync_if_weak(weir_array *a)
{
    if (test_weak())
        CHECK(!weir_array_sync(a));
}

void array_scene_run(array_scene *s, wr_world *w)
{
    weir_request *pending[ARRAY_CALLS] = {0};
    const int rank = w->transport->rank;
    weir_array *a = enter(s, w);
    for (int i = 0; i < s->calls; i++) {
        array_call *k = &s->call[i];
        array_part *p = &k->part[rank];
        if (!k->together) { /* it does not queue behind others */
            wait_for(s, rank, i, pending);
            CHECK(!wr_agree(w->transport, 0, 0));
            sync_if_weak(a);
        }
        if (k->form == WR_BLOCKING)
            p->code = run_blocking(a, k, p);
        if (k->form == WR_NONBLOCKING)
            start(a, k, p, &pending[i]);
        if (!k->lingers) {
            wait_for(s, rank, i + 1, pending);
            CHECK(!wr_agree(w->transport, 0, 0));
        }
        if (!k->together)
            sync_if_weak(a);
    }
    CHECK(!weir_array_close(a));
    wait_for(s, rank, s->calls, pending);
}

void array_scene_check(const array_scene *s, int rank)
{
    for (int i = 0; i < s->calls; i++) {
        const array_part *p = &s->call[i].part[rank];
        CHECK_EQUAL(p->code, 0);
        CHECK(!memcmp(p->after, p->wanted, (size_t)p->what.bytes));
    }
}

void array_scene_release(array_scene *s)
{
    for (int i = 0; i < s->calls; i++)
        for (int k = 0; k < s->ranks; k++) {
            array_part *p = &s->call[i].part[k];
            free(p->before);
            free(p->after);
            free(p->wanted);
            chosen_release(&p->what);
        }
}
