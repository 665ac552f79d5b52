/* What outlasts a power failure: this program has its own fsync and renameat2, which take notes,
 * and fail where they are told to. Ranks are threads. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "array/array.h"
#include "check.h"
#include "transport/local.h"

enum { N = 8, RANKS = 2, MEMBERS = 4, NOTES = 400, NOTE = 300 };

/* --- the notes --- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char note[NOTES][NOTE]; /* "sync PATH" or "rename" */
static int notes, syncs, failing = -1;
static const char *failing_at; /* the end of a path */

static void take(const char *what)
{
    pthread_mutex_lock(&mutex);
    CHECK(notes < NOTES);
    snprintf(note[notes++], NOTE, "%s", what);
    pthread_mutex_unlock(&mutex);
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), own = strlen(ending);
    return length >= own && !strcmp(text + length - own, ending);
}

int fsync(int fd)
{
    char link[40], text[NOTE] = "sync ";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    CHECK(readlink(link, text + 5, sizeof text - 6) > 0);
    take(text);
    pthread_mutex_lock(&mutex);
    const bool fails = syncs++ == failing || (failing_at && ends_with(text, failing_at));
    pthread_mutex_unlock(&mutex);
    errno = EIO;
    return fails ? -1 : (int)syscall(SYS_fsync, fd);
}

/* Before each change of a name: what must always have one, and what somebody else does then. */
static bool plain;    /* a file system that knows no other rename than POSIX */
static bool stubborn; /* one where no folder can be removed */
static const char *watched, *intruder;

static void look_round(void)
{
    if (intruder)
        CHECK(!rename(intruder, "durable.npy"));
    intruder = NULL;
    CHECK(!watched || !access(watched, F_OK));
}

int renameat2(int from, const char *a, int to, const char *b, unsigned how)
{
    take("rename");
    look_round();
    errno = EINVAL;
    return plain && how ? -1 : (int)syscall(SYS_renameat2, from, a, to, b, how);
}

int renameat(int from, const char *a, int to, const char *b)
{
    return renameat2(from, a, to, b, 0);
}

int linkat(int from, const char *a, int to, const char *b, int how)
{
    look_round();
    return (int)syscall(SYS_linkat, from, a, to, b, how);
}

int unlinkat(int at, const char *name, int how)
{
    look_round();
    errno = ENOTEMPTY;
    return stubborn && how ? -1 : (int)syscall(SYS_unlinkat, at, name, how);
}

static void forget(void)
{
    notes = syncs = 0;
    failing = -1;
}

static int renamed_at(void)
{
    for (int i = 0; i < notes; i++)
        if (!strcmp(note[i], "rename"))
            return i;
    return notes;
}

/* Whether something that ends so, but for the number of a name, was synced in [first, last). */
static bool was_synced(const char *ending, int first, int last)
{
    for (int i = first; i < last; i++) {
        char text[NOTE];
        snprintf(text, sizeof text, "%s", note[i]);
        char *tag = strstr(text, ".partial-");
        if (tag)
            memmove(tag + 9, tag + 17, strlen(tag + 17) + 1);
        if (!strncmp(text, "sync ", 5) && ends_with(text, ending))
            return true;
    }
    return false;
}

/* --- arrays --- */

typedef struct scene {
    bool set;
    const char *hints;
    int value, code;
    weir_error error; /* if code */
} scene;

static const weir_selection whole;

static int create(wr_world *w, const scene *s, int value, weir_array **out)
{
    static const char *const disks[] = {"inner", "../deep/durable-disk"};
    weir_array_info info = {.type = WEIR_I4, .dimensions = 2, .shape = {N, N}};
    weir_array_options options = {.overwrite = 1, .fill = &value};
    if (s->set) {
        info.members = MEMBERS;
        info.distribution.grid[0] = MEMBERS;
        options.disks = 2;
        options.disk = disks;
    }
    return wr_array_create(w, s->set ? "durable" : "durable.npy", &info, &options, s->hints, out);
}

static int make(wr_world *w, const scene *s, int value)
{
    weir_array *a;
    int code = create(w, s, value, &a);
    return code ? code : weir_array_close(a);
}

static void make_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    int code = make(w, s, s->value);
    CHECK(!wr_agree(t, 0, 0));
    if (t->rank == 0)
        s->code = code;
    if (t->rank == t->size - 1)
        s->error = *weir_error_last();
    CHECK(!wr_agree(t, 0, 0));
    CHECK_EQUAL(code, s->code); /* the same on all */
    wr_world_release(w);
}

/* Nobody reads or writes it: what is synced was written before. */
static void sync_body(wr_transport *t, void *user)
{
    const scene *s = user;
    wr_tunables tunables;
    weir_array *a;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_array_open(w, s->set ? "durable" : "durable.npy", WEIR_READ | WEIR_WRITE, s->hints,
                         &a));
    CHECK(!wr_agree(t, 0, 0));
    if (t->rank == 0)
        forget();
    CHECK(!wr_agree(t, 0, 0));
    CHECK(!weir_array_sync(a));
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

static void read_body(wr_transport *t, void *user)
{
    const scene *s = user;
    wr_tunables tunables;
    weir_array *a;
    wr_world *w;
    int memory[N * N];
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_array_open(w, s->set ? "durable" : "durable.npy", WEIR_READ, "", &a));
    CHECK(!weir_array_read(a, &whole, NULL, memory, NULL));
    for (int i = 0; i < N * N; i++)
        CHECK_EQUAL(memory[i], s->value);
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

static void run(void (*body)(wr_transport *t, void *user), scene *s, int ranks)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK(!wr_local_run(ranks, &tunables, body, s));
}

static void check_value(bool set, int value)
{
    run(read_body, &(scene){.set = set, .value = value}, 1);
}

/* --- what is checked --- */

static void check_members(int first, int last)
{
    for (int m = 0; m < MEMBERS; m++) {
        char ending[20];
        snprintf(ending, sizeof ending, "-%d.npy", m);
        CHECK(was_synced(ending, first, last));
    }
    CHECK(was_synced("/array.json", first, last));
    CHECK(was_synced("/inner", first, last));
    CHECK(was_synced("/durable-disk", first, last));
}

/* Data, then the name, then the folder that has it. */
static void check_order(const char *home)
{
    scene s = {.hints = "durable=enable"};
    for (int again = 0; again < 2; again++) { /* the second time there is one to replace */
        s.set = false;
        forget();
        run(make_body, &s, RANKS);
        CHECK(!s.code && was_synced("/durable.npy.partial-", 0, renamed_at()));
        CHECK(was_synced(home, renamed_at(), notes));
        s.set = true;
        forget();
        run(make_body, &s, RANKS);
        CHECK(!s.code && was_synced("/durable.partial-", 0, renamed_at()));
        check_members(0, renamed_at());
        CHECK_EQUAL(was_synced("/deep", 0, renamed_at()), !again); /* with a new name in it */
        CHECK(was_synced(home, renamed_at(), notes));
    }
    run(sync_body, &s, RANKS);
    check_members(0, notes);
    CHECK(!was_synced("/deep", 0, notes));
    CHECK(!system("rm -r deep/durable-disk durable"));
    failing_at = "/deep";
    run(make_body, &s, RANKS);
    failing_at = NULL;
    CHECK_EQUAL(s.code, WEIR_EIO);
    CHECK(strstr(s.error.text, "deep)") && strstr(s.error.file, ".partial-"));
    CHECK(!system("rm -r durable.partial-* deep/durable-disk/*"));
    s.set = false;
    s.hints = "durable=disable";
    forget();
    run(make_body, &s, RANKS);
    CHECK(!s.code && !syncs);
}

/* Whatever sync fails, there is an error and no new array, but the old one. */
static void check_failures(bool set)
{
    enum { OLD = 5, NEW = 7 };
    scene s = {.set = set, .hints = "durable=disable", .value = OLD};
    int failures = 0, told = 0;
    forget();
    run(make_body, &s, RANKS);
    CHECK(!s.code);
    s.hints = "durable=enable";
    s.value = NEW;
    watched = set ? NULL : "durable.npy";
    for (bool reached = true; reached; failures++) {
        forget();
        failing = failures;
        run(make_body, &s, RANKS);
        reached = syncs > failures;
        CHECK_EQUAL(s.code, reached ? WEIR_EIO : 0);
        if (reached && strstr(s.error.text, "did not get its name"))
            CHECK(!access(s.error.file, F_OK) && (told += 1));
        check_value(set, reached ? OLD : NEW);
        CHECK(!system("rm -rf durable*.partial-*"));
    }
    watched = NULL;
    CHECK(failures > (set ? 10 : 2) && told > 1);
    CHECK(!system("! ls | grep partial"));
    CHECK(!system("rm -rf durable durable.npy deep/durable-disk/*"));
}

/* What takes the name between the look at it and the rename is somebody's. */
static void check_intruder(void)
{
    enum { OLD = 5, NEW = 7 };
    scene s = {.hints = "durable=disable", .value = OLD};
    forget();
    run(make_body, &s, RANKS);
    CHECK(!s.code && !system("printf notes >mine"));
    s.value = NEW;
    intruder = "mine";
    run(make_body, &s, RANKS);
    CHECK_EQUAL(s.code, WEIR_EEXIST);
    CHECK(!system("[ \"$(cat durable.npy)\" = notes ] && rm durable.npy"));
    CHECK(strstr(s.error.file, ".partial-") && !rename(s.error.file, "durable.npy"));
    check_value(false, NEW);
    CHECK(!system("! ls | grep partial; rm durable.npy"));
}

/* What was replaced and cannot be removed is not kept secret. */
static void check_left(void)
{
    scene s = {.set = true, .hints = "durable=disable", .value = 5};
    forget();
    run(make_body, &s, RANKS);
    CHECK(!s.code);
    s.value = 7;
    stubborn = true;
    run(make_body, &s, RANKS);
    stubborn = false;
    CHECK_EQUAL(s.code, WEIR_EEXIST);
    CHECK(strstr(s.error.text, "has its name") && strstr(s.error.file, ".partial-"));
    check_value(true, 7);
    CHECK(!access(s.error.file, F_OK) && !system("rm -r durable durable.partial-*"));
    CHECK(!system("rm -r deep/durable-disk/*"));
}

int main(void)
{
    char home[] = "durable-XXXXXX", command[100];
    CHECK(mkdtemp(home) && !chdir(home) && !mkdir("deep", 0777));
    check_within(60);
    unsetenv("WEIR_DURABLE"); /* which other tests do without */
    check_order(home);
    CHECK(!system("rm -rf durable durable.npy deep/durable-disk/*"));
    for (int i = 0; i < 2; i++) {
        plain = i;
        check_failures(false);
        check_failures(true);
        check_intruder();
        check_left();
    }
    CHECK(!chdir(".."));
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    return system(command);
}
