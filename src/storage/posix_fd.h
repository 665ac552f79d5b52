/* An open file as descriptors: what posix, pool, uring and mem have in common.
 *
 * There is a buffered descriptor and, where direct access was asked for and is possible, one with
 * O_DIRECT, through which the aligned body of every extent goes; heads and tails go through the
 * buffered one. Bodies are whole pages of the file, so that no page is accessed both ways.
 *
 * A lane cuts transfers into pieces, each of which one system call can move, and owns what a piece
 * needs meanwhile. One piece is under way in a lane. */
#ifndef WR_STORAGE_POSIX_FD_H
#define WR_STORAGE_POSIX_FD_H

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "storage/parts.h"

/* The first member of the state of every backend that uses the functions below as its own. */
typedef struct wr_fd {
    int buffered;
    int direct;           /* -1: none */
    _Atomic bool refused; /* the kernel gave us `direct` but moves nothing through it */
    bool readable, writable;
    bool plain;       /* every transfer of one run can be one system call */
    int64_t limit;    /* what is written ends here: the storage's, or INT64_MAX */
    int64_t barriers; /* how often WR_LOCK_BARRIER is held */
    int64_t align;    /* of offsets and lengths through `direct` */
    int64_t memory_align;
} wr_fd;

/* Opens the file at s->origin, or else at `path`, which s->path is the user's name of, and sets
 * s->facts. If there is s->twin it is that file, or WEIR_EIO with ESTALE. */
int wr_fd_open(wr_storage *s, wr_fd *f, const char *path, int flags);
/* Whether the file that it opens, or creates, is on a file system that is trusted (systems.h). */
bool wr_fd_is_trusted(const wr_storage *s);
/* 0 or an errno. */
int wr_fd_close(wr_fd *f);

struct stat;
wr_file_mark wr_mark_of(const struct stat *status);

/* Of a regular file, as the file system knows it now; false: it must be opened to tell. */
bool wr_twin_size(const wr_twin *twin, int64_t *size);

int wr_fd_get_size(wr_storage *s, int64_t *size);
int wr_fd_set_size(wr_storage *s, int64_t size);
int wr_fd_sync(wr_storage *s, enum wr_sync how);
int wr_fd_lock(wr_storage *s, int kind, int64_t lo, int64_t hi);

enum { WR_IOVS = 1024, WR_BOUNCE = WR_PART };

/* Takes at most 16 KiB for entries and WR_BOUNCE and a page for a bounce buffer, from the budget
 * and only once needed; does without where that fails. */
typedef struct wr_lane {
    wr_storage *storage;
    wr_fd *fd;
    struct iovec *iov;
    char *bounce;
} wr_lane;

typedef struct wr_piece {
    int fd;       /* -1: lies behind the limit, and fails with EFBIG */
    int entries;  /* 0: `memory`; otherwise so many of the lane's iov */
    bool bounced; /* `memory` is the lane's bounce buffer */
    char *memory;
    int64_t offset, bytes;
} wr_piece;

void wr_lane_init(wr_lane *lane, wr_storage *s, wr_fd *f);
void wr_lane_release(wr_lane *lane);

/* The piece of t that starts at data position `at` and ends at `end` or before. */
void wr_lane_cut(wr_lane *lane, const wr_transfer *t, int64_t at, int64_t end, wr_piece *piece);

/* One system call for a piece: what it moved, or -errno. */
int64_t wr_lane_move(const wr_lane *lane, enum wr_direction direction, const wr_piece *p);

/* To be called when the piece has moved `result` bytes, or failed with -result. Returns the errno
 * of the attempt; EAGAIN where another attempt will go past the cause. */
int wr_lane_finish(wr_lane *lane, const wr_transfer *t, int64_t at, const wr_piece *piece,
                   int64_t result);

/* Moves [from, to) of t by system calls until one stops short. Returns 0 or an errno. */
int wr_lane_run(wr_lane *lane, const wr_transfer *t, int64_t from, int64_t to, int64_t *moved);

/* Whether a transfer is one call of the buffered descriptor. */
static inline bool wr_fd_is_plain(const wr_fd *f, const wr_transfer *t)
{
    return t->count == 1 && f->plain;
}

/* An attempt at a plain transfer. Inline because small ones come in batches, and after a system
 * call each return from a function costs as much as dozens of instructions. */
static inline void wr_fd_move(const wr_fd *f, wr_transfer *t)
{
    char *memory = t->memory + t->done;
    size_t left = (size_t)(t->run - t->done);
    int64_t offset = t->offset + t->done;
    ssize_t moved = t->direction == WR_READ ? pread(f->buffered, memory, left, offset)
                                            : pwrite(f->buffered, memory, left, offset);
    t->error = moved < 0 ? errno : 0;
    t->done += moved < 0 ? 0 : moved;
}

#endif
