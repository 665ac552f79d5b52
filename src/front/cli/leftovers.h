/* What killed jobs have left in a folder and the folders in it: found, and removed. */
#ifndef WR_CLI_LEFTOVERS_H
#define WR_CLI_LEFTOVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct cli_leftover {
    char *path;
    const char *what;
    bool folder;
    int64_t bytes; /* of its files on disks */
    time_t newest; /* when something in it was changed last */
} cli_leftover;

typedef struct cli_leftovers {
    cli_leftover *item;
    size_t count, room;
    int64_t young, used; /* left out: changed too recently; open in a process of this machine */
    char problem[300];   /* the first folder that could not be looked into, or "" */
} cli_leftovers;

/* Those that nothing has changed for so many seconds and no process on this machine has open or
 * locked, links not followed, on the folder's file system. 0, or -1 with errno. */
int cli_leftovers_find(const char *folder, int64_t seconds, cli_leftovers *out);
void cli_leftovers_free(cli_leftovers *list);

/* Removes one: of an unfinished array its files wherever they are; what no array would have stays.
 * 0, or an errno: ENOTEMPTY for that, ENODEV if some are on a disk that is away. */
int cli_leftover_remove(const cli_leftover *item);

#endif
