/* Reads traces line by line: a table says which function takes what follows a record's first
 * word. */
#include "report_trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 16384, MOST_RANKS = 1 << 24 };
/* So that sums of a few never overflow: counts and bytes; times of day, from 2000 to 2116; other
 * times, 9 years. */
#define MOST (INT64_MAX / 4)
#define FIRST_START INT64_C(946684800000000000)
#define LAST_START (INT64_MAX / 2)
#define LONGEST_TIME (INT64_C(1) << 58)

const char *const trace_phases[] = {"exchange", "access", "wait"};
const char *const trace_forms[] = {"blocking", "split", "nonblocking"};
const char *const trace_directions[] = {"read", "write"};

int64_t trace_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The next word, its end marked; NULL if there is none. */
static char *next_word(char **at)
{
    char *from = *at, *end = from + strcspn(from, " ");
    if (end == from)
        return NULL;
    *at = *end ? end + 1 : end;
    *end = 0;
    return from;
}

static int take_number(char **at, int64_t most, int64_t *out)
{
    const char *text = next_word(at);
    int64_t value = 0;
    if (!text)
        return -1;
    for (; *text; text++) {
        if (!isdigit((unsigned char)*text) || value > most / 10)
            return -1;
        value = value * 10 + (*text - '0');
    }
    if (value > most)
        return -1;
    *out = value;
    return 0;
}

static int take_numbers(char **at, int count, int64_t *out)
{
    for (int i = 0; i < count; i++)
        if (take_number(at, MOST, &out[i]))
            return -1;
    return 0;
}

static int take_int(char **at, int most, int *out)
{
    int64_t value;
    if (take_number(at, most, &value))
        return -1;
    *out = (int)value;
    return 0;
}

/* Which of the names comes next. */
static int take_name(char **at, const char *const *names, int count, int *out)
{
    const char *word = next_word(at);
    for (int i = 0; word && i < count; i++)
        if (!strcmp(word, names[i])) {
            *out = i;
            return 0;
        }
    return -1;
}

static void copy_text(char *to, size_t size, const char *from)
{
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = 0;
}

/* The rest of a line as it was before newlines and backslashes were replaced; on the heap. */
static char *take_rest(const char *from)
{
    char *text = strdup(from), *to = text;
    for (; text && *from; from++) {
        if (*from == '\\' && (from[1] == 'n' || from[1] == '\\'))
            *to++ = *++from == 'n' ? '\n' : '\\';
        else
            *to++ = *from;
    }
    if (text)
        *to = 0;
    return text;
}

static int take_job(report_trace *t, char *at)
{
    char *end;
    if (strlen(at) != 16 || strspn(at, "0123456789abcdef") != 16)
        return -1;
    t->job = strtoull(at, &end, 16);
    return 0;
}

static int take_rank(report_trace *t, char *at)
{
    int rank, ranks;
    if (take_int(&at, MOST_RANKS, &rank) || take_int(&at, MOST_RANKS, &ranks) || rank >= ranks)
        return -1;
    t->rank = rank;
    t->ranks = ranks;
    return 0;
}

static int take_host(report_trace *t, char *at)
{
    copy_text(t->host, sizeof t->host, at);
    return 0;
}

static int take_version(report_trace *t, char *at)
{
    copy_text(t->version, sizeof t->version, at);
    return 0;
}

static int take_program(report_trace *t, char *at)
{
    char *name = take_rest(at);
    if (name)
        copy_text(t->program, sizeof t->program, name);
    free(name);
    return name ? 0 : -1;
}

static int take_start(report_trace *t, char *at)
{
    int64_t start;
    if (take_number(&at, LAST_START, &start) || start < FIRST_START)
        return -1;
    t->start = start;
    return 0;
}

static int take_length(report_trace *t, char *at)
{
    return take_number(&at, LONGEST_TIME, &t->length);
}

static int take_complete(report_trace *t, char *at)
{
    return take_int(&at, 1, &t->complete);
}

static int take_memory(report_trace *t, char *at)
{
    return take_number(&at, MOST, &t->memory);
}

static int take_errors(report_trace *t, char *at)
{
    return take_number(&at, MOST, &t->errors);
}

static int take_bins(report_trace *t, char *at)
{
    int bins;
    int64_t width;
    if (take_int(&at, TRACE_BINS, &bins) || take_number(&at, LONGEST_TIME / TRACE_BINS, &width) ||
        !width)
        return -1;
    t->bins = bins;
    t->width = width;
    return 0;
}

/* A bin has no more time than its width, and phases share it. */
static int take_time(report_trace *t, char *at)
{
    int phase, bin;
    int64_t ns;
    if (take_name(&at, trace_phases, TRACE_PHASES, &phase) || take_int(&at, t->bins - 1, &bin) ||
        take_number(&at, MOST, &ns))
        return -1;
    t->time[phase][bin] = ns < t->width ? ns : t->width;
    return 0;
}

static int take_behind(report_trace *t, char *at)
{
    int bin;
    int64_t ns;
    if (take_int(&at, t->bins - 1, &bin) || take_number(&at, MOST, &ns))
        return -1;
    t->behind = trace_add(t->behind, ns);
    return 0;
}

/* "a.npy.partial-12ab" is to be a.npy, and nobody knows it by the other name. */
static void strip_partial(char *name)
{
    static const char mark[] = ".partial-";
    char *at = strstr(name, mark);
    if (!at)
        return;
    char *end = at + strlen(mark) + strspn(at + strlen(mark), "0123456789abcdef");
    if (!*end || *end == '/')
        memmove(at, end, strlen(end) + 1);
}

static int take_file(report_trace *t, char *at)
{
    int number;
    int64_t size;
    if (take_int(&at, TRACE_FILES - 1, &number) || take_number(&at, MOST, &size) ||
        t->file[number].name)
        return -1;
    char *name = take_rest(at);
    if (!name)
        return -1;
    strip_partial(name);
    t->file[number] = (trace_file){.name = name, .size = size, .slot = -1};
    t->files = number >= t->files ? number + 1 : t->files;
    return 0;
}

static int take_known_file(report_trace *t, char **at, int *out)
{
    return take_int(at, t->files - 1, out) || !t->file[*out].name ? -1 : 0;
}

static int take_span(report_trace *t, char *at)
{
    int number;
    int64_t step;
    if (take_known_file(t, &at, &number) || take_number(&at, MOST / TRACE_ROWS, &step) || !step)
        return -1;
    t->file[number].step = step;
    return 0;
}

static int take_cell(report_trace *t, char *at)
{
    trace_cell cell;
    if (take_known_file(t, &at, &cell.file) || !t->file[cell.file].step ||
        take_name(&at, trace_directions, 2, &cell.write) ||
        take_int(&at, TRACE_ROWS - 1, &cell.row) || take_int(&at, t->bins - 1, &cell.bin) ||
        take_number(&at, MOST, &cell.bytes))
        return -1;
    if (t->cell)
        t->cell(t, &cell);
    return 0;
}

static int take_call(report_trace *t, char *at)
{
    static const char *const kinds[] = {"together", "alone"};
    trace_call c = {.known = 1};
    int64_t n[10];
    int number;
    if (take_int(&at, TRACE_CALLS - 1, &number) || t->call[number].known ||
        take_known_file(t, &at, &c.file) || take_name(&at, trace_directions, 2, &c.write) ||
        take_name(&at, kinds, 2, &c.alone) || take_name(&at, trace_forms, TRACE_FORMS, &c.form) ||
        take_numbers(&at, 10, n))
        return -1;
    c.count = n[0];
    c.wanted = n[1];
    c.moved = n[2];
    c.syscalls = n[3];
    c.spent = n[4];
    memcpy(c.phase, n + 5, sizeof c.phase);
    c.longest = n[8];
    c.errors = n[9];
    t->call[number] = c;
    t->calls = number >= t->calls ? number + 1 : t->calls;
    return 0;
}

static trace_call *take_known_call(report_trace *t, char **at)
{
    int number;
    return take_int(at, t->calls - 1, &number) || !t->call[number].known ? NULL : &t->call[number];
}

static int take_shape(report_trace *t, char *at)
{
    trace_call *c = take_known_call(t, &at);
    int64_t n[5];
    if (!c || take_numbers(&at, 5, n))
        return -1;
    const char *exchange = next_word(&at), *way = next_word(&at);
    if (!exchange || !way)
        return -1;
    c->shape = (trace_shape){n[0], n[1], n[2], n[3], n[4], "", ""};
    copy_text(c->shape.exchange, sizeof c->shape.exchange, exchange);
    copy_text(c->shape.way, sizeof c->shape.way, way);
    return 0;
}

static int take_plan(report_trace *t, char *at)
{
    trace_call *c = take_known_call(t, &at);
    if (!c || c->plan || t->plans == TRACE_PLANS)
        return -1;
    c->plan = take_rest(at);
    t->plans++;
    return c->plan ? 0 : -1;
}

/* Rank -1: for no rank in particular, such as for its own work in the background. */
static int take_waited(report_trace *t, char *at)
{
    int rank;
    int64_t ns;
    if (!strncmp(at, "-1 ", 3)) {
        at += 3;
        return take_number(&at, MOST, &ns);
    }
    if (t->waits == TRACE_WAITS || take_int(&at, t->ranks - 1, &rank) ||
        take_number(&at, MOST, &ns))
        return -1;
    t->waited[t->waits].rank = rank;
    t->waited[t->waits++].ns = ns;
    return 0;
}

static int take_end(report_trace *t, char *at)
{
    t->whole = !*at;
    return t->whole ? 0 : -1;
}

static const struct {
    const char *word;
    int (*take)(report_trace *t, char *at);
} records[] = {
    {"cell", take_cell},     {"time", take_time},       {"call", take_call},
    {"shape", take_shape},   {"plan", take_plan},       {"waited", take_waited},
    {"file", take_file},     {"span", take_span},       {"job", take_job},
    {"rank", take_rank},     {"host", take_host},       {"version", take_version},
    {"start", take_start},   {"program", take_program}, {"complete", take_complete},
    {"length", take_length}, {"memory", take_memory},   {"bins", take_bins},
    {"errors", take_errors}, {"behind", take_behind},   {"end", take_end},
};

static void take_line(report_trace *t, char *line)
{
    char *at = line;
    const char *word = next_word(&at);
    for (size_t i = 0; word && i < sizeof records / sizeof *records; i++)
        if (!strcmp(word, records[i].word)) {
            t->damaged += records[i].take(t, at) != 0;
            return;
        }
    t->damaged += !word;
}

/* A line without its end, the rest of one that is too long being skipped; 0 at the end of the
 * file. What follows the last newline is a line that was cut. */
static int next_line(FILE *f, char *line, int *damaged)
{
    while (fgets(line, LONGEST_LINE, f)) {
        char *end = strchr(line, '\n');
        if (end) {
            *end = 0;
            return 1;
        }
        ++*damaged;
        for (int c = getc(f); c != '\n' && c != EOF;)
            c = getc(f);
    }
    return 0;
}

static void clear(report_trace *t)
{
    for (int i = 0; i < t->files; i++)
        free(t->file[i].name);
    for (int i = 0; i < t->calls; i++)
        free(t->call[i].plan);
    *t = (report_trace){.cell = t->cell, .user = t->user, .rank = -1};
}

report_trace *report_trace_new(void)
{
    return calloc(1, sizeof(report_trace));
}

void report_trace_free(report_trace *t)
{
    if (t)
        clear(t);
    free(t);
}

const char *report_trace_read(report_trace *t, FILE *f)
{
    char line[LONGEST_LINE];
    static const char mark[] = "weir-trace ";
    clear(t);
    if (!next_line(f, line, &t->damaged))
        return "is empty";
    if (strncmp(line, mark, strlen(mark)) != 0)
        return "is no trace";
    if (strcmp(line + strlen(mark), "1") != 0)
        return "is a trace of a version that is not known";
    while (!t->whole && next_line(f, line, &t->damaged))
        take_line(t, line);
    if (ferror(f))
        return "cannot be read";
    return t->rank < 0 || !t->width || t->start < FIRST_START
               ? "ends before it says which rank it is of"
               : NULL;
}
