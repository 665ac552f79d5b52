/* weir clean: what killed jobs have left, shown and removed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array_files.h"
#include "failure.h"
#include "leftovers.h"

typedef struct options {
    int force;
    int64_t older; /* seconds */
} options;

static const char *parse_age(const char *text, void *out)
{
    static const struct {
        const char *unit;
        int64_t seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    const long long count = strtoll(text, &end, 10);
    for (size_t i = 0; end > text && i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].unit) && count >= 0 && count < 1000000000) {
            *(int64_t *)out = count * units[i].seconds;
            return NULL;
        }
    return "is a time as 30m, 2h or 7d, or 0";
}

static const cli_option table[] = {
    {"--force", 'f', NULL, offsetof(options, force), NULL, "removes without asking", NULL},
    {"--older", 0, "TIME", offsetof(options, older), parse_age,
     "only what nobody has changed for so long: 30m, 2h, 7d; 0: all", "1h"},
    {0}};

static void print_age(double seconds)
{
    static const struct {
        double seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    int i = 0;
    while (i < 3 && seconds < units[i].seconds)
        i++;
    printf("%5.0f%c", seconds > 0 ? seconds / units[i].seconds : 0, units[i].letter);
}

static void show(const cli_leftovers *l)
{
    char size[CLI_SIZE];
    int64_t bytes = 0;
    for (size_t i = 0; i < l->count; i++) {
        const cli_leftover *item = &l->item[i];
        cli_size_text(item->bytes, false, size);
        bytes += item->bytes;
        printf("%10s ", size);
        print_age(difftime(time(NULL), item->newest));
        printf("  ");
        cli_print_name(stdout, item->path);
        printf("  (%s)\n", item->what);
    }
    if (l->count > 1) {
        cli_size_text(bytes, false, size);
        printf("%10s         total\n", size);
    }
    if (l->used)
        printf("not listed: %lld in use\n", (long long)l->used);
    if (l->young)
        printf("not listed: %lld changed lately, as --older has it (0: list all)\n",
               (long long)l->young);
    if (!l->count && !l->used && !l->young)
        printf("nothing is left of killed jobs\n");
    fflush(stdout);
}

static int remove_all(const char *command, const cli_leftovers *l)
{
    int status = 0;
    for (size_t i = 0; i < l->count; i++) {
        const int error = cli_leftover_remove(&l->item[i]);
        if (!error)
            continue;
        cli_tell("weir %s: %s: %s", command, l->item[i].path,
                 error == ENOTEMPTY ? "it holds what no array has, which is left"
                 : error == ENODEV  ? "a disk that it has files on is away: see weir rm --help"
                                    : strerror(error));
        status = CLI_FAILED;
    }
    return status;
}

static int clean(const char *command, const char *folder, const options *o)
{
    cli_leftovers l;
    int status = 0;
    if (cli_leftovers_find(folder, o->older, &l)) {
        cli_tell("weir %s: %s: %s", command, folder, strerror(errno));
        return errno == ENOENT || errno == ENOTDIR ? CLI_USAGE : CLI_FAILED;
    }
    show(&l);
    if (*l.problem) {
        cli_tell("weir %s: %s", command, l.problem);
        status = CLI_FAILED;
    }
    const bool asked = l.count && !o->force && cli_can_ask();
    if (l.count && (o->force || (asked && cli_ask("remove %s?", l.count > 1 ? "these" : "this")))) {
        const int removed = remove_all(command, &l);
        status = status ? status : removed;
        if (!removed)
            printf("removed\n");
    } else if (l.count && !asked) {
        printf("nothing is removed without --force\n");
    }
    cli_leftovers_free(&l);
    return status;
}

static int run(int argc, char **argv)
{
    char here[] = ".";
    int arguments, status = 0;
    options o = {.older = 3600};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem)
        return cli_usage(argv[0], problem);
    for (int i = 1; (i <= arguments || i == 1) && cli_rank() == 0; i++) {
        const int one = clean(argv[0], arguments ? argv[i] : here, &o);
        status = status ? status : one;
    }
    return cli_lead(argv[0], status);
}

const cli_command cli_clean = {
    .name = "clean",
    .group = CLI_FILES,
    .arguments = "[FOLDER...]",
    .help = "finds what killed jobs have left, and removes it",
    .about =
        "Arrays that were not finished (NAME.partial-XXXXXXXX), small files of shared pointers "
        "(NAME.pointers-...), probes and measurements (.weir-...), in the folder and all folders "
        "in "
        "it on the same file system; without a name, of this folder. They are shown first; on a "
        "terminal weir asks, elsewhere "
        "nothing is removed without --force. What a process of this machine has open is left out; "
        "of other machines only the time of the last change tells. An unfinished array may hold "
        "the results of a job that failed at its end: look before you remove it.",
    .options = table,
    .example = {"weir clean", "weir clean --force --older 7d ."},
    .run = run};
