/* The list of codecs of version 3: first from array to array, then one from array to bytes, then
 * from bytes to bytes. Shards are a codec from array to bytes that has a list of its own. */
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "format/zarr_parts.h"

#define SHARDING "sharding_indexed"

/* A list that is being read. */
typedef struct chain {
    wr_zarr *zarr;
    bool inside;           /* of shards */
    const char *flattened; /* what made bytes of the array; NULL: nothing yet */
} chain;

/* Stored dimension i is dimension order[i] of what comes before. */
static int read_transpose(wr_json configuration, chain *c)
{
    static const wr_json_key key = {"order", "[", false};
    wr_tiling *t = &c->zarr->what.tiling;
    const int dimensions = c->zarr->what.dimensions;
    int64_t given[WR_DIMENSIONS] = {0};
    int order[WR_DIMENSIONS], before[WR_DIMENSIONS];
    wr_json list;
    int code = wr_json_collect(configuration, &(wr_json_form){&key, 1, false}, &list);
    int count = code ? code : wr_zarr_sizes_read(list, "order", 0, given);
    if (count < 0)
        return count;
    for (int i = 0; i < count; i++)
        order[i] = (int)wr_min(given[i], WR_DIMENSIONS);
    if (count != dimensions || !wr_is_permutation(count, order))
        return wr_fail(WEIR_EFORMAT, "\"order\" does not have each of %d dimensions once",
                       dimensions);
    memcpy(before, t->order, sizeof before);
    for (int i = 0; i < count; i++)
        t->order[i] = before[order[i]];
    return 0;
}

static int read_bytes(wr_json configuration, int64_t element, bool *swapped)
{
    static const wr_json_key key = {"endian", "\"", true};
    wr_json endian;
    int code = wr_json_collect(configuration, &(wr_json_form){&key, 1, false}, &endian);
    if (code)
        return code;
    if (!endian.at && element > 1)
        return wr_fail(WEIR_EFORMAT, "\"endian\" is missing");
    const bool big = endian.at && wr_json_is(endian, "big");
    if (endian.at && !big && !wr_json_is(endian, "little"))
        return wr_fail(WEIR_EFORMAT, "\"endian\" is neither little nor big");
    *swapped = element > 1 && big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return 0;
}

static int read_index_codecs(wr_json list, wr_zarr *z)
{
    wr_json key, value;
    bool bytes = false;
    while (wr_json_next(&list, &key, &value)) {
        wr_zarr_named codec;
        int code = wr_zarr_named_read(value, "codec", &codec);
        if (code)
            return code;
        if (!bytes && !strcmp(codec.name, "bytes"))
            code = read_bytes(codec.configuration, sizeof(uint64_t), &z->index_swapped);
        else if (bytes && !z->index_summed && !strcmp(codec.name, "crc32c"))
            z->index_summed = true;
        else
            code = wr_fail(WEIR_EUNSUPPORTED, "\"%s\" is more than bytes, then crc32c", codec.name);
        if (code)
            return code;
        bytes = true;
    }
    return bytes ? 0 : wr_fail(WEIR_EFORMAT, "\"bytes\" is missing");
}

static int read_chain(wr_json list, chain *c);

/* What comes before must leave dimensions alone: tiles follow each other by rows. */
static int check_shards(const chain *c)
{
    const wr_description *d = &c->zarr->what;
    if (c->inside)
        return wr_fail(WEIR_EUNSUPPORTED, SHARDING " inside of " SHARDING);
    for (int i = 0; i < d->dimensions; i++)
        if (d->tiling.order[i] != i)
            return wr_fail(WEIR_EUNSUPPORTED, "transpose before " SHARDING);
    return 0;
}

static int read_shards(wr_json configuration, chain *c)
{
    enum { CHUNK_SHAPE, CODECS, INDEX_CODECS, INDEX_LOCATION, KEYS };
    static const wr_json_key keys[KEYS] = {
        [CHUNK_SHAPE] = {"chunk_shape", "[", false},
        [CODECS] = {"codecs", "[", false},
        [INDEX_CODECS] = {"index_codecs", "[", false},
        [INDEX_LOCATION] = {"index_location", "\"", true},
    };
    wr_json items[KEYS];
    wr_zarr *z = c->zarr;
    wr_tiling *t = &z->what.tiling;
    int code = check_shards(c);
    if (!code)
        code = wr_json_collect(configuration, &(wr_json_form){keys, KEYS, false}, items);
    if (code)
        return code;
    t->levels = 2;
    memcpy(t->shard, t->tile, sizeof t->shard);
    int count = wr_zarr_sizes_read(items[CHUNK_SHAPE], "chunk_shape", 1, t->tile);
    if (count >= 0 && count != z->what.dimensions)
        return wr_fail(WEIR_EFORMAT, "\"chunk_shape\" has %d dimensions, not %d", count,
                       z->what.dimensions);
    if (count < 0)
        return count;
    const wr_json location = items[INDEX_LOCATION];
    z->index_first = location.at && wr_json_is(location, "start");
    if (location.at && !z->index_first && !wr_json_is(location, "end"))
        return wr_fail(WEIR_EFORMAT, "\"index_location\" is neither start nor end");
    code = read_index_codecs(items[INDEX_CODECS], z);
    if (code) {
        wr_error_prefix("index_codecs");
        return code;
    }
    return read_chain(items[CODECS], &(chain){.zarr = z, .inside = true});
}

static int read_flattening(const wr_zarr_named *codec, chain *c)
{
    wr_description *d = &c->zarr->what;
    if (!strcmp(codec->name, SHARDING)) {
        c->flattened = SHARDING;
        return read_shards(codec->configuration, c);
    }
    c->flattened = "bytes";
    return read_bytes(codec->configuration, weir_type_bytes(d->type), &d->swapped);
}

static int read_codec(wr_json value, chain *c)
{
    wr_zarr_named codec;
    int code = wr_zarr_named_read(value, "codec", &codec);
    if (code)
        return code;
    const bool transpose = !strcmp(codec.name, "transpose");
    const bool flattens = !strcmp(codec.name, "bytes") || !strcmp(codec.name, SHARDING);
    if (c->flattened && !strcmp(c->flattened, SHARDING))
        return wr_fail(WEIR_EUNSUPPORTED, "codec \"%s\" after " SHARDING, codec.name);
    if (c->flattened && (transpose || flattens))
        return wr_fail(WEIR_EFORMAT, "codec \"%s\" after bytes", codec.name);
    if (transpose || flattens) {
        code = transpose ? read_transpose(codec.configuration, c) : read_flattening(&codec, c);
        if (code)
            wr_error_prefix(codec.name);
        return code;
    }
    code = wr_zarr_codec_read(&codec, WR_ZARR_CODEC, c->zarr);
    if (!code && !c->flattened)
        code = wr_fail(WEIR_EFORMAT, "codec \"%s\" before bytes", codec.name);
    return code;
}

static int read_chain(wr_json list, chain *c)
{
    wr_json key, value;
    int code = 0;
    while (!code && wr_json_next(&list, &key, &value))
        code = read_codec(value, c);
    if (!code && !c->flattened)
        code = wr_fail(WEIR_EFORMAT, "\"codecs\" has no bytes");
    return code;
}

int wr_zarr_codecs_read(wr_json list, wr_zarr *zarr)
{
    return read_chain(list, &(chain){.zarr = zarr});
}

static void print_endian(bool swapped, wr_text *text)
{
    const bool big = swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    wr_text_put(text, "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"%s\"}}",
                big ? "big" : "little");
}

static void print_transpose(const wr_description *d, const char *indent, wr_text *text)
{
    const int *order = d->tiling.order;
    bool rows = true;
    for (int i = 0; i < d->dimensions; i++)
        rows &= order[i] == i;
    if (rows)
        return;
    wr_text_put(text, "%s{\"name\": \"transpose\", \"configuration\": {\"order\": [", indent);
    for (int i = 0; i < d->dimensions; i++)
        wr_text_put(text, "%s%d", i ? ", " : "", order[i]);
    wr_text_put(text, "]}},\n");
}

/* One codec a line. */
static int print_chain(const wr_description *d, const char *indent, wr_text *text)
{
    int code = 0;
    print_transpose(d, indent, text);
    wr_text_put(text, "%s", indent);
    if (weir_type_bytes(d->type) > 1)
        print_endian(d->swapped, text);
    else
        wr_text_put(text, "{\"name\": \"bytes\"}");
    for (int i = 0; !code && i < d->tiling.codecs.count; i++) {
        wr_text_put(text, ",\n%s", indent);
        code = wr_zarr_codec_print(&d->tiling.codecs.codec[i], WR_ZARR_CODEC, text);
    }
    wr_text_put(text, "\n");
    return code;
}

int wr_zarr_codecs_print(const wr_zarr *zarr, wr_text *text)
{
    const wr_description *d = &zarr->what;
    wr_text_put(text, "[\n");
    if (d->tiling.levels == 1) {
        int code = print_chain(d, "    ", text);
        wr_text_put(text, "  ]");
        return code;
    }
    wr_text_put(text, "    {\n      \"name\": \"" SHARDING "\",\n      \"configuration\": {\n"
                      "        \"chunk_shape\": ");
    wr_zarr_sizes_print(d->tiling.tile, d->dimensions, text);
    wr_text_put(text, ",\n        \"codecs\": [\n");
    int code = print_chain(d, "          ", text);
    wr_text_put(text, "        ],\n        \"index_codecs\": [\n          ");
    print_endian(zarr->index_swapped, text);
    wr_text_put(text, "%s\n        ],\n",
                zarr->index_summed ? ",\n          {\"name\": \"crc32c\"}" : "");
    wr_text_put(text, "        \"index_location\": \"%s\"\n      }\n    }\n  ]",
                zarr->index_first ? "start" : "end");
    return code;
}
