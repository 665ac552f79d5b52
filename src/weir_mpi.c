/* Worlds as attributes of communicators.
 *
 * A world ends with its communicator: MPI_Comm_free runs the attribute's delete callback on all
 * ranks, so the internal communicator can be freed there. MPI_Finalize deletes the attributes of
 * MPI_COMM_SELF first, while MPI still works: that callback ends all worlds left, by local actions
 * only. Other communicators' callbacks may run later, even when MPI counts as finalised, and then
 * find nothing to do. */
#include "weir_mpi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "transport/local.h"
#include "transport/mpi_transport.h"
#include "weir/weir.h"
#include "weir_watching.h"

/* The value of a communicator's attribute; outlives its world where MPI_Finalize ends that first,
 * and the communicator where files are still open on it. */
typedef struct keeper {
    wr_world *world;
    bool freed; /* the communicator is */
    struct keeper *next;
} keeper;

/* The only state of the process: which attributes are ours, whom to end at MPI_Finalize, and what
 * all worlds share, however many communicators there are. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int world_key = MPI_KEYVAL_INVALID, self_key = MPI_KEYVAL_INVALID;
static keeper *keepers;
static wr_process process; /* from the first world to MPI_Finalize */
static bool opened;

static void world_ends(void *user)
{
    keeper *k = user;
    wr_watching_part(k->world);
    pthread_mutex_lock(&lock);
    keeper **at = &keepers;
    while (*at && *at != k)
        at = &(*at)->next;
    if (*at)
        *at = k->next;
    k->world = NULL;
    pthread_mutex_unlock(&lock);
    if (k->freed)
        wr_free(k);
}

static int comm_freed(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)comm, (void)key, (void)unused;
    keeper *k = value;
    k->freed = true;
    if (k->world)
        wr_world_leave(k->world);
    else
        wr_free(k);
    return MPI_SUCCESS;
}

static int end_all(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)comm, (void)key, (void)value, (void)unused;
    while (keepers) {
        wr_world *world = keepers->world;
        wr_mpi_abandon(world->transport);
        wr_world_end(world); /* takes itself off the list */
    }
    if (opened) {
        wr_watching_end(&process);
        wr_process_close(&process);
    }
    opened = false;
    return MPI_SUCCESS;
}

int wr_mpi_prepare(void)
{
    static bool ready;
    int result = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    if (world_key == MPI_KEYVAL_INVALID)
        result = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_freed, &world_key, NULL);
    if (result == MPI_SUCCESS && self_key == MPI_KEYVAL_INVALID)
        result = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_all, &self_key, NULL);
    if (result == MPI_SUCCESS && !ready)
        result = PMPI_Comm_set_attr(MPI_COMM_SELF, self_key, NULL);
    ready = ready || result == MPI_SUCCESS;
    pthread_mutex_unlock(&lock);
    return result == MPI_SUCCESS ? 0 : wr_fail(WEIR_ETRANSPORT, "cannot create an MPI attribute");
}

static void open_process(const wr_tunables *tunables)
{
    pthread_mutex_lock(&lock);
    if (!opened)
        wr_process_open(&process, tunables);
    opened = true;
    pthread_mutex_unlock(&lock);
}

/* Once in a process: what the user has misspelt. */
static void warn(const wr_world *world)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    char line[200];
    if (world->transport->rank != 0 || atomic_flag_test_and_set(&warned))
        return;
    for (int i = 0; wr_tunables_unknown(i, line, sizeof line); i++)
        wr_log_line(&world->log, WR_LOG_WARN, "%s", line);
}

/* [collective] Waits for all ranks, and moves what is under way on other communicators, for which
 * they may be waiting: what comes next blocks in MPI. */
static void meet(MPI_Comm comm)
{
    int between = 1, done = 0;
    MPI_Request request;
    PMPI_Comm_test_inter(comm, &between);
    if (between || PMPI_Ibarrier(comm, &request) != MPI_SUCCESS)
        return;
    for (int tries = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;) {
        weir_progress_poll();
        wr_backoff(&tries);
    }
}

static int new_world(MPI_Comm comm, wr_world **out)
{
    wr_tunables tunables;
    wr_transport *transport;
    bool differed = false;
    meet(comm);
    wr_tunables_init(&tunables);
    int code = wr_tunables_set_environment(&tunables);
    if (!code)
        open_process(&tunables);
    code = wr_transport_open_mpi(comm, code, &tunables, &differed, &transport);
    if (!code)
        code = wr_world_open_in(&process, transport, &tunables, out);
    else
        transport = NULL;
    if (code)
        wr_transport_close(transport);
    if (!code)
        warn(*out);
    if (!code && differed)
        wr_log_line(&(*out)->log, WR_LOG_WARN,
                    "rank %d has other tunables than rank 0, whose count", transport->rank);
    return code;
}

/* [collective] Makes the world an attribute of its communicator on all ranks, or closes it on all.
 * */
static int keep(MPI_Comm comm, wr_world *world)
{
    keeper *k = wr_alloc(sizeof *k);
    int code = wr_agree(world->transport, 0, k ? 0 : WEIR_ENOMEM);
    bool set = false;
    if (!code && k) {
        *k = (keeper){.world = world};
        world->ends = world_ends;
        world->user = k;
        set = PMPI_Comm_set_attr(comm, world_key, k) == MPI_SUCCESS;
        if (!set)
            code = wr_fail(WEIR_ETRANSPORT, "cannot set an MPI attribute");
        code = wr_agree(world->transport, 0, code);
    }
    if (!code && k) {
        pthread_mutex_lock(&lock);
        k->next = keepers;
        keepers = k;
        pthread_mutex_unlock(&lock);
        return 0;
    }
    if (set) {
        PMPI_Comm_delete_attr(comm, world_key); /* its callback closes and frees */
    } else {
        wr_world_close(world);
        wr_free(k);
    }
    return code;
}

/* --- without MPI --- */

/* What worlds without MPI share. Each thing that is opened has its own, so that threads need not
 * know of each other. */
static pthread_mutex_t alone_lock = PTHREAD_MUTEX_INITIALIZER;
static wr_process alone;
static bool alone_opened;

/* What a child process has of its parent's has no threads, and perhaps a lock that nobody gives
 * back: it gets another. */
static void forget_alone(void)
{
    pthread_mutex_init(&alone_lock, NULL);
    wr_watching_forget();
    alone_opened = false;
}

static int open_alone(const wr_tunables *tunables)
{
    static bool watched;
    int code = 0;
    pthread_mutex_lock(&alone_lock);
    if (!watched && pthread_atfork(NULL, NULL, forget_alone))
        code = WEIR_ENOMEM;
    watched = watched || !code;
    if (!code && !alone_opened) {
        wr_process_open(&alone, tunables);
        wr_watching_begin_alone(&alone, tunables);
    }
    alone_opened = alone_opened || !code;
    pthread_mutex_unlock(&alone_lock);
    return code;
}

static int new_alone(wr_world **out)
{
    wr_tunables tunables;
    wr_transport *transport;
    wr_tunables_init(&tunables);
    int code = wr_tunables_set_environment(&tunables);
    if (!code)
        code = open_alone(&tunables);
    if (!code)
        code = wr_local_open(&transport);
    if (code)
        return code;
    code = wr_world_open_in(&alone, transport, &tunables, out);
    if (code)
        wr_transport_close(transport);
    else
        warn(*out);
    return code;
}

void wr_world_let(MPI_Comm comm, wr_world *world)
{
    if (comm == MPI_COMM_NULL)
        wr_world_leave(world);
}

int wr_world_get(MPI_Comm comm, wr_world **out)
{
    if (comm == MPI_COMM_NULL)
        return new_alone(out);
    if (!wr_mpi_alive())
        return wr_fail(WEIR_ETRANSPORT, "MPI is not running");
    int code = wr_mpi_prepare(), found = 0;
    if (code)
        return code;
    keeper *k = NULL;
    PMPI_Comm_get_attr(comm, world_key, &k, &found);
    if (found && k && !k->world)
        return wr_fail(WEIR_ETRANSPORT, "MPI is about to end");
    if (found && k) {
        *out = k->world;
        return 0;
    }
    wr_world *world;
    code = new_world(comm, &world);
    if (!code)
        code = keep(comm, world);
    if (code)
        return code;
    wr_watching_begin(comm, world);
    *out = world;
    return 0;
}

int weir_totals_get(MPI_Comm comm, weir_totals *out)
{
    const wr_tally *t = comm == MPI_COMM_NULL ? &alone.tally : &process.tally;
    *out = (weir_totals){.wanted_read = wr_tally_get(&t->wanted[WR_READ]),
                         .wanted_written = wr_tally_get(&t->wanted[WR_WRITE]),
                         .moved_read = wr_tally_get(&t->moved[WR_READ]),
                         .moved_written = wr_tally_get(&t->moved[WR_WRITE]),
                         .calls = wr_tally_get(&t->calls),
                         .errors = wr_tally_get(&t->errors),
                         .io_ns = wr_tally_get(&t->ns) + wr_tally_get(&t->rest_ns),
                         .memory_peak = wr_memory_peak()};
    return 0;
}

bool wr_worlds_need_callers(void)
{
    return wr_progress_has_callers(&process.progress);
}

void weir_progress_poll(void)
{
    wr_progress_move(&process.progress);
}
