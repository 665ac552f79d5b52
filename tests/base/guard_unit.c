/* Memory that vanishes while it is read, and whose signal that is. Each case has a process of its
 * own: a handler is the whole program's. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guard.h"
#include "check.h"

enum { BYTES = 1 << 16, PASSED = 0, HANDLED = 7 };

static char *mapped, *other; /* of one file */
static int file;
static volatile char seen;

static void touch_all(void *user)
{
    const volatile char *at = user;
    for (int i = 0; i < BYTES; i += 512)
        seen = at[i];
}

static void touch_other(void *user)
{
    (void)user;
    touch_all(other);
}

static bool read_guarded(void)
{
    return wr_guard_run(mapped, BYTES, touch_all, mapped);
}

static void make_file(void)
{
    char path[] = "guard-unit-XXXXXX";
    file = mkstemp(path);
    CHECK(file >= 0 && !unlink(path) && !ftruncate(file, BYTES));
    mapped = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
    other = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
    CHECK(mapped != MAP_FAILED && other != MAP_FAILED);
}

static void cut(void)
{
    CHECK(!ftruncate(file, 5000));
}

static void handle(int number)
{
    (void)number;
    _exit(HANDLED);
}

/* As often as it happens, in every thread, whatever that blocks. */
static void *cut_and_mend(void *user)
{
    sigset_t all, now;
    (void)user;
    sigfillset(&all);
    CHECK(!pthread_sigmask(SIG_SETMASK, &all, NULL));
    for (int i = 0; i < 3; i++) {
        CHECK(read_guarded());
        cut();
        CHECK(!read_guarded() && !read_guarded());
        CHECK(!ftruncate(file, BYTES) && read_guarded());
    }
    CHECK(!pthread_sigmask(SIG_SETMASK, NULL, &now) && sigismember(&now, SIGBUS));
    return NULL;
}

static void survive(void)
{
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, cut_and_mend, NULL) && !pthread_join(thread, NULL));
    cut();
    CHECK(!read_guarded());
}

/* Outside a guarded call, and within one in memory that is not the call's. */
static void fault_elsewhere(void)
{
    signal(SIGBUS, handle);
    CHECK(read_guarded());
    cut();
    touch_other(NULL);
}

static void fault_beside(void)
{
    signal(SIGBUS, handle);
    cut();
    wr_guard_run(mapped, BYTES, touch_other, NULL);
}

static void fault_without_handler(void)
{
    CHECK(read_guarded());
    cut();
    touch_other(NULL);
}

static void get_sent(void)
{
    signal(SIGBUS, handle);
    CHECK(read_guarded());
    CHECK(!kill(getpid(), SIGBUS));
    for (;;)
        pause();
}

static void ignore_sent(void)
{
    signal(SIGBUS, SIG_IGN);
    CHECK(read_guarded());
    CHECK(!kill(getpid(), SIGBUS));
    CHECK(!read_guarded()); /* the program has it again */
}

/* Who sets a handler later keeps it, and gets what comes. */
static void set_later(void)
{
    CHECK(read_guarded());
    signal(SIGBUS, handle);
    cut();
    CHECK(!read_guarded());
    touch_other(NULL);
}

static int status_of(void (*body)(void))
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        check_within(20);
        make_file();
        body();
        _exit(PASSED);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    return status;
}

int main(void)
{
    CHECK_EQUAL(status_of(survive), PASSED);
    CHECK_EQUAL(WEXITSTATUS(status_of(fault_elsewhere)), HANDLED);
    CHECK_EQUAL(WEXITSTATUS(status_of(fault_beside)), HANDLED);
    CHECK_EQUAL(WEXITSTATUS(status_of(get_sent)), HANDLED);
    CHECK_EQUAL(status_of(ignore_sent), PASSED);
    CHECK_EQUAL(WEXITSTATUS(status_of(set_later)), HANDLED);
    CHECK(status_of(fault_without_handler)); /* a signal, or what a sanitizer makes of it */
    return 0;
}
