/* Names of files and folders, and whole small files. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/paths.h"
#include "storage_support.h"

static char home[100];

/* A path in the test's folder; many may be used together. */
static const char *in_home(const char *name)
{
    static char paths[32][200];
    static int turn;
    char *path = paths[turn++ % 32];
    CHECK_EQUAL(wr_path_join(home, name, path, sizeof paths[0]), 0);
    return path;
}

static bool is_there(const char *path)
{
    wr_folder_entry found;
    CHECK_EQUAL(wr_folder_look(&wr_folder_here, path, false, &found), 0);
    return found.kind != WR_ENTRY_NONE;
}

static void check_text(const char *path, const char *wanted)
{
    char *text = NULL;
    int64_t length = -1;
    CHECK_EQUAL(wr_path_read(path, 100, &text, &length), 0);
    CHECK_EQUAL(length, (int64_t)strlen(wanted));
    CHECK(!strcmp(text, wanted));
    wr_free(text);
}

static void put_text(const char *path, const char *text)
{
    CHECK_EQUAL(wr_path_write(path, text, (int64_t)strlen(text), true), 0);
}

static void test_join(void)
{
    static const char *const joined[][3] = {{"a", "b", "a/b"},     {"a/", "b", "a/b"},
                                            {"/", "b", "/b"},      {"", "b", "b"},
                                            {"a", "/b/c", "/b/c"}, {".", "b", "./b"}};
    static const char *const folders[][2] = {{"a/b", "a"}, {"a", "."},        {"/a", "/"},
                                             {"/", "/"},   {"a/b/", "a"},     {"a//b", "a"},
                                             {"", "."},    {"/a/b/c", "/a/b"}};
    char out[8];
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++) {
        CHECK_EQUAL(wr_path_join(joined[i][0], joined[i][1], out, sizeof out), 0);
        CHECK(!strcmp(out, joined[i][2]));
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        CHECK_EQUAL(wr_path_folder(folders[i][0], out, sizeof out), 0);
        CHECK(!strcmp(out, folders[i][1]));
    }
    CHECK_EQUAL(wr_path_join("abc", "def", out, 8), 0);
    CHECK_FAILS(wr_path_join("abc", "def", out, 7), WEIR_ERANGE, "too long");
    CHECK_EQUAL(wr_path_folder("abc/x", out, 4), 0);
    CHECK_FAILS(wr_path_folder("abc/x", out, 3), WEIR_ERANGE, "too long");
    CHECK(!strcmp(weir_error_last()->file, "abc/x"));
}

static void test_read_write(void)
{
    const char *path = in_home("text");
    char *text = NULL;
    int64_t length;
    CHECK(!is_there(path));
    CHECK_FAILS(wr_path_read(path, 100, &text, &length), WEIR_ENOENT, "open");
    put_text(path, "one");
    check_text(path, "one");
    CHECK_FAILS(wr_path_write(path, "two", 3, true), WEIR_EEXIST, "create");
    check_text(path, "one");
    CHECK_EQUAL(wr_path_write(path, "x", 1, false), 0);
    check_text(path, "x");
    CHECK_EQUAL(wr_path_write(path, NULL, 0, false), 0);
    check_text(path, "");
    CHECK_EQUAL(wr_path_write(path, "12345", 5, false), 0);
    CHECK_FAILS(wr_path_read(path, 4, &text, &length), WEIR_EFORMAT, "at most 4 bytes");
    CHECK(!strcmp(weir_error_last()->file, path));
    CHECK_EQUAL(wr_path_read(path, 5, &text, &length), 0);
    wr_free(text);
    wr_alloc_fail_after(0);
    CHECK_EQUAL(wr_path_read(path, 5, &text, &length), WEIR_ENOMEM);
    CHECK_EQUAL(truncate(path, INT64_C(1) << 40), 0); /* takes no memory for that */
    CHECK_FAILS(wr_path_read(path, 1 << 20, &text, &length), WEIR_EFORMAT, "at most");
    CHECK_FAILS(wr_path_read(home, 100, &text, &length), WEIR_EFORMAT, "no regular file");
    CHECK_FAILS(wr_path_write(in_home("no/text"), "", 0, false), WEIR_ENOENT, "create");
    CHECK_EQUAL(wr_path_remove(path), 0);
    CHECK_EQUAL(mkfifo(path, 0666), 0);
    CHECK_FAILS(wr_path_read(path, 100, &text, &length), WEIR_EFORMAT, "no regular file");
    CHECK_EQUAL(wr_path_remove(path), 0);
}

static void test_fill(void)
{
    const char *path = in_home("fill");
    char back[20] = {0};
    CHECK_EQUAL(wr_path_fill(path, "head", 4, 10), 0);
    CHECK_EQUAL(get_file(path, "storage=posix", back, 20), 10);
    CHECK(!memcmp(back, "head\0\0\0\0\0\0", 10));
    CHECK_FAILS(wr_path_fill(path, "head", 4, 10), WEIR_EEXIST, "create");
    CHECK(is_there(path));
    CHECK_EQUAL(wr_path_remove(path), 0);
    CHECK_FAILS(wr_path_fill(path, "head", 4, 3), WEIR_EINVAL, "cannot start");
    CHECK(!is_there(path));
    CHECK_EQUAL(wr_path_fill(path, "head", 4, INT64_C(6) << 30), 0);
    struct stat status;
    CHECK_EQUAL(stat(path, &status), 0);
    CHECK_EQUAL(status.st_size, INT64_C(6) << 30);
    CHECK_EQUAL(wr_path_remove(path), 0);
    CHECK_EQUAL(wr_path_fill(path, NULL, 0, 0), 0);
    CHECK_EQUAL(wr_path_remove(path), 0);
}

static void test_rename(void)
{
    const char *a = in_home("a"), *b = in_home("b");
    put_text(a, "a");
    CHECK_EQUAL(wr_path_rename(a, b, false), 0);
    CHECK(!is_there(a));
    check_text(b, "a");
    put_text(a, "new");
    CHECK_FAILS(wr_path_rename(a, b, false), WEIR_EEXIST, "rename");
    CHECK(!strcmp(weir_error_last()->file, b));
    check_text(b, "a");
    CHECK_EQUAL(wr_path_rename(a, b, true), 0);
    check_text(b, "new");
    CHECK_FAILS(wr_path_rename(a, in_home("c"), true), WEIR_ENOENT, "rename");
    CHECK_FAILS(wr_path_rename(a, in_home("c"), false), WEIR_ENOENT, "rename");
    CHECK(!strcmp(weir_error_last()->file, a));
    CHECK_EQUAL(wr_path_remove(b), 0);
}

static int make_folder(const char *path, bool *made)
{
    return wr_folder_make(&wr_folder_here, path, NULL, made);
}

/* A second name, and permissions, which are only ever taken. */
static void test_files(const char *path)
{
    wr_folder in;
    wr_folder_entry found;
    CHECK(!wr_folder_open(&wr_folder_here, path, &in));
    CHECK(!wr_folder_link(&in, "file", "second") && !chmod(in_home("other/file"), 0640));
    CHECK_FAILS(wr_folder_link(&in, "file", "second"), WEIR_EEXIST, "link");
    CHECK_EQUAL(wr_folder_restrict(&in, "second", 0464), 0);
    CHECK(!wr_folder_look(&in, "file", false, &found) && found.mode == 0440 && found.links == 2);
    CHECK(!wr_folder_remove(&in, "second") && !symlink("file", in_home("other/link")));
    CHECK(wr_folder_restrict(&in, "link", 0) < 0 && !wr_folder_remove(&in, "link"));
    CHECK(!wr_folder_look(&in, "file", false, &found) && found.mode == 0440);
    wr_folder_close(&in);
}

static void test_folders(void)
{
    const char *a = in_home("folder"), *b = in_home("other"), *inside = in_home("folder/file");
    bool made = false;
    CHECK(!make_folder(a, &made) && made);
    CHECK_FAILS(make_folder(a, NULL), WEIR_EEXIST, "make folder");
    CHECK(!make_folder(a, &made) && !made);
    put_text(inside, "x");
    CHECK_FAILS(make_folder(inside, &made), WEIR_EEXIST, "make folder");
    CHECK_FAILS(make_folder(in_home("no/folder"), &made), WEIR_ENOENT, "make folder");
    CHECK_FAILS(wr_path_remove(a), WEIR_EEXIST, "remove");
    CHECK_EQUAL(make_folder(b, NULL), 0);
    CHECK_FAILS(wr_path_rename(a, b, false), WEIR_EEXIST, "rename");
    CHECK_FAILS(wr_path_rename(b, a, true), WEIR_EEXIST, "rename");
    CHECK_EQUAL(wr_path_remove(b), 0);
    CHECK_EQUAL(wr_path_rename(a, b, false), 0);
    check_text(in_home("other/file"), "x");
    wr_folder folder;
    CHECK(!wr_folder_open(&wr_folder_here, b, &folder) && !wr_folder_sync(&folder));
    wr_folder_close(&folder);
    CHECK_FAILS(wr_folder_open(&wr_folder_here, a, &folder), WEIR_ENOENT, "open");
    test_files(b);
    CHECK_EQUAL(wr_path_remove(in_home("other/file")), 0);
    CHECK_EQUAL(wr_path_remove(b), 0);
    CHECK_FAILS(wr_path_remove(b), WEIR_ENOENT, "remove");
    CHECK(!is_there(in_home("no/such/thing")));
    CHECK_EQUAL(symlink("nowhere", a), 0);
    CHECK(is_there(a));
    CHECK_EQUAL(wr_path_remove(a), 0);
}

/* What cannot be written as a whole is not there at all. */
static void meet_limit(void)
{
    static char bytes[5000];
    const char *path = in_home("limit");
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, 1000}), 0);
    CHECK_FAILS(wr_path_write(path, bytes, sizeof bytes, true), WEIR_ENOSPC, "write");
    CHECK_EQUAL(weir_error_last()->offset, 0);
    CHECK(!strcmp(weir_error_last()->file, path));
    CHECK(!is_there(path));
    CHECK_FAILS(wr_path_fill(path, bytes, 10, 5000), WEIR_ENOSPC, "set the size");
    CHECK(!is_there(path));
}

int main(void)
{
    snprintf(home, sizeof home, "%s", test_path("paths"));
    CHECK_EQUAL(make_folder(home, NULL), 0);
    int before = count_descriptors();
    test_join();
    test_read_write();
    test_fill();
    test_rename();
    test_folders();
    pid_t child = fork();
    if (!child) {
        meet_limit();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && !status);
    CHECK_EQUAL(count_descriptors(), before);
    CHECK_EQUAL(wr_path_remove(home), 0);
    return 0;
}
