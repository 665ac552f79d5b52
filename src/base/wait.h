/* The one way to wait: for a word in memory to change.
 *
 * Test the word; yield a few times; sleep on the word for at most 200 microseconds (1 ms, once that
 * has taken 10 ms); poke; repeat.
 * The poke lets something else make progress meanwhile: MPI, whose messages another rank may be
 * blocked on before it can come to change our word. No other file sleeps or spins. */
#ifndef WR_BASE_WAIT_H
#define WR_BASE_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A word several threads or processes wait for; in shared memory if processes do. Zeroed is valid.
 * Read and changed through the functions below. */
typedef struct wr_word {
    _Atomic uint32_t value;
    _Atomic uint32_t sleepers; /* so that changing it costs no system call when nobody sleeps */
} wr_word;

typedef struct wr_waiter {
    int spins;                /* tests before the first yield: 0 where ranks outnumber cores */
    bool leaves;              /* within a task (task.h): leave it instead of waiting */
    void (*poke)(void *user); /* NULL: nothing needs it, sleep as long as it takes */
    void *user;
} wr_waiter;

/* Acquires what was written before the wr_word_set or wr_word_add that put the value there. */
static inline uint32_t wr_word_get(const wr_word *word)
{
    return atomic_load_explicit(&word->value, memory_order_acquire);
}

/* Changes the word and wakes everyone who waits for it. Releases what was written before to whoever
 * sees the new value by wr_word_get or wr_wait. */
void wr_word_set(wr_word *word, uint32_t value);

/* Adds to the word, without waking; returns what it was. Acquires and releases: whoever adds last
 * sees what those before it wrote before they added, as in a barrier. */
static inline uint32_t wr_word_add(wr_word *word, uint32_t by)
{
    return atomic_fetch_add_explicit(&word->value, by, memory_order_acq_rel);
}

/* Wakes everyone who waits for the word, after wr_word_add. */
void wr_word_wake(wr_word *word);

/* Both: for words that only count. */
static inline void wr_word_signal(wr_word *word)
{
    wr_word_add(word, 1);
    wr_word_wake(word);
}

/* Returns when the word's value is not `seen`, with the new value. */
uint32_t wr_wait(wr_word *word, uint32_t seen, const wr_waiter *waiter);

/* A word and the value it is to differ from. */
typedef struct wr_awaited {
    wr_word *word;
    uint32_t seen;
} wr_awaited;

/* Sleeps until one of `count` words has changed, at most `microseconds` (0: as long as it takes);
 * may return earlier. Of more than 100 words, or with a kernel before 5.16, it looks every 200
 * microseconds. */
void wr_nap_any(int count, const wr_awaited *awaited, int64_t microseconds);

/* For those who wait for something that has no word: sleeps for `microseconds`. */
void wr_pause(int64_t microseconds);

/* Between two looks at something that has no word: yields at first, sleeps longer and longer, up to
 * 200 microseconds, later. `*tries` is 0 at first and the caller's to keep. Leaves a task, whose
 * mover is told of the tries (task.h). */
void wr_backoff(int *tries);

/* The same, but a change of the word ends a sleep. */
void wr_backoff_on(wr_word *word, uint32_t seen, int *tries);

/* How long it sleeps at the n-th try, in microseconds; 0: it yields. */
int64_t wr_backoff_time(int64_t tries);

#endif
