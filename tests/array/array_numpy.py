#!/usr/bin/python3
"""NumPy reads arrays that the library has written, and the library those of NumPy.
usage: array_numpy.py ARRAY_TOOL"""
import itertools
import json
import struct
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("no NumPy")
    sys.exit(77)

TYPES = "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
SHAPES = [(), (0,), (5,), (3, 4), (2, 0, 3), (7, 1, 2), (2, 3, 2, 3)]


def run(*arguments):
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    assert result.returncode == 0, (arguments[:3], result.stdout, result.stderr)
    return result.stdout.splitlines()


def some(cases, every):
    """One of so many, a number that has no factor in common with the numbers of choices."""
    return itertools.islice(cases, 0, None, every)


def counted(kind, shape):
    """What the tool writes: elements count up by rows; to bool, whether not 0."""
    numbers = np.arange(np.prod(shape, dtype=int))
    return (numbers * (kind != "f2")).astype(kind).reshape(shape)


def check_written(tool, folder):
    for number, (kind, order, shape) in enumerate(some(itertools.product(TYPES, "CF", SHAPES), 3)):
        path = folder / f"{number}.npy"
        run(tool, "write", path, kind, order, 0, *shape)
        wanted = counted(kind, shape)
        # NumPy 1.24 cannot map an empty array whose header ends with a page.
        for mode in (None, "r") if wanted.size else (None,):
            loaded = np.load(path, mmap_mode=mode)
            assert loaded.dtype == wanted.dtype and loaded.shape == shape, path
            assert np.array_equal(loaded, wanted), (path, loaded)


def check_set(tool, folder):
    """The members of a set are parts of it, as array.json says."""
    path = folder / "set"
    run(tool, "write", path, "f8", "F", 3, 7, 4)
    wanted = counted("f8", (7, 4))
    assert json.loads((path / "array.json").read_text())["shape"] == [7, 4]
    parts = [np.load(path / f"local-{m}.npy") for m in range(3)]
    assert np.array_equal(np.concatenate(parts), wanted)


def header(array, version, padding):
    """A header whose data begin at a multiple of `padding`, as older versions of NumPy wrote it."""
    words = str({"descr": array.dtype.str, "fortran_order": array.flags.f_contiguous and
                 not array.flags.c_contiguous, "shape": array.shape})
    size = 2 if version == 1 else 4
    length = len(words) + 1 + -(8 + size + len(words) + 1) % padding
    return (b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if size == 2 else "<I", length) +
            words.encode().ljust(length - 1) + b"\n")


def check_read(tool, folder):
    cases = some(itertools.product(TYPES, "<>", "CF", SHAPES), 5)
    for number, (kind, mark, order, shape) in enumerate(cases):
        version, padding = 1 + number % 3, (16, 64)[number // 3 % 2]
        array = counted(kind, shape).astype(np.dtype(kind).newbyteorder(mark), order=order)
        path = folder / f"{number}.npy"
        path.write_bytes(header(array, version, padding) + array.tobytes("A"))
        np.load(path)  # the header is one
        first, *values = run(tool, "read", path)
        assert first.split() == [kind, *map(str, shape)], (path, first)
        if kind != "f2":
            wide = array.astype("c16" if kind.startswith("c") else "f8").ravel()
            wanted = wide.view("f8")
            assert np.array_equal(np.array(values, dtype="f8"), wanted), (path, values)


def check_refused(tool, folder):
    path = folder / "objects.npy"
    np.save(path, np.array([1, "two"], dtype=object), allow_pickle=True)
    line, = run(tool, "read", path)
    assert str(path) in line and "objects" in line, line


def main():
    warnings.simplefilter("ignore")  # NumPy warns of versions above 1.0
    for check in (check_written, check_set, check_read, check_refused):
        with tempfile.TemporaryDirectory() as folder:
            check(sys.argv[1], Path(folder))


if __name__ == "__main__":
    main()
