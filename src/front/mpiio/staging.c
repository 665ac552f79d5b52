/* Transfers through staging. Blocking ones move in chunks; in a collective one every rank makes as
 * many as the rank that needs most. */
#include "front/mpiio/staging.h"

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"

int wr_staging_new(const wr_datarep *rep, const void *buffer, int64_t count, MPI_Datatype datatype,
                   wr_staging **out)
{
    wr_staging *d = wr_alloc(sizeof *d);
    if (!d)
        return WEIR_ENOMEM;
    *d = (wr_staging){0};
    int code = wr_conversion_init(&d->conversion, rep, buffer, count, datatype);
    if (code)
        wr_free(d);
    else
        *out = d;
    return code;
}

void wr_staging_free(wr_staging *d)
{
    if (!d)
        return;
    wr_conversion_release(&d->conversion);
    wr_free(d->staging);
    wr_free(d);
}

/* --- what blocks --- */

/* How many chunks, and how large they are at most. */
static int64_t count_chunks(const wr_conversion *c, int64_t most, int64_t *largest)
{
    wr_conversion walk = *c;
    int64_t chunks = 0;
    *largest = 0;
    for (int64_t n; (n = wr_conversion_next(&walk, most)) > 0; chunks++) {
        *largest = wr_max(*largest, n);
        wr_conversion_pass(&walk, n);
    }
    return chunks;
}

/* One chunk, of which *moved bytes are done then. */
static int move_chunk(weir_file *file, const wr_trip *t, int64_t bytes, int code, int64_t *moved)
{
    wr_run_pattern memory;
    wr_access_request a = *t->a;
    *moved = 0;
    if (bytes && a.direction == WR_WRITE)
        code = wr_conversion_encode(&t->staged->conversion, bytes, t->staged->staging);
    bytes = code ? 0 : bytes;
    a.memory = wr_run_pattern_set(&memory, 0, bytes);
    if (bytes) {
        a.begin += t->staged->conversion.done.file;
        a.end = a.begin + bytes;
        a.base = t->staged->staging;
    } else {
        a.file = a.memory;
        a.begin = a.end = 0;
    }
    return !code || t->together ? wr_file_access(file, &a, t->together, code, moved) : code;
}

/* All chunks. An error of an access is everyone's, and ends it; one of decoding is this rank's own,
 * until the next access, or the end. */
static int move_chunks(weir_file *file, const wr_trip *t, int64_t most, int64_t chunks, int code)
{
    wr_conversion *c = t->staged ? &t->staged->conversion : NULL;
    bool more = !code && c;
    int own = code;
    for (int64_t k = 0; k < chunks && (t->together || more || own); k++) {
        int64_t moved, bytes = more && !own ? wr_conversion_next(c, most) : 0;
        code = move_chunk(file, t, bytes, own, &moved);
        if (c && moved && t->a->direction == WR_READ && !code)
            own = wr_conversion_decode(c, moved, t->staged->staging);
        if (c && moved && !own)
            wr_conversion_pass(c, moved);
        more = more && moved == bytes;
        if (code || (own && !t->together))
            return code ? code : own;
    }
    bool can_fail = t->rep->read.plain || t->rep->read.large;
    if (t->together && t->a->direction == WR_READ && can_fail)
        own = wr_file_agree(file, own);
    return own;
}

int wr_staging_run(weir_file *file, const wr_trip *trip, int code, int64_t *count)
{
    wr_staging *d = trip->staged;
    int64_t most = 2 * wr_min(wr_file_tunables(file)->window, INT64_MAX / 4), chunks = 1, room = 0;
    int atomic = 0;
    weir_file_get_atomic(file, &atomic);
    if (atomic)
        most = INT64_MAX;
    if (!code && d) {
        chunks = wr_max(count_chunks(&d->conversion, most, &room), 1);
        d->staging = wr_alloc(room);
        code = d->staging ? 0 : WEIR_ENOMEM;
    }
    if (trip->together) {
        int lost = wr_file_settle(file);
        weir_error own = *weir_error_last();
        if (!lost)
            lost = wr_file_reduce(file, WR_MAX, 1, &chunks);
        if (lost)
            return lost;
        if (code)
            wr_error_raise(&own);
    }
    code = move_chunks(file, trip, most, chunks, code);
    *count = d ? d->conversion.done.memory : 0;
    return code;
}

/* --- what is started --- */

int wr_staging_stage(wr_staging *d, wr_access_request *a, wr_run_pattern *memory)
{
    int64_t bytes = a->end - a->begin;
    d->write = a->direction == WR_WRITE;
    d->staging = wr_alloc(bytes);
    if (!d->staging)
        return WEIR_ENOMEM;
    a->memory = wr_run_pattern_set(memory, 0, bytes);
    a->base = d->staging;
    return d->write ? wr_conversion_encode(&d->conversion, bytes, d->staging) : 0;
}

int wr_staging_end(void *staged, int code, int64_t *count)
{
    wr_staging *d = staged;
    if (!code && !d->write && *count)
        code = wr_conversion_decode(&d->conversion, *count, d->staging);
    if (!code || d->write)
        wr_conversion_pass(&d->conversion, *count);
    *count = d->conversion.done.memory;
    wr_staging_free(d);
    return code;
}
