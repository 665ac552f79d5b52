/* The layout of shared memory during rounds: bells, desks, covers, buffers. */
#include "engine/hall.h"

#include <string.h>

#include "base/arith.h"
#include "engine/council.h"

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

int wr_hall_open(wr_hall *hall, wr_channel *channel, const wr_hall_need *need)
{
    if (wr_hall_fits(hall, need))
        return 0;
    wr_hall_close(hall);
    hall->local_size = channel->world->transport->local_size;
    hall->desks = need->desks;
    hall->slots = need->slots;
    hall->window = need->window;
    hall->turn = wr_alloc_array(hall->slots, sizeof *hall->turn);
    if (hall->turn)
        memset(hall->turn, 0, (size_t)hall->slots * sizeof *hall->turn);
    int64_t bytes = bells_bytes(hall->local_size) + hall->desks * desk_bytes(hall);
    int code = hall->limit < 0
                   ? WR_NO_REGION
                   : wr_council_region(channel, hall->turn ? 0 : WEIR_ENOMEM, bytes, &hall->region);
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
