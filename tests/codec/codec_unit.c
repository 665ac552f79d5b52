/* Codecs: what is encoded comes back, alone and in chains; what is not sound is refused, without a
 * byte read or written beyond, which pages without access behind each buffer tell of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "check.h"
#include "codec/codec.h"
#include "codec/codec_line.h"

enum { MIB = 1 << 20 };

static const char *const chains[] = {
    "none",
    "gzip",
    "gzip:0",
    "gzip:9",
    "zlib:1",
    "zlib:-1",
    "zstd",
    "zstd:-5:checksum",
    "zstd:1",
    "blosc",
    "blosc:blosclz:9:noshuffle",
    "blosc:lz4hc:4:bitshuffle:4096",
    "blosc:snappy:1:shuffle",
    "blosc:zlib:1:shuffle",
    "blosc:zstd:1:bitshuffle",
    "blosc:lz4:0:shuffle",
    "crc32c",
    "fletcher32",
    "shuffle",
    "shuffle,zlib:6,fletcher32",
    "zstd,crc32c",
    "crc32c,zstd",
    "crc32c,fletcher32,crc32c",
    "shuffle,shuffle",
    "crc32c,shuffle,gzip:1,shuffle,zstd:1,blosc:lz4:1:noshuffle,fletcher32,crc32c",
};

enum { CHAINS = sizeof chains / sizeof *chains };

/* Bytes whose last one is followed by a page that cannot be touched. */
typedef struct guarded {
    char *map, *at;
    int64_t pages, size;
} guarded;

static guarded guarded_new(int64_t size)
{
    const int64_t page = wr_page_bytes(), pages = (size + page - 1) / page * page;
    char *map = mmap(NULL, (size_t)(pages + page), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED && !mprotect(map + pages, (size_t)page, PROT_NONE));
    return (guarded){map, map + pages - size, pages + page, size};
}

static void guarded_free(guarded *g)
{
    CHECK(!munmap(g->map, (size_t)g->pages));
}

static guarded guarded_copy(const void *from, int64_t size)
{
    guarded g = guarded_new(size);
    memcpy(g.at, from, (size_t)size);
    return g;
}

enum data { NOISE, SMOOTH, ZEROS, DATA };

static void fill(rng *r, enum data kind, char *at, int64_t size)
{
    for (int64_t i = 0; i < size; i++) {
        uint64_t v = kind == NOISE ? rng_next(r) : kind == SMOOTH ? (uint64_t)(i / 7 * (i % 4)) : 0;
        at[i] = (char)(v & 0xff);
    }
}

/* False: this build has not got them all. */
static bool parse(const char *text, int64_t element, wr_codecs *out)
{
    CHECK(!wr_codecs_parse(text, element, out));
    int code = wr_codecs_check(out);
    CHECK(!code || code == WEIR_EUNSUPPORTED);
    return !code;
}

static void check_round(const wr_codecs *codecs, const guarded *data)
{
    wr_codec_desk *desk;
    const void *encoded;
    int64_t length;
    guarded back = guarded_new(data->size);
    CHECK(!wr_codec_desk_new(codecs, data->size, &desk));
    for (int again = 0; again < 2; again++) {
        CHECK(!wr_codecs_encode(desk, data->at, &encoded, &length));
        CHECK(length >= 0 && length <= wr_codecs_bound(codecs, data->size));
        CHECK(codecs->count || encoded == data->at);
        guarded moved = guarded_copy(encoded, length);
        CHECK(!wr_codecs_decode(desk, 0, moved.at, length, back.at));
        CHECK(!memcmp(back.at, data->at, (size_t)data->size));
        guarded_free(&moved);
    }
    wr_codec_desk_free(desk);
    guarded_free(&back);
}

static void test_round(rng *r)
{
    static const int64_t sizes[] = {0, 1, 7, 31, 255, 4097, 30001};
    wr_codecs codecs;
    for (int c = 0; c < CHAINS; c++)
        for (int64_t element = 1; element <= 16; element *= 2)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                check_case(c * 10000 + element * 100 + (int64_t)s);
                guarded data = guarded_new(sizes[s]);
                fill(r, (enum data)rng_within(r, 0, DATA - 1), data.at, data.size);
                if (parse(chains[c], element, &codecs))
                    check_round(&codecs, &data);
                guarded_free(&data);
            }
}

static void test_large(rng *r)
{
    static const char *const some[] = {"zlib:1", "zstd:1", "blosc", "shuffle,crc32c", "fletcher32"};
    wr_codecs codecs;
    guarded data = guarded_new(MIB);
    for (size_t c = 0; c < sizeof some / sizeof *some; c++) {
        fill(r, c % 2 ? NOISE : SMOOTH, data.at, data.size);
        if (parse(some[c], 4, &codecs))
            check_round(&codecs, &data);
    }
    guarded_free(&data);
}

/* A tile of `size` bytes encoded, in the caller's memory. */
static char *encode(const char *chain, int64_t element, const void *from, int64_t size,
                    int64_t *length)
{
    wr_codecs codecs;
    wr_codec_desk *desk;
    const void *encoded;
    CHECK(!wr_codecs_parse(chain, element, &codecs));
    CHECK(!wr_codec_desk_new(&codecs, size, &desk));
    CHECK(!wr_codecs_encode(desk, from, &encoded, length));
    char *copy = malloc((size_t)*length + 1);
    CHECK(copy);
    memcpy(copy, encoded, (size_t)*length);
    wr_codec_desk_free(desk);
    return copy;
}

static int decode(const char *chain, const void *from, int64_t length, void *to, int64_t size)
{
    wr_codecs codecs;
    wr_codec_desk *desk;
    CHECK(!wr_codecs_parse(chain, 4, &codecs));
    CHECK(!wr_codec_desk_new(&codecs, size, &desk));
    int code = wr_codecs_decode(desk, 0, from, length, to);
    wr_codec_desk_free(desk);
    return code;
}

static bool has(const char *chain)
{
    wr_codecs codecs;
    return parse(chain, 4, &codecs);
}

/* Whatever was done to the bytes, it is refused, or, where nothing sums them, taken. */
static void check_damaged(wr_codec_desk *desk, const char *bytes, int64_t length, guarded *back)
{
    guarded moved = guarded_copy(bytes, length);
    int code = wr_codecs_decode(desk, 0, moved.at, length, back->at);
    CHECK(!code || code == WEIR_EFORMAT);
    CHECK(!code || !strchr(weir_error_last()->text, '\n'));
    guarded_free(&moved);
}

static void damage(rng *r, const char *chain, int64_t size)
{
    wr_codecs codecs;
    wr_codec_desk *desk;
    const void *encoded;
    int64_t length;
    guarded data = guarded_new(size), back = guarded_new(size);
    fill(r, (enum data)rng_within(r, 0, DATA - 1), data.at, size);
    CHECK(!wr_codecs_parse(chain, 4, &codecs));
    CHECK(!wr_codec_desk_new(&codecs, size, &desk));
    CHECK(!wr_codecs_encode(desk, data.at, &encoded, &length));
    char *bytes = malloc((size_t)length + 64);
    for (int k = 0; k < 40; k++) {
        memcpy(bytes, encoded, (size_t)length);
        fill(r, NOISE, bytes + length, 64);
        int64_t now = length;
        if (k % 4 == 0)
            now = rng_within(r, 0, length);
        else if (k % 4 == 1)
            now = length + rng_within(r, 1, 64);
        for (int flips = k % 4 == 3 ? 4 : k % 4 == 2; flips && now; flips--)
            bytes[rng_within(r, 0, rng_chance(r, 50) && now > 32 ? 31 : now - 1)] ^=
                (char)(1 << rng_within(r, 0, 7));
        check_damaged(desk, bytes, now, &back);
        CHECK(!wr_codecs_encode(desk, data.at, &encoded, &length));
    }
    free(bytes);
    wr_codec_desk_free(desk);
    guarded_free(&back);
    guarded_free(&data);
}

static void test_damaged(rng *r)
{
    static const int64_t sizes[] = {0, 5, 600, 9000};
    for (int c = 0; c < CHAINS; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            check_case(c * 10 + (int64_t)s);
            if (has(chains[c]))
                damage(r, chains[c], sizes[s]);
        }
}

/* Every cut, and what is short or long by a byte. */
static void test_lengths(void)
{
    static const char *const some[] = {"gzip", "zlib", "zstd", "blosc", "crc32c", "fletcher32"};
    char data[500], back[501];
    int64_t length;
    memset(data, 'a', sizeof data);
    for (size_t c = 0; c < sizeof some / sizeof *some; c++) {
        if (!has(some[c]))
            continue;
        char *bytes = encode(some[c], 4, data, sizeof data, &length);
        for (int64_t cut = 0; cut < length; cut++)
            CHECK(decode(some[c], bytes, cut, back, sizeof data) == WEIR_EFORMAT);
        bytes[length] = 0;
        CHECK(decode(some[c], bytes, length + 1, back, sizeof data) == WEIR_EFORMAT);
        CHECK_FAILS(decode(some[c], bytes, length, back, 501), WEIR_EFORMAT,
                    "decodes to 500 bytes, not 501");
        CHECK(decode(some[c], bytes, length, back, 499) == WEIR_EFORMAT);
        free(bytes);
    }
    CHECK_FAILS(decode("none", data, 5, back, 4), WEIR_EFORMAT, "a tile of 5 bytes, not 4");
    CHECK_FAILS(decode("crc32c", data, 3, back, 4), WEIR_EFORMAT, "3 bytes cannot end with");
    CHECK_FAILS(decode("crc32c", data, 8, back, 4), WEIR_EFORMAT, "crc32c: checksum does not");
    CHECK_FAILS(decode("fletcher32", data, 8, back, 4), WEIR_EFORMAT, "fletcher32: checksum");
}

static void test_bombs(void)
{
    static const char *const some[] = {"gzip:9", "zlib:9", "zstd:19", "blosc:zstd:9:noshuffle"};
    char *zeros = calloc(1, 8 * MIB), back[100];
    int64_t length, all;
    for (size_t c = 0; c < sizeof some / sizeof *some; c++) {
        if (!has(some[c]))
            continue;
        char *bytes = encode(some[c], 4, zeros, 8 * MIB, &length);
        CHECK(length < 64 * 1024);
        CHECK_FAILS(decode(some[c], bytes, length, back, sizeof back), WEIR_EFORMAT,
                    "decodes to more than 100 bytes");
        free(bytes);
    }
    if (has("zstd") && has("gzip")) {
        char *bytes = encode("gzip:9,zstd:19", 4, zeros, 8 * MIB, &all);
        CHECK_FAILS(decode("gzip,zstd", bytes, all, back, sizeof back), WEIR_EFORMAT,
                    "decodes to more than");
        free(bytes);
    }
    free(zeros);
}

static void test_members(void)
{
    char first[] = "members follow ", second[] = "each other", all[sizeof first + sizeof second];
    char back[sizeof all];
    int64_t length, more;
    if (!has("gzip"))
        return;
    memcpy(all, first, sizeof first);
    memcpy(all + sizeof first, second, sizeof second);
    char *a = encode("gzip", 1, first, sizeof first, &length);
    char *b = encode("gzip", 1, second, sizeof second, &more), both[256];
    memcpy(both, a, (size_t)length);
    memcpy(both + length, b, (size_t)more);
    CHECK(!decode("gzip", both, length + more, back, sizeof all));
    CHECK(!memcmp(back, all, sizeof all));
    CHECK_FAILS(decode("gzip", both, length + more, back, sizeof all - 1), WEIR_EFORMAT, "more");
    CHECK_FAILS(decode("gzip", both, length + more - 1, back, sizeof all), WEIR_EFORMAT,
                "malformed");
    free(a);
    free(b);
}

static void test_crc32c(rng *r)
{
    static const char digits[] = "123456789";
    char back[9], *bytes = malloc(40000);
    int64_t length;
    CHECK_EQUAL(wr_crc32c(digits, 9), 0xE3069283);
    CHECK_EQUAL(wr_crc32c_plain(digits, 9), 0xE3069283);
    CHECK_EQUAL(wr_crc32c("", 0), 0);
    char *summed = encode("crc32c", 1, digits, 9, &length);
    CHECK(length == 13 && !memcmp(summed, "123456789\x83\x92\x06\xe3", 13));
    CHECK(!decode("crc32c", summed, length, back, 9) && !memcmp(back, digits, 9));
    fill(r, NOISE, bytes, 40000);
    for (int k = 0; k < 200; k++) {
        int64_t at = rng_within(r, 0, 9), n = rng_within(r, 0, k < 100 ? 100 : 40000 - at);
        CHECK_EQUAL(wr_crc32c(bytes + at, n), wr_crc32c_plain(bytes + at, n));
    }
    free(summed);
    free(bytes);
}

static uint32_t naive_fletcher(const unsigned char *bytes, int64_t length)
{
    uint64_t first = 0, second = 0;
    for (int64_t i = 0; i < length; i += 2) {
        first += (uint64_t)bytes[i] << 8 | (i + 1 < length ? bytes[i + 1] : 0);
        first = first > 65535 ? first - 65535 : first;
        second += first;
        second = second > 65535 ? second - 65535 : second;
    }
    return (uint32_t)(second << 16 | first);
}

static void check_fletcher(const unsigned char *bytes, int64_t length)
{
    int64_t all;
    char *summed = encode("fletcher32", 1, bytes, length, &all);
    uint32_t sum = naive_fletcher(bytes, length);
    CHECK_EQUAL(all, length + 4);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL((unsigned char)summed[length + i], sum >> (8 * i) & 0xff);
    free(summed);
}

static void test_fletcher32(rng *r)
{
    unsigned char *bytes = malloc(40000), back[8];
    for (int k = 0; k < 150; k++) {
        const int64_t n = rng_within(r, 0, k < 100 ? 200 : 40000);
        if (k % 3)
            fill(r, NOISE, (char *)bytes, n);
        else
            memset(bytes, k % 2 ? 0xff : 0, (size_t)n);
        check_fletcher(bytes, n);
    }
    /* as HDF5 wrote it once, the bytes of words the other way round */
    memcpy(bytes, "\x01\x02\x03\x04\x00\x00\x00\x00", 8);
    const uint32_t sum = naive_fletcher(bytes, 4);
    for (int i = 0; i < 4; i++)
        bytes[4 + i] = (unsigned char)(sum >> (8 * (i ^ 1)) & 0xff);
    CHECK(!decode("fletcher32", bytes, 8, back, 4));
    free(bytes);
}

static void test_shuffle(rng *r)
{
    char data[3000];
    int64_t length;
    fill(r, NOISE, data, sizeof data);
    for (int64_t element = 1; element <= 40; element++)
        for (int64_t n = 0; n <= 3000; n = n * 3 + 1) {
            char *planes = encode("shuffle", element, data, n, &length);
            const int64_t count = n / element;
            CHECK_EQUAL(length, n);
            for (int64_t i = 0; i < n; i++)
                CHECK(data[i] ==
                      planes[i < count * element ? i % element * count + i / element : i]);
            free(planes);
        }
}

static void check_text(const char *text, const char *printed)
{
    char out[200];
    wr_codecs codecs, again;
    CHECK(!wr_codecs_parse(text, 8, &codecs));
    wr_codecs_print(&codecs, out, sizeof out);
    if (strcmp(out, printed) != 0)
        fprintf(stderr, "\"%s\"\n", out);
    CHECK(!strcmp(out, printed));
    CHECK(!wr_codecs_parse(out, 8, &again) && again.count == codecs.count);
    CHECK(wr_codecs_encode_ns(&codecs) >= wr_codecs_decode_ns(&codecs));
    CHECK(!codecs.count == !wr_codecs_decode_ns(&codecs));
    for (int i = 0; i < codecs.count; i++)
        CHECK(!memcmp(&codecs.codec[i], &again.codec[i], sizeof again.codec[i]));
    wr_codecs_print(&codecs, out, 4);
    CHECK(strlen(out) == 3 && !strncmp(out, printed, 3));
}

static void test_text(void)
{
    wr_codecs codecs = {.count = 5};
    check_text("none", "none");
    check_text("gzip", "gzip:6");
    check_text("zlib:-1", "zlib:-1");
    check_text("zstd", "zstd:3");
    check_text("zstd:checksum", "zstd:3:checksum");
    check_text("zstd:-7:checksum", "zstd:-7:checksum");
    check_text("blosc", "blosc:lz4:5:shuffle");
    check_text("blosc:zstd:9:bitshuffle:65536", "blosc:zstd:9:bitshuffle:65536");
    check_text("shuffle,zlib:4,fletcher32", "shuffle,zlib:4,fletcher32");
    CHECK(!wr_codecs_parse("shuffle,blosc", 300, &codecs));
    CHECK(codecs.codec[0].element == 300 && codecs.codec[1].element == 1);
}

static void refused(const char *text, const char *why)
{
    wr_codecs codecs = {.count = 77};
    CHECK_FAILS(wr_codecs_parse(text, 8, &codecs), WEIR_EINVAL, why);
    CHECK_EQUAL(codecs.count, 77);
}

static void test_text_refused(void)
{
    wr_codecs codecs;
    refused("", "no codec ''");
    refused("lzma",
            "no codec 'lzma', but none, gzip, zlib, zstd, blosc, crc32c, shuffle, fletcher");
    refused("gzip,", "no codec ''");
    refused("none,gzip", "no codec 'none'");
    refused("gzip:", "gzip: '' is no option of it: gzip[:LEVEL], -1 to 9");
    refused("gzip:x", "'x' is no option");
    refused("gzip: 1", "' 1' is no option");
    refused("gzip:1:2", "'2' is no option");
    refused("gzip:10", "gzip: level 10 is not one of -1 to 9");
    refused("zlib:99999999999", "no option");
    refused("zstd:23", "zstd: level 23");
    refused("zstd:checksum:3", "'3' is no option");
    refused("blosc:lz5", "'lz5' is no option of it: blosc[:blosclz|lz4");
    refused("blosc:lz4:10", "blosc: level 10");
    refused("blosc:lz4:1:shuffle:-1", "blocks of -1 bytes");
    refused("blosc:lz4:1:shuffle:0:0", "no option");
    refused("crc32c:1", "crc32c: '1' is no option of it: crc32c, without");
    refused("crc32c,crc32c,crc32c,crc32c,crc32c,crc32c,crc32c,crc32c,crc32c", "more than 8");
    CHECK_FAILS(wr_codecs_parse("shuffle", 0, &codecs), WEIR_EINVAL, "elements of 0 bytes");
}

static void check_refused(wr_codec codec, const char *why)
{
    wr_codecs codecs = {.count = 1, .codec = {codec}};
    wr_codec_desk *desk;
    CHECK_FAILS(wr_codecs_check(&codecs), WEIR_EINVAL, why);
    CHECK_FAILS(wr_codec_desk_new(&codecs, 1, &desk), WEIR_EINVAL, why);
}

static void test_checks(void)
{
    wr_codecs codecs = {.count = 9};
    wr_codec_desk *desk;
    CHECK_FAILS(wr_codecs_check(&codecs), WEIR_EINVAL, "9 codecs");
    check_refused((wr_codec){0}, "no kind");
    check_refused((wr_codec){.kind = WR_CODEC_KINDS}, "no kind");
    check_refused((wr_codec){.kind = WR_CODEC_SHUFFLE}, "elements of 0");
    check_refused((wr_codec){.kind = WR_CODEC_ZSTD, .checksum = 2}, "checksum");
    check_refused((wr_codec){.kind = WR_CODEC_BLOSC, .element = 256}, "elements of 256");
    check_refused((wr_codec){.kind = WR_CODEC_BLOSC, .element = 1, .inner = 6}, "compressor");
    check_refused((wr_codec){.kind = WR_CODEC_BLOSC, .element = 1, .shuffle = 3}, "shuffle");
    for (int c = 0; c < CHAINS; c++)
        if (parse(chains[c], 8, &codecs)) {
            const int64_t bound = wr_codecs_bound(&codecs, MIB);
            CHECK(bound >= MIB && wr_codec_desk_bytes(&codecs, MIB) >= codecs.count);
            CHECK_EQUAL(wr_codecs_bound(&codecs, INT64_MAX), -1);
            CHECK_EQUAL(wr_codec_desk_bytes(&codecs, INT64_MAX), INT64_MAX);
            CHECK_FAILS(wr_codec_desk_new(&codecs, INT64_MAX, &desk), WEIR_ERANGE, "too large");
        }
}

static void test_skipped(void)
{
    wr_codecs codecs, shorter;
    wr_codec_desk *desk, *small;
    const void *encoded;
    int64_t length;
    char data[1001], back[1001];
    if (!parse("shuffle,zlib,fletcher32", 4, &codecs))
        return;
    for (int i = 0; i < 1001; i++)
        data[i] = (char)(i % 100);
    CHECK(!wr_codec_desk_new(&codecs, sizeof data, &desk));
    for (unsigned skipped = 0; skipped < 8; skipped++) {
        shorter.count = 0;
        for (int i = 0; i < 3; i++)
            if (!(skipped >> i & 1))
                shorter.codec[shorter.count++] = codecs.codec[i];
        CHECK(!wr_codec_desk_new(&shorter, sizeof data, &small));
        CHECK(!wr_codecs_encode(small, data, &encoded, &length));
        memset(back, 0, sizeof back);
        CHECK(!wr_codecs_decode(desk, skipped, encoded, length, back));
        CHECK(!memcmp(back, data, sizeof data));
        CHECK(wr_codecs_decode(desk, skipped ^ 4, encoded, length, back) == WEIR_EFORMAT);
        wr_codec_desk_free(small);
    }
    wr_codec_desk_free(desk);
}

/* Each allocation fails once; the desk can be used again. */
static void test_no_memory(void)
{
    wr_codecs codecs;
    wr_codec_desk *desk;
    const void *encoded;
    int64_t length;
    char data[1000] = "data", back[1000];
    CHECK(!wr_codecs_parse("shuffle,crc32c,shuffle", 4, &codecs));
    wr_alloc_fail_after(0);
    CHECK_FAILS(wr_codec_desk_new(&codecs, sizeof data, &desk), WEIR_ENOMEM, "");
    CHECK(!wr_codec_desk_new(&codecs, sizeof data, &desk));
    for (int k = 0; k < 2; k++) {
        wr_alloc_fail_after(0);
        CHECK_FAILS(wr_codecs_encode(desk, data, &encoded, &length), WEIR_ENOMEM, "");
        wr_alloc_fail_after(1);
        int code = wr_codecs_encode(desk, data, &encoded, &length);
        CHECK_EQUAL(code, k ? 0 : WEIR_ENOMEM);
        wr_alloc_fail_after(-1);
    }
    CHECK(!wr_codecs_decode(desk, 0, encoded, length, back) && !memcmp(back, data, sizeof data));
    wr_codec_desk_free(desk);
    wr_codec_desk_free(NULL);
}

int main(void)
{
    rng r = {test_seed()};
    test_round(&r);
    test_large(&r);
    test_damaged(&r);
    test_lengths();
    test_bombs();
    test_members();
    test_crc32c(&r);
    test_fletcher32(&r);
    test_shuffle(&r);
    test_text();
    test_text_refused();
    test_checks();
    test_skipped();
    test_no_memory();
    return 0;
}
