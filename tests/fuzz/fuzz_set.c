/* Fuzz target: whatever bytes arrive, parsing them as array.json either fails with an error or
 * gives a sound set, which prints as a text that says the same. */
#include <string.h>

#include "base/memory.h"
#include "check.h"
#include "format/set_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_sound(const wr_set *s, int64_t length)
{
    wr_description whole = s->whole;
    int64_t members = 1;
    CHECK(!wr_description_settle(&whole));
    CHECK(whole.bytes == s->whole.bytes && !whole.data_offset && !whole.swapped);
    for (int i = 0; i < whole.dimensions; i++) {
        CHECK(s->grid[i] >= 1 && s->block[i] >= 0);
        members *= s->grid[i];
    }
    CHECK_EQUAL(s->members, members);
    CHECK(members <= 65536 || members <= length);
    CHECK(s->disks >= 1 && s->disks <= length);
    CHECK(s->name[0] && strlen(s->name) < WR_SET_NAME && !strchr(s->name, '/'));
    for (int i = 0; i < s->disks; i++)
        CHECK(s->disk[i][0] && strlen(s->disk[i]) <= 4095);
    for (int m = 0; m < s->members; m++)
        CHECK(s->map[m] >= 0 && s->map[m] < s->disks);
}

static void check_again(const wr_set *s)
{
    char *text;
    int64_t length;
    wr_set back;
    CHECK(!wr_set_print(s, &text, &length));
    CHECK(!wr_set_parse(text, length, &back));
    CHECK(back.whole.type == s->whole.type && back.whole.columns == s->whole.columns);
    CHECK(back.whole.dimensions == s->whole.dimensions && back.whole.bytes == s->whole.bytes);
    CHECK(!memcmp(back.whole.shape, s->whole.shape, sizeof s->whole.shape));
    CHECK(!memcmp(back.grid, s->grid, sizeof s->grid) && !strcmp(back.name, s->name));
    CHECK(!memcmp(back.block, s->block, sizeof s->block));
    CHECK(back.members == s->members && back.disks == s->disks);
    for (int i = 0; i < s->disks; i++)
        CHECK(!strcmp(back.disk[i], s->disk[i]));
    CHECK(!memcmp(back.map, s->map, (size_t)s->members * sizeof *s->map));
    wr_set_release(&back);
    wr_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    wr_set s;
    int code = wr_set_parse((const char *)bytes, (int64_t)size, &s);
    if (code) {
        CHECK(code == WEIR_EFORMAT && code == weir_error_last()->code && !s.disk && !s.map);
        return 0;
    }
    check_sound(&s, (int64_t)size);
    check_again(&s);
    wr_set_release(&s);
    return 0;
}
