/* Permissions as people write them: 640, u+w, go-rwx, a=rX. */
#ifndef WR_CLI_FILE_MODE_H
#define WR_CLI_FILE_MODE_H

#include <stdbool.h>
#include <sys/types.h>

enum { CLI_MODE_STEPS = 32 };

/* What to do with the permissions that something has, one after the other. */
typedef struct cli_mode {
    int count;
    struct cli_mode_step {
        char what;     /* + - = */
        mode_t who;    /* bits that it is about */
        mode_t bits;   /* of r, w and x, for everybody */
        bool x_if_any; /* X: executed where somebody may already; of folders always */
    } step[CLI_MODE_STEPS];
} cli_mode;

/* NULL, or what is wrong. `umask` counts where nobody is named. */
const char *cli_mode_parse(const char *text, mode_t umask, cli_mode *out);

/* Permissions of a file or a folder that has `old`. Who may read a folder may go through it. */
mode_t cli_mode_apply(const cli_mode *mode, mode_t old, bool folder);

#endif
