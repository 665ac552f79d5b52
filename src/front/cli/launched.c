/* A launcher shows in the environment; where its own streams lead, in /proc. */
#include "launched.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weir/weir.h"

/* What launchers tell a process of its number among how many. */
static const struct {
    const char *rank, *size; /* NULL: not looked at */
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMI_RANK", "PMI_SIZE"},
                 {"PMIX_RANK", NULL},
                 {"SLURM_PROCID", NULL},
                 {"PALS_RANKID", NULL},
                 {"FLUX_TASK_RANK", NULL}};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

bool cli_was_launched(void)
{
    static const char *const signs[] = {"OMPI_COMM_WORLD_", "PMI",   "MPIEXEC_",
                                        "SLURM_STEP",       "PALS_", "FLUX_TASK_"};
    static int found = -1; /* not known yet */
    if (found >= 0)
        return found;
    found = 0;
    for (char **at = environ; *at && !found; at++)
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
            found |= !strncmp(*at, signs[i], strlen(signs[i]));
    return found;
}

/* Whether the parent has a rank itself: then it is a shell or such, and not the launcher. */
static bool is_parent_a_rank(void)
{
    char path[64], *variable = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)getppid());
    FILE *file = fopen(path, "re");
    while (file && !found && getdelim(&variable, &room, 0, file) > 0)
        for (int i = 0; i < LAUNCHERS && !found; i++) {
            const size_t length = strlen(launchers[i].rank);
            found = !strncmp(variable, launchers[i].rank, length) && variable[length] == '=';
        }
    free(variable);
    if (file)
        fclose(file);
    return found;
}

static int number_in(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

int cli_launched_rank(void)
{
    static int rank = -1; /* not known yet */
    if (rank >= 0)
        return rank;
    rank = 0;
    for (int i = 0; i < LAUNCHERS && !rank; i++)
        rank = number_in(launchers[i].rank);
    rank = rank > 0 && !is_parent_a_rank() ? rank : 0;
    return rank;
}

bool cli_is_astray(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; size == 1 && i < LAUNCHERS; i++) {
        if (!launchers[i].size || number_in(launchers[i].size) <= 1)
            continue;
        if (number_in(launchers[i].rank) == 0)
            fprintf(stderr,
                    "weir: started %d times by the launcher of another MPI; this is weir %s\n",
                    number_in(launchers[i].size), weir_version());
        return true;
    }
    return false;
}

bool cli_launcher_has_terminal(int descriptor)
{
    static const char *const terminals[] = {"/dev/pts/", "/dev/tty", "/dev/console"};
    char path[64], target[64] = "";
    struct stat s;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getppid(), descriptor);
    if (!cli_was_launched() || is_parent_a_rank() || fstat(descriptor, &s) ||
        !(S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode) || isatty(descriptor)))
        return false;
    if (readlink(path, target, sizeof target - 1) < 0)
        return false;
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++)
        if (!strncmp(target, terminals[i], strlen(terminals[i])))
            return true;
    return false;
}

bool cli_errors_are_seen(void)
{
    return isatty(STDERR_FILENO) || cli_launcher_has_terminal(STDERR_FILENO);
}
