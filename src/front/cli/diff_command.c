/* weir diff: whether two arrays, or sections of them, have the same elements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "number_text.h"
#include "operator.h"

enum { CLI_DIFFERENT = 1, CLI_TROUBLE = 2 }; /* exit statuses, as of diff */

typedef struct options {
    double rtol, atol;
    int nans_differ;
    weir_comparison found;
    int shapes_differ;
    const char *name[CLI_OPERANDS], *type[CLI_OPERANDS];
    char shape[CLI_OPERANDS][400], first[CLI_OPERANDS][400], value[CLI_OPERANDS][CLI_NUMBER];
    char place[400]; /* of the first, in the sections */
    cli_operator_options how;
} options;

static const cli_option table[] = {
    {"--rtol", 0, "NUMBER", offsetof(options, rtol), cli_parse_tolerance,
     "elements are the same if |a - b| <= atol + rtol |b|", "0"},
    {"--atol", 0, "NUMBER", offsetof(options, atol), cli_parse_tolerance, "see --rtol", "0"},
    {"--nans-differ", 0, NULL, offsetof(options, nans_differ), NULL,
     "a NaN is like no other element, as in C", "all NaNs are the same"},
    CLI_OPERATOR(offsetof(options, how)),
    {0}};

/* Numbers with commas between them. */
static void list(char *text, size_t size, int count, const int64_t *number)
{
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "",
                                 (long long)number[i]);
}

/* Where a place of the section is in its array, and what is there. */
static int tell_first(options *o, const cli_source *s, int i, const int64_t *place)
{
    int64_t index[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS] = {0};
    const int64_t stride[WEIR_MAX_DIMENSIONS] = {0};
    char element[16];
    const cli_bracket *b = &s->bracket;
    for (int d = 0, kept = 0; d < b->dimensions; d++) {
        const int64_t k = b->dropped[d] ? 0 : place[kept++];
        index[d] = b->list && b->listed == d ? b->list[k] : b->lo[d] + k * b->step[d];
    }
    for (int d = 0; d < s->dimensions; d++)
        hi[d] = place[d] + 1;
    list(o->first[i], sizeof o->first[i], b->dimensions, index);
    int code = cli_source_read(s, place, hi, stride, element);
    if (!code)
        cli_number_alone(s->info->type, element, o->value[i]);
    return code;
}

static int tell_firsts(options *o, const cli_operands *a)
{
    int64_t place[WEIR_MAX_DIMENSIONS] = {0}, rest = o->found.first;
    const cli_source *s = a->source;
    for (int d = s->dimensions - 1; d >= 0; d--) {
        place[d] = rest % s->shape[d];
        rest /= s->shape[d];
    }
    list(o->place, sizeof o->place, s->dimensions, place);
    int code = tell_first(o, &a->source[0], 0, place);
    return code ? code : tell_first(o, &a->source[1], 1, place);
}

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    options *o = user;
    const cli_source *s = a->source;
    for (int i = 0; i < CLI_OPERANDS; i++) {
        list(o->shape[i], sizeof o->shape[i], s[i].dimensions, s[i].shape);
        o->type[i] = weir_type_name(s[i].info->type);
    }
    o->shapes_differ = strcmp(o->shape[0], o->shape[1]) != 0;
    if (o->shapes_differ)
        return 0;
    o->found = (weir_comparison){.rtol = o->rtol,
                                 .atol = o->atol,
                                 .nans_differ = o->nans_differ,
                                 .first_only = o->how.manner.quiet};
    int code = weir_array_compare(a->in[0], a->of[0], a->in[1], a->of[1], &o->found, work);
    if (code || work->estimate || !o->found.differences || cli_rank() != 0)
        return code;
    return tell_firsts(o, a);
}

static void print_text(const options *o)
{
    if (!o->shapes_differ && !o->found.differences)
        return;
    if (strcmp(o->type[0], o->type[1]) != 0)
        printf("types differ: %s is %s, %s is %s\n", o->name[0], o->type[0], o->name[1],
               o->type[1]);
    if (o->shapes_differ)
        printf("shapes differ: %s has (%s), %s has (%s)\n", o->name[0], o->shape[0], o->name[1],
               o->shape[1]);
    if (o->shapes_differ)
        return;
    printf("%-12s %lld of %lld\n", "differences", (long long)o->found.differences,
           (long long)o->found.count);
    for (int i = 0; i < CLI_OPERANDS; i++)
        printf("%-12s %.*s[%s] is %s\n", i ? "" : "first",
               (int)(cli_bracket_find(o->name[i]) - o->name[i]), o->name[i],
               *o->first[i] ? o->first[i] : "...", o->value[i]);
    printf("%-12s %.17g\n", "absolute", o->found.absolute);
    printf("%-12s %.17g\n", "relative", o->found.relative);
}

static void print_number(const char *name, double value)
{
    if (isfinite(value))
        printf(", \"%s\": %.17g", name, value);
    else
        printf(", \"%s\": null", name);
}

static void print_json(const options *o)
{
    const int differ = o->shapes_differ || o->found.differences;
    printf(", \"same\": %s, \"shapes\": [[%s], [%s]], \"types\": [\"%s\", \"%s\"]",
           differ ? "false" : "true", o->shape[0], o->shape[1], o->type[0], o->type[1]);
    if (o->shapes_differ)
        return;
    printf(", \"count\": %lld, \"differences\": %lld", (long long)o->found.count,
           (long long)o->found.differences);
    if (o->found.first < 0)
        printf(", \"first\": null");
    else
        printf(", \"first\": [%s]", o->place);
    print_number("absolute", o->found.absolute);
    print_number("relative", o->found.relative);
}

static void print(const void *user, int json)
{
    const options *o = user;
    if (json)
        print_json(o);
    else if (!o->how.manner.quiet)
        print_text(o);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {.inputs = 2, .sections = 1, .apply = apply, .print = print};
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 2)
        return cli_usage(argv[0], problem ? problem : "takes two arrays, or sections of them");
    o.name[0] = argv[1];
    o.name[1] = argv[2];
    int status = cli_operator_run(&op, argv, &o.how, &o);
    if (!status)
        status = cli_flush(argv[0]); /* which must not look like a difference */
    if (status)
        return status == CLI_UNREAD ? status : CLI_TROUBLE;
    const int differ = o.shapes_differ || o.found.differences;
    return differ && !o.how.dry_run ? CLI_DIFFERENT : 0;
}

const cli_command cli_diff = {
    .name = "diff",
    .group = CLI_LOOK,
    .arguments = "'A[...]' 'B[...]'",
    .help = "where two arrays differ, and by how much",
    .about =
        "Nothing is printed, and the exit status is 0, if they are the same; 1 if they differ, 2 "
        "if that cannot be told. Tolerances are those of numpy.isclose: infinite numbers are the "
        "same only as themselves. Types and formats may differ; integers are compared exactly, but "
        "with floats, and u8 with those that have a sign, as f8. Printed are the largest |a - b|, "
        "and |a - b| / |b| where b is not 0, of all elements, and the first place, by rows, with a "
        "difference. With --quiet nothing is printed, and it ends where the first one is found.",
    .options = table,
    .example = {"weir diff a.npy a.npy --rtol 1e-6",
                "weir diff 'a.npy[:, 0]' 'a.npy[:, 1]' --quiet || echo different"},
    .run = run};
