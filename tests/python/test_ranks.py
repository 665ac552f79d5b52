"""What several ranks do together. Every rank runs this, in one folder; all make the same choices,
from one seed, and differ where they say so."""
import os
import time

import numpy as np
import pytest
from conftest import SEED, SHARE
from random_key import random_key

import weir

FOLDER = os.environ["WEIR_TEST_FOLDER"]


def world():
    """mpi4py's, if it has the MPI that weir has."""
    try:
        from mpi4py import MPI
        weir.doctor(FOLDER, comm=MPI.COMM_SELF)
        return MPI.COMM_WORLD
    except (ImportError, RuntimeError):
        return "world"


COMM = world()
with weir.create(f"{FOLDER}/start.npy", 1, "i1", comm=COMM, overwrite=True) as _start:
    RANK, RANKS = _start.rank, _start.ranks


@pytest.fixture
def rng(request):
    return np.random.default_rng([SEED, len(request.node.name)])


@pytest.fixture
def path(request):
    return f"{FOLDER}/{request.node.name}.npy"


def make(path, x, **options):
    """A new array, of which each rank writes some rows."""
    a = weir.create(path, x.shape, x.dtype, comm=COMM, overwrite=True, **options)
    mine = slice(RANK * len(x) // RANKS, (RANK + 1) * len(x) // RANKS)
    a.write_all(mine, x[mine])
    return a


def meet(path):
    """A barrier, which MPI has without mpi4py too."""
    weir.open(path, comm=COMM).close()


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_random(rng, ending):
    path = f"{FOLDER}/random.{ending}"
    for _ in range(max(1, 12 // SHARE)):
        x = rng.integers(0, 1000, tuple(rng.integers(1, 9, rng.integers(1, 4)))).astype("i4")
        make(path, x, chunks=[2] * x.ndim if ending == "zarr" else None).close()
        with weir.open(path, "r+", comm=COMM, hints="durable=disable") as a:
            for _ in range(20):
                keys = [random_key(rng, x.shape) for _ in range(RANKS)]
                key = keys[RANK]
                way = rng.integers(4)
                if way == 0:
                    got = a.read_all(key)
                elif way == 1:
                    with a.collective:
                        got = a[key]
                elif way == 2:
                    got = a.iread_all(key).wait()
                else:
                    got = np.zeros(np.shape(x[key]), "f8")
                    a.read_all(key, got) if got.ndim else a.read_all(key)
                    got = got if got.ndim else x[key]
                assert np.array_equal(got, x[key]), (key, way)
                d = int(rng.integers(x.ndim))  # ranks write indices of their own of one dimension
                section = [slice(None, None, int(rng.choice([-1, 1]))) for _ in x.shape]
                for rank in range(RANKS):
                    section[d] = slice(rank, None, RANKS)
                    value = rng.integers(0, 1000, x[tuple(section)].shape)
                    x[tuple(section)] = value
                    if rank == RANK:
                        mine, what = tuple(section), value
                if way == 0:
                    a.write_all(mine, what)
                elif way == 1:
                    with a.collective:
                        a[mine] = what
                else:
                    a.iwrite_all(mine, what).wait()
            assert np.array_equal(a.read_all(), x)


def test_nothing_to_do(path):
    x = np.arange(20).reshape(10, 2)
    with make(path, x) as a:
        got = a.read_all(np.s_[:] if RANK == RANKS - 1 else np.s_[:0])
        assert len(got) == (10 if RANK == RANKS - 1 else 0)
        a.write_all(np.s_[0:0] if RANK else np.s_[:], 5)
        assert (a.read_all() == 5).all() and f"rank {RANK} of {RANKS}" in repr(a) or RANKS == 1


def outer(a, rows):
    with a.collective:
        return a.oindex[rows, :1]


CALLS = {
    "index": lambda a: a.read_all(99 if RANK == RANKS - 1 else 0),
    "list": lambda a: a.read_all([99] if RANK == RANKS - 1 else [0]),
    "key": lambda a: a.read_all("x" if RANK == RANKS - 1 else 0),
    "shape": lambda a: a.write_all(0, np.zeros(3 if RANK == RANKS - 1 else 2)),
    "value": lambda a: a.write_all(0, "text" if RANK == RANKS - 1 else 2),
    "out": lambda a: a.read_all(0, np.zeros(3 if RANK == RANKS - 1 else 2)),
    "type": lambda a: a.read_all(0, "text" if RANK == RANKS - 1 else None),
    "background": lambda a: a.iread_all(99 if RANK == RANKS - 1 else 0).wait(),
    "dtype": lambda a: a.read_all(0, dtype="nonsense" if RANK == RANKS - 1 else None),
    "points": lambda a: a.read_all(([0, 1], [0, 1]), dtype="S3" if RANK == RANKS - 1 else None),
    "outer": lambda a: outer(a, [99] if RANK == RANKS - 1 else [0]),
    "complex": lambda a: a.write_all(0, 1j if RANK == RANKS - 1 else 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_rank_is_wrong(path, name):
    """All get an error, which names the rank, and nobody waits for ever; the array can be used on."""
    with make(path, np.arange(20).reshape(10, 2)) as a:
        if RANK == RANKS - 1:
            with pytest.raises(weir.ArgumentError) as told:
                CALLS[name](a)
            if name in ("index", "list", "outer", "background"):
                assert isinstance(told.value, IndexError)
        else:
            with pytest.raises(weir.ArgumentError) as told:
                CALLS[name](a)
            assert told.value.rank == RANKS - 1 and told.value.path.startswith(path), told.value
        assert np.array_equal(a.read_all(), np.arange(20).reshape(10, 2))


def test_same_error_everywhere(path):
    x = np.arange(100000.0)
    make(path, x).close()
    fault = "fault=eio:1;map=0" if RANK == 0 else ""
    with weir.open(path, comm=COMM, hints=fault) as a:
        with pytest.raises(OSError) as told:
            a.read_all(np.s_[RANK::RANKS])
        assert told.value.errno == 5 and told.value.rank is not None
        assert told.value.path == path and isinstance(told.value, weir.StorageError)
    with pytest.raises(FileNotFoundError):
        weir.open(path + ".none", comm=COMM)
    with pytest.raises(FileExistsError):
        weir.create(path, 3, "f8", comm=COMM)


def test_left_together(path):
    """An error that all have ends `with` on all, and nothing is left."""
    with pytest.raises((IndexError, weir.ArgumentError)):
        with weir.create(path, 100, "f8", comm=COMM) as a:
            a.write_all(np.s_[RANK::RANKS], 1)
            a.read_all(100 if RANK == RANKS - 1 else 0)
    assert a.closed and not os.path.exists(path)


def test_left_by_errors_that_are_caught(path):
    """Errors that all ranks have leave no array open, those of one are no end of the program."""
    for number, fails in enumerate([
            lambda a: weir.open(path + ".none", comm=COMM),
            lambda a: weir.create(path, "x" if RANK == RANKS - 1 else 3, "f8", comm=COMM),
            lambda a: weir.open(path, "w" if RANK == RANKS - 1 else "r", comm=COMM),
            lambda a: weir.slabs([a], memory=10),
            lambda a: weir.copy(a, a)]):
        with pytest.raises((weir.Error, TypeError, ValueError)):
            with weir.create(f"{path}{number}.npy", 100, "f8", comm=COMM) as a:
                fails(a)
        assert a.closed and not os.path.exists(f"{path}{number}.npy")


@pytest.mark.parametrize("together", [False, True])
def test_slabs(path, together):
    x = np.random.default_rng(2).normal(size=(60, 50))
    with make(path, x) as a, weir.create(path + ".out.npy", x.shape, "f8", comm=COMM,
                                         overwrite=True) as b:
        for slab in weir.slabs([a], [b], memory="64K", halo=2, together=together, deal=together):
            slab.outputs[0][...] = slab.inputs[0][slab.core] + 1
        b.sync()
        assert np.array_equal(b.read_all(), x + 1)


def test_operators(path):
    x = np.random.default_rng(2).normal(size=(60, 50))
    told = []
    with make(path, x) as a:
        with weir.transpose(a, path + ".t.npy", overwrite=True, memory="100K",
                            progress=lambda *done: told.append(done)) as t:
            assert np.array_equal(t.read_all(), x.T) and told
            with weir.matmul(a, t, path + ".m.npy", overwrite=True) as m:
                assert np.allclose(m.read_all(), x @ x.T)
        assert np.allclose(weir.reduce(a).mean, x.mean())
        for axis in (0, 1):
            with weir.reduce(a, path + ".r.npy", axis=axis, kind="mean", overwrite=True) as r:
                assert np.allclose(r.read_all(), x.mean(axis))
        with pytest.raises(ValueError):
            weir.reduce(a, axis=0) if RANKS > 1 else weir.reduce(a, axis=5)


def test_stopped_by_one(path):
    """An exception on one rank ends an operator on all."""
    x = np.zeros((200, 100))

    def fails(done, total):
        if RANK == RANKS - 1:
            raise KeyError("mine")
    with make(path, x) as a:
        with pytest.raises(KeyError if RANK == RANKS - 1 else weir.InterruptedError):
            weir.transpose(a, path + ".t.npy", memory="30K", progress=fails)
        assert not os.path.exists(path + ".t.npy")

        def fails_late(done, total):
            if RANK == RANKS - 1 and done == total:
                raise KeyError("mine")
        for call in (lambda: weir.median(a, path + ".t.npy", memory="100K", progress=fails_late),
                     lambda: weir.reduce(a, memory="30K", progress=fails_late)):
            with pytest.raises(KeyError if RANK == RANKS - 1 else weir.InterruptedError):
                call()
        assert not os.path.exists(path + ".t.npy")


def test_background(path):
    """Requests of all ranks, waited for in another order."""
    x = np.arange(8000.0).reshape(100, 80)
    with make(path, x) as a:
        requests = [a.iread_all(np.s_[RANK + i::RANKS]) for i in range(5)]
        for i in (4, 2, 0, 1, 3):
            assert np.array_equal(requests[i].wait(), x[RANK + i::RANKS])
        first = a.iread_all(np.s_[RANK])
        if RANK == 0:
            time.sleep(0.05)
        del first  # forgotten
        assert np.array_equal(a.read_all(3), x[3])


def test_groups(path):
    """Halves of the world, each with an array of its own."""
    if COMM == "world" or RANKS < 2:
        return
    half = COMM.Split(RANK % 2)
    mine = f"{path}.{RANK % 2}.npy"
    with weir.create(mine, (10, half.size), "i4", comm=half, overwrite=True) as a:
        with a.collective:
            a[:, half.rank] = RANK
    assert np.load(mine)[0].tolist() == list(range(RANK % 2, RANKS, 2))
    half.Free()


def test_alone_among_many(path):
    """Without a communicator each process is alone, also under mpirun."""
    mine = f"{path}.{RANK}.npy"
    with weir.create(mine, 5, "f8", overwrite=True) as a:
        a[...] = RANK
    with weir.open(mine) as a:
        assert (a[...] == RANK).all() and a.ranks == 1
