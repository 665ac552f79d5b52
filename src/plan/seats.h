/* Which ranks of a node may be aggregators, as the user says: aggregator_hosts, in the notation of
 * ROMIO's cb_config_list.
 *
 * Entries are separated by commas: a host's name or `*`, which stands for all hosts not named, then
 * a colon and how many of its ranks may, or `*` for all; without that, one. Hosts that no entry
 * stands for have none; of several entries for a host the first counts. */
#ifndef WR_PLAN_SEATS_H
#define WR_PLAN_SEATS_H

#include <stdint.h>

/* How many ranks of the host: *most is INT64_MAX if all. A name in the text is the host's name, or
 * the part of it before the first dot. WEIR_EINVAL names the entry that makes no sense, whatever
 * the host. */
int wr_seats_of(const char *text, const char *host, int64_t *most);

#endif
