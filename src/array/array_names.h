/* Arrays as files and folders: what each rank makes, finds and checks of them. */
#ifndef WR_ARRAY_ARRAY_NAMES_H
#define WR_ARRAY_ARRAY_NAMES_H

#include "base/memory.h"
#include "format/set_json.h"
#include "storage/folder.h"
#include "storage/storage.h"

/* An error that names no file is about `path`; returns `code`. */
int wr_blame(int code, const char *path);

/* The header of a .npy file; its data must be there as a whole. Errors name the file. */
int wr_npy_look(const char *path, wr_description *out);

/* A new file with a header and zeros. */
int wr_npy_make(const wr_folder *in, const char *name, const wr_description *what,
                const wr_owner *owner);

/* The description of a set, in its folder. */
#define WR_SET_FILE "array.json"

/* What member m is called. */
enum { WR_MEMBER_NAME = WR_SET_NAME + 24 };
void wr_member_name(const wr_set *set, int m, char out[WR_MEMBER_NAME]);

/* Where member m is, in the set at `folder`. */
int wr_member_path(const char *folder, const wr_set *set, int m, char *out, int64_t room);

/* Makes this rank's share of a new set's members, every `ranks`-th from `rank` on; rank 0
 * makes the description and the disks' folders, in a folder that is there, and goes first;
 * made[i]: disk i was not there before. */
int wr_set_make_folders(const wr_folder *in, const wr_set *set, const wr_owner *owner, bool *made);
int wr_set_make_members(const wr_folder *in, const wr_set *set, const wr_owner *owner, int rank,
                        int ranks);

/* A set outlasts a power failure, whoever has written to it on this machine: this rank's share of
 * the members, and by rank 0 the description and the folders, but for the set's own name. `made`:
 * as above, or NULL: none of the disks is new. */
int wr_set_sync_members(const wr_folder *in, const wr_set *set, int rank, int ranks);
int wr_set_sync_folders(const wr_folder *in, const wr_set *set, const bool *made);

/* Looks at this rank's share of them: WEIR_EFORMAT names one that is not of this set. skip[m] is
 * set to where a member's data begin; *swapped in bits: 1 if one has this machine's byte order, 2
 * if one has the other. */
int wr_set_check_members(const char *folder, const wr_set *set, int rank, int ranks, int64_t *skip,
                         int64_t *swapped);

/* Everything the storage needs to see a set as one file; from `memory`. start[] gets one entry more
 * than there are members. */
int wr_set_members(const char *folder, const wr_set *set, const int64_t *skip, wr_arena *memory,
                   int64_t *start, wr_members *out);

#endif
