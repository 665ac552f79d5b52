/* Error handlers of files: the default, a user's, inheritance; and files as Fortran's numbers. */
#include <string.h>

#include "check.h"
#include "mpiio/smoke.h"

static int calls, seen_code;
static MPI_File seen_file;

static void note(MPI_File *file, int *code, ...)
{
    calls++;
    seen_file = *file;
    seen_code = *code;
}

static void make_quota(MPI_File *file, int *code, ...)
{
    note(file, code);
    *code = MPI_ERR_QUOTA;
}

static void note_twice(MPI_File *file, int *code, ...)
{
    note(file, code);
    calls++;
}

/* So many calls since the last time, of which the latest had this file. */
static void check_calls(int wanted, MPI_File file, int code)
{
    CHECK_EQUAL(calls, wanted);
    if (wanted > 0)
        CHECK(seen_file == file && seen_code == code);
    calls = 0;
}

/* An error, of class MPI_ERR_ARG. */
static int provoke(MPI_File fh)
{
    return CHECK_CLASS(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
}

static MPI_File open_file(const char *path)
{
    MPI_File fh;
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh));
    return fh;
}

static int fail_to_open(void)
{
    MPI_File fh;
    return MPI_File_open(MPI_COMM_WORLD, "no/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
}

static void test_default(const char *path)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_File fh = open_file(path);
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_File_get_errhandler(fh, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_File_set_errhandler(fh, MPI_ERRHANDLER_NULL), MPI_ERR_ARG);
    provoke(fh);
    CHECK_OK(MPI_File_close(&fh));
}

static void test_own(const char *path)
{
    MPI_Errhandler handler, other, got, kept;
    MPI_File one = open_file(path), two = open_file(path);
    CHECK_OK(MPI_File_create_errhandler(note, &handler));
    kept = handler;
    CHECK_OK(MPI_File_create_errhandler(note_twice, &other));
    CHECK_OK(MPI_File_set_errhandler(one, handler));
    CHECK_OK(PMPI_File_set_errhandler(two, other));
    check_calls(1, one, (provoke(one), seen_code));
    check_calls(1, one, provoke(one));
    check_calls(2, two, provoke(two));
    int code =
        CHECK_CLASS(MPI_File_write_at(one, 0, NULL, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    check_calls(1, one, code);
    code = CHECK_CLASS(MPI_File_read_all(one, NULL, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    check_calls(1, one, code);
    CHECK_OK(MPI_File_call_errhandler(two, MPI_ERR_QUOTA));
    check_calls(2, two, MPI_ERR_QUOTA);
    MPI_Errhandler_free(&handler); /* lives on with the file */
    check_calls(1, one, provoke(one));
    CHECK_OK(MPI_File_get_errhandler(one, &got));
    CHECK(got == kept);
    CHECK_OK(MPI_File_set_errhandler(two, got));
    MPI_Errhandler_free(&got);
    check_calls(1, two, provoke(two));
    CHECK_OK(MPI_File_set_errhandler(two, MPI_ERRORS_RETURN));
    provoke(two);
    check_calls(0, two, 0);
    CHECK_OK(MPI_File_set_errhandler(one, other));
    check_calls(2, one, provoke(one));
    MPI_Errhandler_free(&other);
    CHECK_OK(MPI_File_close(&one));
    CHECK_OK(MPI_File_close(&two));
}

static void test_inherited(const char *path)
{
    MPI_Errhandler handler, got;
    MPI_File before = open_file(path), after, null = MPI_FILE_NULL;
    CHECK_OK(MPI_File_create_errhandler(note, &handler));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    int code = CHECK_CLASS(fail_to_open(), MPI_ERR_NO_SUCH_FILE);
    check_calls(1, MPI_FILE_NULL, code);
    code = CHECK_CLASS(MPI_File_delete("no/such", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    check_calls(1, MPI_FILE_NULL, code);
    code = CHECK_CLASS(MPI_File_close(&null), MPI_ERR_FILE);
    check_calls(1, MPI_FILE_NULL, code);
    provoke(before);
    check_calls(0, before, 0);
    after = open_file(path);
    check_calls(1, after, provoke(after));
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got != MPI_ERRORS_RETURN);
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    fail_to_open();
    check_calls(0, MPI_FILE_NULL, 0);
    check_calls(1, after, provoke(after));
    CHECK_OK(MPI_File_set_errhandler(before, got));
    check_calls(1, before, provoke(before));
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&handler);
    CHECK_OK(MPI_File_close(&before));
    CHECK_OK(MPI_File_close(&after));
}

/* What is got is freed, however often; MPI_Finalize would notice, too. */
static void free_what_is_got(MPI_File fh, MPI_Errhandler wanted)
{
    for (int i = 0; i < 50; i++) {
        MPI_Errhandler got = MPI_ERRHANDLER_NULL;
        CHECK_OK(MPI_File_get_errhandler(fh, &got));
        CHECK(got == wanted);
        CHECK_OK(MPI_Errhandler_free(&got));
    }
}

static void test_references(const char *path)
{
    MPI_Errhandler own;
    MPI_File fh = open_file(path);
    CHECK_OK(MPI_File_create_errhandler(note, &own));
    const MPI_Errhandler handlers[] = {MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL, own};
    free_what_is_got(fh, MPI_ERRORS_RETURN);
    free_what_is_got(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    for (int i = 0; i < 6; i++) {
        MPI_File where = i < 3 ? fh : MPI_FILE_NULL;
        CHECK_OK(MPI_File_set_errhandler(where, handlers[i % 3]));
        free_what_is_got(where, handlers[i % 3]);
    }
    check_calls(1, fh, provoke(fh));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Errhandler_free(&own));
    CHECK_OK(MPI_File_close(&fh));
}

/* What a handler leaves in its code is what the call returns. */
static void test_changed_code(const char *path)
{
    MPI_Errhandler handler;
    MPI_File fh = open_file(path);
    CHECK_OK(MPI_File_create_errhandler(make_quota, &handler));
    CHECK_OK(MPI_File_set_errhandler(fh, handler));
    CHECK_CLASS(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_QUOTA);
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    CHECK_CLASS(fail_to_open(), MPI_ERR_QUOTA);
    calls = 0;
    CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_AMODE));
    check_calls(1, MPI_FILE_NULL, MPI_ERR_AMODE);
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_AMODE));
    MPI_Errhandler_free(&handler);
    CHECK_OK(MPI_File_close(&fh));
}

/* A handler is not forgotten for the files that inherit it. */
static void test_many_heirs(const char *path)
{
    MPI_Errhandler handler;
    MPI_File fh;
    CHECK_OK(MPI_File_create_errhandler(note, &handler));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    for (int i = 0; i < 300; i++) {
        fh = open_file(path);
        CHECK_OK(MPI_File_close(&fh));
    }
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    fh = open_file(path);
    CHECK_OK(MPI_File_set_errhandler(fh, handler));
    check_calls(1, fh, provoke(fh));
    CHECK_OK(MPI_File_close(&fh));
    MPI_Errhandler_free(&handler);
}

/* Many errors of a class: each code still has the text of its own error, if it is not too old. */
static void test_strings(void)
{
    int codes[4];
    char names[4][20];
    for (int i = 0; i < 4; i++) {
        strcpy(names[i], "no/such-a");
        names[i][8] = (char)('a' + i);
        codes[i] = CHECK_CLASS(MPI_File_delete(names[i], MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    }
    for (int i = 0; i < 4; i++)
        door_check_text(codes[i], names[i], "No such file");
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = -1;
    CHECK_OK(MPI_Error_string(MPI_ERR_RANK, text, &length)); /* the MPI library's own */
    CHECK(length > 0 && (size_t)length == strlen(text));
}

static void test_fortran(const char *path)
{
    MPI_File one = open_file(path), two = open_file(path);
    MPI_Fint first = MPI_File_c2f(one), second = PMPI_File_c2f(two);
    CHECK(first > 0 && second > 0 && first != second && MPI_File_c2f(one) == first);
    CHECK(MPI_File_f2c(first) == one && PMPI_File_f2c(second) == two);
    CHECK(MPI_File_c2f(MPI_FILE_NULL) == 0 && MPI_File_f2c(0) == MPI_FILE_NULL);
    CHECK(MPI_File_f2c(-1) == MPI_FILE_NULL && MPI_File_f2c(second + 1000) == MPI_FILE_NULL);
    CHECK_OK(MPI_File_close(&one));
    CHECK(MPI_File_f2c(first) == MPI_FILE_NULL && MPI_File_f2c(second) == two);
    CHECK_OK(MPI_File_close(&two));
}

void smoke_handlers(const char *path)
{
    test_default(path);
    test_own(path);
    test_inherited(path);
    test_references(path);
    test_changed_code(path);
    test_many_heirs(path);
    test_strings();
    test_fortran(path);
}
