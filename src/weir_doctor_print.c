/* What `weir doctor` has found, for people and for programs. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "weir/weir.h"
#include "weir_doctor.h"

/* Appended to a buffer; `used` is what a buffer large enough would hold. */
typedef struct report {
    char *text;
    size_t size, used;
} report;

static void say(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(report *r, const char *format, ...)
{
    va_list args;
    const size_t at = r->used < r->size ? r->used : r->size;
    va_start(args, format);
    r->used += (size_t)vsnprintf(r->text + at, r->size - at, format, args);
    va_end(args);
}

/* --- for people --- */

static double call_us(const wr_price *c)
{
    return 1e-3 * (double)c->call_ns;
}

static double rate(const wr_price *c)
{
    return 1048.576e6 / (double)(c->mib_ns ? c->mib_ns : 1);
}

static void say_costs(report *r, const char *name, const wr_price cost[2])
{
    static const char *const verbs[2] = {[WR_READ] = "read", [WR_WRITE] = "write"};
    for (int i = 0; i < 2; i++) {
        const wr_price *c = &cost[i ? WR_WRITE : WR_READ];
        say(r, "%-10s %s %.1f us a call, %.0f MB/s, two ranks %.1f times one\n", i ? "" : name,
            verbs[i ? WR_WRITE : WR_READ], call_us(c), rate(c), 0.01 * (double)c->scaling);
    }
}

static const char *coherence_of(const wr_findings *f)
{
    if (f->facts.weak)
        return "weak: hosts see each other's writes after a sync, which, like opening, takes some "
               "ms more;\n           until then collective calls give every byte one owner; writes "
               "with holes go run by run";
    if (f->told_strong)
        return "coherence=strong was set: if hosts cache this file system, they read old data";
    if (f->facts.local)
        return "strong: the ranks of this machine share it; other hosts cannot";
    return "strong: all hosts see at once what one has written";
}

static void say_storage(report *r, const wr_findings *f)
{
    say(r, "folder     %s, %s, %s\n", f->folder, f->facts.kind,
        f->facts.local ? "of this machine" : "on a network");
    say(r, "coherence  %s\n", coherence_of(f));
    say(r, "io_uring   %s\n",
        f->uring        ? "yes"
        : f->facts.weak ? "not used where hosts cache"
                        : "no: refused by the kernel, or not built in");
    say(r, "O_DIRECT   %s", f->facts.direct ? "yes" : "no\n");
    if (f->facts.direct)
        say(r, ", in multiples of %lld bytes\n", (long long)f->facts.alignment);
    say_costs(r, "cached", f->cached);
    if (f->facts.direct)
        say_costs(r, "direct", f->direct);
    say_costs(r, "expected", f->expected);
    say(r, "will use   storage=%s, direct=%s; shared memory within a node%s\n", f->storage,
        f->will_direct ? "always" : "never", f->nodes > 1 ? ", messages between nodes" : "");
}

void wr_findings_text(const wr_findings *f, char *text, size_t size)
{
    report r = {.text = text, .size = size};
    say(&r, "weir       %s\nMPI        %s\n", weir_version(), f->mpi);
    if (f->level)
        say(&r, "threads    %s%s\n", f->level,
            f->multiple ? ""
                        : "; accesses under way between nodes stand still while their program is "
                          "in MPI");
    say(&r, "ranks      %d on %d node%s, %d on this one; %d cores\n", f->ranks, f->nodes,
        f->nodes == 1 ? "" : "s", f->local_ranks, f->cores);
    say(&r, "meeting    %s%s%s, a barrier of the node takes %.1f us\n",
        f->apart ? "messages, as there is no shared memory" : "shared memory",
        f->region_folder ? " in " : "", f->region_folder ? f->region_folder : "", 1e6 * f->barrier);
    say_storage(&r, f);
}

/* --- for programs --- */

static void put_string(report *r, const char *key, const char *value)
{
    say(r, "\"%s\": %s", key, value ? "\"" : "null");
    for (; value && *value; value++) {
        const unsigned char c = (unsigned char)*value;
        if (c < ' ')
            say(r, "\\u%04x", c);
        else
            say(r, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
    }
    say(r, value ? "\", " : ", ");
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void put_costs(report *r, const char *key, const wr_price cost[2])
{
    say(r, "\"%s\": ", key);
    if (!cost) {
        say(r, "null, ");
        return;
    }
    for (int i = 0; i < 2; i++) {
        const wr_price *c = &cost[i ? WR_WRITE : WR_READ];
        say(r, "%s: {\"call_us\": %.3f, \"mb_per_s\": %.0f, \"two_ranks\": %.2f}%s",
            i ? "\"write\"" : "{\"read\"", call_us(c), rate(c), 0.01 * (double)c->scaling,
            i ? "}, " : ", ");
    }
}

int wr_findings_json(const wr_findings *f, char *text, size_t size)
{
    report r = {.text = text, .size = size};
    say(&r, "{");
    put_string(&r, "weir", weir_version());
    put_string(&r, "mpi", f->mpi);
    put_string(&r, "threads", f->level);
    say(&r, "\"ranks\": %d, \"nodes\": %d, \"ranks_of_node\": %d, \"cores\": %d, ", f->ranks,
        f->nodes, f->local_ranks, f->cores);
    say(&r, "\"shared_memory\": %s, ", truth(!f->apart));
    put_string(&r, "region_folder", f->region_folder);
    say(&r, "\"barrier_us\": %.3f, ", 1e6 * f->barrier);
    put_string(&r, "folder", f->folder);
    put_string(&r, "file_system", f->facts.kind);
    say(&r, "\"local\": %s, \"coherence\": \"%s\", \"io_uring\": %s, \"o_direct\": %s, ",
        truth(f->facts.local), f->facts.weak ? "weak" : "strong", truth(f->uring),
        truth(f->facts.direct));
    say(&r, "\"alignment\": %lld, ", (long long)(f->facts.direct ? f->facts.alignment : 1));
    put_costs(&r, "cached", f->cached);
    put_costs(&r, "direct", f->facts.direct ? f->direct : NULL);
    put_costs(&r, "expected", f->expected);
    say(&r, "\"will_use\": {\"storage\": \"%s\", \"direct\": %s}}\n", f->storage,
        truth(f->will_direct));
    return r.used < size ? 0 : wr_fail(WEIR_EINVAL, "what was found takes %zu bytes", r.used + 1);
}
