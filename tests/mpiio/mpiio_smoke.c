/* Each function of the door that works: once as it should be called, then with what it must refuse.
 * Error classes are the standard's; what has a file names it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "mpiio/smoke.h"

enum { BYTES = 1000 };

static const int everything = MPI_MODE_CREATE | MPI_MODE_RDWR;

static MPI_File open_file(const char *path, int amode)
{
    MPI_File fh = MPI_FILE_NULL;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh));
    CHECK(fh != MPI_FILE_NULL);
    return fh;
}

static void close_file(MPI_File *fh)
{
    CHECK_OK(MPI_File_close(fh));
    CHECK(*fh == MPI_FILE_NULL);
}

static void check_size(MPI_File fh, MPI_Offset wanted)
{
    MPI_Offset size = -1;
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK_EQUAL(size, wanted);
    MPI_Barrier(MPI_COMM_WORLD); /* before somebody changes it again */
}

static void check_position(MPI_File fh, MPI_Offset wanted)
{
    MPI_Offset position = -1;
    CHECK_OK(MPI_File_get_position(fh, &position));
    CHECK_EQUAL(position, wanted);
}

static void test_whole_file(const char *path)
{
    MPI_File fh = open_file(path, everything);
    MPI_Group group, world;
    int amode = -1, same = -1, flag = -1;
    CHECK_OK(MPI_File_get_amode(fh, &amode));
    CHECK_EQUAL(amode, everything);
    CHECK_OK(MPI_File_get_group(fh, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    CHECK_EQUAL(same, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    check_size(fh, 0);
    CHECK_OK(MPI_File_set_size(fh, 100));
    check_size(fh, 100);
    CHECK_OK(MPI_File_preallocate(fh, 300));
    check_size(fh, 300);
    CHECK_OK(MPI_File_preallocate(fh, 200));
    check_size(fh, 300);
    CHECK_OK(MPI_File_set_size(fh, 50));
    check_size(fh, 50);
    CHECK_OK(MPI_File_sync(fh));
    CHECK_OK(MPI_File_set_atomicity(fh, 0));
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK_EQUAL(flag, 0);
    door_check_text(CHECK_CLASS(MPI_File_set_size(fh, -1), MPI_ERR_ARG), path, "size -1");
    CHECK_CLASS(MPI_File_preallocate(fh, -1), MPI_ERR_ARG);
    if (door_ranks > 1) {
        CHECK_CLASS(MPI_File_set_size(fh, door_rank), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_preallocate(fh, door_rank), MPI_ERR_NOT_SAME);
    }
    check_size(fh, 50);
    close_file(&fh);
    MPI_Barrier(MPI_COMM_WORLD);
    if (door_rank == 0)
        CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    int code = CHECK_CLASS(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    door_check_text(code, path, "No such file");
    CHECK_CLASS(MPI_File_delete("", MPI_INFO_NULL), MPI_ERR_BAD_FILE);
}

static void test_hints(const char *path)
{
    MPI_File fh;
    MPI_Info info = door_info("cb_buffer_size=65536;weir_window=4K;cb_nodes=many;my_key=mine");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, everything, info, &fh));
    MPI_Info_free(&info);
    CHECK(!strcmp(door_hint(fh, "cb_buffer_size"), "65536"));
    CHECK(!strcmp(door_hint(fh, "weir_cb_buffer_size"), "65536"));
    CHECK(!strcmp(door_hint(fh, "weir_window"), "4096"));
    info = door_info("romio_cb_write=enable;weir_window=-3");
    CHECK_OK(MPI_File_set_info(fh, info));
    MPI_Info_free(&info);
    CHECK(!strcmp(door_hint(fh, "romio_cb_write"), "enable"));
    CHECK(!strcmp(door_hint(fh, "weir_collective_write"), "always"));
    CHECK(!strcmp(door_hint(fh, "cb_buffer_size"), "65536"));
    CHECK_OK(MPI_File_set_info(fh, MPI_INFO_NULL));
    CHECK(!strcmp(door_hint(fh, "romio_cb_write"), "enable"));
    CHECK_CLASS(MPI_File_set_info(MPI_FILE_NULL, MPI_INFO_NULL), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_info(MPI_FILE_NULL, &info), MPI_ERR_FILE);
    close_file(&fh);
}

/* A list of hosts that names nobody, or says nothing, is ignored; cb_nodes is what is in force. */
static void test_aggregator_hints(const char *path)
{
    static const char *const lists[] = {"no-such-host:2", "*:0", "a:b:c", ",,"};
    char text[100], data[100] = "";
    MPI_File fh;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        snprintf(text, sizeof text, "cb_config_list=%s;romio_cb_write=enable", lists[i]);
        MPI_Info info = door_info(text);
        CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, everything, info, &fh));
        CHECK_OK(MPI_File_set_info(fh, info));
        MPI_Info_free(&info);
        CHECK_OK(MPI_File_write_at_all(fh, 0, data, 0, MPI_BYTE, MPI_STATUS_IGNORE));
        int nodes = atoi(door_hint(fh, "cb_nodes"));
        CHECK(nodes >= 1 && nodes <= door_ranks);
        CHECK(!strcmp(door_hint(fh, "weir_aggregators"), "0"));
        info = door_info("cb_nodes=1000");
        CHECK_OK(MPI_File_set_info(fh, info));
        MPI_Info_free(&info);
        CHECK_EQUAL(atoi(door_hint(fh, "cb_nodes")), door_ranks);
        close_file(&fh);
    }
}

/* ROMIO's file of hints is weaker than the program's. */
static void test_hint_file(const char *path)
{
    MPI_File fh;
    const char *name = door_path("hints");
    if (door_rank == 0) {
        FILE *f = fopen(name, "w");
        CHECK(f && fputs("# cb_nodes 3\n\nromio_cb_write enable\ncb_buffer_size\t65536\r\n"
                         "cb_buffer_size 4096\nweir_window 8K\nromio_ds_read disable now\n"
                         "weir_prefetch x\nind_rd_buffer_size 12345",
                         f) >= 0);
        CHECK(!fclose(f));
    }
    setenv("ROMIO_HINTS", name, 1);
    MPI_Info info = door_info("weir_window=4K");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, everything, info, &fh));
    MPI_Info_free(&info);
    info = door_info("romio_cb_read=disable");
    for (int i = 0; i < 2; i++) {
        CHECK(!strcmp(door_hint(fh, "romio_cb_write"), "enable"));
        CHECK(!strcmp(door_hint(fh, "cb_buffer_size"), "65536"));
        CHECK(!strcmp(door_hint(fh, "weir_window"), "4096"));
        CHECK(!strcmp(door_hint(fh, "romio_ds_read"), "automatic"));
        CHECK(!strcmp(door_hint(fh, "weir_prefetch"), "1"));
        CHECK(!strcmp(door_hint(fh, "ind_rd_buffer_size"), "12345"));
        CHECK_OK(MPI_File_set_info(fh, info));
    }
    CHECK(!strcmp(door_hint(fh, "romio_cb_read"), "disable"));
    MPI_Info_free(&info);
    close_file(&fh);
    if (door_rank == 0)
        unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, everything, MPI_INFO_NULL, &fh)); /* it is gone */
    close_file(&fh);
    unsetenv("ROMIO_HINTS");
}

/* Hints that come with a view count after the next transfer of all, whoever gives them. */
static void test_view_hints(const char *path)
{
    MPI_File fh = open_file(path, everything);
    MPI_Info info = door_info("cb_buffer_size=131072;my_key=mine;weir_window=nonsense");
    for (int giver = 0; giver < 2; giver++) {
        char size[20];
        snprintf(size, sizeof size, "%d", 131072 << giver);
        MPI_Info_set(info, "cb_buffer_size", size);
        bool gives = giver || door_rank == 0; /* first rank 0 alone, then all */
        CHECK_OK(
            MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", gives ? info : MPI_INFO_NULL));
        CHECK_OK(MPI_File_write_all(fh, &giver, 0, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(!strcmp(door_hint(fh, "cb_buffer_size"), size));
        CHECK(!gives || !strcmp(door_hint(fh, "my_key"), "mine"));
    }
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, MPI_SHORT, "native", info), MPI_ERR_ARG);
    MPI_Info_free(&info);
    close_file(&fh);
    /* given at open by one rank, and by all with a view */
    info = door_info("cb_buffer_size=65536");
    CHECK_OK(
        MPI_File_open(MPI_COMM_WORLD, path, everything, door_rank ? MPI_INFO_NULL : info, &fh));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", info));
    CHECK_OK(MPI_File_write_all(fh, &fh, 0, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(!strcmp(door_hint(fh, "cb_buffer_size"), "65536"));
    MPI_Info_free(&info);
    close_file(&fh);
}

/* Hints of storage given while a file is open neither harm nor change it: its memory was had by
 * those it was opened with. */
static void test_late_hints(const char *path)
{
    static const char *const backends[] = {"weir_storage=pool;weir_io_threads=2",
                                           "weir_storage=uring;weir_io_depth=4"};
    enum { LARGE = 48 << 20 };
    char *memory = calloc(1, LARGE);
    for (int i = 0; i < 2; i++) {
        MPI_File fh;
        MPI_Info info = door_info(backends[i]);
        CHECK_OK(MPI_File_open(MPI_COMM_SELF, path, everything, info, &fh));
        MPI_Info_free(&info);
        info = door_info("weir_io_threads=64;weir_io_depth=1024;weir_storage=posix");
        CHECK_OK(MPI_File_set_info(fh, info));
        MPI_Info_free(&info);
        CHECK(!strcmp(door_hint(fh, "weir_io_threads"), i ? "4" : "2"));
        CHECK(!strcmp(door_hint(fh, "weir_storage"), i ? "uring" : "pool"));
        CHECK_OK(MPI_File_write_at(fh, 0, memory, LARGE, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_read_at(fh, 0, memory, LARGE, MPI_BYTE, MPI_STATUS_IGNORE));
        close_file(&fh);
    }
    free(memory);
    CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
}

static bool is_there(const char *path)
{
    return !access(path, F_OK);
}

static void put_empty(const char *path)
{
    FILE *f = fopen(path, "w");
    CHECK(f && !fclose(f));
}

/* MPI_MODE_DELETE_ON_CLOSE removes the file that was opened, in the folder where it was, and no
 * other that has its name. */
static void test_delete_elsewhere(const char *path, const char *hints)
{
    char folder[200], other[450], kept[200], look[300];
    snprintf(kept, sizeof kept, "%s-kept", path);
    snprintf(look, sizeof look, "! ls %s.weir-* >/dev/null 2>&1", path); /* parts */
    snprintf(folder, sizeof folder, "%s-folder", path);
    snprintf(other, sizeof other, "%s/%s", folder, path);
    if (door_rank == 0) {
        CHECK(!mkdir(folder, 0777));
        put_empty(other);
    }
    for (int replaced = 0; replaced < 2; replaced++) {
        MPI_File fh;
        MPI_Info info = door_info(hints);
        CHECK_OK(
            MPI_File_open(MPI_COMM_WORLD, path, everything | MPI_MODE_DELETE_ON_CLOSE, info, &fh));
        MPI_Info_free(&info);
        CHECK_OK(MPI_File_write_at_all(fh, 0, "data", 4, MPI_BYTE, MPI_STATUS_IGNORE));
        if (!replaced) {
            CHECK(!chdir(folder));
        } else if (door_rank == 0) {
            CHECK(!rename(path, kept));
            put_empty(path);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (!replaced) {
            CHECK_OK(MPI_File_close(&fh));
        } else {
            int code = CHECK_CLASS(MPI_File_close(&fh), MPI_ERR_NO_SUCH_FILE);
            door_check_text(code, path, "left alone");
        }
        CHECK(replaced || !chdir(".."));
        CHECK(is_there(other) && is_there(path) == replaced);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (door_rank == 0) {
        CHECK(!unlink(other) && !rmdir(folder) && !unlink(path));
        CHECK_OK(MPI_File_delete(kept, MPI_INFO_NULL));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(system(look) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_named(MPI_Datatype type, MPI_Datatype wanted)
{
    CHECK(type == wanted);
}

static void test_views(const char *path)
{
    MPI_File fh = open_file(path, everything);
    MPI_Offset at = -1, byte = -1;
    MPI_Aint extent = -1;
    MPI_Datatype etype, filetype, pairs;
    char datarep[MPI_MAX_DATAREP_STRING] = "";
    CHECK_OK(MPI_File_get_view(fh, &at, &etype, &filetype, datarep));
    CHECK(at == 0 && !strcmp(datarep, "native"));
    check_named(etype, MPI_BYTE);
    check_named(filetype, MPI_BYTE);
    MPI_Type_vector(3, 2, 4, MPI_INT, &pairs); /* ends with its last int, not with a gap */
    MPI_Type_commit(&pairs);
    CHECK_OK(MPI_File_set_view(fh, 20, MPI_INT, pairs, "native", MPI_INFO_NULL));
    MPI_Type_free(&pairs);
    CHECK_OK(MPI_File_get_view(fh, &at, &etype, &filetype, datarep));
    CHECK(at == 20 && !strcmp(datarep, "native"));
    check_named(etype, MPI_INT);
    CHECK_OK(MPI_File_get_type_extent(fh, filetype, &extent));
    CHECK_EQUAL(extent, 40);
    MPI_Type_free(&filetype);
    const int bytes[] = {20, 24, 36, 40, 52, 56, 60, 64};
    for (int i = 0; i < 8; i++) {
        CHECK_OK(MPI_File_get_byte_offset(fh, i, &byte));
        CHECK_EQUAL(byte, bytes[i]);
    }
    CHECK_OK(MPI_File_seek(fh, 3, MPI_SEEK_SET));
    CHECK_OK(MPI_File_seek(fh, 2, MPI_SEEK_CUR));
    check_position(fh, 5);
    CHECK_OK(MPI_File_set_size(fh, 41)); /* within the fourth int */
    CHECK_OK(MPI_File_seek(fh, -1, MPI_SEEK_END));
    check_position(fh, 3);
    door_check_text(CHECK_CLASS(MPI_File_seek(fh, 0, 12345), MPI_ERR_ARG), path, "12345");
    CHECK_CLASS(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(fh, -4, MPI_SEEK_CUR), MPI_ERR_ARG);
    check_position(fh, 3);
    CHECK_CLASS(MPI_File_get_byte_offset(fh, -1, &byte), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_get_type_extent(fh, MPI_DATATYPE_NULL, &extent), MPI_ERR_TYPE);
    close_file(&fh);
}

static int refused_view(MPI_File fh, MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype)
{
    return MPI_File_set_view(fh, at, etype, filetype, "native", MPI_INFO_NULL);
}

static void test_refused_views(const char *path)
{
    MPI_File fh = open_file(path, everything);
    MPI_Datatype back, before;
    MPI_Type_indexed(2, (int[]){1, 1}, (int[]){3, 1}, MPI_INT, &back);
    MPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){-8}, MPI_INT, &before);
    MPI_Type_commit(&back);
    MPI_Type_commit(&before);
    CHECK_OK(refused_view(fh, 8, MPI_SHORT, MPI_INT));
    CHECK_OK(MPI_File_seek(fh, 7, MPI_SEEK_SET));
    CHECK_CLASS(refused_view(fh, 0, MPI_DATATYPE_NULL, MPI_INT), MPI_ERR_TYPE);
    CHECK_CLASS(refused_view(fh, 0, MPI_INT, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
    door_check_text(CHECK_CLASS(refused_view(fh, -5, MPI_INT, MPI_INT), MPI_ERR_ARG), path, "-5");
    CHECK_CLASS(refused_view(fh, 0, MPI_INT, MPI_SHORT), MPI_ERR_ARG);
    CHECK_CLASS(refused_view(fh, 0, MPI_INT, back), MPI_ERR_IO);
    CHECK_CLASS(refused_view(fh, 0, MPI_INT, before), MPI_ERR_IO);
    CHECK_CLASS(refused_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "no such", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    MPI_Type_free(&back);
    MPI_Type_free(&before);
    MPI_Offset byte = -1; /* the view is the one before */
    check_position(fh, 7);
    CHECK_OK(MPI_File_get_byte_offset(fh, 3, &byte));
    CHECK_EQUAL(byte, 14);
    close_file(&fh);
}

/* A datatype is used only once it is committed; what was asked of it before does not matter. */
static void test_uncommitted(const char *path)
{
    int data[4] = {1, 2, 3, 4};
    MPI_Aint extent;
    MPI_Datatype type;
    MPI_File fh = open_file(path, everything);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    CHECK_OK(MPI_File_get_type_extent(fh, type, &extent));
    for (int i = 0; i < 2; i++) {
        const int wanted = i ? MPI_SUCCESS : MPI_ERR_TYPE;
        CHECK_CLASS(MPI_File_write_at(fh, 0, data, 1, type, MPI_STATUS_IGNORE), wanted);
        CHECK_CLASS(MPI_File_read_at_all(fh, 0, data, 1, type, MPI_STATUS_IGNORE), wanted);
        CHECK_CLASS(refused_view(fh, 0, MPI_INT, type), wanted);
        CHECK_CLASS(refused_view(fh, 0, type, type), wanted);
        CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, type, "external32", MPI_INFO_NULL), wanted);
        CHECK_OK(refused_view(fh, 0, MPI_BYTE, MPI_BYTE));
        MPI_Type_commit(&type);
    }
    MPI_Type_free(&type);
    close_file(&fh);
}

static void test_modes(const char *path)
{
    MPI_File fh = open_file(path, everything | MPI_MODE_EXCL);
    CHECK_OK(MPI_File_set_size(fh, 77));
    close_file(&fh);
    int code = MPI_File_open(MPI_COMM_WORLD, path, everything | MPI_MODE_EXCL, MPI_INFO_NULL, &fh);
    CHECK_CLASS(code, MPI_ERR_FILE_EXISTS);
    CHECK(fh == MPI_FILE_NULL);
    door_check_text(code, path, "exists");
    fh = open_file(path, MPI_MODE_RDONLY | MPI_MODE_APPEND);
    check_position(fh, 77);
    check_size(fh, 77);
    CHECK_OK(refused_view(fh, 3, MPI_BYTE, MPI_BYTE));
    check_position(fh, 0);
    close_file(&fh);
    char prefixed[300];
    snprintf(prefixed, sizeof prefixed, "ufs:%s", path);
    fh = open_file(prefixed, MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN | MPI_MODE_DELETE_ON_CLOSE);
    CHECK(access(path, F_OK) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    close_file(&fh);
    CHECK(access(path, F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_sequential(const char *path)
{
    char data[4] = "";
    MPI_Offset at;
    MPI_File fh = open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL |
                                      MPI_MODE_DELETE_ON_CLOSE);
    const int unsupported = MPI_ERR_UNSUPPORTED_OPERATION;
    CHECK_CLASS(MPI_File_write(fh, data, 4, MPI_BYTE, MPI_STATUS_IGNORE), unsupported);
    CHECK_CLASS(MPI_File_write_at_all(fh, 0, data, 4, MPI_BYTE, MPI_STATUS_IGNORE), unsupported);
    CHECK_CLASS(MPI_File_seek(fh, 0, MPI_SEEK_SET), unsupported);
    CHECK_CLASS(MPI_File_get_position(fh, &at), unsupported);
    CHECK_CLASS(MPI_File_get_byte_offset(fh, 0, &at), unsupported);
    CHECK_CLASS(MPI_File_set_size(fh, 0), unsupported);
    CHECK_CLASS(MPI_File_preallocate(fh, 0), unsupported);
    CHECK_OK(refused_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE));
    close_file(&fh);
}

static void test_refused_opens(const char *path)
{
    static const int modes[] = {0,
                                MPI_MODE_CREATE,
                                MPI_MODE_RDONLY | MPI_MODE_RDWR,
                                MPI_MODE_RDONLY | MPI_MODE_WRONLY,
                                MPI_MODE_RDWR | MPI_MODE_WRONLY,
                                MPI_MODE_RDONLY | MPI_MODE_CREATE,
                                MPI_MODE_RDONLY | MPI_MODE_EXCL,
                                MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
                                MPI_MODE_RDWR | 1 << 20};
    MPI_File fh;
    int code;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        code = MPI_File_open(MPI_COMM_WORLD, path, modes[i], MPI_INFO_NULL, &fh);
        door_check_text(CHECK_CLASS(code, MPI_ERR_AMODE), path, "");
        CHECK(fh == MPI_FILE_NULL);
    }
    code = MPI_File_open(MPI_COMM_WORLD, "nowhere/at-all", everything, MPI_INFO_NULL, &fh);
    CHECK_CLASS(code, MPI_ERR_NO_SUCH_FILE);
    door_check_text(code, "nowhere/at-all", "No such file");
    code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    CHECK_CLASS(code, MPI_ERR_NO_SUCH_FILE);
    code = MPI_File_open(MPI_COMM_WORLD, "/tmp", MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    CHECK_CLASS(code, MPI_ERR_BAD_FILE);
    code = MPI_File_open(MPI_COMM_WORLD, "/dev/null/x", everything, MPI_INFO_NULL, &fh);
    CHECK_CLASS(code, MPI_ERR_BAD_FILE);
    code = MPI_File_open(MPI_COMM_WORLD, "", everything, MPI_INFO_NULL, &fh);
    CHECK_CLASS(code, MPI_ERR_BAD_FILE);
    code = MPI_File_open(MPI_COMM_NULL, path, everything, MPI_INFO_NULL, &fh);
    CHECK_CLASS(code, MPI_ERR_COMM);
    MPI_Comm half, between;
    if (door_ranks > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, door_rank > 0, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, door_rank == 0, 1, &between);
        code = MPI_File_open(between, path, everything, MPI_INFO_NULL, &fh);
        CHECK_CLASS(code, MPI_ERR_COMM);
        MPI_Comm_free(&between);
        MPI_Comm_free(&half);
    }
}

static void test_null_handle(void)
{
    MPI_File null = MPI_FILE_NULL;
    MPI_Offset at;
    MPI_Group group;
    MPI_Datatype etype, filetype;
    MPI_Aint extent;
    int number;
    char text[MPI_MAX_DATAREP_STRING];
    CHECK_CLASS(MPI_File_close(&null), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_size(null, &at), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_set_size(null, 0), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_preallocate(null, 0), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_amode(null, &number), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_group(null, &group), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_sync(null), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_set_atomicity(null, 0), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_atomicity(null, &number), MPI_ERR_FILE);
    CHECK_CLASS(refused_view(null, 0, MPI_BYTE, MPI_BYTE), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_view(null, &at, &etype, &filetype, text), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_seek(null, 0, MPI_SEEK_SET), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_position(null, &at), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_byte_offset(null, 0, &at), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_type_extent(null, MPI_INT, &extent), MPI_ERR_FILE);
    CHECK_CLASS(PMPI_File_get_size(null, &at), MPI_ERR_FILE);
}

/* The door knows its own when it sees them, even after they are gone. */
static void test_closed_handle(const char *path)
{
    char data[4];
    MPI_Offset size;
    MPI_File fh = open_file(path, everything | MPI_MODE_DELETE_ON_CLOSE), copy = fh;
    close_file(&fh);
    CHECK_CLASS(MPI_File_get_size(copy, &size), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_read_at(copy, 0, data, 4, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    MPI_Errhandler handler;
    CHECK_CLASS(MPI_File_get_errhandler(copy, &handler), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_set_errhandler(copy, MPI_ERRORS_RETURN), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_call_errhandler(copy, MPI_ERR_IO), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_close(&copy), MPI_ERR_FILE);
}

int main(int argc, char **argv)
{
    door_begin(&argc, &argv);
    check_within(60);
    test_whole_file(door_path("whole"));
    test_modes(door_path("modes"));
    test_sequential(door_path("sequential"));
    test_refused_opens(door_path("refused"));
    const char *path = door_path("smoke");
    test_hints(path);
    test_aggregator_hints(path);
    test_view_hints(path);
    test_hint_file(path);
    test_delete_elsewhere(door_path("delete"), "");
    test_delete_elsewhere(door_path("delete"), "weir_storage=striped;weir_disks=.:.");
    if (door_rank == 0)
        test_late_hints(door_path("late"));
    test_views(path);
    test_refused_views(path);
    test_uncommitted(path);
    test_null_handle();
    test_closed_handle(door_path("closed"));
    smoke_transfers(path);
    smoke_handlers(path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (door_rank == 0)
        unlink(path);
    MPI_Finalize();
    return 0;
}
