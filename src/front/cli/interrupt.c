/* What a signal removes is noted while no signal can come, so that the handler only looks. */
#include "interrupt.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "launched.h"
#include "terminal.h"

enum { MOST_FILES = 4, PATIENCE = 5 /* seconds */, MOST_COLUMNS = 300 };

static char files[MOST_FILES][PATH_MAX], line[400];
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
    const int bar = cli_errors_are_seen() ? cli_terminal_columns(stderr) - 1 : 0;
    snprintf(line, sizeof line, "%s%*s%sweir %s: interrupted\n", bar ? "\r" : "",
             bar < MOST_COLUMNS ? bar : MOST_COLUMNS, "", bar ? "\r" : "", command);
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

int cli_interrupt_waits(void)
{
    return caught;
}

void cli_interrupt_obey(void)
{
    waiting = 0;
    leave();
}
