/* Costs are looked up in a table of this process, then in a file of the user's cache folder;
 * transfers that were timed by the way bring new ones. */
#include "storage/costs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/clock.h"
#include "base/limit.h"

/* The first line of a file; another version where numbers come to mean something else. */
static const char head[] = "weir costs 1\n";

enum { PATH = WR_TUNABLE_TEXT + 100, TEXT = 256 };
enum { FRESH_SECONDS = 30 * 24 * 3600 };

/* Sizes of a transfer's runs that tell the price of a MiB; how many must have been timed. */
enum { LARGE = 128 << 10, LEAST_LARGE = 1 << 20, ENOUGH = 3 };

wr_storage_facts wr_storage_default_facts(void)
{
    wr_storage_facts facts = {.alignment = 1, .local = true, .kind = "unknown", .descriptor = -1};
    memcpy(facts.cost, wr_built_in_prices[WR_IN_CACHE].price, sizeof facts.cost);
    return facts;
}

static const wr_built_in *built_in_of(const wr_storage_facts *facts)
{
    return &wr_built_in_prices[!facts->local   ? WR_ON_NETWORK
                               : facts->direct ? WR_ON_DEVICE
                                               : WR_IN_CACHE];
}

/* --- learning --- */

int64_t wr_sample_start(int64_t runs, int64_t bytes)
{
    return runs >= WR_SMALL_RUNS || bytes >= LARGE ? wr_clock_ns() : 0;
}

static void note(int64_t *count, int64_t *least, int64_t value)
{
    *least = (*count)++ ? wr_min(*least, value) : value;
}

static void add(wr_timing *took, int64_t from, int64_t to, int64_t amount)
{
    took->from = took->amount ? took->from : from;
    took->to = to;
    took->ns += to - from;
    took->amount += amount;
    took->ranks = 1;
}

void wr_sample_end(wr_samples *samples, enum wr_direction direction, int64_t start, int64_t runs,
                   int64_t bytes)
{
    if (!start)
        return;
    const int64_t now = wr_clock_ns(), ns = now - start;
    wr_timing *took = samples->took.of[direction];
    if (runs >= WR_SMALL_RUNS && bytes / runs <= WR_SMALL_RUN) {
        note(&samples->of[direction].calls, &samples->of[direction].call_ns, ns / runs);
        add(&took[WR_TIMED_RUNS], start, now, runs);
    } else if (runs > 0 && bytes / runs >= LARGE) {
        if (bytes >= LEAST_LARGE)
            note(&samples->of[direction].larges, &samples->of[direction].mib_ns,
                 (int64_t)((double)ns * (1 << 20) / (double)bytes));
        add(&took[WR_TIMED_BYTES], start, now, bytes);
    }
}

/* --- files --- */

static bool name_of(const wr_costs_key *key, const wr_tunables *tunables, char folder[PATH],
                    char path[PATH])
{
    return wr_tunables_costs_folder(tunables, folder, WR_TUNABLE_TEXT) &&
           snprintf(path, PATH, "%s/costs-%016llx-%lld-%lld", folder,
                    (unsigned long long)key->system, (long long)key->storage,
                    (long long)key->direct) < PATH;
}

static bool is_likely(const wr_price *c)
{
    const int64_t most = INT64_C(1) << 40;
    return c->call_ns > 0 && c->call_ns < most && c->mib_ns > 0 && c->mib_ns < most &&
           c->scaling >= 50 && c->scaling <= 200;
}

static bool parse(const char *text, wr_price out[2])
{
    long long n[6];
    char end[8] = "";
    if (strncmp(text, head, sizeof head - 1) != 0 ||
        sscanf(text + sizeof head - 1, "read %lld %lld %lld write %lld %lld %lld %4s", &n[0], &n[1],
               &n[2], &n[3], &n[4], &n[5], end) != 7 ||
        strcmp(end, "end") != 0)
        return false;
    out[WR_READ] = (wr_price){n[0], n[1], n[2]};
    out[WR_WRITE] = (wr_price){n[3], n[4], n[5]};
    return is_likely(&out[0]) && is_likely(&out[1]);
}

/* Whether it is ours, and young. */
static bool is_good(int fd)
{
    struct stat status;
    const int64_t age = !fstat(fd, &status) ? (int64_t)time(NULL) - status.st_mtime : INT64_MAX;
    return age < FRESH_SECONDS && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static bool recall(const wr_costs_key *key, const wr_tunables *tunables, wr_price out[2])
{
    char folder[PATH], path[PATH], text[TEXT] = "";
    wr_price found[2];
    if (!name_of(key, tunables, folder, path))
        return false;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = is_good(fd) && read(fd, text, sizeof text - 1) > 0 && parse(text, found);
    close(fd);
    if (good)
        memcpy(out, found, sizeof found);
    return good;
}

/* The folder and the one it is in, as the user would make them. */
static void make_folder(const char *folder)
{
    char parent[PATH];
    snprintf(parent, sizeof parent, "%s", folder);
    char *slash = strrchr(parent, '/');
    if (slash && slash > parent) {
        *slash = 0;
        mkdir(parent, 0700);
    }
    mkdir(folder, 0700);
}

/* Under a name of its own first: nobody sees half of it. */
static void remember(const wr_costs_key *key, const wr_tunables *tunables, const wr_price cost[2])
{
    char folder[PATH], path[PATH], own[PATH + 50], text[TEXT];
    if (!name_of(key, tunables, folder, path))
        return;
    int length =
        snprintf(text, sizeof text, "%sread %lld %lld %lld\nwrite %lld %lld %lld\nend\n", head,
                 (long long)cost[0].call_ns, (long long)cost[0].mib_ns, (long long)cost[0].scaling,
                 (long long)cost[1].call_ns, (long long)cost[1].mib_ns, (long long)cost[1].scaling);
    snprintf(own, sizeof own, "%s-%d-%llx", path, (int)getpid(), (unsigned long long)wr_clock_ns());
    make_folder(folder);
    int fd = open(own, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    bool good = length < wr_file_limit() && write(fd, text, (size_t)length) == length;
    good = !close(fd) && good;
    if (!good || rename(own, path))
        unlink(own);
}

/* --- the table --- */

static wr_costs_key key_of(const wr_storage_facts *facts, const wr_tunables *t)
{
    bool keeps = t->storage.which != WR_STORAGE_MEM;
    return (wr_costs_key){keeps ? facts->system : 0, t->storage.which, facts->direct};
}

/* With the lock held: what is known by a key; of a new one, what is remembered or built in. */
static wr_price *look_up(wr_costs *costs, const wr_costs_key *key, const wr_storage_facts *facts,
                         const wr_tunables *tunables)
{
    for (int64_t i = 0; i < wr_min(costs->count, WR_COSTS_KEPT); i++) {
        const wr_costs_key *k = &costs->kept[i].key;
        if (k->system == key->system && k->storage == key->storage && k->direct == key->direct)
            return costs->kept[i].cost;
    }
    int64_t place = costs->count++ % WR_COSTS_KEPT;
    wr_price *cost = costs->kept[place].cost;
    costs->kept[place].key = *key;
    if (!recall(key, tunables, cost))
        memcpy(cost, built_in_of(facts)->price, sizeof built_in_of(facts)->price);
    return cost;
}

/* Storage that is slow because it was told to be. */
static void slow_down(const wr_choice *fault, wr_price cost[2])
{
    for (int i = 0; i < 2; i++) {
        if (fault->which == WR_FAULT_DELAY)
            cost[i].call_ns += fault->number * 1000;
        if (fault->which == WR_FAULT_BANDWIDTH) {
            cost[i].mib_ns =
                wr_max(cost[i].mib_ns, ((int64_t)1000 << 20) / wr_max(fault->number, 1));
            cost[i].scaling = 200;
        }
    }
}

void wr_costs_get(wr_costs *costs, const wr_storage_facts *facts, const wr_tunables *tunables,
                  wr_price out[2])
{
    const wr_costs_key key = key_of(facts, tunables);
    memcpy(out, built_in_of(facts)->price, sizeof built_in_of(facts)->price);
    if (key.system) {
        pthread_mutex_lock(&costs->lock);
        memcpy(out, look_up(costs, &key, facts, tunables), sizeof built_in_of(facts)->price);
        pthread_mutex_unlock(&costs->lock);
    }
    for (int i = 0; i < 2 && facts->granule[i]; i++) { /* tiles are files of their own */
        out[i].mib_ns += facts->coding[i];
        out[i].scaling = 200;
    }
    slow_down(&tunables->fault, out);
}

/* Takes over what was timed often enough and differs by more than a quarter; whether it did. */
static bool adopt(int64_t *known, int64_t built_in, int64_t reach, int64_t times, int64_t timed)
{
    timed = wr_max(built_in / reach, wr_min(timed, built_in * reach));
    if (times < ENOUGH || (4 * timed > 3 * *known && 4 * timed < 5 * *known))
        return false;
    *known = wr_max(timed, 1);
    return true;
}

void wr_costs_learn(wr_costs *costs, const wr_storage_facts *facts, const wr_tunables *tunables,
                    const wr_samples *samples)
{
    const wr_costs_key key = key_of(facts, tunables);
    const wr_built_in *of = built_in_of(facts);
    bool news = false;
    if (!key.system || tunables->fault.which != WR_FAULT_NONE || facts->granule[WR_READ])
        return;
    pthread_mutex_lock(&costs->lock);
    wr_price *known = look_up(costs, &key, facts, tunables);
    for (int i = 0; i < 2; i++) {
        news |= adopt(&known[i].call_ns, of->price[i].call_ns, of->reach, samples->of[i].calls,
                      samples->of[i].call_ns);
        news |= adopt(&known[i].mib_ns, of->price[i].mib_ns, of->reach, samples->of[i].larges,
                      samples->of[i].mib_ns);
    }
    if (news)
        remember(&key, tunables, known);
    pthread_mutex_unlock(&costs->lock);
}
