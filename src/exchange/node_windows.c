/* The layout of shared memory during rounds: wake-up words, rings, covers, buffers. */
#include "exchange/node_windows.h"

#include <string.h>

#include "base/arith.h"
#include "runtime/world.h"

static int64_t wakeups_bytes(int members)
{
    return wr_round_up((int64_t)members * WR_LINE, wr_page_bytes());
}

static int64_t slots_bytes(const wr_node_windows *nw)
{
    return (int64_t)sizeof(wr_ring) + nw->slots * (int64_t)sizeof(wr_slot);
}

static int64_t head_bytes(const wr_node_windows *nw)
{
    int64_t shares = (int64_t)nw->slots * nw->members * (int64_t)sizeof(wr_slot_share);
    return wr_round_up(slots_bytes(nw) + shares, wr_page_bytes());
}

static int64_t ring_bytes(const wr_node_windows *nw)
{
    return head_bytes(nw) + nw->slots * wr_slot_bytes(nw->window);
}

bool wr_node_windows_fits(const wr_node_windows *nw, const wr_node_windows_need *need)
{
    return nw->region.base && nw->members == need->members && nw->rings >= need->rings &&
           nw->slots >= need->slots && nw->window >= need->window;
}

static void clear(const wr_node_windows *nw)
{
    for (int i = 0; i < nw->rings; i++)
        memset(wr_node_windows_ring(nw, i), 0, (size_t)head_bytes(nw));
}

/* [collective on the node] Takes memory that another file does not need now, if all ranks have
 * that. Whoever has it idle, and says so by taking part, does not touch it any more. */
static int borrow(wr_node_windows *nw, wr_channel *channel, int64_t bytes)
{
    wr_world *w = channel->world;
    uint64_t number = 0;
    if (w->transport->local_rank == 0 &&
        wr_region_cache_take(&w->process->regions, w, 0, bytes, &nw->region))
        number = nw->region.number;
    int code = wr_channel_broadcast(channel, &number, sizeof number);
    if (code || !number)
        return code;
    if (nw->region.base)
        clear(nw);
    int64_t all = nw->region.base ||
                  wr_region_cache_take(&w->process->regions, w, number, bytes, &nw->region);
    code = wr_channel_reduce(channel, WR_MIN, 1, &all);
    if (code || !all)
        wr_region_close(&nw->region);
    return code;
}

int wr_node_windows_open(wr_node_windows *nw, wr_channel *channel, const wr_node_windows_need *need)
{
    if (wr_node_windows_fits(nw, need))
        return 0;
    wr_node_windows_close(nw);
    const bool own = need->members == 1;
    if (!own && (channel->apart || nw->limit < 0 || need->members > WR_NODE_RANKS))
        return WR_NO_REGION;
    nw->members = need->members;
    nw->rings = need->rings;
    nw->slots = need->slots;
    nw->window = need->window;
    nw->round = wr_alloc_array(nw->slots, sizeof *nw->round);
    if (nw->round)
        memset(nw->round, 0, (size_t)nw->slots * sizeof *nw->round);
    int64_t bytes = wakeups_bytes(nw->members) + nw->rings * ring_bytes(nw);
    int code = own ? 0 : borrow(nw, channel, bytes);
    if (own) {
        code = nw->round ? wr_region_own(bytes, &nw->region) : WEIR_ENOMEM;
    } else if (nw->region.base) {
        code = wr_channel_agree(channel, nw->round ? 0 : WEIR_ENOMEM);
    } else if (!code) {
        code = wr_channel_region(channel, nw->round ? 0 : WEIR_ENOMEM, bytes, &nw->region);
    }
    if (code)
        wr_node_windows_close(nw);
    return code;
}

void wr_node_windows_close(wr_node_windows *nw)
{
    wr_region_close(&nw->region);
    wr_free(nw->round);
    nw->round = NULL;
    nw->rings = 0;
}

wr_word *wr_node_windows_wakeup(const wr_node_windows *nw, int local_rank)
{
    return (wr_word *)(void *)(nw->region.base + (int64_t)local_rank * WR_LINE);
}

wr_ring *wr_node_windows_ring(const wr_node_windows *nw, int ring)
{
    return (wr_ring *)(void *)(nw->region.base + wakeups_bytes(nw->members) +
                               ring * ring_bytes(nw));
}

static char *cover_room(const wr_node_windows *nw, int ring, int slot)
{
    return (char *)wr_node_windows_ring(nw, ring) + head_bytes(nw) +
           slot * wr_slot_bytes(nw->window);
}

char *wr_node_windows_buffer(const wr_node_windows *nw, int ring, int slot)
{
    return cover_room(nw, ring, slot) + WR_COVER_ROOM;
}

void wr_node_windows_put_cover(const wr_node_windows *nw, int ring, int slot,
                               const weir_pattern *cover)
{
    memcpy(cover_room(nw, ring, slot), cover, (size_t)weir_pattern_footprint(cover));
}

weir_pattern wr_node_windows_get_cover(const wr_node_windows *nw, int ring, int slot)
{
    return wr_pattern_attach(cover_room(nw, ring, slot));
}

wr_slot_share *wr_node_windows_shares(const wr_node_windows *nw, int ring, int slot)
{
    char *first = (char *)wr_node_windows_ring(nw, ring) + slots_bytes(nw);
    return (wr_slot_share *)(void *)first + (int64_t)slot * nw->members;
}
