#!/usr/bin/python3
"""NumPy reads the headers the library builds, and the library those that NumPy writes.
usage: npy_numpy.py NPY_DUMP"""
import io
import itertools
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
OBJECTS = {
    "objects": (object, "Python objects"),
    "structures": ([("a", "<f8"), ("b", "<i4")], "structures"),
    "dates": ("M8[s]", "dates"),
    "strings": ("S3", "strings"),
    "long": (np.longdouble, "long doubles"),
}


def run(*arguments):
    result = subprocess.run(arguments, capture_output=True, text=True)
    assert result.returncode == 0, (arguments[:3], result.stdout, result.stderr)
    return result.stdout.splitlines()


def check_built(dump, folder):
    """Every built header, with data after it, is the array it says, loaded and mapped."""
    run(dump, "build", str(folder))
    files = sorted(folder.glob("*.npy"))
    assert len(files) == len(TYPES) * 2 * 17, len(files)
    for path in files:
        kind, order, dimensions = path.stem.split("-")
        n = int(dimensions)
        shape = tuple(2 + i if n < 6 else 1 + i % 2 for i in range(n))
        array = np.arange(np.prod(shape, dtype=int)).astype(kind).reshape(shape, order=order)
        with path.open("ab") as file:
            file.write(array.tobytes(order))
        for mode in (None, "r"):
            loaded = np.load(path, mmap_mode=mode)
            assert loaded.dtype == array.dtype and loaded.dtype.isnative, path
            assert loaded.shape == shape and np.array_equal(loaded, array), path
            assert loaded.flags.f_contiguous if order == "F" else loaded.flags.c_contiguous, path
        # What NumPy itself writes for this array begins with the same words.
        own = io.BytesIO()
        np.lib.format.write_array(own, array, version=(1, 0))
        if n > 1 and order == "C":
            words = own.getvalue()[10:].split(b"}")[0]
            assert path.read_bytes()[10:].startswith(words), path


def check_read(dump, folder):
    """Headers of NumPy in all versions, types, byte orders and shapes."""
    shapes = [(), (0,), (5,), (3, 4), (2, 0, 3), (1,) * 16, (7, 1, 2)]
    files, wanted = [], []
    cases = itertools.product(((1, 0), (2, 0), (3, 0)), TYPES, "<>", "CF", shapes)
    for number, (version, kind, mark, order, shape) in enumerate(cases):
        dtype = np.dtype(kind).newbyteorder(mark)
        array = np.zeros(shape, dtype=dtype, order=order)
        path = folder / f"{number}.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, version=version)
        offset = path.stat().st_size - array.nbytes
        # What is contiguous in both orders NumPy calls C.
        says = "F" if order == "F" and not array.flags.c_contiguous else "C"
        swapped = int(not dtype.isnative)
        files.append(str(path))
        wanted.append(" ".join(map(str, [kind, says, swapped, offset, array.nbytes, *shape])))
    for path, got, want in zip(files, run(dump, "show", *files), wanted):
        assert got == want, (path, got, want)


def check_refused(dump, folder):
    for name, (dtype, text) in OBJECTS.items():
        path = folder / f"{name}.npy"
        np.save(path, np.zeros(3, dtype=dtype))
        line, = run(dump, "show", str(path))
        assert text in line, line


def main():
    warnings.simplefilter("ignore")  # NumPy warns that versions above 1.0 need new readers
    for check in (check_built, check_read, check_refused):
        with tempfile.TemporaryDirectory() as folder:
            check(sys.argv[1], Path(folder))


if __name__ == "__main__":
    main()
