/* A send and a receive started together, on a channel of their own, so that neither rank waits for
 * the other to receive first. */
#include "file/swap.h"

#include "file/inside.h"

int wr_swaps_open(const weir_file *file, wr_swaps *out)
{
    return wr_channel_open(file->group.handle.world, &out->channel);
}

void wr_swaps_close(wr_swaps *swaps)
{
    wr_channel_close(&swaps->channel);
}

int wr_swap_start(const wr_swaps *swaps, wr_parcel out, int out_tag, wr_place in, int in_tag,
                  wr_swap *swap)
{
    wr_transport *t = swaps->channel.world->transport;
    const int tag = swaps->channel.tag;
    int sent = 0, received = 0;
    *swap = (wr_swap){.in = in.bytes > 0, .out = out.bytes > 0};
    if (swap->in)
        received = t->ops->receive(t, in, tag + in_tag, &swap->received);
    if (swap->out)
        sent = t->ops->send(t, out, tag + out_tag, false, &swap->sent);
    swap->in = swap->in && !received;
    swap->out = swap->out && !sent;
    return received ? received : sent;
}

int wr_swap_wait(const wr_swaps *swaps, wr_swap *swap)
{
    wr_transport *t = swaps->channel.world->transport;
    const int received = swap->in ? wr_request_wait(t, &swap->received) : 0;
    const int sent = swap->out ? wr_request_wait(t, &swap->sent) : 0;
    return received ? received : sent;
}
