/* Variables that `weir run` reads, and hands to the program that it becomes. */
#ifndef WR_CLI_RUN_ENVIRONMENT_H
#define WR_CLI_RUN_ENVIRONMENT_H

#include <stdbool.h>

/* NULL if it is not set. */
const char *cli_variable_get(const char *name);

/* The index-th variable of ours that is set: NAME of a name WEIR_..., as text[0, 64); LD_PRELOAD
 * comes first. false: there are not so many. */
bool cli_variable_name(int index, char text[64]);

#endif
