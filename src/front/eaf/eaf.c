/* Exclusive-access files: each process reads and writes files of its own, on disk or in memory. The
 * pattern is ChemIO's ("Disk Resident Arrays", section 1); names, numbers and codes are those that
 * Global Arrays' programs know.
 *
 * A file in memory stays when it is closed, and is found again by its name until it is deleted. */
#include <eaf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "front/eaf/eaf_names.h"
#include "front/eaf/io_code.h"
#include "front/eaf/memory_file.h"
#include "weir/error.h"
#include "weir/file.h"

enum kind { WRITE, READ, AWRITE, AREAD, WAIT, KINDS };

typedef struct tally {
    long calls;
    double bytes, seconds;
} tally;

typedef struct eaf_file {
    char *name;
    wr_own_file *own; /* NULL: in memory */
    wr_memory_file memory;
    bool open;
    tally tallies[KINDS];
} eaf_file;

static eaf_file **files; /* by number; NULL: free */
static int room;

static eaf_file *get(int fd)
{
    eaf_file *f = fd >= 0 && fd < room ? files[fd] : NULL;
    if (f && f->open)
        return f;
    wr_io_refuse(WR_IO_FILE, "closed, or never opened", NULL);
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count(eaf_file *f, enum kind kind, size_t bytes, double start)
{
    tally *t = &f->tallies[kind];
    t->calls++;
    t->bytes += (double)bytes;
    t->seconds += now() - start;
}

/* The lowest free number, or -1. */
static int find_number(void)
{
    int fd = 0;
    while (fd < room && files[fd])
        fd++;
    if (fd < room)
        return fd;
    int more = room ? 2 * room : 16;
    eaf_file **grown = realloc(files, (size_t)more * sizeof(void *));
    if (!grown)
        return -1;
    memset(grown + room, 0, (size_t)(more - room) * sizeof(void *));
    files = grown;
    room = more;
    return fd;
}

/* The number of a file in memory, open or not, or -1. */
static int find_memory(const char *name)
{
    for (int fd = 0; fd < room; fd++)
        if (files[fd] && !files[fd]->own && !strcmp(files[fd]->name, name))
            return fd;
    return -1;
}

static int discard(int fd)
{
    eaf_file *f = files[fd];
    int code = wr_own_file_close(f->own);
    wr_memory_file_release(&f->memory);
    free(f->name);
    free(f);
    files[fd] = NULL;
    return code;
}

static int open_again(int fd, size_t capacity)
{
    int code = wr_memory_file_reserve(&files[fd]->memory, capacity);
    if (code)
        return code;
    memset(files[fd]->tallies, 0, sizeof files[fd]->tallies);
    files[fd]->open = true;
    return 0;
}

/* One of two is opened: the file on disk, or, with a capacity, the one in memory. */
static int open_new(int fd, const char *name, int type, size_t capacity)
{
    eaf_file *f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        return wr_io_refuse(WR_IO_MEMORY, "opening", name);
    }
    files[fd] = f;
    f->open = true;
    int code = capacity ? wr_memory_file_reserve(&f->memory, capacity)
                        : wr_own_file_open(name, type, &f->own);
    if (code)
        discard(fd);
    return code;
}

int EAF_Open(const char *fname, int type, int *fd)
{
    size_t capacity = type > 0 ? (size_t)type << 20 : 0;
    int number = capacity ? find_memory(fname) : -1, code;
    *fd = -1;
    if (number >= 0) {
        code = open_again(number, capacity);
    } else {
        number = find_number();
        code = number < 0 ? wr_io_refuse(WR_IO_MEMORY, "opening", fname)
                          : open_new(number, fname, type, capacity);
    }
    if (code)
        return capacity ? code : wr_io_rename(WR_IO_PENDING);
    *fd = number;
    return 0;
}

int EAF_Close(int fd)
{
    eaf_file *f = get(fd);
    if (!f)
        return WR_IO_FILE;
    if (f->own)
        return discard(fd);
    f->open = false;
    return 0;
}

int EAF_Delete(const char *fname)
{
    int fd = find_memory(fname);
    if (fd >= 0)
        return discard(fd);
    int code = weir_file_remove(fname);
    return code && code != WEIR_ENOENT ? wr_io_fail(WR_IO_REMOVE) : 0;
}

/* `number` is NULL for one that is waited for at once. In memory all are. */
static int move(int fd, enum kind kind, const wr_own_access *a, int *number)
{
    eaf_file *f = get(fd);
    double start = now();
    int code;
    if (number)
        *number = WR_OWN_DONE;
    if (!f)
        return WR_IO_FILE;
    if (!f->own)
        code = wr_memory_file_move(&f->memory, a);
    else
        code = number ? wr_own_file_start(f->own, a, number) : wr_own_file_move(f->own, a);
    if (!code)
        count(f, kind, a->bytes, start);
    return code;
}

int EAF_Write(int fd, eaf_off_t offset, const void *buf, size_t bytes)
{
    return move(fd, WRITE, &(wr_own_access){true, offset, (void *)buf, bytes}, NULL);
}

int EAF_Read(int fd, eaf_off_t offset, void *buf, size_t bytes)
{
    return move(fd, READ, &(wr_own_access){false, offset, buf, bytes}, NULL);
}

int EAF_Awrite(int fd, eaf_off_t offset, const void *buf, size_t bytes, int *req_id)
{
    return move(fd, AWRITE, &(wr_own_access){true, offset, (void *)buf, bytes}, req_id);
}

int EAF_Aread(int fd, eaf_off_t offset, void *buf, size_t bytes, int *req_id)
{
    return move(fd, AREAD, &(wr_own_access){false, offset, buf, bytes}, req_id);
}

int EAF_Wait(int fd, int id)
{
    double start = now();
    if (id == WR_OWN_DONE)
        return 0;
    eaf_file *f = get(fd);
    if (!f)
        return WR_IO_FILE;
    int code = wr_own_file_wait(id);
    count(f, WAIT, 0, start);
    return code;
}

int EAF_Probe(int id, int *status)
{
    bool over = true;
    int code = wr_own_file_probe(id, &over);
    *status = !over;
    return code;
}

int EAF_Truncate(int fd, eaf_off_t length)
{
    eaf_file *f = get(fd);
    if (!f)
        return WR_IO_FILE;
    return f->own ? wr_own_file_set_length(f->own, length)
                  : wr_memory_file_set_length(&f->memory, length);
}

int EAF_Length(int fd, eaf_off_t *length)
{
    eaf_file *f = get(fd);
    if (!f)
        return WR_IO_FILE;
    if (f->own)
        return wr_own_file_get_length(f->own, length);
    *length = (double)f->memory.length;
    return 0;
}

/* The folder is what comes before the last slash, so that the file need not be there. */
int EAF_Stat(const char *path, long *avail_kb, char *fstype, int fslen)
{
    static const char kind[] = "UFS";
    const char *slash = strrchr(path, '/');
    struct statvfs s;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return wr_io_refuse(WR_IO_MEMORY, "asking for free space", path);
    int failed = statvfs(folder, &s);
    free(folder);
    if (failed)
        return wr_io_refuse(WR_IO_FOLDER, strerror(errno), path);
    if (fslen < 8)
        return wr_io_refuse(WR_IO_SHORT, "8 characters are needed", NULL);
    *avail_kb = (long)((double)s.f_bavail * (double)s.f_frsize / (1 << 20)); /* MiB all the same */
    memcpy(fstype, kind, sizeof kind);
    return 0;
}

/* 0 for the end of file: so it has always been in C. */
int EAF_Eof(int code)
{
    return code != WR_IO_EOF;
}

void EAF_Errmsg(int code, char *msg)
{
    wr_io_text(code, msg, WR_IO_TEXT);
}

void EAF_Print_stats(int fd)
{
    static const char *const names[KINDS] = {[WRITE] = "write",
                                             [READ] = "read",
                                             [AWRITE] = "awrite",
                                             [AREAD] = "aread",
                                             [WAIT] = "wait"};
    double length = -1;
    eaf_file *f = get(fd);
    if (!f)
        return;
    EAF_Length(fd, &length);
    printf("EAF file %d, %s, %.0f bytes\n%-8s %10s %12s %12s %10s\n", fd, f->name, length, "",
           "calls", "bytes", "seconds", "MB/s");
    for (int k = 0; k < KINDS; k++) {
        const tally *t = &f->tallies[k];
        printf("%-8s %10ld %12.4g %12.4g %10.4g\n", names[k], t->calls, t->bytes, t->seconds,
               t->seconds > 0 ? 1e-6 * t->bytes / t->seconds : 0);
    }
    fflush(stdout);
}

/* Makes a file in memory one on disk under the same number, then writes. */
int eaf_flushbuf(int fd, eaf_off_t offset, const void *buf, size_t bytes)
{
    eaf_file *f = get(fd);
    wr_own_file *own = NULL;
    if (!f)
        return WR_IO_FILE;
    if (!f->own) {
        int code = wr_own_file_open(f->name, EAF_RW, &own);
        if (!code)
            code =
                wr_own_file_move(own, &(wr_own_access){true, 0, f->memory.bytes, f->memory.length});
        if (!code)
            code = wr_own_file_set_length(own, (double)f->memory.length);
        if (code) {
            wr_own_file_close(own);
            return code;
        }
        f->own = own;
        wr_memory_file_release(&f->memory);
    }
    return EAF_Write(fd, offset, buf, bytes);
}
