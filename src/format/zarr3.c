/* zarr.json, of the specification of Zarr, version 3. */
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/zarr_parts.h"

enum key {
    ZARR_FORMAT,
    NODE_TYPE,
    SHAPE,
    DATA_TYPE,
    CHUNK_GRID,
    CHUNK_KEY_ENCODING,
    FILL_VALUE,
    CODECS,
    ATTRIBUTES,
    DIMENSION_NAMES,
    STORAGE_TRANSFORMERS,
    KEYS
};

/* The first two come first: of a group they say what it is. */
static const wr_json_key keys[KEYS] = {
    [ZARR_FORMAT] = {"zarr_format", "0", false},
    [NODE_TYPE] = {"node_type", "\"", false},
    [SHAPE] = {"shape", "[", false},
    [DATA_TYPE] = {"data_type", "\"{", false},
    [CHUNK_GRID] = {"chunk_grid", "\"{", false},
    [CHUNK_KEY_ENCODING] = {"chunk_key_encoding", "\"{", false},
    [FILL_VALUE] = {"fill_value", "{[\"0tn", false},
    [CODECS] = {"codecs", "[", false},
    [ATTRIBUTES] = {"attributes", "{", true},
    [DIMENSION_NAMES] = {"dimension_names", "[n", true},
    [STORAGE_TRANSFORMERS] = {"storage_transformers", "[", true},
};

static const char *const types[] = {
    [WEIR_BOOL] = "bool",    [WEIR_I1] = "int8",       [WEIR_I2] = "int16",   [WEIR_I4] = "int32",
    [WEIR_I8] = "int64",     [WEIR_U1] = "uint8",      [WEIR_U2] = "uint16",  [WEIR_U4] = "uint32",
    [WEIR_U8] = "uint64",    [WEIR_F2] = "float16",    [WEIR_F4] = "float32", [WEIR_F8] = "float64",
    [WEIR_C8] = "complex64", [WEIR_C16] = "complex128"};

int wr_zarr_named_read(wr_json value, const char *what, wr_zarr_named *out)
{
    enum { NAME, CONFIGURATION, MUST_UNDERSTAND, PARTS };
    static const wr_json_key parts[PARTS] = {
        [NAME] = {"name", "\"", false},
        [CONFIGURATION] = {"configuration", "{", true},
        [MUST_UNDERSTAND] = {"must_understand", "t", true},
    };
    static const char empty[] = "{}";
    wr_json items[PARTS] = {{0}};
    int code = 0;
    if (wr_json_kind(value) == '"')
        items[NAME] = value;
    else if (wr_json_kind(value) == '{')
        code = wr_json_collect(value, &(wr_json_form){parts, PARTS, false}, items);
    else
        code = wr_fail(WEIR_EFORMAT, "neither a name nor an object");
    if (code) {
        wr_error_prefix(what);
        return code;
    }
    wr_json_name(items[NAME], out->name);
    out->configuration = items[CONFIGURATION];
    if (!out->configuration.at)
        out->configuration = (wr_json){empty, empty + 2};
    return 0;
}

static int unknown(const char *what, const wr_zarr_named *named)
{
    return wr_fail(WEIR_EUNSUPPORTED, "%s \"%s\" is not known here", what, named->name);
}

static int read_type(wr_json value, wr_description *d)
{
    wr_zarr_named named;
    int code = wr_zarr_named_read(value, "data_type", &named);
    if (code)
        return code;
    d->type = WEIR_C16;
    while (d->type && (!types[d->type] || strcmp(named.name, types[d->type]) != 0))
        d->type--;
    return d->type && !wr_json_count(named.configuration) ? 0 : unknown("data_type", &named);
}

static int read_grid(wr_json value, wr_description *d)
{
    static const wr_json_key key = {"chunk_shape", "[", false};
    wr_zarr_named named;
    wr_json list;
    int code = wr_zarr_named_read(value, "chunk_grid", &named);
    if (!code && strcmp(named.name, "regular") != 0)
        code = unknown("chunk_grid", &named);
    if (!code)
        code = wr_json_collect(named.configuration, &(wr_json_form){&key, 1, false}, &list);
    int count = code ? code : wr_zarr_sizes_read(list, "chunk_shape", 1, d->tiling.tile);
    if (count >= 0 && count != d->dimensions)
        return wr_fail(WEIR_EFORMAT, "\"chunk_shape\" has %d dimensions, \"shape\" %d", count,
                       d->dimensions);
    return count < 0 ? count : 0;
}

static int read_names_of_tiles(wr_json value, wr_zarr *z)
{
    static const wr_json_key key = {"separator", "\"", true};
    wr_zarr_named named;
    wr_json separator;
    int code = wr_zarr_named_read(value, "chunk_key_encoding", &named);
    if (code)
        return code;
    z->prefixed = !strcmp(named.name, "default");
    if (!z->prefixed && strcmp(named.name, "v2") != 0)
        return unknown("chunk_key_encoding", &named);
    code = wr_json_collect(named.configuration, &(wr_json_form){&key, 1, false}, &separator);
    if (code)
        return code;
    z->separator = z->prefixed ? '/' : '.';
    if (!separator.at)
        return 0;
    z->separator = wr_json_is(separator, "/") ? '/' : '.';
    return z->separator == '/' || wr_json_is(separator, ".")
               ? 0
               : wr_fail(WEIR_EFORMAT, "\"separator\" is neither / nor .");
}

/* Strings and null, one a dimension. */
static int check_names(wr_json list, int dimensions)
{
    wr_json key, value;
    int64_t count = wr_json_count(list);
    if (count != dimensions)
        return wr_fail(WEIR_EFORMAT, "\"dimension_names\" has %lld names for %d dimensions",
                       (long long)count, dimensions);
    while (wr_json_next(&list, &key, &value))
        if (wr_json_kind(value) != '"' && wr_json_kind(value) != 'n')
            return wr_fail(WEIR_EFORMAT,
                           "\"dimension_names\" has something other than strings and null");
    return 0;
}

static int keep_text(wr_json value, char **out)
{
    const int64_t length = value.end - value.at;
    *out = wr_alloc(length + 1);
    if (!*out)
        return WEIR_ENOMEM;
    memcpy(*out, value.at, (size_t)length);
    (*out)[length] = '\0';
    return 0;
}

static int read_texts(const wr_json items[KEYS], wr_zarr *z)
{
    const wr_json attributes = items[ATTRIBUTES], names = items[DIMENSION_NAMES];
    int code = 0;
    if (attributes.at && wr_json_count(attributes))
        code = keep_text(attributes, &z->attributes);
    if (code || !names.at || wr_json_kind(names) == 'n')
        return code;
    code = check_names(names, z->what.dimensions);
    return code ? code : keep_text(names, &z->names);
}

static bool is_known(const char *name)
{
    int k = 0;
    while (k < KEYS && strcmp(name, keys[k].name) != 0)
        k++;
    return k < KEYS;
}

/* Keys that are not in the specification must say that they need not be understood. */
static int check_extensions(wr_json root)
{
    static const wr_json_key key = {"must_understand", "t", false};
    wr_json name, value, must;
    char text[WR_JSON_NAME];
    while (wr_json_next(&root, &name, &value)) {
        wr_json_name(name, text);
        if (is_known(text))
            continue;
        if (wr_json_kind(value) != '{' ||
            wr_json_collect(value, &(wr_json_form){&key, 1, true}, &must) || wr_json_true(must))
            return wr_fail(WEIR_EUNSUPPORTED, "\"%s\" is not known here", text);
    }
    return 0;
}

static int read_head(wr_json root)
{
    wr_json items[NODE_TYPE + 1];
    int64_t version;
    int code = wr_json_collect(root, &(wr_json_form){keys, NODE_TYPE + 1, true}, items);
    if (code)
        return code;
    if (!wr_json_within(items[ZARR_FORMAT], 3, 3, &version))
        return wr_fail(WEIR_EFORMAT, "\"zarr_format\" is not 3");
    if (wr_json_is(items[NODE_TYPE], "group"))
        return wr_fail(WEIR_EFORMAT, "a group, not an array");
    if (!wr_json_is(items[NODE_TYPE], "array"))
        return wr_fail(WEIR_EFORMAT, "\"node_type\" is not \"array\"");
    return check_extensions(root);
}

int wr_zarr3_parse(wr_json root, wr_zarr *zarr)
{
    wr_description *d = &zarr->what;
    wr_json items[KEYS];
    int code = read_head(root);
    if (!code)
        code = wr_json_collect(root, &(wr_json_form){keys, KEYS, true}, items);
    if (code)
        return code;
    d->dimensions = wr_zarr_sizes_read(items[SHAPE], "shape", 0, d->shape);
    if (d->dimensions < 0)
        return d->dimensions;
    for (int i = 0; i < d->dimensions; i++)
        d->tiling.order[i] = i;
    code = read_grid(items[CHUNK_GRID], d);
    if (!code)
        code = read_names_of_tiles(items[CHUNK_KEY_ENCODING], zarr);
    zarr->named = !code;
    if (!code)
        code = read_type(items[DATA_TYPE], d);
    if (!code)
        code = wr_zarr_codecs_read(items[CODECS], zarr);
    if (!code)
        code = wr_zarr_fill_read(items[FILL_VALUE], d->type, zarr->fill);
    zarr->filled = true;
    const wr_json transformers = items[STORAGE_TRANSFORMERS];
    if (!code && transformers.at && wr_json_count(transformers))
        code = wr_fail(WEIR_EUNSUPPORTED, "\"storage_transformers\" is not empty");
    return code ? code : read_texts(items, zarr);
}

/* That texts from the caller are what they should be. */
static int check_text(const char *text, char kind, wr_json *out)
{
    int code = wr_json_check(text, (int64_t)strlen(text), out);
    if (!code && wr_json_kind(*out) == kind)
        return 0;
    return wr_fail(WEIR_EINVAL, "attributes or names of dimensions that are no JSON of their kind");
}

static int print_texts(const wr_zarr *z, wr_text *text)
{
    wr_json value;
    int code = 0;
    wr_text_put(text, ",\n  \"attributes\": ");
    if (z->attributes)
        code = check_text(z->attributes, '{', &value);
    if (!code && z->attributes)
        wr_text_add(text, value.at, value.end - value.at);
    else
        wr_text_put(text, "{}");
    if (code || !z->names)
        return code;
    code = check_text(z->names, '[', &value);
    if (!code && check_names(value, z->what.dimensions))
        code = wr_fail(WEIR_EINVAL, "names of dimensions that are not one for each");
    if (code)
        return code;
    wr_text_put(text, ",\n  \"dimension_names\": ");
    wr_text_add(text, value.at, value.end - value.at);
    return 0;
}

int wr_zarr3_print(const wr_zarr *zarr, wr_text *text)
{
    const wr_description *d = &zarr->what;
    const wr_tiling *t = &d->tiling;
    wr_text_put(text, "{\n  \"zarr_format\": 3,\n  \"node_type\": \"array\",\n  \"shape\": ");
    wr_zarr_sizes_print(d->shape, d->dimensions, text);
    wr_text_put(text, ",\n  \"data_type\": \"%s\",\n", types[d->type]);
    wr_text_put(text, "  \"chunk_grid\": {\n    \"name\": \"regular\",\n"
                      "    \"configuration\": {\"chunk_shape\": ");
    wr_zarr_sizes_print(t->levels == 2 ? t->shard : t->tile, d->dimensions, text);
    wr_text_put(text, "}\n  },\n  \"chunk_key_encoding\": {\n    \"name\": \"%s\",\n",
                zarr->prefixed ? "default" : "v2");
    wr_text_put(text, "    \"configuration\": {\"separator\": \"%c\"}\n  },\n", zarr->separator);
    wr_text_put(text, "  \"fill_value\": ");
    wr_zarr_fill_print(zarr, text);
    wr_text_put(text, ",\n  \"codecs\": ");
    int code = wr_zarr_codecs_print(zarr, text);
    if (!code)
        code = print_texts(zarr, text);
    wr_text_put(text, "\n}\n");
    return code;
}
