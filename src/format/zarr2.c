/* .zarray, of the specification of Zarr, version 2. Other keys than its own are to be ignored. */
#include <string.h>

#include "base/error.h"
#include "format/zarr_parts.h"

enum { ZARR_FORMAT, SHAPE, CHUNKS, DTYPE, COMPRESSOR, FILL_VALUE, ORDER, FILTERS, SEPARATOR, KEYS };

static const wr_json_key keys[KEYS] = {
    [ZARR_FORMAT] = {"zarr_format", "0", false},
    [SHAPE] = {"shape", "[", false},
    [CHUNKS] = {"chunks", "[", false},
    [DTYPE] = {"dtype", "{[\"", false},
    [COMPRESSOR] = {"compressor", "{n", false},
    [FILL_VALUE] = {"fill_value", "{[\"0tn", false},
    [ORDER] = {"order", "\"", false},
    [FILTERS] = {"filters", "[n", true},
    [SEPARATOR] = {"dimension_separator", "\"", true},
};

/* '|' is for what has no byte order. */
static int read_type(wr_json value, wr_description *d)
{
    char name[WR_JSON_NAME];
    wr_json_name(value, name);
    if (wr_json_kind(value) != '"')
        return wr_fail(WEIR_EUNSUPPORTED, "\"dtype\" %s has parts", name);
    const bool ordered = *name && strchr("<>|", *name);
    d->type = ordered && strcmp(name + 1, "bool") != 0 ? weir_type_find(name + 1) : 0;
    if (!d->type || !name[1] || strchr("<>|=", name[1]))
        return wr_fail(WEIR_EUNSUPPORTED, "\"dtype\" %s is not known here", name);
    const bool wide = weir_type_bytes(d->type) > 1, big = *name == '>';
    if (wide && *name == '|')
        return wr_fail(WEIR_EFORMAT, "\"dtype\" %s has no byte order", name);
    d->swapped = wide && big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return 0;
}

static int read_sizes(const wr_json items[KEYS], wr_description *d)
{
    d->dimensions = wr_zarr_sizes_read(items[SHAPE], "shape", 0, d->shape);
    if (d->dimensions < 0)
        return d->dimensions;
    int count = wr_zarr_sizes_read(items[CHUNKS], "chunks", 0, d->tiling.tile);
    if (count >= 0 && count != d->dimensions)
        return wr_fail(WEIR_EFORMAT, "\"chunks\" has %d dimensions, \"shape\" %d", count,
                       d->dimensions);
    /* What makes one tile of the whole array makes an empty one of an empty array. */
    for (int i = 0; i < count; i++)
        if (!d->shape[i] && !d->tiling.tile[i])
            d->tiling.tile[i] = 1;
    return count < 0 ? count : 0;
}

static int read_order(const wr_json items[KEYS], wr_zarr *z)
{
    wr_description *d = &z->what;
    const bool columns = wr_json_is(items[ORDER], "F");
    if (!columns && !wr_json_is(items[ORDER], "C"))
        return wr_fail(WEIR_EFORMAT, "\"order\" is neither C nor F");
    for (int i = 0; i < d->dimensions; i++)
        d->tiling.order[i] = columns ? d->dimensions - 1 - i : i;
    const wr_json separator = items[SEPARATOR];
    z->separator = separator.at && wr_json_is(separator, "/") ? '/' : '.';
    if (separator.at && z->separator == '.' && !wr_json_is(separator, "."))
        return wr_fail(WEIR_EFORMAT, "\"dimension_separator\" is neither / nor .");
    return 0;
}

static int read_codec(wr_json value, enum wr_zarr_place place, wr_zarr *z)
{
    static const wr_json_key key = {"id", "\"", false};
    wr_json id;
    if (wr_json_kind(value) != '{')
        return wr_fail(WEIR_EFORMAT, "\"filters\" has something other than objects");
    int code = wr_json_collect(value, &(wr_json_form){&key, 1, true}, &id);
    if (code) {
        wr_error_prefix(place == WR_ZARR_FILTER ? "filters" : "compressor");
        return code;
    }
    wr_zarr_named codec = {.configuration = value};
    wr_json_name(id, codec.name);
    return wr_zarr_codec_read(&codec, place, z);
}

/* Filters come first, then the compressor. */
static int read_codecs(const wr_json items[KEYS], wr_zarr *z)
{
    wr_json filters = items[FILTERS], key, value;
    int code = 0;
    if (filters.at && wr_json_kind(filters) == '[')
        while (!code && wr_json_next(&filters, &key, &value))
            code = read_codec(value, WR_ZARR_FILTER, z);
    if (!code && wr_json_kind(items[COMPRESSOR]) == '{')
        code = read_codec(items[COMPRESSOR], WR_ZARR_COMPRESSOR, z);
    return code;
}

int wr_zarr2_parse(wr_json root, wr_zarr *zarr)
{
    wr_json items[KEYS];
    int64_t version;
    int code = wr_json_collect(root, &(wr_json_form){keys, 1, true}, items);
    if (!code && !wr_json_within(items[ZARR_FORMAT], 2, 2, &version))
        code = wr_fail(WEIR_EFORMAT, "\"zarr_format\" is not 2");
    if (!code)
        code = wr_json_collect(root, &(wr_json_form){keys, KEYS, true}, items);
    if (!code)
        code = read_sizes(items, &zarr->what);
    if (!code)
        code = read_order(items, zarr);
    zarr->named = !code;
    if (!code)
        code = read_type(items[DTYPE], &zarr->what);
    if (!code)
        code = read_codecs(items, zarr);
    if (code)
        return code;
    zarr->filled = wr_json_kind(items[FILL_VALUE]) != 'n';
    return zarr->filled ? wr_zarr_fill_read(items[FILL_VALUE], zarr->what.type, zarr->fill) : 0;
}

static void print_type(const wr_description *d, wr_text *text)
{
    const bool big = d->swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    const char order = weir_type_bytes(d->type) == 1 ? '|' : big ? '>' : '<';
    wr_text_put(text, "\"%c%s\"", order, d->type == WEIR_BOOL ? "b1" : weir_type_name(d->type));
}

static bool is_order(const wr_description *d, bool columns)
{
    for (int i = 0; i < d->dimensions; i++)
        if (d->tiling.order[i] != (columns ? d->dimensions - 1 - i : i))
            return false;
    return true;
}

/* What is shuffled first is a filter, what follows the compressor. */
static int print_codecs(const wr_codecs *codecs, wr_text *text)
{
    int filters = 0, code = 0;
    while (filters < codecs->count && codecs->codec[filters].kind == WR_CODEC_SHUFFLE)
        filters++;
    wr_text_put(text, "  \"filters\": %s", filters ? "[" : "null");
    for (int i = 0; !code && i < filters; i++) {
        wr_text_put(text, i ? ", " : "");
        code = wr_zarr_codec_print(&codecs->codec[i], WR_ZARR_FILTER, text);
    }
    wr_text_put(text, "%s,\n  \"compressor\": ", filters ? "]" : "");
    for (int i = filters; !code && i < codecs->count; i++)
        code = i == filters
                   ? wr_zarr_codec_print(&codecs->codec[i], WR_ZARR_COMPRESSOR, text)
                   : wr_fail(WEIR_EUNSUPPORTED, "codecs after the compressor in Zarr version 2");
    if (filters == codecs->count)
        wr_text_put(text, "null");
    wr_text_put(text, ",\n");
    return code;
}

int wr_zarr2_print(const wr_zarr *zarr, wr_text *text)
{
    const wr_description *d = &zarr->what;
    if (d->tiling.levels == 2)
        return wr_fail(WEIR_EUNSUPPORTED, "shards in Zarr version 2");
    if (zarr->prefixed)
        return wr_fail(WEIR_EUNSUPPORTED, "names that begin with c in Zarr version 2");
    if (!is_order(d, false) && !is_order(d, true))
        return wr_fail(WEIR_EUNSUPPORTED, "tiles of Zarr version 2 are in order C or F only");
    wr_text_put(text, "{\n  \"zarr_format\": 2,\n  \"shape\": ");
    wr_zarr_sizes_print(d->shape, d->dimensions, text);
    wr_text_put(text, ",\n  \"chunks\": ");
    wr_zarr_sizes_print(d->tiling.tile, d->dimensions, text);
    wr_text_put(text, ",\n  \"dtype\": ");
    print_type(d, text);
    wr_text_put(text, ",\n  \"order\": \"%c\",\n", is_order(d, false) ? 'C' : 'F');
    int code = print_codecs(&d->tiling.codecs, text);
    wr_text_put(text, "  \"dimension_separator\": \"%c\",\n  \"fill_value\": ", zarr->separator);
    if (zarr->filled)
        wr_zarr_fill_print(zarr, text);
    else
        wr_text_put(text, "null");
    wr_text_put(text, "\n}\n");
    return code;
}
