/* Tasks by the contexts of the C library (swapcontext): the task has a stack of its own, its mover
 * the thread's. Nothing here is atomic: a task changes movers under a lock of theirs only. */
#include "base/task.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* The sanitizers must be told which stack is in use; gcc and clang say differently that they are
 * there. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

enum { STACK = 256 * 1024 };

struct wr_task {
    ucontext_t own, mover; /* where to go on: here, and in who moves it */
    char *stack;           /* behind a page that must not be touched */
    int64_t page;
    void (*run)(void *user);
    void *user;
    bool over;
    wr_word *word; /* what it waits for */
    uint32_t seen;
    int64_t patience;
    weir_error error; /* the details of whoever does not run now */
    /* the sanitizers' */
    void *fiber, *mover_fiber, *fake;
    const void *mover_stack;
    size_t mover_size;
};

static _Thread_local wr_task *current;

/* Not inlined, so that the address of a thread-local is not kept across a change of threads. */
__attribute__((noinline)) static void set_current(wr_task *task)
{
    current = task;
}

__attribute__((noinline)) wr_task *wr_task_current(void)
{
    return current;
}

/* Just before going to the other stack; `*fake` keeps what belongs to this one, NULL: it is left
 * for good. */
static void announce(wr_task *t, bool to_task, void **fake)
{
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(fake, to_task ? t->stack : t->mover_stack,
                                   to_task ? STACK : t->mover_size);
#endif
#ifdef WITH_TSAN
    if (to_task)
        t->mover_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to_task ? t->fiber : t->mover_fiber, 0);
#endif
    (void)t, (void)to_task, (void)fake;
}

/* Just after arriving. */
static void arrive(wr_task *t, bool in_task, void *fake)
{
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(fake, in_task ? &t->mover_stack : NULL,
                                    in_task ? &t->mover_size : NULL);
#endif
    (void)t, (void)in_task, (void)fake;
}

/* The details of one side for those of the other. */
static void swap_errors(wr_task *t)
{
    weir_error here;
    wr_error_take(&here);
    wr_error_raise(&t->error);
    t->error = here;
}

static void begin(unsigned high, unsigned low)
{
    wr_task *t = (wr_task *)(((uintptr_t)high << 16 << 16) | low);
    arrive(t, true, NULL);
    t->run(t->user);
    t->over = true;
    announce(t, false, NULL);
    setcontext(&t->mover);
}

int wr_task_new(wr_task **out)
{
    wr_task *t = wr_alloc(sizeof *t);
    if (!t)
        return WEIR_ENOMEM;
    *t = (wr_task){.page = wr_page_bytes(), .over = true};
    char *base = mmap(NULL, (size_t)(STACK + t->page), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) {
        wr_free(t);
        return wr_fail(WEIR_ENOMEM, "no memory for a stack");
    }
    mprotect(base, (size_t)t->page, PROT_NONE);
    t->stack = base + t->page;
#ifdef WITH_TSAN
    t->fiber = __tsan_create_fiber(0);
#endif
    *out = t;
    return 0;
}

void wr_task_free(wr_task *t)
{
    if (!t)
        return;
#ifdef WITH_TSAN
    __tsan_destroy_fiber(t->fiber);
#endif
    munmap(t->stack - t->page, (size_t)(STACK + t->page));
    wr_free(t);
}

void wr_task_set(wr_task *t, void (*run)(void *user), void *user)
{
    uintptr_t self = (uintptr_t)t;
    t->run = run;
    t->user = user;
    t->over = false;
    t->word = NULL;
    t->patience = 0;
    t->error = (weir_error){.rank = -1, .offset = -1};
    getcontext(&t->own);
    sigfillset(&t->own.uc_sigmask); /* handlers of the program do not run on this stack */
    t->own.uc_stack.ss_sp = t->stack;
    t->own.uc_stack.ss_size = STACK;
    t->own.uc_link = NULL;
    makecontext(&t->own, (void (*)(void))begin, 2, (unsigned)(self >> 16 >> 16), (unsigned)self);
}

bool wr_task_move(wr_task *t)
{
    void *fake = NULL;
    swap_errors(t);
    set_current(t);
    announce(t, true, &fake);
    swapcontext(&t->mover, &t->own);
    arrive(t, false, fake);
    set_current(NULL);
    swap_errors(t);
    return t->over;
}

wr_word *wr_task_awaits(const wr_task *t, uint32_t *seen)
{
    *seen = t->seen;
    return t->word;
}

int64_t wr_task_patience(const wr_task *t)
{
    return t->patience;
}

void wr_task_leave(wr_word *word, uint32_t seen)
{
    wr_task_sleep(word, seen, 0);
}

void wr_task_sleep(wr_word *word, uint32_t seen, int64_t microseconds)
{
    wr_task *t = wr_task_current();
    t->word = word;
    t->seen = seen;
    t->patience = microseconds;
    announce(t, false, &t->fake);
    swapcontext(&t->own, &t->mover);
    arrive(t, true, t->fake);
}

void wr_task_yield(void)
{
    static wr_word never;
    wr_task_leave(&never, 1);
}
