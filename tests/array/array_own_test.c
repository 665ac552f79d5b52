/* What replacing and deleting an array leaves alone: everything that is not provably the array's
 * own, whatever a description says and wherever links lead. What a replaced array's owner set stays
 * set; where the program has gone meanwhile does not matter. */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array/array.h"
#include "check.h"
#include "transport/local.h"

enum { N = 4, MEMBERS = 2, LONGEST = 255 };

static const weir_selection whole;
static const char *const outside[] = {"../disk-a", "../disk-b"}, *const inside[] = {"d0", "d1"};

static void shell(const char *command)
{
    char strict[400];
    snprintf(strict, sizeof strict, "set -e; %s", command);
    if (system(strict) != 0) {
        fprintf(stderr, "failed: %s\n", command);
        abort();
    }
}

static int create(wr_world *w, const char *path, const char *const *disk, int value,
                  weir_array **out)
{
    weir_array_info info = {.type = WEIR_I4, .dimensions = 1, .shape = {N}};
    weir_array_options options = {.overwrite = 1, .fill = &value};
    if (!strstr(path, "npy")) {
        info.members = info.distribution.grid[0] = MEMBERS;
        options.disks = disk ? MEMBERS : 0;
        options.disk = disk;
    }
    return wr_array_create(w, path, &info, &options, "durable=disable", out);
}

static int make(wr_world *w, const char *path, const char *const *disk, int value)
{
    weir_array *a;
    int code = create(w, path, disk, value, &a);
    return code ? code : weir_array_close(a);
}

static void check_value(wr_world *w, const char *path, int value)
{
    int memory[N];
    weir_array *a;
    CHECK(!wr_array_open(w, path, WEIR_READ, NULL, &a));
    CHECK(!weir_array_read(a, &whole, NULL, memory, NULL));
    for (int i = 0; i < N; i++)
        CHECK_EQUAL(memory[i], value);
    CHECK(!weir_array_close(a));
}

/* A description that names the files of somebody else, by the one way or the other. */
static void plant(const char *folder, const char *disk, const char *name)
{
    char path[100];
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/array.json", folder);
    FILE *f = fopen(path, "w");
    CHECK(f && fprintf(f,
                       "{\"weir\": \"local-array set\", \"version\": 1, \"type\": \"i4\", "
                       "\"order\": \"C\", \"shape\": [4], \"grid\": [2], \"name\": \"%s\", "
                       "\"disks\": [\"%s\"], \"map\": [0, 0]}\n",
                       name, disk) > 0);
    CHECK(!fclose(f));
}

static void other_peoples_files(wr_world *w)
{
    char here[300], path[320];
    CHECK(getcwd(here, sizeof here) && !mkdir("victim", 0777));
    snprintf(path, sizeof path, "%s/victim", here);
    const char *const ways[] = {path, "../victim", "./../victim", "d0/../../victim", "link"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int deletes = 0; deletes < 2; deletes++) {
            const char *const named[] = {path, "d1"};
            shell("touch victim/data-0.npy victim/data-1.npy");
            plant("trap", ways[i], "data");
            CHECK(i < 4 || !symlink("../victim", "trap/link"));
            CHECK(i != 3 || !mkdir("trap/d0", 0777));
            if (deletes)
                wr_array_delete(w, "trap");
            else
                make(w, "trap", named, 1);
            shell("ls victim/data-0.npy victim/data-1.npy >/dev/null");
            shell("rm -rf trap trap.* victim/trap*");
        }
    shell("rm -r victim");
}

/* A copy of the folder has the members of another set in its description. */
static void copies(wr_world *w)
{
    CHECK(!mkdir("disk-a", 0777) && !mkdir("disk-b", 0777));
    CHECK(!make(w, "first", outside, 5));
    shell("cp -r first second; cp -al first third");
    CHECK(!make(w, "second", outside, 6));
    CHECK(!make(w, "third", outside, 7));
    check_value(w, "first", 5);
    shell("rm -r second; cp -rp first second");
    CHECK(!wr_array_delete(w, "second"));
    check_value(w, "first", 5);
    shell("rm -r first third disk-a/* disk-b/*");
}

/* Of disks outside the folder nothing goes that the caller has not named. */
static void named_disks(wr_world *w)
{
    CHECK(!make(w, "set", outside, 5));
    CHECK_FAILS(make(w, "set", NULL, 6), WEIR_EEXIST, "a disk that this call does not name");
    CHECK_FAILS(wr_array_delete(w, "set"), WEIR_EEXIST, "a disk that this call does not name");
    shell("mv disk-b away"); /* nor of one that is not there */
    CHECK_FAILS(make(w, "set", NULL, 6), WEIR_EEXIST, "a disk that");
    CHECK_FAILS(make(w, "set", (const char *const[]){outside[0], outside[0]}, 6), WEIR_EEXIST,
                "disk-b, a disk that is away and that this call does not name: No such file");
    CHECK_FAILS(wr_array_delete(w, "set"), WEIR_EEXIST, "a disk that");
    shell("mv away disk-b; cp -r set copy; mv disk-b away"); /* a copy has none there */
    CHECK(!wr_array_delete(w, "copy"));
    shell("mv away disk-b");
    check_value(w, "set", 5);
    CHECK(!make(w, "set", outside, 6)); /* of the older one nothing is left */
    shell("[ $(ls disk-a disk-b | grep -c npy) = 2 ]");
    shell("mv set moved");
    check_value(w, "moved", 6);
    snprintf(w->tunables.disks, sizeof w->tunables.disks, "disk-a:disk-b");
    CHECK(!wr_array_delete(w, "moved"));
    *w->tunables.disks = 0;
    shell("[ $(ls disk-a disk-b | grep -c npy) = 0 ] && [ ! -e moved ]");
    shell("rm -r disk-a disk-b");
}

static void links(wr_world *w)
{
    CHECK(!make(w, "real", inside, 5) && !make(w, "real.npy", NULL, 5));
    CHECK(!symlink("real", "name") && !symlink("real.npy", "name.npy"));
    CHECK(!make(w, "name", NULL, 6) && !make(w, "name.npy", NULL, 6));
    check_value(w, "real", 5);
    check_value(w, "real.npy", 5);
    check_value(w, "name", 6);
    shell("rm -r name; ln -s real name");
    CHECK(!wr_array_delete(w, "name") && access("name", F_OK));
    check_value(w, "real", 5);
    CHECK(!symlink("nowhere", "name"));
    CHECK_FAILS(make(w, "name", NULL, 6), WEIR_EEXIST, "link that leads to no array");
    CHECK(!wr_array_delete(w, "real") && !wr_array_delete(w, "real.npy"));
    /* a disk that was the set's own, and is a link now */
    CHECK(!make(w, "real", inside, 5));
    shell("mv real/d0 elsewhere; ln -s ../elsewhere real/d0");
    CHECK_FAILS(make(w, "real", inside, 6), WEIR_EEXIST, "d0");
    check_value(w, "real", 5);
    shell("! ls | grep partial; rm -r real elsewhere name name.npy");
}

static void no_arrays(wr_world *w)
{
    static const char *const makes[] = {"printf hello >x.npy",
                                        ": >x.npy",
                                        "printf '\\223NUMPY' >x.npy",
                                        "mkfifo x.npy",
                                        "mkdir x.npy; echo '{}' >x.npy/array.json",
                                        "mkdir x.npy; : >x.npy/array.json",
                                        "mkdir x.npy; ln -s ../y x.npy/array.json",
                                        "mkdir x.npy"};
    for (size_t i = 0; i < sizeof makes / sizeof *makes; i++) {
        shell(makes[i]);
        shell("find x.npy -ls >before");
        CHECK_FAILS(make(w, "x.npy", NULL, 1), WEIR_EEXIST, "no array, and is left alone");
        CHECK_FAILS(wr_array_delete(w, "x.npy"), WEIR_EEXIST, "no array, and is left alone");
        shell("find x.npy -ls | cmp - before; rm -r x.npy");
    }
}

/* What somebody has put into a set's folder, or into one of its disks. */
static void foreign_entries(wr_world *w)
{
    static const char *const entries[] = {"notes.txt",  ".notes",        ".nfsx", ".d",
                                          "d0/mine",    "d1/.hidden",    "d2",    "d0/d1",
                                          "copy-0.npy", "d0/array.json", "d0/..x"};
    char command[200];
    CHECK(!make(w, "set", inside, 5));
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        for (int folder = 0; folder < 2; folder++) {
            const char *slash = strchr(entries[i], '/'), *name = slash ? slash + 1 : entries[i];
            snprintf(command, sizeof command, "%s set/%s; ls -AR set >before",
                     folder ? "mkdir" : "echo mine >", entries[i]);
            shell(command);
            CHECK_FAILS(make(w, "set", inside, 6), WEIR_EEXIST, name);
            CHECK_FAILS(wr_array_delete(w, "set"), WEIR_EEXIST, name);
            shell("ls -AR set | cmp - before; ! ls | grep partial");
            check_value(w, "set", 5);
            snprintf(command, sizeof command, "rm -r before set/%s", entries[i]);
            shell(command);
        }
    /* a member's name where that member is not, and what is no file but has its name */
    shell("cp set/d0/*-0.npy set/d1");
    CHECK_FAILS(wr_array_delete(w, "set"), WEIR_EEXIST, "-0.npy");
    shell("rm set/d1/*-0.npy");
    check_value(w, "set", 5);
    CHECK(!wr_array_delete(w, "set"));
    CHECK(!make(w, "set", NULL, 5));
    shell("touch set/.mine");
    CHECK_FAILS(wr_array_delete(w, "set"), WEIR_EEXIST, ".mine");
    shell("rm set/.mine");
    CHECK(!wr_array_delete(w, "set") && access("set", F_OK));
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    CHECK(!stat(path, &status));
    CHECK(geteuid() || status.st_uid == 1234);
    return status.st_mode & 07777;
}

static void owners(wr_world *w)
{
    static const mode_t modes[] = {0600, 0640, 0444, 0666};
    const bool root = !geteuid();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        CHECK(!make(w, "kept.npy", NULL, 5) && !chmod("kept.npy", modes[i]));
        CHECK(!root || !chown("kept.npy", 1234, 1234));
        CHECK(!make(w, "kept.npy", NULL, 6));
        CHECK_EQUAL(mode_of("kept.npy"), modes[i]);
        CHECK(!wr_array_delete(w, "kept.npy"));
    }
    CHECK(!make(w, "kept", inside, 5) && !chmod("kept", 0750) && !chmod("kept/array.json", 0640));
    shell(root ? "chown -R 1234:1234 kept" : ":");
    CHECK(!make(w, "kept", inside, 6));
    CHECK_EQUAL(mode_of("kept"), 0750);
    CHECK_EQUAL(mode_of("kept/array.json"), 0640);
    CHECK_EQUAL(mode_of("kept/d0"), 0750);
    shell("chmod 0600 kept/d0/*");
    CHECK(!wr_array_delete(w, "kept"));
}

static void group_body(wr_transport *t, void *user)
{
    wr_world *w;
    CHECK(!wr_world_open(t, user, &w));
    CHECK(!make(w, "kept.npy", NULL, 5));
    CHECK(!chmod("kept.npy", 0664) && !chown("kept.npy", 0, 4));
    CHECK(!setgroups(0, NULL) && !setgid(65534) && !setuid(65534));
    CHECK(!make(w, "kept.npy", NULL, 6));
    wr_world_release(w);
}

/* Who cannot give it to the group gives nothing to another group. */
static void other_group(void)
{
    wr_tunables tunables;
    if (geteuid())
        return;
    shell("mkdir shared && chmod 0777 shared");
    pid_t child = fork();
    if (!child) {
        CHECK(!chdir("shared"));
        wr_tunables_init(&tunables);
        CHECK(!wr_local_run(1, &tunables, group_body, &tunables));
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && !status);
    shell("[ \"$(stat -c %a:%u:%g shared/kept.npy)\" = 604:65534:65534 ]; rm -r shared");
}

/* The program goes elsewhere, where there is something of that name. */
static void another_folder(wr_world *w)
{
    weir_array *file, *set, *lost;
    CHECK(!mkdir("work", 0777) && !mkdir("work/other", 0777));
    CHECK(!chdir("work"));
    CHECK(!create(w, "new.npy", NULL, 5, &file) && !create(w, "new", inside, 5, &set));
    CHECK(!create(w, "lost", inside, 5, &lost));
    shell("for f in new.npy* new.partial* lost*; do cp -r $f other; done; touch other/new.npy");
    CHECK(!chdir("other"));
    shell("ls -R >../../before");
    CHECK(!weir_array_close(file) && !weir_array_close(set) && !weir_array_discard(lost));
    shell("ls -R | cmp - ../../before");
    CHECK(!chdir("../.."));
    check_value(w, "work/new.npy", 5);
    check_value(w, "work/new", 5);
    shell("! ls work | grep partial");
    shell("rm -r work before");
}

static void long_names(wr_world *w)
{
    for (int length = LONGEST - 20; length <= LONGEST + 1; length++)
        for (int set = 0; set < 2; set++) {
            char name[LONGEST + 2];
            memset(name, 'x', sizeof name);
            name[length] = 0;
            if (!set)
                memcpy(name, "npy", 3);
            if (length > LONGEST) {
                CHECK(make(w, name, NULL, 5));
                continue;
            }
            CHECK(!make(w, name, inside, 5) && !make(w, name, inside, 6));
            check_value(w, name, 6);
            CHECK(!wr_array_delete(w, name));
        }
    shell("! ls | grep xxxx");
}

static void body(wr_transport *t, void *user)
{
    wr_world *w;
    CHECK(!wr_world_open(t, user, &w));
    other_peoples_files(w);
    copies(w);
    named_disks(w);
    links(w);
    no_arrays(w);
    foreign_entries(w);
    owners(w);
    another_folder(w);
    long_names(w);
    wr_world_release(w);
}

int main(void)
{
    wr_tunables tunables;
    char home[] = "owned-XXXXXX", command[100];
    CHECK(mkdtemp(home) && !chmod(home, 0755) && !chdir(home));
    check_within(60);
    umask(022);
    wr_tunables_init(&tunables);
    other_group();
    CHECK(!wr_local_run(1, &tunables, body, &tunables));
    CHECK(!chdir(".."));
    snprintf(command, sizeof command, "rm -r '%s'", home);
    return system(command);
}
