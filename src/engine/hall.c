/* The layout of shared memory during rounds: bells, desks, covers, buffers. */
#include "engine/hall.h"

#include <string.h>

#include "base/arith.h"
#include "engine/council.h"
#include "engine/idle.h"

enum { PAGE = 4096 };

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

static int64_t bells_bytes(int local_size)
{
    return round_up((int64_t)local_size * WR_LINE, PAGE);
}

static int64_t head_bytes(const wr_hall *hall)
{
    return round_up((int64_t)sizeof(wr_desk) + hall->slots * (int64_t)sizeof(wr_slot), PAGE);
}

int64_t wr_hall_slot_bytes(int64_t window)
{
    return WR_COVER_ROOM + round_up(window, PAGE);
}

static int64_t desk_bytes(const wr_hall *hall)
{
    return head_bytes(hall) + hall->slots * wr_hall_slot_bytes(hall->window);
}

bool wr_hall_fits(const wr_hall *hall, const wr_hall_need *need)
{
    return hall->region.base && hall->desks >= need->desks && hall->slots >= need->slots &&
           hall->window >= need->window;
}

static void clear(const wr_hall *hall)
{
    for (int i = 0; i < hall->desks; i++)
        memset(wr_hall_desk(hall, i), 0, (size_t)head_bytes(hall));
}

/* [collective on the node] Takes memory that another file does not need now, if all ranks have
 * that. Whoever has it idle, and says so by taking part, does not touch it any more. */
static int borrow(wr_hall *hall, wr_channel *channel, int64_t bytes)
{
    wr_world *w = channel->world;
    uint64_t number = 0;
    if (w->transport->local_rank == 0 && wr_idle_lend(w, 0, bytes, &hall->region))
        number = hall->region.number;
    int code = wr_council_tell(channel, &number, sizeof number);
    if (code || !number)
        return code;
    if (hall->region.base)
        clear(hall);
    int64_t all = hall->region.base || wr_idle_lend(w, number, bytes, &hall->region);
    code = wr_council_reduce(channel, WR_MIN, 1, &all);
    if (code || !all)
        wr_region_close(&hall->region);
    return code;
}

int wr_hall_open(wr_hall *hall, wr_channel *channel, const wr_hall_need *need)
{
    if (wr_hall_fits(hall, need))
        return 0;
    wr_hall_close(hall);
    if (channel->apart || hall->limit < 0)
        return WR_NO_REGION;
    hall->local_size = channel->world->transport->local_size;
    hall->desks = need->desks;
    hall->slots = need->slots;
    hall->window = need->window;
    hall->turn = wr_alloc_array(hall->slots, sizeof *hall->turn);
    if (hall->turn)
        memset(hall->turn, 0, (size_t)hall->slots * sizeof *hall->turn);
    int64_t bytes = bells_bytes(hall->local_size) + hall->desks * desk_bytes(hall);
    int code = borrow(hall, channel, bytes);
    if (hall->region.base) {
        code = wr_council_agree(channel, hall->turn ? 0 : WEIR_ENOMEM);
    } else if (!code) {
        code = wr_council_region(channel, hall->turn ? 0 : WEIR_ENOMEM, bytes, &hall->region);
    }
    if (code)
        wr_hall_close(hall);
    return code;
}

void wr_hall_close(wr_hall *hall)
{
    wr_region_close(&hall->region);
    wr_free(hall->turn);
    hall->turn = NULL;
    hall->desks = 0;
}

wr_word *wr_hall_bell(const wr_hall *hall, int local_rank)
{
    return (wr_word *)(void *)(hall->region.base + (int64_t)local_rank * WR_LINE);
}

wr_desk *wr_hall_desk(const wr_hall *hall, int desk)
{
    return (wr_desk *)(void *)(hall->region.base + bells_bytes(hall->local_size) +
                               desk * desk_bytes(hall));
}

static char *cover_room(const wr_hall *hall, int desk, int slot)
{
    return (char *)wr_hall_desk(hall, desk) + head_bytes(hall) +
           slot * wr_hall_slot_bytes(hall->window);
}

char *wr_hall_buffer(const wr_hall *hall, int desk, int slot)
{
    return cover_room(hall, desk, slot) + WR_COVER_ROOM;
}

void wr_hall_put_cover(const wr_hall *hall, int desk, int slot, const weir_pattern *cover)
{
    memcpy(cover_room(hall, desk, slot), cover, (size_t)weir_pattern_footprint(cover));
}

weir_pattern wr_hall_get_cover(const wr_hall *hall, int desk, int slot)
{
    return wr_pattern_attach(cover_room(hall, desk, slot));
}

void *wr_hall_note(const wr_hall *hall, int desk, int slot)
{
    return cover_room(hall, desk, slot);
}
