/* weir hist: how many elements are in which range, as a chart of bars. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "float_text.h"
#include "operator.h"
#include "scale.h"
#include "terminal.h"

enum { BINS = 10, NARROWEST = 4 };

typedef struct options {
    int bins;
    cli_pair range;
    weir_histogram found;
    cli_operator_options how;
} options;

static const cli_option table[] = {
    {"--bins", 'n', "COUNT", offsetof(options, bins), cli_parse_count, "of equal width", "10"},
    {"--range", 0, "LO,HI", offsetof(options, range), cli_parse_range,
     "counts what is in it, its ends too",
     "from the least to the largest number, in one pass more"},
    CLI_OPERATOR(offsetof(options, how)),
    {0}};

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    options *o = user;
    o->found.bins = o->bins;
    o->found.lo = o->range.lo;
    o->found.hi = o->range.hi;
    return weir_array_histogram(a->in[0], a->of[0], &o->found, work);
}

static double edge_of(const weir_histogram *h, int64_t i)
{
    return i == h->bins ? h->hi : h->lo + (double)i * ((h->hi - h->lo) / (double)h->bins);
}

static int digits_of(int64_t number)
{
    return snprintf(NULL, 0, "%lld", (long long)number);
}

/* Edges with as many digits as tell them apart, counts, and bars up to the end of the line. */
static void print_text(const weir_histogram *h)
{
    int64_t most = 1;
    int edges = 0, counts = digits_of(h->count);
    const double width = (h->hi - h->lo) / (double)h->bins;
    const double large = fmax(fabs(h->lo), fabs(h->hi));
    const int places = (int)fmax(0, 2 - floor(log10(width)));
    const bool plain = large < 1e9 && places < 9;
    const int digits = plain ? places : (int)fmin(17, 3 + ceil(log10(fmax(1, large / width))));
    const char *const form = plain ? "%*.*f" : "%*.*g";
    for (int64_t i = 0; i <= h->bins; i++) {
        most = i < h->bins && h->counts[i] > most ? h->counts[i] : most;
        const int length = snprintf(NULL, 0, form, 0, digits, edge_of(h, i));
        edges = length > edges ? length : edges;
    }
    const int left = cli_terminal_columns(stdout) - edges - counts - 3;
    const int room = left < NARROWEST ? NARROWEST : left;
    for (int64_t i = 0; i < h->bins; i++) {
        const int bar = (int)ceil((double)h->counts[i] * room / (double)most);
        printf(form, edges, digits, edge_of(h, i));
        printf(" %*lld%s", counts, (long long)h->counts[i], bar ? " " : "");
        for (int k = 0; k < bar; k++)
            putchar('#');
        putchar('\n');
    }
    printf(form, edges, digits, h->hi);
    putchar('\n');
    const struct {
        const char *name;
        int64_t count;
    } besides[] = {{"below", h->below}, {"above", h->above}, {"NaN", h->nans}};
    for (int i = 0; i < 3; i++)
        if (besides[i].count)
            printf("%-6s %lld\n", besides[i].name, (long long)besides[i].count);
}

static void print_json(const weir_histogram *h)
{
    printf(", \"lo\": %.17g, \"hi\": %.17g, \"counts\": [", h->lo, h->hi);
    for (int64_t i = 0; i < h->bins; i++)
        printf("%s%lld", i ? ", " : "", (long long)h->counts[i]);
    printf("], \"count\": %lld, \"nans\": %lld, \"below\": %lld, \"above\": %lld",
           (long long)h->count, (long long)h->nans, (long long)h->below, (long long)h->above);
}

static void print(const void *user, int json)
{
    const options *o = user;
    (json ? print_json : print_text)(&o->found);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {.inputs = 1, .sections = 1, .apply = apply, .print = print};
    int arguments;
    options o = {.bins = BINS};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 1)
        return cli_usage(argv[0], problem ? problem : "takes one array, or a section of it");
    o.found.counts = malloc((size_t)o.bins * sizeof *o.found.counts);
    int status = cli_settle(argv[0], o.found.counts ? 0 : WEIR_ENOMEM);
    if (!status)
        status = cli_operator_run(&op, argv, &o.how, &o);
    free(o.found.counts);
    return status;
}

const cli_command cli_hist = {
    .name = "hist",
    .group = CLI_LOOK,
    .arguments = "'ARRAY[...]'",
    .help = "how many elements are in which range, as a chart",
    .about = "Counts as numpy.histogram does: each line begins where its range does, and the last "
             "one has both ends. Infinite numbers are below or above. For any type but complex.",
    .options = table,
    .example = {"weir hist a.npy --bins 20", "weir hist 'cube.npy[0]' --range 0,0.5 --json"},
    .run = run};
