/* Signals that end a command: nothing it was making is left. */
#ifndef WR_CLI_INTERRUPT_H
#define WR_CLI_INTERRUPT_H

/* From now on SIGINT, SIGTERM and SIGHUP remove what is guarded, print a line, and exit with status
 * 1; but while an array is made they wait for the next call. For one rank. [local] */
void cli_interrupt_hold(const char *command);

/* The file that is to become `path`, and is open under the name it has until then. Up to 4 are
 * guarded at a time; local arrays of a set are not, and stay. [local] */
void cli_interrupt_guard(const char *path);

/* Signals are as they were. [local] */
void cli_interrupt_release(void);

#endif
