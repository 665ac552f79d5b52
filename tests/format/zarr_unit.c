/* Metadata of Zarr arrays: what is read and what is written. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "check.h"
#include "format/zarr.h"
#include "format/zarr_text.h"

enum { LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void check_same(const wr_zarr *a, const wr_zarr *b)
{
    const wr_tiling *s = &a->what.tiling, *t = &b->what.tiling;
    CHECK(a->version == b->version && a->what.format == b->what.format);
    CHECK(a->what.type == b->what.type && a->what.dimensions == b->what.dimensions);
    CHECK(!memcmp(a->what.shape, b->what.shape, sizeof a->what.shape));
    CHECK(a->what.swapped == b->what.swapped && a->what.bytes == b->what.bytes);
    CHECK(s->levels == t->levels && !memcmp(s->order, t->order, sizeof s->order));
    CHECK(!memcmp(s->tile, t->tile, sizeof s->tile) && !memcmp(s->shard, t->shard, sizeof s->tile));
    CHECK(s->tile_bytes == t->tile_bytes && s->shard_bytes == t->shard_bytes);
    CHECK(s->shards == t->shards && s->codecs.count == t->codecs.count);
    for (int i = 0; i < s->codecs.count; i++) {
        const wr_codec *c = &s->codecs.codec[i], *d = &t->codecs.codec[i];
        CHECK(c->kind == d->kind && c->level == d->level && c->element == d->element);
        CHECK(c->shuffle == d->shuffle && c->inner == d->inner && c->checksum == d->checksum);
        CHECK_EQUAL(c->block, d->block);
    }
    CHECK(a->separator == b->separator && a->prefixed == b->prefixed && a->filled == b->filled);
    CHECK(a->index_first == b->index_first && a->index_summed == b->index_summed);
    CHECK(a->index_swapped == b->index_swapped && !memcmp(a->fill, b->fill, sizeof a->fill));
    CHECK(same_text(a->attributes, b->attributes) && same_text(a->names, b->names));
}

static void check_again(const wr_zarr *z)
{
    char *text;
    int64_t length;
    wr_zarr back;
    CHECK(!wr_zarr_print(z, &text, &length));
    CHECK_EQUAL((int64_t)strlen(text), length);
    int code = wr_zarr_parse(z->version, text, length, &back);
    if (code)
        printf("%s\n%s\n", text, weir_error_last()->text);
    CHECK(!code);
    check_same(z, &back);
    wr_zarr_release(&back);
    wr_free(text);
}

/* Parsed, printed and parsed again. */
static void accepted_twice(int version, const char *key, const char *value)
{
    wr_zarr z = zarr_text_accepted(version, key, value);
    check_again(&z);
    wr_zarr_release(&z);
}

static void test_sound(void)
{
    wr_zarr z = zarr_text_accepted(3, "", NULL);
    const wr_tiling *t = &z.what.tiling;
    CHECK(z.version == 3 && z.what.format == WEIR_ZARR && z.what.type == WEIR_F8);
    CHECK(z.what.dimensions == 2 && z.what.shape[0] == 10 && z.what.shape[1] == 20);
    CHECK(z.what.bytes == 1600 && !z.what.columns && z.what.swapped != LITTLE);
    CHECK(t->levels == 1 && t->tile[0] == 4 && t->tile[1] == 8 && t->shard[1] == 8);
    CHECK(t->order[0] == 0 && t->order[1] == 1 && !t->codecs.count);
    CHECK(t->tile_bytes == 256 && t->shard_bytes == 256 && t->shards == 9);
    CHECK(z.separator == '/' && z.prefixed && z.filled && !z.attributes && !z.names);
    wr_zarr_release(&z);
    wr_zarr_release(&z);
    z = zarr_text_accepted(2, "", NULL);
    CHECK(z.version == 2 && z.what.format == WEIR_ZARR2 && z.what.type == WEIR_F8);
    CHECK(z.what.bytes == 1600 && z.what.tiling.tile[1] == 8 && z.what.swapped != LITTLE);
    CHECK(z.separator == '.' && !z.prefixed && !z.filled && !z.fill[0]);
    wr_zarr_release(&z);
    static const char point[] =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[],\"data_type\":\"bool\","
        "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[]}},"
        "\"chunk_key_encoding\":\"default\",\"fill_value\":true,\"codecs\":[\"bytes\"]}";
    CHECK(!wr_zarr_parse(3, point, sizeof point - 1, &z));
    CHECK(z.what.dimensions == 0 && z.what.bytes == 1 && z.what.tiling.shards == 1 && z.fill[0]);
    check_again(&z);
    wr_zarr_release(&z);
}

static void test_types(void)
{
    static const struct {
        int type;
        const char *v3, *v2;
    } all[] = {
        {WEIR_BOOL, "bool", "|b1"},    {WEIR_I1, "int8", "|i1"},        {WEIR_I2, "int16", ">i2"},
        {WEIR_I4, "int32", ">i4"},     {WEIR_I8, "int64", ">i8"},       {WEIR_U1, "uint8", "|u1"},
        {WEIR_U2, "uint16", ">u2"},    {WEIR_U4, "uint32", ">u4"},      {WEIR_U8, "uint64", ">u8"},
        {WEIR_F2, "float16", ">f2"},   {WEIR_F4, "float32", ">f4"},     {WEIR_F8, "float64", ">f8"},
        {WEIR_C8, "complex64", ">c8"}, {WEIR_C16, "complex128", ">c16"}};
    char text[64], whole[ROOM];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const bool complex = all[i].type >= WEIR_C8;
        snprintf(text, sizeof text, "\"%s\",\n \"unused\": {\"must_understand\": false}",
                 all[i].v3);
        int64_t length = zarr_text_make(3, "data_type", text, whole);
        wr_zarr z;
        int code = wr_zarr_parse(3, whole, length, &z);
        CHECK(code == (complex ? WEIR_EFORMAT : 0));
        if (!code) {
            CHECK(z.what.type == all[i].type);
            check_again(&z);
        }
        wr_zarr_release(&z);
        snprintf(text, sizeof text, "\"%s\"", all[i].v2);
        z = zarr_text_accepted(2, "dtype", text);
        CHECK(z.what.type == all[i].type);
        CHECK(z.what.swapped == (LITTLE && weir_type_bytes(z.what.type) > 1));
        check_again(&z);
        wr_zarr_release(&z);
    }
    accepted_twice(2, "dtype", "\"<u1\"");
    accepted_twice(2, "dtype", "\"<b1\"");
    accepted_twice(3, "data_type", "{\"name\": \"uint8\"}");
}

/* The fill value of a type, of both versions. */
static void fills(int type, const char *text, const void *bytes)
{
    static const char *const names[] = {"",        "bool",    "int8",    "int16",     "int32",
                                        "int64",   "uint8",   "uint16",  "uint32",    "uint64",
                                        "float16", "float32", "float64", "complex64", "complex128"};
    char whole[ROOM];
    wr_zarr z;
    zarr_text_make(3, "fill_value", text, whole);
    int64_t length = zarr_text_change(whole, "float64", names[type]);
    if (!bytes) {
        zarr_text_refused(3, whole, length, WEIR_EFORMAT, "\"fill_value\"");
        return;
    }
    int code = wr_zarr_parse(3, whole, length, &z);
    if (code)
        printf("%s: %s\n", text, weir_error_last()->text);
    CHECK(!code && !memcmp(z.fill, bytes, (size_t)weir_type_bytes(type)));
    check_again(&z);
    /* The same by version 2, but for bits of not-a-number. */
    z.version = 2;
    z.what.format = WEIR_ZARR2;
    z.prefixed = false;
    if (!strstr(text, "0x"))
        check_again(&z);
    wr_zarr_release(&z);
}

static void test_integer_fills(void)
{
    fills(WEIR_BOOL, "true", &(bool){true});
    fills(WEIR_BOOL, "0", &(bool){false});
    fills(WEIR_BOOL, "2", NULL);
    fills(WEIR_BOOL, "\"true\"", NULL);
    fills(WEIR_I1, "-128", &(int8_t){-128});
    fills(WEIR_I1, "-129", NULL);
    fills(WEIR_I1, "128", NULL);
    fills(WEIR_U1, "255", &(uint8_t){255});
    fills(WEIR_U1, "256", NULL);
    fills(WEIR_U1, "-1", NULL);
    fills(WEIR_U1, "-0", &(uint8_t){0});
    fills(WEIR_I2, "-32768", &(int16_t){-32768});
    fills(WEIR_U4, "4294967295", &(uint32_t){4294967295});
    fills(WEIR_I8, "9007199254740993", &(int64_t){9007199254740993});
    fills(WEIR_I8, "-9223372036854775808", &(int64_t){INT64_MIN});
    fills(WEIR_I8, "9223372036854775808", NULL);
    fills(WEIR_U8, "18446744073709551615", &(uint64_t){UINT64_MAX});
    fills(WEIR_U8, "18446744073709551616", NULL);
    fills(WEIR_I4, "1.20e2", &(int32_t){120});
    fills(WEIR_I4, "1.5", NULL);
    fills(WEIR_I8, "1e19", NULL);
    fills(WEIR_I4, "true", NULL);
    fills(WEIR_I4, "NaN", NULL);
    fills(WEIR_I4, "null", NULL);
    fills(WEIR_I4, "\"0x10\"", NULL);
    fills(WEIR_I4, "[1]", NULL);
}

static void test_float_fills(void)
{
    fills(WEIR_F8, "0.1", &(double){0.1});
    fills(WEIR_F8, "-0.0", &(double){-0.0});
    fills(WEIR_F8, "5e-324", &(double){5e-324});
    fills(WEIR_F8, "1.7976931348623157e308", &(double){1.7976931348623157e308});
    fills(WEIR_F8, "1e309", NULL);
    fills(WEIR_F8, "true", NULL);
    fills(WEIR_F8, "\"1.0\"", NULL);
    fills(WEIR_F8, "\"Infinity\"", &(double){INFINITY});
    fills(WEIR_F8, "-Infinity", &(double){-INFINITY});
    fills(WEIR_F8, "\"NaN\"", &(uint64_t){0x7ff8000000000000});
    fills(WEIR_F8, "NaN", &(uint64_t){0x7ff8000000000000});
    fills(WEIR_F8, "\"0xfff8000000000001\"", &(uint64_t){0xfff8000000000001});
    fills(WEIR_F8, "\"0x7ff80000000000001\"", NULL);
    fills(WEIR_F4, "9.969209968386869e+36", &(float){9.969209968386869e+36f});
    fills(WEIR_F4, "3.4028235e38", &(float){3.4028235e38f});
    fills(WEIR_F4, "3.5e38", NULL);
    fills(WEIR_F4, "\"0x7fc00000\"", &(uint32_t){0x7fc00000});
    fills(WEIR_F4, "\"0x7FC00001\"", &(uint32_t){0x7fc00001});
    fills(WEIR_F4, "\"0x\"", NULL);
    fills(WEIR_F4, "\"0x7g\"", NULL);
    fills(WEIR_F4, "\"-NaN\"", NULL);
    fills(WEIR_F2, "1", &(uint16_t){0x3c00});
    fills(WEIR_F2, "-1.5", &(uint16_t){0xbe00});
    fills(WEIR_F2, "65504", &(uint16_t){0x7bff});
    fills(WEIR_F2, "65519.99", &(uint16_t){0x7bff});
    fills(WEIR_F2, "65520", NULL);
    fills(WEIR_F2, "1e300", NULL);
    fills(WEIR_F2, "5.9604644775390625e-08", &(uint16_t){0x0001});
    fills(WEIR_F2, "2.9802322387695312e-08", &(uint16_t){0x0000});
    fills(WEIR_F2, "6.103515625e-05", &(uint16_t){0x0400});
    fills(WEIR_F2, "6.1e-05", &(uint16_t){0x03ff});
    fills(WEIR_F2, "1.00048828125", &(uint16_t){0x3c00});
    fills(WEIR_F2, "1.00146484375", &(uint16_t){0x3c02});
    fills(WEIR_F2, "\"-Infinity\"", &(uint16_t){0xfc00});
    fills(WEIR_F2, "\"NaN\"", &(uint16_t){0x7e00});
    fills(WEIR_C8, "[1, \"-Infinity\"]", (float[]){1, -INFINITY});
    fills(WEIR_C8, "[\"0x7fc00001\", -0.0]", (uint32_t[]){0x7fc00001, 0x80000000});
    fills(WEIR_C16, "[0.1, 2.5]", (double[]){0.1, 2.5});
    fills(WEIR_C16, "[0.1]", NULL);
    fills(WEIR_C16, "[0.1, 2, 3]", NULL);
    fills(WEIR_C16, "0.1", NULL);
    fills(WEIR_C16, "[true, 1]", NULL);
    char digits[512];
    snprintf(digits, sizeof digits, "0.%0300d1", 0);
    fills(WEIR_F8, digits, &(double){1e-301});
    snprintf(digits, sizeof digits, "0.%0450d1", 0);
    fills(WEIR_F8, digits, NULL);
}

static void test_codecs(void)
{
    wr_zarr z = zarr_text_accepted(
        3, "codecs",
        "[" TRANSPOSE ", " BIG ", " GZIP
        ", {\"name\": \"zstd\", \"configuration\": {\"level\": -5, \"checksum\": true}}, "
        "{\"name\": \"crc32c\", \"must_understand\": true}, \"crc32c\", " BLOSC(
            "\"cname\": \"lz4hc\", \"clevel\": 3, \"shuffle\": \"bitshuffle\", "
            "\"typesize\": 4, \"blocksize\": 512") "]");
    const wr_tiling *t = &z.what.tiling;
    const wr_codec *c = t->codecs.codec;
    CHECK(t->levels == 1 && t->order[0] == 1 && t->order[1] == 0 && z.what.swapped == LITTLE);
    CHECK(t->codecs.count == 5 && c[0].kind == WR_CODEC_GZIP && c[0].level == 7);
    CHECK(c[1].kind == WR_CODEC_ZSTD && c[1].level == -5 && c[1].checksum == 1);
    CHECK(c[2].kind == WR_CODEC_CRC32C && c[3].kind == WR_CODEC_CRC32C);
    CHECK(c[4].kind == WR_CODEC_BLOSC && c[4].inner == WR_BLOSC_LZ4HC && c[4].level == 3);
    CHECK(c[4].shuffle == 2 && c[4].element == 4 && c[4].block == 512);
    check_again(&z);
    wr_zarr_release(&z);
    z = zarr_text_accepted(3, "codecs", "[" BYTES ", {\"name\": \"blosc\"}]");
    CHECK(c[0].inner == WR_BLOSC_LZ4 && c[0].shuffle == 1 && c[0].element == 8);
    wr_zarr_release(&z);
    z = zarr_text_accepted(3, "codecs", "[" TRANSPOSE ", " TRANSPOSE ", " BYTES "]");
    CHECK(t->order[0] == 0 && t->order[1] == 1);
    wr_zarr_release(&z);
}

static void test_shards(void)
{
    wr_zarr z = zarr_text_accepted(3, "codecs", "[" SHARDS "]");
    const wr_tiling *t = &z.what.tiling;
    CHECK(t->levels == 2 && t->shard[0] == 4 && t->shard[1] == 8 && t->tile[0] == 2);
    CHECK(t->tile[1] == 4 && t->tile_bytes == 64 && t->shard_bytes == 256 && t->shards == 9);
    CHECK(!z.index_first && z.index_summed && z.index_swapped != LITTLE);
    check_again(&z);
    wr_zarr_release(&z);
    z = zarr_text_accepted(3, "codecs",
                           "[" SHARDS_OF("[4, 1]", "[" TRANSPOSE ", " BIG ", " GZIP "]",
                                         "[" BIG "]", ", \"index_location\": \"start\"") "]");
    CHECK(t->order[0] == 1 && t->codecs.count == 1 && z.what.swapped == LITTLE);
    CHECK(z.index_first && !z.index_summed && z.index_swapped == LITTLE);
    check_again(&z);
    wr_zarr_release(&z);
    accepted_twice(3, "codecs", "[" TRANSPOSE ", " TRANSPOSE ", " SHARDS "]");
}

static void test_names(void)
{
    wr_zarr z = zarr_text_accepted(3, "chunk_key_encoding", "\"v2\"");
    CHECK(!z.prefixed && z.separator == '.');
    check_again(&z);
    wr_zarr_release(&z);
    z = zarr_text_accepted(3, "chunk_key_encoding",
                           "{\"name\": \"v2\", \"configuration\": {\"separator\": \"\\u002f\"}}");
    CHECK(!z.prefixed && z.separator == '/');
    check_again(&z);
    wr_zarr_release(&z);
    z = zarr_text_accepted(3, "chunk_key_encoding",
                           "{\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}");
    CHECK(z.prefixed && z.separator == '.');
    check_again(&z);
    wr_zarr_release(&z);
    z = zarr_text_accepted(3, "dimension_names", "[\"x\", null]");
    CHECK(!strcmp(z.names, "[\"x\", null]"));
    check_again(&z);
    wr_zarr_release(&z);
    static const char attributes[] =
        "{\"large\": 9007199254740993, \"deep\": {\"a\": [NaN, -1.50e+3]},\n \"\\u0000\": \"\\n\"}";
    z = zarr_text_accepted(3, "attributes", attributes);
    CHECK(!strcmp(z.attributes, attributes));
    check_again(&z);
    wr_zarr_release(&z);
    accepted_twice(3, "storage_transformers", "[]");
    accepted_twice(3, "shape", "[0, 9223372036854]");
    accepted_twice(3, "shape", "[1, 2]");
    z = zarr_text_accepted(2, "dimension_separator", "\"/\"");
    CHECK(z.separator == '/');
    check_again(&z);
    wr_zarr_release(&z);
}

static void test_version_2(void)
{
    wr_zarr z = zarr_text_accepted(2, "order", "\"F\"");
    const wr_codec *c = z.what.tiling.codecs.codec;
    CHECK(z.what.tiling.order[0] == 1 && z.what.tiling.order[1] == 0);
    check_again(&z);
    wr_zarr_release(&z);
    static const char blosc[] = "{\"id\": \"blosc\", \"cname\": \"zstd\", \"clevel\": 3, "
                                "\"shuffle\": -1, \"blocksize\": 0}";
    z = zarr_text_accepted(2, "compressor", blosc);
    CHECK(c[0].kind == WR_CODEC_BLOSC && c[0].inner == WR_BLOSC_ZSTD && c[0].level == 3);
    CHECK(c[0].shuffle == 1 && c[0].element == 8);
    check_again(&z);
    wr_zarr_release(&z);
    char text[ROOM];
    zarr_text_make(2, "compressor", blosc, text);
    int64_t length = zarr_text_change(text, "<f8", "|u1");
    CHECK(!wr_zarr_parse(2, text, length, &z));
    CHECK(c[0].shuffle == 2 && c[0].element == 1);
    wr_zarr_release(&z);
    z = zarr_text_accepted(2, "compressor", "{\"id\": \"zlib\", \"level\": -1}");
    CHECK(c[0].kind == WR_CODEC_ZLIB && c[0].level == 6);
    check_again(&z);
    wr_zarr_release(&z);
    accepted_twice(2, "compressor", "{\"id\": \"gzip\", \"level\": 9}");
    accepted_twice(2, "compressor", "{\"id\": \"zstd\", \"level\": 22, \"checksum\": true}");
    accepted_twice(2, "filters", "[]");
    z = zarr_text_accepted(2, "filters",
                           "[{\"id\": \"shuffle\", \"elementsize\": 8}, {\"id\": \"shuffle\"}]");
    CHECK(c[0].kind == WR_CODEC_SHUFFLE && c[0].element == 8 && c[1].element == 4);
    check_again(&z);
    wr_zarr_release(&z);
    z = zarr_text_accepted(2, "shape", "[0, 20]");
    CHECK(!z.what.bytes && z.what.tiling.shards == 3);
    check_again(&z);
    wr_zarr_release(&z);
    accepted_twice(2, "unknown", "[]");
}

static void test_deep(void)
{
    char value[ROOM];
    int used = snprintf(value, sizeof value, "{\"a\": ");
    memset(value + used, '[', 498);
    memset(value + used + 498, ']', 498);
    snprintf(value + used + 996, sizeof value - (size_t)used - 996, "}");
    accepted_twice(3, "attributes", value);
}

/* The text that other programs are known to read. */
static void test_print(void)
{
    static const char wanted[] = "{\n"
                                 "  \"zarr_format\": 3,\n"
                                 "  \"node_type\": \"array\",\n"
                                 "  \"shape\": [10, 20],\n"
                                 "  \"data_type\": \"float64\",\n"
                                 "  \"chunk_grid\": {\n"
                                 "    \"name\": \"regular\",\n"
                                 "    \"configuration\": {\"chunk_shape\": [4, 8]}\n"
                                 "  },\n"
                                 "  \"chunk_key_encoding\": {\n"
                                 "    \"name\": \"default\",\n"
                                 "    \"configuration\": {\"separator\": \"/\"}\n"
                                 "  },\n"
                                 "  \"fill_value\": 0.0,\n"
                                 "  \"codecs\": [\n"
                                 "    " BYTES "\n"
                                 "  ],\n"
                                 "  \"attributes\": {}\n"
                                 "}\n";
    wr_zarr z = zarr_text_accepted(3, "", NULL);
    char *text;
    int64_t length;
    CHECK(!wr_zarr_print(&z, &text, &length));
    CHECK(!strcmp(text, wanted));
    wr_free(text);
    wr_zarr_release(&z);
}

static wr_codec random_codec(rng *r, int kind, int64_t element)
{
    wr_codec c = {.kind = kind};
    if (kind == WR_CODEC_ZSTD)
        c.level = (int)rng_within(r, -131072, 22);
    else if (kind == WR_CODEC_GZIP || kind == WR_CODEC_ZLIB || kind == WR_CODEC_BLOSC)
        c.level = (int)rng_within(r, 0, 9);
    c.checksum = kind == WR_CODEC_ZSTD && rng_chance(r, 50);
    if (kind == WR_CODEC_BLOSC) {
        c.element = (int)element;
        c.shuffle = (int)rng_within(r, 0, 2);
        c.inner = (int)rng_within(r, WR_BLOSC_LZ, WR_BLOSC_ZSTD);
        c.block = rng_within(r, 0, INT32_MAX);
    }
    if (kind == WR_CODEC_SHUFFLE)
        c.element = (int)rng_within(r, 1, 300);
    return c;
}

static void random_codecs(rng *r, const wr_zarr *z, wr_codecs *out)
{
    static const int known[] = {WR_CODEC_GZIP, WR_CODEC_ZSTD, WR_CODEC_BLOSC, WR_CODEC_CRC32C};
    static const int compressors[] = {WR_CODEC_GZIP, WR_CODEC_ZSTD, WR_CODEC_BLOSC, WR_CODEC_ZLIB};
    const int64_t element = weir_type_bytes(z->what.type);
    int count = (int)rng_within(r, 0, z->version == 3 ? WR_CODECS : WR_CODECS - 1);
    for (int i = 0; i < count; i++)
        out->codec[i] = z->version == 3
                            ? random_codec(r, known[rng_within(r, 0, 3)], rng_within(r, 1, 255))
                            : random_codec(r, WR_CODEC_SHUFFLE, 0);
    if (z->version == 2 && rng_chance(r, 70))
        out->codec[count++] = random_codec(r, compressors[rng_within(r, 0, 3)], element);
    out->count = count;
}

static void random_tiles(rng *r, wr_zarr *z)
{
    wr_description *d = &z->what;
    wr_tiling *t = &d->tiling;
    const bool columns = rng_chance(r, 50);
    t->levels = z->version == 3 && rng_chance(r, 50) ? 2 : 1;
    for (int i = 0; i < d->dimensions; i++) {
        d->shape[i] = rng_chance(r, 10) ? 0 : rng_within(r, 1, 12);
        t->tile[i] = rng_within(r, 1, 3);
        t->shard[i] = t->tile[i] * rng_within(r, 1, 3);
        t->order[i] = columns ? d->dimensions - 1 - i : i;
    }
    for (int i = 1; z->version == 3 && i < d->dimensions; i++) {
        int j = (int)rng_within(r, 0, i), kept = t->order[i];
        t->order[i] = t->order[j];
        t->order[j] = kept;
    }
    if (t->levels == 2) {
        z->index_first = rng_chance(r, 50);
        z->index_summed = rng_chance(r, 50);
        z->index_swapped = rng_chance(r, 50);
    }
}

/* Bits of any kind, but in version 2 no numbers that it cannot write. */
static void random_fill(rng *r, wr_zarr *z)
{
    const int type = z->what.type;
    z->filled = z->version == 3 || rng_chance(r, 80);
    for (int64_t i = 0; z->filled && i < weir_type_bytes(type); i++)
        z->fill[i] = (char)(type == WEIR_BOOL ? rng_next(r) & 1 : rng_next(r));
    if (z->version == 3 || type < WEIR_F2)
        return;
    for (int64_t i = 0; i < weir_type_bytes(type); i += 2)
        z->fill[i + LITTLE] &= 0x3f; /* the highest bit of exponents */
}

static void test_random(void)
{
    rng r = {test_seed()};
    char attributes[] = "{\"a\": 1}", names[] = "[null, \"x\"]";
    int64_t cases = test_cases(3000, 100000);
    for (int64_t n = 0; n < cases; n++) {
        check_case(n);
        wr_zarr z = {.version = (int)rng_within(&r, 2, 3)};
        const bool v3 = z.version == 3;
        z.what.format = v3 ? WEIR_ZARR : WEIR_ZARR2;
        z.what.type = (int)rng_within(&r, WEIR_BOOL, WEIR_C16);
        z.what.dimensions = (int)rng_within(&r, 0, rng_chance(&r, 10) ? WR_DIMENSIONS : 4);
        z.what.swapped = weir_type_bytes(z.what.type) > 1 && rng_chance(&r, 50);
        z.separator = rng_chance(&r, 50) ? '/' : '.';
        z.prefixed = v3 && rng_chance(&r, 50);
        z.attributes = v3 && rng_chance(&r, 50) ? attributes : NULL;
        z.names = v3 && z.what.dimensions == 2 && rng_chance(&r, 50) ? names : NULL;
        random_tiles(&r, &z);
        random_codecs(&r, &z, &z.what.tiling.codecs);
        random_fill(&r, &z);
        if (!wr_description_settle(&z.what))
            check_again(&z);
    }
}

static void test_allocations_fail(void)
{
    char text[ROOM], *printed;
    zarr_text_make(3, "dimension_names", "[null, null]", text);
    int64_t length = zarr_text_change(text, "{}", "{\"a\": 1}"), printed_length;
    wr_zarr z;
    int code = WEIR_ENOMEM, failed = 0;
    for (int k = 0; code; k++, failed++) {
        wr_alloc_fail_after(k);
        code = wr_zarr_parse(3, text, length, &z);
        wr_alloc_fail_after(-1);
        CHECK(code == 0 || (code == WEIR_ENOMEM && weir_error_last()->code == code));
        CHECK(!code || (!z.attributes && !z.names));
    }
    CHECK(failed == 3 && z.attributes && z.names);
    code = WEIR_ENOMEM;
    for (int k = 0; code; k++) {
        wr_alloc_fail_after(k);
        code = wr_zarr_print(&z, &printed, &printed_length);
        wr_alloc_fail_after(-1);
        CHECK(code == 0 || (code == WEIR_ENOMEM && weir_error_last()->code == code));
    }
    wr_free(printed);
    wr_zarr_release(&z);
}

int main(void)
{
    test_sound();
    test_types();
    test_integer_fills();
    test_float_fills();
    test_codecs();
    test_shards();
    test_names();
    test_version_2();
    test_deep();
    test_print();
    test_random();
    test_allocations_fail();
    return 0;
}
