/* All allocation in one place, with a counter that tests use to make the k-th one fail. Budgets are
 * counters changed by compare-and-exchange, so that two threads never take the same bytes. */
#include "base/memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/error.h"

enum { HUGE_PAGE = 2 << 20, LARGE = 2 * HUGE_PAGE };
enum { BLOCK = 16 << 10, MAX_ALIGN = _Alignof(max_align_t) };

typedef struct wr_arena_block {
    struct wr_arena_block *next;
    size_t size; /* of `data` */
    _Alignas(max_align_t) unsigned char data[];
} wr_arena_block;

struct wr_meter {
    _Atomic int64_t fail_after, allocations;
};

static _Thread_local wr_meter own = {-1, 0}, *borrowed;

wr_meter *wr_alloc_meter(void)
{
    return borrowed ? borrowed : &own;
}

void wr_alloc_share(wr_meter *meter)
{
    borrowed = meter;
}

void wr_alloc_fail_after(int64_t skip)
{
    wr_alloc_meter()->fail_after = skip;
}

int64_t wr_alloc_count(void)
{
    return wr_alloc_meter()->allocations;
}

/* Counts one; false if it is the one to fail. */
static bool may_allocate(void)
{
    wr_meter *m = wr_alloc_meter();
    m->allocations++;
    return m->fail_after < 0 || m->fail_after-- > 0;
}

/* Memory is the process's, whoever asked for it: so is this count. */
static _Atomic int64_t held, most_held;

int64_t wr_memory_peak(void)
{
    return atomic_load_explicit(&most_held, memory_order_relaxed);
}

void wr_memory_note(int64_t more)
{
    int64_t now = atomic_fetch_add_explicit(&held, more, memory_order_relaxed) + more;
    int64_t most = wr_memory_peak();
    while (now > most && !atomic_compare_exchange_weak(&most_held, &most, now))
        ;
}

/* Small pieces come and go too often to be counted. */
static void *note(void *memory, int sign)
{
    enum { SMALL = 32 << 10 };
    const size_t bytes = memory ? malloc_usable_size(memory) : 0;
    if (bytes >= SMALL)
        wr_memory_note(sign * (int64_t)bytes);
    return memory;
}

static int out_of_memory(int64_t size)
{
    return wr_fail(WEIR_ENOMEM, "out of memory allocating %lld bytes", (long long)size);
}

void *wr_alloc(int64_t size)
{
    void *memory = NULL;
    if (may_allocate())
        memory = malloc(size ? (size_t)size : 1);
    if (!memory)
        out_of_memory(size);
    return note(memory, 1);
}

void *wr_alloc_large(int64_t size)
{
    void *memory = NULL;
    if (size < LARGE)
        return wr_alloc(size);
    if (may_allocate())
        memory = aligned_alloc(HUGE_PAGE, (size_t)wr_round_up(size, HUGE_PAGE));
    if (!memory)
        out_of_memory(size);
    else
        madvise(memory, (size_t)size, MADV_HUGEPAGE); /* if not, it is only slower */
    return note(memory, 1);
}

/* Huge pages would take memory for what is not touched. */
void *wr_pages_alloc(int64_t size)
{
    void *memory = MAP_FAILED;
    if (may_allocate())
        memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        out_of_memory(size);
        return NULL;
    }
    madvise(memory, (size_t)size, MADV_NOHUGEPAGE);
    return memory;
}

void wr_pages_free(void *memory, int64_t size)
{
    if (memory)
        munmap(memory, (size_t)size);
}

int64_t wr_page_bytes(void)
{
    static _Atomic int64_t page; /* the same, whoever asks first */
    if (!page)
        page = sysconf(_SC_PAGESIZE);
    return page;
}

void *wr_alloc_array(int64_t count, size_t size)
{
    int64_t bytes;
    if (!wr_mul(count, (int64_t)size, &bytes)) {
        out_of_memory(INT64_MAX);
        return NULL;
    }
    return wr_alloc(bytes);
}

int wr_grow(void **items, int64_t *room, int64_t need, size_t size)
{
    if (need <= *room)
        return 0;
    int64_t larger = wr_max(need, *room < INT64_MAX / 2 ? 2 * *room : need);
    int64_t bytes;
    if (!wr_mul(larger, (int64_t)size, &bytes))
        return out_of_memory(INT64_MAX);
    void *grown = NULL;
    if (may_allocate()) {
        note(*items, -1);
        grown = realloc(*items, (size_t)bytes);
        note(grown ? grown : *items, 1);
    }
    if (!grown)
        return out_of_memory(bytes);
    *items = grown;
    *room = larger;
    return 0;
}

void wr_free(void *memory)
{
    free(note(memory, -1));
}

void wr_budget_init(wr_budget *budget, int64_t limit)
{
    budget->limit = limit;
    atomic_init(&budget->used, 0);
    atomic_init(&budget->peak, 0);
}

int wr_budget_take(wr_budget *budget, int64_t bytes)
{
    if (!budget)
        return 0;
    int64_t used = atomic_load(&budget->used);
    do {
        if (bytes > budget->limit - used)
            return wr_fail(WEIR_EBUDGET, "%lld bytes more than the budget of %lld, %lld in use",
                           (long long)bytes, (long long)budget->limit, (long long)used);
    } while (!atomic_compare_exchange_weak(&budget->used, &used, used + bytes));
    used += bytes;
    int64_t peak = atomic_load(&budget->peak);
    while (used > peak && !atomic_compare_exchange_weak(&budget->peak, &peak, used))
        ;
    return 0;
}

void wr_budget_give(wr_budget *budget, int64_t bytes)
{
    if (budget)
        atomic_fetch_sub(&budget->used, bytes);
}

static int64_t block_cost(size_t size)
{
    return (int64_t)(sizeof(wr_arena_block) + size);
}

static wr_arena_block *add_block(wr_arena *arena, size_t size)
{
    if (wr_budget_take(arena->budget, block_cost(size)))
        return NULL;
    wr_arena_block *block = wr_alloc(block_cost(size));
    if (!block) {
        wr_budget_give(arena->budget, block_cost(size));
        return NULL;
    }
    block->size = size;
    if (size > BLOCK && arena->block) { /* full at once: behind the one with room left */
        block->next = arena->block->next;
        arena->block->next = block;
        return block;
    }
    block->next = arena->block;
    arena->block = block;
    arena->used = 0;
    return block;
}

void *wr_arena_alloc(wr_arena *arena, int64_t size)
{
    if (size > INT64_MAX / 2) {
        out_of_memory(size);
        return NULL;
    }
    size_t need = (size_t)wr_round_up(wr_max(1, size), MAX_ALIGN);
    wr_arena_block *block = arena->block;
    if (!block || block->size - arena->used < need)
        block = add_block(arena, need > BLOCK ? need : BLOCK);
    if (!block)
        return NULL;
    if (block != arena->block)
        return block->data;
    void *memory = block->data + arena->used;
    arena->used += need;
    return memory;
}

void wr_arena_release(wr_arena *arena)
{
    while (arena->block) {
        wr_arena_block *next = arena->block->next;
        wr_budget_give(arena->budget, block_cost(arena->block->size));
        wr_free(arena->block);
        arena->block = next;
    }
    arena->used = 0;
}
