/* The elements of a transfer in the order of the type map, without their places: which kinds, how
 * many of each, in loops. All constructors but that of structs only repeat, so this is small. */
#ifndef WR_MPIIO_SIGNATURE_H
#define WR_MPIIO_SIGNATURE_H

#include "front/mpiio/datarep.h"

typedef struct wr_amount {
    int64_t elements;
    int64_t memory, file; /* bytes */
} wr_amount;

/* `times` times an element of one kind, or the parts one after the other. Nothing below the root is
 * empty. */
typedef struct wr_signature {
    int64_t times;
    wr_amount once; /* what one time comes to */
    wr_kind kind;   /* without parts */
    int64_t parts;
    bool flat; /* its parts have none */
    struct wr_signature *part;
} wr_signature;

/* `count` items of a type, in memory and in that representation; to be released. */
int wr_signature_build(MPI_Datatype type, int64_t count, const wr_datarep *rep, wr_signature *out);
void wr_signature_release(wr_signature *s);

/* All of it. */
wr_amount wr_signature_amount(const wr_signature *s);

enum { WR_SIGNATURE_DEPTH = 66 };

/* A place before an element. Plain data: a copy of it is a second place. */
typedef struct wr_stream {
    int depth; /* 0: at the end */
    struct {
        const wr_signature *node;
        int64_t turn, part;
    } frame[WR_SIGNATURE_DEPTH]; /* the last one is an element */
} wr_stream;

void wr_stream_init(wr_stream *s, const wr_signature *signature);

/* Goes on by as many elements as there are in `file` bytes; adds what that is. */
void wr_stream_pass(wr_stream *s, int64_t file, wr_amount *passed);

/* How many elements of one kind come next: 0 at the end. */
int64_t wr_stream_peek(const wr_stream *s, const wr_signature **kind);

/* Goes on by as many as that, or fewer. */
void wr_stream_skip(wr_stream *s, int64_t elements);

/* How many times a flat list comes next as a whole, and going on by as many, or fewer. */
int64_t wr_stream_peek_turns(const wr_stream *s, const wr_signature **list);
void wr_stream_skip_turns(wr_stream *s, int64_t turns);

#endif
