#include "party.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* Behind the rows, by which the parties tell each other how far they are. */
enum { OTHER_STARTED = ROWS * ROW, LEADER_DONE = OTHER_STARTED + 1, SOME = 3 };

/* One rank of a party. */
typedef struct player {
    const party *party;
    wr_transport *t;
    weir_file *f;
    int64_t first, width; /* of each row */
    char held[ROWS];      /* what it wrote there last, 0 at first */
} player;

/* The flag at `place`, to or from *flag; by rank 0. */
static void move_flag(const player *p, int64_t place, bool raise, char *flag)
{
    weir_pattern *where, *memory;
    CHECK(!weir_pattern_contiguous(place, 1, &where));
    CHECK(!weir_pattern_contiguous(0, 1, &memory));
    int code = 0;
    if (p->t->rank == 0)
        code = raise ? weir_file_write(p->f, where, memory, flag, NULL, NULL)
                     : weir_file_read(p->f, where, memory, flag, NULL, NULL);
    CHECK_EQUAL(code, 0);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

/* [collective in the party] */
static void sync_if_weak(const player *p)
{
    if (test_weak())
        CHECK(!weir_file_sync(p->f));
}

/* [collective in the party] */
static void raise_flag(const player *p, int64_t place)
{
    char one = 1;
    move_flag(p, place, true, &one);
    sync_if_weak(p);
}

/* [collective in the party] */
static bool flag_is_up(const player *p, int64_t place)
{
    char flag = 0;
    sync_if_weak(p);
    move_flag(p, place, false, &flag);
    int64_t up = flag;
    CHECK(!wr_allreduce(p->t, 0, WR_MAX, 1, &up));
    return up;
}

/* This rank's bytes of rows [row, row + rows). */
static weir_pattern *rows_of(const player *p, int64_t row, int64_t rows)
{
    weir_pattern *where;
    CHECK(!weir_pattern_strided(row * ROW + p->first, rows, p->width, ROW, &where));
    return where;
}

static void write_rows(player *p, int64_t round)
{
    char data[ROWS * ROW];
    bool single = p->party->spots || round == 0;
    int64_t row = single ? round % ROWS : 0, rows = single ? 1 : ROWS, count = 0;
    weir_pattern *where = rows_of(p, row, rows), *memory;
    CHECK(!weir_pattern_contiguous(0, rows * p->width, &memory));
    for (int64_t i = 0; i < rows; i++) {
        p->held[row + i] = (char)(1 + (round * 7 + i + p->first) % 120);
        memset(data + i * p->width, p->held[row + i], (size_t)p->width);
    }
    int code = (p->party->together ? weir_file_write_all : weir_file_write)(p->f, where, memory,
                                                                            data, &count, NULL);
    CHECK_EQUAL(code, 0);
    CHECK_EQUAL(count, rows * p->width);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

static void check_rows(player *p)
{
    char data[ROWS * ROW];
    int64_t count = 0;
    weir_pattern *where = rows_of(p, 0, ROWS), *memory;
    CHECK(!weir_pattern_contiguous(0, ROWS * p->width, &memory));
    int code = (p->party->together ? weir_file_read_all : weir_file_read)(p->f, where, memory, data,
                                                                          &count, NULL);
    CHECK_EQUAL(code, 0);
    CHECK_EQUAL(count, ROWS * p->width);
    for (int64_t i = 0; i < count; i++)
        CHECK_EQUAL(data[i], p->held[i / p->width]);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

void party_play(const party *own, wr_world *w, const char *path, int64_t rounds)
{
    player p = {.party = own, .t = w->transport};
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE, own->hints, &p.f));
    p.width = own->width / p.t->size;
    p.first = own->first + p.t->rank * p.width;
    bool over = false;
    for (int64_t round = 0; !over; round++) {
        write_rows(&p, round);
        check_rows(&p);
        if (!own->leads && round == SOME)
            raise_flag(&p, OTHER_STARTED);
        over = own->leads ? round >= rounds && flag_is_up(&p, OTHER_STARTED)
                          : round >= SOME && flag_is_up(&p, LEADER_DONE);
    }
    if (own->leads)
        raise_flag(&p, LEADER_DONE);
    CHECK(!weir_file_close(p.f));
}
