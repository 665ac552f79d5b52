/* What messages between nodes cost, for plans. */
#ifndef WR_RUNTIME_LINK_H
#define WR_RUNTIME_LINK_H

#include "base/price.h"
#include "transport/transport.h"

/* [collective] By a few messages between pairs of nodes, all at once, in a millisecond or two: the
 * dearest pair counts. Where nodes are not real, or messages fail, the built-in prices. Only rank 0
 * knows for sure: others hear it from there. */
wr_link wr_link_measure(wr_transport *t);

#endif
