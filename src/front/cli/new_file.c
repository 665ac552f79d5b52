/* Written under another name, synced, then renamed, as arrays are. */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "failure.h"
#include "interrupt.h"
#include "text_file.h"

typedef struct new_file {
    FILE *out;
    const char *path;    /* borrowed */
    char made[PATH_MAX]; /* "": it is written as it is */
    mode_t mode;         /* at most, when it is whole: until then it can be written */
    bool replaces;
} new_file;

static const char exists[] = "exists, and overwrite was not given";

/* Standard output may well be a file, which has another name. */
static bool is_stream(const char *path)
{
    struct stat s;
    return !strcmp(path, "/dev/stdout") || !strncmp(path, "/dev/fd/", 8) ||
           (!stat(path, &s) && (S_ISCHR(s.st_mode) || S_ISFIFO(s.st_mode)));
}

bool cli_new_file_is_output(const char *path)
{
    return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

const char *cli_new_file_check(const char *path, const char *kind)
{
    static char problem[80];
    int used = snprintf(problem, sizeof problem, "must be a name in ");
    if (cli_new_file_is_output(path) || is_stream(path))
        return NULL;
    for (const char *at = kind; *at; at += *at == '|') {
        char ending[8];
        snprintf(ending, sizeof ending, "%.*s", (int)strcspn(at, "|"), at);
        if (cli_name_ends(path, ending))
            return NULL;
        used += snprintf(problem + used, sizeof problem - (size_t)used, "%s%s",
                         at == kind ? "" : " or ", ending);
        at += strlen(ending);
    }
    return problem;
}

/* Whether what is there may be replaced. */
static int check(const char *path, const char *replaces, const struct stat *there)
{
    if (!S_ISREG(there->st_mode))
        return cli_fail(WEIR_EEXIST, path, 0, "is there, is no file, and is left alone");
    if (!replaces)
        return cli_fail(WEIR_EEXIST, path, 0, "%s", exists);
    if (there->st_size && !cli_file_begins(path, replaces))
        return cli_fail(WEIR_EEXIST, path, 0, "is there, is something else, and is left alone");
    return 0;
}

static int create(new_file *f, const char *path, const char *replaces)
{
    struct stat there;
    unsigned number;
    *f = (new_file){.path = path, .mode = 0666, .replaces = replaces != NULL};
    if (cli_new_file_is_output(path)) {
        f->out = stdout;
        return 0;
    }
    if (replaces && is_stream(path)) {
        f->out = fopen(path, "we");
        return f->out ? 0 : cli_fail_errno(path, "cannot be opened");
    }
    if (!stat(path, &there)) {
        int code = check(path, replaces, &there);
        if (code)
            return code;
        f->mode &= there.st_mode; /* who may not read the old one must not read the new one */
    }
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return cli_fail_errno(path, "cannot be made");
    const int length = snprintf(f->made, sizeof f->made, "%s.partial-%08x", path, number);
    if (length < 0 || (size_t)length >= sizeof f->made)
        return cli_fail(WEIR_EINVAL, path, 0, "the name is too long");
    const int descriptor = open(f->made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, f->mode | 0600);
    f->out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    return f->out ? 0 : cli_fail_errno(path, "cannot be made");
}

/* The name itself is to outlast a power failure, too. */
static int sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) + (slash == path) : 1;
    snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int code = descriptor < 0 ? -1 : fsync(descriptor);
    if (descriptor >= 0)
        close(descriptor);
    return code;
}

/* Without replacing anything, where the file system can do that. */
static int give_name(const new_file *f)
{
    if (!f->replaces) {
        if (!renameat2(AT_FDCWD, f->made, AT_FDCWD, f->path, RENAME_NOREPLACE))
            return 0;
        if (errno == EEXIST)
            return cli_fail(WEIR_EEXIST, f->path, 0, "%s", exists);
        if (errno != EINVAL)
            return cli_fail_errno(f->path, "cannot be made");
    }
    return rename(f->made, f->path) ? cli_fail_errno(f->path, "cannot be made") : 0;
}

static int finish(new_file *f, bool whole)
{
    const bool named = *f->made;
    const int descriptor = fileno(f->out);
    struct stat s;
    int code = 0;
    if (whole && named &&
        (fstat(descriptor, &s) || fchmod(descriptor, s.st_mode & f->mode) || fsync(descriptor)))
        code = cli_fail_errno(f->path, "cannot be written");
    if (f->out != stdout) /* that is flushed at the end */
        fclose(f->out);
    if (!named)
        return code;
    if (whole && !code)
        code = give_name(f);
    if (!whole || code)
        unlink(f->made);
    else if (sync_folder(f->path))
        code = cli_fail_errno(f->path, "cannot be synced");
    return code;
}

int cli_new_file_write(const char *command, const char *path, const char *replaces,
                       cli_file_fill *fill, void *user)
{
    new_file f = {0};
    signal(SIGXFSZ, SIG_IGN); /* a file that becomes too large is an error */
    cli_interrupt_hold(command);
    int status = cli_settle(command, cli_rank() == 0 ? create(&f, path, replaces) : 0);
    cli_interrupt_guard(status ? NULL : f.made);
    if (status)
        return status;
    int code = fill(user, f.out, f.made);
    if (code && f.out == stdout && ferror(stdout))
        code = 0; /* which is told when that is flushed */
    if (!code && f.out && f.out != stdout && (fflush(f.out) || ferror(f.out)))
        code = cli_fail_errno(path, "cannot be written"); /* while errno is that of the write */
    status = cli_settle(command, code);
    cli_interrupt_hold(command);
    code = cli_rank() == 0 ? finish(&f, !status) : 0;
    if (!status)
        status = cli_settle(command, code);
    cli_interrupt_release();
    return status;
}
