"""Slab loops and operators, against NumPy."""
import io
import sys
import types

import numpy as np
import pytest

import weir


def test_slabs(tmp_path, saved):
    x = np.random.default_rng(1).normal(size=(100, 30))
    with weir.open(saved(x)) as a, weir.create(tmp_path / "b.npy", x.shape, "f8") as b:
        seen = np.zeros(x.shape, int)
        for slab in weir.slabs([a], [b], memory="64K", halo=1):
            near, core = slab.inputs[0], slab.core
            assert near.shape == tuple(h - l for l, h in zip(slab.in_lo, slab.in_hi))
            assert not near.flags.writeable and np.array_equal(near[core], x[slab.index])
            slab.outputs[0][...] = 2 * near[core]
            seen[slab.index] += 1
        assert (seen == 1).all() and "weir.Slab [" in repr(slab)
        assert np.array_equal(b[...], 2 * x)


def test_slabs_of_columns_and_types(tmp_path, saved):
    x = np.asfortranarray(np.arange(600, dtype="i2").reshape(20, 30))
    with weir.open(saved(x)) as a, weir.create(tmp_path / "b.zarr", x.shape, "f4",
                                               chunks=(7, 8)) as b:
        told = []
        with weir.slabs([a, a], [b], block=(20, 4), halo=(0, 2), memory="1M",
                        progress=lambda *done: told.append(done)) as loop:
            for slab in loop:
                slab.outputs[0][:] = slab.inputs[0][slab.core] + slab.inputs[1][slab.core]
        assert np.array_equal(b[...], 2 * x) and told[-1] == (600, 600)


def test_slabs_left_early(saved):
    """Views that outlive a loop are memory still; a loop left early has written all but the last."""
    x = np.arange(100000.0).reshape(1000, 100)
    names, kept = [saved(np.full_like(x, -1), name) for name in ("b.npy", "c.npy")], []
    late = "fault=delay:20000;map=0"  # the second output is begun when the first is through
    with weir.open(saved(x)) as a, weir.open(names[0], "r+", hints=late) as b, \
            weir.open(names[1], "r+", hints=late) as c:
        for slab in weir.slabs([a], [b, c], memory="400K"):
            kept += slab.inputs + slab.outputs
            slab.outputs[0][...] = slab.outputs[1][...] = slab.inputs[0]
            if slab.lo[0] > 200:
                break
        end = slab.lo[0]
        del slab
        for there in map(np.load, names):
            assert np.array_equal(there[:end], x[:end]) and (there[end:] == -1).all()
    assert all(np.isfinite(v.sum()) for v in kept)
    with pytest.raises(ValueError):
        next(weir.slabs([a], []))


@pytest.fixture
def arrays(saved, tmp_path):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 30)), rng.normal(size=(30, 20))
    with weir.open(saved(x)) as a, weir.open(saved(y, "y.npy")) as b:
        yield x, y, a, b, tmp_path


def test_operators(arrays):
    x, y, a, b, folder = arrays
    with weir.transpose(a, folder / "t.npy") as t:
        assert np.array_equal(t[...], x.T)
    with weir.create(folder / "t3.npy", (30, 40), "f4", "F") as t:
        assert weir.transpose(a, t, (-1, 0), memory="1M") is t
        assert np.array_equal(t[...], x.T.astype("f4"))
    with weir.copy(a, folder / "c.zarr", dtype="f4") as c:
        assert np.array_equal(c[...], x.astype("f4"))
    for method in ("panels", "gaxpy"):
        with weir.matmul(a, b, folder / "m.npy", method=method, overwrite=True) as m:
            assert np.allclose(m[...], x @ y)
    with weir.median(a, folder / "n.npy") as n:
        assert n[5, 5] == np.median(x[4:7, 4:7])
    with weir.create(folder / "p.npy", x.shape, "f8") as p, \
            weir.create(folder / "q.npy", x.shape, "f8") as q:
        done = weir.laplace(a, p, q, iterations=3)
        z = x.copy()
        for _ in range(3):
            w = z.copy()
            w[1:-1, 1:-1] = (z[:-2, 1:-1] + z[2:, 1:-1] + z[1:-1, :-2] + z[1:-1, 2:]) / 4
            z = w
        assert done.iterations == 3 and np.allclose(done.array[...], z) and done.residual > 0
        assert weir.fill(p, 5) is p and (p[...] == 5).all()
    s = weir.reduce(a)
    assert s.count == x.size and np.allclose((s.min, s.max, s.mean, s.std),
                                             (x.min(), x.max(), x.mean(), x.std()))


def test_rows_only(tmp_path):
    x = np.arange(20.0).reshape(4, 5)
    np.save(tmp_path / "x.npy", np.asfortranarray(x))
    with weir.open(tmp_path / "x.npy") as a, weir.copy(a, tmp_path / "x.nc:/x") as b:
        assert a.order == "F" and b.order == "C" and np.array_equal(b[...], x)
        with weir.copy(b, tmp_path / "y.npy") as c, weir.copy(a, tmp_path / "z.npy") as d:
            assert c.order == "C" and d.order == "F"


def test_reduce(tmp_path):
    rng = np.random.default_rng(4)
    for number, dtype in enumerate(["f8", "f4", "i4", "u1", "b1", "i8", "f2"]):
        x = (20 * rng.normal(size=(7, 11, 5))).astype(dtype)
        np.save(tmp_path / "x.npy", x if number % 2 else np.asfortranarray(x))
        with weir.open(tmp_path / "x.npy") as a:
            for axis in (0, -1, (0, 2), (0, 1, 2)):
                for kind in ("sum", "mean", "min", "max", "std"):
                    wanted = getattr(x.astype("f8") if dtype == "f2" and kind not in ("min", "max")
                                     else x, kind)(axis=axis)
                    got = weir.reduce(a, axis=axis, kind=kind)
                    assert np.shape(got) == np.shape(wanted)
                    assert np.allclose(got, wanted, rtol=1e-4), (dtype, axis, kind)
                    if kind in ("min", "max", "sum"):
                        assert got.dtype == wanted.dtype, (dtype, kind)
    for dtype in ("i8", "u8", "i2", "b1"):
        x = np.array([np.iinfo(dtype).max - 1 if dtype != "b1" else 0, 1], dtype)
        np.save(tmp_path / "i.npy", x)
        with weir.open(tmp_path / "i.npy") as a:
            s = weir.reduce(a)
            assert (s.min, s.max) == (int(x.min()), int(x.max())) and type(s.min) is type(s.max) is int
    x = np.array([[1, np.nan], [3, 4]])
    np.save(tmp_path / "n.npy", x)
    with weir.open(tmp_path / "n.npy") as a:
        assert np.array_equal(weir.reduce(a, axis=0), [4, np.nan], equal_nan=True)
        assert weir.reduce(a, axis=0, skip_nans=True, keepdims=True).tolist() == [[4, 4]]
        with weir.reduce(a, tmp_path / "r.npy", axis=1, kind="max", skip_nans=True) as r:
            assert r[...].tolist() == [1, 4]
        assert weir.reduce(a, axis=np.int64(1), kind="max", skip_nans=True).tolist() == [1, 4]
        assert weir.reduce(a, kind="sum", skip_nans=True) == 8
        for wrong in (dict(axis=2), dict(axis=0, kind="mode"), dict(axis=(0, 0))):
            with pytest.raises(ValueError):
                weir.reduce(a, **wrong)
        for wrong in ((0, 0), (5, 2), (0,)):
            with pytest.raises(ValueError):
                weir.transpose(a, tmp_path / "w.npy", wrong)
        with pytest.raises(ValueError):
            weir.fill(a, [])


def test_dry_runs_change_nothing(arrays):
    x, y, a, b, folder = arrays
    before = sorted(p.name for p in folder.iterdir())
    for told in (weir.transpose(a, folder / "t.npy", dry_run=True),
                 weir.copy(a, folder / "t.npy", dry_run=True),
                 weir.matmul(a, b, folder / "t.npy", dry_run=True),
                 weir.median(a, folder / "t.npy", dry_run=True),
                 weir.reduce(a, dry_run=True), weir.reduce(a, axis=0, dry_run=True)):
        assert isinstance(told, weir.Estimate) and told.read >= x.nbytes and told.how
    assert sorted(p.name for p in folder.iterdir()) == before
    assert weir.copy(a, folder / "y.npy", dry_run=True).read >= x.nbytes  # it is there
    assert np.array_equal(np.load(folder / "y.npy"), y)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bars(arrays, monkeypatch):
    """A line in a terminal, nothing elsewhere, and tqdm's where that is there."""
    x, y, a, b, folder = arrays
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    for screen, shown in (Terminal(), True), (io.StringIO(), False):
        monkeypatch.setattr(sys, "stderr", screen)
        weir.reduce(a, progress=True)
        assert ("100 %" in screen.getvalue()) == shown
    told = []

    class Tqdm:
        total = n = 0

        def __init__(self, desc):
            told.append(desc)

        def reset(self, total):
            self.total = total

        def update(self, more):
            self.n += more

        def close(self):
            told.append((self.n, self.total))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Tqdm))
    weir.reduce(a, progress=True)
    assert told == ["reduce", (x.size, x.size)]


def test_progress(arrays, capsys):
    x, y, a, b, folder = arrays
    told = []
    weir.transpose(a, folder / "t.npy", progress=lambda *done: told.append(done)).close()
    assert told and told[-1][0] == told[-1][1]
    weir.reduce(a, progress=True)

    def fails(done, total):
        raise KeyError("mine")
    with pytest.raises(KeyError):
        for slab in weir.slabs([a], progress=fails):
            assert False, "the bar comes first"
    with pytest.raises(KeyError, match="mine"):
        weir.copy(a, folder / "u.npy", progress=fails)
    assert not (folder / "u.npy").exists()
    with weir.reduce(a, folder / "v.npy", axis=0) as v:
        assert np.allclose(v[...], x.sum(0))
