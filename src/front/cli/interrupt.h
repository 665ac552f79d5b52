/* Signals that end a command: SIGINT, SIGTERM, SIGHUP. Nothing it was making is left, and what is
 * about to get its name gets it first.
 *
 * Launchers tell all ranks. Rank 0 acts, which ends the others too; these act only if that takes
 * seconds: a rank that leaves earlier could not take part in what rank 0 still has to do. */
#ifndef WR_CLI_INTERRUPT_H
#define WR_CLI_INTERRUPT_H

/* From now on signals wait: an array is about to be made or closed. On every rank, before the
 * collective call. [local] */
void cli_interrupt_hold(const char *command);

/* From now on they remove what is guarded, print a line, and exit with status 1: among that this
 * file. Up to 4 are guarded at a time; a set of local arrays is a folder, and stays. NULL: it could
 * not be made; if it was the first, signals are as they were. [local] */
void cli_interrupt_guard(const char *file);

/* Signals are as they were; one that has waited comes now. [local] */
void cli_interrupt_release(void);

/* Whether one waits. [local] */
int cli_interrupt_waits(void);

/* Ends the command as one does that comes where nothing is left to be undone. [local] */
void cli_interrupt_obey(void);

#endif
