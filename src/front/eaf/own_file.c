/* Files of one process on MPI_COMM_SELF. An access that would overlap one under way waits for it
 * first. */
#include "front/eaf/own_file.h"

#include <limits.h>
#include <stdlib.h>

#include "front/eaf/io_code.h"
#include "weir/weir.h"

struct wr_own_file {
    weir_file *file;
    int64_t known;        /* bytes that the file has at least */
    weir_pattern *memory; /* of the latest access: records are mostly of one length */
};

typedef struct started {
    int number;
    wr_own_file *file;
    bool write;
    int64_t lo, hi;
    weir_request *request; /* NULL: over, and `code` is what it came to */
    int code;
    struct started *next;
} started;

static started *all; /* newest first */
static int last_number;

int wr_own_check_range(double offset, size_t bytes)
{
    const double most = 4e18; /* below 2^62, the most that a pattern takes */
    if (!(offset >= 0 && offset < most) || bytes > (size_t)(most - offset))
        return wr_io_refuse(WR_IO_OFFSET, "the range is below 0 or beyond 2^62", NULL);
    if (offset != (double)(int64_t)offset)
        return wr_io_refuse(WR_IO_FRACTION, "bytes are counted in whole numbers", NULL);
    return 0;
}

static int mode_of(int type)
{
    switch (type) {
    case -1:
        return WEIR_READ | WEIR_WRITE | WEIR_CREATE | WEIR_SOLE;
    case -2:
        return WEIR_WRITE | WEIR_CREATE | WEIR_TRUNCATE | WEIR_SOLE;
    case -3:
        return WEIR_READ;
    default:
        return 0;
    }
}

int wr_own_file_open(const char *path, int type, wr_own_file **out)
{
    if (!mode_of(type))
        return wr_io_refuse(WR_IO_MODE, "the type is none of -1, -2 and -3", path);
    wr_own_file *f = calloc(1, sizeof *f);
    if (!f)
        return wr_io_refuse(WR_IO_MEMORY, "opening", path);
    if (weir_file_open(MPI_COMM_SELF, path, mode_of(type), NULL, &f->file)) {
        free(f);
        return wr_io_fail(WR_IO_OPEN);
    }
    if (weir_file_get_size(f->file, &f->known))
        f->known = 0;
    *out = f;
    return 0;
}

/* What an access of [lo, hi) came to. */
static int judge(wr_own_file *f, bool write, int64_t lo, int64_t hi, int code, int64_t count)
{
    if (code)
        return wr_io_fail(write ? WR_IO_WRITE : WR_IO_READ);
    if (count < hi - lo)
        return write ? wr_io_refuse(WR_IO_WRITE, "cut short", NULL)
                     : wr_io_refuse(WR_IO_EOF, "the file is shorter", NULL);
    if (hi > lo && hi > f->known)
        f->known = hi;
    return 0;
}

static void finish(started *s)
{
    int64_t count = 0;
    if (!s->request)
        return;
    int code = weir_request_wait(&s->request, &count);
    s->code = judge(s->file, s->write, s->lo, s->hi, code, count);
}

static void finish_all(const wr_own_file *f)
{
    for (started *s = all; s; s = s->next)
        if (s->file == f)
            finish(s);
}

/* Overlapping transfers would run in any order, and whether a read meets the end of the file may
 * depend on a write elsewhere. */
static bool collide(const started *s, bool write, int64_t lo, int64_t hi)
{
    int64_t known = s->file->known;
    bool overlap = s->lo < hi && lo < s->hi && (write || s->write);
    return overlap || (write != s->write && hi > known && s->hi > known);
}

static void finish_colliding(const wr_own_file *f, bool write, int64_t lo, int64_t hi)
{
    for (started *s = all; s; s = s->next)
        if (s->file == f && collide(s, write, lo, hi))
            finish(s);
}

static started **find(int number)
{
    started **at = &all;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

static int forget(started **at)
{
    started *s = *at;
    int code = s->code;
    *at = s->next;
    free(s);
    return code;
}

int wr_own_file_close(wr_own_file *f)
{
    int lost = 0;
    if (!f)
        return 0;
    finish_all(f);
    for (started **at = &all; *at;)
        if ((*at)->file == f) {
            bool write = (*at)->write;
            int code = forget(at);
            lost = write && code ? code : lost; /* the oldest comes last */
        } else {
            at = &(*at)->next;
        }
    int code = weir_file_close(f->file);
    weir_pattern_free(f->memory);
    free(f);
    return lost ? lost : code ? wr_io_fail(WR_IO_CLOSE) : 0;
}

/* f->memory becomes that of the access, and *where, to be freed, its place in the file. */
static int prepare(wr_own_file *f, const wr_own_access *a, weir_pattern **where)
{
    int64_t lo = (int64_t)a->offset, bytes = (int64_t)a->bytes;
    int code = wr_own_check_range(a->offset, a->bytes);
    *where = NULL;
    if (code)
        return code;
    finish_colliding(f, a->write, lo, lo + bytes);
    if (!f->memory || weir_pattern_bytes(f->memory) != bytes) {
        weir_pattern_free(f->memory);
        f->memory = NULL;
        code = weir_pattern_contiguous(0, bytes, &f->memory);
    }
    if (!code)
        code = weir_pattern_contiguous(lo, bytes, where);
    return code ? wr_io_fail(WR_IO_MEMORY) : 0;
}

int wr_own_file_move(wr_own_file *f, const wr_own_access *a)
{
    weir_pattern *where;
    int64_t count = 0;
    int code = prepare(f, a, &where);
    if (!code) {
        code = a->write ? weir_file_write(f->file, where, f->memory, a->memory, &count, NULL)
                        : weir_file_read(f->file, where, f->memory, a->memory, &count, NULL);
        int64_t lo = (int64_t)a->offset;
        code = judge(f, a->write, lo, lo + (int64_t)a->bytes, code, count);
    }
    weir_pattern_free(where);
    return code;
}

static int start(wr_own_file *f, const wr_own_access *a, const weir_pattern *where, started *s)
{
    int code = a->write ? weir_file_write(f->file, where, f->memory, a->memory, NULL, &s->request)
                        : weir_file_read(f->file, where, f->memory, a->memory, NULL, &s->request);
    return code ? wr_io_fail(a->write ? WR_IO_WRITE : WR_IO_READ) : 0;
}

int wr_own_file_start(wr_own_file *f, const wr_own_access *a, int *number)
{
    weir_pattern *where;
    started *s = NULL;
    int code = prepare(f, a, &where);
    *number = WR_OWN_DONE;
    if (!code) {
        s = malloc(sizeof *s);
        code = s ? start(f, a, where, s) : wr_io_refuse(WR_IO_MEMORY, "starting an access", NULL);
    }
    weir_pattern_free(where);
    if (code || !s) {
        free(s);
        return code;
    }
    last_number = last_number == INT_MAX ? 1 : last_number + 1;
    s->number = *number = last_number;
    s->file = f;
    s->write = a->write;
    s->lo = (int64_t)a->offset;
    s->hi = s->lo + (int64_t)a->bytes;
    s->code = 0;
    s->next = all;
    all = s;
    return 0;
}

/* Of a number that is not in the list. */
static int check_forgotten(int number)
{
    if (number == WR_OWN_DONE || (number > 0 && number <= last_number))
        return 0;
    return wr_io_refuse(WR_IO_REQUEST, "the number was never given", NULL);
}

int wr_own_file_wait(int number)
{
    started **at = find(number);
    if (!*at)
        return check_forgotten(number);
    finish(*at);
    return forget(at);
}

int wr_own_file_probe(int number, bool *over)
{
    started **at = find(number);
    int done = 0;
    int64_t count = 0;
    *over = true;
    if (!*at)
        return check_forgotten(number);
    started *s = *at;
    if (s->request) {
        int code = weir_request_test(&s->request, &done, &count);
        *over = done;
        if (!done)
            return 0;
        s->code = judge(s->file, s->write, s->lo, s->hi, code, count);
    }
    return s->code ? s->code : forget(at);
}

int wr_own_file_get_length(wr_own_file *f, double *length)
{
    int64_t size = 0;
    finish_all(f);
    if (weir_file_get_size(f->file, &size))
        return wr_io_fail(WR_IO_LENGTH);
    *length = (double)size;
    return 0;
}

int wr_own_file_set_length(wr_own_file *f, double length)
{
    int code = wr_own_check_range(length, 0);
    if (code)
        return code;
    finish_all(f);
    if (weir_file_set_size(f->file, (int64_t)length))
        return wr_io_fail(WR_IO_RESIZE);
    f->known = (int64_t)length;
    return 0;
}

int wr_own_file_sync(wr_own_file *f)
{
    finish_all(f);
    return weir_file_sync(f->file) ? wr_io_fail(WR_IO_SYNC) : 0;
}
