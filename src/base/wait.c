/* Waiting on a word with yields and a futex. Words may lie in memory shared by processes, so the
 * futex calls are not the private kind. */
#include "base/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/task.h"
#include "base/timer.h"

enum { YIELDS = 32, POLITE_YIELDS = 256, NAP_US = 200, SHORT_NAPS = 50, LONG_NAP_US = 1000 };

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static struct timespec duration(int64_t microseconds)
{
    return (struct timespec){.tv_sec = microseconds / 1000000,
                             .tv_nsec = microseconds % 1000000 * 1000};
}

/* Counts itself before the kernel compares the value: pairs with wr_word_wake. */
static void futex_wait(wr_word *word, uint32_t seen, const struct timespec *limit)
{
    atomic_fetch_add(&word->sleepers, 1);
    syscall(SYS_futex, &word->value, FUTEX_WAIT, seen, limit, NULL, 0);
    atomic_fetch_sub(&word->sleepers, 1);
}

/* A nap costs 13 microseconds of CPU time on a virtual machine, so a long wait takes longer ones.
 * */
static void nap(wr_word *word, uint32_t seen, int naps, const wr_waiter *waiter)
{
    const struct timespec limit = duration(naps < SHORT_NAPS ? NAP_US : LONG_NAP_US);
    futex_wait(word, seen, waiter->poke ? &limit : NULL);
    if (waiter->poke)
        waiter->poke(waiter->user);
}

/* A yield that takes so long went to somebody who computes: who sleeps instead is woken in front of
 * them. */
enum { LONG_YIELD_NS = 1000000 };

/* Whether it took long. */
static bool yield(void)
{
    int64_t before = wr_clock_ns();
    sched_yield();
    return wr_clock_ns() - before > LONG_YIELD_NS;
}

static uint32_t wait_here(wr_word *word, uint32_t seen, const wr_waiter *waiter)
{
    uint32_t now;
    for (int i = 0; i < waiter->spins; i++) {
        if ((now = wr_word_get(word)) != seen)
            return now;
        relax();
    }
    for (int i = 0; (now = wr_word_get(word)) == seen; i += i < YIELDS + SHORT_NAPS) {
        if (i >= YIELDS)
            nap(word, seen, i - YIELDS, waiter);
        else if (yield())
            i = YIELDS;
    }
    return now;
}

uint32_t wr_wait(wr_word *word, uint32_t seen, const wr_waiter *waiter)
{
    uint32_t now = wr_word_get(word);
    if (now != seen)
        return now;
    if (waiter->leaves && wr_task_current()) {
        while ((now = wr_word_get(word)) == seen)
            wr_task_leave(word, seen);
        return now;
    }
    const int before = wr_timer_enter(WR_WAITING);
    now = wait_here(word, seen, waiter);
    wr_timer_leave(before);
    return now;
}

/* A sleeper counts itself, then the kernel compares the value; we change the value, then look at
 * the count. The fence keeps our two steps in this order, so one side notices the other and no wake
 * is lost. Pairs with the counting in futex_wait and sleep_on_any. */
void wr_word_wake(wr_word *word)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&word->sleepers))
        syscall(SYS_futex, &word->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void wr_word_set(wr_word *word, uint32_t value)
{
    atomic_store(&word->value, value);
    wr_word_wake(word);
}

void wr_pause(int64_t microseconds)
{
    static wr_word never;
    const struct timespec limit = duration(microseconds);
    futex_wait(&never, 0, &limit);
}

/* Absent from older headers. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
enum { MOST_WORDS = 100, WORD_OF_32_BITS = 2 };

static bool sleep_on_any(int count, const wr_awaited *awaited, int64_t microseconds)
{
    struct {
        uint64_t value, address;
        uint32_t flags, reserved;
    } words[MOST_WORDS];
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + microseconds % 1000000 * 1000;
    until.tv_sec += microseconds / 1000000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    for (int i = 0; i < count; i++) { /* counted before the kernel compares: as in futex_wait */
        words[i].value = awaited[i].seen;
        words[i].address = (uintptr_t)&awaited[i].word->value;
        words[i].flags = WORD_OF_32_BITS;
        words[i].reserved = 0;
        atomic_fetch_add(&awaited[i].word->sleepers, 1);
    }
    long result =
        syscall(SYS_futex_waitv, words, count, 0, microseconds ? &until : NULL, CLOCK_MONOTONIC);
    bool known = result >= 0 || errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR;
    for (int i = 0; i < count; i++)
        atomic_fetch_sub(&awaited[i].word->sleepers, 1);
    return known;
}

void wr_nap_any(int count, const wr_awaited *awaited, int64_t microseconds)
{
    const struct timespec limit = duration(microseconds);
    const int before = wr_timer_enter(WR_WAITING);
    if (count == 1) /* which older kernels can do as well */
        futex_wait(awaited->word, awaited->seen, microseconds ? &limit : NULL);
    else if (count <= 0 || count > MOST_WORDS || !sleep_on_any(count, awaited, microseconds))
        wr_pause(microseconds && microseconds < NAP_US ? microseconds : NAP_US);
    wr_timer_leave(before);
}

/* Four naps of each length, each twice the one before: about an eighth of the time waited so far. A
 * nap costs as much of the processor whatever its length. */
int64_t wr_backoff_time(int64_t tries)
{
    enum { FIRST_US = 4, LENGTHS = 6 };
    const int64_t rest = tries - POLITE_YIELDS;
    if (rest <= 0)
        return 0;
    return rest / 4 < LENGTHS ? FIRST_US << rest / 4 : NAP_US;
}

void wr_backoff_on(wr_word *word, uint32_t seen, int *tries)
{
    *tries += *tries < INT_MAX;
    const int64_t rest = wr_backoff_time(*tries);
    const struct timespec limit = duration(rest);
    if (wr_task_current()) {
        wr_task_leave(NULL, (uint32_t)*tries);
        return;
    }
    const int before = wr_timer_enter(WR_WAITING);
    if (rest)
        futex_wait(word, seen, &limit);
    else if (yield())
        *tries = POLITE_YIELDS;
    wr_timer_leave(before);
}

void wr_backoff(int *tries)
{
    static wr_word never;
    wr_backoff_on(&never, 0, tries);
}
