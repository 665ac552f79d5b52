/* Manual pages from the table of subcommands, in the language of man(7). */
#include "manual.h"

#include <ctype.h>
#include <string.h>

#include "help.h"

/* Backslashes, and what would begin a request at the start of a line. */
static void print_text(FILE *out, const char *text)
{
    const char *before = "\n";
    for (; *text; before = text++) {
        if (*before == '\n' && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\n')
            fputs("\n.PP", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
    fputc('\n', out);
}

static void print_title(FILE *out, const char *page, const char *help)
{
    fprintf(out, ".TH \"");
    for (const char *at = page; *at; at++)
        fputc(toupper((unsigned char)*at), out);
    fprintf(out, "\" 1 \"\" \"weir %s\" \"Weir\"\n.SH NAME\n%s \\- ", WEIR_VERSION, page);
    print_text(out, help);
}

static void print_entry(FILE *out, const char *title, const char *text)
{
    fprintf(out, ".TP\n.B ");
    print_text(out, title);
    print_text(out, text);
}

static void print_all(FILE *out)
{
    print_title(out, "weir", "arrays larger than memory: look at them, change them, compute");
    fprintf(out, ".SH SYNOPSIS\n.B weir\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n");
    fprintf(out, ".SH DESCRIPTION\nRuns alone or under mpirun. Each command has a page of its own, "
                 "such as weir\\-get(1).\n");
    for (enum cli_group group = 0; group < CLI_GROUPS; group++) {
        fprintf(out, ".SS \"%s\"\n", cli_headings[group]);
        for (const cli_command *const *c = cli_commands; *c; c++)
            if ((*c)->group == group)
                print_entry(out, (*c)->name, (*c)->help);
    }
    fprintf(out, ".SH \"EXIT STATUS\"\n0: done. 1: it failed, or, of diff, arrays differ. 2: what "
                 "was asked for makes no sense, or is not there, or, of diff, it failed.\n");
}

void cli_manual_print(FILE *out, const cli_command *c)
{
    char page[80], title[200], text[800];
    if (!c) {
        print_all(out);
        return;
    }
    snprintf(page, sizeof page, "weir-%s", c->name);
    print_title(out, page, c->help);
    const int before = !strncmp(c->arguments, "--", 2); /* behind which are no options */
    fprintf(out, ".SH SYNOPSIS\n.B weir %s\n%s", c->name, before ? "[\\fIOPTIONS\\fR]\n" : "");
    print_text(out, c->arguments);
    fprintf(out, c->options && !before ? "[\\fIOPTIONS\\fR]\n" : "");
    fprintf(out, c->options ? ".SH OPTIONS\n" : "");
    for (const cli_option *o = c->options; o && o->name; o++) {
        cli_option_title(o, title, sizeof title);
        cli_option_text(o, text, sizeof text);
        print_entry(out, title, text);
    }
    if (c->about) {
        fprintf(out, ".SH DESCRIPTION\n");
        print_text(out, c->about);
    }
    fprintf(out, ".SH EXAMPLES\n.nf\n");
    for (int i = 0; c->example[i]; i++)
        print_text(out, c->example[i]);
    fprintf(out, ".fi\n.SH \"SEE ALSO\"\nweir(1)\n");
}
