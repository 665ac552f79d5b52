/* Who may be aggregator: how aggregator_hosts is read, and which ranks it gives seats to, at open
 * and later. */
#include <string.h>

#include "check.h"
#include "file/inside.h"
#include "plan/seats.h"
#include "storage/backends.h"
#include "transport/local.h"

static const int64_t all = INT64_MAX;

static void check_text(const char *text, const char *host, int64_t wanted)
{
    int64_t most = -1;
    CHECK(!wr_seats_of(text, host, &most));
    CHECK_EQUAL(most, wanted);
}

static void test_texts(void)
{
    check_text("", "a", 0);
    check_text("*:1", "a", 1);
    check_text("*:*", "a", all);
    check_text("*", "a", 1);
    check_text("a:2,b,*:0", "a", 2);
    check_text("a:2,b,*:0", "b", 1);
    check_text("a:2,b,*:0", "c", 0);
    check_text("*:3,a:0", "a", 0); /* `*` is all others, wherever it stands */
    check_text("*:3,a:0", "b", 3);
    check_text("a:1,a:5", "a", 1);
    check_text(" a : 7 , * : 2 ", "a", 7);
    check_text(" a : 7 , * : 2 ", "b", 2);
    check_text("node1:4", "node1.cluster.org", 4);
    check_text("node1:4", "node12", 0);
    check_text("node1.cluster.org:4", "node1", 0);
    check_text("a:*", "a", all);
    check_text("a:2,", "a", 2); /* a comma may end the text */
}

static void test_bad_texts(void)
{
    static const char *const bad[] = {",",  "a,,b",          ":2",   "a:", "a:x", "a:-1", "a:1:2",
                                      "*:", "a:99999999999", "a:1 2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t most = -5;
        CHECK_EQUAL(wr_seats_of(bad[i], "host", &most), WEIR_EINVAL);
        CHECK(strstr(weir_error_last()->text, "aggregator_hosts"));
        CHECK_EQUAL(most, -5);
    }
}

static void check_seats(const weir_file *f, int64_t count, const int *places)
{
    CHECK_EQUAL(f->group.seats, count);
    for (int64_t i = 0; places && i < count; i++)
        CHECK_EQUAL(f->group.seat[i], places[i]);
}

/* 7 ranks on nodes 0, 1 and 2, of 3, 3 and 1. */
static void rank_body(wr_transport *t, void *user)
{
    wr_world *w;
    weir_file *f;
    wr_tunables tunables;
    (void)user;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    const int mode = WEIR_READ | WEIR_WRITE | WEIR_CREATE;
    CHECK(!wr_file_open(w, "seats", mode, "storage=mem;aggregator_hosts=*:2", &f));
    check_seats(f, 5, (const int[]){0, 1, 3, 4, 6});
    CHECK(!wr_file_set_hints(f, "storage=mem;aggregator_hosts=1:*,2", 0));
    check_seats(f, 4, (const int[]){3, 4, 5, 6});
    CHECK_EQUAL(wr_file_set_hints(f, "storage=mem;aggregator_hosts=1:x;window=5", 0), WEIR_EINVAL);
    CHECK(strstr(weir_error_last()->text, "1:x"));
    check_seats(f, 4, (const int[]){3, 4, 5, 6}); /* nothing has changed */
    CHECK(f->group.handle.tunables.window != 5 &&
          !strcmp(f->group.handle.tunables.aggregator_hosts, "1:*,2"));
    CHECK(!wr_file_set_hints(f, "storage=mem", 0));
    check_seats(f, 7, NULL);
    CHECK(!f->group.seat);
    CHECK(!wr_file_set_hints(f, "storage=mem;aggregator_hosts=9:3;window=5", 0));
    check_seats(f, 7, NULL); /* a list that names nobody here is as good as none */
    CHECK(!f->group.seat && f->group.handle.tunables.window == 5);
    CHECK(!weir_file_close(f));
    CHECK(!wr_file_open(w, "seats", mode, "storage=mem;aggregator_hosts=*:0", &f));
    check_seats(f, 7, NULL);
    CHECK(!weir_file_close(f));
    wr_world_release(w);
}

int main(void)
{
    wr_tunables tunables;
    test_texts();
    test_bad_texts();
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = 3;
    CHECK(!wr_local_run(7, &tunables, rank_body, NULL));
    wr_mem_unlink("seats");
    return 0;
}
