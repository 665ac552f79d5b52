/* Two messages at once. */
#include "kernels/swap.h"

int wr_swap_start(wr_transport *t, wr_parcel out, int out_tag, wr_place in, int in_tag,
                  wr_swap *swap)
{
    int sent = 0, received = 0;
    *swap = (wr_swap){.in = in.bytes > 0, .out = out.bytes > 0};
    if (swap->in)
        received = t->ops->receive(t, in, in_tag, &swap->received);
    if (swap->out)
        sent = t->ops->send(t, out, out_tag, false, &swap->sent);
    swap->in = swap->in && !received;
    swap->out = swap->out && !sent;
    return received ? received : sent;
}

int wr_swap_wait(wr_transport *t, wr_swap *swap)
{
    const int received = swap->in ? wr_request_wait(t, &swap->received) : 0;
    const int sent = swap->out ? wr_request_wait(t, &swap->sent) : 0;
    return received ? received : sent;
}
