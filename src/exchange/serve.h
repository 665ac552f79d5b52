/* An aggregator's rounds: its windows, opened, shown to its party's ranks and moved to and from
 * other parties, and closed; several at once, so that some are copied or on their way while another
 * is with the storage. */
#ifndef WR_EXCHANGE_SERVE_H
#define WR_EXCHANGE_SERVE_H

#include "exchange/window_parts.h"

typedef struct wr_server {
    wr_rings *rings;
    const weir_pattern *realm;
    wr_windows walk;
    wr_parts parts;
    int64_t begun, opened; /* windows, in the order of the walk; opened ones are shown */
    int64_t end;           /* how many there will be; INT64_MAX while that is not known */
    bool last;             /* all have been told */
    bool draining;         /* it has failed: others get nothing, or send what is dropped */
    wr_round *round;       /* by slot, the node windows's */
    bool barred;           /* by somebody who holds a range: there is no wake-up word for that */
} wr_server;

/* Everything that can fail before the first round; the call's wants are there. A rank that is no
 * aggregator, and has no realm, has nothing to do. */
int wr_server_build(wr_server *s, wr_rings *rings, const weir_pattern *realm, wr_arena *memory);

/* With a code, if something has: there are no windows. */
void wr_server_begin(wr_server *s, int code);
void wr_server_release(wr_server *s);

/* Does what can be done without waiting; whether that was anything. */
bool wr_server_run(wr_server *s);
bool wr_server_is_over(const wr_server *s);

/* Whether only the storage keeps it. */
bool wr_server_is_stored(const wr_server *s);

/* Whether messages are under way, for which nobody is woken. */
bool wr_server_waits(const wr_server *s);

#endif
