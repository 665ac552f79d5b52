#!/usr/bin/python3
"""h5py with the driver mpio: `write FILE`, `read FILE` and `spoiled FILE`, one after another."""
import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
PAIR = np.dtype([("a", "i4"), ("b", "f8"), ("c", "i2", (3,))])
# Name, shape, type, and how the dataset is created.
DATASETS = [
    ("mark", (64,), "u1", {}),
    ("rows", (61, 83), "f8", {}),
    ("swapped", (40, 37), ">i4", {}),
    ("strided", (40, 36), "i8", {}),
    ("listed", (33, 21), "i2", {}),
    ("masked", (20, 22), "f4", {}),
    ("blocks", (48, 40), "u2", {}),
    ("complex", (30, 8), "c16", {}),
    ("pairs", (27, 5), PAIR, {}),
    ("words", (25, 4), "S7", {}),
    ("flags", (64, 3), "?", {}),
    ("chunked", (50, 47), "i4", {"chunks": (7, 11)}),
    ("woven", (45, 36), "f4", {"chunks": (8, 5)}),
    ("cube", (12, 13, 14), "f8", {"chunks": (5, 4, 6)}),
    ("grown", (30, 20), "i4", {"chunks": (4, 6), "maxshape": (None, 20)}),
    ("packed", (32, 40), "i4", {"chunks": (8, 10), "compression": "gzip", "shuffle": True}),
]


def values(number, shape, dtype):
    """The whole array, the same on all ranks."""
    if number == 0:
        return np.frombuffer(b"weir-client-mark" * 4, "u1")
    random, dtype = np.random.RandomState(number), np.dtype(dtype)
    if dtype.kind == "V":
        data = np.zeros(shape, dtype)
        for name in dtype.names:
            data[name] = random.randint(0, 30000, data[name].shape)
        return data
    if dtype.kind == "b":
        return random.randint(0, 2, shape).astype(dtype)
    data = random.randint(0, 100 if dtype.itemsize == 1 else 30000, shape)
    return data.astype("S7") if dtype.kind == "S" else (data / dtype.type(3)).astype(dtype)


ALL = {name: values(k, shape, dtype) for k, (name, shape, dtype, _) in enumerate(DATASETS)}


def split(length):
    """A block of indices for this rank."""
    return slice(length * rank // ranks, length * (rank + 1) // ranks)


def deal(length):
    return slice(rank, length, ranks)


def put(dataset, where, together=True):
    data = ALL[dataset.name[1:]][where]
    if together:
        with dataset.collective:
            dataset[where] = data
    else:
        dataset[where] = data


def put_strided(dataset):
    for phase in range(3):
        put(dataset, (deal(dataset.shape[0]), slice(phase, None, 3)), together=phase == 0)


def put_blocks(dataset):
    """Two rows in turn for each rank; 48 rows are enough for 1, 2, 3 and 4 ranks."""
    group = 2 * ranks
    count = dataset.shape[0] // group
    where = h5py.MultiBlockSlice(start=2 * rank, count=count, stride=group, block=2)
    mine = [group * k + 2 * rank + i for k in range(count) for i in (0, 1)]
    with dataset.collective:
        dataset[where, :] = ALL["blocks"][mine]


def put_grown(dataset):
    for rows in (10, 20, 30):
        dataset.resize(rows, 0)
        put(dataset, (slice(rows - 10, rows), split(20)))


def put_masked(dataset):
    mask = np.zeros(dataset.shape, bool)
    mask[:, deal(dataset.shape[1])] = True
    put(dataset, mask)


def write(path):
    with h5py.File(path, "w", driver="mpio", comm=comm) as f:
        for name, shape, dtype, how in DATASETS:
            first = (0, 20) if name == "grown" else shape
            f.create_dataset(name, first, dtype, **how).attrs["number"] = len(name)
        f.create_group("a/b/c").attrs["text"] = "of a group"
        put(f["mark"], deal(64))
        put(f["rows"], split(61))
        put(f["swapped"], (slice(None), split(37)))
        put_strided(f["strided"])
        put(f["listed"], list(range(rank, 33, ranks)))
        put_masked(f["masked"])
        put_blocks(f["blocks"])
        for name in ("complex", "pairs", "words", "flags"):
            put(f[name], deal(f[name].shape[0]), together=name != "words")
        f.flush()
        put(f["chunked"], (slice(None), split(47)))
        put_strided(f["woven"])
        put(f["cube"], (slice(None), deal(13), slice(3, 14)))
        put(f["cube"], (split(12), slice(None), slice(0, 3)), together=False)
        put_grown(f["grown"])
        put(f["packed"], (slice(None), split(40)))


def read(path):
    """How many datasets are wrong on this rank; each is read by other parts than it was written."""
    wrong = 0
    with h5py.File(path, "r", driver="mpio", comm=comm) as f:
        for k, (name, shape, _, _) in enumerate(DATASETS):
            dataset, wanted = f[name], ALL[name]
            where = split(shape[0])
            if len(shape) > 1:
                where = (slice(1, None, 2), split(shape[1]))
            if k % 2:
                with dataset.collective:
                    got = dataset[where]
            else:
                got = dataset[where]
            whole = np.empty(shape, wanted.dtype)
            dataset.read_direct(whole)
            if not (np.array_equal(got, wanted[where]) and np.array_equal(whole, wanted)):
                print(f"rank {rank}: {name} is wrong")
                wrong += 1
            assert dataset.attrs["number"] == len(name) and dataset.dtype == wanted.dtype
        assert f["a/b/c"].attrs["text"] == "of a group"
    return wrong


def main():
    assert h5py.get_config().mpi
    for step, path in zip(sys.argv[1::2], sys.argv[2::2]):
        if step == "write":
            write(path)
        else:
            wrong = comm.allreduce(read(path))
            assert step in ("read", "spoiled") and (step == "spoiled") == (wrong > 0), (path, wrong)


try:
    main()
except BaseException:
    sys.excepthook(*sys.exc_info())
    sys.stderr.flush()
    comm.Abort(1)
