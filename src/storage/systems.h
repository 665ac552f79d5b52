/* What kind of file system holds a file: one whose state all hosts see at once, or one whose hosts
 * keep copies of their own (docs/coherence.md). */
#ifndef WR_STORAGE_SYSTEMS_H
#define WR_STORAGE_SYSTEMS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>

enum wr_coherence {
    WR_WEAK, /* hosts may see old data, sizes and names, and write whole pages of them where they
              * hold no lock; also what is not known */
    WR_WEAK_BYTES, /* likewise, but what is written goes out as it is */
    WR_SHARED,     /* several hosts have it, and all see the newest state */
    WR_OWN,        /* it is this machine's alone */
};

typedef struct wr_system {
    const char *name;
    uint32_t type; /* statfs's f_type */
    enum wr_coherence coherence;
} wr_system;

static inline bool wr_system_is_weak(const wr_system *system)
{
    return system->coherence == WR_WEAK || system->coherence == WR_WEAK_BYTES;
}

/* The file system of an open file; of an overlay, the one that takes what is written. Never NULL:
 * one that is not in the table is "unknown", and weak. *number tells it from others, 0: not known.
 */
const wr_system *wr_system_of(int fd, int64_t *number);

/* Whether the file system of a path, which is as for openat, is trusted; of a file that is not
 * there, that of its folder. */
bool wr_system_trusts(int from, const char *path);

/* Lists the folder of `path`, which is as for openat, up to its name, if its file system is weak
 * and lets us; otherwise false. Then names are as they are by now on the file system, and, on those
 * that keep small files whole, their contents. errno may change. */
bool wr_system_list(int from, const char *path);

/* That of an open file. */
void wr_system_list_open(int fd);

/* fcntl with a lock, on its way to a server perhaps, that no signal interrupts: GlusterFS's client
 * waits for ever when two requests for locks are interrupted. */
int wr_system_lock(int fd, int command, struct flock *range);

/* What this host has written to the file is with the file system, and what it has cached of it,
 * data, size and mappings, is not used any more. 0 or an errno. */
int wr_system_refresh(int fd, bool writable);

/* The same where the folder of the file has just been listed. */
int wr_system_refresh_listed(int fd, bool writable);

#endif
