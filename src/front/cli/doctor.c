/* weir doctor: what is there, and what will be used. */
#include <stdio.h>

#include "command.h"
#include "escape.h"

typedef struct options {
    int json;
} options;

static const cli_option table[] = {CLI_OPTION_JSON(offsetof(options, json)), {0}};

static int run(int argc, char **argv)
{
    char text[16384];
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments > 1)
        return cli_usage(argv[0], problem ? problem : "one folder at most");
    const char *folder = arguments ? argv[1] : ".";
    const int code = o.json ? weir_doctor_json(MPI_COMM_WORLD, folder, text, sizeof text)
                            : weir_doctor(MPI_COMM_WORLD, folder, text, sizeof text);
    if (code)
        return cli_report(argv[0]);
    if (cli_rank() == 0)
        escape_utf8(stdout, text);
    return 0;
}

const cli_command cli_doctor = {.name = "doctor",
                                .group = CLI_TUNE,
                                .arguments = "[FOLDER]",
                                .help =
                                    "what MPI, machine and folder offer, and what Weir will use",
                                .options = table,
                                .example = {"weir doctor", "mpirun -n 2 weir doctor . --json"},
                                .run = run};
