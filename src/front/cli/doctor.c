/* weir doctor: what is there, and what will be used. */
#include <stdio.h>

#include "command.h"

static int run(int argc, char **argv)
{
    char text[4096];
    if (argc > 2)
        return cli_usage(argv[0], "one folder at most");
    if (weir_doctor(MPI_COMM_WORLD, argc > 1 ? argv[1] : ".", text, sizeof text))
        return cli_report(argv[0]);
    if (cli_rank() == 0)
        fputs(text, stdout);
    return 0;
}

const cli_command cli_doctor = {.name = "doctor",
                                .arguments = "[FOLDER]",
                                .help =
                                    "what MPI, machine and folder offer, and what Weir will use",
                                .run = run};
