/* All ways of moving data between ranks in rounds. Which one is the plan's choice; a new one is a
 * file and a line here, with its name last among the choices of the tunable `exchange`. */
#include "exchange/rounds.h"

const wr_exchanger wr_exchanges[] = {
    [WR_EXCHANGE_AUTO] = {"auto", "whatever is cheapest", NULL, NULL},
    [WR_EXCHANGE_SHM] = {"shm", "one copy through shared memory", wr_rounds_windows,
                         wr_rounds_windows_end},
    [WR_EXCHANGE_P2P] = {"p2p", "messages between aggregators and ranks", wr_rounds_windows,
                         wr_rounds_windows_end},
    [WR_EXCHANGE_ALLTOALL] = {"alltoall",
                              "rounds in lockstep, by all-to-all from and to user memory",
                              wr_rounds_alltoall, NULL},
    [WR_EXCHANGE_LEADERS] = {"leaders",
                             "messages between aggregators and nodes, and shared memory on each",
                             wr_rounds_windows, wr_rounds_windows_end},
    {0},
};
