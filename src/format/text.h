/* Text that grows as it is written, up to a limit; after the first failure nothing is added. */
#ifndef WR_FORMAT_TEXT_H
#define WR_FORMAT_TEXT_H

#include <stdint.h>

typedef struct wr_text {
    const char *name; /* borrowed: what it is the text of, for the message when it is too long */
    int64_t most;     /* bytes */
    char *bytes;      /* with a 0 after them; by wr_alloc, the caller's; NULL: nothing yet */
    int64_t used, room;
    int code; /* of the first failure */
} wr_text;

void wr_text_add(wr_text *text, const char *bytes, int64_t count);

/* For short pieces, cut at 255 bytes. */
void wr_text_put(wr_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What was written becomes the caller's, or is freed, and `code` returned. */
int wr_text_take(wr_text *text, char **bytes, int64_t *length);

#endif
