// Error handlers of files through the C++ bindings, which Open MPI has up to version 4.
// usage: door_cxx FILE
#include <mpi.h>

#include <cstdio>

static int calls, seen;
static MPI_File seen_file;

static void note(MPI::File &file, int *code, ...)
{
    calls++;
    seen = *code;
    seen_file = file;
}

#define CHECK(truth)                                                                               \
    if (!(truth))                                                                                  \
        return std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #truth), 1;

static int test(const char *path)
{
    MPI::File file = MPI::File::Open(MPI::COMM_WORLD, path, MPI::MODE_CREATE | MPI::MODE_RDWR,
                                     MPI::INFO_NULL);
    MPI::Errhandler handler = MPI::File::Create_errhandler(note);
    file.Set_errhandler(handler);
    int code = MPI_File_seek(file, -1, MPI_SEEK_SET), error_class;
    MPI_Error_class(code, &error_class);
    CHECK(calls == 1 && seen == code && error_class == MPI_ERR_ARG && seen_file == MPI_File(file));
    file.Call_errhandler(MPI::ERR_QUOTA);
    CHECK(calls == 2 && seen == MPI::ERR_QUOTA && seen_file == MPI_File(file));
    MPI::Errhandler got = file.Get_errhandler();
    CHECK(got == handler);
    got.Free();
    handler.Free();
    file.Close();
    return 0;
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int failed = argc < 2 || test(argv[1]);
    MPI::Finalize();
    return failed;
}
