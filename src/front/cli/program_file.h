/* What a program's file tells before it runs. */
#ifndef WR_CLI_PROGRAM_FILE_H
#define WR_CLI_PROGRAM_FILE_H

#include <stdbool.h>

enum cli_mpi { CLI_MPI_UNKNOWN, CLI_MPI_OPENMPI, CLI_MPI_MPICH };
enum { CLI_PATH = 4096 };

typedef struct cli_program {
    char path[CLI_PATH];
    enum cli_mpi
        mpi;        /* of the libraries that the system would load with it; of scripts, not known */
    bool foreign;   /* for another kind of processor */
    bool cut;       /* not all of it is there */
    bool is_static; /* nothing is loaded with it */
    bool privileged;    /* runs as somebody else, or with capabilities: nothing is preloaded */
    char overlaps[100]; /* a function that it, or a library, names, for which mpi_threads=auto
                           starts MPI with threads; "": none */
} cli_program;

/* The file that a shell would run; false if there is none. */
bool cli_program_find(const char *name, char path[CLI_PATH]);

/* [local] Asks the system's loader for libraries, which takes some ms. false: there is no such
 * program. */
bool cli_program_look(const char *name, cli_program *out);

#endif
