/* Exclusive-access files from Fortran: integers of 8 bytes, lengths of texts after the others. */
#include <eaf.h>
#include <stdlib.h>

#include "front/eaf/eaf_names.h"
#include "front/eaf/fortran_text.h"
#include "front/eaf/io_code.h"

Integer eaf_write_(Integer *fd, double *offset, const void *buf, Integer *bytes)
{
    return EAF_Write((int)*fd, *offset, buf, (size_t)*bytes);
}

Integer eaf_read_(Integer *fd, double *offset, void *buf, Integer *bytes)
{
    return EAF_Read((int)*fd, *offset, buf, (size_t)*bytes);
}

Integer eaf_awrite_(Integer *fd, double *offset, const void *buf, Integer *bytes, Integer *req_id)
{
    int id = -1, code = EAF_Awrite((int)*fd, *offset, buf, (size_t)*bytes, &id);
    *req_id = id;
    return code;
}

Integer eaf_aread_(Integer *fd, double *offset, void *buf, Integer *bytes, Integer *req_id)
{
    int id = -1, code = EAF_Aread((int)*fd, *offset, buf, (size_t)*bytes, &id);
    *req_id = id;
    return code;
}

Integer eaf_wait_(Integer *fd, Integer *id)
{
    return EAF_Wait((int)*fd, (int)*id);
}

Integer eaf_probe_(Integer *id, Integer *status)
{
    int pending = 0, code = EAF_Probe((int)*id, &pending);
    *status = pending;
    return code;
}

Integer eaf_open_(const char *fname, Integer *type, Integer *fd, size_t length)
{
    int number = -1, code = WR_IO_MEMORY;
    char *name = wr_fortran_take(fname, length);
    if (name)
        code = EAF_Open(name, (int)*type, &number);
    free(name);
    *fd = number;
    return code;
}

Integer eaf_close_(Integer *fd)
{
    return EAF_Close((int)*fd);
}

Integer eaf_delete_(const char *fname, size_t length)
{
    char *name = wr_fortran_take(fname, length);
    int code = name ? EAF_Delete(name) : WR_IO_MEMORY;
    free(name);
    return code;
}

Integer eaf_truncate_(Integer *fd, double *length)
{
    return EAF_Truncate((int)*fd, *length);
}

Integer eaf_length_(Integer *fd, double *length)
{
    return EAF_Length((int)*fd, length);
}

Integer eaf_stat_(const char *path, Integer *avail, char *fstype, size_t path_length,
                  size_t type_length)
{
    char kind[32];
    char *name = wr_fortran_take(path, path_length);
    int code = name ? EAF_Stat(name, avail, kind, sizeof kind) : WR_IO_MEMORY;
    free(name);
    if (!code)
        wr_fortran_give(kind, fstype, type_length);
    return code;
}

/* True for the end of file, as a logical of that name is read. */
logical eaf_eof_(Integer *code)
{
    return !EAF_Eof((int)*code);
}

void eaf_errmsg_(Integer *code, char *msg, size_t length)
{
    char text[2 * WR_IO_TEXT];
    wr_io_text((int)*code, text, sizeof text);
    wr_fortran_give(text, msg, length);
}

void eaf_print_stats_(Integer *fd)
{
    EAF_Print_stats((int)*fd);
}

/* Between 0 and 1, from a new start where the seed is not 0. */
double eaf_util_random_(Integer *seed)
{
    if (*seed)
        srandom((unsigned)*seed);
    return (double)random() / 2147483648.0;
}

Integer eaf_util_szint_(void)
{
    return (Integer)sizeof(Integer);
}
