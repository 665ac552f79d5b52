#!/usr/bin/python3
"""Arrays in NetCDF and raw files: netCDF4-python and NumPy write what weir reads, and read what it
writes. usage: netcdf_python.py WEIR SEED CASES MPIRUN..."""
import random
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import netCDF4
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)

WEIR, MPIRUN = sys.argv[1], sys.argv[4:]
KINDS = {"NETCDF3_CLASSIC": "i1 i2 i4 f4 f8", "NETCDF3_64BIT_OFFSET": "i1 i2 i4 f4 f8",
         "NETCDF3_64BIT_DATA": "i1 u1 i2 u2 i4 u4 i8 u8 f4 f8"}


def weir(*arguments, ranks=0):
    before = [*MPIRUN, str(ranks)] if ranks else []
    subprocess.run([*before, WEIR, *map(str, arguments)], check=True)


def refused(text, *arguments):
    ended = subprocess.run([WEIR, *map(str, arguments)], capture_output=True, text=True)
    assert ended.returncode and text in ended.stderr, (arguments, ended)
    assert ended.stderr.count("\n") == 1, ended.stderr


def make(rng, path, kind):
    """{name: values} of a file with variables over a record dimension and others."""
    sizes = [rng.randint(1, 9) for _ in range(3)]
    records, found = rng.randint(0, 6), {}
    with netCDF4.Dataset(path, "w", format=kind) as out:
        out.title = "x" * rng.randint(0, 200)
        out.createDimension("t", None)
        for i, size in enumerate(sizes):
            out.createDimension(f"d{i}", size)
        shapes = []
        for i in range(rng.randint(1, 5)):
            dims = [f"d{d}" for d in rng.choices(range(3), k=rng.randint(0, 3))]
            shapes.append((["t"] if rng.random() < 0.5 else []) + dims)
        for i, dims in enumerate(shapes):
            code = rng.choice(KINDS[kind].split())
            variable = out.createVariable(f"v{i}", code, dims)
            variable.units = "m" * rng.randint(1, 9)
            shape = [records if d == "t" else sizes[int(d[1])] for d in dims]
            values = np.random.default_rng(rng.randrange(1 << 30)).integers(0, 100, shape)
            variable[...] = found[f"v{i}"] = values.astype(code)
    return found


def section(rng, shape):
    """The text of a section and the tuple that takes it."""
    parts = []
    for size in shape:
        lo, hi = sorted((rng.randint(0, size), rng.randint(0, size)))
        step = rng.choice([1, 1, 2, 3])
        parts.append(slice(lo, hi, step))
    return ", ".join(f"{p.start}:{p.stop}:{p.step}" for p in parts), tuple(parts)


def check_reading(rng, folder, kind):
    path, out = folder / "a.nc", folder / "out.npy"
    for name, values in make(rng, path, kind).items():
        text, taken = section(rng, values.shape)
        where = f"{path}:/{name}" + (f"[{text}]" if text else "")
        weir("get", where, "-o", out, "--overwrite")
        got = np.load(out)
        assert got.dtype.newbyteorder("=") == values.dtype, (kind, name, got.dtype)
        assert np.array_equal(got, values[taken]), (kind, where, values[taken], got)


def check_writing(rng, folder, kind):
    """A new file, by several ranks; and a variable of one that is there, in place, beside others."""
    code, shape = rng.choice(KINDS[kind].split()), [rng.randint(1, 40) for _ in range(3)]
    values = np.random.default_rng(rng.randrange(1 << 30)).integers(0, 100, shape).astype(code)
    np.save(folder / "in.npy", values)
    weir("convert", folder / "in.npy", f"{folder / 'new.nc'}:/some", "--overwrite", ranks=3)
    with netCDF4.Dataset(folder / "new.nc") as new:
        assert list(new.variables) == ["some"], new
        assert np.array_equal(new["some"][...], values), (code, shape)
    raw = f"raw:{folder / 'new.bin'}:>{code}:{','.join(map(str, shape))}:64"
    (folder / "new.bin").unlink(missing_ok=True)
    weir("convert", folder / "in.npy", raw, ranks=2)
    got = np.fromfile(folder / "new.bin", f">{code}", offset=64)
    assert np.array_equal(got, values.ravel()), raw
    found = make(rng, folder / "b.nc", kind)
    name = rng.choice(sorted(found))
    weir("fill", f"{folder / 'b.nc'}:/{name}", "7")
    found[name][...] = 7
    with netCDF4.Dataset(folder / "b.nc") as there:
        for other, values in found.items():
            assert np.array_equal(there[other][...], values), (name, other)


def check_refusals(folder):
    path = folder / "r.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as out:
        out.createDimension("x", 4)
        out.createVariable("a", "f8", ("x",))[:] = 1
        out.createVariable("text", "S1", ("x",))
    refused("it has a, text", "info", f"{path}:/b")
    refused("it has a, text", "info", path)
    refused("holds text", "info", f"{path}:/text")
    refused("is no array", "create", f"{path}:/a", "--shape", "3", "--overwrite")
    refused("no type bool", "create", f"{folder / 'n.nc'}:/a", "--shape", "3", "--dtype", "bool")
    refused("by rows", "create", f"{folder / 'n.nc'}:/a", "--shape", "3,3", "--order", "F")
    refused("were named", "info", f"raw:{path}:f8:1000")
    refused("raw:PATH:TYPE:SHAPE", "info", f"raw:{path}:f8")
    refused("another type", "create", f"raw:{folder / 'n.bin'}:f4:3", "--shape", "3")
    weir("create", f"raw:{folder / 'n.bin'}:i2:():6", "--shape", "()", "--dtype", "i2", "--fill", "7")
    assert np.fromfile(folder / "n.bin", "i2").tolist() == [0, 0, 0, 7]
    (folder / "n.bin").unlink()
    path.write_bytes(path.read_bytes()[:-16])
    refused("cut short", "info", f"{path}:/a")
    assert sorted(p.name for p in folder.iterdir()) == ["r.nc"], list(folder.iterdir())


def main():
    print(f"seed {sys.argv[2]}")
    rng = random.Random(int(sys.argv[2]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_refusals(folder)
        for i in range(int(sys.argv[3])):
            kind = list(KINDS)[i % len(KINDS)]
            check_reading(rng, folder, kind)
            check_writing(rng, folder, kind)


main()
