/* HDF5 1.10 tells where a chunk is only by walking over all chunks before it, which takes minutes
 * for 100,000 of them; but to read one it finds it in its tree. So it is asked to read each chunk,
 * and told that it has. That is all in its public interface, is fast with every kind of index, and
 * counts from the first byte of the file, whatever lies before HDF5's own. */
#include "hdf5/noting_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct noting_file {
    H5FD_t head; /* HDF5's own, first */
    int fd;
    haddr_t eoa, size;
    wr_notes *notes;
} noting_file;

static H5FD_t *file_open(const char *path, unsigned flags, hid_t access, haddr_t most)
{
    struct stat info;
    wr_notes *const *notes = H5Pget_driver_info(access);
    noting_file *f = calloc(1, sizeof *f);
    (void)most;
    if (!f || !notes || flags & (H5F_ACC_RDWR | H5F_ACC_CREAT | H5F_ACC_TRUNC))
        goto refuse;
    f->notes = *notes;
    f->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0)
        goto refuse;
    if (fstat(f->fd, &info)) {
        close(f->fd);
        goto refuse;
    }
    f->size = (haddr_t)info.st_size;
    return &f->head;
refuse:
    free(f);
    return NULL;
}

static herr_t file_close(H5FD_t *file)
{
    noting_file *f = (noting_file *)file;
    close(f->fd);
    free(f);
    return 0;
}

static haddr_t get_eoa(const H5FD_t *file, H5FD_mem_t kind)
{
    (void)kind;
    return ((const noting_file *)file)->eoa;
}

static herr_t set_eoa(H5FD_t *file, H5FD_mem_t kind, haddr_t eoa)
{
    (void)kind;
    ((noting_file *)file)->eoa = eoa;
    return 0;
}

static haddr_t get_eof(const H5FD_t *file, H5FD_mem_t kind)
{
    (void)kind;
    return ((const noting_file *)file)->size;
}

/* What is behind the end is 0, as with HDF5's own drivers. */
static herr_t file_read(H5FD_t *file, H5FD_mem_t kind, hid_t transfer, haddr_t at, size_t bytes,
                        void *to)
{
    noting_file *f = (noting_file *)file;
    (void)transfer;
    if (at > INT64_MAX || bytes > INT64_MAX - at)
        return -1;
    if (f->notes->active && kind == H5FD_MEM_DRAW) {
        f->notes->reads++;
        f->notes->offset = (int64_t)at;
        f->notes->bytes = (int64_t)bytes;
        return 0;
    }
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = pread(f->fd, (char *)to + done, bytes - done, (off_t)(at + done));
        if (got < 0 && errno != EINTR)
            return -1;
        if (got == 0) {
            memset((char *)to + done, 0, bytes - done);
            break;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static herr_t file_write(H5FD_t *file, H5FD_mem_t kind, hid_t transfer, haddr_t at, size_t bytes,
                         const void *from)
{
    (void)file, (void)kind, (void)transfer, (void)at, (void)bytes, (void)from;
    return -1;
}

/* Who writes the file with HDF5 holds a lock; where there are no locks, as on some mounts, nobody
 * can. */
static herr_t lock_file(H5FD_t *file, hbool_t to_write)
{
    noting_file *f = (noting_file *)file;
    (void)to_write;
    f->notes->busy = flock(f->fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    return f->notes->busy ? -1 : 0;
}

static herr_t unlock_file(H5FD_t *file)
{
    flock(((noting_file *)file)->fd, LOCK_UN);
    return 0;
}

hid_t wr_noting_driver_register(void)
{
    static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
        .version = H5FD_CLASS_VERSION,
        .value = 600, /* of those for experiments; it only must differ from others in a process */
#endif
        .name = "weir_noting",
        .maxaddr = INT64_MAX,
        .fc_degree = H5F_CLOSE_STRONG,
        .fapl_size = sizeof(wr_notes *),
        .open = file_open,
        .close = file_close,
        .get_eoa = get_eoa,
        .set_eoa = set_eoa,
        .get_eof = get_eof,
        .read = file_read,
        .write = file_write,
        .lock = lock_file,
        .unlock = unlock_file,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    return H5FDregister(&driver);
}

herr_t wr_noting_driver_set(hid_t access, hid_t driver, wr_notes *notes)
{
    return H5Pset_driver(access, driver, &notes);
}
