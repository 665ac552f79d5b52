/* Names of files and folders, and whole small files: what there is to do besides transfers.
 *
 * Every failure carries the path and errno. Nothing here keeps anything open. */
#ifndef WR_STORAGE_PATHS_H
#define WR_STORAGE_PATHS_H

#include <stdbool.h>
#include <stdint.h>

enum { WR_PATH = 4096 }; /* the system's longest path, with its end */

/* Whether there is something of that name, if only a link that leads nowhere. */
int wr_path_exists(const char *path, bool *exists);

/* `replace`: a file takes the place of a file. Otherwise WEIR_EEXIST if `to` is there, for folders
 * too; where the file system cannot look and rename at once, two renames of folders to one name may
 * both succeed. */
int wr_path_rename(const char *from, const char *to, bool replace);

/* Both are there, and each gets the other's name at once. WEIR_EUNSUPPORTED where the file system
 * cannot. */
int wr_path_exchange(const char *a, const char *b);

/* Whether it is a folder; it must be there. */
int wr_path_is_folder(const char *path, bool *folder);

/* A file or an empty folder: WEIR_ENOENT if there is none, WEIR_EEXIST if it is not empty. */
int wr_path_remove(const char *path);

/* WEIR_EEXIST if it is there and `exclusive`, or is not a folder. */
int wr_path_make_folder(const char *path, bool exclusive);

/* A whole file, with a NUL behind its *length bytes; the caller's to wr_free. A file of more than
 * `most` bytes, or one that is not regular, is WEIR_EFORMAT. Takes the file's size and a byte. */
int wr_path_read(const char *path, int64_t most, char **text, int64_t *length);

/* The first `most` bytes of a file, or all *got that there are, and its size. A file that is not
 * regular is WEIR_EFORMAT. */
int wr_path_head(const char *path, int64_t most, char *out, int64_t *got, int64_t *size);

/* A whole file, in stable storage when this returns (its name is not: wr_path_sync_folder). Not
 * `exclusive`: what was there is overwritten. On failure the file is removed. */
int wr_path_write(const char *path, const void *data, int64_t bytes, bool exclusive);

/* A new file of `size` bytes that starts with `head`; the rest reads as zeros and takes no space
 * where the file system can do that. Not synced. On failure the file is removed. */
int wr_path_fill(const char *path, const void *head, int64_t head_bytes, int64_t size);

/* The folder that contains `path`, so that names made, renamed and removed there survive a crash.
 */
int wr_path_sync_folder(const char *path);

/* `name` in `folder`, or as it is if it is absolute. WEIR_ERANGE if it needs more than `room`. */
int wr_path_join(const char *folder, const char *name, char *out, int64_t room);

/* The folder that contains `path`, "." if it names none. WEIR_ERANGE as above. */
int wr_path_folder(const char *path, char *out, int64_t room);

#endif
