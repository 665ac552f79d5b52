/* MPI_Info to hints and back. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "front/mpiio/door.h"

/* Appends "key=value;" without our prefix if the pair is ours and its value makes sense: MPI says
 * that others are ignored. */
static void append(char *hints, size_t size, const char *key, const char *value)
{
    static const char prefix[] = "weir_";
    wr_tunables tried;
    size_t used = strlen(hints);
    wr_tunables_init(&tried);
    if (strchr(value, ';') || wr_tunables_set_pair(&tried, key, value))
        return;
    if (!strncmp(key, prefix, sizeof prefix - 1))
        key += sizeof prefix - 1;
    snprintf(hints + used, size - used, "%s=%s;", key, value);
}

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

char *wr_hints_of(MPI_Info info)
{
    int keys = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get_nkeys(info, &keys);
    size_t size = (size_t)keys * (MPI_MAX_INFO_KEY + MPI_MAX_INFO_VAL + 2) + 1;
    char *hints = wr_alloc((int64_t)size);
    if (!hints)
        return NULL;
    *hints = '\0';
    pair p;
    for (int i = 0; get_pair(info, i, &p); i++)
        append(hints, size, p.key, p.value);
    return hints;
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

static void show(MPI_Info info, const wr_tunables *tunables)
{
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
}

/* Adds the pairs of one info to another. */
static void merge(MPI_Info from, MPI_Info to)
{
    pair p;
    for (int i = 0; get_pair(from, i, &p); i++)
        PMPI_Info_set(to, p.key, p.value);
}

WR_DOOR int PMPI_File_get_info(MPI_File fh, MPI_Info *out)
{
    wr_door *door = wr_door_of(fh);
    if (!door)
        return wr_door_result(NULL, WEIR_EINVAL);
    int code = 0;
    if (PMPI_Info_dup(door->info, out) != MPI_SUCCESS)
        code = wr_misuse(MPI_ERR_OTHER, "the MPI library makes no info");
    else
        show(*out, &door->file->port.tunables);
    return wr_door_result(door, code);
}
WR_BOTH_NAMES(File_get_info)

WR_DOOR int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    wr_door *door = wr_door_of(fh);
    if (!door)
        return wr_door_result(NULL, WEIR_EINVAL);
    MPI_Info all = MPI_INFO_NULL;
    int code = 0;
    if (PMPI_Info_dup(door->info, &all) != MPI_SUCCESS)
        code = wr_misuse(MPI_ERR_OTHER, "the MPI library makes no info");
    else
        merge(info, all);
    char *hints = code ? NULL : wr_hints_of(all);
    code = wr_file_set_hints(door->file, hints, code || hints ? code : WEIR_ENOMEM);
    wr_free(hints);
    if (code && all != MPI_INFO_NULL)
        PMPI_Info_free(&all);
    if (!code) {
        PMPI_Info_free(&door->info);
        door->info = all;
    }
    return wr_door_result(door, code);
}
WR_BOTH_NAMES(File_set_info)
