/* Arrays as files and folders: what each rank makes, finds, checks and removes by name. */
#ifndef WR_ARRAY_ARRAY_NAMES_H
#define WR_ARRAY_ARRAY_NAMES_H

#include "base/memory.h"
#include "format/set_json.h"
#include "storage/storage.h"

/* An error that names no file is about `path`; returns `code`. */
int wr_blame(int code, const char *path);

/* The header of a .npy file; its data must be there as a whole. Errors name the file. */
int wr_npy_look(const char *path, wr_description *out);

/* A new file with a header and zeros. */
int wr_npy_make(const char *path, const wr_description *what);

/* Where member m of the set at `folder` is. */
int wr_member_path(const char *folder, const wr_set *set, int m, char *out, int64_t room);

/* What each member holds; `what` is the whole set's but for shape and bytes. */
void wr_member_describe(const wr_set *set, int m, wr_description *what);

/* Makes this rank's share of a new set's members, every `ranks`-th from `rank` on; rank 0
 * makes the description and the disks' folders, in a folder that is there, and goes first. */
int wr_set_make_folders(const char *folder, const wr_set *set);
int wr_set_make_members(const char *folder, const wr_set *set, int rank, int ranks);

/* Looks at this rank's share of them: WEIR_EFORMAT names one that is not of this set. skip[m] is
 * set to where a member's data begin; *swapped in bits: 1 if one has this machine's byte order, 2
 * if one has the other. */
int wr_set_check_members(const char *folder, const wr_set *set, int rank, int ranks, int64_t *skip,
                         int64_t *swapped);

/* Everything the storage needs to see a set as one file; from `memory`. start[] gets one entry more
 * than there are members. */
int wr_set_members(const char *folder, const wr_set *set, const int64_t *skip, wr_arena *memory,
                   int64_t *start, wr_members *out);

/* Removes what is there of an array, set or file, as far as it can. */
void wr_array_remove(const char *path);

/* Gives a new array its name; WEIR_EEXIST if that is taken and must not be. */
int wr_array_name(const char *made, const char *path, bool overwrite);

/* WEIR_EEXIST if there is something that must not be replaced, or that is no array. */
int wr_array_may_be_made(const char *path, bool overwrite);

/* The names of an array, and of its members if there are any, outlast a power failure. */
int wr_array_sync_names(const char *path, const wr_set *set);

/* A name beside `path` that nobody else uses, and `tag`, what makes it so. */
enum { WR_TAG = 17 };
int wr_array_invent(const char *path, char *made, int64_t room, char tag[WR_TAG]);

#endif
