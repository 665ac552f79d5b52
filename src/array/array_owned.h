/* What has the name of an array, and what of it is the array's own: only that is ever removed.
 *
 * A file is an array if it begins as one. A folder is one if its array.json describes a set. Of a
 * set these are its own: that description, members and disks inside the folder, reached by no
 * link; and members on other disks if both is true: the caller names that disk, in this very call,
 * and their name ends with the identity of the description. That is what wr_set_own puts there; a
 * copy of the folder has another identity, and so has whatever else says that they are its own. */
#ifndef WR_ARRAY_ARRAY_OWNED_H
#define WR_ARRAY_ARRAY_OWNED_H

#include "format/set_json.h"
#include "storage/folder.h"

/* Disks that the caller names, from the set's folder if they are relative. */
typedef struct wr_named_disks {
    int count;
    char *const *disk;
    const char *list; /* and some more, with colons between them */
} wr_named_disks;

/* Names the members of a new set, whose description is there and empty: after `stem`, which may be
 * cut, where they are not alone, and the set's own where they are. */
int wr_set_own(const wr_folder *in, wr_set *set, const char *stem, const char *tag);

/* WEIR_EEXIST if what has that name is no array, or has something in it or elsewhere that would be
 * left without one: nothing is there, or wr_array_erase can remove it. `found` is what is there. */
int wr_array_check_owned(const wr_folder *in, const char *name, const wr_named_disks *named,
                         wr_folder_entry *found);

/* Removes an array as far as it is its own; of a link only itself. Keeps the thread's error. */
void wr_array_erase(const wr_folder *in, const char *name, const wr_named_disks *named);

/* Removes a set that this process is making, and has the name `name` in `in`. */
void wr_set_erase_new(const wr_folder *in, const char *name, const wr_set *set);

/* --- for who goes through the files of a set --- */

/* The set in an open folder; WEIR_EFORMAT if it is none. To be released. */
int wr_set_read(const wr_folder *in, wr_set *out);

/* The number of the member that has this name, or -1. */
int wr_set_member_of(const wr_set *set, const char *name);

/* Whether a disk is inside the set's folder, by its words: neither absolute nor upwards. */
bool wr_disk_is_below(const char *disk);

/* Whether members say that they are of the set with the description in this very folder. */
bool wr_set_is_owner(const wr_folder *in, const wr_set *set);

/* What NFS calls a file that was removed while somebody has it open: it goes by itself. */
bool wr_name_is_leaving(const char *name);

/* Whose an array that replaces it is to be. */
int wr_array_owner(const wr_folder *in, const char *name, wr_owner *out);

#endif
