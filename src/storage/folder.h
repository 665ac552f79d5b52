/* Entries of an open folder: making, reading, renaming, removing and syncing them.
 *
 * Names count from the descriptor, so they mean the same wherever the process, or the folder, has
 * gone since it was opened. The last part of a name is never followed where it is a link, unless it
 * says so. Every failure carries errno, and the path by the folder's name when it was opened. */
#ifndef WR_STORAGE_FOLDER_H
#define WR_STORAGE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WR_PATH = 4096 }; /* the system's longest path, with its end */

typedef struct wr_folder {
    int fd; /* -1: none */
    char path[WR_PATH];
} wr_folder;

/* Names as they are: from where the process is. */
extern const wr_folder wr_folder_here;

/* openat, again where it was interrupted: network file systems. The thread sanitizer follows the
 * descriptors of open, not those of openat, so that is used where it will do. */
int wr_open_once(int folder, const char *name, int flags, mode_t mode);

/* The same; what is not there is looked for again where another host may have made it meanwhile. */
int wr_open_at(int folder, const char *name, int flags, mode_t mode);

/* The folder `path` in `in`, by links too. Where it cannot be read its entries can still be
 * made. To be closed, also if this fails. */
int wr_folder_open(const wr_folder *in, const char *path, wr_folder *out);

/* The same, if neither `path` nor a part of it is a link or leads out of `in`; WEIR_EACCESS if. */
int wr_folder_open_inside(const wr_folder *in, const char *path, wr_folder *out);
void wr_folder_close(wr_folder *folder);

/* Names made, renamed and removed in it survive a crash. */
int wr_folder_sync(const wr_folder *folder);

/* The longest name of an entry. */
int64_t wr_folder_longest(const wr_folder *folder);

/* What has a name, and whose it is. */
enum wr_folder_entry_kind {
    WR_ENTRY_NONE,
    WR_ENTRY_FILE,
    WR_ENTRY_FOLDER,
    WR_ENTRY_LINK,
    WR_ENTRY_OTHER
};

typedef struct wr_folder_entry {
    enum wr_folder_entry_kind kind;
    mode_t mode; /* permissions */
    uid_t user;
    gid_t group;
    int64_t links;
    dev_t device;
    ino_t number;
} wr_folder_entry;

int wr_folder_look(const wr_folder *in, const char *name, bool follow, wr_folder_entry *out);

/* A number that no other file has, nor a copy of this one: it stays when it is renamed, and when
 * the machine starts again, unless the file system has other ideas. */
int wr_folder_identify(const wr_folder *in, const char *name, uint64_t *identity);

/* `replace`: a file takes the place of a file. Otherwise WEIR_EEXIST if `to` is there, for folders
 * too; where the file system cannot look and rename at once, two renames of folders to one name may
 * both succeed. */
int wr_folder_rename(const wr_folder *in, const char *from, const char *to, bool replace);

/* Both are there, and each gets the other's name at once. WEIR_EUNSUPPORTED where the file system
 * cannot. */
int wr_folder_exchange(const wr_folder *in, const char *a, const char *b);

/* A second name for what is no folder. */
int wr_folder_link(const wr_folder *in, const char *from, const char *to);

/* A file has only those of its permissions that are in `mode` as well. */
int wr_folder_restrict(const wr_folder *in, const char *name, mode_t mode);

/* A file, a link or an empty folder: WEIR_ENOENT if there is none, WEIR_EEXIST if it is not empty.
 */
int wr_folder_remove(const wr_folder *in, const char *name);

/* Whose something new is to be, as far as the process may: NULL: as of everything it makes. */
typedef struct wr_owner {
    uid_t user;
    gid_t group;
    mode_t file, folder;
} wr_owner;

/* WEIR_EEXIST if `made` is NULL and it is there, or if it is not a folder; otherwise *made tells
 * whether it was not there. */
int wr_folder_make(const wr_folder *in, const char *name, const wr_owner *owner, bool *made);

/* What a file gets. */
typedef struct wr_content {
    const void *data;
    int64_t bytes;
    int64_t size;   /* the rest reads as zeros, and takes no space where that can be */
    bool exclusive; /* WEIR_EEXIST if it is there; otherwise that is overwritten */
    bool sync;      /* it is in stable storage then; its name is not: wr_folder_sync */
    const wr_owner *owner;
} wr_content;

/* On failure the file is removed. */
int wr_folder_put(const wr_folder *in, const char *name, const wr_content *content);

/* A file's data and size are in stable storage. */
int wr_folder_sync_file(const wr_folder *in, const char *name);

/* Calls `each` for the names in it, but . and .., until that returns other than 0; returns that. */
int wr_folder_each(const wr_folder *folder,
                   int (*each)(void *user, const wr_folder *in, const char *name), void *user);

/* A whole file, with a NUL behind its *length bytes; the caller's to wr_free. A file of more than
 * `most` bytes, or one that is not regular, is WEIR_EFORMAT. Takes the file's size and a byte. */
int wr_folder_read(const wr_folder *in, const char *name, int64_t most, char **text,
                   int64_t *length);

/* The first `most` bytes of a file, or all *got that there are, and its size. A file that is not
 * regular is WEIR_EFORMAT. Both follow links. */
int wr_folder_head(const wr_folder *in, const char *name, int64_t most, char *out, int64_t *got,
                   int64_t *size);

#endif
