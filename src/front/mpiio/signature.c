/* Signatures are built bottom-up like patterns, equal neighbours joined, and walked by a stack of
 * loops. */
#include "front/mpiio/signature.h"

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "front/mpiio/contents.h"

enum { DEEPEST = WR_SIGNATURE_DEPTH - 2 }; /* as deep as types may be nested */

static int build(MPI_Datatype type, const wr_datarep *rep, int depth, wr_signature *out);

void wr_signature_release(wr_signature *s)
{
    for (int64_t k = 0; k < s->parts; k++)
        wr_signature_release(&s->part[k]);
    wr_free(s->part);
    *s = (wr_signature){0};
}

static int too_large(void)
{
    return wr_fail(WEIR_ERANGE, "a datatype of more than 2^63 bytes");
}

wr_amount wr_signature_amount(const wr_signature *s)
{
    return (wr_amount){s->times * s->once.elements, s->times * s->once.memory,
                       s->times * s->once.file};
}

/* So many more times. */
static int repeat(wr_signature *s, int64_t count)
{
    int64_t all;
    if (!wr_mul(s->times, count, &s->times) || !wr_mul(s->times, s->once.memory, &all) ||
        !wr_mul(s->times, s->once.file, &all))
        return too_large();
    return 0;
}

static int build_element(const wr_kind *kind, const wr_datarep *rep, wr_signature *out)
{
    *out = (wr_signature){.times = 1, .kind = *kind, .once = {1, kind->memory, 0}};
    return rep->bytes(rep, kind, &out->once.file);
}

/* Appends a part, which it takes over; the last part may only become longer. */
static int append(wr_signature *s, wr_signature *part)
{
    wr_amount more = wr_signature_amount(part);
    wr_signature *last = s->parts ? &s->part[s->parts - 1] : NULL;
    bool same = last && !last->parts && !part->parts && last->kind.type == part->kind.type;
    if (!wr_add(s->once.memory, more.memory, &s->once.memory) ||
        !wr_add(s->once.file, more.file, &s->once.file)) {
        wr_signature_release(part);
        return too_large();
    }
    s->once.elements += more.elements;
    s->flat = s->flat && !part->parts;
    if (more.elements == 0)
        wr_signature_release(part);
    else if (same)
        last->times += part->times;
    else
        s->part[s->parts++] = *part;
    return 0;
}

/* A list of one is that one. */
static void simplify(wr_signature *s)
{
    if (s->parts != 1)
        return;
    wr_signature *list = s->part, only = list[0];
    only.times *= s->times;
    wr_free(list);
    *s = only;
}

static int open_list(wr_signature *s, int64_t room)
{
    *s = (wr_signature){.times = 1, .flat = true};
    s->part = wr_alloc_array(wr_max(room, 1), sizeof *s->part);
    return s->part ? 0 : WEIR_ENOMEM;
}

static int build_named(MPI_Datatype type, const wr_datarep *rep, wr_signature *out)
{
    wr_kind kind[WR_MOST_KINDS];
    int count = wr_kinds_get(type, kind);
    int code = count < 0 ? count : open_list(out, count);
    for (int k = 0; !code && k < count; k++) {
        wr_signature part;
        code = build_element(&kind[k], rep, &part);
        if (!code)
            code = append(out, &part);
    }
    if (!code)
        simplify(out);
    return code;
}

static int build_struct(const wr_contents *c, const wr_datarep *rep, int depth, wr_signature *out)
{
    int code = open_list(out, c->types);
    for (int64_t k = 0; !code && k < c->types; k++) {
        wr_signature part = {0};
        code = build(c->type[k], rep, depth + 1, &part);
        if (!code)
            code = repeat(&part, c->number[1 + k]);
        if (!code)
            code = append(out, &part);
        else
            wr_signature_release(&part);
    }
    if (!code)
        simplify(out);
    return code;
}

/* Items of one type, as many as its size says. */
static int build_items(MPI_Datatype type, const wr_contents *c, const wr_datarep *rep, int depth,
                       wr_signature *out)
{
    MPI_Count all = 0, each = 0;
    int code = build(c->type[0], rep, depth + 1, out);
    if (!code && (PMPI_Type_size_x(type, &all) || PMPI_Type_size_x(c->type[0], &each)))
        code = wr_fail(WEIR_EINVAL, "size of a datatype");
    if (!code)
        code = repeat(out, each ? all / each : 0);
    return code;
}

static int build(MPI_Datatype type, const wr_datarep *rep, int depth, wr_signature *out)
{
    wr_contents c;
    *out = (wr_signature){0};
    if (depth == DEEPEST)
        return wr_fail(WEIR_ERANGE, "a datatype nested more than %d deep", DEEPEST);
    if (wr_type_is_named(type))
        return build_named(type, rep, out);
    int code = wr_contents_get(type, &c);
    if (code)
        return code;
    if (c.combiner == MPI_COMBINER_STRUCT)
        code = build_struct(&c, rep, depth, out);
    else
        code = build_items(type, &c, rep, depth, out);
    wr_contents_release(&c);
    return code;
}

int wr_signature_build(MPI_Datatype type, int64_t count, const wr_datarep *rep, wr_signature *out)
{
    int code = build(type, rep, 0, out);
    if (!code)
        code = repeat(out, count);
    if (code)
        wr_signature_release(out);
    return code;
}

/* --- walking --- */

static void push(wr_stream *s, const wr_signature *node)
{
    s->frame[s->depth].node = node;
    s->frame[s->depth].turn = s->frame[s->depth].part = 0;
    s->depth++;
}

/* Down to an element. */
static void descend(wr_stream *s)
{
    for (;;) {
        const wr_signature *node = s->frame[s->depth - 1].node;
        if (!node->parts)
            return;
        push(s, &node->part[s->frame[s->depth - 1].part]);
    }
}

/* To what follows, once the last frame has no turn left; that is some list's next part or turn. */
static void ascend(wr_stream *s)
{
    while (s->depth && s->frame[s->depth - 1].turn == s->frame[s->depth - 1].node->times) {
        s->depth--;
        if (s->depth && ++s->frame[s->depth - 1].part == s->frame[s->depth - 1].node->parts) {
            s->frame[s->depth - 1].part = 0;
            s->frame[s->depth - 1].turn++;
        }
    }
}

void wr_stream_init(wr_stream *s, const wr_signature *signature)
{
    s->depth = 0;
    if (!signature->times || !signature->once.elements)
        return;
    push(s, signature);
    descend(s);
}

/* Up to the largest list of which nothing has been passed in this turn. */
static void rise(wr_stream *s)
{
    while (s->depth > 1 && s->frame[s->depth - 1].turn == 0 && s->frame[s->depth - 2].part == 0)
        s->depth--;
}

void wr_stream_pass(wr_stream *s, int64_t file, wr_amount *passed)
{
    rise(s);
    while (s->depth) {
        const wr_signature *node = s->frame[s->depth - 1].node;
        int64_t left = node->times - s->frame[s->depth - 1].turn;
        int64_t n = s->frame[s->depth - 1].part ? 0 : wr_min(left, file / node->once.file);
        passed->elements += n * node->once.elements;
        passed->memory += n * node->once.memory;
        passed->file += n * node->once.file;
        file -= n * node->once.file;
        s->frame[s->depth - 1].turn += n;
        if (n == left)
            ascend(s);
        else if (node->parts)
            push(s, &node->part[s->frame[s->depth - 1].part]);
        else
            break;
    }
}

int64_t wr_stream_peek(const wr_stream *s, const wr_signature **kind)
{
    if (!s->depth)
        return 0;
    *kind = s->frame[s->depth - 1].node;
    return (*kind)->times - s->frame[s->depth - 1].turn;
}

void wr_stream_skip(wr_stream *s, int64_t elements)
{
    s->frame[s->depth - 1].turn += elements;
    ascend(s);
    if (s->depth)
        descend(s);
}

int64_t wr_stream_peek_turns(const wr_stream *s, const wr_signature **list)
{
    if (s->depth < 2 || s->frame[s->depth - 1].turn || s->frame[s->depth - 2].part)
        return 0;
    *list = s->frame[s->depth - 2].node;
    return (*list)->flat ? (*list)->times - s->frame[s->depth - 2].turn : 0;
}

void wr_stream_skip_turns(wr_stream *s, int64_t turns)
{
    s->depth--;
    wr_stream_skip(s, turns);
}
