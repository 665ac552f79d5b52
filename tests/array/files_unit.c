/* Files of arrays through the interface in C: what is told of them, what a name says, and that a
 * copy or a move that runs out of memory, or is interrupted, leaves all as it was. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array.h"
#include "base/memory.h"
#include "check.h"
#include "storage/stripes.h"
#include "transport/local.h"
#include "weir/files.h"

enum { N = 8 };

static void make(wr_world *w, const char *path, const char *const *disk, int format)
{
    const int value = 7;
    weir_array *a;
    weir_array_info info = {.type = WEIR_I4, .dimensions = 1, .shape = {N}, .format = format};
    weir_array_options options = {.fill = &value, .disk = disk, .disks = disk ? 2 : 0};
    const int64_t tile[] = {2};
    info.members = info.distribution.grid[0] = strchr(path, '.') ? 0 : 2;
    info.tile = format ? tile : NULL;
    CHECK(!wr_array_create(w, path, &info, &options, "durable=disable", &a));
    int values[N] = {value, value + 1};
    CHECK(!weir_array_write(a, &(weir_selection){0}, NULL, values, NULL));
    CHECK(!weir_array_close(a));
}

static void check_array(wr_world *w, const char *path)
{
    int values[N];
    weir_array *a;
    CHECK(!wr_array_open(w, path, WEIR_READ, NULL, &a));
    CHECK(!weir_array_read(a, &(weir_selection){0}, NULL, values, NULL));
    CHECK_EQUAL(values[1], 8);
    CHECK(!weir_array_close(a));
}

/* Entries of all folders here. */
static int count_entries(const char *folder)
{
    int count = 0;
    DIR *entries = opendir(folder);
    CHECK(entries);
    for (const struct dirent *e; (e = readdir(entries));) {
        char path[600];
        struct stat s;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        count += 1 + (!lstat(path, &s) && S_ISDIR(s.st_mode) ? count_entries(path) : 0);
    }
    closedir(entries);
    return count;
}

/* --- telling --- */

static int count_part(void *user, const weir_part *part)
{
    struct stat s;
    CHECK(!fstatat(part->folder, part->name, &s, AT_SYMLINK_NOFOLLOW) && !lstat(part->path, &s));
    ((int *)user)[part->owner] += part->kind != WEIR_PART_END;
    return 0;
}

static int keep_info(void *user, const char *name, const weir_array_info *info)
{
    CHECK(*name && info);
    *(weir_array_info *)user = *info;
    return 0;
}

static void parts_and_list(void)
{
    static const struct {
        const char *name;
        int own, elsewhere;
    } cases[] = {{"a.npy", 1, 0}, {"set", 4, 0}, {"spread", 2, 2}, {"z.zarr", 7, 0}};
    for (int i = 0; i < 4; i++) {
        int count[5] = {0};
        weir_array_info info = {0};
        CHECK(!weir_array_parts(cases[i].name, count_part, count));
        CHECK_EQUAL(count[WEIR_PART_OWN], cases[i].own);
        CHECK_EQUAL(count[WEIR_PART_ELSEWHERE], cases[i].elsewhere);
        CHECK_EQUAL(count[WEIR_PART_FOREIGN], 0);
        CHECK(!weir_array_list(cases[i].name, keep_info, &info));
        CHECK(info.type == WEIR_I4 && info.shape[0] == N && info.bytes == 4 * N);
        CHECK_EQUAL(info.members, cases[i].name[0] == 's' ? 2 : 0);
    }
    CHECK_FAILS(weir_array_parts("disk-a", count_part, NULL), WEIR_EFORMAT, "no array");
    CHECK_FAILS(weir_array_parts("x.h5:/a", count_part, NULL), WEIR_EUNSUPPORTED, "part of a file");
    CHECK_FAILS(weir_array_list("none", keep_info, NULL), WEIR_ENOENT, "");
}

static void names(void)
{
    static const char *const left[] = {"a.partial-0123abcd",         "a.partial-x.partial-00000000",
                                       ".weir-0123456789abcdef",     "a.weir-0123456789abcdef",
                                       "a.pointers-0123456789abcde", "a.dra-01234567",
                                       ".weir-costs-12-3456",        ".weir-doctor-12-ab"},
                             *const kept[] = {"a.partial",
                                              "a.partial-0123abc",
                                              "a.partial-0123ABCD",
                                              "a.partial-0123abcd.npy",
                                              "a.weir-0123456789abcdef-0",
                                              "weir-costs-12-3456",
                                              "a.new-01234567",
                                              ""};
    for (int i = 0; i < 8; i++)
        CHECK(weir_leftover_kind(left[i]) && !weir_leftover_kind(kept[i]));
}

/* --- failing --- */

typedef int function(const char *from, const char *to, const weir_parts_options *options);

static int stop(void *user, int64_t done, int64_t all)
{
    (void)done, (void)all;
    return --*(int *)user < 0;
}

/* Without the memory for one thing after another, until it works. */
static void without_memory(function *f, const char *from, const char *to,
                           const weir_parts_options *options)
{
    int code = WEIR_ENOMEM;
    for (int64_t k = 0; code; k++) {
        const int before = count_entries(".");
        wr_alloc_fail_after(k);
        code = f(from, to, options);
        wr_alloc_fail_after(-1);
        CHECK(!code || code == WEIR_ENOMEM);
        CHECK(!code || count_entries(".") == before);
        CHECK(k < 1000);
    }
}

static void failures(wr_world *w)
{
    static const char *const arrays[] = {"a.npy", "set", "spread", "z.zarr"}, *const disks[] = {
                                                                                  "../disk-b"};
    for (int i = 0; i < 4; i++) {
        int steps = 0;
        const int before = count_entries(".");
        weir_parts_options o = {.progress = stop, .user = &steps, .disks = 1, .disk = disks};
        CHECK_FAILS(weir_parts_copy(arrays[i], "copy", &o), WEIR_EINTERRUPTED, "");
        CHECK_EQUAL(count_entries("."), before);
        o = (weir_parts_options){.disks = 1, .disk = disks};
        without_memory(weir_parts_copy, arrays[i], "copy", &o);
        check_array(w, "copy");
        CHECK_FAILS(weir_parts_copy(arrays[i], "copy", NULL), WEIR_EEXIST, "overwrite");
        o.overwrite = 1;
        without_memory(weir_parts_move, "copy", "moved", NULL);
        check_array(w, "moved");
        CHECK(!setenv("WEIR_DISKS", "disk-a:disk-b", 1));
        CHECK(!weir_parts_copy(arrays[i], "moved", &o));
        CHECK(!wr_array_delete(w, "moved"));
        CHECK(!unsetenv("WEIR_DISKS"));
        CHECK_EQUAL(count_entries("."), before);
        check_array(w, arrays[i]);
    }
    weir_parts_options o = {.reserved = {1}};
    CHECK_FAILS(weir_parts_copy("a.npy", "copy", &o), WEIR_EINVAL, "reserve");
}

/* Two parts and a description; those of a copy of it are not its own. */
static void check_striped(const char *path, int own)
{
    int count[5] = {0};
    CHECK(!weir_array_parts(path, count_part, count));
    CHECK_EQUAL(count[WEIR_PART_OWN], own);
    CHECK_EQUAL(count[WEIR_PART_CLAIMED], 3 - own);
}

static void striped(void)
{
    static const char *const disks[] = {"disk-b", "disk-a"}, *const far[] = {"e0", "e1"};
    const weir_parts_options moving = {.disks = 2, .disk = disks}, into = {.disks = 2, .disk = far};
    wr_tunables t;
    int steps = 0;
    const int before = count_entries(".");
    wr_tunables_init(&t);
    snprintf(t.disks, sizeof t.disks, "disk-a:disk-b");
    CHECK(!wr_stripes_make("striped", &t));
    check_striped("striped", 3);
    weir_parts_options o = {.progress = stop, .user = &steps};
    CHECK_FAILS(weir_parts_copy("striped", "copy", &o), WEIR_EINTERRUPTED, "");
    CHECK_EQUAL(count_entries("."), before + 3);
    without_memory(weir_parts_copy, "striped", "copy", NULL);
    check_striped("copy", 3);
    CHECK_FAILS(weir_parts_copy("striped", "copy", NULL), WEIR_EEXIST, "overwrite");
    o = (weir_parts_options){.overwrite = 1};
    CHECK_FAILS(weir_parts_copy("striped", "copy", &o), WEIR_EEXIST, "striped file");
    without_memory(weir_parts_move, "copy", "moved", NULL);
    CHECK(!weir_parts_move("moved", "again", &moving) && !rename("again", "moved"));
    check_striped("moved", 3);
    CHECK_EQUAL(count_entries("."), before + 6);
    CHECK(!system("mkdir -p new/e0 new/e1 e0 e1")); /* disks count from the new array's folder */
    CHECK(!weir_parts_copy("moved", "new/copy", &into));
    check_striped("new/copy", 3);
    CHECK(!system("test $(ls new/e0 new/e1 | grep -c copy) = 2 && rm -r new e0 e1"));
    CHECK(!system("cp moved twin"));
    check_striped("twin", 1);
    CHECK(!wr_stripes_remove("twin") && !wr_stripes_remove("moved"));
    CHECK_EQUAL(count_entries("."), before + 3);
    CHECK(!wr_stripes_remove("striped"));
    CHECK_EQUAL(count_entries("."), before);
}

static void body(wr_transport *t, void *user)
{
    static const char *const disks[] = {"../disk-a", "../disk-b"};
    wr_world *w;
    CHECK(!wr_world_open(t, user, &w));
    make(w, "a.npy", NULL, 0);
    make(w, "set", NULL, 0);
    make(w, "spread", disks, 0);
    make(w, "z.zarr", NULL, WEIR_ZARR);
    parts_and_list();
    names();
    failures(w);
    striped();
    wr_world_release(w);
}

int main(void)
{
    wr_tunables tunables;
    char home[] = "files-XXXXXX", command[100];
    CHECK(mkdtemp(home) && !chdir(home));
    check_within(60);
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(1, &tunables, body, &tunables));
    CHECK(!chdir(".."));
    snprintf(command, sizeof command, "rm -r '%s'", home);
    return system(command);
}
