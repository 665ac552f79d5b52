#!/usr/bin/python3
"""MPI.File of mpi4py: `write FILE`, `read FILE` and `spoiled FILE`, one after another."""
import os
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
DOOR = "libweir_mpiio" in os.environ.get("LD_PRELOAD", "")
RDWR, CREATE = MPI.MODE_RDWR, MPI.MODE_CREATE
SIZE = 70001
# Where each array lies in the file, its shape and its type.
ARRAYS = {
    "mark": (0, (64,), "u1"),
    "block": (1000, (24, 30), "f8"),
    "rounds": (8000, (12 * 60,), "i4"),
    "cyclic": (16000, (30, 28), "i4"),
    "fortran": (24000, (20, 25), "f4"),
    "pairs": (32000, (240,), np.dtype([("a", "i4"), ("b", "f8")])),
    "pointer": (40000, (16, 36), "i2"),
    "offset": (48000, (16, 24), "i8"),
}


def values(number, name):
    """The whole array, the same on all ranks."""
    _, shape, dtype = ARRAYS[name]
    if name == "mark":
        return np.frombuffer(b"weir-client-mark" * 4, "u1")
    bytes_of = np.random.RandomState(number).randint(1, 100, (*shape, np.dtype(dtype).itemsize))
    return bytes_of.astype("u1").reshape(-1).view(dtype).reshape(shape)


ALL = {name: values(k, name) for k, name in enumerate(ARRAYS)}


class Types:
    """Datatypes that live as long as a with block."""

    def __enter__(self):
        self.made = []
        return self

    def __exit__(self, *_):
        for made in self.made:
            made.Free()

    def __call__(self, made):
        self.made.append(made.Commit())
        return made


def fails(error_class, call, *arguments):
    """The call raises an exception of that class, or one of those."""
    classes = error_class if isinstance(error_class, tuple) else (error_class,)
    try:
        call(*arguments)
    except MPI.Exception as e:
        assert e.Get_error_class() in classes, (e.Get_error_class(), classes, str(e))
        assert e.Get_error_string()
        return
    raise AssertionError(f"{call} does not fail with class {classes}")


def split(length):
    return length * rank // ranks, length * (rank + 1) // ranks


def grid():
    """The ranks as rows and columns, and where this one is."""
    dims = MPI.Compute_dims(ranks, 2)
    return dims, divmod(rank, dims[1])


def place(name):
    return ARRAYS[name][0]


# --- each array is written by another kind of call ---

def write_mark(f):
    f.Set_view(0, MPI.BYTE, MPI.BYTE, "native", MPI.INFO_NULL)
    lo, hi = split(64)
    status = MPI.Status()
    f.Write_at(lo, ALL["mark"][lo:hi].copy(), status)
    assert status.Get_count(MPI.BYTE) == status.Get_elements(MPI.BYTE) == hi - lo


def block_type(types, how=MPI.ORDER_C, name="block"):
    """This rank's box of an array, as bounds and as a type."""
    dims, at = grid()
    shape = ARRAYS[name][1]
    base = {"f8": MPI.DOUBLE, "f4": MPI.FLOAT}[ARRAYS[name][2]]
    lo = [shape[d] * at[d] // dims[d] for d in (0, 1)]
    hi = [shape[d] * (at[d] + 1) // dims[d] for d in (0, 1)]
    sizes = [hi[d] - lo[d] for d in (0, 1)]
    return lo, hi, base, types(base.Create_subarray(shape, sizes, lo, how))


def write_block(f):
    with Types() as types:
        lo, hi, base, filetype = block_type(types)
        f.Set_view(place("block"), base, filetype)
        f.Write_all(ALL["block"][lo[0]:hi[0], lo[1]:hi[1]].copy())
        assert f.Get_position() == (hi[0] - lo[0]) * (hi[1] - lo[1])


def write_rounds(f):
    """Blocks of 12 / ranks items in turn: a vector, resized so that the next begins in place."""
    share = 12 // ranks
    mine = ALL["rounds"].reshape(60, ranks, share)[:, rank].copy()
    with Types() as types:
        turn = types(MPI.INT.Create_vector(1, share, 12))
        filetype = types(turn.Create_resized(0, 48))
        assert filetype.Get_extent() == (0, 48) and f.Get_type_extent(filetype) == 48
        f.Set_view(place("rounds") + rank * share * 4, MPI.INT, filetype)
        # the second half first
        f.Write_at_all(30 * share, mine[30:])
        f.Write_at_all(0, mine[:30])
        assert f.Get_byte_offset(share) == place("rounds") + rank * share * 4 + 48


def write_cyclic(f):
    """Rows by blocks of 4 in turn, columns by one block each."""
    dims, at = grid()
    shape, columns = ARRAYS["cyclic"][1], -(-28 // dims[1])
    rows = [i for i in range(shape[0]) if i // 4 % dims[0] == at[0]]
    mine = ALL["cyclic"][rows, at[1] * columns:(at[1] + 1) * columns]
    with Types() as types:
        filetype = types(MPI.INT.Create_darray(
            ranks, rank, shape, [MPI.DISTRIBUTE_CYCLIC, MPI.DISTRIBUTE_BLOCK],
            [4, MPI.DISTRIBUTE_DFLT_DARG], dims))
        f.Set_view(place("cyclic"), MPI.INT, filetype)
        f.Write_all(mine.copy())


def write_fortran(f):
    """Fortran's order in the file; a frame around the data in memory."""
    with Types() as types:
        lo, hi, base, filetype = block_type(types, MPI.ORDER_F, "fortran")
        mine = ALL["fortran"].reshape(25, 20).T[lo[0]:hi[0], lo[1]:hi[1]]
        framed = np.full((mine.shape[1] + 2, mine.shape[0] + 4), -1, "f4")
        framed[1:-1, 2:-2] = mine.T
        inside = types(base.Create_subarray(framed.shape, mine.T.shape, [1, 2]))
        f.Set_view(place("fortran"), base, filetype)
        f.Write_all([framed, 1, inside])


def write_pairs(f):
    """Records of 12 bytes in the file and of 16 in memory."""
    lo, hi = split(240)
    aligned = np.zeros(hi - lo, np.dtype([("a", "i4"), ("b", "f8")], align=True))
    aligned["a"], aligned["b"] = ALL["pairs"]["a"][lo:hi], ALL["pairs"]["b"][lo:hi]
    with Types() as types:
        loose = types(MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE]))
        close = types(MPI.Datatype.Create_struct([1, 1], [0, 4], [MPI.INT, MPI.DOUBLE]))
        dense = types(close.Create_resized(0, 12))
        f.Set_view(place("pairs"), dense, dense)
        status = MPI.Status()
        f.Write_at_all(lo, [aligned, hi - lo, loose], status)
        assert status.Get_count(loose) == hi - lo and status.Get_elements(loose) == 2 * (hi - lo)


def write_pointer(f):
    """The individual pointer through a view of every ranks-th column."""
    mine = ALL["pointer"].reshape(-1)[rank::ranks]
    with Types() as types:
        filetype = types(MPI.SHORT.Create_resized(0, 2 * ranks))
        f.Set_view(place("pointer") + 2 * rank, MPI.SHORT, filetype)
        f.Seek(10)
        f.Write(mine[10:30].copy())
        assert f.Get_position() == 30
        f.Seek(-30, MPI.SEEK_CUR)
        f.Write(mine[:10].copy())
        f.Seek(20, MPI.SEEK_CUR)
        f.Write_all(mine[30:].copy())
        displacement, etype, shown, representation = f.Get_view()
        assert displacement == place("pointer") + 2 * rank and representation == "native"
        assert etype == MPI.SHORT and shown.Get_extent() == (0, 2 * ranks)
        shown.Free()
        fails(MPI.ERR_ARG, f.Seek, -1)


def write_offset(f):
    """A view for each row, backwards; ranks without one more row take part in setting it."""
    with Types() as types:
        row = types(MPI.INT64_T.Create_indexed([5, 7, 12], [0, 5, 12]))
        for first in reversed(range(0, 16, ranks)):
            i = first + rank
            f.Set_view(place("offset") + i * 192, MPI.INT64_T, row)
            if i < 16:
                f.Write_at(0, [ALL["offset"][i].copy(), 24, MPI.INT64_T])


def check_whole(f, path):
    """What concerns the file as a whole, after it was opened."""
    assert f.Get_amode() == RDWR | CREATE and f.Get_size() == 0 and not f.Get_atomicity()
    group, mine = f.Get_group(), comm.Get_group()
    assert MPI.Group.Compare(group, mine) == MPI.IDENT
    group.Free()
    mine.Free()
    number = f.py2f()
    assert MPI.File.f2py(number) == f and MPI.File.f2py(MPI.FILE_NULL.py2f()) == MPI.FILE_NULL
    f.Preallocate(3000)
    assert f.Get_size() == 3000
    f.Preallocate(1000)
    assert f.Get_size() == 3000
    f.Set_size(SIZE)
    assert f.Get_size() == SIZE == os.stat(path).st_size
    info = MPI.Info.Create()
    info.Set("cb_buffer_size", "65536")
    info.Set("nobody_knows", "this")
    f.Set_info(info)
    info.Free()
    shown = f.Get_info()
    assert not DOOR or shown.Get("cb_buffer_size") in ("65536", "64K"), shown.items()
    shown.Free()


def write(path):
    if rank == 0 and os.path.exists(path):
        MPI.File.Delete(path)
    comm.Barrier()
    f = MPI.File.Open(comm, path, RDWR | CREATE)
    check_whole(f, path)
    for step in (write_mark, write_block, write_rounds, write_cyclic, write_fortran, write_pairs,
                 write_pointer, write_offset):
        step(f)
    f.Sync()
    f.Close()
    assert f == MPI.FILE_NULL
    check_modes(path + ".scratch")
    check_errors(path + ".scratch")
    comm.Barrier()


# --- what is not an array ---

def check_modes(path):
    """Append, delete on close, a file of one rank, exclusive creation."""
    f = MPI.File.Open(comm, path, RDWR | CREATE | MPI.MODE_EXCL | MPI.MODE_UNIQUE_OPEN)
    f.Write_at(rank * 8, np.full(8, rank, "u1"))
    f.Close()
    fails(MPI.ERR_FILE_EXISTS, MPI.File.Open, comm, path, RDWR | CREATE | MPI.MODE_EXCL)
    f = MPI.File.Open(comm, path, RDWR | MPI.MODE_APPEND)
    assert f.Get_position() == 8 * ranks
    f.Seek(-4, MPI.SEEK_END)
    got, status = np.zeros(9, "u1"), MPI.Status()
    f.Read(got, status)
    assert status.Get_count(MPI.BYTE) == 4 and list(got) == 4 * [ranks - 1] + 5 * [0], got
    f.Read_at_all(8 * ranks + 5, got, status)
    assert status.Get_count(MPI.BYTE) == 0 or not DOOR  # ROMIO counts what is not there
    f.Write_at_all(0, [np.zeros(0, "u1"), 0, MPI.BYTE], status)
    assert status.Get_count(MPI.BYTE) == 0 or not DOOR
    f.Close()
    f = MPI.File.Open(comm, path, MPI.MODE_RDONLY | MPI.MODE_DELETE_ON_CLOSE)
    f.Close()
    comm.Barrier()
    assert not os.path.exists(path)
    own = f"{path}{rank}"
    f = MPI.File.Open(MPI.COMM_SELF, own, RDWR | CREATE | MPI.MODE_DELETE_ON_CLOSE)
    f.Write_all(np.arange(100 + rank))
    assert f.Get_size() == 8 * (100 + rank)
    f.Close()
    assert not os.path.exists(own)


def check_errors(path):
    """Errors are exceptions of the right class, and the file works afterwards."""
    fails(MPI.ERR_NO_SUCH_FILE, MPI.File.Open, comm, path, RDWR)
    fails(MPI.ERR_NO_SUCH_FILE, MPI.File.Delete, path + str(rank))
    fails((MPI.ERR_AMODE, MPI.ERR_ARG), MPI.File.Open, comm, path, MPI.MODE_RDONLY | RDWR)
    fails((MPI.ERR_AMODE, MPI.ERR_ARG), MPI.File.Open, comm, path, MPI.MODE_RDONLY | CREATE)
    fails((MPI.ERR_FILE, MPI.ERR_ARG), MPI.File(MPI.FILE_NULL).Get_size)
    f = MPI.File.Open(comm, path, MPI.MODE_WRONLY | CREATE)
    data = np.arange(6, dtype="i4")
    f.Write_at(24 * rank, data)
    fails((MPI.ERR_ACCESS, MPI.ERR_UNSUPPORTED_OPERATION), f.Read, np.empty(4, "i4"))
    f.Close()
    f = MPI.File.Open(comm, path, MPI.MODE_RDONLY)
    assert f.Get_errhandler() == MPI.ERRORS_RETURN
    fails((MPI.ERR_READ_ONLY, MPI.ERR_ACCESS), f.Write_at_all, 0, data)
    fails((MPI.ERR_READ_ONLY, MPI.ERR_ACCESS), f.Set_size, 5)
    fails(MPI.ERR_UNSUPPORTED_DATAREP, f.Set_view, 0, MPI.INT, MPI.INT, "elsewhere")
    fails((MPI.ERR_ARG, MPI.ERR_IO), f.Set_view, 0, MPI.INT, MPI.SHORT)
    fails(MPI.ERR_ARG, f.Set_view, -5)
    fails(MPI.ERR_ARG, f.Read_at, -1, data)
    if DOOR:
        check_decreasing(f)
    got = np.zeros(6, "i4")
    f.Read_at_all(24 * rank, got)
    assert np.array_equal(got, data)
    f.Close()
    comm.Barrier()
    if rank == 0:
        MPI.File.Delete(path)


def check_decreasing(f):
    """Filetypes must not go backwards; MPIs differ in their answers, so for the door only."""
    with Types() as types:
        back = types(MPI.INT.Create_indexed([1, 1], [1, 0]))
        for _ in range(3):
            fails(MPI.ERR_IO, f.Set_view, 0, MPI.INT, back)
    assert f.Get_view()[:3] == (0, MPI.BYTE, MPI.BYTE)


# --- reading ---

def read_columns(f, name, got):
    """Every ranks-th column of an array of two dimensions; the others are added by the caller."""
    offset, (rows, columns), dtype = ARRAYS[name]
    bytes_of, mine = np.dtype(dtype).itemsize, len(range(rank, columns, ranks))
    with Types() as types:
        item = types(MPI.BYTE.Create_contiguous(bytes_of))
        row = types(item.Create_vector(mine, 1, ranks))
        filetype = types(row.Create_resized(0, columns * bytes_of))
        f.Set_view(offset + rank * bytes_of, item, filetype)
        place_in = np.zeros((rows, mine), dtype)
        f.Read_all([place_in, rows * mine * bytes_of, MPI.BYTE])
    got[:, rank::ranks] = place_in


def read(path):
    """How many arrays are wrong on this rank: whole, and by columns."""
    wrong = 0
    f = MPI.File.Open(comm, path, MPI.MODE_RDONLY)
    for name, (offset, shape, dtype) in ARRAYS.items():
        got = np.zeros(shape, dtype)
        f.Set_view(offset)
        f.Read([got, got.nbytes, MPI.BYTE])
        bad = not np.array_equal(got, ALL[name])
        if len(shape) == 2:
            columns = np.zeros(shape, dtype)
            read_columns(f, name, columns)
            bad |= not np.array_equal(columns[:, rank::ranks], ALL[name][:, rank::ranks])
        if bad:
            print(f"rank {rank}: {name} is wrong")
        wrong += bad
    f.Set_view(0)
    gaps, status = np.ones(200, "u1"), MPI.Status()
    f.Read_at(SIZE - 100, gaps, status)
    assert status.Get_count(MPI.BYTE) == 100 and not gaps[:100].any()
    f.Close()
    return wrong


def main():
    for step, path in zip(sys.argv[1::2], sys.argv[2::2]):
        if step == "write":
            write(path)
        else:
            wrong = comm.allreduce(read(path))
            assert step in ("read", "spoiled") and (step == "spoiled") == (wrong > 0), (path, wrong)


try:
    main()
except BaseException:
    sys.excepthook(*sys.exc_info())
    sys.stderr.flush()
    comm.Abort(1)
