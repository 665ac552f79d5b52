/* Ranks without MPI: one that is alone; or, for tests and simulation, as threads of one process,
 * with the interface of MPI ranks: regions are mapped at a different address for each, and messages
 * are copied. */
#ifndef WR_TRANSPORT_LOCAL_H
#define WR_TRANSPORT_LOCAL_H

#include "transport/transport.h"

/* Runs `body` on `ranks` threads, each with its own end of the transport, and waits for all. The
 * transports are closed afterwards. If ranks_per_node is negative, ranks are dealt in turn to so
 * many nodes. WEIR_ENOMEM, or WEIR_EUNSUPPORTED if threads cannot be had. */
int wr_local_run(int ranks, const wr_tunables *tunables, void (*body)(wr_transport *t, void *user),
                 void *user);

/* The end of a rank that is the only one. WEIR_ENOMEM. */
int wr_local_open(wr_transport **out);

#endif
