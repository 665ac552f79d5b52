/* The table of subcommands, and what was perhaps meant by a word that is in no table. */
#include <stdlib.h>
#include <string.h>

#include "command.h"

extern const cli_command cli_ls, cli_du, cli_info, cli_get, cli_view, cli_diff, cli_hist,
    cli_quantile, cli_reduce, cli_create, cli_put, cli_fill, cli_convert, cli_copy, cli_transpose,
    cli_matmul, cli_median, cli_laplace, cli_cp, cli_mv, cli_rm, cli_chmod, cli_clean, cli_plan,
    cli_doctor, cli_run, cli_report_command, cli_help, cli_completion;

const cli_command *const cli_commands[] = {&cli_ls,      &cli_du,         &cli_info,
                                           &cli_get,     &cli_view,       &cli_diff,
                                           &cli_hist,    &cli_quantile,   &cli_reduce,
                                           &cli_create,  &cli_put,        &cli_fill,
                                           &cli_convert, &cli_copy,       &cli_transpose,
                                           &cli_matmul,  &cli_median,     &cli_laplace,
                                           &cli_cp,      &cli_mv,         &cli_rm,
                                           &cli_chmod,   &cli_clean,      &cli_plan,
                                           &cli_doctor,  &cli_run,        &cli_report_command,
                                           &cli_help,    &cli_completion, NULL};

const cli_command *cli_command_find(const char *name)
{
    for (const cli_command *const *c = cli_commands; *c; c++)
        if (!strcmp((*c)->name, name))
            return *c;
    return NULL;
}

enum { LONGEST = 40 };

/* Characters to insert, leave out, replace, or swap with the next, to get from one to the other. */
static int distance(const char *a, const char *b)
{
    int rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2];
    const int n = (int)strlen(b);
    for (int j = 0; j <= n; j++)
        last[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            int least = last[j - 1] + (a[i - 1] != b[j - 1]);
            least = last[j] + 1 < least ? last[j] + 1 : least;
            least = now[j - 1] + 1 < least ? now[j - 1] + 1 : least;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                least = before[j - 2] + 1 < least ? before[j - 2] + 1 : least;
            now[j] = least;
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[n];
}

const char *cli_nearest(const char *name, const char *const *names)
{
    const char *best = NULL;
    int least = LONGEST;
    if (strlen(name) > LONGEST)
        return NULL;
    for (; *names; names++) {
        const int length = (int)strlen(*names), counted = length - (int)strspn(*names, "-");
        int far = length > LONGEST ? LONGEST : distance(name, *names);
        if (strlen(name) > 2 && !strncmp(name, *names, strlen(name)))
            far = 1; /* its beginning */
        if (far < least && far <= (counted < 4 ? 1 : counted / 3 + 1)) {
            least = far;
            best = *names;
        }
    }
    return best;
}
