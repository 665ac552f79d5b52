/* weir ls: the arrays of a folder, or of a file that holds several. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "array_files.h"
#include "escape.h"
#include "failure.h"
#include "text_file.h"

typedef struct options {
    int all, details, json;
} options;

static const cli_option table[] = {
    {"--all", 'a', NULL, offsetof(options, all), NULL,
     "also what is no array, is hidden, or was not finished", NULL},
    {"--long", 'l', NULL, offsetof(options, details), NULL,
     "also permissions, owner, time of the last change, and number of files", NULL},
    CLI_OPTION_JSON(offsetof(options, json)),
    {0}};

/* Lines are aligned within so many, so that the first come at once. */
enum { BATCH = 256, SHAPE = 200, REASON = WEIR_ERROR_TEXT };

typedef struct row {
    char *name;
    const char *format, *type;
    char shape[SHAPE], size[CLI_SIZE], details[160];
    char reason[REASON]; /* why nothing is known of it */
    int64_t bytes;
} row;

typedef struct list {
    const options *o;
    const char *command;
    row *rows; /* BATCH of them */
    int count, status;
    int64_t printed;
} list;

/* --- printing --- */

static void print_json(const list *l, const row *r)
{
    printf("%s{\"name\": ", l->printed ? ", " : "");
    escape_json(stdout, r->name);
    if (*r->reason) {
        printf(", \"problem\": ");
        escape_json(stdout, r->reason);
    } else {
        printf(", \"format\": \"%s\", \"dtype\": \"%s\", \"shape\": [%s], \"bytes\": %lld",
               r->format, r->type, r->shape, (long long)r->bytes);
    }
    printf("%s}", r->details);
}

static int longest(const list *l, size_t at)
{
    int most = 0;
    for (int i = 0; i < l->count; i++) {
        const int length = (int)strlen((const char *)&l->rows[i] + at);
        most = length > most ? length : most;
    }
    return most;
}

static void print_rows(list *l)
{
    const int shape = longest(l, offsetof(row, shape)),
              details = longest(l, offsetof(row, details));
    for (int i = 0; i < l->count; i++) {
        row *r = &l->rows[i];
        if (l->o->json) {
            print_json(l, r);
        } else {
            printf("%-7s %-4s  %-*s  %10s  ", r->format, r->type, shape, r->shape, r->size);
            if (details)
                printf("%-*s  ", details, r->details);
            escape_line(stdout, r->name);
            printf(*r->reason ? "  (%s)\n" : "\n", r->reason);
        }
        l->printed++;
        free(r->name);
    }
    l->count = 0;
}

/* --- details --- */

static int count_file(void *user, const weir_part *part)
{
    *(int64_t *)user += part->owner != WEIR_PART_FOREIGN && part->kind == WEIR_PART_FILE;
    return 0;
}

/* Of "x.h5:/data" the file, of raw:x.bin:f8:3 too. To be freed. */
static char *file_of(const char *name)
{
    struct stat s;
    if (!stat(name, &s))
        return strdup(name);
    if (!strncmp(name, "raw:", 4)) {
        const char *end = name + strlen(name);
        for (const char *at = name + 4; (at = strchr(at, ':')); at++) {
            char *file = strndup(name + 4, (size_t)(at - name) - 4);
            if (!file || !stat(file, &s))
                return file;
            free(file);
        }
        return strdup(end);
    }
    const char *colon = strstr(name, ":/");
    return strndup(name, colon ? (size_t)(colon - name) : strlen(name));
}

static void print_mode(mode_t mode, char out[11])
{
    static const char letters[] = "rwxrwxrwx";
    out[0] = S_ISDIR(mode) ? 'd' : '-';
    for (int i = 0; i < 9; i++)
        out[1 + i] = mode & 0400 >> i ? letters[i] : '-';
    out[10] = 0;
}

static void fill_details(const options *o, row *r)
{
    char *file = file_of(r->name), mode[11], when[24] = "?", number[16];
    struct stat s;
    struct tm parts;
    int64_t files = 0;
    if (file && !stat(file, &s)) {
        const struct passwd *user = getpwuid(s.st_uid);
        snprintf(number, sizeof number, "%u", (unsigned)s.st_uid);
        print_mode(s.st_mode, mode);
        weir_array_parts(file, count_file, &files);
        if (localtime_r(&s.st_mtim.tv_sec, &parts))
            strftime(when, sizeof when, o->json ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%d %H:%M", &parts);
        snprintf(r->details, sizeof r->details,
                 o->json ? ", \"mode\": \"%s\", \"owner\": \"%.20s\", \"time\": \"%s\", "
                           "\"files\": %lld"
                         : "%s %.20s %s %lld",
                 mode, user ? user->pw_name : number, when, (long long)(files ? files : 1));
    }
    free(file);
}

/* --- collecting --- */

static row *add(list *l, const char *name)
{
    if (l->count == BATCH)
        print_rows(l);
    row *r = &l->rows[l->count];
    *r = (row){.name = strdup(name), .format = "-", .type = "-", .shape = "-", .size = "-"};
    if (!r->name)
        return NULL;
    l->count++;
    return r;
}

/* Something that is called an array, or is asked for, but cannot be told. */
static int add_problem(list *l, const char *name, const char *reason)
{
    row *r = add(l, name);
    if (!r)
        return -1;
    snprintf(r->reason, sizeof r->reason, "%s", reason);
    if (l->o->details)
        fill_details(l->o, r);
    return 0;
}

static int tell(void *user, const char *name, const weir_array_info *info)
{
    list *l = user;
    if (!info)
        return add_problem(l, name, weir_error_last()->text);
    row *r = add(l, name);
    if (!r)
        return -1;
    r->format = cli_format_name(info->format);
    r->type = weir_type_name(info->type);
    r->bytes = info->bytes;
    size_t used = 0;
    for (int d = 0; d < info->dimensions && used < SHAPE; d++)
        used += (size_t)snprintf(r->shape + used, SHAPE - used, d ? ",%lld" : "%lld",
                                 (long long)info->shape[d]);
    if (!info->dimensions)
        snprintf(r->shape, SHAPE, "%s", l->o->json ? "" : "()");
    cli_size_text(info->bytes, false, r->size);
    if (l->o->details)
        fill_details(l->o, r);
    return 0;
}

static void add_other(list *l, const char *path)
{
    struct stat s;
    row *r = lstat(path, &s) ? NULL : add(l, path);
    if (!r)
        return;
    r->format = S_ISDIR(s.st_mode) ? "folder" : S_ISLNK(s.st_mode) ? "link" : "-";
    if (S_ISREG(s.st_mode))
        cli_size_text((int64_t)s.st_size, false, r->size);
    r->bytes = (int64_t)s.st_size;
    r->shape[0] = 0;
    if (l->o->details)
        fill_details(l->o, r);
}

/* --- striped files, of which nothing says what their bytes are --- */

static int add_size(void *user, const weir_part *part)
{
    struct stat s;
    if (!fstatat(part->folder, part->name, &s, AT_SYMLINK_NOFOLLOW))
        *(int64_t *)user += s.st_size;
    return 0;
}

/* 1 if it is one. */
static int add_striped(list *l, const char *path)
{
    struct stat s;
    row *r = stat(path, &s) || !S_ISREG(s.st_mode) || !cli_file_begins(path, "weir striped file ")
                 ? NULL
                 : add(l, path);
    if (!r)
        return 0;
    weir_array_parts(path, add_size, &r->bytes);
    r->bytes -= s.st_size; /* of the label */
    r->format = "striped";
    r->shape[0] = 0;
    cli_size_text(r->bytes, false, r->size);
    if (l->o->details)
        fill_details(l->o, r);
    return 1;
}

/* A folder that says it is an array. */
static bool is_described(const char *path)
{
    static const char *const names[] = {"array.json", "zarr.json", ".zarray"};
    struct stat s;
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) {
        char *name = cli_join(path, names[i]);
        found = name && !stat(name, &s) && S_ISREG(s.st_mode);
        free(name);
    }
    return found;
}

/* An entry of a folder. */
static void list_entry(list *l, const char *path)
{
    const int code = weir_array_list(path, tell, l);
    if (!code || code == WEIR_ENOENT || (code == WEIR_EFORMAT && add_striped(l, path)))
        return;
    char reason[REASON];
    snprintf(reason, sizeof reason, "%s", weir_error_last()->text);
    if (code != WEIR_EFORMAT || cli_is_array(path) || is_described(path))
        add_problem(l, path, reason);
    else if (l->o->all)
        add_other(l, path);
}

static void list_folder(list *l, const char *folder)
{
    cli_names names;
    if (cli_names_read(folder, &names)) {
        cli_tell("weir %s: %s: %s", l->command, folder, strerror(errno));
        l->status = CLI_FAILED;
        return;
    }
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.name[i];
        char *path = cli_join(folder, name);
        if (path && (l->o->all || (*name != '.' && !weir_leftover_kind(name))))
            list_entry(l, path);
        free(path);
    }
    cli_names_free(&names);
}

static void list_one(list *l, const char *name)
{
    struct stat s;
    const int code = weir_array_list(name, tell, l);
    if (!code || (code == WEIR_EFORMAT && add_striped(l, name)))
        return;
    if (code == WEIR_EFORMAT && !stat(name, &s) && S_ISDIR(s.st_mode) && !cli_is_array(name)) {
        list_folder(l, name);
        return;
    }
    const int status = cli_report(l->command);
    l->status = l->status ? l->status : status;
}

static void list_all(list *l, int arguments, char **argv)
{
    if (!arguments)
        list_one(l, ".");
    for (int i = 1; i <= arguments; i++)
        list_one(l, argv[i]);
    print_rows(l);
}

static int run(int argc, char **argv)
{
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem)
        return cli_usage(argv[0], problem);
    list l = {.o = &o, .command = argv[0]};
    if (cli_rank() == 0) {
        l.rows = malloc(BATCH * sizeof *l.rows);
        l.status = l.rows ? 0 : CLI_FAILED;
        printf("%s", o.json ? "{\"arrays\": [" : "");
        if (l.rows)
            list_all(&l, arguments, argv);
        printf("%s", o.json ? "]}\n" : "");
        free(l.rows);
    }
    return l.status;
}

const cli_command cli_ls = {
    .name = "ls",
    .group = CLI_LOOK,
    .arguments = "[FOLDER|ARRAY...]",
    .help = "lists arrays, whatever number of files each has",
    .about =
        "A line has format, element type, shape, bytes of the elements, and the name by which the "
        "array can be opened. Datasets of HDF5 files, variables of NetCDF files and arrays of Zarr "
        "groups are listed one by one; of a striped file only its bytes are known. Only headers "
        "and descriptions are read; --long also counts "
        "files.",
    .options = table,
    .example = {"weir ls", "weir ls --long x.h5 set"},
    .run = run};
