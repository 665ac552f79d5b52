/* How a file system deals a file over its servers, as far as it tells. */
#ifndef WR_STORAGE_SYSTEM_STRIPE_H
#define WR_STORAGE_SYSTEM_STRIPE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wr_system_stripe {
    int64_t bytes;   /* dealt at a time, or what it likes to be given; 0: not known */
    int64_t servers; /* over so many; 0: not known */
} wr_system_stripe;

/* From Lustre's attribute lustre.lov. Of a file in several components the last one counts, where
 * most of a large file is. False: that is not what it is. */
bool wr_system_stripe_parse(const unsigned char *lov, int64_t size, wr_system_stripe *out);

/* Lustre's stripes; of other file systems that are on a network, their preferred block. `bytes` is
 * at most WR_STRIPE_MOST: a fraction of what is larger, so that realms cut there are not few. */
enum { WR_STRIPE_MOST = 16 << 20 };
wr_system_stripe wr_system_stripe_ask(const char *path, bool local);

#endif
