/* Codecs as text, "shuffle,zlib:6,fletcher32": for users who choose them, and for logs. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "codec/codec.h"
#include "codec/codec_line.h"

enum { WORD = 64 };

/* The next word of *text up to one of `ends`, and what ended it; false if it does not fit. */
static bool next_word(const char **text, const char *ends, char word[WORD], char *end)
{
    const size_t length = strcspn(*text, ends), kept = length < WORD ? length : WORD - 1;
    memcpy(word, *text, kept);
    word[kept] = '\0';
    *end = (*text)[length];
    *text += length + (*end != '\0');
    return length < WORD;
}

static int fail_name(const char *name)
{
    char known[WEIR_ERROR_TEXT] = "none";
    for (int kind = 1; kind < WR_CODEC_KINDS; kind++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", wr_codec_line_get(kind)->name);
    }
    return wr_fail(WEIR_EINVAL, "there is no codec '%s', but %s", name, known);
}

static int find_kind(const char *name)
{
    int kind = 1;
    while (kind < WR_CODEC_KINDS && strcmp(wr_codec_line_get(kind)->name, name) != 0)
        kind++;
    return kind;
}

/* One codec, up to a comma or the end. */
static int parse_codec(const char **text, int64_t element, wr_codec *out, char *end)
{
    char word[WORD];
    bool fits = next_word(text, ":,", word, end);
    const int kind = find_kind(word);
    if (!fits || kind == WR_CODEC_KINDS)
        return fail_name(word);
    const wr_codec_line *line = wr_codec_line_get(kind);
    *out = line->standard;
    out->kind = kind;
    if (kind == WR_CODEC_SHUFFLE || kind == WR_CODEC_BLOSC)
        out->element = (int)element;
    /* to Blosc what is longer than this is bytes */
    if (kind == WR_CODEC_BLOSC && element > UCHAR_MAX)
        out->element = 1;
    for (int place = 0; *end == ':'; place++) {
        fits = next_word(text, ":,", word, end);
        if (!fits || !line->take || !line->take(out, place, word))
            return wr_fail(WEIR_EINVAL, "%s: '%s' is no option of it: %s", line->name, word,
                           line->help);
    }
    return line->check ? line->check(out) : 0;
}

int wr_codecs_parse(const char *text, int64_t element, wr_codecs *out)
{
    wr_codecs codecs = {0};
    char end = ',';
    if (element < 1 || element > INT_MAX)
        return wr_fail(WEIR_EINVAL, "codecs of elements of %lld bytes", (long long)element);
    if (!strcmp(text, "none"))
        end = '\0';
    while (end == ',') {
        if (codecs.count == WR_CODECS)
            return wr_fail(WEIR_EINVAL, "more than %d codecs", WR_CODECS);
        int code = parse_codec(&text, element, &codecs.codec[codecs.count], &end);
        if (code)
            return code;
        codecs.count++;
    }
    *out = codecs;
    return 0;
}

void wr_codecs_print(const wr_codecs *codecs, char *text, size_t size)
{
    if (size)
        snprintf(text, size, "%s", codecs->count ? "" : "none");
    for (int i = 0; size && i < codecs->count; i++) {
        const wr_codec *codec = &codecs->codec[i];
        const wr_codec_line *line = wr_codec_line_get(codec->kind);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? "," : "", line->name);
        used = strlen(text);
        if (line->print)
            line->print(codec, text + used, size - used);
    }
}
