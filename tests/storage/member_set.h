/* Files of a joined storage, made for a test: each has a head and a tail that nobody may touch. */
#ifndef WR_TESTS_MEMBER_SET_H
#define WR_TESTS_MEMBER_SET_H

#include "storage_support.h"

enum { SET_MOST = 200, SET_TAIL = 5, SET_GUARD = 0x5a };

typedef struct member_set {
    wr_members members;
    int64_t size; /* of all together */
    wr_member member[SET_MOST];
    char path[SET_MOST][64];
} member_set;

/* Adds a file; the first time to a zeroed set. Its bytes are zeros. */
void set_add(member_set *set, const char *hints, int64_t skip, int64_t bytes);

/* Where the bytes of member i begin in the whole. */
int64_t set_start(const member_set *set, int i);

/* The files hold `bytes`, and around them what they held. */
void set_check(const member_set *set, const char *hints, const char *bytes);

void set_forget(const member_set *set);

/* Opens it; must succeed. */
void set_open(opened *o, const member_set *set, int flags, const char *hints);

#endif
