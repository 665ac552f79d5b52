#include "mpiio/door_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

int door_rank, door_ranks;
MPI_Status *const door_no_statuses = MPI_STATUSES_IGNORE;

int door_check_class(int code, int wanted, const char *what, const char *file, int line)
{
    int class = MPI_SUCCESS, length;
    char text[MPI_MAX_ERROR_STRING] = "";
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (class == wanted)
        return code;
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    fprintf(stderr, "rank %d: %s gave \"%s\"\n", door_rank, what, text);
    check_equal(class, wanted, "its class", file, line);
    return code;
}

void door_check_text(int code, const char *one, const char *other)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = -1;
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_EQUAL(length, (int64_t)strlen(text));
    if (!strstr(text, one) || !strstr(text, other))
        fprintf(stderr, "\"%s\" has not both \"%s\" and \"%s\"\n", text, one, other);
    CHECK(strstr(text, one) && strstr(text, other));
}

void door_check_same(int64_t value)
{
    int64_t both[] = {value, -value};
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQUAL(value, both[0]);
    CHECK_EQUAL(value, -both[1]);
}

const char *door_path(const char *what)
{
    static char names[8][200];
    static int64_t run, next;
    if (!run) {
        run = getpid();
        MPI_Bcast(&run, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    }
    char *name = names[next++ % 8];
    snprintf(name, sizeof *names, "mpiio-%lld-%s", (long long)run, what);
    return name;
}

const char *door_hint(MPI_File fh, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int found;
    CHECK_OK(MPI_File_get_info(fh, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    if (!found)
        *value = '\0';
    MPI_Info_free(&info);
    return value;
}

MPI_Info door_info(const char *pairs)
{
    MPI_Info info;
    char copy[1000], *rest = copy;
    snprintf(copy, sizeof copy, "%s", pairs);
    MPI_Info_create(&info);
    for (char *key; (key = strsep(&rest, ";"));) {
        char *value = strchr(key, '=');
        if (!value)
            continue;
        *value++ = '\0';
        MPI_Info_set(info, key, value);
    }
    return info;
}

char door_byte(int64_t i)
{
    return (char)(i * 7 + 1);
}

void door_make_file(const char *path, int64_t bytes)
{
    if (door_rank == 0) {
        FILE *f = fopen(path, "w");
        CHECK(f);
        for (int64_t i = 0; i < bytes; i++)
            CHECK(putc((unsigned char)door_byte(i), f) != EOF);
        CHECK(!fclose(f));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void door_begin(int *argc, char ***argv)
{
    MPI_File fh;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &door_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &door_ranks);
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, door_path("begin"), amode, MPI_INFO_NULL, &fh));
    CHECK(*door_hint(fh, "weir_window"));
    CHECK_OK(MPI_File_close(&fh));
}
