#include "format/zarr_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Sound texts in parts. */
typedef struct part {
    const char *key, *value;
} part;

static const part parts3[] = {
    {"zarr_format", "3"},
    {"node_type", "\"array\""},
    {"shape", "[10, 20]"},
    {"data_type", "\"float64\""},
    {"chunk_grid", "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [4, 8]}}"},
    {"chunk_key_encoding", "{\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}}"},
    {"fill_value", "0"},
    {"codecs", "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]"},
    {"attributes", "{}"},
    {"dimension_names", "null"},
    {NULL, NULL},
};

static const part parts2[] = {
    {"zarr_format", "2"}, {"shape", "[10, 20]"},  {"chunks", "[4, 8]"},
    {"dtype", "\"<f8\""}, {"compressor", "null"}, {"fill_value", "null"},
    {"order", "\"C\""},   {"filters", "null"},    {NULL, NULL},
};

int64_t zarr_text_make(int version, const char *key, const char *value, char text[ROOM])
{
    const part *p = version == 3 ? parts3 : parts2;
    bool met = false;
    int used = snprintf(text, ROOM, "{\"more\": {\"must_understand\": false}");
    for (; p->key; p++) {
        bool this = !strcmp(p->key, key);
        met |= this;
        if (!this || value)
            used += snprintf(text + used, (size_t)(ROOM - used), ",\n \"%s\": %s", p->key,
                             this ? value : p->value);
    }
    if (!met && value)
        used += snprintf(text + used, (size_t)(ROOM - used), ",\n \"%s\": %s", key, value);
    return used + snprintf(text + used, (size_t)(ROOM - used), "\n}\n");
}

int64_t zarr_text_change(char text[ROOM], const char *from, const char *to)
{
    char rest[ROOM], *at = strstr(text, from);
    CHECK(at);
    snprintf(rest, sizeof rest, "%s", at + strlen(from));
    return at - text + snprintf(at, (size_t)(ROOM - (at - text)), "%s%s", to, rest);
}

wr_zarr zarr_text_accepted(int version, const char *key, const char *value)
{
    char text[ROOM];
    wr_zarr z;
    int64_t length = zarr_text_make(version, key, value, text);
    int code = wr_zarr_parse(version, text, length, &z);
    if (code)
        printf("%s: %s: %s\n", key, value, weir_error_last()->text);
    CHECK(!code);
    return z;
}

void zarr_text_refused(int version, const char *text, int64_t length, int code, const char *what)
{
    wr_zarr z;
    char *exact = malloc((size_t)length + 1); /* so that a byte too far is noticed */
    memcpy(exact, text, (size_t)length);
    exact = realloc(exact, length ? (size_t)length : 1);
    CHECK_FAILS(wr_zarr_parse(version, exact, length, &z), code, what);
    CHECK(!strncmp(weir_error_last()->text, version == 3 ? "zarr.json: " : ".zarray: ", 9));
    CHECK(!z.attributes && !z.names);
    free(exact);
}
