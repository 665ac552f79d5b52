/* Where an array is, or is to be: the open folder that holds it, and its name there. Everything
 * that makes, names and removes arrays goes by that, so that it means the same folder from creation
 * to close. Rank 0's alone. */
#ifndef WR_ARRAY_ARRAY_SITE_H
#define WR_ARRAY_ARRAY_SITE_H

#include "array/array_owned.h"

enum { WR_ENTRY_NAME = 256, WR_TAG = 9 };

typedef struct wr_site {
    wr_folder folder;
    char name[WR_ENTRY_NAME];
    char made[WR_ENTRY_NAME]; /* of a new array: what it is called until it gets its name */
    char tag[WR_TAG];         /* what makes that unlike others */
    bool overwrite, owned;
    bool named;     /* a new array has its name although wr_site_publish has failed */
    wr_owner owner; /* if owned: of what is replaced */
} wr_site;

/* What WEIR_EEXIST says of names that could be replaced. */
#define WR_SITE_TAKEN "exists, and overwrite was not given"

/* WEIR_EINVAL if the path has no last part. To be closed, also if this fails. */
int wr_site_open(const char *path, wr_site *out);
void wr_site_close(wr_site *site);

/* Invents `made` and `tag`. */
int wr_site_invent(wr_site *site);

/* The same; WEIR_EEXIST if there is something that must not be replaced, or that is no array.
 * `named`: see array_owned.h. */
int wr_site_prepare(wr_site *site, bool overwrite, const wr_named_disks *named);

/* Invents `made` for what becomes a part of the file of that name, which stays, and has its owner.
 */
int wr_site_join(wr_site *site);

/* What was replaced may allow its owner less than is needed to write: so may a new file from now
 * on. Before it is synced. */
int wr_site_restrict(const wr_site *site);

/* Gives a new array its name; WEIR_EEXIST if that is taken and must not be. `durable`: the name
 * outlasts a power failure; where that cannot be had the array keeps another one, `made`, and what
 * was there is as it was. If `named` is set, the array has its name nevertheless, and what it
 * replaced is `made`. */
int wr_site_publish(wr_site *site, bool durable, const wr_named_disks *named);

/* Removes the array. */
int wr_site_delete(wr_site *site, const wr_named_disks *named);

static inline const wr_owner *wr_site_owner(const wr_site *site)
{
    return site->owned ? &site->owner : NULL;
}

#endif
