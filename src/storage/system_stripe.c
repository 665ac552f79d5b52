/* The layout of Lustre's attribute, little-endian: of a plain file magic (4 bytes), pattern (4),
 * object (16), stripe size (4), stripe count (2) and what is not needed here. A file in components
 * has a header of 32 bytes, whose bytes 14 and 15 count them, then 48 bytes for each, of which 8 to
 * 23 are its range and 24 to 27 say where its own layout begins. */
#include "storage/system_stripe.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/memory.h"

enum {
    PLAIN_BYTES = 30,
    HEADER_BYTES = 32,
    ENTRY_BYTES = 48,
    ENTRY_START = 24,
    ON_METADATA = 0x100, /* in a pattern: no stripes, but on the server of names */
    ANY = 0xFFFF,        /* as many servers as there are */
    USUAL_ATTRIBUTE = 1 << 10,
    LARGEST_ATTRIBUTE = 64 << 10 /* the kernel's limit */
};

static const int64_t plain = 0x0BD10BD0, pooled = 0x0BD30BD0, composite = 0x0BD60BD0;

static int64_t number_at(const unsigned char *bytes, int64_t at, int width)
{
    int64_t n = 0;
    for (int i = width; i-- > 0;)
        n = n << 8 | bytes[at + i];
    return n;
}

static bool parse_plain(const unsigned char *lov, int64_t size, wr_system_stripe *out)
{
    if (size < PLAIN_BYTES)
        return false;
    const int64_t magic = number_at(lov, 0, 4), servers = number_at(lov, 28, 2);
    if ((magic != plain && magic != pooled) || number_at(lov, 4, 4) & ON_METADATA)
        return false;
    *out =
        (wr_system_stripe){.bytes = number_at(lov, 24, 4), .servers = servers == ANY ? 0 : servers};
    return out->bytes > 0;
}

bool wr_system_stripe_parse(const unsigned char *lov, int64_t size, wr_system_stripe *out)
{
    *out = (wr_system_stripe){0};
    if (size < HEADER_BYTES || number_at(lov, 0, 4) != composite)
        return parse_plain(lov, size, out);
    bool found = false;
    for (int64_t i = number_at(lov, 14, 2); i-- > 0 && !found;) {
        const int64_t entry = HEADER_BYTES + i * ENTRY_BYTES;
        if (entry + ENTRY_BYTES > size)
            continue;
        const int64_t start = number_at(lov, entry + ENTRY_START, 4);
        found = start <= size && parse_plain(lov + start, size - start, out);
    }
    return found;
}

static bool ask_lustre(const char *path, wr_system_stripe *out)
{
    static const char name[] = "lustre.lov";
    unsigned char usual[USUAL_ATTRIBUTE];
    int64_t size = getxattr(path, name, usual, sizeof usual);
    if (size >= 0)
        return wr_system_stripe_parse(usual, size, out);
    unsigned char *larger = errno == ERANGE ? wr_alloc(LARGEST_ATTRIBUTE) : NULL;
    if (!larger)
        return false;
    size = getxattr(path, name, larger, LARGEST_ATTRIBUTE);
    const bool found = size >= 0 && wr_system_stripe_parse(larger, size, out);
    wr_free(larger);
    return found;
}

wr_system_stripe wr_system_stripe_ask(const char *path, bool local)
{
    wr_system_stripe stripe = {0};
    struct stat status;
    if (!ask_lustre(path, &stripe)) {
        stripe = (wr_system_stripe){0};
        if (!local && !stat(path, &status) && status.st_blksize > wr_page_bytes())
            stripe.bytes = status.st_blksize;
    }
    while (stripe.bytes > WR_STRIPE_MOST && stripe.bytes % 2 == 0)
        stripe.bytes /= 2;
    if (stripe.bytes > WR_STRIPE_MOST)
        stripe.bytes = 0;
    return stripe;
}
