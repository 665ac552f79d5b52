"""The class of arrays, and what makes them."""
import contextlib
import json
import operator
import os
import sys
import time
import types

import numpy as np

from . import _comm, _index, _weir
from ._errors import share

_FORMATS = ("npy", "set", "raw", "netcdf", "zarr", "zarr2", "hdf5")


def _how(array):
    return _weir.TOGETHER if array._together else 0


@contextlib.contextmanager
def _refusing(array, how):
    """An error in here is told to the other ranks of a collective call."""
    try:
        yield
    except Exception as error:
        array._refuse(how, str(error))
        if how & _weir.TOGETHER:
            raise share(error) from error
        raise


# Which are of arrays with names of their own.
_FILES = (".h5", ".hdf5", ".he5", ".nc", ".nc4", ".cdf")


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

    def _move(self, key, value, how):
        array = self._array
        how |= _how(array)
        with _refusing(array, how):
            key = _index.outer_key(key, array.shape)
        return array._move(key, value, None, how, 0)

    def __getitem__(self, key):
        return self._move(key, None, 0)

    def __setitem__(self, key, value):
        self._move(key, value, _weir.WRITE)


class LocalArray:
    """One of the local arrays of a set, with indices of its own."""

    def __init__(self, array, member):
        self._array, self._local = array, member + 1
        self.shape, self.dtype = array._local_shape(member), array.dtype

    def __getitem__(self, key):
        return self._array._access(key, None, None, _how(self._array), self._local)

    def __setitem__(self, key, value):
        self._array._access(key, value, None, _how(self._array) | _weir.WRITE, self._local)

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

    def _read(self, selection, out, dtype, how):
        if dtype is not None:
            with _refusing(self, how):
                dtype = np.dtype(dtype).newbyteorder("=")
        return self._access(selection, out, dtype, how, 0)

    def read(self, selection=..., out=None, dtype=None):
        """Reads what is selected, into `out` if that is given, converted to its type or to `dtype`;
        this rank alone. Any strides of `out` do, without a copy. To convert takes as much memory
        again; what a type cannot hold becomes the nearest that it can."""
        return self._read(selection, out, dtype, 0)

    def write(self, selection, value):
        """As a[selection] = value; this rank alone."""
        self._access(selection, value, None, _weir.WRITE, 0)

    def read_all(self, selection=..., out=None, dtype=None):
        """As read, by all ranks together. A rank that wants nothing says (slice(0),)."""
        return self._read(selection, out, dtype, _weir.TOGETHER)

    def write_all(self, selection, value):
        """As write, by all ranks together."""
        self._access(selection, value, None, _weir.TOGETHER | _weir.WRITE, 0)

    def iread(self, selection=..., out=None, dtype=None):
        """As read, but goes on in the background; returns a Request."""
        return self._read(selection, out, dtype, _weir.REQUEST)

    def iwrite(self, selection, value):
        """As write, but goes on in the background; returns a Request. `value` must not change before
        it is over."""
        return self._access(selection, value, None, _weir.REQUEST | _weir.WRITE, 0)

    def iread_all(self, selection=..., out=None, dtype=None):
        """As read_all, in the background: started by all ranks in the same order."""
        return self._read(selection, out, dtype, _weir.REQUEST | _weir.TOGETHER)

    def iwrite_all(self, selection, value):
        """As write_all, in the background: started by all ranks in the same order."""
        return self._access(selection, value, None,
                            _weir.REQUEST | _weir.TOGETHER | _weir.WRITE, 0)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind and self.ranks > 1 and not getattr(error, "_weir_shared", False):
            # others may be in another call: to close it would wait for them
            _left.append((self, kind is SystemExit and error.code))
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


_left = []  # arrays left by an exception of this rank's own, and the status if that ends the program


def _at_exit():
    """Where this rank ends by an exception, others that wait for it would wait for ever."""
    failed = getattr(sys, "last_value", None) is not None or any(code for _, code in _left)
    if failed and _weir.shared():
        sys.stderr.write("weir: an exception ended this rank, for which others may be waiting: all "
                         "ranks end\n")
        sys.stderr.flush()
        time.sleep(0.5)  # launchers may drop what they have not passed on
        _weir.abort()
    _weir.at_exit(not failed)


def need(array):
    """The array; TypeError if it is none of Weir's."""
    if not isinstance(array, Array):
        raise TypeError(f"a weir.Array is needed, not {type(array)}")
    return array


def element(value, dtype):
    """The bytes of one element."""
    value = np.asarray(value)
    if value.ndim:
        raise ValueError(f"one element is needed, not an array of shape {value.shape}")
    return value.astype(dtype.newbyteorder("=")).tobytes()


def _absolute(path):
    head = "raw:" if path.startswith("raw:") else ""
    return head + os.path.abspath(path[len(head):])


def _name(path):
    return os.fsdecode(os.fspath(path))


def _sizes(sizes, what):
    if sizes is None:
        return None
    try:
        sizes = (sizes,) if np.ndim(sizes) == 0 and not isinstance(sizes, str) else sizes
        return tuple(operator.index(size) for size in sizes)
    except TypeError:
        raise TypeError(f"{what} must be integers, not {sizes!r}") from None


@contextlib.contextmanager
def _arguments(call, *nothing):
    """Where one rank's arguments are wrong it makes the call for something that cannot be, so that the
    others do not wait for it."""
    try:
        yield
    except Exception as error:
        if nothing[-2]:
            try:
                call(b"", *nothing)
            except Exception:
                raise share(error) from error
        raise


def open(path, mode="r", comm=None, hints=None):
    """Opens an array: a .npy file, x.zarr, x.h5:/name, x.nc:/name, a set, raw:PATH:f8:100,200.

    mode is "r", or "r+" for writing too. comm is None for this process alone, a communicator of
    mpi4py for all its ranks, which then open it together, or "world" for all of MPI's where mpi4py is
    not there. hints are "NAME=VALUE;...", see docs/tunables.md.
    """
    address, array = _comm.address(comm), Array()
    with _arguments(array._open, False, None, address, comm):
        if mode not in ("r", "r+"):
            raise ValueError(f'mode must be "r" or "r+", not {mode!r}; weir.create makes new arrays')
        name = _name(path)
    array._open(os.fsencode(name), mode == "r+", hints, address, comm)
    return array._tell(name, hints)


def create(path, shape, dtype, order="C", chunks=None, codec=None, fill=None, comm=None, *,
           overwrite=False, shards=None, grid=None, block=None, format=None, like=None, hints=None):
    """Creates an array, whose name says its format, as for open; it gets the name when it is closed.

    order is "C" for rows or "F" for columns; chunks, codec ("zstd:3", ...) and shards are for Zarr
    and HDF5; fill is what elements are until they are written. grid=(2, 3) makes a set of local
    arrays, dealt in blocks of `block`; format="zarr2" a Zarr array of version 2. like is an array
    whose attributes and names of dimensions the new one gets.
    """
    address, array = _comm.address(comm), Array()
    with _arguments(array._create, (), "f8", False, None, None, None, None, False, None, None, 0, None,
                    None, address, comm):
        dtype = np.dtype(dtype)
        kind = _weir.type_name(dtype.str) if dtype.kind in "biufc" else ""
        if not kind:
            raise TypeError(f"elements cannot be of type {dtype}")
        if order not in ("C", "F"):
            raise ValueError(f'order must be "C" or "F", not {order!r}')
        if format not in (None, "zarr", "zarr2"):
            raise ValueError(f'format must be "zarr" or "zarr2", or the name says it, not {format!r}')
        if fill is not None:
            fill = element(fill, dtype)
        name = _name(path)
        if name.lower().endswith(_FILES):
            raise ValueError(f'{name}: an array in such a file has a name in it: "{name}:/name"')
        wanted = (os.fsencode(name), _sizes(shape, "shape"), kind, order == "F",
                  _sizes(chunks, "chunks"), _sizes(shards, "shards"), codec, fill, bool(overwrite),
                  _sizes(grid, "grid"), _sizes(block, "block"),
                  _FORMATS.index(format) if format else 0, like, hints)
    array._create(*wanted, address, comm)
    return array._tell(name, hints)


def remove(path, comm=None):
    """Removes an array that nobody has open, with all its files."""
    _weir.remove(os.fsencode(_name(path)), _comm.address(comm))
