/* Names that libga has and its headers do not declare. */
#ifndef WR_FRONT_EAF_EAF_NAMES_H
#define WR_FRONT_EAF_EAF_NAMES_H

#include <stddef.h>
#include <typesf2c.h>

int eaf_flushbuf(int fd, double offset, const void *buf, size_t bytes);

Integer eaf_write_(Integer *fd, double *offset, const void *buf, Integer *bytes);
Integer eaf_awrite_(Integer *fd, double *offset, const void *buf, Integer *bytes, Integer *req_id);
Integer eaf_read_(Integer *fd, double *offset, void *buf, Integer *bytes);
Integer eaf_aread_(Integer *fd, double *offset, void *buf, Integer *bytes, Integer *req_id);
Integer eaf_wait_(Integer *fd, Integer *id);
Integer eaf_probe_(Integer *id, Integer *status);
Integer eaf_open_(const char *fname, Integer *type, Integer *fd, size_t length);
Integer eaf_close_(Integer *fd);
Integer eaf_delete_(const char *fname, size_t length);
Integer eaf_truncate_(Integer *fd, double *length);
Integer eaf_length_(Integer *fd, double *length);
Integer eaf_stat_(const char *path, Integer *avail, char *fstype, size_t path_length,
                  size_t type_length);
logical eaf_eof_(Integer *code);
void eaf_errmsg_(Integer *code, char *msg, size_t length);
void eaf_print_stats_(Integer *fd);
double eaf_util_random_(Integer *seed);
Integer eaf_util_szint_(void);

Integer sfi_get_handle(void);
void sfi_release_handle(Integer *handle);
Integer sfi_create(char *fname, double *hard, double *soft, double *request, Integer *handle);
Integer sfi_create_suffix(char *fname, double *hard, double *soft, double *request, Integer *handle,
                          Integer *suffix);
void sfi_errmsg(int code, char *msg);

Integer sf_create_(const char *fname, double *hard, double *soft, double *request, Integer *handle,
                   size_t length);
Integer sf_create_suffix_(const char *fname, double *hard, double *soft, double *request,
                          Integer *handle, Integer *suffix, size_t length);
Integer sf_destroy_(Integer *handle);
Integer sf_open_(Integer *handle);
Integer sf_close_(Integer *handle);
Integer sf_rwtor_(Integer *handle);
Integer sf_fsync_(Integer *handle);
Integer sf_write_(Integer *handle, double *offset, double *bytes, char *buffer, Integer *req_id);
Integer sf_read_(Integer *handle, double *offset, double *bytes, char *buffer, Integer *req_id);
Integer sf_wait_(Integer *req_id);
Integer sf_waitall_(Integer *list, Integer *num);
void sf_errmsg_(Integer *code, char *msg, size_t length);

#endif
