/* Memory with a ceiling: allocation, byte budgets, arenas.
 *
 * All memory of the library comes from wr_alloc, so that a test can make any single allocation
 * fail. A budget counts bytes and grants nothing: who takes bytes from it allocates them, and gives
 * the same number back. An arena hands out memory that is released all at once. */
#ifndef WR_BASE_MEMORY_H
#define WR_BASE_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* size >= 0 bytes aligned for any type, or NULL with WEIR_ENOMEM raised. Size 0 is not NULL. */
void *wr_alloc(int64_t size);

/* The same for many MiB that are used from end to end: in large pages, where there are. */
void *wr_alloc_large(int64_t size);

/* count >= 0 elements of `size` bytes; a product that does not fit is WEIR_ENOMEM too. */
void *wr_alloc_array(int64_t count, size_t size);

/* Grows an array for at least `need` elements, at least doubling; *items and *room are left alone
 * on failure. Returns 0 or a negative code. */
int wr_grow(void **items, int64_t *room, int64_t need, size_t size);

void wr_free(void *memory);

/* `size` bytes, a multiple of a page, that are zero; a page takes memory once it is touched. NULL
 * with WEIR_ENOMEM raised. */
void *wr_pages_alloc(int64_t size);
void wr_pages_free(void *memory, int64_t size);

/* Bytes of the kernel's page, a power of two: mostly 4 KiB, up to 64 KiB. */
int64_t wr_page_bytes(void);

/* What direct access asks of memory, where the system does not tell: no device's block is larger.
 * Offsets need whole pages. */
enum { WR_DIRECT_ALIGN = 4096 };

/* The most bytes that the process has had from these functions at a time, but for small pieces and
 * pages; and what else it has, such as memory that ranks share. */
int64_t wr_memory_peak(void);
void wr_memory_note(int64_t more);

/* For tests: the allocation after `skip` more ones on this thread fails, once; -1: none does. */
void wr_alloc_fail_after(int64_t skip);

/* Allocations made on this thread so far. */
int64_t wr_alloc_count(void);

/* For tests: what counts and fails them, to be shared with another thread, which must end first. */
typedef struct wr_meter wr_meter;
wr_meter *wr_alloc_meter(void);
void wr_alloc_share(wr_meter *meter);

/* Shared by threads. Invariant I2: 0 <= used <= limit at all times. */
typedef struct wr_budget {
    int64_t limit;
    _Atomic int64_t used; /* counted only: nothing is handed over by it */
    _Atomic int64_t peak;
} wr_budget;

void wr_budget_init(wr_budget *budget, int64_t limit);

/* All of `bytes` or nothing (WEIR_EBUDGET). A NULL budget has no limit. */
int wr_budget_take(wr_budget *budget, int64_t bytes);
void wr_budget_give(wr_budget *budget, int64_t bytes);

/* Not shared by threads. A zeroed arena is valid and has no budget. */
typedef struct wr_arena {
    wr_budget *budget; /* borrowed until release, or NULL */
    struct wr_arena_block *block;
    size_t used; /* in the current block */
} wr_arena;

/* As wr_alloc, valid until wr_arena_release. What is larger than 16 KiB takes a block of its own;
 * smaller ones share blocks of that size, of which less than half is lost. */
void *wr_arena_alloc(wr_arena *arena, int64_t size);
void wr_arena_release(wr_arena *arena);

#endif
