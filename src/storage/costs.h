/* What storing costs: built in by kind of file system, learned from transfers that are made anyway,
 * and remembered from one program to the next. Nothing is read or written to find out, but where
 * that is asked for.
 *
 * What was learned is kept by file system, backend and kind of access, in this process and in a
 * small file of the user's cache folder (the tunable costs_folder). Such a file is ignored if it is
 * not the user's own, damaged, of another version or older than 30 days; that it cannot be read or
 * written is no error. */
#ifndef WR_STORAGE_COSTS_H
#define WR_STORAGE_COSTS_H

#include <pthread.h>

#include "storage/storage.h"

/* Costs of a local disk behind a page cache. */
wr_storage_facts wr_storage_default_facts(void);

/* Writes and reads a few MiB of a file of its own in `folder`, with the backend and the kind of
 * access the tunables name, for about 15 ms; 4 MiB of memory. For `striped` the folder is a disk.
 * Where that is not possible *out is the default, with a line in the log. `direct` says whether
 * direct access is possible there. */
void wr_storage_measure(const char *folder, const wr_tunables *tunables, const wr_log *log,
                        wr_storage_facts *out);

/* --- learning --- */

/* The fastest of what was timed of a file, which nothing else on the machine has disturbed; and all
 * of it since somebody asked. */
typedef struct wr_samples {
    struct {
        int64_t calls, call_ns; /* how many, the least; of small transfers */
        int64_t larges, mib_ns; /* of large ones */
    } of[2];                    /* by direction */
    wr_timings took;
} wr_samples;

/* When a sample of at most so much begins; 0: it is too little to tell anything. */
int64_t wr_sample_start(int64_t runs, int64_t bytes);

/* So many runs of so many bytes in all have been moved since `start`; nothing if that is 0. */
void wr_sample_end(wr_samples *samples, enum wr_direction direction, int64_t start, int64_t runs,
                   int64_t bytes);

/* --- knowing --- */

enum { WR_COSTS_KEPT = 16 };

/* By what costs differ. */
typedef struct wr_costs_key {
    int64_t system; /* wr_storage_facts; 0: not known, and nothing is kept */
    int64_t storage, direct;
} wr_costs_key;

/* What this process knows. Zeroed is empty. Threads may share it. */
typedef struct wr_costs {
    pthread_mutex_t lock;
    int64_t count; /* so many were ever added; the latest WR_COSTS_KEPT are there */
    struct {
        wr_costs_key key;
        wr_price cost[2];
    } kept[WR_COSTS_KEPT];
} wr_costs;

/* What is known about a file that is open, or about one whose facts are only its file system. */
void wr_costs_get(wr_costs *costs, const wr_storage_facts *facts, const wr_tunables *tunables,
                  wr_price out[2]);

/* What was timed of it counts from now on, as far as it is likely and differs. */
void wr_costs_learn(wr_costs *costs, const wr_storage_facts *facts, const wr_tunables *tunables,
                    const wr_samples *samples);

#endif
