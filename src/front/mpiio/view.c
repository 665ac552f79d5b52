/* File views: the filetype, repeated from the displacement on, is one pattern; a position in the
 * view is a data position of it, in etypes. */
#include <string.h>

#include "base/arith.h"
#include "file/pointer.h"
#include "front/mpiio/contents.h"
#include "front/mpiio/mpi_file.h"

void wr_view_release(wr_mpi_file *mf)
{
    wr_type_drop(&mf->etype);
    wr_type_drop(&mf->filetype);
    weir_pattern_free(mf->view);
    mf->view = NULL;
}

/* The filetype from `displacement` on, again and again; or once, where it reaches behind its extent
 * and the next one would begin within it (HDF5 and PnetCDF make such types, and use them once). */
static int tile(const wr_type *type, int64_t displacement, weir_pattern **out)
{
    weir_pattern *once = NULL, *all = NULL;
    int64_t lo, hi;
    *out = NULL;
    if (type->size == 0)
        return 0;
    weir_pattern_bounds(type->pattern, &lo, &hi);
    if (displacement > WR_OFFSET_MAX || displacement + lo < 0)
        return wr_misuse(MPI_ERR_IO, "a view that starts before the file");
    if (!weir_pattern_is_ordered(type->pattern))
        return wr_misuse(MPI_ERR_IO, "a filetype whose displacements decrease");
    int code =
        weir_pattern_concat(1, &displacement, (const weir_pattern *[]){type->pattern}, &once);
    if (code)
        return code;
    if (type->extent >= hi - lo)
        code = weir_pattern_repeat(once, WEIR_FOREVER, type->extent, &all);
    *out = all ? all : once;
    if (all || code)
        weir_pattern_free(once);
    if (code)
        *out = NULL;
    return code;
}

/* A type as it is in the file; `own` is to be released. */
static int look_up(MPI_Datatype type, const wr_datarep *rep, wr_type *own, const wr_type **out)
{
    if (!wr_datarep_converts(rep))
        return wr_type_get(type, out);
    *out = own;
    return wr_type_in_file(type, rep, own);
}

/* The members of a wr_mpi_file that make its view, in one that has nothing else. */
static int make_view(wr_mpi_file *new)
{
    wr_type own[2] = {{0}, {0}};
    const wr_type *unit, *type;
    MPI_Datatype etype = new->etype, filetype = new->filetype;
    new->etype = new->filetype = MPI_DATATYPE_NULL;
    int code = look_up(etype, new->datarep, &own[0], &unit);
    if (!code)
        code = look_up(filetype, new->datarep, &own[1], &type);
    if (!code && (unit->size <= 0 || type->size % unit->size))
        code = wr_misuse(MPI_ERR_ARG, "a filetype of %lld bytes is not made of etypes of %lld",
                         (long long)type->size, (long long)unit->size);
    if (!code) {
        new->unit = unit->size;
        code = tile(type, new->displacement, &new->view);
    }
    if (!code)
        code = wr_type_keep(etype, &new->etype);
    if (!code)
        code = wr_type_keep(filetype, &new->filetype);
    wr_type_release(&own[0]);
    wr_type_release(&own[1]);
    if (code)
        wr_view_release(new);
    return code;
}

static int set_view(wr_mpi_file *mf, int64_t displacement, MPI_Datatype etype,
                    MPI_Datatype filetype, const wr_datarep *datarep)
{
    wr_mpi_file new = {
        .displacement = displacement, .etype = etype, .filetype = filetype, .datarep = datarep};
    int code = make_view(&new);
    if (code)
        return code;
    wr_view_release(mf);
    mf->displacement = displacement;
    mf->etype = new.etype;
    mf->filetype = new.filetype;
    mf->datarep = datarep;
    mf->view = new.view;
    mf->unit = new.unit;
    mf->position = 0;
    return 0;
}

int wr_view_reset(wr_mpi_file *mf)
{
    return set_view(mf, 0, MPI_BYTE, MPI_BYTE, wr_datarep_native());
}

static int check_view(const wr_mpi_file *mf, MPI_Offset displacement, MPI_Datatype etype,
                      MPI_Datatype filetype, const char *datarep)
{
    if (etype == MPI_DATATYPE_NULL || filetype == MPI_DATATYPE_NULL)
        return wr_misuse(MPI_ERR_TYPE, "MPI_DATATYPE_NULL in a view");
    const wr_type *type;
    int code = wr_type_get_committed(etype, &type);
    if (!code)
        code = wr_type_get_committed(filetype, &type);
    if (code)
        return code;
    if (!datarep || !wr_datarep_find(datarep))
        return wr_misuse(MPI_ERR_UNSUPPORTED_DATAREP, "no data representation %s is known",
                         datarep ? datarep : "NULL");
    if (displacement < 0 && displacement != MPI_DISPLACEMENT_CURRENT)
        return wr_misuse(MPI_ERR_ARG, "displacement %lld", (long long)displacement);
    if (displacement == MPI_DISPLACEMENT_CURRENT && !(mf->amode & MPI_MODE_SEQUENTIAL))
        return wr_misuse(MPI_ERR_ARG, "MPI_DISPLACEMENT_CURRENT without MPI_MODE_SEQUENTIAL");
    return 0;
}

/* Byte of the file behind data position `data` of the view. */
static int64_t byte_of(const wr_mpi_file *mf, int64_t data)
{
    int64_t lo = mf->displacement, hi;
    if (mf->view && data < weir_pattern_bytes(mf->view))
        wr_pattern_bounds_of(mf->view, data, data + 1, &lo, &hi);
    return lo;
}

WR_EXPORT int PMPI_File_set_view(MPI_File fh, MPI_Offset displacement, MPI_Datatype etype,
                                 MPI_Datatype filetype, const char *datarep, MPI_Info info)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    if (!mf)
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    int code = check_view(mf, displacement, etype, filetype, datarep);
    if (!code && displacement == MPI_DISPLACEMENT_CURRENT) {
        int64_t position;
        code = wr_pointer_advance(mf->file, mf->views, 0, &position);
        displacement = code ? 0 : byte_of(mf, position);
    }
    if (!code)
        code = set_view(mf, displacement, etype, filetype, wr_datarep_find(datarep));
    if (!code) {
        mf->views++;
        wr_hints_note(mf, info);
    }
    return wr_mpi_file_result(mf, code);
}
WR_BOTH_NAMES(File_set_view)

WR_EXPORT int PMPI_File_get_view(MPI_File fh, MPI_Offset *displacement, MPI_Datatype *etype,
                                 MPI_Datatype *filetype, char *datarep)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    if (!mf)
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    *displacement = mf->displacement;
    memcpy(datarep, mf->datarep->name, strlen(mf->datarep->name) + 1);
    int code = wr_type_keep(mf->etype, etype);
    if (!code)
        code = wr_type_keep(mf->filetype, filetype);
    return wr_mpi_file_result(mf, code);
}
WR_BOTH_NAMES(File_get_view)

int wr_view_seek(wr_mpi_file *mf, int64_t from, int64_t offset, int whence, int64_t *position)
{
    int64_t base = 0, size;
    if (whence == MPI_SEEK_CUR) {
        base = from / mf->unit;
    } else if (whence == MPI_SEEK_END) {
        int code = weir_file_get_size(mf->file, &size);
        if (code)
            return code;
        int64_t data = mf->view ? wr_pattern_data_below(mf->view, size) : 0;
        base = wr_div_ceil(data, mf->unit);
    } else if (whence != MPI_SEEK_SET) {
        return wr_misuse(MPI_ERR_ARG, "whence %d is none of MPI_SEEK_SET, _CUR, _END", whence);
    }
    if (!wr_add(base, offset, &base) || base < 0 || !wr_mul(base, mf->unit, &base))
        return wr_misuse(MPI_ERR_ARG, "seek to before the view, or beyond 2^63 bytes");
    *position = base;
    return 0;
}

static int seek(wr_mpi_file *mf, int64_t offset, int whence)
{
    int64_t position = mf->position;
    int code = wr_mpi_file_refuse_sequential(mf);
    if (!code)
        code = wr_view_seek(mf, position, offset, whence, &position);
    if (code)
        return code;
    pthread_mutex_lock(&mf->lock);
    mf->position = position;
    pthread_mutex_unlock(&mf->lock);
    return 0;
}

WR_EXPORT int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    return wr_mpi_file_result(mf, mf ? seek(mf, offset, whence) : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_seek)

WR_EXPORT int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    int code = mf ? wr_mpi_file_refuse_sequential(mf) : WEIR_EINVAL;
    if (!code && mf)
        *offset = mf->position / mf->unit;
    return wr_mpi_file_result(mf, code);
}
WR_BOTH_NAMES(File_get_position)

WR_EXPORT int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *byte)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    int code = mf ? wr_mpi_file_refuse_sequential(mf) : WEIR_EINVAL;
    int64_t data = 0;
    if (!code && (offset < 0 || !wr_mul(offset, mf->unit, &data) ||
                  (mf->view && data >= weir_pattern_bytes(mf->view))))
        code = wr_misuse(MPI_ERR_ARG, "offset %lld", (long long)offset);
    if (!code && mf)
        *byte = byte_of(mf, data);
    return wr_mpi_file_result(mf, code);
}
WR_BOTH_NAMES(File_get_byte_offset)

static int get_extent(MPI_File fh, MPI_Datatype datatype, int64_t *out)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    wr_type own = {0};
    const wr_type *type = NULL;
    int code = mf ? 0 : WEIR_EINVAL;
    if (!code && datatype == MPI_DATATYPE_NULL)
        code = wr_misuse(MPI_ERR_TYPE, "extent of MPI_DATATYPE_NULL");
    if (!code)
        code = look_up(datatype, mf->datarep, &own, &type);
    if (!code)
        *out = type->extent;
    wr_type_release(&own);
    return wr_mpi_file_result(mf, code);
}

WR_EXPORT int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    int64_t bytes = 0;
    int result = get_extent(fh, datatype, &bytes);
    if (result == MPI_SUCCESS)
        *extent = (MPI_Aint)bytes;
    return result;
}
WR_BOTH_NAMES(File_get_type_extent)

#if MPI_VERSION >= 4
WR_EXPORT int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    int64_t bytes = 0;
    int result = get_extent(fh, datatype, &bytes);
    if (result == MPI_SUCCESS)
        *extent = bytes;
    return result;
}
WR_BOTH_NAMES(File_get_type_extent_c)
#endif
