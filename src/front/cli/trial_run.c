/* Trial of an operator: watches its first steps, ends it, and times what storing them takes. */
#include "trial_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "command.h"

/* So much memory at most, that there are several steps; so many bytes tell what storing takes. */
enum { MEMORY = 64 << 20, ENOUGH = 16 << 20, PLACES = 64 };
static const double most = 0.25, most_filling = 0.05; /* seconds */
static const double most_anew = 0.9; /* otherwise what is read again does not count */

typedef struct watch {
    double begun, most;
    cli_pace pace;
    int stops, stopped;
} watch;

static void note(void *user, int64_t done, int64_t all)
{
    watch *w = user;
    if (all > 0 && !w->stopped) /* afterwards steps are only gone through */
        cli_pace_note(&w->pace, (double)done / (double)all, cli_seconds() - w->begun);
}

static int is_over(void *user)
{
    watch *w = user;
    w->stopped |= w->stops && cli_seconds() - w->begun > w->most;
    return w->stopped;
}

/* --- the page cache --- */

/* Whether most of a file is not in it; nothing is read. */
static int is_cold(int fd)
{
    const int64_t size = lseek(fd, 0, SEEK_END);
    char byte;
    const struct iovec to = {&byte, 1};
    int there = 0;
    for (int64_t i = 0; i < PLACES && size > 0; i++)
        there += preadv2(fd, &to, 1, size / PLACES * i, RWF_NOWAIT) == 1;
    return size > 0 && there < PLACES / 2;
}

/* Files that are mostly not there are not there at all, so that the first steps are as the others.
 * Only arrays that are a file are looked at. Whether there were such. */
static int cool(const cli_operator *op, const cli_operands *arrays)
{
    int found = 0;
    for (int i = 0; i < op->inputs && cli_rank() == 0; i++) {
        int fd = open(weir_array_where(arrays->in[i]), O_RDONLY | O_CLOEXEC);
        const int cold = fd >= 0 && is_cold(fd);
        if (cold)
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        if (fd >= 0)
            close(fd);
        found |= cold;
    }
    MPI_Bcast(&found, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return found;
}

static int64_t read_number(const char *path)
{
    long long value = 0;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%lld", &value) != 1)
        value = 0;
    if (file)
        fclose(file);
    return value;
}

static int64_t kept_by_system(void)
{
    const int64_t bytes = read_number("/proc/sys/vm/dirty_background_bytes");
    const int64_t percent = read_number("/proc/sys/vm/dirty_background_ratio");
    return bytes
               ? bytes
               : (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE) / 100 * percent;
}

/* --- the trial --- */

static int64_t count_written(void)
{
    weir_totals t;
    int64_t all;
    weir_totals_get(MPI_COMM_WORLD, &t);
    MPI_Allreduce(&t.wanted_written, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int64_t highest_memory(void)
{
    weir_totals t;
    int64_t highest;
    weir_totals_get(MPI_COMM_WORLD, &t);
    MPI_Allreduce(&t.memory_peak, &highest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return highest;
}

static int ignore_end(int code)
{
    return code == WEIR_EINTERRUPTED ? 0 : code;
}

/* Rank 0 tells the others, or each itself, where nobody else would. */
static watch watch_for(double seconds, const weir_work *work)
{
    return (watch){
        .begun = cli_seconds(), .most = seconds, .stops = work->direct || cli_rank() == 0};
}

static int make_steps(const cli_operator *op, void *options, cli_operands *arrays,
                      const weir_work *work, cli_trial *trial, cli_pace *out)
{
    watch w = watch_for(most, work);
    weir_work how = *work;
    how.memory = how.memory > MEMORY || !how.memory ? MEMORY : how.memory;
    how.progress = note;
    how.stop = is_over;
    how.user = &w;
    int code = op->apply(options, arrays, &how);
    if (code == WEIR_EBUDGET) {
        how.memory = work->memory;
        w = watch_for(most, work);
        code = op->apply(options, arrays, &how);
    }
    trial->most = how.memory;
    *out = w.pace;
    if (!code && !w.stopped) { /* that was all of it */
        *out = (cli_pace){0};
        cli_pace_note(out, 1, cli_seconds() - w.begun);
    }
    return ignore_end(code);
}

/* What no step has written yet. */
static int fill_some(weir_array *array, const weir_work *work, cli_trial *out)
{
    static const char zeros[16];
    watch w = watch_for(most_filling, work);
    const weir_work how = {
        .direct = work->direct, .memory = ENOUGH, .progress = note, .stop = is_over, .user = &w};
    const int64_t before = count_written();
    int code = ignore_end(weir_array_fill(array, zeros, &how));
    const int64_t bytes = count_written() - before;
    if (bytes > 0)
        out->write_price = (cli_seconds() - w.begun) / (double)bytes;
    return code;
}

static int store(const cli_operator *op, cli_operands *arrays, int64_t written, cli_trial *out)
{
    int code = 0;
    const double begun = cli_seconds();
    for (int i = 0; i < op->outputs && !code; i++)
        code = weir_array_sync_durable(arrays->out[i]);
    if (written > 0)
        out->store_price = (cli_seconds() - begun) / (double)written;
    return code;
}

int cli_trial_run(const cli_operator *op, void *options, cli_operands *arrays,
                  const weir_work *work, int durable, cli_trial *out)
{
    const int64_t before = count_written();
    out->kept = kept_by_system();
    const int cold = cool(op, arrays);
    int code = make_steps(op, options, arrays, work, out, &out->pace);
    if (!code && cold && out->anew < most_anew)
        code = make_steps(op, options, arrays, work, out, &out->again);
    out->memory = highest_memory();
    cool(op, arrays);
    if (code || !op->outputs)
        return code;
    const int64_t bytes = weir_array_get_info(arrays->out[0])->bytes;
    const int64_t wanted = bytes < ENOUGH ? bytes : ENOUGH;
    out->written = bytes;
    if (count_written() - before < wanted)
        code = fill_some(arrays->out[0], work, out);
    const int64_t written = count_written() - before, unlike = op->outputs * bytes;
    if (!code && durable)
        code = store(op, arrays, written < unlike ? written : unlike, out);
    return code;
}
