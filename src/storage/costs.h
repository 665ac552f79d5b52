/* What storing in a folder costs: measured once per file system, by storing a little. */
#ifndef WR_STORAGE_COSTS_H
#define WR_STORAGE_COSTS_H

#include <pthread.h>
#include <sys/types.h>

#include "storage/storage.h"

/* Costs where nothing was measured. */
extern const wr_storage_facts wr_storage_default_facts;

/* Writes and reads a few MiB of a file of its own in `folder`, with the backend and the kind of
 * access the tunables name, for about 15 ms; 4 MiB of memory. For `striped` the folder is a disk.
 * Where that is not possible *out is the default, with a line in the log. `direct` says whether
 * direct access is possible there. */
void wr_storage_measure(const char *folder, const wr_tunables *tunables, const wr_log *log,
                        wr_storage_facts *out);

enum { WR_COSTS_KEPT = 16 };

/* What was measured, by file system and by the tunables it depends on. Zeroed is empty. Threads may
 * share it. */
typedef struct wr_costs {
    pthread_mutex_t lock;
    int64_t count; /* so many were ever added; the latest WR_COSTS_KEPT are there */
    struct {
        dev_t device;
        int64_t storage, direct;
        wr_storage_facts facts;
    } kept[WR_COSTS_KEPT];
} wr_costs;

/* As wr_storage_measure, unless it is known already. */
void wr_costs_get(wr_costs *costs, const char *folder, const wr_tunables *tunables,
                  const wr_log *log, wr_storage_facts *out);

#endif
