/* The tunables, their defaults and their other names. A line here and a field in tunables.h add
 * one. */
#include "base/tunables.h"

#include <strings.h>

#define AT(field) offsetof(wr_tunables, field)

static const char access[] = "auto|sieve|list|naive|extent:BYTES";
static const char switches[] = "auto|always|never";
static const char realms[] = "even|static|cyclic|persistent|balanced|disks|custom";
static const char exchanges[] = "auto|shm|p2p|alltoall|leaders";
static const char overlaps[] = "auto|none|io|all";
static const char storages[] = "auto|posix|pool|uring|striped|mem";
static const char faults[] = "none|eio:K|enospc:K|eintr:K|short:K|corrupt:K|"
                             "delay:MICROSECONDS|bandwidth:MB_PER_S";
static const char levels[] = "none|error|warning|info|debug";

const wr_tunable wr_tunable_table[] = {
    {"access_read", WR_CHOICE, AT(access[WR_READ]), access, 1, INT64_MAX, "auto", "plan",
     "how a window is read: one run with gaps, exact list, one call a piece, or sieve below a "
     "stride"},
    {"access_write", WR_CHOICE, AT(access[WR_WRITE]), access, 1, INT64_MAX, "auto", "plan",
     "how a window is written, likewise"},
    {"collective_read", WR_CHOICE, AT(collective[WR_READ]), switches, 0, 0, "auto", "plan",
     "whether ranks read together through aggregators"},
    {"collective_write", WR_CHOICE, AT(collective[WR_WRITE]), switches, 0, 0, "auto", "plan",
     "whether ranks write together through aggregators"},
    {"realms", WR_CHOICE, AT(realms), realms, 0, 0, "even", "plan",
     "how the file is divided among aggregators"},
    {"realm_align", WR_SIZE, AT(realm_align), "", 1, INT64_MAX, "1", "plan",
     "realms are cut at multiples of this"},
    {"realm_block", WR_SIZE, AT(realm_block), "", 0, INT64_MAX, "0", "plan",
     "bytes that an aggregator is dealt at a time by realms=cyclic and persistent; 0: a window, or "
     "what the first access comes to"},
    {"striping_unit", WR_SIZE, AT(striping_unit), "", 0, INT64_MAX, "0", "plan",
     "stripe of the file system, 0: as that says, unless realm_align is set; realms are cut at "
     "multiples of it, and new striped files dealt by it (0: by 1 MiB)"},
    {"aggregators", WR_COUNT, AT(aggregators), "ranks", 0, INT32_MAX, "0", "plan",
     "how many ranks access the file in a collective call; 0: chosen by price"},
    {"aggregator_hosts", WR_TEXT, AT(aggregator_hosts), "", 0, 0, "", "plan",
     "hosts and how many ranks of each may be aggregators, in the notation of cb_config_list: "
     "HOST:N, HOST (1), HOST:* (all), * for all other hosts; empty: all ranks may. With "
     "ranks_per_node hosts are named by number"},
    {"window", WR_SIZE, AT(window), "", 1, INT64_MAX, "2M", "plan",
     "data an aggregator handles in one round"},
    {"cb_buffer_size", WR_SIZE, AT(cb_buffer_size), "", 1, INT64_MAX, "16M", "plan",
     "most memory an aggregator uses for its windows"},
    {"sieve_buffer_read", WR_SIZE, AT(sieve_buffer[WR_READ]), "", 1, INT64_MAX, "4M", "plan",
     "most memory of an independent sieving read"},
    {"sieve_buffer_write", WR_SIZE, AT(sieve_buffer[WR_WRITE]), "", 1, INT64_MAX, "512K", "plan",
     "most memory of an independent sieving write"},
    {"sieve_unit", WR_CHOICE, AT(sieve_unit), "byte|column", 0, 0, "byte", "access",
     "what an independent sieving access of an array takes with access=sieve: what lies between "
     "wanted bytes, or whole slices of the slowest dimension, from bound to bound"},
    {"exchange", WR_CHOICE, AT(exchange), exchanges, 0, 0, "auto", "plan",
     "how data moves between ranks: shared region, point-to-point, all-to-all, messages of whole "
     "nodes"},
    {"link", WR_COUNT, AT(link), "MB/s", 0, INT32_MAX, "0", "plan",
     "what goes between two nodes, for plans; 0: as measured when a communicator is first used"},
    {"overlap", WR_CHOICE, AT(overlap), overlaps, 0, 0, "auto", "exchange",
     "what runs in the background: nothing, file access, everything"},
    {"overlap_memory", WR_SIZE, AT(overlap_memory), "", 0, INT64_MAX, "64M", "exchange",
     "most memory per process for operations in flight"},
    {"mpi_threads", WR_CHOICE, AT(mpi_threads), "auto|program|multiple", 0, 0, "auto",
     "front/mpiio",
     "at which level MPI is started for a program that is loaded or linked with libweir_mpiio: as "
     "it asks; with MPI_THREAD_MULTIPLE, so that what is under way between nodes gets on while it "
     "computes or is in MPI; auto: the latter if it names nonblocking collective or split "
     "functions. It is told the level it asked for. By the environment only"},
    {"door", WR_CHOICE, AT(door), "on|off", 0, 0, "on", "front/preload",
     "off: programs that are loaded or linked with libweir_mpiio have the MPI library's own "
     "MPI-IO; "
     "by the environment only"},
    {"progress", WR_CHOICE, AT(progress), "thread|poll", 0, 0, "thread", "runtime",
     "who moves operations in flight: a thread of the process, or calls of the library only"},
    {"progress_nice", WR_COUNT, AT(progress_nice), "niceness", -20, 19, "0", "runtime",
     "of that thread, by the environment only; below 0 needs privileges"},
    {"progress_policy", WR_CHOICE, AT(progress_policy), "other|batch|idle|fifo", 0, 0, "other",
     "runtime", "how the system schedules it, by the environment only; fifo needs privileges"},
    {"prefetch", WR_COUNT, AT(prefetch), "slabs", 0, 64, "1", "array",
     "slabs that a slab loop reads ahead, and as many that it writes behind"},
    {"map", WR_SIZE, AT(map), "", 0, INT64_MAX, "512M", "access",
     "most of a file that a rank keeps mapped to read pieces of it, and to write small ones; 0: "
     "none is"},
    {"cache", WR_SIZE, AT(cache), "", 0, INT64_MAX, "0", "array",
     "memory of each rank for data of an array that it has read alone, kept until written; what "
     "others write meanwhile is not seen"},
    {"durable", WR_CHOICE, AT(durable), "disable|enable", 0, 0, "enable", "array",
     "a new array gets its name when its data are on stable storage, and the name is there, too, "
     "when it is closed: what closed well outlasts a power failure, and so does what was replaced, "
     "until then. For arrays that need not, such as scratch: disable"},
    {"independent", WR_CHOICE, AT(independent), "auto|enable|disable", 0, 0, "auto", "file",
     "enable: all ranks open the file at once, to access it alone, and who cannot is told by open. "
     "disable: a promise that they access it together only; then nobody opens it but the first "
     "rank of each node and aggregators. auto: as with disable, and others when they first access "
     "it alone, which is then what fails if they cannot, or could read small pieces from the page "
     "cache of their node"},
    {"write_behind", WR_CHOICE, AT(write_behind), "disable|enable|always", 0, 0, "disable",
     "access",
     "aggregators keep what collective calls write until sync, close, set_size, a collective read "
     "or a full budget; with realms=persistent, which it brings. A promise that nobody accesses "
     "the file alone, asks for its size or opens it again before. enable: once that saves more "
     "than keeping takes"},
    {"write_behind_memory", WR_SIZE, AT(write_behind_memory), "", 0, INT64_MAX, "64M", "access",
     "most memory of each process for what it keeps so of a file"},
    {"ranks_per_node", WR_COUNT, AT(ranks_per_node), "ranks", 0, INT32_MAX, "0", "transport",
     "every so many ranks count as a node of their own; 0: as the machine is"},
    {"region_folder", WR_TEXT, AT(region_folder), "", 0, 0, "", "transport",
     "where memory shared by the ranks of a node is created, as files; empty: in no folder, or, "
     "where ranks cannot share that, in /dev/shm. Where there is none to be had ranks of a node "
     "exchange messages"},
    {"regions_kept", WR_COUNT, AT(regions_kept), "files", 0, INT32_MAX, "4", "runtime",
     "so many open files, those accessed last, keep their shared memory between collective "
     "calls"},
    {"io_threads", WR_COUNT, AT(io_threads), "threads", 1, 64, "4", "storage",
     "threads of the backend `pool`"},
    {"io_depth", WR_COUNT, AT(io_depth), "requests", 1, 1024, "32", "storage",
     "requests the backend `uring` keeps under way"},
    {"storage", WR_CHOICE, AT(storage), storages, 0, 0, "auto", "storage",
     "what moves bytes between memory and files"},
    {"direct", WR_CHOICE, AT(direct), switches, 0, 0, "auto", "storage",
     "whether files are accessed past the page cache (O_DIRECT)"},
    {"coherence", WR_CHOICE, AT(coherence), "auto|strong|weak", 0, 0, "auto", "storage",
     "whether all hosts see at once what one has written to a file: weak ones do after a sync "
     "only, "
     "and there every byte has one owner among the hosts; auto: by the kind of file system; strong "
     "where hosts cache: old and lost data, without an error"},
    {"lock_wait", WR_COUNT, AT(lock_wait), "milliseconds", 0, INT32_MAX, "30000", "storage",
     "how long a rank waits for a range of a file that somebody else has locked; then writes with "
     "holes go on without reading what lies between, where that is possible, and others fail; 0: "
     "as long as it takes"},
    {"costs_folder", WR_TEXT, AT(costs_folder), "", 0, 0, "", "storage",
     "folder in which what storing costs is remembered; empty: weir in $XDG_CACHE_HOME or in "
     "~/.cache; none: nothing is"},
    {"disks", WR_TEXT, AT(disks), "", 0, 0, "", "storage",
     "folders that serve as logical disks of new files with storage=striped, separated by colons"},
    {"dra_scratch", WR_TEXT, AT(dra_scratch), "", 0, 0, "", "front/dra",
     "folder in which new disk resident arrays are written; those that are kept are moved to their "
     "own names when they are closed. Empty: where they are to be"},
    {"fault", WR_CHOICE, AT(fault), faults, 1, INT64_MAX, "none", "storage",
     "for tests: the K-th transfer fails, is interrupted, cut short or corrupted; or all are slow"},
    {"log", WR_CHOICE, AT(log), levels, 0, 0, "none", "base", "what is said on standard error"},
    {"events", WR_TEXT, AT(events), "", 0, 0, "", "base",
     "file to which every rank appends a line per event; %h: the host's name; empty: none"},
    {"stats", WR_COUNT, AT(stats), "", 0, 1, "0", "runtime",
     "1: a few lines on standard error when the job ends: bytes, rates, time, amplification, "
     "errors (docs/report.md)"},
    {"trace", WR_TEXT, AT(trace), "", 0, 0, "", "base",
     "folder in which every rank writes a file on what the job did, of which `weir report` makes a "
     "page (docs/report.md); empty: none"},
    {0},
};

static const char *const collective_words[] = {"enable",    "always", "disable", "never",
                                               "automatic", "auto",   NULL};
static const char *const sieving_words[] = {"enable",    "sieve", "disable", "list",
                                            "automatic", "auto",  NULL};
static const char *const persistent_words[] = {"enable", "persistent", "disable", "even", NULL};
static const char *const alltoall_words[] = {"enable",    "alltoall", "disable", "p2p",
                                             "automatic", "auto",     NULL};
static const char *const alone_words[] = {"true", "disable", "enable", "disable", "false",
                                          "auto", "disable", "auto",   NULL};
static const char *const realm_words[] = {"0",      "even", "aar",    "even", "-1",
                                          "static", "-2",   "custom", NULL};

/* ROMIO has two keys for what `realms` says: whether they persist, and how they are cut. Either may
 * come first: realms that persist stay so, and a size of blocks is kept for when they do not. */
static int set_persistence(wr_tunables *t, const char *word)
{
    const char *without = t->realm_block ? "cyclic" : "even";
    if (!strcasecmp(word, "disable"))
        return t->realms.which == WR_REALMS_PERSISTENT ? wr_tunables_set(t, "realms", without) : 0;
    return wr_tunables_set(t, "realms", strcasecmp(word, "enable") ? word : "persistent");
}

/* A word or a number of realm_words, or bytes of a block dealt to each aggregator in turn. */
static int set_realm_type(wr_tunables *t, const char *word)
{
    const char *rule = NULL;
    for (const char *const *w = realm_words; *w && !rule; w += 2)
        rule = strcasecmp(w[0], word) ? NULL : w[1];
    int code = wr_tunables_set(t, "realm_block", rule ? "0" : word);
    if (code || t->realms.which == WR_REALMS_PERSISTENT)
        return code;
    return wr_tunables_set(t, "realms", rule ? rule : "cyclic");
}

const wr_tunable_alias wr_tunable_aliases[] = {
    {"access", 0, {"access_read", "access_write"}, NULL, NULL},
    {"sieve_buffer", 0, {"sieve_buffer_read", "sieve_buffer_write"}, NULL, NULL},
    {"collective", 0, {"collective_read", "collective_write"}, NULL, NULL},
    {"cb_nodes", 1, {"aggregators"}, NULL, NULL},
    {"cb_buffer_size", 1, {"cb_buffer_size"}, NULL, NULL},
    {"cb_config_list", 1, {"aggregator_hosts"}, NULL, NULL},
    {"striping_unit", 1, {"striping_unit"}, NULL, NULL},
    {"ind_rd_buffer_size", 1, {"sieve_buffer_read"}, NULL, NULL},
    {"ind_wr_buffer_size", 1, {"sieve_buffer_write"}, NULL, NULL},
    {"romio_cb_read", 1, {"collective_read"}, collective_words, NULL},
    {"romio_cb_write", 1, {"collective_write"}, collective_words, NULL},
    {"romio_no_indep_rw", 1, {"independent"}, alone_words, NULL},
    {"romio_ds_read", 1, {"access_read"}, sieving_words, NULL},
    {"romio_ds_write", 1, {"access_write"}, sieving_words, NULL},
    {"romio_cb_pfr", 1, {"realms"}, persistent_words, set_persistence},
    {"romio_cb_fr_type", 1, {"realms"}, realm_words, set_realm_type},
    {"romio_cb_fr_alignment", 1, {"realm_align"}, NULL, NULL},
    {"romio_cb_alltoall", 1, {"exchange"}, alltoall_words, NULL},
    {0},
};
