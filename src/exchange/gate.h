/* A gate: the rank that moves its party's parts of the windows of aggregators elsewhere. A part is
 * shown to the party's ranks in a slot of the gate's ring, as a window is; when writing, they copy
 * their data there and the gate sends it; when reading, it has come before. All slots are under way
 * at once.
 *
 * Parts go in ascending order of the windows' numbers and, within one number, of aggregators. That
 * is the same in all parties, and aggregators open windows in the order of numbers: so of all parts
 * that are not over, the first in that order can always move, and nobody waits for ever. */
#ifndef WR_EXCHANGE_GATE_H
#define WR_EXCHANGE_GATE_H

#include "exchange/window_parts.h"

/* Windows of one aggregator, as far as the party takes part. */
typedef struct wr_stream {
    int rank; /* the aggregator */
    weir_pattern *realm;
    wr_windows walk; /* of the party's wants; windows only, no covers */
    wr_window window;
    int64_t number; /* of the window in the realm; INT64_MAX: there are no more */
} wr_stream;

/* What a slot holds. */
typedef struct wr_gate_part {
    int state;
    wr_stream *stream;
    wr_window window;
    wr_stretch stretch;
    char *own;        /* the memory of this rank, if only that takes part, with one run; or NULL */
    int64_t from;     /* where that run is in the file */
    bool lost;        /* no data come of it */
    bool told, heard; /* a notice comes instead of data; it is here */
    wr_notice notice;
    wr_request request;
} wr_gate_part;

typedef struct wr_gate {
    wr_rings *rings;
    int ring;
    wr_demand queue; /* what the party wants */
    int64_t streams;
    wr_stream *stream;
    int64_t level, at;           /* number and stream of the next part, */
    int64_t active;              /* and the first of its wants */
    int64_t taken, shown, moved; /* parts: in slots, shown, and, when writing, sent */
    bool ended, last;            /* there are no more parts; all have been told */
    wr_gate_part *part;          /* by slot */
} wr_gate;

/* Everything that can fail; `wants` are the party's. */
int wr_gate_build(wr_gate *g, wr_rings *rings, const wr_wants *wants, wr_arena *memory);
void wr_gate_release(wr_gate *g);

/* Does what can be done without waiting; whether that was anything. */
bool wr_gate_run(wr_gate *g);
bool wr_gate_is_over(const wr_gate *g);

/* Whether messages are under way, for which nobody is woken. */
bool wr_gate_waits(const wr_gate *g);

#endif
