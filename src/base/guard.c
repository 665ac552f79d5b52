/* One SIGBUS handler for the process. A thread that runs guarded code leaves an address range and a
 * way out in a thread-local pointer; the handler jumps there if the fault lies in the range, and
 * hands any other signal to the handler that was there before. */
#include "base/guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct guard {
    sigjmp_buf way_out;
    uintptr_t lo, hi;
} guard;

/* Found without a call: the handler may run where memory cannot be had. */
static _Thread_local guard *volatile current __attribute__((tls_model("initial-exec")));

enum state { NEVER_SET, SET, GIVEN_UP };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int state;
static struct sigaction before; /* whose signal it was */

/* A signal that is not ours is handed over, and we are gone: if it came from an instruction, that
 * runs again and meets it again; one that was sent is sent again. */
static void on_bus(int number, siginfo_t *info, void *context)
{
    const guard *g = current;
    const uintptr_t at = (uintptr_t)info->si_addr;
    const bool sent = info->si_code <= 0 || info->si_code == BUS_MCEERR_AO;
    (void)context;
    if (g && !sent && at >= g->lo && at < g->hi)
        siglongjmp(((guard *)g)->way_out, 1);
    atomic_store(&state, GIVEN_UP);
    sigaction(number, &before, NULL);
    if (sent)
        pthread_kill(pthread_self(), number);
}

static bool is_ours(const struct sigaction *a)
{
    return a->sa_flags & SA_SIGINFO && a->sa_sigaction == on_bus;
}

/* Blocks nothing while it runs: nobody unblocks it where it is left by a jump. */
static void set_handler(void)
{
    struct sigaction ours = {.sa_sigaction = on_bus,
                             .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK},
                     old;
    sigemptyset(&ours.sa_mask);
    /* our handler reads `before`, and may run as soon as it is set: so that is filled in first, and
     * again, in case another thread of the program set a handler in between */
    if (sigaction(SIGBUS, NULL, &before) || sigaction(SIGBUS, &ours, &old)) {
        atomic_store(&state, GIVEN_UP);
        return;
    }
    before = old;
    atomic_store(&state, SET);
}

/* Whether SIGBUS still comes to us. */
static bool is_guarded(void)
{
    struct sigaction now;
    if (atomic_load(&state) == NEVER_SET) { /* asked again under the lock: one thread sets it */
        pthread_mutex_lock(&lock);
        if (atomic_load(&state) == NEVER_SET)
            set_handler();
        pthread_mutex_unlock(&lock);
    }
    if (atomic_load(&state) == GIVEN_UP)
        return false;
    if (!sigaction(SIGBUS, NULL, &now) && is_ours(&now))
        return true;
    atomic_store(&state, GIVEN_UP); /* to take it back could make handlers that call each other */
    return false;
}

/* Not inlined: where it is left, only what is in memory keeps its value. */
__attribute__((noinline)) static bool run_guarded(guard *g, void (*run)(void *user), void *user)
{
    if (sigsetjmp(g->way_out, 0)) {
        current = NULL;
        return false;
    }
    current = g;
    run(user);
    current = NULL;
    return true;
}

bool wr_guard_run(const char *base, int64_t bytes, void (*run)(void *user), void *user)
{
    guard g = {.lo = (uintptr_t)base, .hi = (uintptr_t)base + (uintptr_t)bytes};
    sigset_t bus, masked;
    if (!is_guarded())
        return false;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &bus, &masked); /* a fault that is blocked ends the program */
    bool whole = run_guarded(&g, run, user);
    if (sigismember(&masked, SIGBUS))
        pthread_sigmask(SIG_SETMASK, &masked, NULL);
    return whole;
}
