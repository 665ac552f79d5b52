/* The codecs from bytes to bytes, one line each: which version has them where, and what they are
 * told. Levels and the like matter only to who writes, so they may be missing. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/zarr_parts.h"

enum { ID, LEVEL, CHECKSUM, CNAME, CLEVEL, SHUFFLE, TYPESIZE, BLOCKSIZE, ELEMENTSIZE, KEYS };

static const wr_json_key keys[KEYS] = {
    [ID] = {"id", "\"", true},
    [LEVEL] = {"level", "0", true},
    [CHECKSUM] = {"checksum", "t", true},
    [CNAME] = {"cname", "\"", true},
    [CLEVEL] = {"clevel", "0", true},
    [SHUFFLE] = {"shuffle", "\"0", true},
    [TYPESIZE] = {"typesize", "0", true},
    [BLOCKSIZE] = {"blocksize", "0", true},
    [ELEMENTSIZE] = {"elementsize", "0", true},
};

enum {
    BOTH = WR_ZARR_CODEC | WR_ZARR_COMPRESSOR,
    OF_BLOSC = 1 << CNAME | 1 << CLEVEL | 1 << SHUFFLE | 1 << TYPESIZE | 1 << BLOCKSIZE,
    SHUFFLES = 3,
    LARGEST_TYPE = 255, /* of Blosc */
    ZLIB_USUAL = 6      /* what zlib means by -1 */
};

typedef struct line {
    const char *name;
    int kind;
    unsigned places, keys;
    int lowest, highest, level; /* the last where none is given: as Python's packages have it */
} line;

static const line lines[] = {
    {"gzip", WR_CODEC_GZIP, BOTH, 1 << LEVEL, 0, 9, 5},
    {"zlib", WR_CODEC_ZLIB, WR_ZARR_COMPRESSOR, 1 << LEVEL, 0, 9, 1},
    {"zstd", WR_CODEC_ZSTD, BOTH, 1 << LEVEL | 1 << CHECKSUM, -131072, 22, 0},
    {"blosc", WR_CODEC_BLOSC, BOTH, OF_BLOSC, 0, 9, 5},
    {"crc32c", WR_CODEC_CRC32C, WR_ZARR_CODEC, 0, 0, 0, 0},
    {"shuffle", WR_CODEC_SHUFFLE, WR_ZARR_FILTER, 1 << ELEMENTSIZE, 0, 0, 0},
};

enum { LINES = sizeof lines / sizeof *lines };

static const char *const inner_names[] = {
    [WR_BLOSC_LZ] = "blosclz",    [WR_BLOSC_LZ4] = "lz4",   [WR_BLOSC_LZ4HC] = "lz4hc",
    [WR_BLOSC_SNAPPY] = "snappy", [WR_BLOSC_ZLIB] = "zlib", [WR_BLOSC_ZSTD] = "zstd",
};

enum { INNERS = sizeof inner_names / sizeof *inner_names };

static const char *const shuffle_names[SHUFFLES] = {"noshuffle", "shuffle", "bitshuffle"};

static const char *word_of(enum wr_zarr_place place)
{
    if (place == WR_ZARR_FILTER)
        return "filter";
    return place == WR_ZARR_COMPRESSOR ? "compressor" : "codec";
}

static int find_name(wr_json value, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (wr_json_is(value, names[i]))
            return i;
    return -1;
}

/* `*out` is left alone where there is none. */
static int read_number(const wr_json *items, int key, int64_t lo, int64_t hi, int *out)
{
    int64_t v;
    if (!items[key].at)
        return 0;
    if (!wr_json_within(items[key], lo, hi, &v))
        return wr_fail(WEIR_EFORMAT, "\"%s\" is not a number of %lld to %lld", keys[key].name,
                       (long long)lo, (long long)hi);
    *out = (int)v;
    return 0;
}

/* Version 3 has words; version 2 numbers, of which -1 means by the element's size. */
static int read_shuffle(wr_json value, enum wr_zarr_place place, wr_codec *codec)
{
    int64_t v;
    codec->shuffle = 1;
    if (!value.at)
        return 0;
    if (place == WR_ZARR_CODEC)
        v = find_name(value, shuffle_names, SHUFFLES);
    else if (wr_json_kind(value) != '0' || !wr_json_within(value, -1, SHUFFLES - 1, &v))
        v = -2;
    else if (v == -1)
        v = codec->element == 1 ? 2 : 1;
    if (v < 0)
        return wr_fail(WEIR_EFORMAT, "\"shuffle\" is not one of %s",
                       place == WR_ZARR_CODEC ? "noshuffle, shuffle, bitshuffle" : "-1, 0, 1, 2");
    codec->shuffle = (int)v;
    return 0;
}

static int read_blosc(const wr_json *items, enum wr_zarr_place place, wr_codec *codec)
{
    int typesize = codec->element, block = 0;
    codec->inner = items[CNAME].at ? find_name(items[CNAME], inner_names, INNERS) : WR_BLOSC_LZ4;
    if (codec->inner < 0) {
        char name[WR_JSON_NAME];
        wr_json_name(items[CNAME], name);
        return wr_fail(WEIR_EUNSUPPORTED, "\"cname\" %s is not known here", name);
    }
    int code = read_shuffle(items[SHUFFLE], place, codec);
    if (!code)
        code = read_number(items, TYPESIZE, 1, LARGEST_TYPE, &typesize);
    if (!code)
        code = read_number(items, BLOCKSIZE, 0, INT32_MAX, &block);
    codec->block = block;
    /* Version 2 has no such key, only some of its writers have. */
    if (place == WR_ZARR_CODEC)
        codec->element = typesize;
    return code;
}

static int read_line(const line *l, wr_json configuration, enum wr_zarr_place place,
                     wr_codec *codec)
{
    wr_json items[KEYS];
    int code = wr_json_collect(configuration, &(wr_json_form){keys, KEYS, false}, items);
    for (int k = ID + 1; !code && k < KEYS; k++)
        if (items[k].at && !(l->keys >> k & 1))
            code = wr_fail(WEIR_EUNSUPPORTED, "\"%s\" is not known here", keys[k].name);
    if (code)
        return code;
    const int level = l->keys >> CLEVEL & 1 ? CLEVEL : LEVEL;
    const bool of_zlib = l->kind == WR_CODEC_GZIP || l->kind == WR_CODEC_ZLIB;
    codec->level = l->level;
    code = read_number(items, level, l->lowest - of_zlib, l->highest, &codec->level);
    if (of_zlib && codec->level == -1)
        codec->level = ZLIB_USUAL;
    codec->checksum = items[CHECKSUM].at && wr_json_true(items[CHECKSUM]);
    if (!code && l->kind == WR_CODEC_BLOSC)
        return read_blosc(items, place, codec);
    if (l->kind != WR_CODEC_SHUFFLE) {
        codec->element = 0;
        return code;
    }
    codec->element = 4;
    return code ? code : read_number(items, ELEMENTSIZE, 1, WR_TILE_MOST, &codec->element);
}

int wr_zarr_codec_read(const wr_zarr_named *codec, enum wr_zarr_place place, wr_zarr *zarr)
{
    wr_codecs *codecs = &zarr->what.tiling.codecs;
    const line *l = lines;
    while (l < lines + LINES && (strcmp(codec->name, l->name) != 0 || !(l->places & place)))
        l++;
    if (l == lines + LINES)
        return wr_fail(WEIR_EUNSUPPORTED, "%s \"%s\" is not known here", word_of(place),
                       codec->name);
    if (codecs->count == WR_CODECS)
        return wr_fail(WEIR_EUNSUPPORTED, "more than %d codecs", WR_CODECS);
    wr_codec *out = &codecs->codec[codecs->count];
    *out = (wr_codec){.kind = l->kind, .element = (int)weir_type_bytes(zarr->what.type)};
    int code = read_line(l, codec->configuration, place, out);
    if (code)
        wr_error_prefix(l->name);
    else
        codecs->count++;
    return code;
}

static int check_codec(const line *l, const wr_codec *c)
{
    const bool blosc = c->kind == WR_CODEC_BLOSC;
    if (c->level < l->lowest || c->level > l->highest)
        return wr_fail(WEIR_EINVAL, "%s has levels from %d to %d, not %d", l->name, l->lowest,
                       l->highest, c->level);
    if (blosc && (c->inner < 0 || c->inner >= INNERS || c->shuffle < 0 || c->shuffle >= SHUFFLES))
        return wr_fail(WEIR_EINVAL, "blosc has no compressor %d, or no shuffle %d", c->inner,
                       c->shuffle);
    if (blosc && (c->element < 1 || c->element > LARGEST_TYPE))
        return wr_fail(WEIR_EINVAL, "blosc knows elements of 1 to %d bytes, not %d", LARGEST_TYPE,
                       c->element);
    if (blosc && (c->block < 0 || c->block > INT32_MAX))
        return wr_fail(WEIR_EINVAL, "blosc has no blocks of %lld bytes", (long long)c->block);
    if (c->kind == WR_CODEC_SHUFFLE && c->element < 1)
        return wr_fail(WEIR_EINVAL, "shuffle has no elements of %d bytes", c->element);
    return 0;
}

static void print_keys(const wr_codec *c, enum wr_zarr_place place, wr_text *text)
{
    const bool v3 = place == WR_ZARR_CODEC;
    switch (c->kind) {
    case WR_CODEC_BLOSC:
        wr_text_put(text, "\"cname\": \"%s\", \"clevel\": %d, ", inner_names[c->inner], c->level);
        if (v3)
            wr_text_put(text, "\"shuffle\": \"%s\", \"typesize\": %d", shuffle_names[c->shuffle],
                        c->element);
        else
            wr_text_put(text, "\"shuffle\": %d", c->shuffle);
        wr_text_put(text, ", \"blocksize\": %lld", (long long)c->block);
        break;
    case WR_CODEC_ZSTD:
        wr_text_put(text, "\"level\": %d", c->level);
        /* Old readers of version 2 refuse the key. */
        if (v3 || c->checksum)
            wr_text_put(text, ", \"checksum\": %s", c->checksum ? "true" : "false");
        break;
    case WR_CODEC_SHUFFLE:
        wr_text_put(text, "\"elementsize\": %d", c->element);
        break;
    default:
        wr_text_put(text, "\"level\": %d", c->level);
    }
}

static const char *name_of(int kind)
{
    for (int i = 0; i < LINES; i++)
        if (lines[i].kind == kind)
            return lines[i].name;
    return kind == WR_CODEC_FLETCHER32 ? "fletcher32" : "?";
}

int wr_zarr_codec_print(const wr_codec *codec, enum wr_zarr_place place, wr_text *text)
{
    const line *l = lines;
    while (l < lines + LINES && (l->kind != codec->kind || !(l->places & place)))
        l++;
    if (l == lines + LINES)
        return wr_fail(WEIR_EUNSUPPORTED, "%s is no %s of Zarr version %d", name_of(codec->kind),
                       word_of(place), place == WR_ZARR_CODEC ? 3 : 2);
    int code = check_codec(l, codec);
    if (code)
        return code;
    wr_text_put(text, "{\"%s\": \"%s\"", place == WR_ZARR_CODEC ? "name" : "id", l->name);
    if (l->keys) {
        wr_text_put(text, place == WR_ZARR_CODEC ? ", \"configuration\": {" : ", ");
        print_keys(codec, place, text);
        wr_text_put(text, place == WR_ZARR_CODEC ? "}" : "");
    }
    wr_text_put(text, "}");
    return 0;
}
