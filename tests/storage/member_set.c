#include "member_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void set_add(member_set *set, const char *hints, int64_t skip, int64_t bytes)
{
    int i = set->members.count++;
    CHECK(i < SET_MOST);
    char name[20];
    snprintf(name, sizeof name, "member%d", i);
    snprintf(set->path[i], sizeof set->path[i], "%s", test_path(name));
    set->member[i] = (wr_member){set->path[i], skip, bytes};
    set->members.member = set->member;
    set->size += bytes;
    char *whole = malloc((size_t)(skip + bytes + SET_TAIL));
    CHECK(whole);
    memset(whole, SET_GUARD, (size_t)(skip + bytes + SET_TAIL));
    memset(whole + skip, 0, (size_t)bytes);
    put_file(set->path[i], hints, whole, skip + bytes + SET_TAIL);
    free(whole);
}

int64_t set_start(const member_set *set, int i)
{
    int64_t start = 0;
    while (i-- > 0)
        start += set->member[i].bytes;
    return start;
}

void set_check(const member_set *set, const char *hints, const char *bytes)
{
    for (int i = 0; i < set->members.count; i++) {
        const wr_member *m = &set->member[i];
        int64_t whole = m->skip + m->bytes + SET_TAIL;
        char *back = malloc((size_t)whole + 1);
        CHECK(back);
        CHECK_EQUAL(get_file(m->path, hints, back, whole + 1), whole);
        for (int64_t k = 0; k < whole; k++) {
            bool guard = k < m->skip || k >= m->skip + m->bytes;
            CHECK_EQUAL(back[k], guard ? SET_GUARD : bytes[k - m->skip]);
        }
        free(back);
        bytes += m->bytes;
    }
}

void set_forget(const member_set *set)
{
    for (int i = 0; i < set->members.count; i++)
        forget_file(set->path[i]);
}

void set_open(opened *o, const member_set *set, int flags, const char *hints)
{
    CHECK_EQUAL(open_members(o, &set->members, flags, hints), 0);
}
