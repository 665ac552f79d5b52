"""Loops over arrays that do not fit in memory, slab by slab."""
import operator

from . import _memory, _progress, _weir
from ._array import need


class Slab:
    """One turn of a loop: `inputs` and `outputs` are NumPy arrays, one for each array, valid until the
    next turn. `lo` and `hi` are the slab's indices; inputs reach from `in_lo` to `in_hi`, halo
    included, and `core` is the slab within them."""

    __slots__ = ("lo", "hi", "in_lo", "in_hi", "inputs", "outputs")

    def __init__(self, lo, hi, in_lo, in_hi, inputs, outputs):
        self.lo, self.hi, self.in_lo, self.in_hi = lo, hi, in_lo, in_hi
        self.inputs, self.outputs = inputs, outputs

    @property
    def index(self):
        """Slices of the whole arrays that are this slab."""
        return tuple(slice(lo, hi) for lo, hi in zip(self.lo, self.hi))

    @property
    def core(self):
        """Slices of inputs that are this slab, without its halo."""
        return tuple(slice(lo - first, hi - first)
                     for lo, hi, first in zip(self.lo, self.hi, self.in_lo))

    def __repr__(self):
        return "<weir.Slab [" + ", ".join(f"{a}:{b}" for a, b in zip(self.lo, self.hi)) + "]>"


class Slabs:
    """What weir.slabs returns: an iterator, and a context manager that finishes the loop."""

    def __init__(self, inputs, outputs, memory, halo, block, deal, together, progress):
        lead = (inputs or outputs)[0]
        self._loop = _weir.Loop()
        self._loop.begin(inputs, outputs, _memory.parse(memory), _each(halo, lead.ndim, "halo"),
                         _each(block, lead.ndim, "block"), deal, together)
        self._bar = _progress.start(progress, "slabs", lead.rank)
        self._done = self._last = 0
        self._all = lead.size if lead.ranks == 1 else 0  # what other ranks have is not known

    def __iter__(self):
        return self

    def __next__(self):
        self._done, self._last = self._done + self._last, 0
        if self._bar:
            self._bar(self._done, self._all)
        told = self._loop.next()
        if told is None:
            self.finish()
            raise StopIteration
        slab = Slab(*told)
        self._last = 1
        for lo, hi in zip(slab.lo, slab.hi):
            self._last *= hi - lo
        return slab

    def finish(self):
        """Waits for what is written, and raises its errors. A loop that ends does it."""
        if self._bar:
            self._bar.close()
            self._bar = None
        self._loop.finish()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.finish()

    def __del__(self):
        if hasattr(self, "_loop"):
            self._loop.abandon()  # views may keep the loop's memory, but nothing is written any more


def _each(lengths, dimensions, what):
    if lengths is None:
        return ()
    try:
        return (operator.index(lengths),) * dimensions
    except TypeError:
        lengths = tuple(operator.index(n) for n in lengths)
    if len(lengths) != dimensions:
        raise ValueError(f"{what} has {len(lengths)} lengths for {dimensions} dimensions")
    return lengths


def slabs(inputs, outputs=(), memory=None, halo=0, block=None, deal=False, together=False,
          progress=False):
    """Walks arrays of equal shape in slabs that fit `memory` ("256M"; 64 MiB unless told):

        for slab in weir.slabs([a], [b], memory="256M", halo=1):
            slab.outputs[0][...] = f(slab.inputs[0])[slab.core]

    The next slab is read and the last one written while the caller computes. Inputs have `halo` more
    indices on each side, as far as the array goes. Several ranks divide the array, each in one part
    or, with deal=True, in turn; with together=True they read and write together, and all must loop to
    the end. block gives the size of slabs.
    """
    inputs, outputs = ((arrays,) if isinstance(arrays, _weir.Array) else tuple(arrays)
                       for arrays in (inputs, outputs))
    if not inputs + outputs:
        raise ValueError("a slab loop needs an array")
    for array in inputs + outputs:
        need(array)
    return Slabs(inputs, outputs, memory, halo, block, deal, together, progress)
