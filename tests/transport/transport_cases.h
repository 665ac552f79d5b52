/* What every transport must do, whatever its ranks are: run on threads and on MPI processes. */
#ifndef WR_TESTS_TRANSPORT_CASES_H
#define WR_TESTS_TRANSPORT_CASES_H

#include "check.h"
#include "transport/transport.h"

/* [collective] All cases below, with random numbers from `seed`, equal on all ranks. */
void check_transport(wr_transport *t, const wr_tunables *tunables, uint64_t seed);

/* [collective] Worlds and channels on it: barriers, mailboxes, many channels. Takes the transport.
 */
void check_world(wr_transport *t, const wr_tunables *tunables, uint64_t seed);

#endif
