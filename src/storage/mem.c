/* Files in this process's memory, by name: posix on memfds.
 *
 * The one thing of this room that belongs to the process and not to an owner: ranks that are
 * threads must find each other's files. Each open has a description of its own, so that locks work
 * between them as between processes. A file lives until wr_mem_unlink. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storage/backends.h"
#include "storage/posix_fd.h"

typedef struct file {
    struct file *next;
    int fd;
    char path[];
} file;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static file *files;

static file **find(const char *path)
{
    file **place = &files;
    while (*place && strcmp((*place)->path, path))
        place = &(*place)->next;
    return place;
}

static file *create(const char *path)
{
    size_t length = strlen(path) + 1;
    file *f = wr_alloc((int64_t)(sizeof *f + length));
    if (!f)
        return NULL;
    memcpy(f->path, path, length);
    f->fd = memfd_create("weir", MFD_CLOEXEC);
    if (f->fd < 0) {
        wr_fail_system(errno, path, -1, "create");
        wr_free(f);
        return NULL;
    }
    f->next = files;
    files = f;
    return f;
}

static int open_locked(wr_storage *s, int flags)
{
    file *f = *find(s->path);
    if (f && (flags & WR_OPEN_EXCLUSIVE))
        return wr_fail_system(EEXIST, s->path, -1, "open");
    if (!f && !(flags & WR_OPEN_CREATE))
        return wr_fail_system(ENOENT, s->path, -1, "open");
    if (!f && !(f = create(s->path)))
        return weir_error_last()->code;
    char same[40];
    snprintf(same, sizeof same, "/proc/self/fd/%d", f->fd);
    return wr_posix_open_at(s, same, flags & ~(WR_OPEN_CREATE | WR_OPEN_EXCLUSIVE));
}

static int open_mem(wr_storage *s, int flags)
{
    pthread_mutex_lock(&mutex);
    int code = open_locked(s, flags);
    pthread_mutex_unlock(&mutex);
    return code;
}

int wr_mem_unlink(const char *path)
{
    pthread_mutex_lock(&mutex);
    file **place = find(path), *f = *place;
    if (f)
        *place = f->next;
    pthread_mutex_unlock(&mutex);
    if (!f)
        return wr_fail_system(ENOENT, path, -1, "unlink");
    close(f->fd);
    wr_free(f);
    return 0;
}

const wr_storage_ops wr_mem_ops = {
    .name = "mem",
    .help = "files in the memory of this process, gone when it ends",
    .open = open_mem,
    .close = wr_posix_close,
    .submit = wr_posix_submit,
    .reap = wr_posix_reap,
    .get_size = wr_fd_get_size,
    .set_size = wr_fd_set_size,
    .sync = wr_fd_sync,
    .lock = wr_fd_lock,
};
