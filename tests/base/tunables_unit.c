/* The table of tunables and its three ways in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/tunables.h"
#include "check.h"

static wr_tunables t;

/* The caller's settings are not the test's. */
static void forget_environment(void)
{
    for (char **at = environ; *at;) {
        char name[256];
        size_t length = strcspn(*at, "=");
        bool ours = !strncmp(*at, "WEIR_", 5) && strncmp(*at, "WEIR_TEST_", 10);
        snprintf(name, sizeof name, "%.*s", (int)length, *at);
        if (ours && !unsetenv(name))
            at = environ;
        else
            at++;
    }
}

static void check_value(const char *name, const char *wanted)
{
    char text[WR_TUNABLE_TEXT];
    CHECK(!wr_tunables_get(&t, name, text, sizeof text));
    if (strcmp(text, wanted))
        check_that(false, text, name, 0);
}

static void test_defaults_parse_and_print(void)
{
    for (const wr_tunable *row = wr_tunable_table; row->name; row++) {
        char text[WR_TUNABLE_TEXT];
        wr_tunables_init(&t);
        CHECK(!wr_tunables_set(&t, row->name, row->initial));
        CHECK(!wr_tunables_get(&t, row->name, text, sizeof text));
        CHECK(!wr_tunables_set(&t, row->name, text));
        CHECK(*row->help && *row->room);
    }
    check_value("window", "2097152");
    check_value("access_read", "auto");
    check_value("disks", "");
}

static void test_aliases_name_tunables(void)
{
    for (const wr_tunable_alias *a = wr_tunable_aliases; a->key; a++) {
        wr_tunables_init(&t);
        for (const char *const *v = a->values; v && *v; v += 2)
            CHECK(!wr_tunables_set(&t, a->key, v[0]));
        for (int i = 0; i < 2 && a->names[i]; i++) {
            char text[WR_TUNABLE_TEXT];
            CHECK(!wr_tunables_get(&t, a->names[i], text, sizeof text));
        }
    }
}

static void test_values(void)
{
    wr_tunables_init(&t);
    CHECK(!wr_tunables_set(&t, "access", "extent:16K"));
    check_value("access_read", "extent:16384");
    check_value("access_write", "extent:16384");
    CHECK_EQUAL(t.access[WR_WRITE].which, WR_ACCESS_EXTENT);
    CHECK(!wr_tunables_set(&t, "fault", "bandwidth:400"));
    CHECK_EQUAL(t.fault.which, WR_FAULT_BANDWIDTH);
    CHECK_EQUAL(t.fault.number, 400);
    CHECK(!wr_tunables_set(&t, "direct", "ALWAYS"));
    CHECK_EQUAL(t.direct.which, WR_SWITCH_ALWAYS);
    CHECK(!wr_tunables_set(&t, "cb_buffer_size", "1g"));
    check_value("cb_buffer_size", "1073741824");
    CHECK(!wr_tunables_set(&t, "disks", "a:b"));
    check_value("disks", "a:b");
}

/* Words are in the order of the enum that the library compares with: `count` says that none is
 * missing. */
static void check_words(const char *name, const wr_choice *place, int count,
                        const char *const *word)
{
    const wr_tunable *row = wr_tunable_table;
    while (strcmp(row->name, name))
        row++;
    int words = 1;
    for (const char *c = row->choices; *c; c++)
        words += *c == '|';
    CHECK_EQUAL(words, count);
    for (int i = 0; i < count; i++) {
        CHECK(!wr_tunables_set(&t, name, word[i]));
        CHECK_EQUAL(place->which, i);
    }
}

#define CHECK_WORDS(field, ...)                                                                    \
    do {                                                                                           \
        static const char *const words[] = {__VA_ARGS__};                                          \
        check_words(#field, &t.field, sizeof words / sizeof *words, words);                        \
    } while (0)

static void test_words(void)
{
    static const char *const access[] = {[WR_ACCESS_AUTO] = "auto",
                                         [WR_ACCESS_SIEVE] = "sieve",
                                         [WR_ACCESS_LIST] = "list",
                                         [WR_ACCESS_NAIVE] = "naive",
                                         [WR_ACCESS_EXTENT] = "extent:1"};
    wr_tunables_init(&t);
    check_words("access_read", &t.access[WR_READ], 5, access);
    check_words("access_write", &t.access[WR_WRITE], 5, access);
    CHECK_WORDS(realms, [WR_REALMS_EVEN] = "even", [WR_REALMS_STATIC] = "static",
                [WR_REALMS_CYCLIC] = "cyclic", [WR_REALMS_PERSISTENT] = "persistent",
                [WR_REALMS_BALANCED] = "balanced", [WR_REALMS_DISKS] = "disks",
                [WR_REALMS_CUSTOM] = "custom");
    CHECK_WORDS(
        exchange, [WR_EXCHANGE_AUTO] = "auto", [WR_EXCHANGE_SHM] = "shm", [WR_EXCHANGE_P2P] = "p2p",
        [WR_EXCHANGE_ALLTOALL] = "alltoall", [WR_EXCHANGE_LEADERS] = "leaders");
    CHECK_WORDS(overlap, [WR_OVERLAP_AUTO] = "auto", [WR_OVERLAP_NONE] = "none",
                [WR_OVERLAP_IO] = "io", [WR_OVERLAP_ALL] = "all");
    CHECK_WORDS(storage, [WR_STORAGE_AUTO] = "auto", [WR_STORAGE_POSIX] = "posix",
                [WR_STORAGE_POOL] = "pool", [WR_STORAGE_URING] = "uring",
                [WR_STORAGE_STRIPED] = "striped", [WR_STORAGE_MEM] = "mem");
    CHECK_WORDS(direct, [WR_SWITCH_AUTO] = "auto", [WR_SWITCH_ALWAYS] = "always",
                [WR_SWITCH_NEVER] = "never");
    CHECK_WORDS(sieve_unit, [WR_SIEVE_BYTE] = "byte", [WR_SIEVE_COLUMN] = "column");
    CHECK_WORDS(progress, [WR_PROGRESS_THREAD] = "thread", [WR_PROGRESS_POLL] = "poll");
    CHECK_WORDS(progress_policy, [WR_POLICY_OTHER] = "other", [WR_POLICY_BATCH] = "batch",
                [WR_POLICY_IDLE] = "idle", [WR_POLICY_FIFO] = "fifo");
    CHECK_WORDS(fault, [WR_FAULT_NONE] = "none", [WR_FAULT_EIO] = "eio:1",
                [WR_FAULT_ENOSPC] = "enospc:1", [WR_FAULT_EINTR] = "eintr:1",
                [WR_FAULT_SHORT] = "short:1", [WR_FAULT_CORRUPT] = "corrupt:1",
                [WR_FAULT_DELAY] = "delay:1", [WR_FAULT_BANDWIDTH] = "bandwidth:1");
    CHECK_WORDS(log, [WR_LOG_NONE] = "none", [WR_LOG_ERROR] = "error", [WR_LOG_WARN] = "warning",
                [WR_LOG_INFO] = "info", [WR_LOG_DEBUG] = "debug");
}

static void test_bad_values_change_nothing(void)
{
    static const struct {
        const char *key, *value, *why;
    } bad[] = {
        {"window", "", "must be a size"},
        {"window", "2X", "must be a size"},
        {"window", "-1", "between 1"},
        {"window", "0", "between 1"},
        {"window", "9000000T", "must be a size"},
        {"window", "1 K", "must be a size"},
        {"aggregators", "2K", "whole number"},
        {"aggregators", "99999999999", "between"},
        {"direct", "maybe", "one of auto|always|never"},
        {"direct", "autox", "one of auto|always|never"},
        {"direct", "aut", "one of auto|always|never"},
        {"direct", "", "one of auto|always|never"},
        {"access", "extent", "needs a number"},
        {"access", "sieve:4", "takes no number"},
        {"access", "extent:0", "not valid"},
        {"fault", "eio:", "not valid"},
        {"fault", "eio:0", "not valid"},
        {"nonsense", "1", "no tunable is called nonsense"},
    };
    wr_tunables before;
    wr_tunables_init(&t);
    before = t;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(wr_tunables_set(&t, bad[i].key, bad[i].value), WEIR_EINVAL, bad[i].why);
        CHECK(!memcmp(&t, &before, sizeof t));
    }
    char text[2 * WR_TUNABLE_TEXT];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    CHECK_FAILS(wr_tunables_set(&t, "disks", text), WEIR_EINVAL, "too long");
    CHECK(wr_tunables_get(&t, "nonsense", text, sizeof text) == WEIR_EINVAL);
}

/* n times x, after `head`. */
static char *long_text(const char *head, size_t n)
{
    static char text[4 * WR_TUNABLE_TEXT];
    size_t length = strlen(head);
    CHECK(length + n < sizeof text);
    memcpy(text, head, length);
    memset(text + length, 'x', n);
    text[length + n] = '\0';
    return text;
}

static void test_longest_text(void)
{
    wr_tunables_init(&t);
    CHECK(!wr_tunables_set(&t, "disks", long_text("", WR_TUNABLE_TEXT - 1)));
    check_value("disks", long_text("", WR_TUNABLE_TEXT - 1));
    CHECK_FAILS(wr_tunables_set(&t, "disks", long_text("", WR_TUNABLE_TEXT)), WEIR_EINVAL,
                "too long");
    CHECK(!wr_tunables_set_hints(&t, long_text("disks=", WR_TUNABLE_TEXT - 1)));
    CHECK_FAILS(wr_tunables_set_hints(&t, long_text("disks=", WR_TUNABLE_TEXT)), WEIR_EINVAL,
                "too long");
    CHECK_FAILS(wr_tunables_set_hints(&t, long_text("disks=", 2 * WR_TUNABLE_TEXT)), WEIR_EINVAL,
                "an entry is too long");
}

/* Equal settings are equal bytes, whatever was there before. */
static void test_shorter_text_after_longer(void)
{
    wr_tunables once;
    wr_tunables_init(&once);
    wr_tunables_init(&t);
    CHECK(!wr_tunables_set(&once, "disks", "a:b"));
    CHECK(!wr_tunables_set(&t, "disks", long_text("", 500)));
    CHECK(!wr_tunables_set(&t, "disks", "a:b"));
    CHECK(!memcmp(&t, &once, sizeof t));
    CHECK(!wr_tunables_set(&t, "access", "extent:4K"));
    CHECK(!wr_tunables_set(&t, "access", "auto"));
    CHECK(!memcmp(&t, &once, sizeof t));
}

/* The message names what the user wrote, not what it stands for. */
static void test_bad_aliases_name_the_key(void)
{
    static const char *const bad[][2] = {
        {"cb_nodes", "many"}, {"romio_cb_write", "perhaps"}, {"romio_cb_fr_alignment", "0"}};
    wr_tunables_init(&t);
    const wr_tunables before = t;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(wr_tunables_set_pair(&t, bad[i][0], bad[i][1]), WEIR_EINVAL, bad[i][0]);
        CHECK(strstr(weir_error_last()->text, bad[i][1]) != NULL);
    }
    CHECK_FAILS(wr_tunables_set(&t, "access", "none"), WEIR_EINVAL, "access:");
    CHECK(!memcmp(&t, &before, sizeof t));
}

/* Keys of other libraries are for MPI_Info only. */
static void test_foreign_keys_are_not_read(void)
{
    wr_tunables_init(&t);
    const wr_tunables before = t;
    setenv("WEIR_CB_NODES", "7", 1);
    setenv("WEIR_ROMIO_CB_WRITE", "disable", 1);
    CHECK(!wr_tunables_set_environment(&t));
    CHECK(!memcmp(&t, &before, sizeof t));
    forget_environment();
}

static void test_hints(void)
{
    wr_tunables_init(&t);
    CHECK(!wr_tunables_set_hints(&t, " direct = always ;; window=1M;"));
    check_value("direct", "always");
    check_value("window", "1048576");
    CHECK_FAILS(wr_tunables_set_hints(&t, "window=2M;direct=soon"), WEIR_EINVAL, "direct=soon");
    CHECK_FAILS(wr_tunables_set_hints(&t, "window"), WEIR_EINVAL, "not NAME=VALUE");
    check_value("window", "1048576");
}

static void test_pairs(void)
{
    wr_tunables_init(&t);
    CHECK_EQUAL(wr_tunables_set_pair(&t, "striping_factor", "4"), 1);
    CHECK_EQUAL(wr_tunables_set_pair(&t, "window", "1"), 1); /* not ours without the prefix */
    CHECK_EQUAL(wr_tunables_set_pair(&t, "access", "list"), 1);
    CHECK_EQUAL(wr_tunables_set_pair(&t, "weir_window", "64K"), 0);
    CHECK_EQUAL(wr_tunables_set_pair(&t, "cb_nodes", "3"), 0);
    CHECK_EQUAL(wr_tunables_set_pair(&t, "romio_cb_write", "disable"), 0);
    CHECK_EQUAL(wr_tunables_set_pair(&t, "romio_ds_write", "enable"), 0);
    CHECK_EQUAL(wr_tunables_set_pair(&t, "romio_cb_pfr", "enable"), 0);
    check_value("window", "65536");
    check_value("aggregators", "3");
    check_value("collective_write", "never");
    check_value("collective_read", "auto");
    check_value("access_write", "sieve");
    check_value("access_read", "auto");
    check_value("realms", "persistent");
    CHECK_FAILS(wr_tunables_set_pair(&t, "weir_window", "none"), WEIR_EINVAL, "window=none");
}

/* ROMIO's two keys of realms, in this order or the other. */
static void check_realms(const char *persist, const char *type, const char *realms,
                         const char *block)
{
    for (int first = 0; first < 2; first++) {
        wr_tunables_init(&t);
        for (int i = 0; i < 2; i++)
            CHECK(!wr_tunables_set_pair(&t, i == first ? "romio_cb_pfr" : "romio_cb_fr_type",
                                        i == first ? persist : type));
        check_value("realms", realms);
        check_value("realm_block", block);
    }
}

static void test_realm_keys(void)
{
    check_realms("enable", "aar", "persistent", "0");
    check_realms("enable", "0", "persistent", "0");
    check_realms("enable", "-1", "persistent", "0");
    check_realms("enable", "65536", "persistent", "65536");
    check_realms("disable", "65536", "cyclic", "65536");
    check_realms("disable", "AAR", "even", "0");
    check_realms("Disable", "-1", "static", "0");
    wr_tunables_init(&t);
    CHECK(!wr_tunables_set_pair(&t, "weir_realms", "static"));
    CHECK(!wr_tunables_set_pair(&t, "romio_cb_pfr", "disable")); /* they did not persist */
    check_value("realms", "static");
    CHECK_FAILS(wr_tunables_set_pair(&t, "romio_cb_pfr", "perhaps"), WEIR_EINVAL, "romio_cb_pfr");
    CHECK_FAILS(wr_tunables_set_pair(&t, "romio_cb_fr_type", "-5"), WEIR_EINVAL,
                "romio_cb_fr_type");
    check_value("realms", "static");
    CHECK(!wr_tunables_set_pair(&t, "romio_cb_fr_alignment", "2097152"));
    check_value("realm_align", "2097152");
}

static void test_settling(void)
{
    wr_tunables_init(&t);
    CHECK(!wr_tunables_settle(&t));
    check_value("realms", "even");
    CHECK(!wr_tunables_set_hints(&t, "write_behind=enable;romio_cb_fr_type=4096"));
    CHECK(!wr_tunables_settle(&t));
    check_value("realms", "persistent");
    check_value("realm_block", "4096");
    CHECK(!wr_tunables_set(&t, "realms", "disks"));
    CHECK_FAILS(wr_tunables_settle(&t), WEIR_EINVAL, "needs realms=persistent");
}

static void test_later_wins(void)
{
    wr_tunables_init(&t);
    CHECK(!wr_tunables_set_pair(&t, "weir_window", "1K"));
    CHECK(!wr_tunables_set_pair(&t, "weir_direct", "never"));
    CHECK(!wr_tunables_set_pair(&t, "weir_realms", "cyclic"));
    setenv("WEIR_HINTS", "window=2K;direct=always", 1);
    setenv("WEIR_WINDOW", "3K", 1);
    setenv("WEIR_ACCESS", "sieve", 1);
    setenv("WEIR_ACCESS_WRITE", "list", 1);
    CHECK(!wr_tunables_set_environment(&t));
    check_value("window", "3072");
    check_value("direct", "always");
    check_value("realms", "cyclic");
    check_value("access_read", "sieve");
    check_value("access_write", "list");
    wr_tunables before = t;
    setenv("WEIR_LOG", "loud", 1);
    CHECK_FAILS(wr_tunables_set_environment(&t), WEIR_EINVAL, "log=loud");
    CHECK(!memcmp(&t, &before, sizeof t));
}

static void test_misspelt(void)
{
    char line[200];
    CHECK_FAILS(wr_tunables_set(&t, "windwo", "1K"), WEIR_EINVAL, "windwo: is it to be window?");
    CHECK_FAILS(wr_tunables_set_hints(&t, "acess_read=list"), WEIR_EINVAL, "access_read?");
    CHECK_FAILS(wr_tunables_set(&t, "umbrella", "1K"), WEIR_EINVAL, "umbrella");
    CHECK(!strchr(weir_error_last()->text, '?'));
    CHECK(!wr_tunables_unknown(0, line, sizeof line)); /* all of test_later_wins are known */
    setenv("WEIR_WINDWO", "4K", 1);
    CHECK(wr_tunables_unknown(0, line, sizeof line));
    CHECK(strstr(line, "WEIR_WINDWO ") && strstr(line, "WEIR_WINDOW?") && !strstr(line, "4K"));
    CHECK(!wr_tunables_unknown(1, line, sizeof line));
    setenv("WEIR_CB_NODES", "2", 1);
    setenv("WEIR_XYZ", "", 1);
    unsetenv("WEIR_WINDWO");
    char both[2][200];
    for (int i = 0; i < 2; i++)
        CHECK(wr_tunables_unknown(i, both[i], sizeof both[i]));
    CHECK(strstr(both[0], "WEIR_AGGREGATORS?") || strstr(both[1], "WEIR_AGGREGATORS?"));
    CHECK(!strchr(both[0], '?') || !strchr(both[1], '?'));
}

int main(void)
{
    forget_environment();
    test_defaults_parse_and_print();
    test_aliases_name_tunables();
    test_values();
    test_words();
    test_bad_values_change_nothing();
    test_longest_text();
    test_shorter_text_after_longer();
    test_bad_aliases_name_the_key();
    test_foreign_keys_are_not_read();
    test_hints();
    test_pairs();
    test_realm_keys();
    test_settling();
    test_later_wins();
    test_misspelt();
    return 0;
}
