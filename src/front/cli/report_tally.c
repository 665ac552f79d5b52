/* An open table of hashes, never more than half full. */
#include "report_tally.h"

#include <stdlib.h>

enum { PLACES = 2 * TALLY_MOST };

int report_tally_init(report_tally *t)
{
    *t = (report_tally){.entry = calloc(PLACES, sizeof(tally_entry))};
    return t->entry ? 0 : -1;
}

void report_tally_release(report_tally *t)
{
    free(t->entry);
    *t = (report_tally){0};
}

/* FNV-1a. */
uint64_t report_hash(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return hash ? hash : 1;
}

tally_entry *report_tally_get(report_tally *t, uint64_t hash)
{
    uint64_t at = hash % PLACES;
    while (t->entry[at].hash && t->entry[at].hash != hash)
        at = (at + 1) % PLACES;
    if (t->entry[at].hash)
        return &t->entry[at];
    if (t->count == TALLY_MOST) {
        t->full = 1;
        return NULL;
    }
    t->count++;
    t->entry[at].hash = hash;
    return &t->entry[at];
}

/* Free places last; equal ones in an order that does not depend on the table. */
static int compare(const void *a, const void *b)
{
    const tally_entry *x = a, *y = b;
    if (!x->hash != !y->hash)
        return x->hash ? -1 : 1;
    if (x->moved != y->moved)
        return x->moved > y->moved ? -1 : 1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

int report_tally_rank(report_tally *t, int most)
{
    qsort(t->entry, PLACES, sizeof(tally_entry), compare);
    return t->count < most ? t->count : most;
}
