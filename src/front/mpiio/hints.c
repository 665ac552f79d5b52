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
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        PMPI_Info_get_nthkey(info, i, key);
        PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        if (found)
            append(hints, size, key, value);
    }
    return hints;
}

/* What another library's key says for our value; NULL if it has no word for it. */
static const char *word_for(const wr_tunable_alias *alias, const char *value)
{
    if (!alias->values)
        return value;
    for (const char *const *pair = alias->values; pair[0]; pair += 2)
        if (!strcmp(pair[1], value))
            return pair[0];
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
    int keys = 0;
    if (from != MPI_INFO_NULL)
        PMPI_Info_get_nkeys(from, &keys);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        PMPI_Info_get_nthkey(from, i, key);
        PMPI_Info_get(from, key, MPI_MAX_INFO_VAL, value, &found);
        if (found)
            PMPI_Info_set(to, key, value);
    }
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
    merge(info, door->info);
    char *hints = wr_hints_of(door->info);
    int code = wr_file_set_hints(door->file, hints ? hints : "");
    wr_free(hints);
    return wr_door_result(door, code);
}
WR_BOTH_NAMES(File_set_info)
