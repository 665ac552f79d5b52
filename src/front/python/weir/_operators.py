"""Operators: computations on whole arrays that do not fit in memory, by all ranks that have them
open."""
import collections
import contextlib
import operator
import os
import tempfile

import numpy as np

from . import _memory, _progress, _weir
from ._array import Array, create, element, need, open

Estimate = collections.namedtuple("Estimate", "read written calls memory how")
Estimate.__doc__ = """What an operator would do: bytes read and written by all ranks, calls of the rank
that makes most, bytes of a rank's buffers, and a line about what is in memory at a time."""

Statistics = collections.namedtuple("Statistics", "count nans min max mean std")
Statistics.__doc__ = """Of all elements of an array; what is not a number is only counted. min and max of
integers are integers, exact."""

Relaxed = collections.namedtuple("Relaxed", "array iterations residual")
Relaxed.__doc__ = """The array that has the result, iterations made, largest change in the last."""

_OPTIONS = """

    memory ("256M"; 64 MiB unless told) bounds the buffers of a rank. direct=True: ranks read and write
    each for itself. progress=True shows a bar; it may be a function of (done, total). dry_run=True
    does nothing and returns an Estimate."""


def _operator(function):
    function.__doc__ += _OPTIONS
    return function


class _Target:
    """Where results go: an array, or the name of one to be made."""

    def __init__(self, to, shape, like, dtype=None, overwrite=False, dry=False):
        self.path = None if isinstance(to, Array) else to
        if self.path is None:
            self.array = to
        else:
            name = os.fsdecode(to)
            # NetCDF and HDF5 have only that; "d:/x.npy" may be in a folder "d:".
            by_rows = (":/" in name and not name.startswith("raw:")
                       and not os.path.isdir(name[:name.index(":/") + 1]))
            self.array = create(to, shape, dtype or like.dtype, "C" if by_rows else like.order,
                                comm=like.comm, overwrite=overwrite or dry)
        self.dry = dry

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.path is not None and (kind or self.dry):
            self.array.discard()
        elif self.path is not None:
            self.array.close()

    def result(self):
        """The array; one that was made here is open for reading."""
        return self.array if self.path is None else open(self.path, comm=self.array.comm)


def _run(name, arrays, rest, options):
    memory, direct, progress, dry = options
    for array in arrays:
        need(array)
    bar = None if dry else _progress.start(progress, name, arrays[0].rank)
    try:
        told = _weir.operate(name, tuple(arrays), rest, _memory.parse(memory), direct, bar, dry)
    finally:
        if bar:
            bar.close()
    return Estimate(*told) if dry else told


def _to(name, target, arrays, rest, options):
    """Runs an operator that fills the target."""
    with target:
        told = _run(name, arrays, rest, options)
    return told if options[3] else target.result()


def _axes(axes, dimensions):
    """None for all, one, or several, from the end too; each once."""
    if axes is None:
        return tuple(range(dimensions))
    axes = (axes,) if np.ndim(axes) == 0 else axes
    found = tuple(operator.index(axis) for axis in axes)
    if any(not -dimensions <= axis < dimensions for axis in found):
        raise ValueError(f"axes {found} are out of bounds for {dimensions} dimensions")
    found = tuple(axis % dimensions for axis in found)
    if len(set(found)) != len(found):
        raise ValueError(f"axes {found} name one twice")
    return found


@_operator
def transpose(a, to, axes=None, *, overwrite=False, memory=None, direct=False, progress=False,
              dry_run=False):
    """to = a.transpose(axes), as NumPy has it. `to` is an array of the right shape, or the name of one
    to be made; it is returned, open."""
    axes = tuple(range(need(a).ndim))[::-1] if axes is None else _axes(axes, a.ndim)
    if len(axes) != a.ndim:
        raise ValueError(f"axes {axes} are no permutation of {a.ndim} dimensions")
    target = _Target(to, [a.shape[axis] for axis in axes], a, overwrite=overwrite, dry=dry_run)
    return _to("transpose", target, (a, target.array), (axes,), (memory, direct, progress, dry_run))


@_operator
def copy(a, to, *, dtype=None, overwrite=False, memory=None, direct=False, progress=False,
         dry_run=False):
    """Copies all elements to an array of equal shape, whatever format, order and type it has. `to`
    may be the name of one to be made, of type `dtype`; it is returned, open."""
    target = _Target(to, need(a).shape, a, dtype, overwrite=overwrite, dry=dry_run)
    return _to("transpose", target, (a, target.array), (tuple(range(a.ndim)),),
               (memory, direct, progress, dry_run))


@_operator
def matmul(a, b, to, *, method="panels", overwrite=False, memory=None, direct=False, progress=False,
           dry_run=False):
    """to = a @ b, of matrices of one type: f4, f8, c8 or c16. method is "panels" or "gaxpy"."""
    if method not in ("panels", "gaxpy"):
        raise ValueError(f'method must be "panels" or "gaxpy", not {method!r}')
    shape = (need(a).shape[0] if a.ndim else 1, need(b).shape[-1] if b.ndim else 1)
    target = _Target(to, shape, a, overwrite=overwrite, dry=dry_run)
    return _to("matmul", target, (a, b, target.array), (int(method == "gaxpy"),),
               (memory, direct, progress, dry_run))


@_operator
def median(a, to, window=3, *, overwrite=False, memory=None, direct=False, progress=False,
           dry_run=False):
    """Each element of a matrix becomes the median of the window x window around it, edges repeated."""
    target = _Target(to, need(a).shape, a, overwrite=overwrite, dry=dry_run)
    return _to("median", target, (a, target.array), (window,), (memory, direct, progress, dry_run))


@_operator
def laplace(a, to, scratch, iterations=0, tolerance=0.0, *, exchange=False, memory=None, direct=False,
            progress=False, dry_run=False):
    """Jacobi iterations for Laplace's equation on a matrix of f4 or f8 whose edges are fixed, until
    that many are made, or nothing changes by more than the tolerance. Results alternate between the
    arrays `to` and `scratch`; Relaxed says which has the last."""
    told = _run("laplace", (a, to, scratch), (iterations, tolerance, exchange),
                (memory, direct, progress, dry_run))
    return told if dry_run else Relaxed((to, scratch)[told[0]], *told[1:])


_KINDS = ("sum", "mean", "min", "max", "std")


def _reduced_dtype(dtype, kind):
    """As NumPy has it."""
    if kind in ("min", "max"):
        return dtype
    if kind == "sum":
        return np.dtype("u8" if dtype.kind == "u" else "i8" if dtype.kind in "bi" else "f8"
                        if dtype == np.float16 else dtype)
    return np.dtype(dtype if dtype.kind == "f" and dtype != np.float16 else "f8")


@_operator
def reduce(a, to=None, axis=None, kind=None, *, keepdims=False, skip_nans=False, dtype=None,
           overwrite=False, memory=None, direct=False, progress=False, dry_run=False):
    """Statistics of all elements; or, with an axis, several, or a kind, what is left along these: the
    sum (unless told), mean, min, max or std, as NumPy has it; skip_nans=True leaves out what is not a number. `to` is an array, or
    the name of one to be made, which is returned, open; without it one process gets a NumPy array."""
    options = (memory, direct, progress, dry_run)
    if axis is None and to is None and kind is None:
        told = _run("reduce", (need(a),), (), options)
        return told if dry_run else Statistics(*told)
    kind = kind or "sum"
    if kind not in _KINDS:
        raise ValueError(f"kind must be one of {', '.join(_KINDS)}, not {kind!r}")
    axes = _axes(axis, need(a).ndim)
    along = [int(d in axes) for d in range(a.ndim)]
    shape = tuple(1 if gone else n for gone, n in zip(along, a.shape) if keepdims or not gone)
    rest = (along, _KINDS.index(kind), skip_nans)
    dtype = dtype or _reduced_dtype(a.dtype, kind)
    if to is None and a.ranks > 1:
        raise ValueError("several processes need an array, or its name, for the result")
    with contextlib.ExitStack() as stack:
        if to is None:
            to = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "reduced.npy")
            target = _Target(to, shape, a, dtype, dry=dry_run)
            told = _to("reduce_along", target, (a, target.array), rest, options)
            if dry_run:
                return told
            with told:
                return told[...]
        target = _Target(to, shape, a, dtype, overwrite, dry_run)
        return _to("reduce_along", target, (a, target.array), rest, options)


@_operator
def fill(a, value, *, memory=None, direct=False, progress=False, dry_run=False):
    """Every element becomes the value."""
    value = element(value, need(a).dtype)
    told = _run("fill", (a,), (value,), (memory, direct, progress, dry_run))
    return told if dry_run else a
