/* Built-in prices. */
#include "base/price.h"

#include "base/tunables.h"

/* Of a page cache by measurement of ext4; of what is past it, or behind a network, by order of
 * magnitude. A page cache is one even when a cold file is read: no plan may depend on that. */
const wr_built_in wr_built_in_prices[WR_PRICE_KINDS] = {
    [WR_IN_CACHE] = {.price = {[WR_READ] = {500, 40000, 150}, [WR_WRITE] = {1700, 220000, 110}},
                     .reach = 4},
    [WR_ON_DEVICE] =
        {.price = {[WR_READ] = {60000, 900000, 110}, [WR_WRITE] = {100000, 4000000, 150}},
         .reach = 16},
    [WR_ON_NETWORK] =
        {.price = {[WR_READ] = {200000, 1000000, 180}, [WR_WRITE] = {200000, 2000000, 180}},
         .reach = 1000},
};
