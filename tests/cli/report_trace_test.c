/* Traces as weir report reads them: whole ones, cut ones, and whatever else a file may hold; what
 * becomes of them on a page; figures as people read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "front/cli/escape.h"
#include "front/cli/report_merge.h"
#include "front/cli/report_tally.h"
#include "front/cli/report_units.h"

static const char whole[] =
    "weir-trace 1\njob 0123456789abcdef\nrank 3 8\nhost a b\nnode 0\nversion 0.2.0 openmpi\n"
    "program a\\\\b\\nc\nstart 1790000000000000000\nlength 5000000\ncomplete 1\nmemory 77\n"
    "bins 5 1000000\ntime exchange 0 10\ntime access 1 20\ntime wait 4 2000000\nbehind 2 9\n"
    "file 0 4096 /a/b.partial-12af/ c\nspan 0 64\nfile 2 100 x\ncell 0 read 63 4 1000\ncell 0 "
    "write 0 0 1\n"
    "call 1 0 read alone split 1 2 3 4 50 6 7 8 9 10\nshape 1 0 4 5 6 7 none sieve\n"
    "plan 1 one\\ntwo\nwaited 7 99\nwaited -1 5\nnew words are skipped\nerrors 2\nend\n";

static report_trace *trace;
static int cells;

static void count_cell(report_trace *t, const trace_cell *cell)
{
    CHECK(cell->file < t->files && t->file[cell->file].step > 0 && cell->bin < t->bins);
    CHECK(cell->row >= 0 && cell->row < TRACE_ROWS && cell->bytes >= 0);
    cells++;
}

static const char *read_text(const char *text, size_t size)
{
    FILE *f = fmemopen((void *)(uintptr_t)text, size, "r");
    CHECK(f);
    const char *problem = report_trace_read(trace, f);
    fclose(f);
    return problem;
}

static void test_whole(void)
{
    cells = 0;
    CHECK(!read_text(whole, strlen(whole)));
    CHECK(trace->whole && !trace->damaged && trace->complete && cells == 2);
    CHECK(trace->rank == 3 && trace->ranks == 8 && trace->job == 0x0123456789abcdef);
    CHECK(!strcmp(trace->host, "a b") && !strcmp(trace->program, "a\\b\nc"));
    CHECK(!strcmp(trace->file[0].name, "/a/b/ c") && !trace->file[1].name && trace->files == 3);
    CHECK_EQUAL(trace->time[TRACE_WAIT][4], 1000000); /* no more than a bin has */
    CHECK_EQUAL(trace->behind, 9);
    const trace_call *c = &trace->call[1];
    CHECK(c->known && !c->write && c->alone && c->form == TRACE_SPLIT && !trace->call[0].known);
    CHECK(c->count == 1 && c->wanted == 2 && c->moved == 3 && c->syscalls == 4 && c->spent == 50);
    CHECK(c->phase[TRACE_EXCHANGE] == 6 && c->phase[TRACE_ACCESS] == 7 && c->longest == 9);
    CHECK(c->phase[TRACE_WAIT] == 8 && c->errors == 10 && c->shape.stride == 7);
    CHECK(!strcmp(c->shape.way, "sieve") && !strcmp(c->plan, "one\ntwo"));
    CHECK(trace->waits == 1 && trace->waited[0].rank == 7 && trace->waited[0].ns == 99);
}

static void test_cut(void)
{
    CHECK(!strcmp(read_text("", 1), "is empty"));
    CHECK(!strcmp(read_text("hello\n", 6), "is no trace"));
    CHECK(read_text("weir-trace 2\n", 13));
    for (size_t size = 1; size < strlen(whole); size++) {
        const char *problem = read_text(whole, size);
        CHECK(problem || !trace->whole);
        CHECK(problem || trace->width > 0);
    }
}

/* Lines that are damaged, each after all of a good trace but its end. */
static void test_lines(void)
{
    static const char *const lines[] = {"rank 8 8",
                                        "rank -1 8",
                                        "rank 1",
                                        "rank 99999999999999999999 8",
                                        "bins 257 1",
                                        "bins 4 0",
                                        "bins 4 99999999999999999999",
                                        "time sleep 0 1",
                                        "time wait 5 1",
                                        "time wait 0 1x",
                                        "time wait 0",
                                        "file 256 1 x",
                                        "file 0 1 again",
                                        "file 1 9223372036854775807 x",
                                        "span 1 64",
                                        "span 0 0",
                                        "span 0 9223372036854775807",
                                        "cell 0 read 64 0 1",
                                        "cell 0 read 0 5 1",
                                        "cell 2 read 0 0 1",
                                        "cell 5 read 0 0 1",
                                        "cell 0 both 0 0 1",
                                        "call 1 0 read alone split 1 2 3 4 50 6 7 8 9 10",
                                        "call 2 0 read alone split 1 2",
                                        "call 512 0 read alone split 1 2 3 4 50 6 7 8 9 10",
                                        "call 3 1 read alone split 1 2 3 4 50 6 7 8 9 10",
                                        "call 3 0 read apart split 1 2 3 4 50 6 7 8 9 10",
                                        "shape 0 1 1 1 1 1 a b",
                                        "shape 1 1 1 1 1 1 a",
                                        "plan 1 again",
                                        "plan 9 x",
                                        "waited 8 1",
                                        "waited -2 1",
                                        "complete 2",
                                        "start 5",
                                        "start 9000000000000000000",
                                        "length 900000000000000000",
                                        "job xyz",
                                        "",
                                        " ",
                                        "end x"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[4096];
        check_case((int64_t)i);
        const int size =
            snprintf(text, sizeof text, "%.*s%s\nend\n", (int)strlen(whole) - 4, whole, lines[i]);
        CHECK(!read_text(text, (size_t)size));
        CHECK(trace->whole && trace->damaged == 1);
        CHECK(trace->rank == 3 && trace->ranks == 8 && trace->bins == 5);
    }
}

/* Bytes of a good trace changed, left out and doubled: what is read stays in its bounds, and can be
 * added to a job. */
static void test_damage(rng *r)
{
    report_job *job = report_job_new();
    CHECK(job);
    *job = (report_job){.ranks = 8,
                        .start = INT64_C(1790000000000000000),
                        .width = 1000000,
                        .columns = 5,
                        .rows = 8,
                        .bands = 8,
                        .row_ranks = 1,
                        .band_ranks = 1,
                        .moved = {job->moved[0], job->moved[1]},
                        .alive = job->alive,
                        .phase = {job->phase[0], job->phase[1], job->phase[2]},
                        .named = 1};
    job->file[0] = (job_file){.hash = report_hash("/a/b/ c"), .size = 4096, .step = 64};
    for (int d = 0; d < 2; d++)
        job->file[0].cell[d] = calloc((size_t)TRACE_ROWS * JOB_COLUMNS, sizeof(double));
    trace->user = job;
    for (int64_t i = 0; i < test_cases(3000, 100000); i++) {
        char text[2 * sizeof whole];
        size_t size = strlen(whole);
        memcpy(text, whole, size);
        check_case(i);
        for (int64_t k = rng_within(r, 1, 6); k > 0; k--) {
            const size_t at = (size_t)rng_within(r, 13, (int64_t)size - 1);
            const size_t rest = size - at;
            if (rng_chance(r, 60))
                text[at] = rng_chance(r, 70) ? "0123456789 \n-xe"[rng_within(r, 0, 14)]
                                             : (char)rng_within(r, 0, 255);
            else if (rng_chance(r, 50) && rest > 8)
                memmove(text + at, text + at + 3, rest - 3), size -= 3;
            else if (size + 9 < sizeof text)
                memmove(text + at + 9, text + at, rest), size += 9;
        }
        trace->cell = rng_chance(r, 50) ? count_cell : report_merge_cell;
        job_rank rank = {.rank = 3};
        if (!read_text(text, size) && trace->rank < job->ranks)
            report_merge(job, trace, &rank);
        CHECK(job->calls <= JOB_CALLS);
    }
    trace->cell = count_cell;
    report_job_free(job);
}

static void check_escaped(void (*escape)(FILE *f, const char *text), const char *text,
                          const char *wanted)
{
    char *got = NULL;
    size_t size;
    FILE *f = open_memstream(&got, &size);
    CHECK(f);
    escape(f, text);
    fclose(f);
    if (strcmp(got, wanted) != 0)
        printf("%s is not %s\n", got, wanted);
    CHECK(!strcmp(got, wanted));
    free(got);
}

static void test_escapes(void)
{
    check_escaped(escape_html, "<b a='1'>&\"", "&#60;b a=&#39;1&#39;&#62;&#38;&#34;");
    check_escaped(escape_html, "\x1b[31m\xc2\x9b\xc3\xa9\xff\xc0\xaf\xed\xa0\x80",
                  "\xef\xbf\xbd[31m\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check_escaped(escape_json, "a\"\\\n\x7f\xc3\xa9\xe2\x82",
                  "\"a\\\"\\\\\\u000a\\u007f\xc3\xa9"
                  "\xef\xbf\xbd\xef\xbf\xbd\"");
    check_escaped(escape_utf8, "{\"\\n\xc3\xa9\xff\": 1}\n", "{\"\\n\xc3\xa9\xef\xbf\xbd\": 1}\n");
    check_escaped(escape_line, "a\x1b]0;x\x07\xc3\xa9", "a?]0;x?\xc3\xa9");
}

static void check_text(const char *got, const char *wanted)
{
    if (strcmp(got, wanted) != 0)
        printf("%s is not %s\n", got, wanted);
    CHECK(!strcmp(got, wanted));
}

static void test_units(void)
{
    char t[UNITS_TEXT];
    check_text(units_bytes(0, t), "0 bytes");
    check_text(units_bytes(1, t), "1 byte");
    check_text(units_bytes(1023, t), "1023 bytes");
    check_text(units_bytes(1024, t), "1 KiB");
    check_text(units_bytes(1536, t), "1.50 KiB");
    check_text(units_bytes(9e18, t), "7.81 EiB");
    check_text(units_rate(100.4 * 1048576, t), "100 MiB/s");
    check_text(units_time(999, t), "999 ns");
    check_text(units_time(2.5e9, t), "2.50 s");
    check_text(units_time(7200e9, t), "120 min");
    check_text(units_count(1234567, t), "1,234,567");
    check_text(units_count(123, t), "123");
    CHECK(units_step(64, 10) == 10 && units_step(6.4, 8) == 1 && units_step(0, 8) == 1);
    CHECK(units_step(0.03, 8) > 0.0049 && units_step(0.03, 8) < 0.0051);
    CHECK(units_binary_step(4096, 4) == 1024 && units_binary_step(1, 4) == 1);
}

static void test_spread(void)
{
    double field[4] = {0};
    const merge_line line = {field, 4, 10};
    report_spread(&line, 5, 25, 40);
    CHECK(field[0] == 10 && field[1] == 20 && field[2] == 10 && field[3] == 0);
    report_spread(&line, 35, 1000, 965);
    CHECK(field[3] == 5);
    report_spread(&line, -5, 5, 1);
    report_spread(&line, 40, 50, 1);
    report_spread(&line, 5, 5, 1);
    CHECK(field[0] == 10);
}

int main(void)
{
    rng r = {test_seed()};
    trace = report_trace_new();
    CHECK(trace);
    trace->cell = count_cell;
    test_whole();
    test_cut();
    test_lines();
    test_damage(&r);
    test_escapes();
    test_units();
    test_spread();
    report_trace_free(trace);
    return 0;
}
