/* Transfers are cut into parts: some tiles to be read, a tile to be encoded. Threads take parts in
 * their order, and so does whoever waits for a transfer. The tiles of a shard are encoded by
 * whomever, and kept; who encodes the last one writes the shard. */
#include "tiles/tiles.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/wait.h"
#include "storage/parts.h"
#include "storage/paths.h"
#include "storage/posix_fd.h"
#include "tiles/tile_files.h"

/* Small tiles are read several at a time. */
enum { BATCH = 256 << 10 };

/* A shard that is being written. */
typedef struct shard {
    wr_part part;    /* all of it */
    int64_t claimed; /* tiles that somebody encodes, or has, */
    int64_t left;    /* and those that are not encoded */
    int code;        /* of the first failure */
    wr_tile_bytes tile[];
} shard;

typedef struct job {
    wr_part part;
    shard *shard; /* or NULL */
    int64_t tile; /* of the shard */
} job;

typedef struct worker {
    struct state *state;
    pthread_t thread;
    wr_tile_hand hand;
} worker;

typedef struct state {
    wr_tile_files files;
    wr_storage *lock;  /* the file that ranges are locked on */
    wr_tile_hand hand; /* of whoever waits */

    wr_word work; /* changes when there is some, or the end; */
    wr_word over; /* with each transfer that is */

    pthread_mutex_t mutex; /* of what follows */
    wr_attempts attempts;
    shard *filling; /* whose tiles are claimed now */
    bool stop;
    int64_t epoch;     /* how often it was refreshed */
    weir_error failed; /* why a transfer has, the latest, */
    int failed_errno;  /* with which errno; 0: none */
    bool dirty;
    int64_t threads;
    worker worker[];
} state;

/* --- claiming, with the mutex --- */

/* Bytes from data position `at` on that are one run. */
static int64_t run_left(const wr_transfer *t, int64_t at)
{
    return wr_transfer_is_flat(t) ? wr_transfer_bytes(t) - at : t->run - at % t->run;
}

static int claim_tile(state *p, wr_transfer *t, job *out)
{
    const wr_tiles *w = &p->files.what;
    const int64_t at = t->claimed, shard_bytes = w->inner * w->tile_bytes;
    out->part.bytes = w->tile_bytes;
    if (!p->filling && (wr_transfer_offset(t, at) % shard_bytes || run_left(t, at) < shard_bytes))
        return EINVAL;
    if (!w->sharded)
        return 0;
    if (!p->filling) {
        shard *s = wr_alloc((int64_t)sizeof *s + w->inner * (int64_t)sizeof *s->tile);
        if (!s)
            return ENOMEM;
        *s = (shard){.part = {t, at, shard_bytes}, .left = w->inner};
        memset(s->tile, 0, (size_t)w->inner * sizeof *s->tile);
        p->filling = s;
    }
    out->shard = p->filling;
    out->tile = p->filling->claimed++;
    if (p->filling->claimed == w->inner)
        p->filling = NULL;
    return 0;
}

static void free_shard(const state *p, shard *s)
{
    for (int64_t i = 0; i < p->files.what.inner; i++)
        wr_free((void *)s->tile[i].data);
    wr_free(s);
}

/* Of a transfer that has failed nothing more is claimed. */
static void leave_shard(state *p, const wr_transfer *t)
{
    shard *s = p->filling;
    if (!s || s->part.transfer != t)
        return;
    p->filling = NULL;
    s->code = s->code ? s->code : WEIR_EIO;
    s->left -= p->files.what.inner - s->claimed;
    if (!s->left)
        free_shard(p, s);
}

static void end_part(state *p, const wr_part *part, int64_t moved, int error)
{
    if (error)
        leave_shard(p, part->transfer);
    if (wr_attempts_end(&p->attempts, part, moved, error))
        wr_word_signal(&p->over);
}

static bool claim(state *p, job *out)
{
    const int64_t tile = p->files.what.tile_bytes;
    for (wr_transfer *t; (t = p->attempts.queue.first);) {
        int error = 0;
        *out = (job){.part = {.transfer = t, .at = t->claimed}};
        if (t->direction == WR_READ) {
            const int64_t offset = wr_transfer_offset(t, t->claimed);
            const int64_t end = (offset + BATCH + tile - 1) / tile * tile;
            out->part.bytes = wr_min(run_left(t, t->claimed), end - offset);
            error = offset % tile || out->part.bytes % tile ? EINVAL : 0;
        } else {
            error = claim_tile(p, t, out);
        }
        wr_attempts_claim(&p->attempts, &out->part);
        if (!error)
            return true;
        end_part(p, &out->part, 0, error);
    }
    return false;
}

/* --- working, without it --- */

static int read_part(wr_tile_hand *h, const wr_part *part, int64_t *moved)
{
    const int64_t size = h->files->what.tile_bytes;
    const int64_t first = wr_transfer_offset(part->transfer, part->at) / size;
    char *to = wr_transfer_memory(part->transfer, part->at);
    int code = 0;
    for (; *moved < part->bytes && !code; *moved += code ? 0 : size)
        code = wr_tile_read(h, first + *moved / size, to + *moved);
    wr_tile_hand_rest(h);
    return code;
}

/* Encoded bytes are the hand's, or the transfer's: a shard keeps a copy. */
static int keep_tile(shard *s, int64_t tile, const void *data, int64_t length)
{
    void *copy = length ? wr_alloc(length) : NULL;
    if (length && !copy)
        return WEIR_ENOMEM;
    if (copy)
        memcpy(copy, data, (size_t)length);
    s->tile[tile] = (wr_tile_bytes){copy, length};
    return 0;
}

/* The shard with the errors of its tiles; whose last one this is. */
static int end_shard(state *p, wr_tile_hand *h, shard *s)
{
    const wr_tiles *w = &p->files.what;
    const int64_t number =
        wr_transfer_offset(s->part.transfer, s->part.at) / (w->inner * w->tile_bytes);
    return s->code ? s->code : wr_tile_write(h, number, s->tile);
}

static int write_tile(state *p, wr_tile_hand *h, const job *j)
{
    const char *from = wr_transfer_memory(j->part.transfer, j->part.at);
    wr_tile_bytes one = {NULL, 0};
    int code = wr_tile_encode(h, from, &one.data, &one.length);
    if (!j->shard) {
        const int64_t tile =
            wr_transfer_offset(j->part.transfer, j->part.at) / p->files.what.tile_bytes;
        return code ? code : wr_tile_write(h, tile, &one);
    }
    return code ? code : keep_tile(j->shard, j->tile, one.data, one.length);
}

/* --- what came of it, with the mutex --- */

static int errno_of(int code, const weir_error *error)
{
    const int errnum = error->errnum;
    if (!code || !errnum || errnum == EINTR || errnum == EAGAIN)
        return !code ? 0 : code == WEIR_ENOMEM ? ENOMEM : code == WEIR_EFORMAT ? EBADMSG : EIO;
    return errnum;
}

static void end_job(state *p, const job *j, int64_t moved, int code)
{
    wr_part part = j->part;
    weir_error error = {0};
    if (code)
        error = *weir_error_last();
    if (code && j->shard) /* none of it is written */
        part = j->shard->part;
    if (code) {
        p->failed = error;
        p->failed_errno = errno_of(code, &error);
    }
    end_part(p, &part, code && j->shard ? 0 : moved, errno_of(code, &error));
}

static void work(state *p, wr_tile_hand *h, const job *j)
{
    const wr_transfer *t = j->part.transfer;
    shard *s = j->shard;
    const bool old = h->epoch != p->epoch;
    int64_t moved = 0;
    h->epoch = p->epoch;
    pthread_mutex_unlock(&p->mutex);
    if (old)
        wr_tile_hand_forget(h);
    int code = t->direction == WR_READ ? read_part(h, &j->part, &moved) : write_tile(p, h, j);
    pthread_mutex_lock(&p->mutex);
    bool last = s && !--s->left;
    if (s && code)
        s->code = code;
    if (last && !s->code) {
        pthread_mutex_unlock(&p->mutex);
        code = end_shard(p, h, s);
        pthread_mutex_lock(&p->mutex);
    }
    if (!code && t->direction == WR_WRITE) {
        moved = j->part.bytes;
        p->dirty = true;
    }
    end_job(p, j, moved, code);
    if (last)
        free_shard(p, s);
}

/* --- threads --- */

/* With the mutex, which is released until the word changes: that is done with it, too. */
static void rest(state *p, wr_word *word)
{
    static const wr_waiter sleeper;
    const uint32_t seen = wr_word_get(word);
    pthread_mutex_unlock(&p->mutex);
    wr_wait(word, seen, &sleeper);
    pthread_mutex_lock(&p->mutex);
}

static void *serve(void *user)
{
    worker *w = user;
    state *p = w->state;
    job j;
    pthread_mutex_lock(&p->mutex);
    while (!p->stop)
        if (claim(p, &j))
            work(p, &w->hand, &j);
        else
            rest(p, &p->work);
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

/* With fewer threads than asked for, whoever waits does more of the work. */
static void start_threads(state *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (p->threads < p->files.what.threads) {
        worker *w = &p->worker[p->threads];
        w->state = p;
        wr_tile_hand_init(&w->hand, &p->files);
        if (pthread_create(&w->thread, NULL, serve, w))
            break;
        p->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void submit(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    start_threads(p);
    pthread_mutex_lock(&p->mutex);
    if (!p->attempts.active)
        p->failed_errno = 0;
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        wr_attempts_add(&p->attempts, t);
    }
    wr_word_signal(&p->work);
    pthread_mutex_unlock(&p->mutex);
}

static wr_transfer *reap(wr_storage *s, bool wait)
{
    state *p = s->state;
    wr_transfer *t;
    job j;
    pthread_mutex_lock(&p->mutex);
    while (!(t = wr_attempts_take(&p->attempts)) && p->attempts.active) {
        if ((wait || !p->threads) && claim(p, &j))
            work(p, &p->hand, &j);
        else if (!wait)
            break;
        else if (!p->attempts.over.first)
            rest(p, &p->over);
    }
    pthread_mutex_unlock(&p->mutex);
    return t;
}

/* --- the rest of a storage --- */

static int get_size(wr_storage *s, int64_t *size)
{
    const state *p = s->state;
    *size = p->files.what.shards * p->files.what.inner * p->files.what.tile_bytes;
    return 0;
}

static int set_size(wr_storage *s, int64_t size)
{
    int64_t now;
    get_size(s, &now);
    if (size == now)
        return 0;
    wr_fail(WEIR_EUNSUPPORTED, "tiles keep their size of %lld bytes", (long long)now);
    wr_error_note_file(s->path, size);
    return WEIR_EUNSUPPORTED;
}

/* All of the file system by one call; where hosts cache, files are stored as they are written. */
static int store(wr_storage *s)
{
    state *p = s->state;
    const wr_tile_files *f = &p->files;
    if (p->dirty && (f->what.place ? fsync(f->file) : syncfs(f->folder.fd)))
        return wr_fail_system(errno, s->path, -1, "sync");
    p->dirty = false;
    return 0;
}

static int sync_tiles(wr_storage *s, enum wr_sync how)
{
    state *p = s->state;
    int code = store(s);
    if (code || how == WR_SYNC_STORE)
        return code;
    pthread_mutex_lock(&p->mutex);
    p->epoch++;
    pthread_mutex_unlock(&p->mutex);
    return p->lock->ops->sync(p->lock, how);
}

static int lock_range(wr_storage *s, int kind, int64_t lo, int64_t hi)
{
    state *p = s->state;
    return p->lock->ops->lock(p->lock, kind, lo, hi);
}

static int explain(const wr_storage *s, const wr_transfer *t)
{
    state *p = s->state;
    pthread_mutex_lock(&p->mutex);
    const bool known = t->error && t->error == p->failed_errno;
    const weir_error error = p->failed;
    pthread_mutex_unlock(&p->mutex);
    return known ? wr_error_raise(&error) : 0;
}

static void close_tiles(wr_storage *s)
{
    state *p = s->state;
    pthread_mutex_lock(&p->mutex);
    p->stop = true;
    wr_word_signal(&p->work);
    pthread_mutex_unlock(&p->mutex);
    for (int64_t i = 0; i < p->threads; i++) {
        pthread_join(p->worker[i].thread, NULL);
        wr_tile_hand_release(&p->worker[i].hand);
    }
    wr_tile_hand_release(&p->hand);
    if (wr_storage_close(p->lock))
        s->close_error = weir_error_last()->errnum;
    wr_folder_close(&p->files.folder);
    pthread_mutex_destroy(&p->mutex);
    wr_free((void *)p->files.what.place);
    wr_free(p);
}

/* The file that ranges are locked on, which of one file is that. */
static int open_lock(wr_storage *s, state *p, int flags)
{
    char path[WR_PATH];
    wr_tunables tunables = *s->tunables;
    wr_storage_options options = {
        .tunables = &tunables, .log = s->log, .budget = s->budget, .as_it_is = true};
    tunables.fault = (wr_choice){WR_FAULT_NONE, 0};
    tunables.storage = (wr_choice){WR_STORAGE_POSIX, 0};
    tunables.direct = (wr_choice){WR_SWITCH_NEVER, 0};
    if (p->files.what.place)
        return wr_storage_open(s->path, flags, &options, &p->lock);
    int code = wr_path_join(s->path, p->files.what.lock, path, sizeof path);
    return code ? code : wr_storage_open(path, flags, &options, &p->lock);
}

static int open_folder(wr_storage *s, state *p)
{
    struct stat status;
    int code = wr_folder_open(&wr_folder_here, s->path, &p->files.folder);
    if (code)
        return code;
    if (fstat(p->files.folder.fd, &status))
        return wr_fail_system(errno, s->path, -1, "look at");
    s->facts.identity = (int64_t)status.st_ino;
    s->facts.mark = wr_mark_of(&status);
    return 0;
}

static int copy_places(wr_tiles *w)
{
    const int64_t bytes = w->shards * (int64_t)sizeof *w->place;
    wr_tile_place *copy = w->place ? wr_alloc(bytes) : NULL;
    if (w->place && !copy)
        return WEIR_ENOMEM;
    w->place = copy ? memcpy(copy, w->place, (size_t)bytes) : NULL;
    return 0;
}

/* What a MiB takes besides reading and writing bytes: codecs, and files that are opened. */
static void set_prices(const wr_tiles *w, int64_t ns[2])
{
    enum { READ_NS = 12000, WRITE_NS = 30000 };
    const int64_t files = (1 << 20) / wr_min(1 << 20, w->tile_bytes);
    ns[WR_READ] = (wr_codecs_decode_ns(&w->codecs) + files * READ_NS) / (w->threads + 1);
    ns[WR_WRITE] = (wr_codecs_encode_ns(&w->codecs) + files * WRITE_NS) / (w->threads + 1);
}

static int open_tiles(wr_storage *s, int flags)
{
    const wr_tiles *given = s->given;
    state *p = wr_alloc((int64_t)sizeof *p + given->threads * (int64_t)sizeof(worker));
    if (!p)
        return WEIR_ENOMEM;
    *p = (state){.files = {.what = *given, .folder.fd = -1, .file = -1, .path = s->path},
                 .mutex = PTHREAD_MUTEX_INITIALIZER};
    wr_tile_hand_init(&p->hand, &p->files);
    s->state = p;
    p->files.writable = flags & WR_OPEN_WRITE;
    int code = copy_places(&p->files.what);
    if (code)
        p->files.what.place = NULL;
    if (!code)
        code = wr_codecs_check(&given->codecs);
    if (!code)
        code = open_lock(s, p, flags & (WR_OPEN_READ | WR_OPEN_WRITE));
    if (!code)
        s->facts = p->lock->facts;
    if (!code && !given->place)
        code = open_folder(s, p);
    if (code) {
        weir_error error = *weir_error_last();
        close_tiles(s);
        return wr_error_raise(&error);
    }
    p->files.file = given->place ? p->lock->plain_fd : -1;
    p->files.weak = s->facts.weak;
    s->facts.granule[WR_READ] = given->tile_bytes;
    s->facts.granule[WR_WRITE] = given->tile_bytes * (p->files.writable ? given->inner : 1);
    s->facts.batch = (given->threads + 1) * given->tile_bytes;
    set_prices(given, s->facts.coding);
    s->facts.alignment = 1;
    s->facts.direct = false;
    s->facts.descriptor = -1;
    return 0;
}

const wr_storage_ops wr_tiles_ops = {
    .name = "tiles",
    .help = "tiles of an array, encoded",
    .open = open_tiles,
    .close = close_tiles,
    .submit = submit,
    .reap = reap,
    .get_size = get_size,
    .set_size = set_size,
    .sync = sync_tiles,
    .lock = lock_range,
    .explain = explain,
};
