/* weir chmod: who may read and write arrays. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array_files.h"
#include "failure.h"
#include "file_mode.h"
#include "interrupt.h"

enum { DEEPEST = 128 /* folders in each other, of which 64 are groups */, LONGEST = 1024 };

/* What is open to its owner until the end. */
typedef struct opened {
    char path[LONGEST];
    struct stat before;
} opened;

typedef struct change {
    const char *command, *array;
    const cli_mode *mode;
    mode_t before[DEEPEST]; /* of the folders gone into */
    int depth;
    int64_t claimed;
    int away;   /* disks */
    int failed; /* lines that were printed */
    int count;
    opened opened[DEEPEST];
} change;

/* Or NULL. */
static opened *find_opened(change *c, const struct stat *now)
{
    for (int i = 0; i < c->count; i++)
        if (c->opened[i].before.st_dev == now->st_dev && c->opened[i].before.st_ino == now->st_ino)
            return &c->opened[i];
    return NULL;
}

static mode_t mode_before(change *c, const struct stat *now)
{
    const opened *o = find_opened(c, now);
    return o ? o->before.st_mode : now->st_mode;
}

/* What it was no longer counts. */
static void forget_opened(change *c, const struct stat *now)
{
    opened *o = find_opened(c, now);
    if (o)
        *o = c->opened[--c->count];
}

/* Past a link that somebody puts there. 0 or an errno. */
static int set_mode(int folder, const char *name, mode_t wanted)
{
    char path[40];
    const int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int error = chmod(path, wanted) ? errno : 0;
    if (error == ENOENT) /* no /proc */
        error = fchmodat(folder, name, wanted, 0) ? errno : 0;
    close(fd);
    return error;
}

/* Notes what it was before it is opened. */
static bool note_opened(change *c, const char *path, const struct stat *before)
{
    opened *o = &c->opened[c->count];
    if (c->count == DEEPEST || snprintf(o->path, LONGEST, "%s", path) >= LONGEST)
        return false;
    o->before = *before;
    c->count++;
    return true;
}

/* A folder is open to its owner while it is gone through, and then as is wanted of what it was. */
static int enter(change *c, const weir_part *part, const struct stat *now)
{
    if (c->depth == DEEPEST)
        return ELOOP;
    c->before[c->depth++] = mode_before(c, now);
    const mode_t needed = S_IRUSR | S_IXUSR;
    if ((now->st_mode & needed) == needed)
        return 0;
    const int error = set_mode(part->folder, part->name, now->st_mode | needed);
    if (!error && !find_opened(c, now))
        note_opened(c, part->path, now);
    return error;
}

static int leave(change *c, const weir_part *part)
{
    struct stat s;
    const mode_t mode = c->before[--c->depth];
    const int error = set_mode(part->folder, part->name, cli_mode_apply(c->mode, mode, true));
    if (!error && !fstatat(part->folder, part->name, &s, AT_SYMLINK_NOFOLLOW))
        forget_opened(c, &s);
    return error;
}

static int set_file(change *c, const weir_part *part, const struct stat *now)
{
    const mode_t wanted = cli_mode_apply(c->mode, mode_before(c, now), false);
    const int error = set_mode(part->folder, part->name, wanted);
    if (!error)
        forget_opened(c, now);
    return error;
}

static int apply(void *user, const weir_part *part)
{
    change *c = user;
    struct stat s;
    if (part->kind == WEIR_PART_AWAY && !c->away++)
        cli_tell("weir %s: %s: on %s: %s: what is there is left", c->command, c->array, part->path,
                 strerror(weir_error_last()->errnum));
    if (part->owner == WEIR_PART_CLAIMED)
        c->claimed++;
    if (part->owner == WEIR_PART_FOREIGN || part->owner == WEIR_PART_CLAIMED ||
        part->kind == WEIR_PART_OTHER)
        return 0;
    int error = 0;
    if (part->kind == WEIR_PART_END)
        error = leave(c, part);
    else if (fstatat(part->folder, part->name, &s, AT_SYMLINK_NOFOLLOW))
        error = errno;
    else if (part->kind == WEIR_PART_FOLDER)
        error = enter(c, part, &s);
    else
        error = set_file(c, part, &s);
    if (error && error != ENOENT) {
        cli_tell("weir %s: %s: %s", c->command, part->path, strerror(error));
        c->failed++;
    }
    return c->failed;
}

/* Whether its owner can read it now, who could not before. */
static bool open_up(change *c, const char *path, const struct stat *now)
{
    const mode_t mode = now->st_mode & 07777, needed = S_ISDIR(now->st_mode) ? S_IRWXU : S_IRUSR;
    if ((mode & needed) == needed || chmod(path, mode | needed))
        return false;
    if (note_opened(c, path, now))
        return true;
    chmod(path, mode);
    return false;
}

/* The file, or the folder of the array that keeps one from looking at it. */
static bool open_way(change *c, const char *file)
{
    char path[LONGEST];
    struct stat s;
    if (!*file || snprintf(path, sizeof path, "%s", file) >= LONGEST)
        return false;
    while (stat(path, &s)) {
        char *slash = strrchr(path, '/');
        if (errno != EACCES || !slash || (size_t)(slash - path) < strlen(c->array))
            return false;
        *slash = 0;
    }
    return open_up(c, path, &s);
}

static void close_again(const change *c)
{
    for (int i = c->count - 1; i >= 0; i--)
        chmod(c->opened[i].path, c->opened[i].before.st_mode & 07777);
}

/* To know its files an array must be read: as far as its owner may not, that is opened up first. */
static int change_parts(change *c)
{
    int code;
    do {
        c->claimed = c->away = c->failed = c->depth = 0;
        code = weir_array_parts(c->array, apply, c);
    } while (code == WEIR_EACCESS &&
             (open_way(c, weir_error_last()->file) || open_way(c, c->array)));
    return code;
}

static int change_one(const char *command, const cli_mode *mode, const char *array)
{
    static change c; /* large */
    c = (change){.command = command, .array = array, .mode = mode};
    cli_interrupt_hold(command);
    const int code = change_parts(&c);
    close_again(&c);
    cli_interrupt_release();
    if (code < 0)
        return cli_report_files(command, array, "name the file");
    if (c.claimed)
        cli_tell("weir %s: %s: left %lld local arrays on other disks that may be another's",
                 command, array, (long long)c.claimed);
    return c.failed || c.away ? CLI_FAILED : 0;
}

typedef struct options {
    int whole;
} options;

static const cli_option table[] = {CLI_OPTION_WHOLE('R', offsetof(options, whole)), {0}};

static int run(int argc, char **argv)
{
    int arguments, status = 0;
    options o = {0};
    cli_mode mode;
    const mode_t mask = umask(0);
    umask(mask);
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (!problem && arguments < 2)
        problem = "takes permissions, and arrays";
    if (!problem)
        problem = cli_mode_parse(argv[1], mask, &mode);
    if (problem)
        return cli_usage(argv[0], problem);
    for (int i = 2; i <= arguments && cli_rank() == 0; i++) {
        const int one = change_one(argv[0], &mode, argv[i]);
        status = status ? status : one;
    }
    return status;
}

const cli_command cli_chmod = {
    .name = "chmod",
    .group = CLI_FILES,
    .arguments = "MODE ARRAY...",
    .help = "says who may read and write arrays: all their files and folders",
    .about =
        "MODE is 640, or as u+w, go-rwx, a=rX. Who may read a folder of an array may also go "
        "through it. What is in an array's folder and not its own stays as it is, links are not "
        "followed. Rank 0 does the work.",
    .options = table,
    .example = {"weir chmod 640 a.npy set", "weir chmod go-rwx x.zarr"},
    .run = run};
