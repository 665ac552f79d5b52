/* What `weir doctor` finds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "storage/costs.h"
#include "transport/mpi_transport.h"
#include "weir/weir.h"
#include "weir_doctor.h"
#include "weir_mpi.h"

enum { BARRIERS = 200, REPORT = 16384, PATH = 4096 };

static void find_mpi(wr_findings *f)
{
    static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                          MPI_THREAD_MULTIPLE};
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, level = wr_mpi_alive() ? wr_mpi_level() : -1;
    PMPI_Get_library_version(library, &length);
    snprintf(f->mpi, sizeof f->mpi, "%.*s", (int)strcspn(library, "\n,"), library);
    for (int i = 0; i < 4; i++)
        if (levels[i] == level)
            f->level = names[i];
    f->multiple = level == MPI_THREAD_MULTIPLE;
}

/* [collective] Whether the ranks of a node can share memory, and how fast they meet there. */
static int time_barrier(wr_world *w, double *seconds)
{
    wr_channel c;
    int code = wr_channel_open(w, &c);
    if (code)
        return code;
    wr_waiter waiter = wr_transport_waiter(w->transport, true);
    wr_channel_barrier(&c, &waiter);
    int64_t start = wr_clock_ns();
    for (int i = 0; i < BARRIERS; i++)
        wr_channel_barrier(&c, &waiter);
    *seconds = 1e-9 * (double)(wr_clock_ns() - start) / BARRIERS;
    wr_channel_close(&c);
    return 0;
}

static void find_ranks(wr_findings *f, const wr_world *w)
{
    const wr_transport *t = w->transport;
    f->ranks = t->size;
    f->nodes = t->nodes;
    f->local_ranks = t->local_size;
    f->cores = t->cores;
    f->apart = w->channel.apart;
    if (wr_region_first(t, &w->tunables) == WR_REGION_FILE)
        f->region_folder = wr_region_folder(&w->tunables);
}

static const char *backend_of(const wr_storage *s)
{
    while (s->inner)
        s = s->inner;
    return s->ops->name;
}

/* Opens a file of its own in `folder` with these tunables; which backend took it, and how. */
static int try_open(const char *folder, const wr_tunables *tunables, char used[32],
                    wr_storage_facts *facts)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/.weir-doctor-%d-%llx", folder, (int)getpid(),
             (unsigned long long)wr_clock_ns());
    wr_storage *s;
    wr_storage_options options = {.tunables = tunables};
    int flags = WR_OPEN_READ | WR_OPEN_WRITE | WR_OPEN_CREATE | WR_OPEN_EXCLUSIVE;
    int code = wr_storage_open(path, flags, &options, &s);
    if (code)
        return code;
    snprintf(used, 32, "%s", backend_of(s));
    *facts = s->facts;
    wr_storage_close(s);
    wr_storage_remove(path);
    return 0;
}

static void measure(const char *folder, const wr_world *w, const wr_tunables *tunables,
                    wr_price out[2])
{
    wr_storage_facts facts;
    wr_storage_measure(folder, tunables, &w->log, &facts);
    memcpy(out, facts.cost, sizeof facts.cost);
}

static int find_storage(wr_findings *f, const wr_world *w, const char *folder)
{
    wr_tunables plain = w->tunables, asked = w->tunables;
    wr_storage_facts facts;
    char used[32];
    plain.fault.which = WR_FAULT_NONE;
    asked.fault.which = WR_FAULT_NONE;
    plain.storage.which = WR_STORAGE_URING;
    plain.direct.which = WR_SWITCH_ALWAYS;
    int code = try_open(folder, &plain, used, &f->facts);
    if (code)
        return code;
    f->folder = folder;
    f->uring = !strcmp(used, "uring");
    f->told_strong = w->tunables.coherence.which == WR_COHERENCE_STRONG;
    plain.storage.which = WR_STORAGE_AUTO;
    plain.direct.which = WR_SWITCH_NEVER;
    measure(folder, w, &plain, f->cached);
    if (f->facts.direct) {
        plain.direct.which = WR_SWITCH_ALWAYS;
        measure(folder, w, &plain, f->direct);
    }
    code = try_open(folder, &asked, f->storage, &facts);
    if (code)
        return code;
    wr_costs_get(&w->process->costs, &facts, &asked, f->expected);
    f->will_direct = facts.direct;
    return 0;
}

static int check_folder(const char *folder)
{
    struct stat s;
    if (stat(folder, &s))
        return wr_fail_system(errno, folder, -1, "look at the folder");
    if (!S_ISDIR(s.st_mode))
        return wr_fail_system(ENOTDIR, folder, -1, "use it as a folder");
    if (access(folder, W_OK))
        return wr_fail_system(errno, folder, -1, "write there");
    return 0;
}

/* Rank 0 looks, and all have what it prints. */
static int examine(wr_world *w, const char *folder, bool json, char *text, size_t size)
{
    char printed[REPORT] = "";
    wr_findings f = {0};
    wr_transport *t = w->transport;
    int code = time_barrier(w, &f.barrier);
    if (code)
        return code;
    if (t->rank == 0) {
        find_mpi(&f);
        find_ranks(&f, w);
        code = check_folder(folder);
        if (!code)
            code = find_storage(&f, w, folder);
        if (!code && json)
            code = wr_findings_json(&f, printed, sizeof printed);
        else if (!code)
            wr_findings_text(&f, printed, sizeof printed);
    }
    code = wr_agree(t, 0, code);
    if (!code)
        code = wr_broadcast(t, 0, printed, sizeof printed);
    if (!code && size)
        snprintf(text, size, "%s", printed);
    return code;
}

static int run_doctor(MPI_Comm comm, const char *folder, bool json, char *text, size_t size)
{
    wr_world *w;
    int code = wr_world_get(comm, &w);
    if (code)
        return code;
    code = examine(w, folder, json, text, size);
    wr_world_let(comm, w);
    return code;
}

int weir_doctor(MPI_Comm comm, const char *folder, char *text, size_t size)
{
    return run_doctor(comm, folder, false, text, size);
}

int weir_doctor_json(MPI_Comm comm, const char *folder, char *text, size_t size)
{
    return run_doctor(comm, folder, true, text, size);
}
