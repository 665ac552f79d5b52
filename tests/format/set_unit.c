/* array.json: what is read, what is written, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check.h"
#include "format/set_json.h"
#include "weir/error.h"

/* A sound text in parts: a case changes the value of one key. NULL leaves a key out. */
static const char *const names[] = {"weir", "version", "type", "order", "shape",
                                    "grid", "block",   "name", "disks", "map"};
static const char *const sound[] = {"\"local-array set\"",
                                    "1",
                                    "\"f8\"",
                                    "\"F\"",
                                    "[10, 20]",
                                    "[2, 3]",
                                    "[0, 4]",
                                    "\"local\"",
                                    "[\".\", \"/d/1\"]",
                                    "[0, 1, 0, 1, 1, 1]"};

enum { KEYS = sizeof names / sizeof *names, ROOM = 16384 };

static int64_t make(const char *key, const char *value, char text[ROOM])
{
    int used = snprintf(text, ROOM, "{\"extra\": [{}, null]");
    for (int i = 0; i < KEYS; i++) {
        const char *here = !strcmp(names[i], key) ? value : sound[i];
        if (here)
            used += snprintf(text + used, (size_t)(ROOM - used), ",\n \"%s\": %s", names[i], here);
    }
    return used + snprintf(text + used, (size_t)(ROOM - used), "}\n");
}

static void accepted(const char *key, const char *value, wr_set *out)
{
    char text[ROOM];
    int64_t length = make(key, value, text);
    CHECK(!wr_set_parse(text, length, out));
}

static void refused(const char *key, const char *value, const char *what)
{
    char text[ROOM], wanted[256];
    int64_t length = make(key, value, text);
    wr_set s;
    snprintf(wanted, sizeof wanted, "\"%s\" %s", key, what);
    CHECK_FAILS(wr_set_parse(text, length, &s), WEIR_EFORMAT, wanted);
    CHECK(!s.disk && !s.map);
}

static void test_sound(void)
{
    wr_set s;
    accepted("", NULL, &s);
    CHECK(s.whole.type == WEIR_F8 && s.whole.columns && s.whole.dimensions == 2);
    CHECK(s.whole.shape[0] == 10 && s.whole.shape[1] == 20 && s.whole.bytes == 1600);
    CHECK(s.grid[0] == 2 && s.grid[1] == 3 && s.members == 6);
    CHECK(s.block[0] == 0 && s.block[1] == 4);
    CHECK(!strcmp(s.name, "local") && s.disks == 2);
    CHECK(!strcmp(s.disk[0], ".") && !strcmp(s.disk[1], "/d/1"));
    CHECK(s.map[2] == 0 && s.map[5] == 1);
    wr_set_release(&s);
    wr_set_release(&s);
    accepted("block", NULL, &s);
    CHECK(s.block[0] == 0 && s.block[1] == 0);
    wr_set_release(&s);
    accepted("map", NULL, &s);
    CHECK(s.map[0] == 0 && s.map[1] == 1 && s.map[4] == 0);
    wr_set_release(&s);
    accepted("shape", "[1e1, 2.0e1]", &s);
    CHECK_EQUAL(s.whole.shape[1], 20);
    wr_set_release(&s);
    static const char point[] = "{\"weir\":\"local-array set\",\"version\":1,\"type\":\"bool\","
                                "\"order\":\"C\",\"shape\":[],\"grid\":[],\"name\":\"p\","
                                "\"disks\":[\"d\"]}";
    CHECK(!wr_set_parse(point, sizeof point - 1, &s));
    CHECK(s.members == 1 && s.map[0] == 0 && s.whole.dimensions == 0 && s.whole.bytes == 1);
    wr_set_release(&s);
}

static void test_refused(void)
{
    refused("weir", "\"array\"", "is not");
    refused("weir", NULL, "is missing");
    refused("version", "2", "has something other than 1 to 1");
    refused("version", "\"1\"", "is not a number");
    refused("type", "\"f16\"", "is no element type");
    refused("type", "\"<f8\"", "is no element type");
    refused("type", "\"?\"", "is no element type");
    refused("type", "8", "is not a string");
    refused("order", "\"c\"", "is neither");
    refused("order", "true", "is not a string");
    refused("shape", "[10, -1]", "has something other");
    refused("shape", "[10, 1.5]", "has something other");
    refused("shape", "[10, null]", "has something other");
    refused("shape", "[10, 9007199254740992]", "has something other than 0 to 9007199254740991");
    refused("shape", "[10, 9007199254740993]", "has something other");
    refused("shape", "[10, 1e400]", "has something other");
    refused("shape", "[9007199254740991, 1000]", "has too many elements");
    refused("shape", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "has too many dimensions");
    refused("shape", "10", "is not a list");
    refused("grid", "[2]", "has too few dimensions");
    refused("grid", "[2, 3, 1]", "has too many dimensions");
    refused("grid", "[0, 3]", "has something other than 1");
    refused("grid", "[16777217, 1]", "has too many local arrays");
    refused("grid", "[9007199254740991, 9007199254740991]", "has too many local arrays");
    refused("grid", "[65536, 65536]", "has too many local arrays");
    refused("block", "[1]", "has too few dimensions");
    refused("block", "[1, 2, 3]", "has too many dimensions");
    refused("block", "[1, -2]", "has something other");
    refused("block", "null", "is not a list");
    refused("name", "\"\"", "is empty");
    refused("name", "\"a/b\"", "has a slash");
    refused("disks", "[]", "is empty");
    refused("disks", "[\"a\", \"\"]", "has an empty name");
    refused("disks", "[\"a\", 1]", "is not all strings");
    refused("map", "[0, 1, 0, 1, 1]", "does not name one disk");
    refused("map", "[0, 1, 0, 1, 1, 1, 1]", "does not name one disk");
    refused("map", "[0, 1, 0, 1, 1, 2]", "has something other than 0 to 1");
    refused("map", "[0, 1, 0, 1, 1, -1]", "has something other");
    refused("map", "{}", "is not a list");
    refused("map", "[0, 1, 0, 1, 1, 1], \"map\": []", "stands there twice");
}

static void test_lengths(void)
{
    char value[8192];
    wr_set s;
    for (int length = WR_SET_NAME - 1; length <= WR_SET_NAME; length++) {
        snprintf(value, sizeof value, "\"%0*d\"", length, 0);
        if (length == WR_SET_NAME) {
            refused("name", value, "is too long");
            break;
        }
        accepted("name", value, &s);
        CHECK_EQUAL((int64_t)strlen(s.name), length);
        wr_set_release(&s);
    }
    snprintf(value, sizeof value, "[\"%0*d\", \"b\"]", 4095, 0);
    accepted("disks", value, &s);
    CHECK_EQUAL((int64_t)strlen(s.disk[0]), 4095);
    wr_set_release(&s);
    snprintf(value, sizeof value, "[\"%0*d\", \"b\"]", 4096, 0);
    refused("disks", value, "has a name that is too long");
}

static void malformed(const char *text, int64_t length, const char *what)
{
    wr_set s;
    CHECK_FAILS(wr_set_parse(text, length, &s), WEIR_EFORMAT, what);
}

static void test_malformed(void)
{
    char text[ROOM];
    int64_t length = make("", NULL, text);
    for (int64_t cut = 0; cut < length - 2; cut++)
        malformed(text, cut, "malformed JSON");
    malformed("[]", 2, "not a JSON object");
    malformed("{}", 2, "\"weir\" is missing");
    malformed("{} {}", 5, "malformed JSON at byte 3");
    malformed("{\"a\" 1}", 7, "malformed JSON at byte");
    text[length] = '\0';
    malformed(text, length + 1, "character 0 at byte");
    length = make("name", "\"a\\u0000b\"", text);
    malformed(text, length, "character 0 at byte");
    wr_set s;
    accepted("name", "\"a\\\\u0000b\"", &s);
    CHECK(!strcmp(s.name, "a\\u0000b"));
    wr_set_release(&s);
    char *deep = malloc(100000);
    memset(deep, '[', 100000);
    malformed(deep, 100000, "malformed JSON");
    free(deep);
    char *blank = malloc(WR_SET_LONGEST + 1);
    memset(blank, ' ', WR_SET_LONGEST + 1);
    malformed(blank, WR_SET_LONGEST + 1, "at most 67108864");
    free(blank);
}

/* A short text takes little memory, whatever it says. */
static void test_many_members(void)
{
    wr_set s;
    char text[ROOM];
    static const char format[] = "{\"weir\":\"local-array set\",\"version\":1,\"type\":\"u1\","
                                 "\"order\":\"C\",\"shape\":[9000000],\"grid\":[%d],\"name\":\"p\","
                                 "\"disks\":[\"d\",\"e\"]}";
    int length = snprintf(text, sizeof text, format, 65536);
    CHECK(!wr_set_parse(text, length, &s));
    CHECK(s.members == 65536 && s.map[65535] == 1);
    wr_set_release(&s);
    length = snprintf(text, sizeof text, format, 65537);
    malformed(text, length, "\"map\" is missing");
}

static void check_same_sets(const wr_set *a, const wr_set *b)
{
    CHECK(a->whole.type == b->whole.type && a->whole.columns == b->whole.columns);
    CHECK(a->whole.dimensions == b->whole.dimensions && a->whole.bytes == b->whole.bytes);
    CHECK(!memcmp(a->whole.shape, b->whole.shape, sizeof a->whole.shape));
    CHECK(!memcmp(a->grid, b->grid, sizeof a->grid) && !strcmp(a->name, b->name));
    CHECK(!memcmp(a->block, b->block, sizeof a->block));
    CHECK(a->members == b->members && a->disks == b->disks);
    for (int i = 0; i < a->disks; i++)
        CHECK(!strcmp(a->disk[i], b->disk[i]));
    CHECK(!memcmp(a->map, b->map, (size_t)a->members * sizeof *a->map));
}

static void check_round_trip(const wr_set *s)
{
    wr_set back;
    char *text;
    int64_t length;
    CHECK(!wr_set_print(s, &text, &length));
    CHECK_EQUAL((int64_t)strlen(text), length);
    CHECK(!wr_set_parse(text, length, &back));
    check_same_sets(s, &back);
    wr_set_release(&back);
    wr_free(text);
}

static wr_set large_set(int members, int disks, char **disk, int *map)
{
    wr_set s = {.whole = {.type = WEIR_C8, .dimensions = 1, .shape = {1 << 30}},
                .grid = {members},
                .members = members,
                .name = "n",
                .disks = disks,
                .disk = disk,
                .map = map};
    CHECK(!wr_description_settle(&s.whole));
    return s;
}

static void test_print(void)
{
    wr_set s;
    accepted("", NULL, &s);
    check_round_trip(&s);
    s.whole.shape[0] = (INT64_C(1) << 53) - 1;
    s.whole.shape[1] = 1;
    CHECK(!wr_description_settle(&s.whole));
    check_round_trip(&s);
    wr_set_release(&s);
    accepted("disks", "[\"quote \\\" and \\\\ and \\n\\u0001\\u00e9\", \"b\"]", &s);
    CHECK(!strcmp(s.disk[0], "quote \" and \\ and \n\x01\xc3\xa9"));
    check_round_trip(&s);
    wr_set_release(&s);
    char folder[] = "d", *disk[] = {folder, folder, folder};
    enum { MEMBERS = 70000 };
    int map[MEMBERS];
    for (int m = 0; m < MEMBERS; m++)
        map[m] = m % 3;
    s = large_set(MEMBERS, 3, disk, map);
    check_round_trip(&s);
}

static void test_print_refused(void)
{
    wr_set s;
    char *text;
    int64_t length;
    accepted("", NULL, &s);
    wr_set odd = s;
    odd.whole.shape[0] = INT64_C(1) << 53;
    CHECK_FAILS(wr_set_print(&odd, &text, &length), WEIR_ERANGE, "dimension 0 is too large");
    odd = s;
    odd.block[1] = INT64_C(1) << 53;
    CHECK_FAILS(wr_set_print(&odd, &text, &length), WEIR_ERANGE, "dimension 1 is too large");
    odd.block[1] = -1;
    CHECK_FAILS(wr_set_print(&odd, &text, &length), WEIR_EINVAL, "blocks of -1");
    odd = s;
    odd.members = 5;
    CHECK_FAILS(wr_set_print(&odd, &text, &length), WEIR_EINVAL, "5 local arrays");
    odd = s;
    memset(odd.name, 'x', sizeof odd.name);
    CHECK_FAILS(wr_set_print(&odd, &text, &length), WEIR_EINVAL, "is too long");
    odd = s;
    odd.disks = 1;
    CHECK_FAILS(wr_set_print(&odd, &text, &length), WEIR_EINVAL, "on disk 1 of 1");
    odd.disks = 0;
    CHECK_FAILS(wr_set_print(&odd, &text, &length), WEIR_EINVAL, "no disk");
    wr_set_release(&s);
}

static void test_print_too_long(void)
{
    enum { DISKS = WR_SET_LONGEST / 4096 };
    char folder[4096], *text, *disk[DISKS];
    int map[] = {0};
    int64_t length;
    snprintf(folder, sizeof folder, "%0*d", 4095, 0);
    for (int i = 0; i < DISKS; i++)
        disk[i] = folder;
    wr_set s = large_set(1, DISKS, disk, map);
    CHECK_FAILS(wr_set_print(&s, &text, &length), WEIR_ERANGE, "longer than");
    s.disks = DISKS / 2;
    check_round_trip(&s);
}

static void test_allocations_fail(void)
{
    char text[ROOM], *printed;
    int64_t length = make("", NULL, text), printed_length;
    wr_set s;
    int code = WEIR_ENOMEM;
    for (int k = 0; code; k++) {
        wr_alloc_fail_after(k);
        code = wr_set_parse(text, length, &s);
        wr_alloc_fail_after(-1);
        CHECK(code == 0 || (code == WEIR_ENOMEM && weir_error_last()->code == code && !s.disk));
    }
    code = WEIR_ENOMEM;
    for (int k = 0; code; k++) {
        wr_alloc_fail_after(k);
        code = wr_set_print(&s, &printed, &printed_length);
        wr_alloc_fail_after(-1);
        CHECK(code == 0 || (code == WEIR_ENOMEM && weir_error_last()->code == code));
    }
    wr_free(printed);
    wr_set_release(&s);
}

int main(void)
{
    test_sound();
    test_refused();
    test_lengths();
    test_malformed();
    test_many_members();
    test_print();
    test_print_refused();
    test_print_too_long();
    test_allocations_fail();
    return 0;
}
