"""Indexing against NumPy, by random keys and by chosen ones."""
import numpy as np
import pytest
from conftest import SEED, SHARE
from random_key import random_key

import weir

TYPES = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def some_array(rng, dimensions, dtype="f8"):
    shape = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.05 else 1, 8, dimensions))
    values = rng.integers(0, 100, shape).astype(dtype)
    return np.asfortranarray(values) if rng.random() < 0.3 else values


def same(got, wanted, key):
    assert np.shape(got) == np.shape(wanted), (key, np.shape(got), np.shape(wanted))
    assert type(got) is type(wanted), (key, type(got), type(wanted))
    assert np.array_equal(got, wanted), key


def read(a, x, rng, key):
    """In one of the ways there are."""
    wanted, way = x[key], rng.integers(6)
    if way == 1:
        assert np.array_equal(a.iread(key).wait(), wanted)
    if way == 2 and np.ndim(wanted):
        order = rng.permutation(wanted.ndim)  # of its axes in memory, with gaps
        out = np.zeros([2 * wanted.shape[i] + 1 for i in order], x.dtype)
        out = out[tuple(slice(0, 2 * wanted.shape[i], 2) for i in order)].transpose(np.argsort(order))
        assert a.read(key, out) is out
        same(out, wanted, key)
    if way == 3 and np.ndim(wanted) and x.dtype != np.float16:
        same(a.read(key, dtype="c16"), wanted.astype("c16"), key)
    if way == 4 and np.ndim(wanted) and x.dtype.kind != "c":
        out = np.zeros(wanted.shape, ">f8")
        a.read(key, out)
        same(out, wanted.astype(">f8"), key)
    same(a[key], wanted, key)


def write(a, x, rng, key):
    """As NumPy would; values that are broadcast, too."""
    value = rng.integers(0, 100, np.shape(x[key])).astype(x.dtype if rng.random() < 0.7 else "f4")
    if rng.random() < 0.3 and value.ndim:
        value = value[:1] if rng.random() < 0.5 and len(value) else value.dtype.type(7)
    x[key] = value
    if rng.random() < 0.8:
        a[key] = value
    else:
        a.iwrite(key, value).wait()


@pytest.mark.parametrize("dimensions", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_random(tmp_path, dimensions, ending):
    """10,000 keys in all, half of them of chunks."""
    rng = np.random.default_rng([SEED, dimensions, len(ending)])
    for number in range(max(1, 40 // SHARE)):
        dtype = TYPES[rng.integers(len(TYPES))]
        x = some_array(rng, dimensions, dtype)
        path = tmp_path / f"{number}.{ending}"
        chunks = [int(rng.integers(1, 5)) for _ in x.shape] if ending == "zarr" else None
        order = "F" if ending == "npy" and x.flags.f_contiguous else "C"
        with weir.create(path, x.shape, dtype, order, chunks=chunks) as a:
            a[...] = x
        with weir.open(path, "r+", hints="durable=disable") as a:
            for _ in range(21):
                key = random_key(rng, x.shape)
                read(a, x, rng, key)
                if rng.random() < 0.4:
                    write(a, x, rng, random_key(rng, x.shape))
            same(a[...], x, ...)


@pytest.mark.parametrize("key, error", [
    (5, IndexError), (-6, IndexError), ((0, 0, 0), IndexError), ((..., ...), IndexError),
    ([5], IndexError), ([0.5], IndexError), (0.5, IndexError), ("name", IndexError),
    (np.array(True), IndexError), (np.True_, IndexError), (np.ones(4, bool), IndexError),
    (([0, 1], [0, 1, 2]), IndexError), (True, IndexError),
    (slice(None, None, 0), ValueError), ((slice(0.5), 0), TypeError), (2 ** 70, IndexError)])
def test_wrong_keys(saved, key, error):
    with weir.open(saved(np.zeros((5, 4)))) as a:
        with pytest.raises(error) as told:
            a[key]
        assert "\n" not in str(told.value)
        assert a[4, 3] == 0


def test_chosen(saved):
    x = np.arange(5 * 4 * 3 * 2).reshape(5, 4, 3, 2)
    with weir.open(saved(x)) as a:
        for key in [np.s_[:, 0, :, [1, 0]], np.s_[0, :, [1, 0]], np.s_[[1], :, [0]],
                    np.s_[[0, 1], :, ..., [1, 0]], np.s_[1, ..., [0]], np.s_[None, [0, 1], None, 1],
                    np.s_[:, [[0], [1]], [0, 1, 2]], np.s_[[], 0], np.s_[:, np.zeros(4, bool)],
                    np.s_[::-1, ::-1, ::-1, ::-1], np.s_[()], np.s_[..., None], np.s_[3:1]]:
            same(a[key], x[key], key)


def test_outer(saved):
    x = np.arange(60).reshape(5, 4, 3)
    with weir.open(saved(x), "r+") as a:
        assert np.array_equal(a.oindex[[4, 0, 0], :, [True, False, True]],
                              x[np.ix_([4, 0, 0], range(4), [0, 2])])
        a.oindex[[0, 2], 1, ::2] = 0
        x[np.ix_([0, 2], [1], [0, 2])] = 0
        assert np.array_equal(a[...], x)


def test_dtype(saved):
    x = np.arange(12).reshape(3, 4).astype("f2")
    with weir.open(saved(x)) as a:
        for key in np.s_[1:], np.s_[[0, 2]], np.s_[[0, 2], [1, 3]]:
            assert np.array_equal(a.read(key, dtype="f8"), x[key].astype("f8"))
            for wrong in ("S3", "M8[s]", "f16", "O", "V4", "nonsense"):
                with pytest.raises(TypeError):
                    a.read(key, dtype=wrong)
            with pytest.raises(ValueError):
                a.iread(key, dtype="f8")


def test_out(saved):
    x = np.arange(24.0).reshape(4, 6)
    with weir.open(saved(x)) as a:
        out = np.zeros((4, 6), "f4")
        assert a.read(out=out) is out and np.array_equal(out, x)
        assert a.read(np.s_[1], out=out[0]).base is out
        for wrong in (np.zeros((4, 5)), np.zeros(24)):
            with pytest.raises(ValueError, match="shape"):
                a.read(out=wrong)
        frozen = np.zeros((4, 6))
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            a.read(out=frozen)
        with pytest.raises(TypeError):
            a.read(out=[1, 2])
        with pytest.raises(ValueError):
            a.iread(out=np.zeros((4, 6), ">f8"))
        assert np.array_equal(a.read(np.s_[:, ::-2], dtype="i2"), x[:, ::-2])


def test_values(tmp_path):
    """What is written need not be an array, nor of the array's type."""
    with weir.create(tmp_path / "x.npy", (3, 4), "f2") as a:
        a[...] = 1
        a[0] = [1, 2, 3, 4]
        a[1] = np.array([[5, 6, 7, 8]], ">i4")
        assert a[...].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8], [1, 1, 1, 1]]
        with pytest.raises(ValueError, match="shape"):
            a[0] = [1, 2, 3]
        with pytest.raises((TypeError, ValueError)):
            a[0] = "words"
        with pytest.raises(TypeError):
            del a[0]
    with weir.create(tmp_path / "y.npy", (2,), "f8") as b:
        with pytest.raises(weir.ArgumentError):
            b[...] = 1j
        b[...] = np.array([1, 2], "u1")
        assert b[...].tolist() == [1, 2]


def test_whole_array_by_one_value(tmp_path):
    """A value that is broadcast takes no memory."""
    import tracemalloc
    with weir.create(tmp_path / "x.npy", (1 << 12, 1 << 12), "f8") as a:
        tracemalloc.start()
        a[...] = 3
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()
        assert a[-1, -1] == 3 and a[7, 9] == 3
