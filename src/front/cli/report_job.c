/* A job is read twice: first to learn which ranks there are, how long it took and which files
 * count; then what its traces say is added up. Traces that cannot be read are left out, and
 * counted. */
#include "report_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "report_folder.h"
#include "report_merge.h"
#include "report_tally.h"

enum { MOST_TRACES = 1 << 20 };

typedef struct survey {
    report_job *job;
    report_trace *trace;
    report_tally files, hosts;
    int room;      /* for ranks */
    int votes;     /* for the number of ranks that the job has: most traces say so */
    int64_t until; /* ns since 1970 */
} survey;

report_job *report_job_new(void)
{
    report_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->alive = calloc((size_t)JOB_BANDS * JOB_COLUMNS, sizeof(double));
    int ok = job->alive != NULL;
    for (int p = 0; p < TRACE_PHASES; p++) {
        job->phase[p] = calloc((size_t)JOB_BANDS * JOB_COLUMNS, sizeof(double));
        ok = ok && job->phase[p];
    }
    for (int d = 0; d < 2; d++) {
        job->moved[d] = calloc((size_t)JOB_ROWS * JOB_COLUMNS, sizeof(double));
        ok = ok && job->moved[d];
    }
    if (ok)
        return job;
    report_job_free(job);
    return NULL;
}

void report_job_free(report_job *job)
{
    if (!job)
        return;
    for (int p = 0; p < TRACE_PHASES; p++)
        free(job->phase[p]);
    free(job->alive);
    for (int d = 0; d < 2; d++)
        free(job->moved[d]);
    for (int i = 0; i <= JOB_FILES; i++) {
        free(job->file[i].name);
        free(job->file[i].cell[0]);
        free(job->file[i].cell[1]);
    }
    for (int i = 0; i < job->calls; i++)
        free(job->call[i].plan);
    free(job->rank);
    free(job);
}

/* Only the first of them is told. */
static void note_unreadable(report_job *job, int rank, const char *problem)
{
    if (!job->unreadable++)
        snprintf(job->problem, sizeof job->problem, "%s.%d.weir %s", job->id, rank, problem);
}

static int add_rank(survey *s, const report_trace *t)
{
    report_job *job = s->job;
    if (job->found == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        job_rank *more = realloc(job->rank, (size_t)s->room * sizeof *more);
        if (s->room > MOST_TRACES || !more) {
            job->rank = more ? more : job->rank;
            return cli_fail(WEIR_ENOMEM, "", 0, "more ranks than fit into memory");
        }
        job->rank = more;
    }
    job->rank[job->found++] = (job_rank){.rank = t->rank,
                                         .complete = t->complete,
                                         .whole = t->whole,
                                         .start = t->start,
                                         .length = t->length,
                                         .memory = t->memory,
                                         .behind = t->behind,
                                         .errors = t->errors};
    return 0;
}

static void tally_files(survey *s, const report_trace *t)
{
    int64_t moved[TRACE_FILES] = {0};
    for (int i = 0; i < t->calls; i++)
        if (t->call[i].known)
            moved[t->call[i].file] = trace_add(moved[t->call[i].file], t->call[i].moved);
    for (int i = 0; i < t->files; i++) {
        const trace_file *f = &t->file[i];
        tally_entry *e = f->name ? report_tally_get(&s->files, report_hash(f->name)) : NULL;
        if (!e)
            continue;
        e->moved = trace_add(e->moved, moved[i]);
        e->size = f->size > e->size ? f->size : e->size;
        e->step = f->step > e->step ? f->step : e->step;
    }
}

static void vote(survey *s, int ranks)
{
    if (!s->votes)
        s->job->ranks = ranks;
    s->votes += s->job->ranks == ranks ? 1 : -1;
}

static int survey_trace(survey *s)
{
    const report_trace *t = s->trace;
    report_job *job = s->job;
    int code = add_rank(s, t);
    if (code)
        return code;
    vote(s, t->ranks);
    if (job->found == 1 || t->start < job->start)
        job->start = t->start;
    if (t->start + t->length > s->until)
        s->until = t->start + t->length;
    job->width = t->width > job->width ? t->width : job->width;
    job->memory = t->memory > job->memory ? t->memory : job->memory;
    job->errors = trace_add(job->errors, t->errors);
    job->behind = trace_add(job->behind, t->behind);
    job->damaged += t->damaged;
    job->cut += !t->whole;
    job->unfinished += !t->complete;
    report_tally_get(&s->hosts, report_hash(t->host));
    tally_files(s, t);
    if (job->found == 1 || t->rank == 0) {
        memcpy(job->host, t->host, sizeof job->host);
        memcpy(job->version, t->version, sizeof job->version);
        memcpy(job->program, t->program, sizeof job->program);
    }
    return 0;
}

/* Calls `each` with every trace of the job that can be read. */
static int visit(survey *s, report_folder *folder, int (*each)(survey *s), int first)
{
    FILE *f;
    int rank, code = 0;
    report_folder_restart(folder);
    while (!code && report_folder_next(folder, s->job->id, &rank, &f)) {
        const char *problem = f ? report_trace_read(s->trace, f) : strerror(errno);
        if (f)
            fclose(f);
        if (!problem && s->trace->rank != rank)
            problem = "is that of another rank";
        if (!problem)
            code = each(s);
        else if (first)
            note_unreadable(s->job, rank, problem);
    }
    return code;
}

static int compare_ranks(const void *a, const void *b)
{
    return ((const job_rank *)a)->rank - ((const job_rank *)b)->rank;
}

/* Of calls that took as long, those come first that differ in a way users see. */
static int compare_calls(const void *a, const void *b)
{
    const job_call *x = a, *y = b;
    if (x->slowest != y->slowest)
        return x->slowest > y->slowest ? -1 : 1;
    if (x->file != y->file)
        return x->file - y->file;
    if (x->write != y->write)
        return x->write - y->write;
    return (x->count < y->count) - (x->count > y->count);
}

static int choose_files(survey *s)
{
    report_job *job = s->job;
    job->files = s->files.count;
    job->more_files = s->files.full;
    job->hosts = s->hosts.count;
    job->named = report_tally_rank(&s->files, JOB_FILES);
    for (int i = 0; i < job->named; i++) {
        const tally_entry *e = &s->files.entry[i];
        job_file *f = &job->file[i];
        f->hash = e->hash;
        f->size = e->size;
        f->step = e->step;
        for (int d = 0; d < 2 && e->step; d++) {
            f->cell[d] = calloc((size_t)TRACE_ROWS * JOB_COLUMNS, sizeof(double));
            if (!f->cell[d])
                return cli_fail(WEIR_ENOMEM, "", 0, "no memory for offsets of files");
        }
    }
    return 0;
}

/* Columns are as wide as the widest bins of a rank, or wider where ranks began at different
 * times. */
static void lay_out(survey *s)
{
    report_job *job = s->job;
    job->length = s->until - job->start;
    while ((job->length - 1) / job->width >= JOB_COLUMNS)
        job->width *= 2;
    job->columns = job->length ? (int)((job->length - 1) / job->width + 1) : 1;
    job->row_ranks = (job->ranks - 1) / JOB_ROWS + 1;
    job->rows = (job->ranks - 1) / job->row_ranks + 1;
    job->band_ranks = (job->ranks - 1) / JOB_BANDS + 1;
    job->bands = (job->ranks - 1) / job->band_ranks + 1;
    qsort(job->rank, (size_t)job->found, sizeof *job->rank, compare_ranks);
}

/* A rank beyond what the job has, or a second time, is damage. */
static int merge_trace(survey *s)
{
    report_job *job = s->job;
    const job_rank key = {.rank = s->trace->rank};
    job_rank *r = bsearch(&key, job->rank, (size_t)job->found, sizeof *job->rank, compare_ranks);
    if (r && r->rank < job->ranks)
        report_merge(job, s->trace, r);
    return 0;
}

static void drop_ranks(report_job *job)
{
    while (job->found && job->rank[job->found - 1].rank >= job->ranks) {
        job->found--;
        note_unreadable(job, job->rank[job->found].rank, "is of a job with more ranks");
    }
}

static int read_traces(survey *s, report_folder *folder)
{
    report_job *job = s->job;
    if (!s->trace || report_tally_init(&s->files) || report_tally_init(&s->hosts))
        return cli_fail(WEIR_ENOMEM, "", 0, "no memory for a report");
    int code = visit(s, folder, survey_trace, 1);
    if (!code && !job->found)
        return cli_fail(WEIR_EFORMAT, folder->path, 0, "no trace of job %s can be read: %s",
                        job->id, job->problem);
    if (!code)
        code = choose_files(s);
    if (code)
        return code;
    lay_out(s);
    drop_ranks(job);
    s->trace->cell = report_merge_cell;
    s->trace->user = job;
    code = visit(s, folder, merge_trace, 0);
    qsort(job->call, (size_t)job->calls, sizeof *job->call, compare_calls);
    return code;
}

/* The job that was asked for; the newest others are noted. */
static int choose_among(report_folder *folder, const char *name, folder_job *jobs, report_job *job)
{
    const int count = report_folder_list(folder, jobs);
    int chosen = -1, fits = 0;
    if (count < 0)
        return count;
    for (int i = 0; i < count; i++)
        if (!strncmp(jobs[i].id, name, strlen(name)) && (fits++ == 0))
            chosen = i;
    if (chosen < 0)
        return cli_fail(WEIR_EINVAL, folder->path, 0, "has no job whose name begins so");
    if (*name && fits > 1)
        return cli_fail(WEIR_EINVAL, folder->path, 0, "has several jobs whose names begin so");
    memcpy(job->id, jobs[chosen].id, sizeof job->id);
    for (int i = 0; i < count; i++)
        if (i != chosen && job->others++ < JOB_OTHERS)
            memcpy(job->other[job->others - 1], jobs[i].id, sizeof jobs->id);
    return 0;
}

static int choose_job(report_folder *folder, const char *name, report_job *job)
{
    folder_job *jobs = calloc(FOLDER_JOBS, sizeof *jobs);
    if (!jobs)
        return cli_fail(WEIR_ENOMEM, "", 0, "no memory for names of jobs");
    const int code = choose_among(folder, name, jobs, job);
    free(jobs);
    return code;
}

static int read_job(report_folder *folder, const char *name, report_job *job)
{
    survey s = {.job = job, .trace = report_trace_new()};
    int code = choose_job(folder, name, job);
    if (!code)
        code = read_traces(&s, folder);
    report_tally_release(&s.files);
    report_tally_release(&s.hosts);
    report_trace_free(s.trace);
    return code;
}

int report_job_read(const char *path, const char *name, report_job **out)
{
    report_folder folder;
    int code = report_folder_open(&folder, path);
    if (code)
        return code;
    report_job *job = report_job_new();
    code =
        job ? read_job(&folder, name, job) : cli_fail(WEIR_ENOMEM, "", 0, "no memory for a report");
    report_folder_close(&folder);
    if (code)
        report_job_free(job);
    else
        *out = job;
    return code;
}
