/* The shared pointer of a file: a position that belongs to all ranks, in bytes of a view's data.
 *
 * Each view has one, which starts at 0. A view is known by its number, which every rank counts for
 * itself, so that nobody waits where views are set; the positions of the latest WR_POINTER_VIEWS
 * are kept. Ranks that share memory have them in the channel, others in a small file beside
 * the file, which exists from the first use until the file is closed. One that a killed program
 * left is removed by the next who uses a shared pointer of that file. Where that cannot be locked
 * they are rank 0's, for what all do together. */
#ifndef WR_FILE_POINTER_H
#define WR_FILE_POINTER_H

#include "file/file.h"
#include "storage/paths.h"

enum { WR_POINTER_VIEWS = 16 };

/* Local. Rank 0 does so before the others go on. */
void wr_pointer_init(weir_file *file);

/* [collective] Where ranks share no memory: what the small file will be called. All ranks fail
 * alike. */
int wr_pointer_open(weir_file *file);

/* Local. */
void wr_pointer_close(weir_file *file);

/* Local, when nobody uses it any more: rank 0 takes the small file away. */
void wr_pointer_remove(weir_file *file);

/* [any rank] Moves it, and says where it was. WEIR_EDISAGREE: other ranks are WR_POINTER_VIEWS
 * views ahead. WEIR_EUNSUPPORTED: ranks share no memory, and the file cannot be locked. */
int wr_pointer_advance(weir_file *file, int64_t view, int64_t by, int64_t *was);

/* The same by rank 0, between others' uses of it, which need no lock. */
int wr_pointer_look(weir_file *file, int64_t view, int64_t *position);
int wr_pointer_set(weir_file *file, int64_t view, int64_t position);

/* [collective] Each rank gets its place in the order of ranks. A rank comes with `code` != 0 if it
 * cannot take part: it returns that, and the pointer stays, while the others return 0, with a place
 * that means nothing: what follows is for them to fail in together. */
int wr_pointer_deal(weir_file *file, int64_t view, int64_t by, int code, int64_t *was);

#endif
