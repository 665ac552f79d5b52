/* How a striped file lies on its disks, and the description that says so.
 *
 * The file is dealt in blocks over parts, one in the folder of each disk: its block b is block
 * b div n of part b mod n. What has the file's name is a description, some lines of text:
 *
 *     weir striped file 1
 *     block 1048576
 *     id 0123456789abcdef
 *     part /disk0/name.weir-0123456789abcdef-0
 *     part /disk1/name.weir-0123456789abcdef-1
 *     end
 *     self 0123456789abcdef
 *
 * It is whole when it gets its name. The size of the file follows from those of the parts. A part's
 * name ends with the id and its number: no description leads to other files. The last line is the
 * identity of the description itself: a copy of it has another one, and so leads to the parts but
 * does not own them. Older versions wrote none, and do not mind it. */
#ifndef WR_STORAGE_STRIPES_H
#define WR_STORAGE_STRIPES_H

#include "storage/folder.h"
#include "storage/storage.h"

enum { WR_STRIPES_DISKS = 512 }; /* at most */

/* What has a name. */
enum wr_file_kind { WR_FILE_ABSENT, WR_FILE_PLAIN, WR_FILE_STRIPED };

/* Plain is all that is not known to be something else: to open it tells what is wrong. One system
 * call for files that are larger than a description. */
enum wr_file_kind wr_stripes_look(const char *path);

/* Zeroed is empty. */
typedef struct wr_stripes {
    int64_t block, count;
    uint64_t id, self; /* self: 0: it does not say */
    const char **part; /* paths, in `text` */
    char *text;
} wr_stripes;

/* Makes parts in the folders that the tunables name, and a description at `path`: all or nothing.
 * WEIR_EEXIST if something has that name by then; WEIR_EINVAL if the tunables make no sense;
 * otherwise errors name the folder or part. */
int wr_stripes_make(const char *path, const wr_tunables *tunables);

/* The same for a copy that is to be called `to` and has the name `made` then: as many parts, in the
 * folders of `disks`, with colons between them (NULL: those of the old parts), each made by `make`
 * from the old one, which must not be there if it was not made. */
typedef int wr_stripes_part(void *user, const char *old, const char *part);
int wr_stripes_copy(const wr_stripes *old, const char *to, const char *made, const char *disks,
                    wr_stripes_part *make, void *user);

/* WEIR_EFORMAT if it is no description. At most 2 MiB. */
int wr_stripes_read(const char *path, wr_stripes *out);
void wr_stripes_release(wr_stripes *stripes);

/* Whether the parts are those of the description that has this very name, and no other. */
bool wr_stripes_is_owner(const wr_folder *in, const char *name, const wr_stripes *stripes);

/* Makes a copied description the owner. What owned the parts until now must be gone: if this fails,
 * or does not come to it, nothing does. */
int wr_stripes_adopt(const char *path);

/* Removes the description at `path`, then the parts that are there, if it owns them; of a link only
 * itself. Where the name cannot be removed nothing is; a part that cannot be is named by the error,
 * and left. */
int wr_stripes_remove(const char *path);

/* Bytes of part i in a file of `size` bytes. */
int64_t wr_stripes_share(const wr_stripes *stripes, int64_t i, int64_t size);

/* Bytes of the file up to the last one of part i, which has `bytes`. */
int64_t wr_stripes_reach(const wr_stripes *stripes, int64_t i, int64_t bytes);

#endif
