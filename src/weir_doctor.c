/* What `weir doctor` says. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "storage/costs.h"
#include "transport/mpi_transport.h"
#include "weir/weir.h"
#include "weir_mpi.h"

enum { BARRIERS = 200, REPORT = 4096, PATH = 4096 };

/* Lines appended to a buffer of REPORT bytes, cut to fit. */
typedef struct report {
    char *text;
    size_t used;
} report;

static void say(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(r->text + r->used, REPORT - r->used, format, args);
    va_end(args);
    r->used += (size_t)length < REPORT - r->used ? (size_t)length : REPORT - r->used - 1;
}

static void say_mpi(report *r)
{
    static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                          MPI_THREAD_MULTIPLE};
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, level = wr_mpi_alive() ? wr_mpi_level() : -1;
    PMPI_Get_library_version(library, &length);
    say(r, "MPI        %.*s\n", (int)strcspn(library, "\n,"), library);
    for (int i = 0; i < 4; i++)
        if (levels[i] == level)
            say(r, "threads    %s%s\n", names[i],
                level == MPI_THREAD_MULTIPLE ? ""
                                             : "; accesses under way between nodes stand still "
                                               "while their program is in MPI");
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

static void say_ranks(report *r, const wr_world *w, double barrier)
{
    const wr_transport *t = w->transport;
    bool in_folder = wr_region_first(t, &w->tunables) == WR_REGION_FILE;
    say(r, "ranks      %d on %d node%s, %d on this one; %d cores\n", t->size, t->nodes,
        t->nodes == 1 ? "" : "s", t->local_size, t->cores);
    say(r, "meeting    %s%s%s, a barrier of the node takes %.1f us\n",
        w->channel.apart ? "messages, as there is no shared memory" : "shared memory",
        in_folder ? " in " : "", in_folder ? wr_region_folder(&w->tunables) : "", 1e6 * barrier);
}

static const char *cost_text(const wr_price *c, char text[96])
{
    snprintf(text, 96, "%.1f us a call, %.0f MB/s, two ranks %.1f times one",
             1e-3 * (double)c->call_ns, 1048.576e6 / (double)(c->mib_ns ? c->mib_ns : 1),
             0.01 * (double)c->scaling);
    return text;
}

static void say_costs(report *r, const char *name, const wr_storage_facts *f)
{
    char text[96];
    say(r, "%-10s read %s\n", name, cost_text(&f->cost[WR_READ], text));
    say(r, "%-10s write %s\n", "", cost_text(&f->cost[WR_WRITE], text));
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

static void say_coherence(report *r, const wr_storage_facts *facts, const wr_world *w)
{
    const char *what = "strong: all hosts see at once what one has written";
    if (facts->weak)
        what = "weak: hosts see each other's writes after a sync, which, like opening, takes some "
               "ms more;\n           until then collective calls give every byte one owner; writes "
               "with holes go run by run";
    else if (w->tunables.coherence.which == WR_COHERENCE_STRONG)
        what = "coherence=strong was set: if hosts cache this file system, they read old data";
    else if (facts->local)
        what = "strong: the ranks of this machine share it; other hosts cannot";
    say(r, "coherence  %s\n", what);
}

static int say_storage(report *r, const wr_world *w, const char *folder)
{
    wr_tunables plain = w->tunables, asked = w->tunables;
    wr_storage_facts facts, buffered, direct;
    char used[32];
    plain.fault.which = WR_FAULT_NONE;
    asked.fault.which = WR_FAULT_NONE;
    plain.storage.which = WR_STORAGE_URING;
    plain.direct.which = WR_SWITCH_ALWAYS;
    int code = try_open(folder, &plain, used, &facts);
    if (code)
        return code;
    bool uring = !strcmp(used, "uring"), can_direct = facts.direct;
    plain.storage.which = WR_STORAGE_AUTO;
    plain.direct.which = WR_SWITCH_NEVER;
    wr_storage_measure(folder, &plain, &w->log, &buffered);
    say(r, "folder     %s, %s, %s\n", folder, facts.kind,
        facts.local ? "of this machine" : "on a network");
    say_coherence(r, &facts, w);
    say(r, "io_uring   %s\n",
        uring        ? "yes"
        : facts.weak ? "not used where hosts cache"
                     : "no: refused by the kernel, or not built in");
    say(r, "O_DIRECT   %s", can_direct ? "yes" : "no\n");
    if (can_direct)
        say(r, ", in multiples of %lld bytes\n", (long long)facts.alignment);
    say_costs(r, "cached", &buffered);
    if (can_direct) {
        plain.direct.which = WR_SWITCH_ALWAYS;
        wr_storage_measure(folder, &plain, &w->log, &direct);
        say_costs(r, "direct", &direct);
    }
    code = try_open(folder, &asked, used, &facts);
    if (!code) {
        wr_costs_get(&w->process->costs, &facts, &asked, facts.cost);
        say_costs(r, "expected", &facts);
    }
    if (!code)
        say(r, "will use   storage=%s, direct=%s; shared memory within a node%s\n", used,
            facts.direct ? "always" : "never",
            w->transport->nodes > 1 ? ", messages between nodes" : "");
    return code;
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

static int examine(wr_world *w, const char *folder, char *text, size_t size)
{
    double barrier = 0;
    char lines[REPORT] = "";
    report r = {.text = lines};
    wr_transport *t = w->transport;
    int code = time_barrier(w, &barrier);
    if (code)
        return code;
    if (t->rank == 0) {
        say(&r, "weir       %s\n", weir_version());
        say_mpi(&r);
        say_ranks(&r, w, barrier);
        code = check_folder(folder);
        if (!code)
            code = say_storage(&r, w, folder);
    }
    code = wr_agree(t, 0, code);
    if (!code)
        code = wr_broadcast(t, 0, lines, sizeof lines);
    if (!code && size)
        snprintf(text, size, "%s", lines);
    return code;
}

int weir_doctor(MPI_Comm comm, const char *folder, char *text, size_t size)
{
    wr_world *w;
    int code = wr_world_get(comm, &w);
    if (code)
        return code;
    code = examine(w, folder, text, size);
    wr_world_let(comm, w);
    return code;
}
