/* An open storage that was told to fail does so no more. */
#ifndef WR_TESTS_DISARM_H
#define WR_TESTS_DISARM_H

#include "storage/storage.h"

/* The tunables are the storage's own, and nobody else is to change them. */
static inline void test_disarm(const wr_storage *s)
{
    ((wr_tunables *)(uintptr_t)s->tunables)->fault.number = INT64_MAX;
}

#endif
