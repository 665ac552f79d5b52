/* Pack, unpack and copy. Cursors hand out batches; wr_copy_batch moves one with a loop chosen by
 * the length of its runs, so that copies of small elements compile to loads and stores. */
#include "pattern/pack.h"

#include <string.h>

#include "base/arith.h"
#include "base/error.h"

/* The distance of elements that are `n` apart; what does not fit is never used. */
static inline int64_t step(int64_t stride, uint64_t n)
{
    return (int64_t)((uint64_t)stride * n);
}

/* A copy of constant size is a load and a store; one of variable size is a call. Four at a time, so
 * that loads do not wait for the counting. */
#define COPY_OF(size)                                                                              \
    static void copy_##size(char *restrict target, const char *restrict source, wr_strides stride, \
                            int64_t count)                                                         \
    {                                                                                              \
        for (; count >= 4; count -= 4) {                                                           \
            memcpy(target, source, size);                                                          \
            memcpy(target + stride.target, source + stride.source, size);                          \
            memcpy(target + 2 * stride.target, source + 2 * stride.source, size);                  \
            memcpy(target + 3 * stride.target, source + 3 * stride.source, size);                  \
            target = wr_at(target, step(stride.target, 4));                                        \
            source = wr_at(source, step(stride.source, 4));                                        \
        }                                                                                          \
        for (; count > 0; count--) {                                                               \
            memcpy(target, source, size);                                                          \
            target = wr_at(target, stride.target);                                                 \
            source = wr_at(source, stride.source);                                                 \
        }                                                                                          \
    }

COPY_OF(1)
COPY_OF(2)
COPY_OF(4)
COPY_OF(6)
COPY_OF(8)
COPY_OF(12)
COPY_OF(16)
COPY_OF(24)
COPY_OF(32)
COPY_OF(48)
COPY_OF(64)

/* Elements of 4 and 8 bytes into contiguous memory: 16 bytes collected for each store. */
static void gather_4(char *restrict target, const char *restrict source, wr_strides stride,
                     int64_t count)
{
    for (; count >= 4; count -= 4) {
        uint32_t four[4];
        memcpy(&four[0], source, 4);
        memcpy(&four[1], source + stride.source, 4);
        memcpy(&four[2], source + 2 * stride.source, 4);
        memcpy(&four[3], source + 3 * stride.source, 4);
        memcpy(target, four, 16);
        target += 16;
        source = wr_at(source, step(stride.source, 4));
    }
    copy_4(target, source, stride, count);
}

static void gather_8(char *restrict target, const char *restrict source, wr_strides stride,
                     int64_t count)
{
    for (; count >= 2; count -= 2) {
        uint64_t two[2];
        memcpy(&two[0], source, 8);
        memcpy(&two[1], source + stride.source, 8);
        memcpy(target, two, 16);
        target += 16;
        source = wr_at(source, step(stride.source, 2));
    }
    copy_8(target, source, stride, count);
}

void wr_copy_batch(char *restrict target, const char *restrict source, wr_strides stride,
                   int64_t run, int64_t count)
{
    switch (run) {
    case 1:
        copy_1(target, source, stride, count);
        return;
    case 2:
        copy_2(target, source, stride, count);
        return;
    case 4:
        (stride.target == 4 ? gather_4 : copy_4)(target, source, stride, count);
        return;
    case 6:
        copy_6(target, source, stride, count);
        return;
    case 8:
        (stride.target == 8 ? gather_8 : copy_8)(target, source, stride, count);
        return;
    case 12:
        copy_12(target, source, stride, count);
        return;
    case 16:
        copy_16(target, source, stride, count);
        return;
    case 24:
        copy_24(target, source, stride, count);
        return;
    case 32:
        copy_32(target, source, stride, count);
        return;
    case 48:
        copy_48(target, source, stride, count);
        return;
    case 64:
        copy_64(target, source, stride, count);
        return;
    default:
        for (; count > 0; count--) {
            memcpy(target, source, (size_t)run);
            target = wr_at(target, stride.target);
            source = wr_at(source, stride.source);
        }
    }
}

int64_t wr_pack_cursor(wr_cursor *c, char *base, char *buffer, int64_t bytes,
                       enum wr_packing packing)
{
    int64_t left = bytes;
    for (wr_batch b; left > 0 && wr_cursor_next(c, left, &b); left -= b.run * b.count) {
        char *place = wr_at(base, b.offset);
        if (packing == WR_PACK)
            wr_copy_batch(buffer, place, (wr_strides){b.stride, b.run}, b.run, b.count);
        else
            wr_copy_batch(place, buffer, (wr_strides){b.run, b.stride}, b.run, b.count);
        buffer += b.run * b.count;
    }
    return bytes - left;
}

/* A batch whose runs can be cut into runs of `run` bytes one stride apart, if it can: one run of
 * any multiple of `run` bytes. */
static bool divide(wr_batch *b, int64_t run)
{
    if (b->run == run)
        return true;
    if (b->run < run || b->run % run)
        return false;
    *b = (wr_batch){b->offset, run, run, b->run / run, b->data};
    return true;
}

/* Gives both batches the same run and count; afterwards each covers a prefix of what it did. */
static void match(wr_batch *from, wr_batch *to)
{
    int64_t run = wr_min(from->run, to->run);
    if (!divide(from, run) || !divide(to, run)) {
        from->run = from->stride = to->run = to->stride = run;
        from->count = to->count = 1;
    }
    from->count = to->count = wr_min(from->count, to->count);
}

int64_t wr_copy_cursors(wr_cursor *from, const char *source, wr_cursor *to, char *target,
                        int64_t bytes)
{
    int64_t left = bytes;
    wr_batch f, t;
    while (left > 0 && wr_cursor_peek(from, &f) && wr_cursor_peek(to, &t)) {
        match(&f, &t);
        int64_t part = wr_min(f.run * f.count, left);
        if (part < f.run) {
            f.run = part;
            f.count = 1;
        } else {
            f.count = part / f.run;
        }
        part = f.run * f.count;
        wr_copy_batch(wr_at(target, t.offset), wr_at(source, f.offset),
                      (wr_strides){f.stride, t.stride}, f.run, f.count);
        wr_cursor_skip(from, part);
        wr_cursor_skip(to, part);
        left -= part;
    }
    return bytes - left;
}

static int pack(const weir_pattern *pattern, wr_batch range, char *base, char *buffer,
                enum wr_packing packing)
{
    int64_t all = weir_pattern_bytes(pattern), first = range.data, bytes = range.run;
    if (first < 0 || bytes < 0 || first > all || bytes > all - first)
        return wr_fail(WEIR_EINVAL, "%s: %lld bytes from %lld on, of a pattern of %lld",
                       packing == WR_PACK ? "pack" : "unpack", (long long)bytes, (long long)first,
                       (long long)all);
    wr_cursor c;
    wr_cursor_init(&c, pattern);
    wr_cursor_seek_data(&c, first);
    wr_pack_cursor(&c, base, buffer, bytes, packing);
    return 0;
}

/* `base` is only read. */
int weir_pattern_pack(const weir_pattern *pattern, int64_t first, int64_t bytes, const void *base,
                      void *buffer)
{
    return pack(pattern, (wr_batch){.data = first, .run = bytes}, (char *)base, buffer, WR_PACK);
}

/* `buffer` is only read. */
int weir_pattern_unpack(const weir_pattern *pattern, int64_t first, int64_t bytes, void *base,
                        const void *buffer)
{
    return pack(pattern, (wr_batch){.data = first, .run = bytes}, base, (char *)buffer, WR_UNPACK);
}

int weir_pattern_copy(const weir_pattern *from, const void *source, const weir_pattern *to,
                      void *target)
{
    int64_t bytes = weir_pattern_bytes(from);
    if (bytes != weir_pattern_bytes(to))
        return wr_fail(WEIR_EINVAL, "pattern: copying %lld bytes to %lld", (long long)bytes,
                       (long long)weir_pattern_bytes(to));
    wr_cursor f, t;
    wr_cursor_init(&f, from);
    wr_cursor_init(&t, to);
    wr_copy_cursors(&f, source, &t, target, bytes);
    return 0;
}
