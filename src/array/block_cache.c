/* Blocks in a table of lists by number, and in a ring by latest use. */
#include "array/block_cache.h"

#include "base/arith.h"

enum { FEWEST = 4, PER_LIST = 2 };

typedef struct block {
    int64_t number;              /* of the file; -1: free */
    int64_t bytes;               /* that are there: less than a block at the end of the file */
    struct block *next;          /* in its list */
    struct block *newer, *older; /* in the ring, whose head is the cache's */
    char *data;
} block;

struct wr_block_cache {
    pthread_mutex_t lock; /* held while blocks are used: threads may read one array */
    block ring;           /* ring.older is the latest used one, ring.newer the oldest */
    int64_t lists, capacity;
    block **list;
    block *blocks;
    char *memory;
};

static void unlink_block(block *b)
{
    b->newer->older = b->older;
    b->older->newer = b->newer;
}

static void make_latest(wr_block_cache *c, block *b)
{
    b->newer = &c->ring;
    b->older = c->ring.older;
    b->older->newer = b;
    c->ring.older = b;
}

int wr_block_cache_new(int64_t memory, wr_block_cache **out)
{
    const int64_t capacity = memory / WR_CACHE_BLOCK;
    *out = NULL;
    if (capacity < FEWEST)
        return 0;
    wr_block_cache *c = wr_alloc(sizeof *c);
    if (!c)
        return WEIR_ENOMEM;
    *c = (wr_block_cache){.lists = capacity / PER_LIST + 1, .capacity = capacity};
    c->list = wr_alloc_array(c->lists, sizeof(block *));
    c->blocks = wr_alloc_array(capacity, sizeof *c->blocks);
    c->memory = wr_alloc(capacity * WR_CACHE_BLOCK);
    pthread_mutex_init(&c->lock, NULL);
    if (!c->list || !c->blocks || !c->memory) {
        wr_block_cache_free(c);
        return WEIR_ENOMEM;
    }
    c->ring.newer = c->ring.older = &c->ring;
    for (int64_t i = 0; i < c->lists; i++)
        c->list[i] = NULL;
    for (int64_t i = 0; i < capacity; i++) {
        c->blocks[i] = (block){.number = -1, .data = c->memory + i * WR_CACHE_BLOCK};
        make_latest(c, &c->blocks[i]);
    }
    *out = c;
    return 0;
}

void wr_block_cache_free(wr_block_cache *c)
{
    if (!c)
        return;
    pthread_mutex_destroy(&c->lock);
    wr_free(c->memory);
    wr_free(c->blocks);
    wr_free(c->list);
    wr_free(c);
}

static block **place_of(wr_block_cache *c, int64_t number)
{
    block **at = &c->list[number % c->lists];
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

static void forget(wr_block_cache *c, block *b)
{
    if (b->number < 0)
        return;
    *place_of(c, b->number) = b->next;
    b->number = -1;
}

/* Reads a block into the one that was not used for longest. */
static int fetch(weir_array *array, int64_t number, block **out)
{
    wr_block_cache *c = array->cache;
    block *b = c->ring.newer;
    wr_run_pattern where, memory;
    forget(c, b);
    wr_access_request a = {.direction = WR_READ,
                           .file =
                               wr_run_pattern_set(&where, number * WR_CACHE_BLOCK, WR_CACHE_BLOCK),
                           .memory = wr_run_pattern_set(&memory, 0, WR_CACHE_BLOCK),
                           .end = WR_CACHE_BLOCK,
                           .base = b->data};
    int code = wr_file_access(array->file, &a, false, 0, &b->bytes);
    if (code)
        return code;
    b->number = number;
    b->next = c->list[number % c->lists];
    c->list[number % c->lists] = b;
    *out = b;
    return 0;
}

/* Everything of the access that lies in a block. */
static int read_block(weir_array *array, const wr_access_request *a, int64_t number)
{
    wr_block_cache *c = array->cache;
    block *b = *place_of(c, number);
    const int64_t lo = number * WR_CACHE_BLOCK;
    wr_run_pattern cover;
    int code = b ? 0 : fetch(array, number, &b);
    if (code)
        return code;
    unlink_block(b);
    make_latest(c, b);
    wr_want beyond = {a->file, a->begin, a->end, 0};
    if (b->bytes < WR_CACHE_BLOCK && wr_want_touches(&beyond, lo + b->bytes, lo + WR_CACHE_BLOCK))
        return wr_file_fail_short(array->file, lo + b->bytes);
    wr_access_copy(a, wr_run_pattern_set(&cover, lo, WR_CACHE_BLOCK), b->data, lo,
                   lo + WR_CACHE_BLOCK);
    return 0;
}

int wr_block_cache_read(weir_array *array, const wr_access_request *a)
{
    wr_block_cache *c = array->cache;
    wr_want want = {a->file, a->begin, a->end, 0};
    int64_t lo, hi;
    int code = 0;
    if (a->begin == a->end)
        return 0;
    wr_pattern_bounds_of(a->file, a->begin, a->end, &lo, &hi);
    const int64_t first = lo / WR_CACHE_BLOCK, end = wr_div_ceil(hi, WR_CACHE_BLOCK);
    if (end - first > c->capacity / 2)
        return wr_file_access(array->file, a, false, 0, NULL);
    pthread_mutex_lock(&c->lock);
    for (int64_t i = first; i < end && !code; i++)
        if (wr_want_touches(&want, i * WR_CACHE_BLOCK, (i + 1) * WR_CACHE_BLOCK))
            code = read_block(array, a, i);
    pthread_mutex_unlock(&c->lock);
    return code;
}

void wr_block_cache_drop(wr_block_cache *c, const weir_pattern *written)
{
    int64_t lo, hi;
    if (!c || !written || !weir_pattern_bytes(written))
        return;
    weir_pattern_bounds(written, &lo, &hi);
    pthread_mutex_lock(&c->lock);
    for (int64_t i = 0; i < c->capacity; i++) {
        block *b = &c->blocks[i];
        if (b->number >= 0 && b->number * WR_CACHE_BLOCK < hi &&
            (b->number + 1) * WR_CACHE_BLOCK > lo) {
            forget(c, b);
            unlink_block(b);
            b->older = &c->ring; /* the first to be used again */
            b->newer = c->ring.newer;
            b->newer->older = b;
            c->ring.newer = b;
        }
    }
    pthread_mutex_unlock(&c->lock);
}
