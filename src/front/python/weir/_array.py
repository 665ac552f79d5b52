"""The class of arrays, and what makes them."""
import json
import os
import sys
import time
import types

import numpy as np

from . import _comm, _index, _weir

_FORMATS = ("npy", "set", "raw", "netcdf", "zarr", "zarr2", "hdf5")


class _Collective:
    """`with a.collective:`, in which all ranks index together."""

    def __init__(self, array):
        self._array = array

    def __enter__(self):
        self._array._collect(1)
        return self._array

    def __exit__(self, *error):
        self._array._collect(-1)


class _Outer:
    """a.oindex[...]: each list of indices is its own dimension's."""

    def __init__(self, array):
        self._array = array

    def __getitem__(self, key):
        return self._array._move(_index.outer_key(key, self._array.shape), None, None, 0, 0)

    def __setitem__(self, key, value):
        key = _index.outer_key(key, self._array.shape)
        self._array._move(key, value, None, _weir.WRITE, 0)


class LocalArray:
    """One of the local arrays of a set, with indices of its own."""

    def __init__(self, array, member):
        self._array, self._local = array, member + 1
        self.shape, self.dtype = array._local_shape(member), array.dtype

    def __getitem__(self, key):
        return self._array._access(key, None, None, 0, self._local)

    def __setitem__(self, key, value):
        self._array._access(key, value, None, _weir.WRITE, self._local)

    def read_all(self, selection=..., out=None):
        """As Array.read_all."""
        return self._array._access(selection, out, None, _weir.TOGETHER, self._local)

    def write_all(self, selection, value):
        """As Array.write_all."""
        self._array._access(selection, value, None, _weir.TOGETHER | _weir.WRITE, self._local)

    def __repr__(self):
        return (f"<local array {self._local - 1} of {self._array.path!r}: {self.shape} "
                f"{self.dtype}>")


class LocalArrays:
    """a.local: a sequence of the local arrays of a set."""

    def __init__(self, array, members):
        self._array, self._members = array, members

    def __len__(self):
        return self._members

    def __getitem__(self, member):
        if not -self._members <= member < self._members:
            raise IndexError(f"there is no local array {member}, of {self._members}")
        return LocalArray(self._array, member % self._members)


class Array(_weir.Array):
    """An array in a file, open on one process or on all of a communicator.

    a[...] and a[...] = x are indexed as NumPy's arrays: integers, slices with any step, ..., None,
    lists and arrays of indices, masks. What is read is a new NumPy array; nothing is kept in memory.
    By `with a.collective:`, read_all and write_all all ranks read or write together, each what it
    wants, which is much faster than each for itself. Close arrays, best by `with`: a new one gets its
    name only then.
    """

    @property
    def ndim(self):
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self):
        """Bytes of all elements, in memory."""
        return self.size * self.dtype.itemsize

    @property
    def path(self):
        """The name it was opened or created with."""
        return self._path

    @property
    def mode(self):
        """ "r" or "r+"."""
        return "r+" if self.writable else "r"

    @property
    def order(self):
        """ "C" if it is stored by rows, "F" by columns."""
        return "F" if self._told["columns"] else "C"

    @property
    def format(self):
        """npy, set, raw, netcdf, zarr, zarr2 or hdf5."""
        return _FORMATS[self._told["format"]]

    @property
    def chunks(self):
        """Indices of a chunk along each dimension; None if it is not in chunks."""
        return self._told["chunks"]

    @property
    def shards(self):
        """Indices that are in one file; None if that is one chunk."""
        return self._told["shards"]

    @property
    def codec(self):
        """What chunks go through, such as "zstd:3"; None if nothing."""
        return self._told["codec"]

    @property
    def attrs(self):
        """Attributes, as a mapping that cannot be changed."""
        return types.MappingProxyType(json.loads(self._told["attributes"]))

    @property
    def dims(self):
        """Names of the dimensions, or None."""
        return tuple(json.loads(self._told["names"])) or None

    @property
    def local(self):
        """The local arrays of a set: a.local[2][:, 3]."""
        if not self._told["members"]:
            raise AttributeError("the array has no local arrays: it is no set")
        return LocalArrays(self, self._told["members"])

    @property
    def grid(self):
        """Of a set, the local arrays along each dimension; None otherwise."""
        return self._told["grid"]

    @property
    def collective(self):
        """`with a.collective:` makes a[...] and a[...] = x collective: all ranks do it together."""
        return _Collective(self)

    @property
    def oindex(self):
        """a.oindex[[1, 2], [3, 4]] has rows 1 and 2 of columns 3 and 4; NumPy, and so a[...], would
        give two points."""
        return _Outer(self)

    def read(self, selection=..., out=None, dtype=None):
        """Reads what is selected, into `out` if that is given, converted to its type or to `dtype`;
        this rank alone. Any strides of `out` do, without a copy."""
        return self._access(selection, out, _dtype(dtype), 0, 0)

    def write(self, selection, value):
        """As a[selection] = value; this rank alone."""
        self._access(selection, value, None, _weir.WRITE, 0)

    def read_all(self, selection=..., out=None, dtype=None):
        """As read, by all ranks together. A rank that wants nothing says (slice(0),)."""
        return self._access(selection, out, _dtype(dtype), _weir.TOGETHER, 0)

    def write_all(self, selection, value):
        """As write, by all ranks together."""
        self._access(selection, value, None, _weir.TOGETHER | _weir.WRITE, 0)

    def iread(self, selection=..., out=None, dtype=None):
        """As read, but goes on in the background; returns a Request."""
        return self._access(selection, out, _dtype(dtype), _weir.REQUEST, 0)

    def iwrite(self, selection, value):
        """As write, but goes on in the background; returns a Request. `value` must not change before
        it is over."""
        return self._access(selection, value, None, _weir.REQUEST | _weir.WRITE, 0)

    def iread_all(self, selection=..., out=None, dtype=None):
        """As read_all, in the background: started by all ranks in the same order."""
        return self._access(selection, out, _dtype(dtype), _weir.REQUEST | _weir.TOGETHER, 0)

    def iwrite_all(self, selection, value):
        """As write_all, in the background: started by all ranks in the same order."""
        return self._access(selection, value, None,
                            _weir.REQUEST | _weir.TOGETHER | _weir.WRITE, 0)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind and self.ranks > 1 and not getattr(error, "_weir_shared", False):
            _left.append(self)  # others may be in another call: to close it would wait for them
        elif kind and self._fresh:
            self.discard()
        else:
            self.close()

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("an array in a file cannot be had without a copy")
        read = self[...]
        return np.asarray(read) if dtype is None else np.asarray(read).astype(dtype, copy=False)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return not self.closed

    def __repr__(self):
        if self._told is None:
            return "<weir.Array>"
        stored = self.format + (f" in chunks of {self.chunks}" if self.chunks else "")
        stored += f", {self.codec}" if self.codec else ""
        state = "closed" if self.closed else "new" if self._fresh else f"mode {self.mode!r}"
        ranks = f", rank {self.rank} of {self.ranks}" if self.ranks > 1 else ""
        return (f"<weir.Array {self.path!r}: {self.shape} {self.dtype}, order {self.order}, "
                f"{stored}, {state}{ranks}>")

    def __reduce__(self):
        if self.writable:
            raise TypeError("only arrays opened for reading can be pickled")
        return open, (_absolute(self.path), "r", None, self._hints)

    def __dask_tokenize__(self):
        name = _absolute(self.path)
        file = name.split(":", 2)[1] if name.startswith("raw:") else name.split(":/")[0]
        try:
            known = os.stat(file)
            return "weir.Array", name, known.st_mtime_ns, known.st_size
        except OSError:
            return "weir.Array", name, id(self)

    _told = _path = _hints = None

    def _tell(self, path, hints):
        self._path, self._hints, self._told = path, hints, self._info()
        return self


_left = []  # by an exception of this rank's own


def _at_exit():
    """Where this rank ends by an exception, others that wait for it in a collective call would wait
    for ever."""
    if _weir.shared() and (_left or getattr(sys, "last_value", None) is not None):
        sys.stderr.write("weir: an exception ended this rank while it had arrays open with others, "
                         "which may be waiting for it: all ranks end\n")
        sys.stderr.flush()
        time.sleep(0.5)  # launchers may drop what they have not passed on
        _weir.abort()
    _weir.at_exit()


def _dtype(dtype):
    return None if dtype is None else np.dtype(dtype).newbyteorder("=")


def _absolute(path):
    head = "raw:" if path.startswith("raw:") else ""
    return head + os.path.abspath(path[len(head):])


def _name(path):
    return os.fsdecode(os.fspath(path))


def _sizes(sizes, what):
    if sizes is None:
        return None
    sizes = (sizes,) if np.ndim(sizes) == 0 else sizes
    try:
        return tuple(int(size) for size in sizes)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be integers, not {sizes!r}") from None


def open(path, mode="r", comm=None, hints=None):
    """Opens an array: a .npy file, x.zarr, x.h5:/name, x.nc:/name, a set, raw:PATH:f8:100,200.

    mode is "r", or "r+" for writing too. comm is None for this process alone, a communicator of
    mpi4py for all its ranks, which then open it together, or "world" for all of MPI's where mpi4py is
    not there. hints are "NAME=VALUE;...", see docs/tunables.md.
    """
    if mode not in ("r", "r+"):
        raise ValueError(f'mode must be "r" or "r+", not {mode!r}; weir.create makes new arrays')
    name, array = _name(path), Array()
    array._open(os.fsencode(name), mode == "r+", hints, _comm.address(comm), comm)
    return array._tell(name, hints)


def create(path, shape, dtype, order="C", chunks=None, codec=None, fill=None, comm=None, *,
           overwrite=False, shards=None, grid=None, block=None, format=None, like=None, hints=None):
    """Creates an array, whose name says its format, as for open; it gets the name when it is closed.

    order is "C" for rows or "F" for columns; chunks, codec ("zstd:3", ...) and shards are for Zarr
    and HDF5; fill is what elements are until they are written. grid=(2, 3) makes a set of local
    arrays, dealt in blocks of `block`; format="zarr2" a Zarr array of version 2. like is an array
    whose attributes and names of dimensions the new one gets.
    """
    dtype = np.dtype(dtype)
    kind = _weir.type_name(dtype.str) if dtype.kind in "biufc" else ""
    if not kind:
        raise TypeError(f"elements cannot be of type {dtype}")
    if order not in ("C", "F"):
        raise ValueError(f'order must be "C" or "F", not {order!r}')
    if format not in (None, "zarr", "zarr2"):
        raise ValueError(f'format must be None, "zarr" or "zarr2", not {format!r}: the name says it')
    if fill is not None:
        fill = np.asarray(fill).astype(dtype.newbyteorder("=")).tobytes()
    name, array = _name(path), Array()
    array._create(os.fsencode(name), _sizes(shape, "shape"), kind, order == "F",
                  _sizes(chunks, "chunks"), _sizes(shards, "shards"), codec, fill, bool(overwrite),
                  _sizes(grid, "grid"), _sizes(block, "block"),
                  _FORMATS.index(format) if format else 0, like, hints, _comm.address(comm), comm)
    return array._tell(name, hints)


def remove(path, comm=None):
    """Removes an array that nobody has open, with all its files."""
    _weir.remove(os.fsencode(_name(path)), _comm.address(comm))
