/* weir fill: all elements of an array become one value. */
#include <stdio.h>

#include "command.h"
#include "element_text.h"
#include "operator.h"

typedef struct options {
    const char *text;
    char value[CLI_ELEMENT];
    cli_operator_options how;
} options;

static const cli_option table[] = {CLI_OPERATOR(offsetof(options, how)), {0}};

static const char *describe(void *user, const weir_array_info *const *in, weir_array_info *out)
{
    static char message[120];
    options *o = user;
    (void)out;
    const char *problem = cli_element_parse(o->text, in[0]->type, o->value);
    snprintf(message, sizeof message, "value \"%.40s\": %s", o->text, problem ? problem : "");
    return problem ? message : NULL;
}

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    const options *o = user;
    return weir_array_fill(a->in[0], o->value, work);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {
        .inputs = 1, .in_place = 1, .describe = describe, .apply = apply};
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 2)
        return cli_usage(argv[0], problem ? problem : "takes an array and a value");
    o.text = argv[2];
    return cli_operator_run(&op, argv, &o.how, &o);
}

const cli_command cli_fill = {
    .name = "fill",
    .group = CLI_MAKE,
    .arguments = "ARRAY VALUE",
    .help = "all elements of an array become one value",
    .about = "In place: what fails or is interrupted leaves elements of both kinds.",
    .options = table,
    .example = {"weir fill a.npy 0", "mpirun -n 2 weir fill set -1.5 --quiet"},
    .run = run};
