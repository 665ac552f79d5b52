/* A message to a rank and one from it, perhaps another, on their way at once. */
#ifndef WR_KERNELS_SWAP_H
#define WR_KERNELS_SWAP_H

#include "transport/transport.h"

/* What is longer is cut: transports need no memory for such messages, so none fails on one side
 * only, where the other would wait for ever. */
enum { WR_SWAP_MOST = 1 << 20 };

typedef struct wr_swap {
    wr_request sent, received;
    bool out, in; /* whether they were started */
} wr_swap;

/* Where there are no bytes, there is no message. What cannot be started is not waited for; the
 * other one is. */
int wr_swap_start(wr_transport *t, wr_parcel out, int out_tag, wr_place in, int in_tag,
                  wr_swap *swap);
int wr_swap_wait(wr_transport *t, wr_swap *swap);

#endif
