/* Arrays that the DRA library wrote: NAME.info says how, and the data are without a header.
 *
 * An array is cut into chunks, each a dense box stored by rows (by columns, in the words of the
 * DRA library). One file: dimensions from the fastest on are cut into panels, the slowest is not,
 * and the fastest is the outermost loop over chunks. Several: all dimensions are cut, and chunks
 * are dealt to NAME.0, NAME.1, ... in the order of elements. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dra_state.h"

typedef struct wr_dra_old {
    int files, dimensions, ga_type;
    int64_t element;
    int64_t shape[WR_DRA_DIMENSIONS], chunk[WR_DRA_DIMENSIONS];
    char name[WR_DRA_NAME + 1];
    weir_file **file;
} wr_dra_old;

/* --- chunks --- */

static int64_t count_chunks(const wr_dra_old *o, int d)
{
    return (o->shape[d] - 1) / o->chunk[d] + 1;
}

/* Chunk `number` in the order of the files; false after the last. */
static bool find_chunk(const wr_dra_old *o, int64_t number, wr_dra_box *box)
{
    for (int k = 0; k < o->dimensions; k++) {
        const int i = o->files > 1 ? o->dimensions - 1 - k : k;
        const int64_t many = count_chunks(o, i);
        box->lo[i] = number % many * o->chunk[i];
        box->hi[i] =
            o->shape[i] - box->lo[i] < o->chunk[i] ? o->shape[i] : box->lo[i] + o->chunk[i];
        number /= many;
    }
    return number == 0;
}

/* Bytes that file number `file` must have. */
static int64_t length_of(const wr_dra_old *o, int file)
{
    int64_t bytes = 0;
    wr_dra_box box;
    for (int64_t number = file; find_chunk(o, number, &box); number += o->files)
        bytes += wr_dra_count(o->dimensions, &box) * o->element;
    return bytes;
}

/* Whether it can be walked: DRA's chunks have about 1 MiB, so these many hold what no disk does. */
static bool is_sane(const wr_dra_old *o)
{
    const int64_t most_bytes = INT64_C(1) << 62, most_chunks = 1 << 24;
    int64_t bytes = o->element, chunks = 1;
    for (int i = 0; i < o->dimensions; i++) {
        if (o->shape[i] > most_bytes / bytes || count_chunks(o, i) > most_chunks / chunks)
            return false;
        bytes *= o->shape[i];
        chunks *= count_chunks(o, i);
    }
    return true;
}

/* --- opening --- */

static int read_text(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return wr_dra_fail_system(path, "open the description");
    ssize_t got = read(fd, text, room - 1);
    close(fd);
    if (got < 0)
        return wr_dra_fail_system(path, "read the description");
    text[got] = 0;
    return 0;
}

/* Numbers are in Fortran's order of dimensions. */
static int parse(const char *path, char *text, wr_dra_old *o)
{
    enum { MOST = 3 + 2 * WR_DRA_DIMENSIONS + 2 };
    int64_t word[MOST] = {0};
    int count = 0, wanted = 1;
    char *at = text;
    for (; count < wanted && count < MOST; count++) {
        char *end;
        word[count] = strtoll(at, &end, 10);
        if (end == at)
            break;
        at = end;
        if (count == 0 && word[0] >= 1 && word[0] <= WR_DRA_DIMENSIONS)
            wanted = 5 + 2 * (int)word[0];
    }
    const int n = (int)word[0];
    bool fits = count == wanted && wanted > 1;
    for (int i = 0; fits && i < n; i++) {
        o->shape[n - 1 - i] = word[1 + i];
        o->chunk[n - 1 - i] = word[3 + n + i];
        fits = word[1 + i] > 0 && word[3 + n + i] > 0 && word[1 + i] < INT64_C(1) << 40;
    }
    o->dimensions = n;
    o->ga_type = fits ? (int)word[1 + n] : 0;
    o->element = weir_type_bytes(wr_dra_type(o->ga_type));
    o->files = fits ? (int)word[3 + 2 * n] : 0;
    if (fits && o->files == 1)
        o->chunk[0] = o->shape[0];
    if (!fits || !o->element || o->files < 1 || o->files > 1 << 20 || !is_sane(o))
        return wr_dra_fail(WEIR_EFORMAT, path, "this does not describe a disk resident array");
    at += strspn(at, " \t\r\n");
    at[strcspn(at, "\r\n")] = 0;
    snprintf(o->name, sizeof o->name, "%.72s", at);
    return 0;
}

static int look(const char *file, wr_dra_old *o)
{
    char path[WR_DRA_PATH], text[2048];
    snprintf(path, sizeof path, "%s.info", file);
    int code = read_text(path, text, sizeof text);
    return code ? code : parse(path, text, o);
}

static void name_file(const char *file, int files, int number, char path[WR_DRA_PATH])
{
    if (files > 1)
        snprintf(path, WR_DRA_PATH, "%s.%d", file, number);
    else
        snprintf(path, WR_DRA_PATH, "%s", file);
}

/* [collective] */
static int open_files(wr_dra_old *o, const char *file, int mode)
{
    char path[WR_DRA_PATH];
    const char *hints = wr_dra_state.hints;
    int code = 0;
    for (int i = 0; i < o->files && !code; i++) {
        weir_file *opened = NULL;
        int64_t size = 0;
        name_file(file, o->files, i, path);
        code = weir_file_open(wr_dra_state.comm, path, mode, *hints ? hints : NULL, &opened);
        if (code)
            return code;
        o->file[i] = opened;
        code = weir_file_get_size(opened, &size);
        const int64_t wanted = length_of(o, i);
        if (!code && size < wanted)
            code = wr_dra_fail(WEIR_EFORMAT, path,
                               "the file is cut short: it has %lld bytes, not %lld",
                               (long long)size, (long long)wanted);
        code = wr_dra_agree(code, 0);
    }
    return code;
}

int wr_dra_old_open(const char *file, wr_dra *out)
{
    const int mode = out->mode == WR_DRA_R ? WEIR_READ : WEIR_READ | WEIR_WRITE;
    wr_dra_old *o = calloc(1, sizeof *o);
    int code = o ? 0 : wr_dra_fail(WEIR_ENOMEM, file, "no memory to open it");
    if (!code && wr_dra_state.rank == 0)
        code = look(file, o);
    code = wr_dra_agree(code, 0);
    if (!code && o) {
        MPI_Bcast(o, sizeof *o, MPI_BYTE, 0, wr_dra_state.comm);
        o->file = calloc((size_t)o->files, sizeof(weir_file *));
        code =
            wr_dra_agree(o->file ? 0 : wr_dra_fail(WEIR_ENOMEM, file, "no memory to open it"), 0);
        if (!code && o->file)
            code = open_files(o, file, mode);
    }
    if (code || !o) {
        weir_error error = *weir_error_last();
        wr_dra_old_close(o);
        return weir_error_raise(&error);
    }
    out->old = o;
    out->type = wr_dra_type(o->ga_type);
    out->ga_type = o->ga_type;
    out->dimensions = o->dimensions;
    memcpy(out->shape, o->shape, sizeof out->shape);
    memcpy(out->name, o->name, sizeof out->name);
    return 0;
}

int wr_dra_old_close(wr_dra_old *o)
{
    int code = 0;
    for (int i = 0; o && o->file && i < o->files; i++) {
        int failed = o->file[i] ? weir_file_close(o->file[i]) : 0;
        code = code ? code : failed;
    }
    if (o)
        free(o->file);
    free(o);
    return code;
}

int64_t wr_dra_old_bytes(const char *file)
{
    const weir_error error = *weir_error_last();
    wr_dra_old o = {0};
    wr_dra_box all = {0};
    if (look(file, &o)) {
        weir_error_raise(&error);
        return 0;
    }
    memcpy(all.hi, o.shape, sizeof all.hi);
    return wr_dra_count(o.dimensions, &all) * o.element;
}

/* Whether that is what the description tells of, and not something that only has the name. */
static bool is_data(const wr_dra_old *o, int file, const char *path)
{
    struct stat facts;
    return !lstat(path, &facts) && S_ISREG(facts.st_mode) && facts.st_size >= length_of(o, file);
}

void wr_dra_old_remove(const char *file, bool replaced)
{
    wr_dra_old o = {0};
    char path[WR_DRA_PATH];
    if (look(file, &o))
        return;
    for (int i = 0; i < o.files && (o.files > 1 || !replaced); i++) {
        name_file(file, o.files, i, path);
        if (is_data(&o, i, path))
            unlink(path);
    }
    snprintf(path, sizeof path, "%s.info", file);
    unlink(path);
}

int wr_dra_old_files(const wr_dra_old *o)
{
    return o->files;
}

/* --- access --- */

/* Patterns that are joined once all are there. */
typedef struct parts {
    int64_t count, room;
    int64_t *at[2]; /* in the file, in memory */
    weir_pattern **part[2];
} parts;

static int grow(parts *p)
{
    const int64_t room = 2 * p->room + 64;
    if (p->count < p->room)
        return 0;
    for (int i = 0; i < 2; i++) {
        int64_t *at = realloc(p->at[i], (size_t)room * sizeof *at);
        p->at[i] = at ? at : p->at[i];
        weir_pattern **part = realloc(p->part[i], (size_t)room * sizeof(weir_pattern *));
        p->part[i] = part ? part : p->part[i];
        if (!at || !part)
            return wr_dra_fail(WEIR_ENOMEM, NULL, "no memory for the chunks of an old array");
    }
    p->room = room;
    return 0;
}

static void release(parts *p)
{
    for (int i = 0; i < 2; i++) {
        for (int64_t k = 0; k < p->count; k++)
            weir_pattern_free(p->part[i][k]);
        free(p->at[i]);
        free(p->part[i]);
    }
}

/* A box walked by rows, in memory of any strides. */
static int build_memory(int n, const wr_dra_box *box, const int64_t *stride, int64_t element,
                        weir_pattern **out)
{
    weir_pattern *inner = NULL;
    int code = weir_pattern_contiguous(0, element, &inner);
    for (int i = n - 1; i >= 0 && !code; i--) {
        weir_pattern *outer = NULL;
        code = weir_pattern_repeat(inner, box->hi[i] - box->lo[i], stride[i], &outer);
        weir_pattern_free(inner);
        inner = outer;
    }
    if (!code)
        *out = inner;
    return code;
}

static int build_file(const wr_dra_old *o, const wr_dra_box *within, const wr_dra_box *box,
                      weir_pattern **out)
{
    int64_t size[WR_DRA_DIMENSIONS], lo[WR_DRA_DIMENSIONS], hi[WR_DRA_DIMENSIONS];
    for (int i = 0; i < o->dimensions; i++) {
        size[i] = within->hi[i] - within->lo[i];
        lo[i] = box->lo[i] - within->lo[i];
        hi[i] = box->hi[i] - within->lo[i];
    }
    const weir_shape array = {.dimensions = o->dimensions, .element = o->element, .size = size};
    return weir_pattern_section(&array, &(weir_selection){.lo = lo, .hi = hi}, NULL, out);
}

/* A box that is wanted, and where it is in memory. */
typedef struct wish {
    const wr_dra_box *box;
    int64_t stride[WR_DRA_DIMENSIONS], base;
} wish;

/* What a chunk at byte `at` of its file has of a wish. */
static int add(parts *p, const wr_dra_old *o, const wr_dra_box *within, int64_t at, const wish *w)
{
    wr_dra_box both = {0};
    int64_t base = w->base;
    for (int i = 0; i < o->dimensions; i++) {
        both.lo[i] = within->lo[i] > w->box->lo[i] ? within->lo[i] : w->box->lo[i];
        both.hi[i] = within->hi[i] < w->box->hi[i] ? within->hi[i] : w->box->hi[i];
        if (both.hi[i] <= both.lo[i])
            return 0;
        base += (both.lo[i] - w->box->lo[i]) * w->stride[i];
    }
    int code = grow(p);
    if (code)
        return code;
    weir_pattern *in_file = NULL, *in_memory = NULL;
    code = build_file(o, within, &both, &in_file);
    if (!code)
        code = build_memory(o->dimensions, &both, w->stride, o->element, &in_memory);
    if (code || !p->part[0] || !p->part[1] || !p->at[0] || !p->at[1]) {
        weir_pattern_free(in_file);
        return code;
    }
    p->part[0][p->count] = in_file;
    p->part[1][p->count] = in_memory;
    p->at[0][p->count] = at;
    p->at[1][p->count++] = base;
    return 0;
}

/* Everything that one file has of what is wanted: chunk by chunk, as they follow in the file, and
 * within a chunk wish by wish, which follow each other by rows, as elements of a chunk do. */
static int gather(const wr_dra_old *o, int file, int wishes, const wish *w, parts *p)
{
    int64_t at = 0;
    int code = 0;
    wr_dra_box box;
    for (int64_t number = file; !code && find_chunk(o, number, &box); number += o->files) {
        for (int i = 0; i < wishes && !code; i++)
            code = add(p, o, &box, at, &w[i]);
        at += wr_dra_count(o->dimensions, &box) * o->element;
    }
    return code;
}

static int start_file(const wr_dra_old *o, int file, bool write, const parts *p,
                      const wr_dra_memory *m, weir_request **out)
{
    weir_pattern *where[2] = {NULL, NULL};
    int code = 0;
    for (int i = 0; i < 2 && p->count && !code; i++)
        code = weir_pattern_concat(p->count, p->at[i], (const weir_pattern *const *)p->part[i],
                                   &where[i]);
    if (code) { /* others take part: so must we, with nothing */
        weir_pattern_free(where[0]);
        where[0] = where[1] = NULL;
    }
    int started = write ? weir_file_write_all(o->file[file], where[0], where[1], m->base, NULL, out)
                        : weir_file_read_all(o->file[file], where[0], where[1], m->base, NULL, out);
    weir_pattern_free(where[0]);
    weir_pattern_free(where[1]);
    return code ? code : started;
}

int wr_dra_old_start(const wr_dra *a, bool write, const wr_dra_memory *m, weir_request **out)
{
    const wr_dra_old *o = a->old;
    wish w[WR_DRA_RANGE_BOXES];
    int64_t base = 0;
    int code = 0;
    for (int i = 0; i < m->boxes; i++) {
        w[i].box = &m->box[i];
        w[i].base = base;
        wr_dra_strides(o->dimensions, &m->box[i], o->element, w[i].stride);
        if (m->stride)
            memcpy(w[i].stride, m->stride, (size_t)o->dimensions * sizeof *m->stride);
        base += wr_dra_count(o->dimensions, &m->box[i]) * o->element;
    }
    for (int i = 0; i < o->files; i++) {
        parts p = {0};
        int failed = gather(o, i, m->boxes, w, &p);
        if (failed) {
            release(&p);
            p = (parts){0};
        }
        int started = start_file(o, i, write, &p, m, &out[i]);
        release(&p);
        code = code ? code : failed ? failed : started;
    }
    return code;
}
