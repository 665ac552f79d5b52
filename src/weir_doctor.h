/* What `weir doctor` has found, as text and as JSON. */
#ifndef WR_WEIR_DOCTOR_H
#define WR_WEIR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "storage/storage.h"

typedef struct wr_findings {
    char mpi[256];
    const char *level; /* of threads; NULL: MPI does not run */
    bool multiple;
    int ranks, nodes, local_ranks, cores;
    bool apart;                /* no shared memory */
    const char *region_folder; /* where that is; NULL: in none */
    double barrier;            /* seconds */
    const char *folder;
    wr_storage_facts facts; /* of a file there, opened as O_DIRECT and io_uring would have it */
    bool uring;
    bool told_strong; /* by the tunable coherence */
    wr_price cached[2], direct[2], expected[2];
    char storage[32]; /* what will be used */
    bool will_direct;
} wr_findings;

/* Into text[0, size), terminated; the first cuts it to fit, the other returns WEIR_EINVAL. */
void wr_findings_text(const wr_findings *f, char *text, size_t size);
int wr_findings_json(const wr_findings *f, char *text, size_t size);

#endif
