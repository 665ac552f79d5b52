/* Files and folders copied as they are: bytes, holes, permissions and times; owners as far as the
 * process may. */
#ifndef WR_STORAGE_FILE_COPY_H
#define WR_STORAGE_FILE_COPY_H

#include "storage/folder.h"

/* What is going on; `progress` may be NULL. */
typedef struct wr_copying {
    int (*progress)(void *user, int64_t done, int64_t all); /* other than 0: WEIR_EINTERRUPTED */
    void *user;
    int64_t done, all; /* bytes; all: 0 until it is known */
    bool durable;      /* what is copied is on stable storage then */
    int64_t files;     /* of trees */
} wr_copying;

/* A new file with the data of one that may be behind a link. WEIR_EIO if that changes meanwhile. On
 * failure it is removed. */
typedef struct wr_copied {
    const wr_folder *from, *to;
    const char *name, *made;
} wr_copied;
int wr_file_copy(const wr_copied *what, wr_copying *c);

/* A file has permissions and times of another. */
int wr_file_mimic(const wr_copied *what, bool sync);

/* An open folder with all that is in it, into one that is there. A link to a file becomes a file,
 * one that leads nowhere stays a link; one to a folder is WEIR_EUNSUPPORTED. On failure a part of
 * it is there. */
int wr_tree_copy(const wr_folder *from, const wr_folder *to, wr_copying *c);

/* A folder has permissions and times of another, both open. */
void wr_folder_mimic(const wr_folder *from, const wr_folder *to);

/* Bytes of the files in it, links not followed. */
int wr_tree_measure(const wr_folder *in, int64_t *bytes);

/* Removes it with all that is in it, past no link; keeps the thread's error. */
void wr_tree_remove(const wr_folder *in, const char *name);

#endif
