/* Which file systems are trusted, what is beneath an overlay, and what a tunable makes of it. */
#include "storage/systems.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage_support.h"

/* Where it is. */
static void expect(const char *path, const char *name, enum wr_coherence coherence)
{
    int64_t number = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    const wr_system *s = wr_system_of(fd, &number);
    if (strcmp(s->name, name) != 0)
        fprintf(stderr, "%s is on %s, not %s\n", path, s->name, name);
    CHECK(!strcmp(s->name, name) && s->coherence == coherence && number);
    close(fd);
}

/* What is not in the table is weak, like what cannot be asked. */
static void test_table(void)
{
    int pipes[2];
    int64_t number = 1;
    expect("/proc/self/status", "proc", WR_OWN);
    CHECK(!pipe(pipes));
    const wr_system *s = wr_system_of(pipes[0], &number);
    CHECK(!strcmp(s->name, "unknown") && s->coherence == WR_WEAK);
    close(pipes[0]);
    close(pipes[1]);
    CHECK(wr_system_of(-1, &number) == s && !number);
}

static void expect_facts(const char *path, const char *hints, bool weak, bool local)
{
    opened o;
    open_well(&o, path, WR_OPEN_READ, hints);
    CHECK_EQUAL(o.storage->facts.weak, weak);
    CHECK_EQUAL(o.storage->facts.local, local);
    if (weak) /* it can be done wherever it is asked for */
        CHECK_EQUAL(wr_storage_sync(o.storage, WR_SYNC_REFRESH), 0);
    close_well(&o);
}

/* The tunable says whether it is weak, not whose it is; backends on several files are as their
 * files. */
static void test_facts(void)
{
    static const char *const backends[] = {"storage=posix", "storage=pool", ("storage=" STRIPED)};
    char hints[100];
    opened o;
    expect_facts("/proc/self/status", "storage=posix", false, true);
    expect_facts("/proc/self/status", "storage=posix;coherence=weak", true, true);
    for (int b = 0; b < 3; b++) {
        const char *path = test_path("system");
        open_well(&o, path, FRESH, backends[b]);
        const bool local = o.storage->facts.local, weak = o.storage->facts.weak;
        close_well(&o);
        expect_facts(path, backends[b], weak, local);
        snprintf(hints, sizeof hints, "%s;coherence=weak", backends[b]);
        expect_facts(path, hints, true, local);
        snprintf(hints, sizeof hints, "%s;coherence=strong", backends[b]);
        expect_facts(path, hints, false, local);
        CHECK(!wr_storage_remove(path));
    }
}

/* In the current folder, which is memory: an overlay that takes writes, and one that takes none
 * and so does not tell what is beneath. */
static void test_overlays(void)
{
    static const char *const folders[] = {"low", "lower", "up", "work", "all", "none"};
    char options[800], here[200];
    CHECK(getcwd(here, sizeof here));
    for (int i = 0; i < 6; i++)
        CHECK(!mkdir(folders[i], 0777));
    int fd = creat("low/file", 0666);
    CHECK(fd >= 0 && !close(fd));
    expect("low/file", "tmpfs", WR_OWN);
    snprintf(options, sizeof options, "lowerdir=%s/low,upperdir=%s/up,workdir=%s/work", here, here,
             here);
    if (mount("weir", "all", "overlay", 0, options)) {
        fprintf(stderr, "systems_unit: no overlay: %s\n", strerror(errno));
        return;
    }
    expect("all/file", "tmpfs", WR_OWN);
    expect_facts("all/file", "storage=posix", false, true);
    snprintf(options, sizeof options, "lowerdir=%s/low:%s/lower", here, here);
    CHECK(!mount("weir", "none", "overlay", 0, options));
    expect("none/file", "overlay", WR_WEAK);
    expect_facts("none/file", "storage=posix", true, false);
    expect_facts("none/file", "storage=posix;coherence=strong", false, false);
}

/* In a child, whose mounts end with it. */
static void test_in_memory(const char *folder)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("weir", folder, "tmpfs", 0, "")) {
        fprintf(stderr, "systems_unit: no mounts of its own: %s\n", strerror(errno));
        return;
    }
    CHECK(!chdir(folder));
    test_overlays();
}

int main(void)
{
    check_within(30);
    const char *folder = test_path("systems");
    test_table();
    test_facts();
    CHECK(!mkdir(folder, 0777));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        test_in_memory(folder);
        _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(!rmdir(folder));
    return 0;
}
