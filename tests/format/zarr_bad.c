/* Metadata of Zarr arrays that is refused, each case for its reason. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check.h"
#include "format/zarr_text.h"

typedef struct bad {
    const char *key, *value;
    int code;
    const char *what;
} bad;

static void refused(int version, const bad *cases, int count)
{
    char text[ROOM];
    for (int i = 0; i < count; i++) {
        check_case(i);
        int64_t length = zarr_text_make(version, cases[i].key, cases[i].value, text);
        zarr_text_refused(version, text, length, cases[i].code, cases[i].what);
    }
}

static void test_refused_3(void)
{
    enum { F = WEIR_EFORMAT, U = WEIR_EUNSUPPORTED };
    static const bad cases[] = {
        {"zarr_format", "2", F, "\"zarr_format\" is not 3"},
        {"zarr_format", "\"3\"", F, "\"zarr_format\" is not a number"},
        {"zarr_format", NULL, F, "\"zarr_format\" is missing"},
        {"node_type", "\"group\"", F, "a group"},
        {"node_type", "\"file\"", F, "\"node_type\""},
        {"shape", NULL, F, "\"shape\" is missing"},
        {"shape", "[10], \"shape\": [10, 20]", F, "\"shape\" stands there twice"},
        {"shape", "[10, -1]", F, "\"shape\" has something other"},
        {"shape", "[10, 1.5]", F, "\"shape\" has something other"},
        {"shape", "[10, \"20\"]", F, "\"shape\" has something other"},
        {"shape", "[10, [20]]", F, "\"shape\" has something other"},
        {"shape", "[10, NaN]", F, "\"shape\" has something other"},
        {"shape", "[10, 9223372036854775808]", F, "\"shape\" has something other"},
        {"shape", "[10, 9223372036854775807]", F, "too many elements"},
        {"shape", "[10]", F, "\"chunk_shape\" has 2 dimensions, \"shape\" 1"},
        {"shape", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", U, "more than 16 dimensions"},
        {"data_type", "\"r16\"", U, "data_type \"r16\""},
        {"data_type", "\"float64\\u0000\"", U, "data_type \"float64?\""},
        {"data_type", "{\"name\": \"int8\", \"configuration\": {\"a\": 1}}", U, "\"int8\""},
        {"data_type", "8", F, "\"data_type\" is not an object or a string"},
        {"data_type", "{}", F, "data_type: \"name\" is missing"},
        {"data_type", "\"complex64\"", F, "\"fill_value\" 0 is no c8"},
        {"chunk_grid", "\"rectilinear\"", U, "chunk_grid \"rectilinear\""},
        {"chunk_grid", "\"regular\"", F, "\"chunk_shape\" is missing"},
        {"chunk_grid", "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [4, 0]}}", F,
         "\"chunk_shape\" has something other"},
        {"chunk_grid",
         "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [65536, 65536]}}", F,
         "bytes in all"},
        {"chunk_key_encoding", "\"flat\"", U, "chunk_key_encoding \"flat\""},
        {"chunk_key_encoding", "{\"name\": \"v2\", \"configuration\": {\"separator\": \"-\"}}", F,
         "\"separator\" is neither"},
        {"chunk_key_encoding", "{\"name\": \"v2\", \"configuration\": {\"prefix\": \"-\"}}", U,
         "\"prefix\" is not known"},
        {"chunk_key_encoding", "{\"name\": \"v2\", \"more\": 1}", U, "\"more\" is not known"},
        {"fill_value", NULL, F, "\"fill_value\" is missing"},
        {"attributes", "[]", F, "\"attributes\" is not an object"},
        {"dimension_names", "[\"x\"]", F, "\"dimension_names\" has 1 names for 2"},
        {"dimension_names", "[\"x\", 1]", F, "\"dimension_names\" has something other"},
        {"dimension_names", "{}", F, "\"dimension_names\" is not a list or null"},
        {"storage_transformers", "[{\"name\": \"x\"}]", U, "\"storage_transformers\""},
        {"extension", "1", U, "\"extension\" is not known"},
        {"extension", "{}", U, "\"extension\" is not known"},
        {"extension", "{\"must_understand\": true}", U, "\"extension\" is not known"},
        {"extension", "{\"must_understand\": 0}", U, "\"extension\" is not known"},
    };
    refused(3, cases, sizeof cases / sizeof *cases);
}

static void test_refused_codecs(void)
{
    enum { F = WEIR_EFORMAT, U = WEIR_EUNSUPPORTED };
    static const char key[] = "codecs";
    static const bad cases[] = {
        {key, "[]", F, "\"codecs\" has no bytes"},
        {key, "\"bytes\"", F, "\"codecs\" is not a list"},
        {key, "[1]", F, "codec: neither a name nor an object"},
        {key, "[\"bytes\"]", F, "bytes: \"endian\" is missing"},
        {key, "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"middle\"}}]", F,
         "bytes: \"endian\" is neither"},
        {key, "[{\"configuration\": {}}]", F, "codec: \"name\" is missing"},
        {key, "[{\"name\": \"bytes\", \"configuration\": []}]", F, "\"configuration\" is not an"},
        {key, "[" BYTES ", " BYTES "]", F, "codec \"bytes\" after bytes"},
        {key, "[" BYTES ", " TRANSPOSE "]", F, "codec \"transpose\" after bytes"},
        {key, "[" GZIP ", " BYTES "]", F, "codec \"gzip\" before bytes"},
        {key, "[" BYTES ", {\"name\": \"lzma\", \"must_understand\": false}]", U, "\"lzma\""},
        {key, "[" BYTES ", \"zlib\"]", U, "codec \"zlib\" is not known"},
        {key, "[" BYTES ", \"shuffle\"]", U, "codec \"shuffle\" is not known"},
        {key, "[" BYTES ", {\"name\": \"gzip\", \"configuration\": {\"level\": 10}}]", F,
         "gzip: \"level\" is not a number of"},
        {key, "[" BYTES ", {\"name\": \"gzip\", \"configuration\": {\"level\": \"1\"}}]", F,
         "gzip: \"level\" is not a number"},
        {key, "[" BYTES ", {\"name\": \"gzip\", \"configuration\": {\"cname\": \"lz4\"}}]", U,
         "gzip: \"cname\" is not known"},
        {key, "[" BYTES ", {\"name\": \"zstd\", \"configuration\": {\"window\": 1}}]", U,
         "zstd: \"window\" is not known"},
        {key, "[" BYTES ", {\"name\": \"zstd\", \"configuration\": {\"checksum\": 1}}]", F,
         "zstd: \"checksum\" is not true or false"},
        {key, "[" BYTES ", " BLOSC("\"cname\": \"lzo\"") "]", U, "blosc: \"cname\" lzo"},
        {key, "[" BYTES ", " BLOSC("\"shuffle\": 1") "]", F, "blosc: \"shuffle\" is not one of"},
        {key, "[" BYTES ", " BLOSC("\"shuffle\": \"?\"") "]", F, "blosc: \"shuffle\" is not one"},
        {key, "[" BYTES ", " BLOSC("\"typesize\": 256") "]", F, "blosc: \"typesize\" is not"},
        {key, "[" BYTES ", " BLOSC("\"clevel\": -1") "]", F, "blosc: \"clevel\" is not"},
        {key, "[" BYTES ", " BLOSC("\"blocksize\": 4294967296") "]", F, "\"blocksize\" is not"},
        {key, "[{\"name\": \"transpose\", \"configuration\": {\"order\": \"F\"}}, " BYTES "]", F,
         "transpose: \"order\" is not a list"},
        {key, "[{\"name\": \"transpose\", \"configuration\": {\"order\": [0]}}, " BYTES "]", F,
         "transpose: \"order\" does not have each of 2"},
        {key, "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 1]}}, " BYTES "]", F,
         "transpose: \"order\" does not have each"},
        {key, "[{\"name\": \"transpose\", \"configuration\": {\"order\": [0, 4294967297]}}]", F,
         "transpose: \"order\" does not have each"},
        {key,
         "[" BYTES ", \"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\","
         "\"crc32c\", \"crc32c\", \"crc32c\"]",
         U, "more than 8 codecs"},
        {key, "[" SHARDS ", " GZIP "]", U, "codec \"gzip\" after sharding_indexed"},
        {key, "[" SHARDS ", " SHARDS "]", U, "after sharding_indexed"},
        {key, "[" BYTES ", " SHARDS "]", F, "codec \"sharding_indexed\" after bytes"},
        {key, "[" GZIP ", " SHARDS "]", F, "codec \"gzip\" before bytes"},
        {key, "[" TRANSPOSE ", " SHARDS "]", U, "transpose before sharding_indexed"},
        {key, "[" SHARDS_OF("[2, 4]", "[" SHARDS "]", "[" BYTES "]", "") "]", U,
         "sharding_indexed inside of sharding_indexed"},
        {key, "[\"sharding_indexed\"]", F, "sharding_indexed: \"chunk_shape\" is missing"},
        {key, "[" SHARDS_OF("[2, 3]", "[" BYTES "]", "[" BYTES "]", "") "]", F, "a shard of 8"},
        {key, "[" SHARDS_OF("[2]", "[" BYTES "]", "[" BYTES "]", "") "]", F,
         "\"chunk_shape\" has 1 dimensions, not 2"},
        {key, "[" SHARDS_OF("[2, 0]", "[" BYTES "]", "[" BYTES "]", "") "]", F,
         "\"chunk_shape\" has something other"},
        {key, "[" SHARDS_OF("[2, 4]", "[]", "[" BYTES "]", "") "]", F, "has no bytes"},
        {key, "[" SHARDS_OF("[2, 4]", "[" BYTES "]", "[]", "") "]", F,
         "index_codecs: \"bytes\" is missing"},
        {key, "[" SHARDS_OF("[2, 4]", "[" BYTES "]", "[" BYTES ", " GZIP "]", "") "]", U,
         "index_codecs: \"gzip\""},
        {key, "[" SHARDS_OF("[2, 4]", "[" BYTES "]", "[\"crc32c\"]", "") "]", U, "index_codecs"},
        {key, "[" SHARDS_OF("[2, 4]", "[" BYTES "]", "[\"bytes\"]", "") "]", F,
         "index_codecs: \"endian\" is missing"},
        {key,
         "[" SHARDS_OF("[2, 4]", "[" BYTES "]", "[" BYTES "]", ", \"index_location\": \"0\"") "]",
         F, "\"index_location\" is neither"},
    };
    refused(3, cases, sizeof cases / sizeof *cases);
}

static void test_refused_2(void)
{
    enum { F = WEIR_EFORMAT, U = WEIR_EUNSUPPORTED };
    static const bad cases[] = {
        {"zarr_format", "3", F, "\"zarr_format\" is not 2"},
        {"zarr_format", NULL, F, "\"zarr_format\" is missing"},
        {"chunks", "[4]", F, "\"chunks\" has 1 dimensions, \"shape\" 2"},
        {"chunks", "[4, 0]", F, "bytes in all"},
        {"chunks", "null", F, "\"chunks\" is not a list"},
        {"dtype", "[[\"a\", \"<f8\"]]", U, "has parts"},
        {"dtype", "\"|S4\"", U, "\"dtype\" |S4"},
        {"dtype", "\"<M8[ns]\"", U, "\"dtype\" <M8[ns]"},
        {"dtype", "\"|O\"", U, "\"dtype\" |O"},
        {"dtype", "\"f8\"", U, "\"dtype\" f8"},
        {"dtype", "\"<<f8\"", U, "\"dtype\" <<f8"},
        {"dtype", "\"|bool\"", U, "\"dtype\" |bool"},
        {"dtype", "\"<\"", U, "\"dtype\" <"},
        {"dtype", "\"\"", U, "\"dtype\""},
        {"dtype", "\"|f8\"", F, "has no byte order"},
        {"compressor", "{\"id\": \"lzma\"}", U, "compressor \"lzma\""},
        {"compressor", "{\"id\": \"crc32c\"}", U, "compressor \"crc32c\""},
        {"compressor", "{\"level\": 1}", F, "compressor: \"id\" is missing"},
        {"compressor", "{\"id\": \"zlib\", \"level\": -2}", F, "zlib: \"level\""},
        {"compressor", "{\"id\": \"blosc\", \"shuffle\": 3}", F, "blosc: \"shuffle\" is not one"},
        {"compressor", "{\"id\": \"blosc\", \"shuffle\": \"shuffle\"}", F, "blosc: \"shuffle\""},
        {"compressor", "\"zlib\"", F, "\"compressor\" is not an object or null"},
        {"filters", "[{\"id\": \"delta\", \"dtype\": \"<f8\"}]", U, "filter \"delta\""},
        {"filters", "[{\"id\": \"zlib\"}]", U, "filter \"zlib\""},
        {"filters", "[1]", F, "\"filters\" has something other"},
        {"filters", "[{\"id\": \"shuffle\", \"elementsize\": 0}]", F, "shuffle: \"elementsize\""},
        {"order", "\"A\"", F, "\"order\" is neither"},
        {"dimension_separator", "\"-\"", F, "\"dimension_separator\" is neither"},
        {"fill_value", "\"\"", F, "\"fill_value\""},
    };
    refused(2, cases, sizeof cases / sizeof *cases);
}

static void test_malformed(void)
{
    static const char *const texts[] = {
        "",      "{",      "{}}",       "{\"a\"}",  "{\"a\":}",      "{\"a\":1,}",    "{a:1}",
        "[1,]",  "[01]",   "[1.]",      "[.5]",     "[+1]",          "[1e]",          "[-]",
        "[nul]", "[True]", "[\"\\x\"]", "[\"\t\"]", "[\"a]",         "[\"\\u12g0\"]", "[1 2]",
        "{} {}", "[-NaN]", "[\"\\u12",  "[\"\\",    "\xef\xbb\xbf{}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        zarr_text_refused(3, texts[i], (int64_t)strlen(texts[i]), WEIR_EFORMAT,
                          "malformed JSON at byte");
    zarr_text_refused(2, "{\"a\" 1}", 7, WEIR_EFORMAT, "malformed JSON at byte 5");
    zarr_text_refused(3, "[]", 2, WEIR_EFORMAT, "not a JSON object");
    zarr_text_refused(3, "1", 1, WEIR_EFORMAT, "not a JSON object");
    zarr_text_refused(3, "{}\0", 3, WEIR_EFORMAT, "malformed JSON at byte 2");
    char text[ROOM];
    int64_t length = zarr_text_make(3, "codecs", "[" SHARDS "]", text);
    for (int64_t cut = 0; cut < length - 2; cut++)
        zarr_text_refused(3, text, cut, WEIR_EFORMAT, "malformed JSON");
    wr_zarr z;
    CHECK_FAILS(wr_zarr_parse(4, text, length, &z), WEIR_EINVAL, "version 4");
    char *blank = malloc(WR_ZARR_LONGEST + 1);
    CHECK_FAILS(wr_zarr_parse(3, blank, WR_ZARR_LONGEST + 1, &z), WEIR_EFORMAT, "at most 67108864");
    free(blank);
}

static void test_too_deep(void)
{
    enum { DEEP = 100000 };
    char *deep = malloc(DEEP);
    memset(deep, '[', DEEP);
    zarr_text_refused(3, deep, DEEP, WEIR_EFORMAT, "malformed JSON at byte 50");
    free(deep);
}

static void print_fails(const wr_zarr *z, int code, const char *what)
{
    char *text;
    int64_t length;
    CHECK_FAILS(wr_zarr_print(z, &text, &length), code, what);
}

static void test_print_refused_3(void)
{
    char list[] = "[1]", broken[] = "{", one[] = "[\"x\"]";
    wr_zarr z = zarr_text_accepted(3, "", NULL), odd = z;
    odd.version = 4;
    print_fails(&odd, WEIR_EINVAL, "version 4");
    odd = z;
    odd.separator = '-';
    print_fails(&odd, WEIR_EINVAL, "character 45");
    odd = z;
    odd.what.tiling.levels = 0;
    print_fails(&odd, WEIR_EINVAL, "not in tiles");
    odd = z;
    odd.what.columns = true;
    print_fails(&odd, WEIR_EINVAL, "not in tiles");
    odd = z;
    odd.what.tiling.order[0] = 1;
    print_fails(&odd, WEIR_EINVAL, "each dimension once");
    odd = z;
    odd.what.tiling.tile[0] = 0;
    print_fails(&odd, WEIR_ERANGE, "bytes in all");
    odd = z;
    odd.attributes = list;
    print_fails(&odd, WEIR_EINVAL, "no JSON of their kind");
    odd.attributes = broken;
    print_fails(&odd, WEIR_EINVAL, "no JSON of their kind");
    odd.attributes = NULL;
    odd.names = list;
    print_fails(&odd, WEIR_EINVAL, "not one for each");
    odd.names = one;
    print_fails(&odd, WEIR_EINVAL, "not one for each");
    static const struct {
        wr_codec codec;
        int code;
        const char *what;
    } cases[] = {
        {{.kind = WR_CODEC_ZLIB}, WEIR_EUNSUPPORTED, "zlib is no codec of Zarr version 3"},
        {{.kind = WR_CODEC_SHUFFLE, .element = 4}, WEIR_EUNSUPPORTED, "shuffle is no codec"},
        {{.kind = WR_CODEC_FLETCHER32}, WEIR_EUNSUPPORTED, "fletcher32 is no codec"},
        {{.kind = WR_CODEC_GZIP, .level = -1}, WEIR_EINVAL, "gzip has levels from 0 to 9"},
        {{.kind = WR_CODEC_BLOSC, .inner = 6, .element = 1}, WEIR_EINVAL, "no compressor 6"},
        {{.kind = WR_CODEC_BLOSC, .shuffle = 3, .element = 1}, WEIR_EINVAL, "no shuffle 3"},
        {{.kind = WR_CODEC_BLOSC}, WEIR_EINVAL, "elements of 1 to 255 bytes, not 0"},
        {{.kind = WR_CODEC_BLOSC, .element = 1, .block = -1}, WEIR_EINVAL, "blocks of -1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        odd = z;
        odd.what.tiling.codecs = (wr_codecs){.count = 1, .codec = {cases[i].codec}};
        print_fails(&odd, cases[i].code, cases[i].what);
    }
    odd.what.tiling.codecs.count = WR_CODECS + 1;
    print_fails(&odd, WEIR_EINVAL, "9 codecs");
    wr_zarr_release(&z);
}

static void test_print_refused_2(void)
{
    wr_zarr z = zarr_text_accepted(2, "shape", "[10, 20]"), odd = z;
    odd.what.tiling.levels = 2;
    print_fails(&odd, WEIR_EUNSUPPORTED, "shards in Zarr version 2");
    odd = z;
    odd.prefixed = true;
    print_fails(&odd, WEIR_EUNSUPPORTED, "names that begin with c");
    odd = z;
    odd.what.tiling.codecs = (wr_codecs){.count = 1, .codec = {{.kind = WR_CODEC_CRC32C}}};
    print_fails(&odd, WEIR_EUNSUPPORTED, "crc32c is no compressor of Zarr version 2");
    odd.what.tiling.codecs =
        (wr_codecs){.count = 2, .codec = {{.kind = WR_CODEC_ZLIB}, {.kind = WR_CODEC_CRC32C}}};
    print_fails(&odd, WEIR_EUNSUPPORTED, "codecs after the compressor");
    odd.what.tiling.codecs = (wr_codecs){.count = 1, .codec = {{.kind = WR_CODEC_SHUFFLE}}};
    print_fails(&odd, WEIR_EINVAL, "shuffle has no elements of 0");
    odd = z;
    odd.what.dimensions = 3;
    odd.what.shape[2] = odd.what.tiling.tile[2] = 1;
    memcpy(odd.what.tiling.order, (int[]){1, 0, 2}, 3 * sizeof(int));
    print_fails(&odd, WEIR_EUNSUPPORTED, "order C or F only");
    wr_zarr_release(&z);
}

static void test_print_too_long(void)
{
    wr_zarr z = zarr_text_accepted(3, "", NULL);
    z.attributes = wr_alloc(WR_ZARR_LONGEST);
    CHECK(z.attributes);
    memset(z.attributes, ' ', WR_ZARR_LONGEST);
    memcpy(z.attributes, "{\"a\": \"", 7);
    memset(z.attributes + 7, 'x', WR_ZARR_LONGEST - 10);
    memcpy(z.attributes + WR_ZARR_LONGEST - 3, "\"}", 3);
    print_fails(&z, WEIR_ERANGE, "zarr.json would be longer than 67108864 bytes");
    wr_zarr_release(&z);
}

int main(void)
{
    test_refused_3();
    test_refused_codecs();
    test_refused_2();
    test_malformed();
    test_print_refused_3();
    test_print_refused_2();
    test_print_too_long();
    test_too_deep();
    return 0;
}
