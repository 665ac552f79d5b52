/* weir run: becomes another command in whose programs MPI-IO is Weir's, after a look at whether
 * that can be. */
#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "failure.h"
#include "launched.h"
#include "launcher.h"
#include "program_file.h"
#include "run_environment.h"

typedef struct options {
    int quiet, stats, dry;
    const char *hints, *trace, *log;
} options;

static const cli_option table[] = {
    {"--hints", 0, "NAME=VALUE;...", offsetof(options, hints), cli_parse_text,
     "tunables (docs/tunables.md) for the program; WEIR_HINTS is stronger", NULL},
    {"--trace", 0, "FOLDER", offsetof(options, trace), cli_parse_text,
     "what every rank does goes there, for weir report: sets WEIR_TRACE", NULL},
    {"--stats", 0, NULL, offsetof(options, stats), NULL,
     "five lines about bytes and rates at the end: sets WEIR_STATS=1", NULL},
    {"--log-level", 0, "none|error|warning|info|debug", offsetof(options, log), cli_parse_text,
     "what is said on standard error meanwhile: sets WEIR_LOG", "none"},
    {"--quiet", 'q', NULL, offsetof(options, quiet), NULL, "says nothing unless it fails", NULL},
    {"--dry-run", 0, NULL, offsetof(options, dry), NULL,
     "prints the command with its environment, for a shell, and does not run it", NULL},
    {0}};

enum { VARIABLES = 100 }; /* more than there are */

typedef struct job {
    char library[CLI_PATH], engine[CLI_PATH]; /* what is preloaded, and what that loads */
    const char *flavour;                      /* of this installation */
    enum cli_mpi mpi;
    char **words;   /* the command as given */
    int count, at;  /* of them, and where the program is */
    char **command; /* as it is run, ours; its words are not */
    char names[VARIABLES][64];
    bool launched; /* by another process, which may be on another host */
    cli_program launcher, program;
    const char *name; /* of the program; NULL: not seen */
} job;

static const char *const mpi_names[] = {"an MPI that is not known", "Open MPI", "MPICH"};
static const char *const flavours[] = {"", "openmpi", "mpich"};

static int refuse(const char *what, const char *why)
{
    cli_tell("weir run: %s: %s", what, why);
    return CLI_USAGE;
}

/* --- this installation --- */

/* It lies beside the library that this command uses. */
static int find_library(job *j)
{
    Dl_info info;
    char folder[CLI_PATH];
    void *here = NULL;
    *(const char *(**)(void))(void *)&here = weir_version;
    if (!dladdr(here, &info) || !realpath(info.dli_fname, folder))
        return refuse("libweir", "it is not known where that lies");
    dirname(folder);
    j->flavour = strchr(weir_version(), ' ') + 1;
    j->mpi = strcmp(j->flavour, flavours[CLI_MPI_MPICH]) ? CLI_MPI_OPENMPI : CLI_MPI_MPICH;
    const int fits = snprintf(j->engine, CLI_PATH, "%s/libweir_mpiio_engine_%s.so", folder,
                              j->flavour) < CLI_PATH;
    snprintf(j->library, CLI_PATH, "%.4000s/libweir_mpiio_%s.so", folder, j->flavour);
    if (!fits || strpbrk(folder, " :"))
        return refuse(folder, "nothing can be preloaded from there, as it has a blank or a colon");
    return 0;
}

/* In a process that ends with it. */
static int check_loading(const job *j)
{
    char why[500] = "";
    int ends[2], status = -1;
    if (pipe(ends))
        return refuse(j->library, strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
        const int loaded =
            dlopen(j->library, RTLD_NOW | RTLD_LOCAL) && dlopen(j->engine, RTLD_NOW | RTLD_LOCAL);
        const char *text = loaded ? "" : dlerror();
        _exit(loaded || write(ends[1], text, strlen(text)) < 0 ? !loaded : 1);
    }
    close(ends[1]);
    if (child > 0 && read(ends[0], why, sizeof why - 1) >= 0)
        waitpid(child, &status, 0);
    close(ends[0]);
    if (!status)
        return 0;
    cli_tell("weir run: it cannot be loaded: %s", *why ? why : j->library);
    return CLI_FAILED;
}

/* --- the command --- */

static int refuse_mpi(const job *j, const char *what, enum cli_mpi mpi)
{
    cli_tell("weir run: %s is of %s, and this is for %s: use weir.%s run", what, mpi_names[mpi],
             mpi_names[j->mpi], flavours[mpi]);
    return CLI_USAGE;
}

static enum cli_mpi mpi_of_launcher(const cli_program *launcher)
{
    char path[CLI_PATH];
    if (launcher->mpi || !realpath(launcher->path, path))
        return launcher->mpi;
    return strstr(path, "hydra") || strstr(path, "mpich") ? CLI_MPI_MPICH : CLI_MPI_UNKNOWN;
}

static int look_at_command(job *j)
{
    j->at = cli_launcher_program(j->count, j->words);
    j->launched = cli_launcher_is(j->words[0]);
    if (!cli_program_look(j->words[0], &j->launcher))
        return refuse(j->words[0], "there is no such program");
    if (j->at < j->count && cli_program_look(j->words[j->at], &j->program))
        j->name = j->words[j->at];
    if (j->launched)
        j->launcher.mpi = mpi_of_launcher(&j->launcher);
    return 0;
}

static int check_command(const job *j)
{
    const cli_program *p = &j->program;
    for (int i = 1; i < j->at; i++)
        if (!strncmp(j->words[i], "LD_PRELOAD=", 11))
            return refuse(j->words[i], "it would take the place of ours; put it before weir run");
    if (j->name && p->is_static)
        return refuse(j->name, "it is linked statically, so nothing can be preloaded; link it with "
                               "-lweir_mpiio");
    if (j->name && p->cut)
        return refuse(j->name, "its file is cut short");
    if (j->name && p->privileged)
        return refuse(j->name, "it runs with other rights than yours, so nothing is preloaded");
    if (j->name && p->foreign)
        return refuse(j->name, "it is for another kind of processor");
    if (p->mpi && p->mpi != j->mpi)
        return refuse_mpi(j, j->name, p->mpi);
    if (j->launched && j->launcher.mpi && j->launcher.mpi != j->mpi)
        return refuse_mpi(j, j->words[0], j->launcher.mpi);
    return 0;
}

/* --- the environment --- */

/* `first`, and behind it what was there. */
static int put_before(const char *name, const char *first, char separator)
{
    const char *old = cli_variable_get(name);
    char *text = NULL;
    int code = -1;
    if (old && *old && asprintf(&text, "%s%c%s", first, separator, old) < 0)
        return refuse(name, "no memory");
    code = setenv(name, text ? text : first, 1);
    free(text);
    return code ? refuse(name, strerror(errno)) : 0;
}

/* Ranks may start elsewhere. */
static int set_folder(const char *name, const char *folder)
{
    char here[CLI_PATH] = "", path[2 * CLI_PATH];
    if (*folder != '/' && !getcwd(here, sizeof here))
        return refuse(folder, strerror(errno));
    snprintf(path, sizeof path, "%s%s%s", here, *here ? "/" : "", folder);
    return setenv(name, path, 1) ? refuse(name, strerror(errno)) : 0;
}

static int set_environment(const job *j, const options *o)
{
    const char *old = cli_variable_get("LD_PRELOAD");
    int status = 0;
    if (!old || !strstr(old, j->library))
        status = put_before("LD_PRELOAD", j->library, ':');
    if (!status && o->hints)
        status = put_before("WEIR_HINTS", o->hints, ';');
    if (!status && o->trace)
        status = set_folder("WEIR_TRACE", o->trace);
    if (!status && o->log && setenv("WEIR_LOG", o->log, 1))
        status = refuse("WEIR_LOG", strerror(errno));
    if (!status && o->stats && setenv("WEIR_STATS", "1", 1))
        status = refuse("WEIR_STATS", strerror(errno));
    return status;
}

/* Open MPI hands to other hosts what it is told to; other launchers hand on everything. */
static bool must_pass_on(const job *j)
{
    return j->launched && j->launcher.mpi == CLI_MPI_OPENMPI;
}

/* It is told by options or by this list, and refuses both. */
static const char pass_list[] = "OMPI_MCA_mca_base_env_list";

static int extend_list(const job *j)
{
    char name[64];
    int status = 0;
    for (int i = 0;
         !status && must_pass_on(j) && cli_variable_get(pass_list) && cli_variable_name(i, name);
         i++)
        status = put_before(pass_list, name, ';');
    return status;
}

/* The words of the command, with "-x NAME" for each variable behind the launcher where that must
 * be. */
static int make_command(job *j)
{
    int variables = 0, at = 0;
    while (variables < VARIABLES && must_pass_on(j) && !cli_variable_get(pass_list) &&
           cli_variable_name(variables, j->names[variables]))
        variables++;
    char **words = calloc((size_t)j->count + 2 * (size_t)variables + 1, sizeof *words);
    j->command = words;
    if (!words)
        return refuse(j->words[0], "no memory");
    words[at++] = j->words[0];
    for (int i = 0; i < variables; i++) {
        words[at++] = "-x";
        words[at++] = j->names[i];
    }
    memcpy(words + at, j->words + 1, (size_t)(j->count - 1) * sizeof *words);
    return 0;
}

/* --- what is said --- */

static void print_quoted(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=,+@%";
    if (*word && !word[strspn(word, plain)]) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++)
        *word == '\'' ? fputs("'\\''", stdout) : putchar(*word);
    putchar('\'');
}

static int print_command(char *const *words)
{
    char name[64];
    fputs("env", stdout);
    for (int i = 0; cli_variable_name(i, name); i++) {
        printf(" %s=", name);
        print_quoted(cli_variable_get(name));
    }
    for (; *words; words++) {
        putchar(' ');
        print_quoted(*words);
    }
    putchar('\n');
    return cli_flush("run");
}

static const char *threads_of(const job *j, char text[200])
{
    char value[40] = "";
    weir_tunable_get(NULL, "mpi_threads", value, sizeof value);
    const char *why = strcmp(value, "auto") ? "mpi_threads says" : j->program.overlaps;
    if (!strcmp(value, "multiple") || (strcmp(value, "program") != 0 && *j->program.overlaps))
        snprintf(text, 200, "MPI_THREAD_MULTIPLE, as %s%s", why,
                 why == j->program.overlaps ? " is named" : "");
    else if (!j->program.mpi)
        snprintf(text, 200, "thread level by mpi_threads=%s", value);
    else
        snprintf(text, 200, "thread level as the program asks");
    return text;
}

static void report(const job *j, const options *o)
{
    char line[200], threads[200];
    for (int i = 0; weir_tunable_unknown(i, line, sizeof line); i++)
        cli_tell("weir run: %s", line);
    if (!weir_tunable_get(NULL, "door", line, sizeof line) && !strcmp(line, "off")) {
        cli_tell("weir run: WEIR_DOOR=off: MPI-IO stays the MPI library's own");
        return;
    }
    if (j->program.mpi)
        cli_tell("weir run: %s, of %s: MPI-IO by weir %s: %s", j->name, mpi_names[j->program.mpi],
                 weir_version(), j->library);
    else
        cli_tell("weir run: %s: its MPI is not to be seen; if it is %s, MPI-IO by weir %s: %s",
                 j->name ? j->name : "the program", mpi_names[j->mpi], weir_version(), j->library);
    cli_tell("weir run: %s%s%s%s%s", threads_of(j, threads),
             must_pass_on(j) ? "; passed on to other hosts"
             : j->launched && !j->launcher.mpi
                 ? "; to other hosts if the launcher passes variables on"
                 : "",
             o->trace ? "; when it has ended: weir report " : "", o->trace ? o->trace : "",
             o->trace ? " -o page.html" : "");
}

/* --- all of it --- */

static int become(const job *j)
{
    execvp(j->command[0], j->command);
    refuse(j->command[0], strerror(errno));
    return CLI_FAILED;
}

static int prepare(job *j, const options *o)
{
    char value[40];
    int status = find_library(j);
    if (!status)
        status = look_at_command(j);
    if (!status)
        status = check_command(j);
    if (!status)
        status = check_loading(j);
    if (!status)
        status = set_environment(j, o);
    if (!status)
        status = extend_list(j);
    if (!status)
        status = make_command(j);
    if (!status && weir_tunable_get(NULL, "door", value, sizeof value))
        status = cli_report("run");
    return status;
}

static int run(int argc, char **argv)
{
    options o = {0};
    int own = 1, arguments;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    const char *problem = cli_options_parse(own, argv, table, &o, &arguments);
    if (!problem && (arguments || own + 1 >= argc))
        problem = "a command comes after --, as in weir run -- mpirun -n 4 ./program";
    if (problem) /* if others failed first, a launcher might end the one that says why */
        return cli_usage(argv[0], problem), cli_launched_rank() ? 0 : CLI_USAGE;
    job *j = calloc(1, sizeof *j);
    int status = j ? 0 : refuse(argv[0], "no memory");
    if (!status) {
        j->words = argv + own + 1;
        j->count = argc - own - 1;
        status = prepare(j, &o);
    }
    if (!status && !o.quiet && !cli_launched_rank())
        report(j, &o);
    if (!status)
        status = !o.dry ? become(j) : cli_rank() ? 0 : print_command(j->command);
    if (j)
        free(j->command);
    free(j);
    return status;
}

const cli_command cli_run = {
    .name = "run",
    .group = CLI_TUNE,
    .arguments = "-- COMMAND...",
    .help = "run a program with Weir as its MPI-IO",
    .about = "Preloads libweir_mpiio into the programs of COMMAND, on all hosts, says on standard "
             "error what it did, and ends as COMMAND does. It refuses, in one line, what cannot "
             "be: programs or launchers of another MPI, static programs, programs with rights of "
             "their own. Of scripts and interpreters the MPI cannot be seen; then the library "
             "itself says at the first open if it does not fit.",
    .options = table,
    .example = {"weir run -- mpirun -n 2 ./program out.bin",
                "weir run --dry-run --log-level info -- mpirun -n 2 ./program out.bin"},
    .run = run,
    .who = CLI_EACH};
