/* Messages between the ranks that have a file open, for operators: one to a rank and one from it,
 * perhaps another, on their way at once. */
#ifndef WR_FILE_SWAP_H
#define WR_FILE_SWAP_H

#include "file/file.h"

/* What is longer is cut: transports need no memory for such messages, so none fails on one side
 * only, where the other would wait for ever. */
enum { WR_SWAP_MOST = 1 << 20 };

/* Where such messages go, apart from all others. */
typedef struct wr_swaps {
    wr_channel channel;
} wr_swaps;

/* [collective] All ranks fail alike. Closing is local; a zeroed one is closed. */
int wr_swaps_open(const weir_file *file, wr_swaps *out);
void wr_swaps_close(wr_swaps *swaps);

typedef struct wr_swap {
    wr_request sent, received;
    bool out, in; /* whether they were started */
} wr_swap;

/* Where there are no bytes, there is no message. Tags are small numbers that tell messages between
 * two ranks apart. What cannot be started is not waited for; the
 * other one is. */
int wr_swap_start(const wr_swaps *swaps, wr_parcel out, int out_tag, wr_place in, int in_tag,
                  wr_swap *swap);
int wr_swap_wait(const wr_swaps *swaps, wr_swap *swap);

#endif
