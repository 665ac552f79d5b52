/* What a new array is called until it is closed is the library's secret, so its file is looked for
 * among those that this process has open. Where there is no /proc, it stays. */
#include "interrupt.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

enum { MOST_FILES = 4, PATIENCE = 5 /* seconds */, LEAST_KEPT = 100 };

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

/* What the new file is to be called, from the root; -1 if there is no such folder. */
static int find_prefix(const char *path, char *out, size_t room)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(name - path)) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    int length = real ? snprintf(out, room, "%s/%s", real, name) : -1;
    free(real);
    free(folder);
    return length < 0 || (size_t)length >= room ? -1 : 0;
}

/* Of a name that would be too long with it, less stands before the ending. */
static bool is_partial(const char *file, const char *prefix)
{
    const char *slash = strrchr(file, '/'), *end = slash ? strstr(slash + 2, ".partial-") : NULL;
    for (const char *next = end; next; next = strstr(next + 1, ".partial-"))
        end = next;
    const size_t length = end ? (size_t)(end - file) : 0;
    return end && !strncmp(file, prefix, length) && strrchr(prefix, '/') - prefix == slash - file &&
           (!prefix[length] || length - (size_t)(slash - file) > LEAST_KEPT);
}

static void keep_file(const char *file)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(files[i], file))
            return;
    if (count < MOST_FILES) {
        memcpy(files[count], file, strlen(file) + 1);
        count = count + 1;
    }
}

static void find_files(const char *prefix)
{
    DIR *open_files = opendir("/proc/self/fd");
    char file[PATH_MAX];
    for (struct dirent *e; open_files && (e = readdir(open_files));) {
        ssize_t got = readlinkat(dirfd(open_files), e->d_name, file, sizeof file - 1);
        file[got < 0 ? 0 : got] = 0;
        if (is_partial(file, prefix))
            keep_file(file);
    }
    if (open_files)
        closedir(open_files);
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

void cli_interrupt_guard(const char *path)
{
    char prefix[PATH_MAX];
    made += path != NULL;
    if (leads && path && !find_prefix(path, prefix, sizeof prefix))
        find_files(prefix);
    waiting = 0;
    if (!made)
        cli_interrupt_release();
    else if (caught)
        handle(caught);
}
