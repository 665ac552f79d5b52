/* The layout of shared memory during rounds: bells, desks, covers, buffers. */
#include "engine/hall.h"

#include <string.h>

#include "base/arith.h"

enum { PAGE = 4096 };

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

static int64_t bells_bytes(int local_size)
{
    return round_up((int64_t)local_size * WR_LINE, PAGE);
}

static int64_t desk_bytes(const wr_hall *hall)
{
    return round_up(sizeof(wr_desk), PAGE) + 2 * (WR_COVER_ROOM + round_up(hall->window, PAGE));
}

bool wr_hall_fits(const wr_hall *hall, int desks, int64_t window)
{
    return hall->region.base && hall->desks >= desks && hall->window >= window;
}

int wr_hall_open(wr_hall *hall, const wr_channel *channel, int desks, int64_t window)
{
    if (wr_hall_fits(hall, desks, window))
        return 0;
    wr_hall_close(hall);
    hall->desks = desks;
    hall->window = window;
    int64_t bytes = bells_bytes(channel->world->transport->local_size) + desks * desk_bytes(hall);
    return wr_region_open(channel->world->transport, channel->tag, &channel->world->tunables, bytes,
                          &hall->region);
}

void wr_hall_close(wr_hall *hall)
{
    wr_region_close(&hall->region);
    hall->desks = 0;
}

wr_word *wr_hall_bell(const wr_hall *hall, int local_rank)
{
    return (wr_word *)(void *)(hall->region.base + (int64_t)local_rank * WR_LINE);
}

wr_desk *wr_hall_desk(const wr_hall *hall, int local_size, int desk)
{
    return (wr_desk *)(void *)(hall->region.base + bells_bytes(local_size) +
                               desk * desk_bytes(hall));
}

static char *cover_room(const wr_hall *hall, int local_size, int desk_slot)
{
    return (char *)wr_hall_desk(hall, local_size, desk_slot / 2) + round_up(sizeof(wr_desk), PAGE) +
           (int64_t)(desk_slot % 2) * WR_COVER_ROOM;
}

char *wr_hall_buffer(const wr_hall *hall, int local_size, int desk, int slot)
{
    return cover_room(hall, local_size, 2 * desk) + (int64_t)2 * WR_COVER_ROOM +
           slot * round_up(hall->window, PAGE);
}

void wr_hall_put_cover(const wr_hall *hall, int local_size, int desk_slot,
                       const weir_pattern *cover)
{
    memcpy(cover_room(hall, local_size, desk_slot), cover, (size_t)weir_pattern_footprint(cover));
}

weir_pattern wr_hall_get_cover(const wr_hall *hall, int local_size, int desk_slot)
{
    return wr_pattern_attach(cover_room(hall, local_size, desk_slot));
}

void wr_bell_ring(wr_word *bell)
{
    wr_word_add(bell, 1);
    wr_word_wake(bell);
}
