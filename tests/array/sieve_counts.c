/* The requests of the sieving table in "PASSION Runtime Library for Parallel I/O": sections of a
 * local array of 2048 x 32 elements of 4 bytes stored by columns, read and written whole columns at
 * a time through a buffer of 16 of them, or directly, element by element.
 * usage: sieve_counts TABLE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "check.h"
#include "io_count.h"
#include "naive_array.h"
#include "transport/local.h"

enum { ROWS = 2048, COLUMNS = 32, MEMBERS = 64 };

typedef struct row {
    int64_t lo[2], hi[2], step[2]; /* half-open */
    int64_t direct, sieve, direct_elements, sieve_elements;
} row;

typedef struct scene {
    row row;
    bool set;    /* of 64 local arrays; the section is one of number 5 */
    bool direct; /* not sieving */
    io_count count;
} scene;

static char path[100];

/* A[lo:hi:step, ...] as the paper has it: from 1, and the upper bound is included. */
static row parse(const char *line)
{
    row r;
    char *at = (char *)line;
    for (int d = 0; d < 2; d++) {
        r.lo[d] = strtoll(at, &at, 10) - 1;
        r.hi[d] = strtoll(at + 1, &at, 10);
        r.step[d] = strtoll(at + 1, &at, 10);
        at += *at == ',';
    }
    for (int i = 0; i < 4; i++) /* seconds */
        strtod(at, &at);
    r.direct = strtoll(at, &at, 10);
    r.sieve = strtoll(at, &at, 10);
    r.direct_elements = strtoll(at, &at, 10);
    r.sieve_elements = strtoll(at, &at, 10);
    CHECK(r.sieve_elements > 0);
    return r;
}

static weir_array *make(wr_world *w, const scene *s)
{
    char hints[200];
    weir_array *a;
    weir_array_info info = {.type = WEIR_I4,
                            .dimensions = 2,
                            .shape = {ROWS, s->set ? MEMBERS * COLUMNS : COLUMNS},
                            .columns = 1,
                            .members = s->set ? MEMBERS : 0};
    info.distribution.grid[1] = s->set ? MEMBERS : 1;
    snprintf(hints, sizeof hints, "access=%s;sieve_unit=column;sieve_buffer=%d",
             s->direct ? "naive" : "sieve", 16 * ROWS * 4);
    CHECK(!wr_array_create(w, path, &info, NULL, hints, &a));
    return a;
}

static void rank_body(wr_transport *t, void *user)
{
    static int32_t memory[ROWS * COLUMNS];
    scene *s = user;
    wr_tunables tunables;
    wr_world *w;
    weir_selection section = {
        .lo = s->row.lo, .hi = s->row.hi, .step = s->row.step, .local = s->set ? 6 : 0};
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    io_count_watch(w, &s->count);
    weir_array *a = make(w, s);
    for (int64_t i = 0; i < s->row.direct_elements; i++)
        memory[i] = (int32_t)i + 1;
    CHECK(!weir_array_write(a, &section, NULL, memory, NULL));
    io_count_next(w);
    memset(memory, 0, sizeof memory);
    CHECK(!weir_array_read(a, &section, NULL, memory, NULL));
    for (int64_t i = 0; i < s->row.direct_elements; i++)
        CHECK_EQUAL(memory[i], i + 1);
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

static void check_row(const char *line)
{
    for (int i = 0; i < 4; i++) {
        scene s = {.row = parse(line), .set = i % 2, .direct = i / 2};
        CHECK(!wr_local_run(1, &(wr_tunables){0}, rank_body, &s));
        remove_tree(path);
        if (s.direct) {
            CHECK_EQUAL(s.count.read[1].runs, s.row.direct);
            CHECK_EQUAL(s.count.read[1].bytes, s.row.direct_elements * 4);
            CHECK_EQUAL(s.count.write[0].runs, s.row.direct);
            CHECK_EQUAL(s.count.write[0].bytes, s.row.direct_elements * 4);
            CHECK_EQUAL(s.count.read[0].requests, 0);
            continue;
        }
        CHECK_EQUAL(s.count.read[1].requests, s.row.sieve);
        CHECK_EQUAL(s.count.read[1].bytes, s.row.sieve_elements * 4);
        CHECK_EQUAL(s.count.read[0].requests, s.row.sieve);
        CHECK_EQUAL(s.count.read[0].bytes, s.row.sieve_elements * 4);
        CHECK_EQUAL(s.count.write[0].requests, s.row.sieve);
        CHECK_EQUAL(s.count.write[0].bytes, s.row.sieve_elements * 4);
    }
}

int main(int argc, char **argv)
{
    char line[300];
    int64_t rows = 0;
    CHECK(argc == 2);
    FILE *table = fopen(argv[1], "r");
    CHECK(table && fgets(line, sizeof line, table));
    snprintf(path, sizeof path, "sieve-counts-%d", (int)getpid());
    for (; fgets(line, sizeof line, table); rows++) {
        check_case(rows);
        check_row(line);
    }
    fclose(table);
    CHECK_EQUAL(rows, 5);
    return 0;
}
