"""Random keys, as NumPy takes them."""
import numpy as np


def _slice(rng, n):
    ends = [None, *range(-n - 2, n + 3)]
    steps = [None, 1, 1, 2, 3, -1, -2, n + 1]
    return slice(ends[rng.integers(len(ends))], ends[rng.integers(len(ends))],
                 steps[rng.integers(len(steps))])


def _list(rng, n):
    if not n:
        return []
    values = rng.integers(-n, n, rng.integers(0, 6))
    return values.tolist() if rng.random() < 0.5 else values


def _range(rng, n):
    if n and rng.random() < 0.35:
        i = int(rng.integers(-n, n))
        return i if rng.random() < 0.7 else np.int64(i)
    return _slice(rng, n)


def _joint(rng, shape):
    """Index arrays that are broadcast together."""
    joint = tuple(rng.integers(1, 4, rng.integers(1, 3)))
    key = []
    for n in shape:
        own = [1 if rng.random() < 0.3 else extent for extent in joint]
        key.append(rng.integers(-n, n, own[rng.integers(len(own)):] or own))
    return key


def random_key(rng, shape):
    """A key of one of several kinds."""
    kind = rng.integers(8)
    key = [_range(rng, n) for n in shape]
    there = [d for d, n in enumerate(shape) if n]
    if kind == 1 and shape:  # one list or mask
        d = int(rng.integers(len(shape)))
        key[d] = _list(rng, shape[d]) if rng.random() < 0.6 else rng.random(shape[d]) < 0.5
    elif kind == 2 and len(there) > 1:  # several, joined
        some = sorted(rng.choice(there, int(rng.integers(2, len(there) + 1)), replace=False))
        for d, values in zip(some, _joint(rng, [shape[d] for d in some])):
            key[d] = values
    elif kind == 3 and len(shape) > 1:  # a grid
        d = int(rng.integers(len(shape) - 1))
        lists = [rng.integers(0, n, 3) if n else np.zeros(0, int) for n in shape[d:d + 2]]
        key[d:d + 2] = np.ix_(*lists)
    elif kind == 4 and shape:  # a mask of several dimensions
        d = int(rng.integers(len(shape)))
        e = int(rng.integers(d + 1, len(shape) + 1))
        key[d:e] = [rng.random(shape[d:e]) < 0.3]
    elif kind == 5 and shape:  # an index array with a shape of its own
        d = int(rng.integers(len(shape)))
        if shape[d]:
            key[d] = rng.integers(-shape[d], shape[d], (2, int(rng.integers(0, 4))))
    if rng.random() < 0.3:  # ... for some
        a, b = sorted(rng.integers(0, len(key) + 1, 2))
        if not any(getattr(k, "ndim", 1) > 1 and getattr(k, "dtype", None) == bool for k in key[a:b]):
            key[a:b] = [Ellipsis]
    elif rng.random() < 0.3 and kind != 4:
        del key[rng.integers(len(key) + 1):]
    for _ in range(int(rng.integers(0, 2) * rng.integers(0, 3))):
        key.insert(int(rng.integers(len(key) + 1)), None)
    return key[0] if len(key) == 1 and rng.random() < 0.5 else tuple(key)
