/* Suite `overlap`: the three experiments of the paper on collective I/O with threads. A phase of
 * computing, or of sending messages around a ring, goes on while data are written or read.
 *
 * The work of a phase is fixed, not its time, and calibrated to a share of the time of the access
 * alone: cycles that the access takes from it show. Rank 0 prints
 *     PART  case  how  seconds of the phase, of the access, of both
 * for each repetition; bench/overlap.py makes efficiencies of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "contest.h"
#include "file/file.h"
#include "weir/weir.h"

enum { SIDE = 4096, PLAIN = 32 << 20, MESSAGE = 8 << 10, REPEAT = 5, REPEAT_FEW = 3 };

/* How the access is made while the phase goes on. */
enum form { BLOCKING, SPLIT, NONBLOCKING, SYSTEM_SPLIT, SYSTEM_NONBLOCKING };

typedef struct job {
    const char *path;
    bool write, plain, ring;
    enum form form;
    bool own_comm; /* a communicator whose progress thread is scheduled as the environment says */
    MPI_Comm comm;
    double share; /* of the access's time that the phase is to take */
    weir_file *file;
    MPI_File system; /* of the forms SYSTEM_ */
    weir_pattern *where, *memory;
    char *data;
    int64_t work; /* of a phase */
} job;

static void check(int result, const char *what)
{
    if (result)
        contest_stop(what);
}

/* --- phases --- */

static volatile double result;

static void compute(const job *j)
{
    double x = 1.5, y = 0.25;
    for (int64_t i = 0; i < j->work * 1000; i++) {
        x = x * 0.999999 + y;
        y = y * 1.000001 - x * 1e-9;
    }
    result = x + y;
}

static void send_around(const job *j)
{
    static char out[MESSAGE], in[MESSAGE];
    int next = (contest_rank + 1) % contest_ranks;
    int before = (contest_rank + contest_ranks - 1) % contest_ranks;
    for (int64_t i = 0; i < j->work; i++)
        MPI_Sendrecv(out, MESSAGE, MPI_BYTE, next, 1, in, MESSAGE, MPI_BYTE, before, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void phase(void *user)
{
    const job *j = user;
    if (j->ring)
        send_around(j);
    else
        compute(j);
}

/* --- accesses --- */

static bool by_system(const job *j)
{
    return j->form >= SYSTEM_SPLIT;
}

static void access_alone(void *user)
{
    job *j = user;
    const weir_pattern *w = j->where, *m = j->memory;
    if (by_system(j) && j->write)
        check(MPI_File_write_all(j->system, j->data, (int)weir_pattern_bytes(m), MPI_BYTE,
                                 MPI_STATUS_IGNORE),
              "write_all");
    else if (by_system(j))
        check(MPI_File_read_all(j->system, j->data, (int)weir_pattern_bytes(m), MPI_BYTE,
                                MPI_STATUS_IGNORE),
              "read_all");
    else if (j->write)
        check(
            (j->plain ? weir_file_write : weir_file_write_all)(j->file, w, m, j->data, NULL, NULL),
            "write");
    else
        check((j->plain ? weir_file_read : weir_file_read_all)(j->file, w, m, j->data, NULL, NULL),
              "read");
    if (by_system(j))
        check(MPI_File_seek(j->system, 0, MPI_SEEK_SET), "seek");
}

/* What MPI-IO's split collectives do; there are none of one rank alone. */
static int begin(const job *j, weir_request **out)
{
    wr_run_pattern nothing;
    wr_access_request a =
        wr_request_of(j->write ? WR_WRITE : WR_READ, j->where, j->memory, j->data);
    wr_start how = {.together = true, .form = WR_SPLIT, .code = wr_file_complete(&a, &nothing)};
    return wr_file_start(j->file, &a, &how, out);
}

static void both_by_request(job *j)
{
    const weir_pattern *w = j->where, *m = j->memory;
    weir_request *request;
    if (j->form == SPLIT && !j->plain)
        check(begin(j, &request), "begin");
    else if (j->write)
        check((j->plain ? weir_file_write : weir_file_write_all)(j->file, w, m, j->data, NULL,
                                                                 &request),
              "start");
    else
        check((j->plain ? weir_file_read : weir_file_read_all)(j->file, w, m, j->data, NULL,
                                                               &request),
              "start");
    phase(j);
    check(weir_request_wait(&request, NULL), "wait");
}

static void both_system_split(job *j)
{
    int bytes = (int)weir_pattern_bytes(j->memory);
    if (j->write)
        check(MPI_File_write_all_begin(j->system, j->data, bytes, MPI_BYTE), "begin");
    else
        check(MPI_File_read_all_begin(j->system, j->data, bytes, MPI_BYTE), "begin");
    phase(j);
    if (j->write)
        check(MPI_File_write_all_end(j->system, j->data, MPI_STATUS_IGNORE), "end");
    else
        check(MPI_File_read_all_end(j->system, j->data, MPI_STATUS_IGNORE), "end");
    check(MPI_File_seek(j->system, 0, MPI_SEEK_SET), "seek");
}

static void both_system_nonblocking(job *j)
{
    int bytes = (int)weir_pattern_bytes(j->memory);
    MPI_Request request;
    if (j->write)
        check(MPI_File_iwrite_all(j->system, j->data, bytes, MPI_BYTE, &request), "start");
    else
        check(MPI_File_iread_all(j->system, j->data, bytes, MPI_BYTE, &request), "start");
    phase(j);
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
    check(MPI_File_seek(j->system, 0, MPI_SEEK_SET), "seek");
}

static void both(void *user)
{
    job *j = user;
    switch (j->form) {
    case SPLIT:
    case NONBLOCKING:
        both_by_request(j);
        break;
    case SYSTEM_SPLIT:
        both_system_split(j);
        break;
    case SYSTEM_NONBLOCKING:
        both_system_nonblocking(j);
        break;
    default:
        access_alone(j);
        phase(j);
    }
}

/* --- measuring --- */

static double time_of(void (*step)(void *user), job *j)
{
    return contest_time(&(contestant){.step = step}, j);
}

/* So much work that the phase takes its share of the access's time. */
static void calibrate(job *j)
{
    time_of(access_alone, j); /* a first one finds nothing ready */
    double access = time_of(access_alone, j), again = time_of(access_alone, j);
    double wanted = j->share * (access < again ? access : again), took = 0;
    for (j->work = 8; took < wanted / 4 && took < 0.2; j->work *= 2)
        took = time_of(phase, j);
    for (int i = 0; i < 4; i++) {
        took = time_of(phase, j);
        double work = (double)j->work * wanted / took;
        j->work = work < 1 ? 1 : (int64_t)work;
    }
}

static void measure(const char *part, const char *name, const char *how, job *j)
{
    calibrate(j);
    time_of(both, j);
    bool few = bench_quick() || !strcmp(part, "table");
    for (int i = 0; i < (few ? REPEAT_FEW : REPEAT); i++) {
        double alone = time_of(phase, j), access = time_of(access_alone, j);
        double together = time_of(both, j);
        if (contest_rank == 0)
            printf("%s\t%s\t%s\t%.9g\t%.9g\t%.9g\n", part, name, how, alone, access, together);
    }
    fflush(stdout);
}

/* Ranks as a grid as square as it can be; each has a block of the array of 4-byte integers. */
static void make_patterns(job *j)
{
    int rows = 1;
    while ((rows * 2) * (rows * 2) <= contest_ranks && contest_ranks % (rows * 2) == 0)
        rows *= 2;
    int64_t columns = contest_ranks / rows, height = SIDE / rows, width = SIDE / columns * 4;
    int64_t lo = contest_rank / columns * height * SIDE * 4 + contest_rank % columns * width;
    int64_t bytes = j->plain ? PLAIN : height * width;
    int code = j->plain ? weir_pattern_contiguous(contest_rank * (int64_t)PLAIN, PLAIN, &j->where)
                        : weir_pattern_strided(lo, height, width, (int64_t)SIDE * 4, &j->where);
    check(code ? code : weir_pattern_contiguous(0, bytes, &j->memory), "pattern");
    j->data = malloc((size_t)bytes);
    if (!j->data)
        contest_stop("no memory");
    memset(j->data, contest_rank + 1, (size_t)bytes);
}

static void open_system(job *j)
{
    int64_t lo, hi, width = 0;
    MPI_Datatype type;
    weir_pattern_bounds(j->where, &lo, &hi);
    int64_t height = (hi - lo) / ((int64_t)SIDE * 4) + 1;
    width = weir_pattern_bytes(j->where) / height;
    check(MPI_File_open(MPI_COMM_WORLD, j->path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                        &j->system),
          "open");
    MPI_Type_vector((int)height, (int)width, SIDE * 4, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    check(MPI_File_set_view(j->system, lo, MPI_BYTE, type, "native", MPI_INFO_NULL), "view");
    MPI_Type_free(&type);
}

static void run(const char *part, const char *name, const char *how, const char *hints, job j)
{
    char case_name[200];
    make_patterns(&j);
    snprintf(case_name, sizeof case_name, "%s, %s", name, j.write ? "write" : "read");
    if (by_system(&j)) {
        open_system(&j);
    } else {
        check(weir_file_open(j.own_comm ? j.comm : MPI_COMM_WORLD, j.path,
                             WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &j.file),
              "open");
    }
    if (!j.write) { /* so that there is something to read */
        j.write = true;
        access_alone(&j);
        j.write = false;
    }
    measure(part, case_name, how, &j);
    if (by_system(&j))
        check(MPI_File_close(&j.system), "close");
    else
        check(weir_file_close(j.file), "close");
    weir_pattern_free(j.where);
    weir_pattern_free(j.memory);
    free(j.data);
}

static const struct mode {
    const char *name, *hint;
    enum form form;
} modes[] = {{"none", "overlap=none", SPLIT},
             {"io", "overlap=io", SPLIT},
             {"all", "overlap=all", SPLIT},
             {"auto", "overlap=auto", SPLIT},
             {"nonblocking", "overlap=auto", NONBLOCKING}};
enum { MODES = sizeof modes / sizeof *modes };

/* The paper's experiments on a storage of 400 MB/s a rank. */
static void run_experiments(const char *path)
{
    static const char paced[] = "collective=always;fault=bandwidth:400";
    char hints[200];
    for (int i = 0; i < MODES; i++) {
        const struct mode *m = &modes[i];
        job j = {.path = path, .share = 1, .form = m->form};
        if (bench_quick() && strcmp(m->name, "io") && strcmp(m->name, "auto"))
            continue;
        snprintf(hints, sizeof hints, "%s;%s", paced, m->hint);
        for (int write = 1; write >= 0; write--) {
            j.write = write;
            j.plain = true;
            if (write)
                run("goal", "plain, computing", m->name, hints, j);
            j.plain = false;
            run("goal", "collective, computing", m->name, hints, j);
            j.ring = true;
            run("goal", "collective, messages", m->name, hints, j);
            j.ring = false;
        }
        j.write = true;
        snprintf(hints, sizeof hints, "%s;%s;overlap_memory=%lld", paced, m->hint,
                 (long long)SIDE * SIDE * 4 / contest_ranks / 4);
        run("little", "collective, computing, memory for a quarter", m->name, hints, j);
    }
}

/* Shares of computing on real storage. */
static void run_table(const char *path)
{
    static const struct {
        const char *name, *hint;
    } media[] = {{"paced", "fault=bandwidth:400"},
                 {"O_DIRECT", "direct=always"},
                 {"page cache", "direct=never"}};
    static const struct {
        const char *name;
        double share;
    } shares[] = {{"1/4", 0.25}, {"1", 1}, {"4", 4}};
    char name[200], hints[200];
    for (int medium = 0; medium < 3; medium++)
        for (int s = 0; s < 3; s++)
            for (int write = 1; write >= 0; write--)
                for (int i = 1; i < MODES; i++) {
                    job j = {.path = path,
                             .share = shares[s].share,
                             .form = modes[i].form,
                             .write = write};
                    snprintf(hints, sizeof hints, "collective=always;%s;%s", media[medium].hint,
                             modes[i].hint);
                    snprintf(name, sizeof name, "%s, computing:access %s", media[medium].name,
                             shares[s].name);
                    run("table", name, modes[i].name, hints, j);
                }
}

static void run_system(const char *path, bool nonblocking)
{
    static const enum form forms[] = {SYSTEM_SPLIT, SYSTEM_NONBLOCKING};
    for (int i = 0; i <= nonblocking; i++)
        for (int write = 1; write >= 0; write--)
            run("system", "computing:access 1", i ? "nonblocking" : "split", NULL,
                (job){.path = path, .share = 1, .form = forms[i], .write = write});
}

/* What the scheduling of the thread does where everything is in the background. */
static void run_priorities(const char *path)
{
    static const struct {
        const char *name, *nice, *policy;
    } list[] = {{"as the program", "0", "other"},
                {"nice 10", "10", "other"},
                {"nice -10", "-10", "other"},
                {"batch", "0", "batch"},
                {"fifo", "0", "fifo"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        setenv("WEIR_PROGRESS_NICE", list[i].nice, 1);
        setenv("WEIR_PROGRESS_POLICY", list[i].policy, 1);
        job j = {.path = path, .share = 1, .form = SPLIT, .write = true, .own_comm = true};
        MPI_Comm_dup(MPI_COMM_WORLD, &j.comm);
        run("priority", "all in the background, thread", list[i].name,
            "collective=always;fault=bandwidth:400;overlap=all", j);
        MPI_Comm_free(&j.comm);
    }
}

int main(int argc, char **argv)
{
    contest_init(argc, argv);
    if (argc < 2)
        return fprintf(stderr, "usage: bench_overlap FILE [--quick] [--system|--split]\n"),
               MPI_Finalize(), 2;
    const char *last = argv[argc - 1];
    run_system(argv[1], strcmp(last, "--split") != 0);
    if (strcmp(last, "--system") && strcmp(last, "--split")) { /* else only the system's MPI-IO */
        run_experiments(argv[1]);
        if (!bench_quick()) {
            run_table(argv[1]);
            run_priorities(argv[1]);
        }
    }
    if (contest_rank == 0)
        unlink(argv[1]);
    MPI_Finalize();
    return 0;
}
