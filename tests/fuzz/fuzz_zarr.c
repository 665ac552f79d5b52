/* Fuzz target: whatever bytes arrive, the first being the version, parsing them as metadata of a
 * Zarr array either fails with an error or gives a sound description, which prints as a text that
 * says the same. */
#include <string.h>

#include "base/arith.h"
#include "base/memory.h"
#include "check.h"
#include "format/zarr.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_sound(const wr_zarr *z, int64_t length)
{
    const wr_description *d = &z->what;
    const wr_tiling *t = &d->tiling;
    wr_description again = *d;
    CHECK(!wr_description_settle(&again) && again.bytes == d->bytes);
    CHECK(again.tiling.tile_bytes == t->tile_bytes && again.tiling.shards == t->shards);
    CHECK(d->dimensions >= 0 && d->dimensions <= WR_DIMENSIONS && !d->columns && !d->data_offset);
    CHECK(t->levels == 1 || (t->levels == 2 && z->version == 3));
    CHECK(wr_is_permutation(d->dimensions, t->order));
    CHECK(t->codecs.count >= 0 && t->codecs.count <= WR_CODECS);
    for (int i = 0; i < d->dimensions; i++)
        CHECK(t->tile[i] >= 1 && t->shard[i] >= t->tile[i] && t->shard[i] % t->tile[i] == 0);
    for (int i = 0; i < t->codecs.count; i++)
        CHECK(t->codecs.codec[i].kind >= WR_CODEC_GZIP && t->codecs.codec[i].kind < WR_CODEC_KINDS);
    CHECK(z->separator == '/' || z->separator == '.');
    CHECK(!z->attributes || (int64_t)strlen(z->attributes) < length);
    CHECK(!z->names || (int64_t)strlen(z->names) < length);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void check_again(const wr_zarr *z)
{
    char *text;
    int64_t length;
    wr_zarr back;
    CHECK(!wr_zarr_print(z, &text, &length));
    CHECK(!wr_zarr_parse(z->version, text, length, &back));
    const wr_description *a = &z->what, *b = &back.what;
    CHECK(a->type == b->type && a->dimensions == b->dimensions && a->bytes == b->bytes);
    CHECK(a->swapped == b->swapped && a->format == b->format);
    CHECK(!memcmp(a->shape, b->shape, sizeof a->shape));
    CHECK(!memcmp(a->tiling.tile, b->tiling.tile, sizeof a->tiling.tile));
    CHECK(!memcmp(a->tiling.shard, b->tiling.shard, sizeof a->tiling.shard));
    CHECK(!memcmp(a->tiling.order, b->tiling.order, sizeof a->tiling.order));
    CHECK_EQUAL(a->tiling.codecs.count, b->tiling.codecs.count);
    for (int i = 0; i < a->tiling.codecs.count; i++) {
        const wr_codec *c = &a->tiling.codecs.codec[i], *e = &b->tiling.codecs.codec[i];
        CHECK(c->kind == e->kind && c->level == e->level && c->element == e->element);
        CHECK(c->shuffle == e->shuffle && c->inner == e->inner && c->block == e->block);
        CHECK_EQUAL(c->checksum, e->checksum);
    }
    CHECK(z->separator == back.separator && z->prefixed == back.prefixed);
    CHECK(z->index_first == back.index_first && z->index_summed == back.index_summed);
    CHECK(z->index_swapped == back.index_swapped && z->filled == back.filled);
    /* Version 2 has only one not-a-number. */
    CHECK(!memcmp(z->fill, back.fill, sizeof z->fill) || (z->version == 2 && a->type >= WEIR_F2));
    CHECK(same_text(z->attributes, back.attributes) && same_text(z->names, back.names));
    wr_zarr_release(&back);
    wr_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    wr_zarr z;
    if (!size)
        return 0;
    const int version = *bytes == '2' ? 2 : 3;
    const int64_t length = (int64_t)size - 1;
    int code = wr_zarr_parse(version, (const char *)bytes + 1, length, &z);
    if (code) {
        CHECK(code == WEIR_EFORMAT || code == WEIR_EUNSUPPORTED);
        CHECK(code == weir_error_last()->code && !z.attributes && !z.names);
        return 0;
    }
    check_sound(&z, length);
    check_again(&z);
    wr_zarr_release(&z);
    return 0;
}
