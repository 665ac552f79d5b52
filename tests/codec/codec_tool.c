/* Codecs on the command line, for codec_python.py: standard input to standard output.
 * usage: codec_tool encode CODECS ELEMENT
 *        codec_tool decode CODECS ELEMENT BYTES: so many come out
 * Exit status 1 with a line of why; 2 if this build has not got them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "codec/codec.h"

static char *read_all(int64_t *length)
{
    size_t room = 1 << 16, used = 0, got;
    char *bytes = malloc(room);
    while (bytes && (got = fread(bytes + used, 1, room - used, stdin)) > 0) {
        used += got;
        if (used == room)
            bytes = realloc(bytes, room *= 2);
    }
    CHECK(bytes);
    *length = (int64_t)used;
    return bytes;
}

static int run(wr_codec_desk *desk, const char *from, int64_t length, char *to, int64_t bytes)
{
    const void *out = to;
    int64_t size = bytes;
    int code = to ? wr_codecs_decode(desk, 0, from, length, to)
                  : wr_codecs_encode(desk, from, &out, &size);
    if (!code)
        fwrite(out, 1, (size_t)size, stdout);
    return code;
}

int main(int argc, char **argv)
{
    CHECK(argc >= 4);
    const bool decode = !strcmp(argv[1], "decode");
    int64_t length;
    char *from = read_all(&length);
    const int64_t bytes = decode ? atoll(argv[4]) : length;
    char *to = decode ? malloc((size_t)bytes + 1) : NULL;
    wr_codecs codecs;
    wr_codec_desk *desk = NULL;
    int code = wr_codecs_parse(argv[2], atoll(argv[3]), &codecs);
    if (!code)
        code = wr_codec_desk_new(&codecs, bytes, &desk);
    if (!code)
        code = run(desk, from, length, to, bytes);
    if (code)
        fprintf(stderr, "%s\n", weir_error_last()->text);
    wr_codec_desk_free(desk);
    free(to);
    free(from);
    return code == WEIR_EUNSUPPORTED ? 2 : code != 0;
}
