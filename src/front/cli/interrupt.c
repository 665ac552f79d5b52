/* What a signal removes is noted while no signal can come, so that the handler only looks. */
#include "interrupt.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

enum { MOST_FILES = 4, PATIENCE = 5 /* seconds */ };

static char files[MOST_FILES][PATH_MAX], line[80];
static volatile sig_atomic_t leads, count, waiting, caught;
static int made; /* arrays, files or not */

static void leave(void)
{
    for (int i = 0; i < count; i++)
        unlink(files[i]);
    ssize_t told = write(STDERR_FILENO, line, strlen(line));
    (void)told;
    _exit(CLI_FAILED);
}

static void handle(int signal)
{
    caught = signal;
    if (waiting)
        return;
    if (leads)
        leave();
    alarm(PATIENCE);
}

/* Those that are ignored stay so. */
static void set_handlers(void (*from)(int), void (*to)(int))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before, after = {.sa_handler = to, .sa_flags = SA_RESTART};
        if (!sigaction(signals[i], NULL, &before) && before.sa_handler == from)
            sigaction(signals[i], &after, NULL);
    }
}

void cli_interrupt_hold(const char *command)
{
    snprintf(line, sizeof line, "%sweir %s: interrupted\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
             command);
    leads = cli_rank() == 0;
    waiting = 1;
    alarm(0);
    set_handlers(SIG_DFL, handle);
}

void cli_interrupt_release(void)
{
    set_handlers(handle, SIG_DFL);
    made = count = 0;
    if (caught)
        raise(caught);
}

void cli_interrupt_guard(const char *file)
{
    made += file != NULL;
    if (leads && file && *file && count < MOST_FILES && strlen(file) < sizeof *files) {
        memcpy(files[count], file, strlen(file) + 1);
        count = count + 1;
    }
    waiting = 0;
    if (!made)
        cli_interrupt_release();
    else if (caught)
        handle(caught);
}
