"""NumPy's indexing, made simple: the extension takes a range or a list for each dimension, or boxes.

What it reads has the dimensions in their order. An arrangement tells how that becomes what NumPy
would have given: axes of lists get the shape of their index arrays, all move to their places, and new
axes come in between. For new memory that is a view."""
import operator

import numpy as np

from . import _weir

_WHOLE = slice(None)


class _Arrangement:
    """From the axes that are read to those of the result: `split` has the shape that each becomes,
    `order` is a permutation of all these, `insert` a key that adds new axes."""

    def __init__(self, split, order, insert):
        self.split, self.order, self.insert = split, order, insert
        self.flat = [extent for part in split for extent in part]

    def forward(self, read):
        return np.asarray(read).reshape(self.flat).transpose(self.order)[self.insert + (...,)]

    def shape(self):
        flat = iter([self.flat[i] for i in self.order])
        return tuple(1 if part is None else next(flat) for part in self.insert)

    def sizes(self):
        return [int(np.prod(part, dtype=np.int64)) for part in self.split]

    def backward(self, given):
        """What the extension takes; a view of `given` where that is possible."""
        given = given[tuple(0 if part is None else _WHOLE for part in self.insert)]
        given = given.transpose(np.argsort(self.order, kind="stable"))
        return given.reshape(self.sizes())


def _indices(values, extent, dimension):
    values = np.asarray(values)
    if values.size == 0 and values.dtype.kind == "f":
        values = values.astype(np.int64)  # an empty list
    if values.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    values = values.astype(np.int64)
    bad = (values < -extent) | (values >= extent)
    if bad.any():
        raise IndexError(f"index {values[bad].flat[0]} is out of bounds for dimension {dimension} "
                         f"with size {extent}")
    return np.where(values < 0, values + extent, values)


def _mask(item, shape, dimension):
    """The lists that a mask stands for, one for each of its dimensions."""
    if item.shape != tuple(shape[dimension:dimension + item.ndim]):
        raise IndexError(f"a mask of shape {item.shape} at dimension {dimension} of an array of "
                         f"shape {tuple(shape)}")
    return item.nonzero()


def _items(key):
    """(item, number of dimensions it takes), lists made arrays."""
    for item in key if isinstance(key, tuple) else (key,):
        if item is None or item is Ellipsis:
            yield item, 0
        elif isinstance(item, slice):
            yield item, 1
        elif isinstance(item, (bool, np.bool_)) or getattr(item, "dtype", None) == bool and not item.ndim:
            raise IndexError("True and False are no indices of an array in a file")
        elif hasattr(item, "__len__") or getattr(item, "ndim", 0):
            item = np.asarray(item)
            yield item, item.ndim if item.dtype == bool else 1
        else:
            try:
                yield operator.index(item), 1
            except TypeError:
                raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and integer "
                                 "or boolean arrays are valid indices") from None


def _expand(key, shape):
    """Parts for all dimensions: None, or (dimension, integer, slice or tuple of lists)."""
    items = list(_items(key))
    taken = sum(count for _, count in items)
    dots = sum(item is Ellipsis for item, _ in items)
    if dots > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if taken > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} dimensions, "
                         f"{taken} were indexed")
    if not dots:
        items.append((Ellipsis, 0))
    d, parts = 0, []
    for item, count in items:
        if item is None:
            parts.append(None)
        elif item is Ellipsis:
            parts += [(i, _WHOLE) for i in range(d, d + len(shape) - taken)]
            if dots and len(shape) == taken:
                parts.append(...)  # nothing, but something between lists
            d += len(shape) - taken
        else:
            if isinstance(item, np.ndarray):
                lists = (_mask(item, shape, d) if item.dtype == bool
                         else (_indices(item, shape[d], d),))
                parts.append((d, lists))
            elif isinstance(item, slice):
                parts.append((d, item))
            else:
                parts.append((d, int(_indices(item, shape[d], d))))
            d += count
    return parts


class _Wanted:
    """What a key selects. Lists that do not meet in one axis when they are broadcast are each their
    own dimension's (`outer`); otherwise they say points."""

    def __init__(self, key, shape):
        self.shape, self.parts = shape, _expand(key, shape)
        self.dots = any(item is Ellipsis for item in (key if isinstance(key, tuple) else (key,)))
        lists = {}
        for part in self.parts:
            if isinstance(part, tuple) and isinstance(part[1], tuple):
                lists.update({part[0] + i: values for i, values in enumerate(part[1])})
        try:
            self.joint = np.broadcast_shapes(*(v.shape for v in lists.values()))
        except ValueError:
            raise IndexError("index arrays of shapes " +
                             " ".join(str(v.shape) for v in lists.values()) +
                             " cannot be broadcast together") from None
        self.lists = {d: v.reshape((1,) * (len(self.joint) - v.ndim) + v.shape)
                      for d, v in lists.items()}
        self.axes = {d: [i for i, n in enumerate(v.shape) if n != 1]
                     for d, v in self.lists.items()}
        taken = [i for axes in self.axes.values() for i in axes]
        self.outer = len(set(taken)) == len(taken)

    def of_ranges(self, kind):
        return [part for part in self.parts
                if isinstance(part, tuple) and isinstance(part[1], kind)]

    def simple_key(self):
        key = dict(self.of_ranges((int, slice)))
        key.update({d: np.ascontiguousarray(v.reshape(-1)) for d, v in self.lists.items()})
        return tuple(key[d] for d in range(len(self.shape)))

    def places(self, joint):
        """Names of the result's axes. Those of the lists come where the first of them is, or before
        all others if something is between them, as NumPy has it; integers count as lists."""
        names, at, last, apart = [], None, None, False
        for i, part in enumerate(self.parts):
            if part is None:
                names.append(None)
            elif part is Ellipsis:
                pass
            elif isinstance(part[1], slice):
                names.append(part[0])
            elif self.lists:
                at = len(names) if at is None else at
                apart = apart or last not in (None, i - 1)
                last = i
        at = 0 if apart or at is None else at
        return names[:at] + joint + names[at:]

    def arrange(self, split, names, joint):
        """`names` are those of the axes that `split` makes."""
        final = self.places(joint)
        where = {name: i for i, name in enumerate(names)}
        return _Arrangement(split, [where[name] for name in final if name is not None],
                            tuple(None if name is None else _WHOLE for name in final))

    def arrangement(self):
        """Of the outer form."""
        split, names = [], []
        for d, item in enumerate(self.simple_key()):
            if isinstance(item, slice):
                split.append((len(range(*item.indices(self.shape[d]))),))
                names.append(d)
            elif not isinstance(item, int):
                split.append(tuple(self.joint[i] for i in self.axes[d]))
                names += [("joint", i) for i in self.axes[d]]
        return self.arrange(split, names, [("joint", i) if ("joint", i) in names else None
                                           for i in range(len(self.joint))])

    def points(self):
        """A box for each point, and how all of them in a row are arranged. Ranges with a step are
        points too."""
        lo = np.zeros((1, len(self.shape)), np.int64)
        hi = np.ones((1, len(self.shape)), np.int64)
        for d, index in self.of_ranges(int):
            lo[0, d], hi[0, d] = index, index + 1
        stepped, rest = {}, {}
        for d, item in self.of_ranges(slice):
            start, stop, step = item.indices(self.shape[d])
            if step == 1:
                lo[0, d], hi[0, d] = start, max(start, stop)
                rest[d] = max(0, stop - start)
            else:
                stepped[d] = np.arange(start, stop, step, dtype=np.int64)
        outer = self.joint + tuple(len(values) for values in stepped.values())
        count = int(np.prod(outer, dtype=np.int64))
        lo, hi = np.repeat(lo, count, 0), np.repeat(hi, count, 0)
        columns = {d: v.reshape(v.shape + (1,) * len(stepped)) for d, v in self.lists.items()}
        for i, (d, values) in enumerate(stepped.items()):
            columns[d] = values.reshape((-1,) + (1,) * (len(stepped) - 1 - i))
        for d, values in columns.items():
            lo[:, d] = np.broadcast_to(values, outer).reshape(-1)
            hi[:, d] = lo[:, d] + 1
        joint = [("joint", i) for i in range(len(self.joint))]
        split = [(n,) for n in outer] + [(n,) for n in rest.values()]
        return lo, hi, self.arrange(split, joint + list(stepped) + list(rest), joint)


def _last_of_each(key, value):
    """Where a list has an index more than once its last value counts, as in NumPy."""
    key, axis = list(key), 0
    for d, item in enumerate(key):
        if isinstance(item, np.ndarray):
            kept, first = np.unique(item[::-1], return_index=True)
            if len(kept) != len(item):
                key[d] = kept
                value = value.take(len(item) - 1 - first, axis)
        axis += not isinstance(item, int)
    return tuple(key), value


def _move_simple(array, wanted, memory, dtype, how, local):
    key, arranged = wanted.simple_key(), wanted.arrangement()
    if how & _weir.WRITE:
        value = value_for(memory, array.dtype, arranged.shape())
        key, value = _last_of_each(key, arranged.backward(value))
        return lambda: array._move(key, value, None, how, local)
    if memory is None:
        dtype, convert = _readable(array.dtype, dtype, how)
        return lambda: _arranged(array._move(key, None, dtype, how, local),
                                 lambda read: convert(arranged.forward(read)), not wanted.dots)
    target = arranged.backward(_checked(memory, arranged.shape()))
    if np.may_share_memory(target, memory) and _usable(target, array.dtype):
        return lambda: _arranged(array._move(key, target, None, how, local), lambda _: memory)
    return _by_detour(lambda: array._move(key, None, None, how, local), arranged, memory, how)


def _move_points(array, wanted, memory, dtype, how, local):
    lo, hi, arranged = wanted.points()
    if how & _weir.WRITE:
        value = arranged.backward(value_for(memory, array.dtype, arranged.shape()))
        value = np.ascontiguousarray(value).reshape((len(lo), value.size // max(1, len(lo))))
        kept, first = np.unique(lo[::-1], axis=0, return_index=True)
        if len(kept) != len(lo):
            chosen = len(lo) - 1 - first
            lo, hi, value = lo[chosen], hi[chosen], np.ascontiguousarray(value[chosen])
        return lambda: array._boxes(lo, hi, value, how, local)
    dtype, convert = _readable(array.dtype, dtype, how)
    fresh = np.empty(arranged.sizes(), dtype)
    if memory is None:
        return lambda: _arranged(array._boxes(lo, hi, fresh, how, local),
                                 lambda read: convert(arranged.forward(read)))
    _checked(memory, arranged.shape())
    return _by_detour(lambda: array._boxes(lo, hi, fresh, how, local), arranged, memory, how)


def _arranged(done, arrange, scalar=False):
    if isinstance(done, _weir.Request):
        done._arrange(arrange)
        return done
    result = arrange(done)
    return result[()] if scalar and not result.ndim else result


def _readable(stored, dtype, how):
    """What the library reads where `dtype` is wanted, and what makes that of it."""
    dtype = stored if dtype is None else dtype
    if dtype.kind not in "biufc" or not _weir.type_name(dtype.str):
        raise TypeError(f"elements cannot be read as {dtype}")
    if dtype == stored or np.float16 not in (dtype, stored):
        return dtype, lambda read: read
    if how & _weir.REQUEST:
        raise ValueError("float16 is not converted in the background")
    return stored, lambda read: read.astype(dtype)


def _by_detour(read, arranged, memory, how):
    """Into other memory first: what `memory` is cannot be said to the library."""
    if how & _weir.REQUEST:
        raise ValueError("in the background, out must have a type that the library converts to, in "
                         "this machine's byte order, and axes as the array has them")

    def run():
        np.copyto(memory, arranged.forward(read()), casting="unsafe")
        return memory
    return run


def _checked(memory, shape):
    if not isinstance(memory, np.ndarray):
        raise TypeError("out must be a NumPy array")
    if memory.shape != shape:
        raise ValueError(f"out has shape {memory.shape}; what is selected has {shape}")
    if not memory.flags.writeable:
        raise ValueError("out is read-only")
    return memory


def _usable(memory, dtype):
    """Whether the library can read elements of `dtype` into it, or write them from it."""
    if not memory.flags.aligned or not memory.dtype.isnative:
        return False
    if memory.dtype.kind not in "biufc" or not _weir.type_name(memory.dtype.str):
        return False
    return memory.dtype == dtype or np.float16 not in (memory.dtype, dtype)


def value_for(value, dtype, shape):
    """What is to be written, as the library takes it, of that shape."""
    value = np.asarray(value)
    if not _usable(value, dtype):
        value = value.astype(dtype)
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    if value.shape == tuple(shape):
        return value
    try:
        return np.broadcast_to(value, shape)
    except ValueError:
        raise ValueError(f"a value of shape {value.shape} does not fit what is selected, "
                         f"of shape {tuple(shape)}") from None


def access(array, key, memory, dtype, how, local):
    """What the extension could not do by itself."""
    try:
        shape = array._local_shape(local - 1) if local else array.shape
        wanted = _Wanted(key, shape)
        move = _move_simple if wanted.outer else _move_points
        move = move(array, wanted, memory, dtype, how, local)
    except Exception as error:
        array._refuse(how, str(error))
        raise
    return move()


def outer_key(key, shape):
    """A key in which each list is its own dimension's, for the extension."""
    simple = []
    for part in _expand(key, shape):
        if part is Ellipsis:
            continue
        if part is None or (isinstance(part[1], tuple) and
                            (len(part[1]) > 1 or part[1][0].ndim != 1)):
            raise IndexError("integers, slices, and lists and masks of one dimension are indices "
                             "here")
        item = part[1]
        simple.append(np.ascontiguousarray(item[0]) if isinstance(item, tuple) else item)
    return tuple(simple)


def awaited(request):
    """What `await` uses: another thread waits."""
    import asyncio
    return asyncio.get_running_loop().run_in_executor(None, request.wait).__await__()
