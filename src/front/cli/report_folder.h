/* A folder of traces: which jobs it has, and the files of one of them. */
#ifndef WR_CLI_REPORT_FOLDER_H
#define WR_CLI_REPORT_FOLDER_H

#include <dirent.h>
#include <stdio.h>

typedef struct report_folder {
    const char *path;
    DIR *dir;
} report_folder;

typedef struct folder_job {
    char id[17];
    long long start; /* 0: not known */
} folder_job;

enum { FOLDER_JOBS = 1024 };

/* 0, or an error that weir_error_last() has. */
int report_folder_open(report_folder *f, const char *path);
void report_folder_close(report_folder *f);

/* The jobs, newest first; returns how many, or an error. Of more than FOLDER_JOBS the oldest are
 * left out. */
int report_folder_list(report_folder *f, folder_job *jobs);

/* The next file of that job, opened: NULL if it cannot be, with `errno`. Returns 0 after the last;
 * the first call is after report_folder_restart. *rank is what its name says. */
void report_folder_restart(report_folder *f);
int report_folder_next(report_folder *f, const char *job, int *rank, FILE **out);

#endif
