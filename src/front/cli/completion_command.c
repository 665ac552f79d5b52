/* weir completion: scripts by which shells complete subcommands, options and what these take. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

/* Words that an option takes, with blanks between them; "" if it takes other things. */
static void list_choices(const cli_option *o, char *text, size_t size)
{
    const char *value = o->value ? o->value : "";
    value = !strcmp(value, "TYPE") ? CLI_TYPES : value;
    snprintf(text, size, "%s", strchr(value, '|') ? value : "");
    for (char *at = text; *at; at++)
        if (*at == '|')
            *at = ' ';
}

static void print_names(const char *between)
{
    for (const cli_command *const *c = cli_commands; *c; c++)
        printf("%s%s", c == cli_commands ? "" : between, (*c)->name);
}

static void print_options(const cli_command *c)
{
    for (const cli_option *o = c->options; o && o->name; o++)
        printf("%s ", o->name);
    printf("--help");
}

static void print_bash(void)
{
    char words[200];
    printf("# weir completion bash\n_weir() {\n    local word=${COMP_WORDS[COMP_CWORD]} "
           "before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n        words='");
    print_names(" ");
    printf("'\n    else\n        case $command:$before in\n");
    for (const cli_command *const *c = cli_commands; *c; c++)
        for (const cli_option *o = (*c)->options; o && o->name; o++) {
            list_choices(o, words, sizeof words);
            if (*words)
                printf("        %s:%s) words='%s' ;;\n", (*c)->name, o->name, words);
        }
    printf("        *) case $command in\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("            %s) words='", (*c)->name);
        print_options(*c);
        printf("' ;;\n");
    }
    printf("            esac\n            [[ $word == -* ]] || words= ;;\n        esac\n    fi\n"
           "    COMPREPLY=()\n    [ -z \"$words\" ] || "
           "mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n"
           "complete -o default -F _weir weir weir.openmpi weir.mpich\n");
}

/* What zsh and fish would read as theirs, in a text between single quotes. */
static void print_quoted(const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else
            printf("%s%c", strchr(escaped, *text) ? "\\" : "", *text);
    }
}

static void print_zsh(void)
{
    char words[200];
    printf("#compdef weir weir.openmpi weir.mpich\nlocal -a commands=(\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("    '%s:", (*c)->name);
        print_quoted((*c)->help, ":\\");
        printf("'\n");
    }
    printf(")\nif (( CURRENT == 2 )); then\n    _describe command commands\n    return\nfi\n"
           "local command=$words[2]\nshift words\n(( CURRENT-- ))\ncase $command in\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("%s) _arguments", (*c)->name);
        for (const cli_option *o = (*c)->options; o && o->name; o++) {
            list_choices(o, words, sizeof words);
            printf(" \\\n    '%s[", o->name);
            print_quoted(o->help, ":[]\\");
            printf("]%s%s%s%s'", o->value ? ":value:" : "", *words ? "(" : "", words,
                   *words     ? ")"
                   : o->value ? "_files"
                              : "");
        }
        printf(" \\\n    '--help[tells more]' '*:file:_files' ;;\n");
    }
    printf("esac\n");
}

static void print_fish(void)
{
    char words[200];
    printf("complete -c weir.openmpi -w weir\ncomplete -c weir.mpich -w weir\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("complete -c weir -n __fish_use_subcommand -f -a %s -d '", (*c)->name);
        print_quoted((*c)->help, "\\");
        printf("'\n");
        for (const cli_option *o = (*c)->options; o && o->name; o++) {
            list_choices(o, words, sizeof words);
            printf("complete -c weir -n '__fish_seen_subcommand_from %s' -l %s", (*c)->name,
                   o->name + 2);
            if (o->letter)
                printf(" -s %c", o->letter);
            printf("%s%s%s%s -d '", o->value ? " -r" : "", *words ? " -f -a '" : "", words,
                   *words ? "'" : "");
            print_quoted(o->help, "\\");
            printf("'\n");
        }
    }
}

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

static int run(int argc, char **argv)
{
    int arguments;
    const char *problem = cli_options_parse(argc, argv, NULL, NULL, &arguments);
    for (size_t i = 0; !problem && arguments == 1 && i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(argv[1], shells[i].name)) {
            shells[i].print();
            return 0;
        }
    return cli_usage(argv[0], problem ? problem : "takes bash, zsh or fish");
}

const cli_command cli_completion = {
    .name = "completion",
    .group = CLI_HELP,
    .arguments = "bash|zsh|fish",
    .help = "a script by which a shell completes commands and options",
    .about = "An installed Weir brings the scripts along, where shells look for them.",
    .example = {"source <(weir completion bash)", "weir completion fish >weir.fish"},
    .run = run,
    .who = CLI_FIRST};
