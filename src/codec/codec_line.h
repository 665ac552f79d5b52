/* What one codec can do, for the table in codec.c: a file of this room gives one line or two.
 *
 * A coder is what a desk keeps of one codec; its line's functions make `encoder` and `decoder` when
 * they first need them, and release() frees them. */
#ifndef WR_CODEC_CODEC_LINE_H
#define WR_CODEC_CODEC_LINE_H

#include "codec/codec.h"

typedef struct wr_coder {
    const struct wr_codec_line *line;
    wr_codec codec;
    int64_t most; /* bytes that it is given to encode */
    void *encoder, *decoder;
} wr_coder;

/* One codec's work on one tile: [from, from + length) becomes `done` bytes at `to`, which has room
 * for `room`. */
typedef struct wr_codec_step {
    const unsigned char *from;
    int64_t length;
    unsigned char *to;
    int64_t room;
    int64_t done;
} wr_codec_step;

typedef struct wr_codec_price {
    int64_t encode_ns, decode_ns; /* a MiB of what is not encoded */
} wr_codec_price;

enum { WR_TAIL_VARIES = -1 };

typedef struct wr_codec_line {
    const char *name;
    const char *help; /* its text, and what it may be */
    /* Bytes that encoding adds. Those that add some do no more: they encode where the bytes are if
     * to == from, and decoding only checks, and leaves `to` alone. */
    int tail;
    wr_codec standard; /* what the name alone means */

    /* What follows the name: option `place` of its text; false: it is none. */
    bool (*take)(wr_codec *codec, int place, const char *option);
    void (*print)(const wr_codec *codec, char *text, size_t size);
    int (*check)(const wr_codec *codec); /* NULL: nothing can be wrong */
    wr_codec_price (*price)(const wr_codec *codec);

    /* All NULL if this build lacks the codec. The most that so many bytes become, -1: too many;
     * what libraries take for them. */
    int64_t (*bound)(const wr_codec *codec, int64_t bytes);
    int64_t (*memory)(const wr_codec *codec, int64_t bytes);
    int (*encode)(wr_coder *coder, wr_codec_step *step);
    int (*decode)(wr_coder *coder, wr_codec_step *step);
    void (*release)(wr_coder *coder); /* NULL: it keeps nothing */
} wr_codec_line;

extern const wr_codec_line wr_line_gzip, wr_line_zlib, wr_line_zstd, wr_line_blosc;
extern const wr_codec_line wr_line_crc32c, wr_line_shuffle, wr_line_fletcher32;

/* NULL: there is no such kind. */
const wr_codec_line *wr_codec_line_get(int kind);

/* What several of them need: an option that is a whole number; ":level" as text; a level in
 * [lo, hi], or WEIR_EINVAL; WEIR_EFORMAT for more than step->room bytes. */
bool wr_codec_take_number(const char *option, int64_t *out);
bool wr_codec_take_level(wr_codec *codec, int place, const char *option);
void wr_codec_print_level(const wr_codec *codec, char *text, size_t size);
int wr_codec_check_level(const wr_codec *codec, int lo, int hi);
int wr_codec_too_long(const wr_coder *coder, const wr_codec_step *step);

/* What checksums share: `sum` goes behind the bytes, little-endian; and is read from there. */
void wr_codec_put_sum(wr_codec_step *step, uint32_t sum);
uint32_t wr_codec_get_sum(const wr_codec_step *step);
int64_t wr_codec_bound_sum(const wr_codec *codec, int64_t bytes);

/* CRC-32C of bytes with the processor's instruction, and without: the same. */
uint32_t wr_crc32c(const void *bytes, int64_t length);
uint32_t wr_crc32c_plain(const void *bytes, int64_t length);

#endif
