/* Shared files from Fortran, and the names that libga's own two interfaces meet by. */
#include <sf.h>

#include "front/eaf/eaf_names.h"
#include "front/eaf/fortran_text.h"
#include "front/eaf/io_code.h"

Integer sfi_create(char *fname, double *hard, double *soft, double *request, Integer *handle)
{
    int number = 0, code = SF_Create(fname, *hard, *soft, *request, &number);
    *handle = number;
    return code;
}

Integer sfi_create_suffix(char *fname, double *hard, double *soft, double *request, Integer *handle,
                          Integer *suffix)
{
    int number = 0;
    int code = SF_Create_suffix(fname, *hard, *soft, *request, &number, (int)*suffix);
    *handle = number;
    return code;
}

void sfi_errmsg(int code, char *msg)
{
    SF_Errmsg(code, msg);
}

/* A process without memory for the name takes part all the same. */
Integer sf_create_(const char *fname, double *hard, double *soft, double *request, Integer *handle,
                   size_t length)
{
    char *name = wr_fortran_take(fname, length);
    Integer code = sfi_create(name, hard, soft, request, handle);
    free(name);
    return code;
}

/* NOLINTNEXTLINE(readability-function-size): as programs call it */
Integer sf_create_suffix_(const char *fname, double *hard, double *soft, double *request,
                          Integer *handle, Integer *suffix, size_t length)
{
    char *name = wr_fortran_take(fname, length);
    Integer code = sfi_create_suffix(name, hard, soft, request, handle, suffix);
    free(name);
    return code;
}

Integer sf_destroy_(Integer *handle)
{
    int code = SF_Destroy((int)*handle);
    *handle = 0;
    return code;
}

Integer sf_open_(Integer *handle)
{
    return SF_Open((int)*handle);
}

Integer sf_close_(Integer *handle)
{
    return SF_Close((int)*handle);
}

Integer sf_rwtor_(Integer *handle)
{
    return SF_Rwtor((int)*handle);
}

Integer sf_fsync_(Integer *handle)
{
    return SF_Fsync((int)*handle);
}

Integer sf_write_(Integer *handle, double *offset, double *bytes, char *buffer, Integer *req_id)
{
    int id = -1, code = SF_Write((int)*handle, *offset, *bytes, buffer, &id);
    *req_id = id;
    return code;
}

Integer sf_read_(Integer *handle, double *offset, double *bytes, char *buffer, Integer *req_id)
{
    int id = -1, code = SF_Read((int)*handle, *offset, *bytes, buffer, &id);
    *req_id = id;
    return code;
}

Integer sf_wait_(Integer *req_id)
{
    int id = (int)*req_id, code = SF_Wait(&id);
    *req_id = id;
    return code;
}

Integer sf_waitall_(Integer *list, Integer *num)
{
    Integer failed = 0;
    for (Integer i = 0; i < *num; i++)
        if (sf_wait_(&list[i]))
            failed = wr_io_rename(WR_IO_FAILED);
    return failed;
}

void sf_errmsg_(Integer *code, char *msg, size_t length)
{
    char text[2 * WR_IO_TEXT];
    wr_io_text((int)*code, text, sizeof text);
    wr_fortran_give(text, msg, length);
}
