/* Fuzz target: whatever bytes arrive, decoding them gives a tile of the size asked for, or fails
 * with an error. The first byte chooses the codecs, the next which were skipped, two the size. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { HEAD = 4 };

static const char *const chains[] = {
    "gzip",
    "zlib",
    "zstd",
    "blosc",
    "crc32c",
    "fletcher32",
    "shuffle",
    "shuffle,zlib,fletcher32",
    "none",
    "zstd,crc32c",
    "crc32c,zstd,gzip",
    "shuffle,blosc:zstd:1:bitshuffle,zlib",
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    wr_codecs codecs;
    wr_codec_desk *desk;
    if (size < HEAD)
        return 0;
    const int64_t wanted = bytes[2] | bytes[3] << 8;
    CHECK(!wr_codecs_parse(chains[bytes[0] % (sizeof chains / sizeof *chains)], 4, &codecs));
    if (wr_codec_desk_new(&codecs, wanted, &desk))
        return 0; /* this build has not got them */
    /* exact, for the sanitizer */
    char *from = malloc(size - HEAD), *to = malloc((size_t)wanted);
    CHECK((from || size == HEAD) && (to || !wanted));
    memcpy(from, bytes + HEAD, size - HEAD);
    int code = wr_codecs_decode(desk, bytes[1], from, (int64_t)(size - HEAD), to);
    CHECK(!code || (code == WEIR_EFORMAT && code == weir_error_last()->code));
    CHECK(!code || (weir_error_last()->text[0] && !strchr(weir_error_last()->text, '\n')));
    free(to);
    free(from);
    wr_codec_desk_free(desk);
    return 0;
}
