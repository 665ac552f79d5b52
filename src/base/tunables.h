/* Everything a user can set, in one table.
 *
 * A tunable has a name, a kind, a default, a range and a line of help. It can be set as a key/value
 * pair (MPI_Info: weir_NAME, or one of ROMIO's keys), in WEIR_HINTS (NAME=VALUE;NAME=VALUE) and in
 * the environment (WEIR_NAME); the later of these wins. docs/tunables.md is written from the table.
 * Values are plain data, so that a snapshot is an assignment. */
#ifndef WR_BASE_TUNABLES_H
#define WR_BASE_TUNABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One alternative of a list, by its position there, with its number if it takes one. */
typedef struct wr_choice {
    int64_t which;
    int64_t number;
} wr_choice;

enum { WR_TUNABLE_TEXT = 1024 };

/* A striped file is dealt in no larger blocks. */
#define WR_STRIPE_MAX (INT64_C(1) << 40)

/* Directions index the tunables that differ between reading and writing. */
enum wr_direction { WR_READ, WR_WRITE };

enum wr_access {
    WR_ACCESS_AUTO,
    WR_ACCESS_SIEVE,
    WR_ACCESS_LIST,
    WR_ACCESS_NAIVE,
    WR_ACCESS_EXTENT
};
enum wr_exchange {
    WR_EXCHANGE_AUTO,
    WR_EXCHANGE_SHM,
    WR_EXCHANGE_P2P,
    WR_EXCHANGE_ALLTOALL,
    WR_EXCHANGE_LEADERS
};
enum wr_realms {
    WR_REALMS_EVEN,
    WR_REALMS_STATIC,
    WR_REALMS_CYCLIC,
    WR_REALMS_PERSISTENT,
    WR_REALMS_BALANCED,
    WR_REALMS_DISKS,
    WR_REALMS_CUSTOM
};
enum wr_storage_choice {
    WR_STORAGE_AUTO,
    WR_STORAGE_POSIX,
    WR_STORAGE_POOL,
    WR_STORAGE_URING,
    WR_STORAGE_STRIPED,
    WR_STORAGE_MEM
};
enum wr_switch { WR_SWITCH_AUTO, WR_SWITCH_ALWAYS, WR_SWITCH_NEVER };
enum wr_mpi_threads { WR_MPI_THREADS_AUTO, WR_MPI_THREADS_PROGRAM, WR_MPI_THREADS_MULTIPLE };
enum wr_coherence_choice { WR_COHERENCE_AUTO, WR_COHERENCE_STRONG, WR_COHERENCE_WEAK };
enum wr_overlap { WR_OVERLAP_AUTO, WR_OVERLAP_NONE, WR_OVERLAP_IO, WR_OVERLAP_ALL };
enum wr_independent { WR_INDEPENDENT_AUTO, WR_INDEPENDENT_ENABLE, WR_INDEPENDENT_DISABLE };
enum wr_behind { WR_BEHIND_DISABLE, WR_BEHIND_ENABLE, WR_BEHIND_ALWAYS };
enum wr_sieve_unit { WR_SIEVE_BYTE, WR_SIEVE_COLUMN };
enum wr_progress_choice { WR_PROGRESS_THREAD, WR_PROGRESS_POLL };
enum wr_policy { WR_POLICY_OTHER, WR_POLICY_BATCH, WR_POLICY_IDLE, WR_POLICY_FIFO };
enum wr_fault {
    WR_FAULT_NONE,
    WR_FAULT_EIO,
    WR_FAULT_ENOSPC,
    WR_FAULT_EINTR,
    WR_FAULT_SHORT,
    WR_FAULT_CORRUPT,
    WR_FAULT_DELAY,
    WR_FAULT_BANDWIDTH
};

typedef struct wr_tunables {
    wr_choice access[2];     /* enum wr_access, by direction */
    wr_choice collective[2]; /* enum wr_switch, by direction */
    wr_choice realms, exchange, overlap, storage;
    int64_t link;
    wr_choice progress, progress_policy; /* enum wr_progress_choice, wr_policy */
    wr_choice mpi_threads;               /* enum wr_mpi_threads */
    wr_choice door;                      /* 1: off */
    wr_choice write_behind;              /* enum wr_behind */
    wr_choice durable;                   /* 1: enabled */
    wr_choice independent;               /* enum wr_independent */
    wr_choice sieve_unit;                /* enum wr_sieve_unit */
    wr_choice direct;                    /* enum wr_switch */
    wr_choice coherence;                 /* enum wr_coherence_choice */
    wr_choice fault;                     /* enum wr_fault */
    wr_choice log;                       /* enum wr_log_level */
    int64_t window, cb_buffer_size, overlap_memory, realm_align, realm_block, striping_unit;
    int64_t sieve_buffer[2]; /* by direction */
    int64_t prefetch, cache, map, write_behind_memory;
    int64_t aggregators, ranks_per_node, io_threads, io_depth, lock_wait, progress_nice,
        regions_kept, stats;
    char region_folder[WR_TUNABLE_TEXT], aggregator_hosts[WR_TUNABLE_TEXT], disks[WR_TUNABLE_TEXT],
        events[WR_TUNABLE_TEXT], trace[WR_TUNABLE_TEXT], dra_scratch[WR_TUNABLE_TEXT],
        costs_folder[WR_TUNABLE_TEXT];
} wr_tunables;

enum wr_tunable_kind { WR_CHOICE, WR_SIZE, WR_COUNT, WR_TEXT };

typedef struct wr_tunable {
    const char *name;
    enum wr_tunable_kind kind;
    size_t place;        /* offset in wr_tunables */
    const char *choices; /* "a|b|c:UNIT": c takes a number; for WR_COUNT the unit */
    int64_t min, max;    /* of the number */
    const char *initial; /* default, in the notation of the user */
    const char *room;    /* the room that obeys it */
    const char *help;
} wr_tunable;

/* The table, ended by a NULL name. */
extern const wr_tunable wr_tunable_table[];

/* Keys of other libraries and keys that set two tunables, ended by a NULL key. */
typedef struct wr_tunable_alias {
    const char *key;
    int foreign;               /* known in an MPI_Info without our prefix */
    const char *names[2];      /* the tunables it sets */
    const char *const *values; /* pairs theirs, ours, ended by NULL; NULL: the value as it is */
    int (*set)(wr_tunables *t, const char *value); /* where that does not say it, or NULL */
} wr_tunable_alias;

extern const wr_tunable_alias wr_tunable_aliases[];

/* What a striped file is dealt by, 1 MiB unless told, and over how many folders. */
int64_t wr_tunables_stripe(const wr_tunables *tunables);
int64_t wr_tunables_disks(const wr_tunables *tunables);

void wr_tunables_init(wr_tunables *tunables);

/* Each setter changes everything it was given or, on error, nothing.
 * WEIR_EINVAL names the key and what is wrong with the value. */
int wr_tunables_set(wr_tunables *tunables, const char *name, const char *value);
int wr_tunables_set_hints(wr_tunables *tunables, const char *hints);

/* Key/value pairs as in an MPI_Info: keys that are not ours are left alone (returns 1). */
int wr_tunables_set_pair(wr_tunables *tunables, const char *key, const char *value);

/* WEIR_HINTS, then WEIR_NAME for each name. Only functions here read the environment. */
int wr_tunables_set_environment(wr_tunables *tunables);

/* The file in which ROMIO, and so our MPI-IO library, looks for hints that are weaker than a
 * program's; *wanted: the user says so, by ROMIO_HINTS. */
const char *wr_tunables_hint_file(bool *wanted);

/* WEIR_NAME of one name only. */
int wr_tunables_set_variable(wr_tunables *tunables, const char *name);

/* A line on the index-th variable WEIR_... of the environment that is no tunable; false: there are
 * not so many. */
bool wr_tunables_unknown(int index, char *line, size_t size);

/* The tunable that was meant by a name, or NULL. */
const char *wr_tunables_similar(const char *name);

/* The folder that costs_folder names, in `size` bytes; false: there is none. */
bool wr_tunables_costs_folder(const wr_tunables *tunables, char *out, size_t size);

/* What one tunable means for another, once all are set: write_behind makes realms persistent that
 * are even or cyclic. WEIR_EINVAL: they contradict each other. */
int wr_tunables_settle(wr_tunables *tunables);

/* Writes a tunable's value in the notation of the user, cut to fit. */
int wr_tunables_get(const wr_tunables *tunables, const char *name, char *text, size_t size);

#endif
