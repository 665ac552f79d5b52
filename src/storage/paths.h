/* Paths: their parts, and what there is to do with files and folders by them, as from an open
 * folder (folder.h). Every failure carries the path and errno. Nothing here keeps anything open. */
#ifndef WR_STORAGE_PATHS_H
#define WR_STORAGE_PATHS_H

#include "storage/folder.h"

/* Whether it is a folder; it must be there. */
int wr_path_is_folder(const char *path, bool *folder);

/* As the functions of wr_folder. */
int wr_path_rename(const char *from, const char *to, bool replace);
int wr_path_remove(const char *path);
int wr_path_read(const char *path, int64_t most, char **text, int64_t *length);
int wr_path_head(const char *path, int64_t most, char *out, int64_t *got, int64_t *size);

/* A whole file, in stable storage when this returns (its name is not: wr_folder_sync). Not
 * `exclusive`: what was there is overwritten. On failure the file is removed. */
int wr_path_write(const char *path, const void *data, int64_t bytes, bool exclusive);

/* A new file of `size` bytes that starts with `head`; the rest reads as zeros and takes no space
 * where the file system can do that. Not synced. On failure the file is removed. */
int wr_path_fill(const char *path, const void *head, int64_t head_bytes, int64_t size);

/* `name` in `folder`, or as it is if it is absolute. WEIR_ERANGE if it needs more than `room`. */
int wr_path_join(const char *folder, const char *name, char *out, int64_t room);

/* The folder that contains `path`, "." if it names none. WEIR_ERANGE as above. */
int wr_path_folder(const char *path, char *out, int64_t room);

#endif
