/* Descriptions of striped files: read, written, obeyed when such a file is made or removed. */
#include "storage/stripes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "storage/paths.h"

static const char mark[] = "weir striped file ", version[] = "1", owner[] = "self ";

enum { HEAD = 200, LINE = WR_PATH + 8, LONGEST = HEAD + WR_STRIPES_DISKS * LINE };

/* Of a file's own name so much is in those of its parts, where people look for it; ENDING is what
 * follows there. */
enum { STEM = 100, ENDING = 48 };

enum { OWNER = sizeof owner + 16 + 1 }; /* the last line, with its end */

enum wr_file_kind wr_stripes_look(const char *path)
{
    struct stat status;
    char head[sizeof mark];
    int64_t got = 0, size;
    if (stat(path, &status))
        return errno == ENOENT ? WR_FILE_ABSENT : WR_FILE_PLAIN;
    if (!S_ISREG(status.st_mode) || status.st_size < (int64_t)sizeof mark ||
        status.st_size > LONGEST || wr_path_head(path, sizeof mark - 1, head, &got, &size))
        return WR_FILE_PLAIN;
    bool same = got == sizeof mark - 1 && !memcmp(head, mark, sizeof mark - 1);
    return same ? WR_FILE_STRIPED : WR_FILE_PLAIN;
}

static void name_ending(uint64_t id, int64_t i, char out[ENDING])
{
    snprintf(out, ENDING, ".weir-%016llx-%lld", (unsigned long long)id, (long long)i);
}

/* The rest of the next line if it begins with `word`; NULL otherwise. */
static char *take_line(char **at, const char *word)
{
    char *line = *at, *end = strchr(line, '\n');
    size_t length = strlen(word);
    if (!end || strncmp(line, word, length) != 0)
        return NULL;
    *end = 0;
    *at = end + 1;
    return line + length;
}

/* A whole line of digits. */
static bool take_number(char **at, const char *word, int base, uint64_t *out)
{
    const char *line = take_line(at, word);
    char *end;
    if (!line || !*line || strspn(line, "0123456789abcdef") != strlen(line))
        return false;
    errno = 0;
    *out = strtoull(line, &end, base);
    return !errno && !*end;
}

static bool take_parts(wr_stripes *x, char **at)
{
    char ending[ENDING], *path;
    while (x->count < WR_STRIPES_DISKS && (path = take_line(at, "part "))) {
        name_ending(x->id, x->count, ending);
        size_t length = strlen(path), own = strlen(ending);
        if (*path != '/' || length >= WR_PATH || length < own ||
            strcmp(path + length - own, ending) != 0)
            return false;
        x->part[x->count++] = path;
    }
    return x->count > 0;
}

/* Takes `text`, whatever it returns. */
static int parse(char *text, wr_stripes *out)
{
    uint64_t block = 0;
    const char *line;
    *out = (wr_stripes){.text = text};
    out->part = wr_alloc_array(WR_STRIPES_DISKS, sizeof *out->part);
    if (!out->part)
        return WEIR_ENOMEM;
    line = take_line(&text, mark);
    if (line && strcmp(line, version) != 0)
        return wr_fail(WEIR_EFORMAT, "striped files of version %.20s are not known", line);
    if (!line || !take_number(&text, "block ", 10, &block) ||
        !take_number(&text, "id ", 16, &out->id) || block < 1 || block > WR_STRIPE_MAX ||
        !take_parts(out, &text) || !take_line(&text, "end"))
        return wr_fail(WEIR_EFORMAT, "the description of a striped file is damaged");
    out->block = (int64_t)block;
    if (!take_number(&text, owner, 16, &out->self))
        out->self = 0;
    return 0;
}

void wr_stripes_release(wr_stripes *x)
{
    wr_free(x->part);
    wr_free(x->text);
    *x = (wr_stripes){0};
}

int wr_stripes_read(const char *path, wr_stripes *out)
{
    char *text;
    int64_t length;
    int code = wr_path_read(path, LONGEST, &text, &length);
    if (code)
        return code;
    code = parse(text, out);
    if (code) {
        wr_stripes_release(out);
        wr_error_note_file(path, -1);
    }
    return code;
}

/* The line of the part in `folder`, of which `length` bytes count. */
static int say_part(const char *folder, size_t length, const char *stem, char *out)
{
    char given[WR_TUNABLE_TEXT], whole[WR_PATH], path[WR_PATH];
    bool is_folder;
    *out = 0;
    memcpy(given, folder, length);
    given[length] = 0;
    if (!length)
        return wr_fail(WEIR_EINVAL, "disks=: a folder without a name");
    if (!realpath(given, whole))
        return wr_fail_system(errno, given, -1, "find disk");
    int code = wr_path_is_folder(whole, &is_folder);
    if (code || !is_folder)
        return code ? code : wr_fail_system(ENOTDIR, given, -1, "use as a disk");
    if (strchr(whole, '\n'))
        return wr_fail(WEIR_EINVAL, "disks=: a folder with a line break in its name");
    code = wr_path_join(whole, stem, path, sizeof path);
    if (!code)
        snprintf(out, LINE, "part %s\n", path);
    return code;
}

/* The lines of all parts, and the last one. */
static int say_parts(const char *path, const wr_tunables *t, uint64_t id, char *text)
{
    char stem[STEM + ENDING];
    const char *name = strrchr(path, '/'), *folder = t->disks;
    int code = 0;
    snprintf(stem, STEM, "%s", name ? name + 1 : path);
    for (char *c = stem; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    const size_t own = strlen(stem);
    for (int64_t i = 0; !code && folder; i++) {
        size_t length = strcspn(folder, ":");
        name_ending(id, i, stem + own);
        code = say_part(folder, length, stem, text);
        text += strlen(text);
        folder = folder[length] ? folder + length + 1 : NULL;
    }
    snprintf(text, sizeof "end\n", "end\n");
    return code;
}

/* The text of a new description, to be freed; NULL with an error raised. */
static char *describe(const char *path, const wr_tunables *t, uint64_t id)
{
    const int64_t disks = wr_tunables_disks(t);
    int code = 0;
    if (!disks || disks > WR_STRIPES_DISKS)
        code = wr_fail(WEIR_EINVAL, "storage=striped needs disks=FOLDER:FOLDER..., at most %d",
                       WR_STRIPES_DISKS);
    else if (t->striping_unit > WR_STRIPE_MAX)
        code = wr_fail(WEIR_EINVAL, "striping_unit=%lld: more than a striped file can have",
                       (long long)t->striping_unit);
    char *text = code ? NULL : wr_alloc(HEAD + disks * LINE);
    if (!text)
        return NULL;
    int length = snprintf(text, HEAD, "%s%s\nblock %lld\nid %016llx\n", mark, version,
                          (long long)wr_tunables_stripe(t), (unsigned long long)id);
    if (!say_parts(path, t, id, text + length))
        return text;
    wr_free(text);
    return NULL;
}

/* Whose it is can be said only when it is there: an empty file first. `text` has room for that. */
static int write_new(const char *made, char *text)
{
    const wr_folder *here = &wr_folder_here;
    const size_t length = strlen(text);
    uint64_t self;
    int code = wr_folder_put(here, made, &(wr_content){.exclusive = true});
    if (code)
        return code;
    code = wr_folder_identify(here, made, &self);
    if (!code) {
        const int more =
            snprintf(text + length, OWNER, "%s%016llx\n", owner, (unsigned long long)self);
        code = wr_path_write(made, text, (int64_t)length + more, false);
    }
    if (code)
        unlink(made);
    return code;
}

/* How parts are made; NULL: empty. */
typedef struct source {
    const wr_stripes *old;
    wr_stripes_part *make;
    void *user;
} source;

static int make_parts(const wr_stripes *x, const source *from, int64_t *made)
{
    int code = 0;
    while (!code && *made < x->count) {
        const char *part = x->part[*made];
        code = from ? from->make(from->user, from->old->part[*made], part)
                    : wr_path_fill(part, "", 0, 0);
        *made += !code;
    }
    return code;
}

/* The description first, so that what is left of a program that was killed can be found by it; then
 * the parts; then its name, if it is to get that here. All or nothing. */
static int make_files(const char *made, const char *name, char *text, const source *from)
{
    wr_stripes x = {0};
    int64_t parts = 0;
    const size_t bytes = strlen(text) + 1;
    char *copy = wr_alloc((int64_t)bytes);
    int code = copy ? parse(memcpy(copy, text, bytes), &x) : WEIR_ENOMEM;
    if (!code && (code = write_new(made, text)))
        wr_error_note_file(name ? name : made, -1);
    else if (!code) {
        code = make_parts(&x, from, &parts);
        if (!code && name)
            code = wr_path_rename(made, name, false);
        if (code) {
            const weir_error error = *weir_error_last();
            while (parts--)
                unlink(x.part[parts]);
            unlink(made);
            wr_error_raise(&error);
        }
    }
    wr_stripes_release(&x);
    return code;
}

static int invent(const char *path, uint64_t id, char out[WR_PATH])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int length = snprintf(out, WR_PATH, "%.*s%.*s.weir-%016llx", (int)(name - path), path, STEM,
                          name, (unsigned long long)id);
    return length < WR_PATH ? 0 : wr_fail_system(ENAMETOOLONG, path, -1, "create");
}

int wr_stripes_make(const char *path, const wr_tunables *t)
{
    char made[WR_PATH];
    uint64_t id;
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        return wr_fail_system(errno, path, -1, "create");
    char *text = describe(path, t, id);
    if (!text) {
        if (!*weir_error_last()->file)
            wr_error_note_file(path, -1);
        return weir_error_last()->code;
    }
    int code = invent(path, id, made);
    if (!code)
        code = make_files(made, path, text, NULL);
    wr_free(text);
    return code;
}

/* The folders of a striped file's parts, as the tunable has them. */
static int list_disks(const wr_stripes *x, char out[WR_TUNABLE_TEXT])
{
    size_t used = 0;
    for (int64_t i = 0; i < x->count; i++) {
        const size_t length = (size_t)(strrchr(x->part[i], '/') - x->part[i]);
        if (used + length + 2 >= WR_TUNABLE_TEXT || memchr(x->part[i], ':', length))
            return wr_fail(WEIR_EUNSUPPORTED, "disks must be named for a copy of this file");
        used += (size_t)snprintf(out + used, WR_TUNABLE_TEXT - used, "%s%.*s", i ? ":" : "",
                                 (int)length, x->part[i]);
    }
    return 0;
}

/* The description of a copy, to be freed; NULL with an error raised. */
static char *describe_copy(const wr_stripes *old, const char *to, const char *disks)
{
    wr_tunables t;
    uint64_t id;
    int code = 0;
    wr_tunables_init(&t);
    t.striping_unit = old->block;
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        code = wr_fail_system(errno, to, -1, "create");
    else if (disks && strlen(disks) >= sizeof t.disks)
        code = wr_fail(WEIR_ERANGE, "the names of disks are too long");
    else if (disks)
        snprintf(t.disks, sizeof t.disks, "%s", disks);
    else
        code = list_disks(old, t.disks);
    if (!code && wr_tunables_disks(&t) != old->count)
        code = wr_fail(WEIR_EINVAL, "a file striped over %lld disks is copied to as many",
                       (long long)old->count);
    return code ? NULL : describe(to, &t, id);
}

int wr_stripes_copy(const wr_stripes *old, const char *to, const char *made, const char *disks,
                    wr_stripes_part *make, void *user)
{
    char *text = describe_copy(old, to, disks);
    int code =
        text ? make_files(made, NULL, text, &(source){old, make, user}) : weir_error_last()->code;
    wr_free(text);
    return code;
}

bool wr_stripes_is_owner(const wr_folder *in, const char *name, const wr_stripes *x)
{
    wr_folder_entry file;
    uint64_t self;
    return !wr_folder_look(in, name, false, &file) && file.kind == WR_ENTRY_FILE &&
           file.links == 1 && !wr_folder_identify(in, name, &self) && self == x->self;
}

/* For writing, whatever its permissions, which stay as they are. */
static int open_to_write(const char *path)
{
    struct stat s;
    int fd = wr_open_once(AT_FDCWD, path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd >= 0 || errno != EACCES || lstat(path, &s) || !S_ISREG(s.st_mode) ||
        chmod(path, s.st_mode | S_IWUSR))
        return fd;
    fd = wr_open_once(AT_FDCWD, path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    const int error = errno;
    chmod(path, s.st_mode);
    errno = error;
    return fd;
}

int wr_stripes_adopt(const char *path)
{
    char *text, digits[OWNER];
    int64_t length;
    uint64_t self;
    int code = wr_path_read(path, LONGEST, &text, &length);
    if (code)
        return code;
    const char *end = strstr(text, "\nend\nself ");
    const off_t at = end ? end - text + (off_t)sizeof "\nend\nself " - 1 : 0;
    wr_free(text);
    code = wr_folder_identify(&wr_folder_here, path, &self);
    if (code || !at)
        return code;
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)self);
    const int fd = open_to_write(path);
    if (fd < 0 || pwrite(fd, digits, 16, at) != 16 || fsync(fd))
        code = wr_fail_system(errno, path, -1, "say whose the parts are");
    if (fd >= 0)
        close(fd);
    return code;
}

int wr_stripes_remove(const char *path)
{
    wr_stripes x;
    wr_folder_entry found;
    int code = wr_folder_look(&wr_folder_here, path, false, &found);
    if (!code && found.kind == WR_ENTRY_LINK) /* the file is somebody else's */
        return wr_path_remove(path);
    if (!code)
        code = wr_stripes_read(path, &x);
    if (code)
        return code;
    if (!wr_stripes_is_owner(&wr_folder_here, path, &x))
        x.count = 0;
    if (unlink(path)) {
        code = wr_fail_system(errno, path, -1, "remove");
        x.count = 0;
    }
    for (int64_t i = 0; i < x.count; i++)
        if (unlink(x.part[i]) && errno != ENOENT && errno != ENOTDIR && !code)
            code = wr_fail_system(errno, x.part[i], -1, "remove");
    wr_stripes_release(&x);
    return code;
}

int64_t wr_stripes_share(const wr_stripes *x, int64_t i, int64_t size)
{
    const int64_t row = x->count * x->block;
    return size / row * x->block + wr_max(0, wr_min(size % row - i * x->block, x->block));
}

int64_t wr_stripes_reach(const wr_stripes *x, int64_t i, int64_t bytes)
{
    int64_t last = bytes - 1, start;
    if (bytes <= 0)
        return 0;
    if (!wr_mul(last / x->block, x->count * x->block, &start) ||
        !wr_add(start, i * x->block + last % x->block + 1, &start))
        return INT64_MAX; /* no file that was dealt has such a part */
    return start;
}
