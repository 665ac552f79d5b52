/* Of the ranks of a node only the first opens a file with the others of the communicator. The rest
 * follow when they access it, through what the first has open, so that a file of ten thousand ranks
 * is opened by those who touch it. */
#ifndef WR_FILE_FOLLOWING_H
#define WR_FILE_FOLLOWING_H

#include "file/file.h"

/* Names are the same where this is: of a relative path, with the folder it starts from. */
int64_t wr_name_hash(const char *path);

/* Whether this rank opens the file when it needs it. */
bool wr_file_opens_later(const weir_file *file);

/* [collective on the node] The first rank, which comes with what became of opening the file, tells
 * the others what it has. */
int wr_file_follow(weir_file *file, int code);

/* [collective on the node] What the node's ranks have written is on stable storage: one of them
 * sees to that, where the file system needs no more. */
int wr_file_sync_node(weir_file *file);

#endif
