/* An aggregator's messages with the gates of other parties: the parts of its windows that move
 * between parties. All parts of a window are under way at once, as far as there is memory; windows
 * follow one another. */
#ifndef WR_EXCHANGE_WINDOW_PARTS_H
#define WR_EXCHANGE_WINDOW_PARTS_H

#include "exchange/rings.h"
#include "plan/stretch.h"

/* Before a read's data, where they are not as expected; announced by an empty message. */
typedef struct wr_notice {
    int64_t valid;  /* bytes from here on do not exist */
    int64_t failed; /* 1: no data follow */
} wr_notice;

enum wr_part_state { WR_PART_WAITS, WR_PART_MOVES, WR_PART_HERE, WR_PART_DONE };

typedef struct wr_part {
    enum wr_part_state state;
    int rank;      /* the gate */
    bool straight; /* between message and window, without a copy */
    bool empty;    /* nothing came */
    wr_stretch stretch;
    int64_t turn;
    char *data;
    wr_request request, notice[2];
} wr_part;

/* The parts of one window. */
typedef struct wr_window_parts {
    const wr_window *window; /* NULL: none is under way */
    int which;
    bool lost;    /* there are no data of it */
    bool spoiled; /* some did not come: it must not be written */
    int64_t count, over, started;
    int64_t used, busy; /* bytes of its room, and parts that have some */
    wr_part *part;
    int64_t *active;
    char *packed;
    wr_notice notice;
} wr_window_parts;

typedef struct wr_parts {
    const wr_rings *rings;
    wr_demand queue;
    int64_t room;   /* bytes of `packed` */
    int64_t *place; /* of each want's data in the part that is copied */
    int slots;
    int64_t next;        /* number of the window whose parts are started */
    int64_t begun;       /* windows */
    wr_window_parts *of; /* by slot */
} wr_parts;

/* Memory for what the call's aggregator serves. */
int wr_parts_build(wr_parts *p, const wr_rings *rings, const weir_pattern *realm, wr_arena *memory);

/* The next window is open, in slot `which`: admits the party's own ranks to it, and notes the parts
 * of others. `lost`: no data come of it. Returns how many take part. */
int64_t wr_parts_open(wr_parts *p, int which, const wr_round *round, bool lost);

/* Does what can be done without waiting; whether that was anything. */
bool wr_parts_run(wr_parts *p);

bool wr_parts_are_over(const wr_parts *p, int which);

#endif
