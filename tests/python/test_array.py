"""Opening, creating, what an array tells of itself, and every error."""
import errno
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import weir


def test_what_numpy_saved(saved):
    x = np.asfortranarray(np.arange(12, dtype=">i4").reshape(3, 4))
    with weir.open(saved(x)) as a:
        assert (a.shape, a.ndim, a.size, a.nbytes) == ((3, 4), 2, 12, 48)
        assert a.dtype == np.dtype("i4") and a.order == "F" and a.format == "npy"
        assert a.chunks is None and a.attrs == {} and a.dims is None and a.mode == "r"
        assert a.path.endswith("x.npy") and len(a) == 3 and (a.rank, a.ranks) == (0, 1)
        assert "(3, 4) int32" in repr(a) and "'r'" in repr(a)
        assert np.array_equal(np.asarray(a), x) and np.asarray(a, "f4").dtype == np.float32
        assert [row.tolist() for row in a] == x.tolist() and bool(a)
    assert a.closed and "closed" in repr(a) and not a
    a.close()  # again is fine
    with pytest.raises(ValueError, match="closed"):
        a[0]


def test_create(tmp_path):
    path = tmp_path / "a.npy"
    with weir.create(path, 5, "f4", fill=7) as a:
        assert not path.exists() and "new" in repr(a)
        a[1:3] = [1, 2]
        a.sync()
    assert np.load(path).tolist() == [7, 1, 2, 7, 7]
    with pytest.raises(FileExistsError):
        weir.create(path, 5, "f4")
    with weir.create(path, (), "i8", overwrite=True) as a:
        a[()] = 3
    assert np.load(path) == 3
    with pytest.raises(RuntimeError), weir.create(path, 5, "f4", overwrite=True) as a:
        raise RuntimeError
    assert np.load(path) == 3
    a = weir.create(path, 5, "f4", overwrite=True)
    a.discard()
    assert np.load(path) == 3 and os.listdir(tmp_path) == ["a.npy"]
    weir.remove(path)
    assert not path.exists()


def test_formats(tmp_path):
    x = np.arange(30.0).reshape(5, 6)
    for name, told in [("a.zarr", dict(chunks=(2, 3), codec="zstd:3")),
                       ("b.zarr", dict(chunks=(2, 3), shards=(4, 6))),
                       ("c.zarr", dict(chunks=(2, 3), format="zarr2")),
                       ("d.h5:/g/x", dict(chunks=(5, 2))), ("e.nc:/x", {}), ("f.npy", {})]:
        try:
            a = weir.create(tmp_path / name, x.shape, "f8", **told)
        except weir.UnsupportedError as error:  # built without a codec, or without HDF5
            print(error)
            continue
        with a:
            a[...] = x
        with weir.open(str(tmp_path / name)) as a:
            assert np.array_equal(a[1:, ::2], x[1:, ::2])
            assert a.chunks == told.get("chunks") and a.shards == told.get("shards")
            assert a.format == {"zarr": told.get("format", "zarr"), "h5": "hdf5", "nc": "netcdf",
                                "npy": "npy"}[name.split(".")[1].split(":")[0]]
            assert a.stored()[0] > 0


def test_attributes(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(6.0)
        file["x"].attrs["unit"] = "m"
    try:
        a = weir.open(tmp_path / "a.h5:/x")
    except weir.UnsupportedError as error:
        pytest.skip(str(error))
    with a:
        assert a.attrs == {"unit": "m"}
        with pytest.raises(TypeError):
            a.attrs["unit"] = "km"
        with weir.create(tmp_path / "b.zarr", a.shape, a.dtype, like=a) as b:
            b[...] = a[...]
    with weir.open(tmp_path / "b.zarr") as b:
        assert b.attrs["unit"] == "m"


def test_local_arrays(tmp_path):
    x = np.arange(35).reshape(5, 7)
    with weir.create(tmp_path / "set", x.shape, "i8", grid=(2, 3)) as a:
        assert a.grid == (2, 3) and len(a.local) == 6 and a.format == "set"
        a[...] = x
        assert np.array_equal(a.local[1][...], x[0:3, 3:6])
        a.local[-1][1, 0] = -5
        assert a[4, 6] == -5 and a.local[5].shape == (2, 1)
        assert np.array_equal(a.local[4].read_all(np.s_[0]), x[3, 3:6])
        a.local[0].write_all(np.s_[:, [0, 2]], 9)
        assert np.array_equal(a[0:3, [0, 2]], np.full((3, 2), 9)) and "local array 0" in repr(a.local[0])
        with pytest.raises(IndexError):
            a.local[6]
        with pytest.raises(IndexError):
            a.local[5][2]
    with weir.create(tmp_path / "one.npy", 3, "i8") as a, pytest.raises(AttributeError):
        a.local


def test_pickle(saved):
    with weir.open(saved(np.arange(6))) as a:
        b = pickle.loads(pickle.dumps(a))
        assert np.array_equal(b[...], a[...]) and not b.writable
        b.close()
        with weir.open(a.path, "r+") as c, pytest.raises(TypeError, match="pickled"):
            pickle.dumps(c)


def told_of(call, *kinds):
    with pytest.raises(weir.Error) as told:
        call()
    error = told.value
    for kind in kinds:
        assert isinstance(error, kind), (kind, error)
    assert str(error) and "\n" not in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.path == error.path
    return error


def test_errors(tmp_path, saved):
    missing = told_of(lambda: weir.open(tmp_path / "none.npy"), FileNotFoundError, OSError)
    assert missing.errno == errno.ENOENT and missing.path == str(tmp_path / "none.npy")
    assert missing.filename == missing.path and missing.strerror == os.strerror(errno.ENOENT)
    (tmp_path / "bad.npy").write_bytes(b"no array")
    told_of(lambda: weir.open(tmp_path / "bad.npy"), weir.FormatError, ValueError)
    path = saved(np.arange(1000.0))
    with weir.open(path) as a:
        assert told_of(lambda: a.write(0, 1), PermissionError).errno == errno.EACCES
    os.truncate(path, 4000)
    cut = told_of(lambda: weir.open(path)[900], weir.Error)
    assert cut.path == path
    told_of(lambda: weir.create(tmp_path / "x.npy", (-1,), "f8"), ValueError)
    told_of(lambda: weir.create(tmp_path / "x.npy", (2 ** 62, 2 ** 62), "f8"), ValueError)
    told_of(lambda: weir.create(tmp_path / "x.zarr", 4, "f8", codec="nothing:9"), ValueError)
    told_of(lambda: weir.open(tmp_path / "bad.npy", hints="no=such"), ValueError)
    with weir.create(tmp_path / "y.npy", (1000, 1000), "f8") as a, weir.open(saved(
            np.zeros((1000, 1000)))) as b:
        budget = told_of(lambda: next(weir.slabs([b], [a], memory=1000)), MemoryError)
        assert "least" in str(budget)
        told_of(lambda: weir.transpose(b, a, memory=10), MemoryError)
        told_of(lambda: weir.median(b, a, window=2), ValueError)
        told_of(lambda: weir.transpose(a, a), ValueError)
    for call, kind in [(lambda: weir.open(path, "w"), ValueError),
                       (lambda: weir.create(tmp_path / "z.npy", 3, "U5"), TypeError),
                       (lambda: weir.create(tmp_path / "z.npy", 3, "f16"), TypeError),
                       (lambda: weir.create(tmp_path / "z.npy", 3, "M8[s]"), TypeError),
                       (lambda: weir.create(tmp_path / "z.npy", "abc", "f8"), TypeError),
                       (lambda: weir.create(tmp_path / "z.npy", [1] * 17, "f8"), ValueError),
                       (lambda: weir.create(tmp_path / "z.npy", 3, "f8", "K"), ValueError),
                       (lambda: weir.create(tmp_path / "z.npy", 3, "f8", format="x"), ValueError),
                       (lambda: weir.create(tmp_path / "z.npy", 3, "f8", fill=[]), ValueError),
                       (lambda: weir.create(tmp_path / "z.npy", 3, "f8", fill=[1, 2]), ValueError),
                       (lambda: weir.create(tmp_path / "z.npy", (2.7, 5), "f8"), TypeError),
                       (lambda: weir.create(tmp_path / "z.npy", 5, "f8", grid=(2 ** 32 + 1,)), ValueError),
                       (lambda: weir.create(tmp_path / "z.zarr", (5, 5), "f8", chunks=(2,)), ValueError),
                       (lambda: weir.create(tmp_path / "z.h5", 3, "f8"), ValueError),
                       (lambda: weir.open(path, comm=5), TypeError), (weir.Request, TypeError),
                       (lambda: weir.open(5), TypeError), (lambda: weir.slabs([]), ValueError),
                       (lambda: weir.slabs([1]), TypeError), (lambda: weir.fill(1, 2), TypeError)]:
        with pytest.raises(kind):
            call()


def test_full_disk(tmp_path):
    """A transfer that fails names file and offset, and what was there stays."""
    weir.create(tmp_path / "x.npy", 1 << 16, "f8").close()
    with weir.open(tmp_path / "x.npy", "r+", hints="fault=enospc:1") as a:
        error = told_of(lambda: a.write(np.s_[:], np.ones(1 << 16)), OSError)
        assert error.errno == errno.ENOSPC and error.path == str(tmp_path / "x.npy")
        assert error.offset is not None


FULL = """
import errno, os, sys, numpy as np, weir
a = weir.create(sys.argv[1] + "/x.npy", (1000, 1000), "f8")
for section in np.s_[::2, ::2], np.s_[:, 1], np.s_[:]:  # stored to pages, by calls, at once
    try:
        for _ in range(2):
            a[section] = 1.0
        assert section == np.s_[:, 1]
    except OSError as error:
        assert error.errno == errno.ENOSPC and error.offset > 0
try:
    a.close()
except weir.Error as error:
    print("told", error)
assert not os.path.exists(sys.argv[1] + "/x.npy")
"""


def test_really_full(tmp_path):
    """A disk that fills up in the middle of a write, whichever way that goes."""
    done = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=2m none $0 || exit 77\n"
                           "exec $1 -c '" + FULL + "' $0", str(tmp_path), sys.executable],
                          capture_output=True, text=True, timeout=60)
    if done.returncode in (1, 77) and "told" not in done.stdout and "Traceback" not in done.stderr:
        pytest.skip("no mounts here: " + done.stderr)
    assert done.returncode == 0 and "told" in done.stdout, done.stderr


def test_plan_and_doctor(tmp_path, saved):
    with weir.open(saved(np.zeros((64, 64)))) as a:
        plan = weir.plan(a, lambda p: np.s_[:, 16 * p:16 * p + 16], ranks=4)
        assert "rank 3" in str(plan) and plan._repr_svg_().startswith("<svg")
        plan.save(tmp_path / "plan.svg")
        assert (tmp_path / "plan.svg").read_text() == plan.svg
    assert "wanted" in repr(weir.plan((10, 10), [np.s_[0], None, [1, 2]], write=True, dtype="f4"))
    with pytest.raises(ValueError):
        weir.plan((10, 10), [0], form="other")
    with pytest.raises(IndexError):
        weir.plan((10, 10), [10])
    assert "cores" in weir.doctor(tmp_path)


def test_help():
    """Everything that users see has something to read, and the stubs name the same."""
    stubs = open(os.path.join(os.path.dirname(weir.__file__), "__init__.pyi")).read()
    for name in weir.__all__:
        thing = getattr(weir, name)
        assert thing.__doc__, name
        assert f"def {name}(" in stubs or f"class {name}" in stubs, name
    for name in dir(weir.Array):
        if not name.startswith("_"):
            assert getattr(weir.Array, name).__doc__, name
            assert f"def {name}(self" in stubs, name
