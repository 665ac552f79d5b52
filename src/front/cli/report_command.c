/* weir report: what a traced job did, and what to change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "failure.h"
#include "new_file.h"
#include "report_output.h"

typedef struct options {
    int json;
    const char *output, *job;
} options;

static const char *parse_page(const char *text, void *out)
{
    *(const char **)out = text;
    return cli_new_file_check(text, ".html|.htm");
}

static const cli_option table[] = {
    {"--output", 'o', "FILE", offsetof(options, output), parse_page,
     "a page with charts, as HTML that needs nothing else" CLI_REPLACES, NULL},
    CLI_OPTION_JSON(offsetof(options, json)),
    {"--job", 0, "NAME", offsetof(options, job), cli_parse_text,
     "of the folder's jobs the one whose name begins so", "the newest"},
    {0}};

/* On rank 0; others have none. */
static int make(const char *folder, const char *name, report_job **job, report **out)
{
    int code = report_job_read(folder, name ? name : "", job);
    report *r = *out = code ? NULL : calloc(1, sizeof *r);
    if (!r)
        return code ? code : cli_fail(WEIR_ENOMEM, folder, 0, "no memory");
    r->job = *job;
    report_figures_find(*job, &r->figures);
    r->count = report_advise(*job, &r->figures, r->advice);
    return 0;
}

static int fill(void *user, FILE *out, const char *made)
{
    (void)made;
    if (out)
        report_print_page(user, out);
    return 0;
}

static int run(int argc, char **argv)
{
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (!problem && o.json && o.output && !strcmp(o.output, "-"))
        problem = "--json and a page both go to standard output";
    if (problem || arguments != 1)
        return cli_usage(argv[0], problem ? problem : "takes the folder of the traces");
    report_job *job = NULL;
    report *r = NULL;
    int status = cli_settle(argv[0], cli_rank() == 0 ? make(argv[1], o.job, &job, &r) : 0);
    if (!status && o.output)
        status = cli_new_file_write(argv[0], o.output, "<!DOCTYPE html", fill, r);
    if (r && !status && o.json)
        report_print_json(r, stdout);
    else if (r && !status && !o.output)
        report_print_text(r, stdout);
    free(r);
    report_job_free(job);
    return status;
}

const cli_command cli_report_command = {
    .name = "report",
    .group = CLI_TUNE,
    .arguments = "FOLDER",
    .help = "what a traced job did, and what to change",
    .about = "FOLDER is what WEIR_TRACE named when the job ran. Prints a summary; -o makes a page "
             "with the time of each rank, offsets by time, the calls and their plans.\n"
             "docs/report.md says how to read it, and what its advice rests on.",
    .options = table,
    .example = {"weir report trace", "weir report trace -o report.html"},
    .run = run};
