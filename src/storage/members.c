/* Files of a joined storage, opened when first used and closed by least recent use, so that a set
 * may have more members than a process may have descriptors. */
#include "storage/members.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "storage/backends.h"
#include "storage/lock.h"
#include "storage/posix_fd.h"

/* What of a path is to be found in the folder; all of it if it leads elsewhere. */
static const char *name_in(const char *folder, const char *path)
{
    const size_t length = folder ? strlen(folder) : 0;
    if (!length || strncmp(path, folder, length) != 0 ||
        (path[length] != '/' && folder[length - 1] != '/'))
        return path;
    return path + length + strspn(path + length, "/");
}

static int open_folder(wr_member_files *all, const char *folder, wr_storage_facts *facts)
{
    struct stat status;
    do
        all->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (all->folder < 0 && errno == EINTR);
    if (all->folder < 0 || fstat(all->folder, &status))
        return wr_fail_system(errno, folder, -1, "open");
    facts->identity = (int64_t)status.st_ino;
    facts->mark = wr_mark_of(&status);
    return 0;
}

static int lay_out(wr_member_files *all, const wr_members *members, const char *folder)
{
    char *path = all->paths;
    for (int64_t i = 0; i < all->count; i++) {
        const wr_member *given = &members->member[i];
        int64_t end;
        if (given->skip < 0 || given->bytes < 0)
            return wr_fail(WEIR_EINVAL, "member %lld has a negative size", (long long)i);
        all->member[i] = (wr_member_file){
            .path = path, .skip = given->skip, .bytes = given->bytes, .start = all->size};
        if (!wr_add(given->skip, given->bytes, &end) ||
            !wr_add(all->size, given->bytes, &all->size))
            return wr_fail(WEIR_ERANGE, "members of too many bytes");
        path = stpcpy(path, given->path) + 1;
        all->member[i].name = name_in(folder, all->member[i].path);
    }
    return 0;
}

int wr_member_files_init(wr_member_files *all, wr_storage *s, int flags,
                         const wr_storage_options *options)
{
    const wr_members *members = options->members;
    const char *folder = s->tunables->storage.which == WR_STORAGE_MEM ? NULL : options->folder;
    *all = (wr_member_files){.count = members->count,
                             .folder = -1,
                             .flags = flags,
                             .tunables = *s->tunables,
                             .options = {.log = s->log, .budget = s->budget},
                             .mutex = PTHREAD_MUTEX_INITIALIZER};
    all->tunables.fault = (wr_choice){WR_FAULT_NONE, 0};
    if (folder && all->tunables.storage.which == WR_STORAGE_STRIPED)
        all->tunables.storage.which = WR_STORAGE_AUTO;
    all->options.tunables = &all->tunables;
    int64_t length = 0;
    for (int i = 0; i < members->count; i++)
        length += (int64_t)strlen(members->member[i].path) + 1;
    all->member = wr_alloc_array(all->count, sizeof *all->member);
    all->paths = wr_alloc(length);
    int code = all->member && all->paths ? lay_out(all, members, folder) : WEIR_ENOMEM;
    if (!code && folder)
        code = open_folder(all, folder, &s->facts);
    if (code)
        wr_member_files_release(all);
    return code;
}

/* Called with the mutex held. */
static void close_one(wr_member_files *all, int64_t i)
{
    wr_member_file *m = all->open[i];
    all->open[i] = all->open[--all->opened];
    if (wr_storage_close(m->storage) && !all->failed.code)
        all->failed = *weir_error_last();
    m->storage = NULL;
}

int wr_member_files_release(wr_member_files *all)
{
    while (all->opened)
        close_one(all, all->opened - 1);
    if (all->folder >= 0)
        close(all->folder);
    pthread_mutex_destroy(&all->mutex);
    wr_free(all->open);
    wr_free(all->paths);
    wr_free(all->member);
    if (!all->failed.code)
        return 0;
    return all->failed.errnum ? all->failed.errnum : EIO;
}

wr_member_file *wr_member_files_find(const wr_member_files *all, int64_t offset)
{
    int64_t lo = 0, hi = all->count;
    if (offset >= all->size)
        return NULL;
    while (hi - lo > 1) { /* of several that start there, all but the last are empty */
        int64_t middle = lo + (hi - lo) / 2;
        if (all->member[middle].start <= offset)
            lo = middle;
        else
            hi = middle;
    }
    return &all->member[lo];
}

/* Closes the idle file not held for the longest time; false if there is none. */
static bool close_idle(wr_member_files *all)
{
    int64_t oldest = -1;
    for (int64_t i = 0; i < all->opened; i++) {
        const wr_member_file *m = all->open[i];
        if (!m->held && !m->locked && (oldest < 0 || m->latest < all->open[oldest]->latest))
            oldest = i;
    }
    if (oldest >= 0)
        close_one(all, oldest);
    return oldest >= 0;
}

/* Called with the mutex held: leaves `most` open, if so many are idle. */
static void make_room(wr_member_files *all, int64_t most)
{
    while (all->opened > most && close_idle(all))
        continue;
}

static bool lacks_descriptors(void)
{
    int errnum = weir_error_last()->errnum;
    return errnum == EMFILE || errnum == ENFILE;
}

/* Called with the mutex held. */
static int open_storage(wr_member_files *all, wr_member_file *m)
{
    const wr_origin in_folder = {.file = -1, .folder = all->folder, .name = m->name};
    wr_storage_options options = all->options;
    if (all->folder >= 0) {
        options.origin = &in_folder;
        options.as_it_is = true; /* members of a folder are never striped */
    }
    return wr_storage_open(m->path, all->flags, &options, &m->storage);
}

/* Called with the mutex held. */
static int open_one(wr_member_files *all, wr_member_file *m)
{
    int code = wr_grow((void **)&all->open, &all->room, all->opened + 1, sizeof(wr_member_file *));
    if (code)
        return code;
    make_room(all, WR_MEMBERS_OPEN - 1);
    do
        code = open_storage(all, m);
    while (code && lacks_descriptors() && close_idle(all));
    if (code)
        return code;
    all->open[all->opened++] = m;
    if (m->storage->ops == &wr_pool_ops) /* the others need not find out what was refused */
        all->tunables.storage.which = WR_STORAGE_POOL;
    return 0;
}

int wr_member_files_hold(wr_member_files *all, wr_member_file *m)
{
    pthread_mutex_lock(&all->mutex);
    int code = m->storage ? 0 : open_one(all, m);
    if (!code) {
        m->held++;
        m->latest = ++all->holds;
    }
    pthread_mutex_unlock(&all->mutex);
    return code;
}

void wr_member_files_let_go(wr_member_files *all, wr_member_file *m)
{
    pthread_mutex_lock(&all->mutex);
    m->held--;
    pthread_mutex_unlock(&all->mutex);
}

static bool is_locked(wr_member_files *all, const wr_member_file *m)
{
    pthread_mutex_lock(&all->mutex);
    bool locked = m->locked;
    pthread_mutex_unlock(&all->mutex);
    return locked;
}

static bool is_open(wr_member_files *all, const wr_member_file *m)
{
    pthread_mutex_lock(&all->mutex);
    bool open = m->storage;
    pthread_mutex_unlock(&all->mutex);
    return open;
}

int wr_member_files_lock(wr_member_files *all, const struct wr_range_table *ranges,
                         wr_member_file *m, int kind, int64_t lo, int64_t hi)
{
    const bool unlocks = kind == WR_LOCK_NONE;
    const bool of_range = kind < WR_LOCK_BARRIER;
    const int64_t end = m->start + m->bytes, shift = m->skip - m->start;
    const bool takes_back = kind == WR_LOCK_BELL_NONE || kind == WR_LOCK_CLAIM_NONE;
    if ((unlocks && !is_locked(all, m)) || (takes_back && !is_open(all, m)))
        return 0;
    int code = wr_member_files_hold(all, m);
    if (code)
        return code;
    code = m->storage->ops->lock(m->storage, kind, wr_max(lo, m->start) + shift,
                                 wr_min(hi, end) + shift);
    pthread_mutex_lock(&all->mutex);
    if (of_range)
        m->locked = unlocks ? wr_range_table_meets(ranges, m->start, end) : m->locked || !code;
    m->held--;
    make_room(all, WR_MEMBERS_OPEN);
    pthread_mutex_unlock(&all->mutex);
    return code;
}

static int sync_one(wr_member_files *all, wr_member_file *m, enum wr_sync how)
{
    if (!m->unsynced && !is_open(all, m))
        return 0;
    int code = wr_member_files_hold(all, m);
    if (code)
        return code;
    code = m->storage->ops->sync(m->storage, how);
    wr_member_files_let_go(all, m);
    m->unsynced = code;
    return code;
}

int wr_member_files_sync(wr_member_files *all, enum wr_sync how)
{
    weir_error first = {0};
    for (int64_t i = 0; i < all->count; i++)
        if (sync_one(all, &all->member[i], how) && !first.code)
            first = *weir_error_last();
    pthread_mutex_lock(&all->mutex);
    if (!first.code)
        first = all->failed;
    pthread_mutex_unlock(&all->mutex);
    return first.code ? wr_error_raise(&first) : 0;
}
