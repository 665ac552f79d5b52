/* The windows of the latest walk. The key is a hash of 128 bits over the plan's input, its window,
 * the realm and all requests: as good as comparing them. */
#include "plan/window_cache.h"

void wr_window_release(wr_window *w)
{
    if (!w->kept)
        weir_pattern_free(w->cover);
    w->cover = NULL;
}

static void forget(wr_window_cache *c)
{
    for (int64_t i = 0; i < c->count; i++)
        weir_pattern_free(c->window[i].cover);
    c->count = c->bytes = 0;
    c->whole = c->full = false;
}

void wr_window_cache_release(wr_window_cache *window_cache)
{
    forget(window_cache);
    wr_free(window_cache->window);
    *window_cache = (wr_window_cache){0};
}

static void mix(wr_hash *h, uint64_t value)
{
    h->half[0] = (h->half[0] ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    h->half[0] ^= h->half[0] >> 29;
    h->half[1] = (h->half[1] + value) * UINT64_C(0xd6e8feb86659fd93);
    h->half[1] ^= h->half[1] >> 32;
}

static void mix_pattern(wr_hash *h, const weir_pattern *p)
{
    mix(h, p->hash.half[0]);
    mix(h, p->hash.half[1]);
}

static wr_hash key_of(const wr_windows *w)
{
    wr_hash h = {{(uint64_t)w->count, UINT64_C(0x452821e638d01377)}};
    const int64_t *field = (const int64_t *)(const void *)w->in;
    for (size_t i = 0; i < WR_PLAN_INPUT_FIELDS; i++)
        mix(&h, (uint64_t)field[i]);
    for (size_t i = 0; w->in->cut && i < WR_CUTS; i++)
        mix(&h, (uint64_t)w->in->cut[i]);
    mix(&h, (uint64_t)w->plan->window);
    mix(&h, (uint64_t)w->plan->cell);
    mix_pattern(&h, w->realm);
    for (int64_t i = 0; i < w->count; i++) {
        const wr_want *want = &w->wants[i];
        mix_pattern(&h, want->pattern);
        mix(&h, (uint64_t)want->begin);
        mix(&h, (uint64_t)want->end);
    }
    return h;
}

void wr_windows_remember(wr_windows *w, wr_window_cache *window_cache)
{
    wr_hash key = key_of(w);
    w->window_cache = window_cache;
    w->repeats = window_cache->whole && wr_hash_equal(window_cache->key, key);
    if (w->repeats)
        return;
    forget(window_cache);
    window_cache->key = key;
}

void wr_window_cache_note(wr_window_cache *c, int code, wr_window *window)
{
    if (code == 0)
        c->whole = !c->full;
    if (code != 1 || c->full)
        return;
    int64_t bytes = weir_pattern_footprint(window->cover) + (int64_t)sizeof *window;
    c->full = c->bytes + bytes > WR_WINDOW_CACHE_BYTES ||
              wr_grow((void **)&c->window, &c->room, c->count + 1, sizeof *c->window);
    if (c->full)
        return;
    window->kept = true;
    c->bytes += bytes;
    c->window[c->count++] = *window;
}
