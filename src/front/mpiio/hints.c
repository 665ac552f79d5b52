/* MPI_Info to hints and back. A pair counts if its key is ours or one that we know of ROMIO and its
 * value makes sense; others are kept and have no effect, as MPI asks for. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "front/mpiio/mpi_file.h"
#include "plan/seats.h"

typedef struct pair {
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
} pair;

/* The i-th pair; false after the last one. */
static bool get_pair(MPI_Info info, int i, pair *out)
{
    int keys = 0, found = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get_nkeys(info, &keys);
    if (i >= keys)
        return false;
    PMPI_Info_get_nthkey(info, i, out->key);
    PMPI_Info_get(info, out->key, MPI_MAX_INFO_VAL, out->value, &found);
    if (!found)
        out->value[0] = '\0';
    return true;
}

/* Whether the pair is ours and its value makes sense: MPI says that others are ignored. */
static bool is_ours(const pair *p)
{
    wr_tunables tried;
    int64_t most;
    wr_tunables_init(&tried);
    return !strchr(p->value, ';') && !wr_tunables_set_pair(&tried, p->key, p->value) &&
           (!*tried.aggregator_hosts || !wr_seats_of(tried.aggregator_hosts, "", &most));
}

/* Appends "key=value;" without our prefix. */
static void append(char *hints, size_t size, const pair *p)
{
    static const char prefix[] = "weir_";
    const size_t skipped = strncmp(p->key, prefix, sizeof prefix - 1) ? 0 : sizeof prefix - 1;
    const size_t used = strlen(hints);
    snprintf(hints + used, size - used, "%s=%s;", p->key + skipped, p->value);
}

static int count_keys(MPI_Info info)
{
    int keys = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get_nkeys(info, &keys);
    return keys;
}

static char *write_hints(MPI_Info weaker, MPI_Info info)
{
    const size_t most = sizeof(pair) + 2;
    const size_t size = (size_t)(count_keys(weaker) + count_keys(info)) * most + 1;
    char *hints = wr_alloc((int64_t)size);
    pair p;
    if (!hints)
        return NULL;
    *hints = '\0';
    for (int i = 0; get_pair(weaker, i, &p); i++)
        if (is_ours(&p))
            append(hints, size, &p);
    for (int i = 0; get_pair(info, i, &p); i++)
        if (is_ours(&p))
            append(hints, size, &p);
    return hints;
}

char *wr_hints_of(MPI_Info info, bool counts)
{
    MPI_Info weaker = MPI_INFO_NULL;
    if (counts && PMPI_Info_create(&weaker) == MPI_SUCCESS)
        wr_hint_file_read(weaker);
    char *hints = write_hints(weaker, info);
    if (weaker != MPI_INFO_NULL)
        PMPI_Info_free(&weaker);
    return hints;
}

void wr_hints_note(wr_mpi_file *mf, MPI_Info info)
{
    pair p;
    for (int i = 0; get_pair(info, i, &p); i++) {
        char before[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        PMPI_Info_get(mf->info, p.key, MPI_MAX_INFO_VAL, before, &found);
        if (found && !strcmp(before, p.value))
            continue;
        PMPI_Info_set(mf->info, p.key, p.value);
        if (is_ours(&p))
            wr_file_note_news(mf->file);
    }
}

void wr_hints_agree(wr_mpi_file *mf)
{
    if (wr_file_take_news(mf->file))
        wr_hints_take(mf, MPI_INFO_NULL); /* nothing is lost with a hint */
}

/* What another library's key says for our value; NULL if it has no word for it. */
static const char *word_for(const wr_tunable_alias *alias, const char *value)
{
    if (!alias->values)
        return value;
    for (const char *const *word = alias->values; word[0]; word += 2)
        if (!strcmp(word[1], value))
            return word[0];
    return NULL;
}

static void show(MPI_Info info, const weir_file *file)
{
    const wr_tunables *tunables = wr_file_tunables(file);
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    for (const wr_tunable *t = wr_tunable_table; t->name; t++) {
        wr_tunables_get(tunables, t->name, value, sizeof value);
        snprintf(key, sizeof key, "weir_%s", t->name);
        if (*value)
            PMPI_Info_set(info, key, value);
    }
    for (const wr_tunable_alias *a = wr_tunable_aliases; a->key; a++) {
        if (!a->foreign)
            continue;
        wr_tunables_get(tunables, a->names[0], value, sizeof value);
        const char *word = word_for(a, value);
        if (word && *word)
            PMPI_Info_set(info, a->key, word);
    }
    snprintf(value, sizeof value, "%lld", (long long)wr_file_aggregators(file));
    PMPI_Info_set(info, "cb_nodes", value);
}

/* Adds the pairs of one info to another. */
static void merge(MPI_Info from, MPI_Info to)
{
    pair p;
    for (int i = 0; get_pair(from, i, &p); i++)
        PMPI_Info_set(to, p.key, p.value);
}

WR_EXPORT int PMPI_File_get_info(MPI_File fh, MPI_Info *out)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    if (!mf)
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    int code = 0;
    if (PMPI_Info_dup(mf->info, out) != MPI_SUCCESS)
        code = wr_misuse(MPI_ERR_OTHER, "the MPI library makes no info");
    else
        show(*out, mf->file);
    return wr_mpi_file_result(mf, code);
}
WR_BOTH_NAMES(File_get_info)

int wr_hints_take(wr_mpi_file *mf, MPI_Info info)
{
    MPI_Info all = MPI_INFO_NULL;
    int code = 0;
    if (PMPI_Info_dup(mf->info, &all) != MPI_SUCCESS)
        code = wr_misuse(MPI_ERR_OTHER, "the MPI library makes no info");
    else
        merge(info, all);
    char *hints =
        code ? NULL
             : wr_hints_of(all, wr_file_is_alive(mf->file) && wr_file_ranks(mf->file)->rank == 0);
    code = wr_file_set_hints(mf->file, hints, code || hints ? code : WEIR_ENOMEM);
    wr_free(hints);
    if (code && all != MPI_INFO_NULL)
        PMPI_Info_free(&all);
    if (!code) {
        PMPI_Info_free(&mf->info);
        mf->info = all;
    }
    return code;
}

WR_EXPORT int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    return wr_mpi_file_result(mf, mf ? wr_hints_take(mf, info) : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_set_info)
