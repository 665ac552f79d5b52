/* Command lines such as "mpirun -n 4 ./program". */
#ifndef WR_CLI_LAUNCHER_H
#define WR_CLI_LAUNCHER_H

#include <stdbool.h>

/* By its name: mpirun, mpiexec.hydra, srun and such. */
bool cli_launcher_is(const char *word);

/* Where the program stands behind the launcher's options, and behind `env` and its settings, which
 * may also be the first word; `count` if it is not seen. */
int cli_launcher_program(int count, char **words);

#endif
