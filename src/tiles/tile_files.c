/* A file is written under another name, and takes its own when it is whole, so that whoever reads
 * finds the old one or the new one. Where hosts cache, only a new file is: a name that changes
 * hands while another host lists the folder, as it must, may lose its file (docs/coherence.md).
 * What is there is written in place, and files are locked while they are read and written. */
#include "tiles/tile_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/limit.h"
#include "storage/lock.h"
#include "storage/paths.h"
#include "storage/systems.h"

#define NOTHING UINT64_MAX /* an entry of a shard's index that has no tile */

/* Others may encode worse than we do, but not without bounds. */
enum { SLACK = 64 << 10 };

void wr_tile_name(const wr_tiles *t, int64_t shard, char name[WR_TILE_NAME])
{
    int64_t number[WR_TILES_DIMENSIONS];
    char *at = name, *end = name + WR_TILE_NAME;
    for (int d = t->dimensions - 1; d >= 0; d--) {
        number[d] = shard % t->grid[d];
        shard /= t->grid[d];
    }
    at += snprintf(at, (size_t)(end - at), "%s", t->prefixed ? "c" : t->dimensions ? "" : "0");
    for (int d = 0; d < t->dimensions; d++) {
        if (d || t->prefixed)
            *at++ = t->separator;
        at += snprintf(at, (size_t)(end - at), "%lld", (long long)number[d]);
    }
}

/* The numbers of a name are read with whatever is between them, and the name told again. */
int64_t wr_tile_number(const wr_tiles *t, const char *name)
{
    char again[WR_TILE_NAME];
    int64_t shard = 0;
    const char *at = name;
    for (int d = 0; d < t->dimensions; d++) {
        int64_t number = 0;
        while (*at && (*at < '0' || *at > '9'))
            at++;
        for (; *at >= '0' && *at <= '9'; at++)
            if (!wr_mul(number, 10, &number) || !wr_add(number, *at - '0', &number))
                return -1;
        if (number >= t->grid[d])
            return -1;
        shard = shard * t->grid[d] + number;
    }
    wr_tile_name(t, shard, again);
    return strcmp(name, again) ? -1 : shard;
}

/* --- errors --- */

static int blame(const wr_tile_hand *h, int code, int64_t tile, int64_t offset)
{
    const wr_tiles *t = &h->files->what;
    char name[WR_TILE_NAME], path[WR_PATH], text[60];
    const weir_error error = *weir_error_last();
    const char *where = h->files->path;
    if (!code)
        return 0;
    if (h->files->file < 0) {
        wr_tile_name(t, tile / t->inner, name);
        if (!wr_path_join(h->files->path, name, path, sizeof path))
            where = path;
    }
    wr_error_raise(&error);
    snprintf(text, sizeof text, "tile %lld", (long long)tile);
    wr_error_prefix(text);
    wr_error_note_file(where, offset);
    return code;
}

static int fail_system(int errnum, const char *what)
{
    return wr_fail_system(errnum, "", -1, what);
}

/* --- files of hosts that cache --- */

static int set_lock(int fd, short kind)
{
    struct flock first = {.l_type = kind, .l_whence = SEEK_SET, .l_len = 1};
    if (!wr_system_lock(fd, F_OFD_SETLKW, &first) || errno == EINVAL ||
        wr_range_is_unsupported(errno))
        return 0;
    return fail_system(errno, "lock");
}

/* What a file has by now is read, and stays so until it is closed. Who also writes may not rely on
 * the folder's having been listed since the latest sync. */
static int settle(const wr_tile_files *f, int fd)
{
    int code = set_lock(fd, F_RDLCK);
    int wrong = code          ? 0
                : f->writable ? wr_system_refresh(fd, true)
                              : wr_system_refresh_listed(fd, false);
    return wrong ? fail_system(wrong, "look at") : code;
}

/* --- reading --- */

void wr_tile_hand_init(wr_tile_hand *h, const wr_tile_files *files)
{
    *h = (wr_tile_hand){.files = files, .shard = -1, .fd = -1};
}

static void close_file(const wr_tile_hand *h, int fd)
{
    if (fd >= 0 && h->files->weak)
        set_lock(fd, F_UNLCK); /* a client may close it later */
    if (fd >= 0)
        close(fd);
}

static void close_shard(wr_tile_hand *h)
{
    close_file(h, h->fd);
    wr_free(h->index);
    h->index = NULL;
    h->fd = -1;
    h->shard = -1;
}

void wr_tile_hand_forget(wr_tile_hand *h)
{
    close_shard(h);
    h->listed = false;
}

void wr_tile_hand_rest(wr_tile_hand *h)
{
    if (h->files->weak)
        close_shard(h);
}

void wr_tile_hand_release(wr_tile_hand *h)
{
    if (!h->files)
        return;
    wr_tile_hand_forget(h);
    wr_codec_desk_free(h->desk);
    wr_codec_desk_free(h->index_desk);
    wr_free(h->encoded);
    *h = (wr_tile_hand){.files = h->files, .shard = -1, .fd = -1};
}

static int need_desk(wr_tile_hand *h)
{
    const wr_tiles *t = &h->files->what;
    return h->desk ? 0 : wr_codec_desk_new(&t->codecs, t->tile_bytes, &h->desk);
}

static int need_room(wr_tile_hand *h, int64_t bytes)
{
    if (bytes <= h->room)
        return 0;
    wr_free(h->encoded);
    h->encoded = wr_alloc(bytes);
    h->room = h->encoded ? bytes : 0;
    return h->encoded ? 0 : WEIR_ENOMEM;
}

static void fill(const wr_tiles *t, char *to)
{
    int64_t done = t->element;
    memcpy(to, t->fill, (size_t)t->element);
    for (int64_t part; done < t->tile_bytes; done += part) {
        part = wr_min(done, t->tile_bytes - done);
        memcpy(to + done, to, (size_t)part);
    }
}

static int read_fully(int fd, char *to, int64_t bytes, int64_t offset)
{
    for (int64_t done = 0, got; done < bytes; done += got) {
        do
            got = pread(fd, to + done, (size_t)(bytes - done), offset + done);
        while (got < 0 && errno == EINTR);
        if (got < 0)
            return fail_system(errno, "read");
        if (!got)
            return wr_fail(WEIR_EFORMAT, "the file ends within %lld bytes from %lld on",
                           (long long)bytes, (long long)offset);
    }
    return 0;
}

/* Encoded bytes of a file become a tile. */
static int decode(wr_tile_hand *h, int fd, const wr_tile_place *at, char *to)
{
    const wr_tiles *t = &h->files->what;
    const int64_t most = 2 * wr_codecs_bound(&t->codecs, t->tile_bytes) + SLACK;
    if (!t->codecs.count && at->bytes != t->tile_bytes)
        return wr_fail(WEIR_EFORMAT, "%lld bytes, %lld are a tile", (long long)at->bytes,
                       (long long)t->tile_bytes);
    if (!t->codecs.count)
        return read_fully(fd, to, at->bytes, at->offset);
    if (at->bytes > most)
        return wr_fail(WEIR_EFORMAT, "%lld bytes, a tile of %lld takes at most %lld",
                       (long long)at->bytes, (long long)t->tile_bytes, (long long)most);
    int code = need_desk(h);
    if (!code)
        code = need_room(h, at->bytes);
    if (!code)
        code = read_fully(fd, h->encoded, at->bytes, at->offset);
    return code ? code
                : wr_codecs_decode(h->desk, (unsigned)at->skipped, h->encoded, at->bytes, to);
}

/* Hosts that cache may take a name for another file than it has become, or for none, until they
 * list its folder: the first time after a refresh, and those above it. */
static void list_folders(wr_tile_hand *h, const char *name)
{
    const char *last = strrchr(name, '/');
    char folder[WR_TILE_NAME], any[WR_TILE_NAME + 8];
    snprintf(folder, sizeof folder, "%.*s", last ? (int)(last - name) : 0, name);
    if (h->listed && !strcmp(folder, h->folder))
        return;
    for (const char *at = name; at; at = strchr(at, '/')) {
        at += *at == '/';
        snprintf(any, sizeof any, "%.*s%s", (int)(at - name), name, "\1"); /* which is not there */
        wr_system_list(h->files->folder.fd, any);
    }
    memcpy(h->folder, folder, sizeof h->folder);
    h->listed = true;
}

/* -1: there is none. */
static int open_shard(wr_tile_hand *h, int64_t shard, int *fd, struct stat *seen)
{
    char name[WR_TILE_NAME];
    wr_tile_name(&h->files->what, shard, name);
    if (h->files->weak)
        list_folders(h, name);
    const int how = h->files->weak && h->files->writable ? O_RDWR : O_RDONLY;
    *fd = wr_open_once(h->files->folder.fd, name, how | O_CLOEXEC, 0);
    if (*fd < 0)
        return errno == ENOENT ? 0 : fail_system(errno, "open");
    int code = h->files->weak ? settle(h->files, *fd) : 0;
    if (!code && fstat(*fd, seen))
        code = fail_system(errno, "look at");
    if (code) {
        close_file(h, *fd);
        *fd = -1;
    }
    return code;
}

static int read_file(wr_tile_hand *h, int64_t shard, char *to)
{
    struct stat seen;
    int fd, code = open_shard(h, shard, &fd, &seen);
    if (code)
        return code;
    if (fd < 0) {
        fill(&h->files->what, to);
        return 0;
    }
    code = decode(h, fd, &(wr_tile_place){0, seen.st_size, 0}, to);
    close_file(h, fd);
    return code;
}

/* --- shards --- */

static int64_t index_bytes(const wr_tiles *t)
{
    return t->inner * 2 * (int64_t)sizeof(uint64_t);
}

static int need_index_desk(wr_tile_hand *h)
{
    const wr_tiles *t = &h->files->what;
    const wr_codecs sum = {.count = t->index_summed, .codec = {{.kind = WR_CODEC_CRC32C}}};
    return h->index_desk ? 0 : wr_codec_desk_new(&sum, index_bytes(t), &h->index_desk);
}

static void swap_index(const wr_tiles *t, uint64_t *index)
{
    for (int64_t i = 0; t->index_swapped && i < 2 * t->inner; i++)
        index[i] = __builtin_bswap64(index[i]);
}

/* Of h->fd, which has h->seen. */
static int read_index(wr_tile_hand *h)
{
    const wr_tiles *t = &h->files->what;
    const int64_t bytes = index_bytes(t), stored = bytes + (t->index_summed ? 4 : 0);
    if (h->seen.st_size < stored)
        return wr_fail(WEIR_EFORMAT, "the shard has %lld bytes, its index alone has %lld",
                       (long long)h->seen.st_size, (long long)stored);
    char *raw = wr_alloc(stored);
    h->index = wr_alloc(bytes);
    int code = raw && h->index ? need_index_desk(h) : WEIR_ENOMEM;
    if (!code)
        code = read_fully(h->fd, raw, stored, t->index_first ? 0 : h->seen.st_size - stored);
    if (!code && (code = wr_codecs_decode(h->index_desk, 0, raw, stored, h->index)))
        wr_error_prefix("the index of the shard");
    wr_free(raw);
    if (!code)
        swap_index(t, h->index);
    return code;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The shard that has its name now. */
static int hold_shard(wr_tile_hand *h, int64_t shard)
{
    char name[WR_TILE_NAME];
    struct stat now;
    wr_tile_name(&h->files->what, shard, name);
    if (h->shard == shard && h->fd >= 0 && !fstatat(h->files->folder.fd, name, &now, 0) &&
        is_same(&now, &h->seen))
        return 0;
    close_shard(h);
    int code = open_shard(h, shard, &h->fd, &h->seen);
    if (!code && h->fd >= 0)
        code = read_index(h);
    if (code)
        close_shard(h);
    else
        h->shard = shard;
    return code;
}

static int read_entry(wr_tile_hand *h, int64_t tile, char *to)
{
    const wr_tiles *t = &h->files->what;
    int code = hold_shard(h, tile / t->inner);
    if (code)
        return code;
    const uint64_t *entry = h->fd < 0 ? NULL : &h->index[2 * (tile % t->inner)];
    if (!entry || !wr_tile_is_there(entry, 0)) {
        fill(t, to);
        return 0;
    }
    const uint64_t size = (uint64_t)h->seen.st_size;
    if (entry[0] > size || entry[1] > size - entry[0])
        return wr_fail(WEIR_EFORMAT, "%llu bytes from %llu on, of a shard of %llu",
                       (unsigned long long)entry[1], (unsigned long long)entry[0],
                       (unsigned long long)size);
    return decode(h, h->fd, &(wr_tile_place){(int64_t)entry[0], (int64_t)entry[1], 0}, to);
}

/* Where hosts cache, a file that another has replaced can be stale when it is read. */
static int read_named(wr_tile_hand *h, int64_t tile, char *to)
{
    enum { TRIES = 8 };
    int code = 0;
    for (int i = 0; i < TRIES; i++) {
        code = h->files->what.sharded ? read_entry(h, tile, to) : read_file(h, tile, to);
        if (!code || weir_error_last()->errnum != ESTALE)
            return code;
        wr_tile_hand_forget(h);
    }
    return code;
}

int wr_tile_read(wr_tile_hand *h, int64_t tile, char *to)
{
    const wr_tile_files *f = h->files;
    int code;
    if (!f->what.place) {
        code = read_named(h, tile, to);
    } else if (f->what.place[tile].bytes) {
        code = decode(h, f->file, &f->what.place[tile], to);
    } else {
        code = 0;
        fill(&f->what, to);
    }
    return blame(h, code, tile, f->what.place ? f->what.place[tile].offset : -1);
}

int wr_tile_stored(wr_tile_hand *h, int64_t shard, int64_t *bytes, const uint64_t **index)
{
    char name[WR_TILE_NAME];
    struct stat seen;
    int code = 0;
    *bytes = 0;
    *index = NULL;
    if (h->files->what.sharded) {
        code = hold_shard(h, shard);
        *bytes = code || h->fd < 0 ? 0 : h->seen.st_size;
        *index = code ? NULL : h->index;
    } else {
        wr_tile_name(&h->files->what, shard, name);
        if (!fstatat(h->files->folder.fd, name, &seen, 0))
            *bytes = seen.st_size;
        else if (errno != ENOENT)
            code = fail_system(errno, "look at");
    }
    return blame(h, code, shard * h->files->what.inner, -1);
}

/* --- writing --- */

static bool is_fill(const wr_tiles *t, const char *from)
{
    const size_t element = (size_t)t->element;
    return !memcmp(from, t->fill, element) &&
           !memcmp(from, from + element, (size_t)t->tile_bytes - element);
}

int wr_tile_encode(wr_tile_hand *h, const char *from, const void **out, int64_t *length)
{
    const wr_tiles *t = &h->files->what;
    *length = 0;
    const bool kept = t->fill_kept || (!t->sharded && h->files->weak);
    if (!t->place && !kept && is_fill(t, from))
        return 0;
    int code = need_desk(h);
    return code ? code : wr_codecs_encode(h->desk, from, out, length);
}

static int write_fully(int fd, const char *from, int64_t bytes, int64_t offset)
{
    if (bytes > wr_file_limit() - offset)
        return fail_system(EFBIG, "write");
    for (int64_t done = 0, got; done < bytes; done += got) {
        do
            got = pwrite(fd, from + done, (size_t)(bytes - done), offset + done);
        while (got < 0 && errno == EINTR);
        if (got <= 0)
            return fail_system(got ? errno : EIO, "write");
    }
    return 0;
}

/* The folders on the way to a file. */
static int make_folders(int folder, const char *name)
{
    char part[WR_TILE_NAME];
    for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(at - name), name);
        if (mkdirat(folder, part, 0777) && errno != EEXIST)
            return fail_system(errno, "make a folder");
    }
    return 0;
}

static int create(const wr_tile_files *f, const char *name, const char *made, int *fd)
{
    const int how = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    *fd = wr_open_once(f->folder.fd, made, how, 0666);
    if (*fd < 0 && errno == ENOENT) {
        int code = make_folders(f->folder.fd, name);
        if (code)
            return code;
        *fd = wr_open_at(f->folder.fd, made, how, 0666);
    }
    return *fd < 0 ? fail_system(errno, "create") : 0;
}

/* Where each tile goes, and the index of that; returns all their bytes. */
static int64_t lay_out(const wr_tiles *t, const wr_tile_bytes *tiles, int64_t stored,
                       uint64_t *index)
{
    int64_t at = t->index_first ? stored : 0;
    for (int64_t i = 0; i < t->inner; i++) {
        const bool some = tiles[i].length;
        index[2 * i] = some ? (uint64_t)at : NOTHING;
        index[2 * i + 1] = some ? (uint64_t)tiles[i].length : NOTHING;
        at += tiles[i].length;
    }
    return at;
}

static int write_shard(wr_tile_hand *h, int fd, const wr_tile_bytes *tiles)
{
    const wr_tiles *t = &h->files->what;
    const void *encoded;
    int64_t stored = index_bytes(t) + (t->index_summed ? 4 : 0);
    uint64_t *index = wr_alloc(index_bytes(t));
    int code = index ? need_index_desk(h) : WEIR_ENOMEM;
    if (code) {
        wr_free(index);
        return code;
    }
    const int64_t end = lay_out(t, tiles, stored, index);
    for (int64_t i = 0; i < t->inner && !code; i++)
        if (tiles[i].length)
            code = write_fully(fd, tiles[i].data, tiles[i].length, (int64_t)index[2 * i]);
    swap_index(t, index);
    if (!code)
        code = wr_codecs_encode(h->index_desk, index, &encoded, &stored);
    if (!code)
        code = write_fully(fd, encoded, stored, t->index_first ? 0 : end);
    wr_free(index);
    return code;
}

static int write_whole(wr_tile_hand *h, int fd, const wr_tile_bytes *tiles)
{
    return h->files->what.sharded ? write_shard(h, fd, tiles)
                                  : write_fully(fd, tiles->data, tiles->length, 0);
}

/* Bytes of a file. */
static int64_t whole_length(const wr_tiles *t, const wr_tile_bytes *tiles)
{
    int64_t bytes = t->sharded ? index_bytes(t) + (t->index_summed ? 4 : 0) : 0;
    for (int64_t i = 0; i < t->inner; i++)
        bytes += tiles[i].length;
    return bytes;
}

/* A full disk is found before the old bytes are gone. */
static int make_space(int fd, int64_t bytes)
{
    if (bytes > wr_file_limit())
        return fail_system(EFBIG, "write");
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, wr_max(bytes, 1)) &&
        (errno == ENOSPC || errno == EDQUOT))
        return fail_system(errno, "write");
    return 0;
}

static int put_in_place(wr_tile_hand *h, int fd, const wr_tile_bytes *tiles)
{
    const int64_t bytes = whole_length(&h->files->what, tiles);
    int code = set_lock(fd, F_WRLCK);
    if (!code)
        code = make_space(fd, bytes);
    if (!code)
        code = write_whole(h, fd, tiles);
    if (!code && (ftruncate(fd, bytes) || fsync(fd)))
        code = fail_system(errno, "write");
    set_lock(fd, F_UNLCK);
    return code;
}

static int put_new(wr_tile_hand *h, const char *name, const wr_tile_bytes *tiles)
{
    const wr_tile_files *f = h->files;
    char made[WR_TILE_NAME + 24];
    unsigned number;
    int fd;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return fail_system(errno, "find a name for");
    snprintf(made, sizeof made, "%s.partial-%08x", name, number);
    int code = create(f, name, made, &fd);
    if (code)
        return code;
    code = write_whole(h, fd, tiles);
    if (!code && f->weak && fsync(fd)) /* others must not find it before its bytes */
        code = fail_system(errno, "sync");
    if (close(fd) && !code)
        code = fail_system(errno, "close");
    if (!code && renameat(f->folder.fd, made, f->folder.fd, name))
        code = fail_system(errno, "name");
    if (code)
        unlinkat(f->folder.fd, made, 0);
    return code;
}

static int put(wr_tile_hand *h, const char *name, const wr_tile_bytes *tiles)
{
    int fd = -1;
    if (h->files->weak) {
        list_folders(h, name);
        fd = wr_open_once(h->files->folder.fd, name, O_WRONLY | O_CLOEXEC, 0);
        if (fd < 0 && errno != ENOENT)
            return fail_system(errno, "open");
    }
    if (fd < 0)
        return put_new(h, name, tiles);
    int code = put_in_place(h, fd, tiles);
    if (close(fd) && !code)
        code = fail_system(errno, "close");
    return code;
}

static bool is_empty(const wr_tiles *t, const wr_tile_bytes *tiles)
{
    for (int64_t i = 0; i < t->inner; i++)
        if (tiles[i].length)
            return false;
    return true;
}

int wr_tile_write(wr_tile_hand *h, int64_t shard, const wr_tile_bytes *tiles)
{
    const wr_tile_files *f = h->files;
    const wr_tile_place *place = f->what.place ? &f->what.place[shard] : NULL;
    char name[WR_TILE_NAME];
    int code;
    if (place) {
        code = write_fully(f->file, tiles->data, tiles->length, place->offset);
        return blame(h, code, shard, place->offset);
    }
    wr_tile_name(&f->what, shard, name);
    if (f->weak || !is_empty(&f->what, tiles)) /* what is removed, hosts that cache still find */
        code = put(h, name, tiles);
    else
        code =
            unlinkat(f->folder.fd, name, 0) && errno != ENOENT ? fail_system(errno, "remove") : 0;
    return blame(h, code, shard * f->what.inner, -1);
}
