/* Progress on rank 0, and the sums over all ranks of what the library has counted. */
#include "account.h"

#include <sys/resource.h>

#include "command.h"
#include "launched.h"

/* Of all ranks. */
typedef struct cost {
    double seconds;
    int64_t read, written, moved;    /* sums */
    int64_t calls, memory, resident; /* of the rank that has most; -1: nobody knows */
} cost;

void cli_account_begin(cli_account *a, const char *command, const cli_manner *how)
{
    *a = (cli_account){.command = command, .how = how, .begun = cli_seconds()};
    weir_totals_get(MPI_COMM_WORLD, &a->before);
}

cli_progress *cli_account_progress(cli_account *a, int64_t bytes)
{
    const int draws = a->how->progress || cli_errors_are_seen();
    if (cli_rank() || a->how->quiet || !(draws || a->how->verbose))
        return NULL;
    cli_bar_init(&a->bar, stderr, a->command, bytes, !draws);
    return cli_bar_draw;
}

void cli_account_closing(cli_account *a)
{
    cli_bar_say(&a->bar, "until the storage has all of it");
}

void cli_account_quiet(cli_account *a)
{
    cli_bar_erase(&a->bar);
}

static cost sum_up(const cli_account *a)
{
    weir_totals t;
    struct rusage usage = {0};
    weir_totals_get(MPI_COMM_WORLD, &t);
    getrusage(RUSAGE_SELF, &usage);
    const weir_totals *b = &a->before;
    int64_t sum[3] = {t.wanted_read - b->wanted_read, t.wanted_written - b->wanted_written,
                      t.moved_read + t.moved_written - b->moved_read - b->moved_written};
    int64_t most[3] = {t.calls - b->calls, t.memory_peak, (int64_t)usage.ru_maxrss * 1024};
    int64_t sums[3], highest[3];
    MPI_Allreduce(sum, sums, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(most, highest, 3, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return (cost){.seconds = cli_seconds() - a->begun,
                  .read = sums[0],
                  .written = sums[1],
                  .moved = sums[2],
                  .calls = highest[0],
                  .memory = highest[1],
                  .resident = highest[2]};
}

static cost expect(const cli_expected *expected)
{
    const weir_estimate *e = &expected->estimate;
    return (cost){.seconds = expected->seconds,
                  .read = e->read,
                  .written = e->written,
                  .moved = -1,
                  .calls = e->calls,
                  .memory = expected->memory,
                  .resident = -1};
}

static void print_count(const char *key, int64_t value)
{
    if (value < 0)
        printf(", \"%s\": null", key);
    else
        printf(", \"%s\": %lld", key, (long long)value);
}

static void print_json(const cli_account *a, const cli_outcome *outcome, const cost *c)
{
    const double wanted = (double)c->read + (double)c->written;
    printf("{\"command\": \"%s\", \"dry_run\": %s, \"ranks\": %d", a->command,
           outcome->expected ? "true" : "false", cli_ranks());
    print_count("read", c->read);
    print_count("written", c->written);
    print_count("moved", c->moved);
    if (c->moved >= 0 && wanted > 0)
        printf(", \"amplification\": %.4f", (double)c->moved / wanted);
    else
        printf(", \"amplification\": null");
    print_count("calls", c->calls);
    if (c->seconds > 0)
        printf(", \"seconds\": %.6f, \"rate\": %.0f", c->seconds, wanted / c->seconds);
    else
        printf(", \"seconds\": null, \"rate\": null");
    print_count("memory", c->memory);
    print_count("resident", c->resident);
    printf(", \"plan\": \"%s\"", outcome->plan);
    if (outcome->print && !outcome->expected)
        outcome->print(outcome->user, 1);
    puts("}");
}

void cli_account_end(cli_account *a, const cli_outcome *outcome)
{
    const cost c = outcome->expected ? expect(outcome->expected) : sum_up(a);
    if (cli_rank() != 0)
        return;
    if (a->how->json)
        print_json(a, outcome, &c);
    else if (outcome->print && !outcome->expected)
        outcome->print(outcome->user, 0);
    if (a->how->verbose && !a->how->quiet && !outcome->expected)
        fprintf(stderr, "weir %s: %.1f MB read, %.1f MB written in %.1f s, %.0f MB/s\n", a->command,
                (double)c.read / 1e6, (double)c.written / 1e6, c.seconds,
                c.seconds > 0 ? (double)(c.read + c.written) / c.seconds / 1e6 : 0);
}
