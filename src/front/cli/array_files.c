/* Asking, reporting, and names of files. */
#include "array_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "escape.h"
#include "failure.h"

int cli_lead(const char *command, int status)
{
    const int flushed = cli_flush(command);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status ? status : flushed;
}

/* Where a question is seen; NULL: nowhere. */
static FILE *open_terminal(void)
{
    return isatty(STDERR_FILENO) ? stderr : fopen("/dev/tty", "we");
}

static void close_terminal(FILE *terminal)
{
    if (terminal && terminal != stderr)
        fclose(terminal);
}

bool cli_can_ask(void)
{
    FILE *terminal = isatty(STDIN_FILENO) ? open_terminal() : NULL;
    close_terminal(terminal);
    return terminal;
}

bool cli_ask(const char *format, ...)
{
    char answer[16] = "";
    va_list arguments;
    FILE *terminal = open_terminal();
    if (!terminal)
        return false;
    va_start(arguments, format);
    vfprintf(terminal, format, arguments);
    va_end(arguments);
    fputs(" [y/N] ", terminal);
    fflush(terminal);
    close_terminal(terminal);
    if (!fgets(answer, sizeof answer, stdin))
        return false;
    answer[strcspn(answer, "\n")] = 0;
    return !strcasecmp(answer, "y") || !strcasecmp(answer, "yes");
}

int cli_report_files(const char *command, const char *array, const char *instead)
{
    if (weir_error_last()->code != WEIR_EUNSUPPORTED || !instead || !strstr(array, ":/"))
        return cli_report(command);
    cli_tell("weir %s: %s: an array that is a part of a file; %s", command, array, instead);
    return CLI_USAGE;
}

static int stop(void *user, const weir_part *part)
{
    (void)user, (void)part;
    return 1;
}

bool cli_is_array(const char *name)
{
    return weir_array_parts(name, stop, NULL) == 1;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool cli_names_add(cli_names *names, char *copy)
{
    if (names->count == names->room) {
        const size_t room = names->room ? 2 * names->room : 64;
        char **more = realloc(names->name, room * sizeof *more);
        if (!more) {
            free(copy);
            return false;
        }
        names->name = more;
        names->room = room;
    }
    if (copy)
        names->name[names->count++] = copy;
    return copy;
}

int cli_names_read(const char *folder, cli_names *out)
{
    *out = (cli_names){0};
    DIR *entries = opendir(folder);
    if (!entries)
        return -1;
    int failed = 0;
    errno = 0;
    for (const struct dirent *e; !failed && (e = readdir(entries));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            failed = !cli_names_add(out, strdup(e->d_name));
    failed = failed || errno;
    closedir(entries);
    if (failed) {
        cli_names_free(out);
        return -1;
    }
    if (out->count)
        qsort(out->name, out->count, sizeof *out->name, compare);
    return 0;
}

void cli_names_free(cli_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->name[i]);
    free(names->name);
    *names = (cli_names){0};
}

char *cli_join(const char *folder, const char *name)
{
    char *path = NULL;
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (!strcmp(folder, "."))
        return strdup(name);
    const char *between = folder[length - 1] == '/' ? "" : "/";
    return asprintf(&path, "%.*s%s%s", (int)length, folder, between, name) < 0 ? NULL : path;
}

const char *cli_format_name(int format)
{
    static const char *const names[] = {
        [WEIR_NPY] = "npy",   [WEIR_SET] = "set",     [WEIR_RAW] = "raw",  [WEIR_NETCDF] = "netcdf",
        [WEIR_ZARR] = "zarr", [WEIR_ZARR2] = "zarr2", [WEIR_HDF5] = "hdf5"};
    return names[format];
}

void cli_print_name(FILE *out, const char *name)
{
    escape_line(out, name);
}
