/* Runs of elements of one kind are converted at once. Scattered ones go through a window of packed
 * elements, so that patterns are walked for many at a time. */
#include "front/mpiio/conversion.h"

#include <limits.h>
#include <string.h>

#include "base/arith.h"
#include "base/memory.h"
#include "front/mpiio/contents.h"
#include "front/mpiio/mpi_file.h"

enum { WINDOW = 64 << 10 };

int wr_conversion_init(wr_conversion *c, const wr_datarep *rep, const void *buffer, int64_t count,
                       MPI_Datatype datatype)
{
    const wr_type *type;
    int64_t lo, hi;
    *c = (wr_conversion){.rep = rep, .buffer = (char *)buffer, .datatype = MPI_DATATYPE_NULL};
    int code = wr_type_get(datatype, &type);
    if (!code && rep->extent)
        code = wr_type_keep(datatype, &c->datatype);
    if (!code)
        code = wr_signature_build(datatype, count, rep, &c->signature);
    if (code) {
        wr_conversion_release(c);
        return code;
    }
    c->all = wr_signature_amount(&c->signature);
    wr_stream_init(&c->at, &c->signature);
    weir_pattern_bounds(type->pattern, &lo, &hi);
    c->start = (char *)((uintptr_t)buffer + (uintptr_t)lo);
    if (!type->dense && c->all.elements) {
        code = wr_type_repeat(type, count, &c->memory);
        c->window = code ? NULL : wr_alloc(WINDOW);
        if (!code && !c->window)
            code = WEIR_ENOMEM;
    }
    if (code)
        wr_conversion_release(c);
    return code;
}

void wr_conversion_release(wr_conversion *c)
{
    wr_type_drop(&c->datatype);
    weir_pattern_free(c->memory);
    wr_free(c->window);
    wr_signature_release(&c->signature);
    *c = (wr_conversion){.datatype = MPI_DATATYPE_NULL};
}

int64_t wr_conversion_next(const wr_conversion *c, int64_t most)
{
    const wr_signature *kind;
    wr_stream at = c->at;
    wr_amount next = {0};
    if (wr_stream_peek(&at, &kind))
        wr_stream_pass(&at, wr_max(most, kind->once.file), &next);
    return next.file;
}

void wr_conversion_pass(wr_conversion *c, int64_t bytes)
{
    wr_stream_pass(&c->at, bytes, &c->done);
}

/* --- by the user's functions: they know where elements lie --- */

static bool has_function(const wr_user_conversion *u)
{
    return u->plain || u->large;
}

static int ask_user(const wr_conversion *c, const wr_user_conversion *u, int64_t bytes, char *file)
{
    wr_stream at = c->at;
    wr_amount done = {0};
    while (done.file < bytes) {
        int64_t first = c->done.elements + done.elements, from = done.file;
        wr_amount piece = {0};
        wr_stream_pass(&at, wr_min(bytes - from, INT_MAX), &piece); /* so as many elements */
        if (!piece.elements)
            break;
        int result = u->large ? u->large(c->buffer, c->datatype, piece.elements, file + from, first,
                                         c->rep->state)
                              : u->plain(c->buffer, c->datatype, (int)piece.elements, file + from,
                                         first, c->rep->state);
        if (result != MPI_SUCCESS)
            return wr_misuse(MPI_ERR_CONVERSION, "a conversion function of %s returns %d",
                             c->rep->name, result);
        done.elements += piece.elements;
        done.file += piece.file;
    }
    return 0;
}

/* --- by ours --- */

/* What has no form in a user's representation is as in memory. */
static int64_t copy(const wr_kind *kind, int64_t count, const char *from, char *to)
{
    memcpy(to, from, (size_t)(count * kind->memory));
    return count;
}

typedef struct walk {
    bool out; /* to the file */
    wr_convert *convert;
    wr_stream at;
    wr_amount done;
    /* as far as the window goes */
    wr_amount room;
    char *memory, *file;
} walk;

/* How often both sides have room for that. */
static int64_t fitting(const walk *w, int64_t times, const wr_amount *once)
{
    return wr_min(times, wr_min(w->room.file / once->file, w->room.memory / once->memory));
}

static int refuse(const wr_conversion *c, const wr_signature *kind, int64_t element)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;
    PMPI_Type_get_name(kind->kind.type, name, &length);
    return wr_misuse(MPI_ERR_CONVERSION,
                     "element %lld, %d bytes of %s, has a value or type that %s has not",
                     (long long)element, kind->kind.memory, name, c->rep->name);
}

/* Elements of one kind. */
static int convert_run(const wr_conversion *c, walk *w, const wr_signature *kind, int64_t n)
{
    const int64_t memory = n * kind->once.memory, file = n * kind->once.file;
    if (w->convert == copy && kind->once.file != kind->once.memory)
        return refuse(c, kind, c->done.elements + w->done.elements);
    int64_t done =
        w->convert(&kind->kind, n, w->out ? w->memory : w->file, w->out ? w->file : w->memory);
    if (done < n)
        return refuse(c, kind, c->done.elements + w->done.elements + done);
    w->memory += memory;
    w->file += file;
    w->room.memory -= memory;
    w->room.file -= file;
    w->done.elements += n;
    w->done.memory += memory;
    w->done.file += file;
    return 0;
}

static int convert_turns(const wr_conversion *c, walk *w, const wr_signature *list, int64_t turns)
{
    int code = 0;
    for (int64_t i = 0; i < turns; i++)
        for (int64_t k = 0; !code && k < list->parts; k++)
            code = convert_run(c, w, &list->part[k], list->part[k].times);
    if (!code)
        wr_stream_skip_turns(&w->at, turns);
    return code;
}

/* Converts between packed elements and the file as much as both have room for. */
static int convert(const wr_conversion *c, walk *w)
{
    const wr_signature *next;
    int code = 0;
    while (!code) {
        int64_t n = wr_stream_peek_turns(&w->at, &next);
        n = n ? fitting(w, n, &next->once) : 0;
        if (n) {
            code = convert_turns(c, w, next, n);
            continue;
        }
        n = wr_stream_peek(&w->at, &next);
        n = n ? fitting(w, n, &next->once) : 0;
        if (!n)
            break;
        code = convert_run(c, w, next, n);
        if (!code)
            wr_stream_skip(&w->at, n);
    }
    return code;
}

/* Through the window, again and again. */
static int convert_scattered(const wr_conversion *c, walk *w, int64_t bytes, char *file)
{
    int code = 0;
    while (!code) {
        wr_amount before = w->done;
        int64_t first = c->done.memory + before.memory;
        w->room = (wr_amount){0, wr_min(WINDOW, c->all.memory - first), bytes - before.file};
        w->memory = c->window;
        w->file = file + before.file;
        if (w->out)
            code = weir_pattern_pack(c->memory, first, w->room.memory, c->buffer, c->window);
        if (!code)
            code = convert(c, w);
        int64_t moved = w->done.memory - before.memory;
        if (!w->out && moved)
            weir_pattern_unpack(c->memory, first, moved, c->buffer, c->window);
        if (!moved)
            break;
    }
    return code;
}

static int run(const wr_conversion *c, walk *w, int64_t bytes, char *file)
{
    w->at = c->at;
    if (c->memory)
        return convert_scattered(c, w, bytes, file);
    w->room = (wr_amount){0, c->all.memory - c->done.memory, bytes};
    w->memory = c->start + c->done.memory;
    w->file = file;
    return convert(c, w);
}

int wr_conversion_encode(const wr_conversion *c, int64_t bytes, char *file)
{
    if (has_function(&c->rep->write))
        return ask_user(c, &c->rep->write, bytes, file);
    walk w = {.out = true, .convert = c->rep->encode ? c->rep->encode : copy};
    return run(c, &w, bytes, file);
}

int wr_conversion_decode(const wr_conversion *c, int64_t bytes, const char *file)
{
    if (has_function(&c->rep->read))
        return ask_user(c, &c->rep->read, bytes, (char *)file);
    walk w = {.convert = c->rep->decode ? c->rep->decode : copy};
    return run(c, &w, bytes, (char *)file);
}
