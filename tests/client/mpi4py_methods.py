#!/usr/bin/python3
"""Every method of mpi4py's MPI.File at least once, on the file named by the argument."""
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
N = 60
called = set()


class Watched:
    """A file whose methods and properties are noted when they are used."""

    def __init__(self, file):
        object.__setattr__(self, "file", file)

    def __getattr__(self, name):
        called.add(name)
        return getattr(self.file, name)

    def __setattr__(self, name, value):
        called.add(name)
        setattr(self.file, name, value)


def static(name, *arguments):
    called.add(name)
    return getattr(MPI.File, name)(*arguments)


def data_of(step, of):
    return np.arange(N, dtype="i4") + 1000000 * step + 1000 * of


def check(step, got, of, what):
    assert np.array_equal(got, data_of(step, of)), (what, rank, got)


def empty():
    return np.zeros(N, "i4")


def open_file(path):
    info = MPI.Info.Create()
    info.Set("cb_buffer_size", "65536")
    f = Watched(static("Open", comm, path, MPI.MODE_RDWR | MPI.MODE_CREATE, info))
    info.Free()
    assert f.Get_amode() == f.amode == MPI.MODE_RDWR | MPI.MODE_CREATE
    for shown in (f.Get_info(), f.info):
        assert shown.Get("cb_buffer_size") in ("65536", "64K")
        f.Set_info(shown)
        shown.Free()
    f.info = MPI.INFO_NULL
    for group in (f.Get_group(), f.group):
        assert group.Get_size() == ranks
        group.Free()
    assert static("f2py", f.py2f()) == f.file
    return f


def turns(f, start):
    """A view in which ranks take turns, number by number."""
    filetype = MPI.INT.Create_resized(0, 4 * ranks).Commit()
    f.Set_view(start + 4 * rank, MPI.INT, filetype)
    filetype.Free()
    displacement, etype, shown, representation = f.Get_view()
    assert (displacement, etype, representation) == (start + 4 * rank, MPI.INT, "native")
    shown.Free()
    assert f.Get_byte_offset(2) == start + 4 * rank + 8 * ranks
    assert f.Get_type_extent(MPI.INT) == 4


def blocking(f):
    turns(f, 0)
    for step, write in enumerate((f.Write, f.Write_all)):
        write(data_of(step, rank))
    for step, write in ((2, f.Write_at), (3, f.Write_at_all)):
        write(step * N, data_of(step, rank))
    assert f.Get_position() == 2 * N
    f.Seek(0)
    for step, read in enumerate((f.Read, f.Read_all)):
        got = empty()
        read(got)
        check(step, got, rank, read)
    for step, read in ((2, f.Read_at), (3, f.Read_at_all)):
        got = empty()
        read(step * N, got)
        check(step, got, rank, read)


def nonblocking(f):
    f.Seek(0)
    kept = [data_of(step, rank) for step in range(10, 14)]
    MPI.Request.Waitall([f.Iwrite(kept[0]), f.Iwrite_all(kept[1]), f.Iwrite_at(2 * N, kept[2]),
                         f.Iwrite_at_all(3 * N, kept[3])])
    f.Seek(0)
    got = [empty() for _ in kept]
    requests = [f.Iread(got[0]), f.Iread_all(got[1]), f.Iread_at(2 * N, got[2]),
                f.Iread_at_all(3 * N, got[3])]
    status = MPI.Status()
    requests[3].Wait(status)
    assert status.Get_count(MPI.INT) == N
    while not MPI.Request.Testall(requests):
        pass
    for step, one in enumerate(got):
        check(10 + step, one, rank, "nonblocking")


def split(f):
    f.Seek(0)
    first, second = data_of(20, rank), data_of(21, rank)
    f.Write_all_begin(first)
    f.Write_all_end(first)
    f.Write_at_all_begin(N, second)
    f.Write_at_all_end(second)
    f.Seek(0)
    got = empty()
    f.Read_all_begin(got)
    f.Read_all_end(got)
    check(20, got, rank, "split")
    f.Read_at_all_begin(N, got)
    status = MPI.Status()
    f.Read_at_all_end(got, status)
    check(21, got, rank, "split with an offset")
    assert status.Get_count(MPI.INT) == N


def shared(f):
    f.Set_view(100000, MPI.INT, MPI.INT)
    f.Write_shared(data_of(30, rank))
    f.Iwrite_shared(data_of(30, rank)).Wait()
    comm.Barrier()
    assert f.Get_position_shared() == 2 * N * ranks
    comm.Barrier()
    f.Seek_shared(0)
    got = empty()
    f.Read_shared(got)
    check(30, got, got[0] // 1000 % 1000, "read_shared")
    f.Iread_shared(got).Wait()
    check(30, got, got[0] // 1000 % 1000, "iread_shared")
    comm.Barrier()
    f.Seek_shared(0)
    f.Write_ordered(data_of(31, rank))
    one = data_of(32, rank)
    f.Write_ordered_begin(one)
    f.Write_ordered_end(one)
    next_rank = (rank + 1) % ranks
    f.Read_at_all(N * next_rank, got)
    check(31, got, next_rank, "write_ordered")
    f.Seek_shared(0)
    f.Read_ordered(got)
    check(31, got, rank, "read_ordered")
    f.Read_ordered_begin(got)
    f.Read_ordered_end(got)
    check(32, got, rank, "read_ordered_end")


def represented(f):
    """In external32 the highest byte comes first."""
    f.Set_view(200000 + 8 * rank, MPI.INT, MPI.INT, "external32")
    assert f.Get_view()[3] == "external32"
    f.Write_at_all(0, np.array([16909060, -2], "i4"))
    got = np.zeros(2, ">i4")
    f.Set_view(200000 + 8 * rank)
    f.Read_at_all(0, [got, 8, MPI.BYTE])
    assert list(got) == [16909060, -2], got


def whole(f):
    f.Sync()
    f.Set_atomicity(True)
    assert f.Get_atomicity() and f.atomicity
    f.atomicity = False
    assert not f.Get_atomicity()
    f.Set_size(5000)
    assert f.Get_size() == f.size == 5000
    f.Preallocate(6000)
    assert f.size == 6000


def errors(f):
    for _ in range(20):
        handler = f.Get_errhandler()
        assert handler == MPI.ERRORS_RETURN
        handler.Free()
    f.Set_errhandler(MPI.ERRORS_RETURN)
    f.Call_errhandler(MPI.ERR_IO)
    try:
        f.Read_at(-1, empty())
        raise AssertionError("a negative offset")
    except MPI.Exception as e:
        assert e.Get_error_class() == MPI.ERR_ARG


def main(path):
    f = open_file(path)
    for step in (blocking, nonblocking, split, shared, represented, whole, errors):
        step(f)
    f.Close()
    comm.Barrier()
    if rank == 0:
        static("Delete", path)
    called.add("Delete")
    left = {name for name in dir(MPI.File) if not name.startswith("_")} - called
    assert not left, f"not called: {sorted(left)}"


try:
    main(sys.argv[1])
except BaseException:
    sys.excepthook(*sys.exc_info())
    sys.stderr.flush()
    comm.Abort(1)
