/* A part of a pattern as a pattern of its own: a clipped cursor hands out batches, each of which
 * becomes a loop, and the builder joins what it can. */
#include "base/error.h"
#include "pattern/build.h"
#include "pattern/cursor.h"

int wr_pattern_clip(const weir_pattern *pattern, int64_t lo, int64_t hi, weir_pattern **out)
{
    wr_builder b = {0};
    wr_term all = WR_TERM_EMPTY, *terms = NULL;
    wr_cursor c;
    int64_t used = 0, room = 0;
    int code = 0;
    wr_cursor_init(&c, pattern);
    wr_cursor_clip(&c, lo, hi);
    for (wr_batch batch; !code && wr_cursor_next(&c, INT64_MAX, &batch);) {
        code = wr_grow((void **)&terms, &room, used + 1, sizeof *terms);
        if (!code)
            code = wr_build_loop(&b, batch.count, batch.stride,
                                 wr_term_run(batch.offset, batch.run), &terms[used++]);
    }
    if (!code)
        code = wr_build_list(&b, used, terms, &all);
    wr_free(terms);
    return wr_build_end(&b, code, all, out);
}
