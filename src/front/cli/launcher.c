/* Launchers are known by their names, and what their options take by a list of all those that take
 * something: few mean different things to different launchers. */
#include "launcher.h"

#include <stdio.h>
#include <string.h>

static const char *base_name(const char *word)
{
    const char *slash = strrchr(word, '/');
    return slash ? slash + 1 : word;
}

bool cli_launcher_is(const char *word)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun", "prun",
                                        "oshrun", "srun",    "aprun",   "jsrun"};
    const char *base = base_name(word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (!strncmp(base, names[i], length) && (!base[length] || base[length] == '.'))
            return true;
    }
    return false;
}

/* Options that take one word, and that take two; without their dashes. */
static const char takes_one[] =
    " n np c x host H hosts hostfile machinefile f map-by bind-to rank-by wdir wd D chdir "
    "output-filename prefix npernode N npersocket ppn perhost rankfile rf timeout path app am "
    "cpu-set cpu-list slot-list cpus-per-proc cpus-per-rank max-restarts tune stdin stdout stderr "
    "genvlist envlist configfile launcher launcher-exec iface rmk bootstrap bootstrap-exec "
    "topolib prepend-pattern outfile-pattern errfile-pattern usize enable-x demux "
    "p partition t time A account J job-name w nodelist i o e m q qos ntasks nodes "
    "ntasks-per-node cpus-per-task mpi export cpu-bind dvm system-server ";
static const char takes_two[] = " mca gmca omca prtemca pmixmca genv env ";

static bool is_listed(const char *list, const char *name)
{
    char word[40];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL;
}

static int words_of_option(const char *option)
{
    const char *name = option + strspn(option, "-");
    if (is_listed(takes_two, name))
        return 3;
    return is_listed(takes_one, name) ? 2 : 1;
}

int cli_launcher_program(int count, char **words)
{
    int at = 0;
    if (count && cli_launcher_is(words[0]))
        for (at = 1; at < count && *words[at] == '-';)
            at += words_of_option(words[at]);
    if (at < count && !strcmp(base_name(words[at]), "env"))
        for (at++; at < count && (*words[at] == '-' || strchr(words[at], '='));)
            at += !strcmp(words[at], "-u") || !strcmp(words[at], "-C") ? 2 : 1;
    return at < count ? at : count;
}
