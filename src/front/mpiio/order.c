/* From an MPI call's arguments to an access: checks, the pattern in memory, the place in the view;
 * pointers move here, before anything is transferred. */
#include "front/mpiio/order.h"

#include "base/arith.h"
#include "file/pointer.h"

static int check_order(const wr_mpi_file *mf, const wr_order *o)
{
    if (o->count < 0)
        return wr_misuse(MPI_ERR_COUNT, "count %lld", (long long)o->count);
    if (o->datatype == MPI_DATATYPE_NULL)
        return wr_misuse(MPI_ERR_TYPE, "MPI_DATATYPE_NULL in a transfer");
    if (o->pointer == WR_EXPLICIT && o->offset < 0)
        return wr_misuse(MPI_ERR_ARG, "offset %lld", (long long)o->offset);
    if (o->write && mf->amode & MPI_MODE_RDONLY)
        return wr_misuse(MPI_ERR_READ_ONLY, "the file is open for reading only");
    if (!o->write && mf->amode & MPI_MODE_WRONLY)
        return wr_misuse(MPI_ERR_ACCESS, "the file is open for writing only");
    return o->pointer <= WR_INDIVIDUAL ? wr_mpi_file_refuse_sequential(mf) : 0;
}

/* The pattern of `count` items in memory. The latest is kept, because programs repeat themselves;
 * who uses it has it alone meanwhile. */
static int take_memory(wr_mpi_file *mf, const wr_type *type, int64_t count, wr_ready *r)
{
    weir_pattern *kept = NULL;
    r->memory_count = count;
    r->memory_extent = type->extent;
    pthread_mutex_lock(&mf->lock);
    if (mf->memory && mf->memory_count == count && mf->memory_extent == type->extent &&
        wr_hash_equal(mf->memory_of, type->pattern->hash)) {
        kept = mf->memory;
        mf->memory = NULL;
    }
    pthread_mutex_unlock(&mf->lock);
    r->memory_of = type->pattern->hash;
    r->memory = kept;
    return kept ? 0 : wr_type_repeat(type, count, &r->memory);
}

void wr_ready_release(wr_mpi_file *mf, wr_ready *r)
{
    wr_staging_free(r->staged);
    r->staged = NULL;
    if (!r->memory)
        return;
    pthread_mutex_lock(&mf->lock);
    weir_pattern *old = mf->memory;
    mf->memory = r->memory;
    mf->memory_of = r->memory_of;
    mf->memory_count = r->memory_count;
    mf->memory_extent = r->memory_extent;
    pthread_mutex_unlock(&mf->lock);
    r->memory = NULL;
    weir_pattern_free(old);
}

/* No buffer at all; with MPI_BOTTOM, which may be the same, types have addresses. */
static bool lacks_buffer(const wr_order *o, const wr_type *type)
{
    const int64_t first_page = wr_page_bytes();
    int64_t lo, hi;
    if (o->buffer || o->count == 0 || type->size == 0)
        return false;
    weir_pattern_bounds(type->pattern, &lo, &hi);
    return lo > -first_page && lo < first_page;
}

/* How many bytes of the file it is about, and where they are in memory. */
static int measure(wr_mpi_file *mf, const wr_order *o, wr_ready *r, int64_t *bytes)
{
    const wr_type *type;
    int64_t lo, hi;
    int code = check_order(mf, o);
    if (!code)
        code = wr_type_get_committed(o->datatype, &type);
    if (!code && lacks_buffer(o, type))
        code = wr_misuse(MPI_ERR_BUFFER, "no buffer for %lld items", (long long)o->count);
    if (!code && wr_datarep_converts(mf->datarep))
        code = wr_staging_new(mf->datarep, o->buffer, o->count, o->datatype, &r->staged);
    if (code)
        return code;
    if (r->staged)
        *bytes = r->staged->conversion.all.file;
    else if (!wr_mul(o->count, type->size, bytes))
        return wr_misuse(MPI_ERR_ARG, "an access beyond 2^63 bytes");
    if (*bytes % mf->unit)
        return wr_misuse(MPI_ERR_IO, "%lld bytes are not a whole number of etypes of %lld",
                         (long long)*bytes, (long long)mf->unit);
    if (*bytes && !mf->view)
        return wr_misuse(MPI_ERR_IO, "an access through a view without data");
    if (!*bytes || r->staged)
        return 0;
    if (!type->dense) {
        code = take_memory(mf, type, o->count, r);
        r->a.memory = r->memory;
        return code;
    }
    weir_pattern_bounds(type->pattern, &lo, &hi);
    r->a.memory = wr_run_pattern_set(&r->run, lo, *bytes);
    return 0;
}

/* Takes `bytes` from the individual pointer on. */
static int move_individual(wr_mpi_file *mf, int64_t bytes, int64_t *begin)
{
    int64_t end;
    pthread_mutex_lock(&mf->lock);
    *begin = mf->position;
    bool fits = wr_add(*begin, bytes, &end);
    if (fits)
        mf->position = end;
    pthread_mutex_unlock(&mf->lock);
    return fits ? 0 : wr_misuse(MPI_ERR_ARG, "an access beyond 2^63 bytes");
}

/* Where in the view's data it begins; pointers move. */
static int find_place(wr_mpi_file *mf, const wr_order *o, int64_t bytes, int code, int64_t *begin)
{
    if (o->pointer == WR_ORDERED)
        return wr_pointer_deal(mf->file, mf->views, bytes, code, begin);
    if (code)
        return code;
    if (o->pointer == WR_SHARED)
        return wr_pointer_advance(mf->file, mf->views, bytes, begin);
    if (o->pointer == WR_INDIVIDUAL)
        return move_individual(mf, bytes, begin);
    return wr_mul(o->offset, mf->unit, begin)
               ? 0
               : wr_misuse(MPI_ERR_ARG, "an offset beyond 2^63 bytes");
}

static void ask_nothing(wr_ready *r)
{
    r->a.file = r->a.memory = wr_run_pattern_set(&r->nothing, 0, 0);
    r->a.begin = r->a.end = 0;
}

int wr_order_prepare(wr_mpi_file *mf, const wr_order *o, wr_ready *r)
{
    int64_t bytes = 0, begin = 0, end = 0;
    *r = (wr_ready){.a = {.direction = o->write ? WR_WRITE : WR_READ, .base = o->buffer}};
    int code = measure(mf, o, r, &bytes);
    code = find_place(mf, o, bytes, code, &begin);
    if (!code && !wr_add(begin, bytes, &end))
        code = wr_misuse(MPI_ERR_ARG, "an access beyond 2^63 bytes");
    r->a.file = mf->view;
    r->a.begin = begin;
    r->a.end = end;
    if (code || !bytes)
        ask_nothing(r);
    return code;
}

int wr_ready_stage(wr_ready *r, int code, wr_after *after)
{
    *after = (wr_after){0};
    if (!r->staged)
        return code;
    *after = (wr_after){wr_staging_end, r->staged};
    if (!code && r->a.end > r->a.begin)
        code = wr_staging_stage(r->staged, &r->a, &r->run);
    if (code)
        ask_nothing(r);
    return code;
}

void wr_status_set(MPI_Status *status, int64_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}
