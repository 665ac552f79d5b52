/* Names of traces are JOB.RANK.weir; everything else in a folder is left alone. */
#include "report_folder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"

int report_folder_open(report_folder *f, const char *path)
{
    *f = (report_folder){.path = path, .dir = opendir(path)};
    if (f->dir)
        return 0;
    return cli_fail_errno(path, "cannot be read as a folder");
}

void report_folder_close(report_folder *f)
{
    if (f->dir)
        closedir(f->dir);
    f->dir = NULL;
}

/* The rank that the name of a trace says, and its job; -1: it is none. */
static int parse_name(const char *name, char job[17])
{
    char *end;
    if (strspn(name, "0123456789abcdef") != 16 || name[16] != '.' ||
        !isdigit((unsigned char)name[17]) || (name[17] == '0' && name[18] != '.'))
        return -1;
    errno = 0;
    long long rank = strtoll(name + 17, &end, 10);
    if (errno || rank > INT32_MAX || strcmp(end, ".weir") != 0)
        return -1;
    memcpy(job, name, 16);
    job[16] = 0;
    return (int)rank;
}

/* Only plain files: opening a pipe would wait. */
static FILE *open_file(const report_folder *f, const char *name)
{
    struct stat info;
    int fd = openat(dirfd(f->dir), name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    FILE *file = NULL;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode))
        errno = EINVAL;
    else
        file = fdopen(fd, "r");
    if (!file)
        close(fd);
    return file;
}

static long long read_start(const report_folder *f, const char *name)
{
    char line[512];
    long long start = 0;
    FILE *file = open_file(f, name);
    for (int i = 0; file && i < 64 && !start && fgets(line, sizeof line, file); i++)
        if (!strncmp(line, "start ", 6))
            start = strtoll(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return start;
}

static int compare(const void *a, const void *b)
{
    const folder_job *x = a, *y = b;
    if (x->start != y->start)
        return x->start > y->start ? -1 : 1;
    return strcmp(x->id, y->id);
}

static folder_job *find_job(folder_job *jobs, int count, const char *id)
{
    for (int i = count - 1; i >= 0; i--)
        if (!strcmp(jobs[i].id, id))
            return &jobs[i];
    return NULL;
}

/* Where there is no more room a new one takes the place of the oldest, if that is older. */
static void add_job(folder_job *jobs, int *count, const folder_job *job)
{
    folder_job *place = &jobs[0];
    if (*count < FOLDER_JOBS) {
        jobs[(*count)++] = *job;
        return;
    }
    for (int i = 1; i < *count; i++)
        place = compare(&jobs[i], place) > 0 ? &jobs[i] : place;
    if (compare(job, place) < 0)
        *place = *job;
}

int report_folder_list(report_folder *f, folder_job *jobs)
{
    int count = 0;
    rewinddir(f->dir);
    for (const struct dirent *e = readdir(f->dir); e; e = readdir(f->dir)) {
        folder_job job = {0}, *known;
        if (parse_name(e->d_name, job.id) < 0)
            continue;
        known = find_job(jobs, count, job.id);
        if (known && known->start)
            continue;
        job.start = read_start(f, e->d_name);
        if (known)
            *known = job;
        else
            add_job(jobs, &count, &job);
    }
    if (!count)
        return cli_fail(WEIR_EFORMAT, f->path, 0,
                        "has no traces; WEIR_TRACE=FOLDER in the environment of a job makes them");
    qsort(jobs, (size_t)count, sizeof *jobs, compare);
    return count;
}

void report_folder_restart(report_folder *f)
{
    rewinddir(f->dir);
}

int report_folder_next(report_folder *f, const char *job, int *rank, FILE **out)
{
    for (const struct dirent *e = readdir(f->dir); e; e = readdir(f->dir)) {
        char id[17];
        *rank = parse_name(e->d_name, id);
        if (*rank < 0 || strcmp(id, job) != 0)
            continue;
        *out = open_file(f, e->d_name);
        return 1;
    }
    return 0;
}
