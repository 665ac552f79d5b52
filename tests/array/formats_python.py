#!/usr/bin/python3
"""Arrays in Zarr and HDF5: zarr-python, h5py, netCDF4-python and xarray write what is read here, and
read what is written here, by 1 to 7 ranks.
usage: formats_python.py WEIR FORMATS_TOOL MPIRUN..."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import h5py
    import netCDF4
    import numcodecs
    import numpy as np
    import xarray
    import zarr
except ImportError as missing:
    print(missing)
    sys.exit(77)

from formats_support import (TYPES, Refused, Tool, check_same, name_of, random_fill, random_section,
                             random_shape, random_tile, random_values, run_cases, slices_of)

WEIR, MPIRUN = sys.argv[1], sys.argv[3:]


def random_dtype(rng, types=TYPES):
    return np.dtype(rng.choice(types)).newbyteorder(rng.choice("<>"))


def check_read(tool, rng, path, wanted):
    for _ in range(3):
        section = random_section(rng, wanted.shape)
        (kind, _, shape), got = tool.read(rng, path, section)
        assert shape == wanted.shape and kind[1:] == name_of(wanted.dtype), (kind, shape)
        assert wanted.dtype.itemsize == 1 or (kind[0] == ">") == (wanted.dtype.str[0] == ">"), kind
        taken = wanted if section == "()" else wanted[slices_of(section)]
        check_same(got, taken, section)


def change_some(tool, rng, path, values):
    """Here and in the array."""
    section = random_section(rng, values.shape)
    taken = ... if section == "()" else slices_of(section)
    new = random_values(rng, values[taken].shape, values.dtype)
    tool.change(rng, path, section, new)
    values[taken] = new


# --- Zarr, version 2 ---

def random_compressor(rng):
    """As zarr-python has it, and as it is named here."""
    level = rng.randint(1, 9)
    name, mix = rng.choice("lz4 zstd zlib lz4hc blosclz".split()), rng.randint(0, 2)
    mixed = ["noshuffle", "shuffle", "bitshuffle"][mix]
    return rng.choice([(None, "-"), (None, "none"),
                       (numcodecs.Zlib(level), f"zlib:{level}"),
                       (numcodecs.GZip(level), f"gzip:{level}"),
                       (numcodecs.Zstd(level), f"zstd:{level}"),
                       (numcodecs.Blosc(name, level, mix), f"blosc:{name}:{level}:{mixed}"),
                       (numcodecs.Blosc(name, level, mix), f"blosc:{name}:{level}:{mixed}")])


def check_zarr_reading(tool, rng, folder):
    """Some chunks are missing, and some sections are written here in the end."""
    dtype, shape = random_dtype(rng), random_shape(rng)
    fill = rng.choice([None, random_fill(rng, dtype, plain=True)])
    path = folder / "theirs.zarr"
    theirs = zarr.open(str(path), mode="w", shape=shape, chunks=random_tile(rng, shape) or None,
                       dtype=dtype, order=rng.choice("CF"), fill_value=None if fill is None else fill[()],
                       compressor=random_compressor(rng)[0], dimension_separator=rng.choice("./"),
                       write_empty_chunks=dtype.kind in "fc" or rng.random() < 0.5)
    values = np.full(shape, 0 if fill is None else fill, dtype)
    section = "()" if fill is None else random_section(rng, shape)
    taken = ... if section == "()" else slices_of(section)
    values[taken] = random_values(rng, values[taken].shape, dtype)
    theirs[taken] = values[taken]
    check_read(tool, rng, path, values)
    change_some(tool, rng, path, values)
    check_same(zarr.open(str(path), mode="r")[...], values, theirs.info)
    shutil.rmtree(path)


def check_zarr_writing(tool, rng, folder):
    dtype, shape = np.dtype(rng.choice(TYPES)), random_shape(rng)
    path, fill = folder / "ours", random_fill(rng, dtype, plain=True)
    values = random_values(rng, shape, dtype)
    if rng.random() < 0.3:
        values[...] = fill
    order, codec = rng.choice("CF"), random_compressor(rng)[1]
    tile = rng.choice([None, random_tile(rng, shape)])
    tool.write(rng, path, values, format="zarr2", order=order, tile=tile, codec=codec, fill=fill)
    ours = zarr.open(str(path), mode="r")
    assert (ours.shape, ours.dtype, ours.order) == (shape, dtype, order if len(shape) > 1 else "C"), ours
    assert tile is None or ours.chunks == tile, (ours.chunks, tile)
    check_same(ours[...], values, codec, tile)
    assert np.array_equal(ours.fill_value, fill, equal_nan=True), (ours.fill_value, fill)
    check_read(tool, rng, path, values)
    shutil.rmtree(path)


# --- HDF5 ---

def random_filters(rng, shape):
    """What h5py makes a dataset with; contiguous, or in chunks."""
    some = {}
    if not shape or 0 in shape or rng.random() < 0.3:
        return some
    some["chunks"] = tuple(rng.randint(1, size) for size in shape)
    if rng.random() < 0.6:
        some.update(compression="gzip", compression_opts=rng.randint(0, 9))
    some.update(shuffle=rng.random() < 0.5, fletcher32=rng.random() < 0.3)
    if rng.random() < 0.5:
        some["maxshape"] = tuple(rng.choice([None, size, size + 4]) for size in shape)
    return some


def check_hdf5_reading(tool, rng, folder):
    dtype, shape = random_dtype(rng), random_shape(rng)
    filters, fill = random_filters(rng, shape), random_fill(rng, dtype)
    path = folder / "theirs.h5"
    with h5py.File(path, "w", libver=rng.choice(["earliest", "latest"])) as out:
        theirs = out.create_dataset("some/group/x", shape, dtype, fillvalue=fill[()], **filters)
        out["other"] = np.arange(7)
        values = np.full(shape, fill, dtype)
        taken = slices_of(s) if (s := random_section(rng, shape)) != "()" else ...
        values[taken] = random_values(rng, values[taken].shape, dtype)
        written = values[taken].size
        if written:
            theirs[taken] = values[taken]
        if None in filters.get("maxshape", ()):
            d = filters["maxshape"].index(None)
            theirs.resize(shape[d] + 3, d)
            more = [(0, 3 if i == d else 0) for i in range(len(shape))]
            values = np.pad(values, more, constant_values=fill[()]).astype(dtype)
    name = f"{path}:/some/group/x"
    try:
        check_read(tool, rng, name, values)
    except Refused as refused: # of one run nothing was ever written
        assert "no data yet" in str(refused) and not filters and not written, (filters, refused)
        return
    try:
        change_some(tool, rng, name, values)
    except Refused as refused:
        assert "encoded" in str(refused) or "has no place" in str(refused), refused
        assert "chunks" in filters or "has no place" in str(refused), (filters, refused)
    with h5py.File(path) as there:
        check_same(there["some/group/x"][...], values, filters)
        assert there["other"][...].tolist() == list(range(7))


def add_others(rng, path):
    """A file that has other datasets, which a new one joins."""
    others = {other: random_values(rng, random_shape(rng), np.dtype(rng.choice(TYPES)))
              for other in rng.sample(["a", "b/c", "some/group/y", "some/z"], rng.randint(1, 3))}
    with h5py.File(path, "w", libver=rng.choice(["earliest", "latest"])) as out:
        for other, values in others.items():
            chunks = True if values.size and rng.random() < 0.5 else None
            out.create_dataset(other, data=values, chunks=chunks if values.shape else None)
    return others


def check_hdf5_writing(tool, rng, folder):
    dtype, shape = np.dtype(rng.choice(TYPES)), random_shape(rng)
    values, fill = random_values(rng, shape, dtype), random_fill(rng, dtype)
    tile = tuple(rng.randint(1, max(1, size)) for size in shape) if rng.random() < 0.7 else None
    codec = rng.choice(["-", "zlib:5", "gzip", "shuffle,zlib", "fletcher32", "shuffle,gzip:9,fletcher32"])
    name = rng.choice(["x", "some/group/x"])
    if not shape:
        tile, codec = None, "-"
    if rng.random() < 0.3:
        values[...] = fill
    path = folder / "ours.h5"
    others = add_others(rng, path) if rng.random() < 0.5 else {}
    tool.write(rng, f"{path}:/{name}", values, tile=tile, codec=codec, fill=fill)
    with h5py.File(path) as ours:
        for other, there in others.items():
            check_same(ours[other][...], there)
        found = []
        ours.visititems(lambda key, item: found.append(key) if isinstance(item, h5py.Dataset) else None)
        assert sorted(found) == sorted([name, *others]), found
        got = ours[name]
        check_same(got[...], values, got, codec, tile)
        assert tile is None or got.chunks == tile, (got.chunks, tile)
        assert ("gzip" in codec or "zlib" in codec) == (got.compression == "gzip"), codec
        assert (got.shuffle, got.fletcher32) == ("shuffle" in codec, "fletcher32" in codec), codec
        assert np.array_equal(got.fillvalue, fill, equal_nan=True), (got.fillvalue, fill)
    check_read(tool, rng, f"{path}:/{name}", values)
    if shape and dtype.kind in "iuf" and dtype.itemsize > (2 if dtype.kind == "f" else 0):
        with netCDF4.Dataset(path) as ours:
            ours.set_auto_mask(False)
            check_same(ours[name][...], values, codec, tile)
        group = name.rpartition("/")[0] or None
        with xarray.open_dataset(path, engine="netcdf4", group=group, mask_and_scale=False) as ours:
            check_same(ours["x"].values, values)
    path.unlink()


# --- NetCDF ---

def check_netcdf4_reading(tool, rng, folder):
    dtype = random_dtype(rng, "i1 u1 i2 u2 i4 u4 i8 u8 f4 f8".split())
    shape = tuple(rng.randint(1, 9) for _ in range(rng.randint(1, 3)))
    values, path = random_values(rng, shape, dtype), folder / "theirs.nc"
    with netCDF4.Dataset(path, "w") as out:
        for d, size in enumerate(shape):
            out.createDimension(f"d{d}", None if d == 0 and rng.random() < 0.5 else size)
        where = out.createGroup("g") if rng.random() < 0.5 else out
        filters = {"zlib": rng.random() < 0.5, "shuffle": rng.random() < 0.5,
                   "fletcher32": rng.random() < 0.5}
        order = "big" if dtype.str[0] == ">" else "little"
        theirs = where.createVariable("x", dtype, [f"d{d}" for d in range(len(shape))],
                                      endian=order, **filters)
        theirs.set_auto_mask(False)
        theirs[...] = values
        inside = where.path.rstrip("/") + "/x"
    check_read(tool, rng, f"{path}:{inside}", values)


def check_netcdf_writing(tool, rng, folder):
    dtype = np.dtype(rng.choice("i1 u1 i2 u2 i4 u4 i8 u8 f4 f8".split()))
    shape = tuple(rng.randint(1, 9) for _ in range(rng.randint(1, 3)))
    values, path = random_values(rng, shape, dtype), folder / "ours.nc"
    tool.write(rng, f"{path}:/x", values)
    with xarray.open_dataset(path, engine="netcdf4", mask_and_scale=False) as ours:
        check_same(ours["x"].values, values)
    path.unlink()


# --- the command ---

def weir(*arguments, ranks=0):
    before = [*MPIRUN, str(ranks)] if ranks else []
    subprocess.run([*before, WEIR, *map(str, arguments)], check=True)


def check_command(rng, folder, ranks):
    """From form to form, each time by other processes, and back."""
    dtype = np.dtype(rng.choice("i2 u4 f4 f8".split()))
    values = random_values(rng, tuple(rng.randint(2, 30) for _ in range(3)), dtype)
    theirs = zarr.open(str(folder / "a.zarr"), mode="w", shape=values.shape, dtype=dtype,
                       chunks=random_tile(rng, values.shape), compressor=random_compressor(rng)[0])
    theirs[...] = values
    forms = ["b.zarr", "c.h5:/g/x", "d.nc:/x", "e.zarr", "f.npy"]
    rng.shuffle(forms)
    before = "a.zarr"
    for form in forms:
        if form.startswith("d.nc") and name_of(dtype) == "f2":
            continue
        weir("convert", folder / before, folder / form, "--quiet", ranks=ranks)
        before = form
    section = random_section(rng, values.shape)
    section = section if section != "()" else "..."
    weir("get", f"{folder / before}[{section}]", "-o", folder / "out.npy", "--overwrite", ranks=ranks)
    taken = ... if section == "..." else slices_of(section)
    check_same(np.load(folder / "out.npy"), values[taken], forms, section)
    with h5py.File(folder / "c.h5") as there:
        check_same(there["g/x"][...], values, forms)


CHECKS = [check_zarr_reading, check_zarr_writing, check_hdf5_reading, check_hdf5_writing,
          check_netcdf4_reading, check_netcdf_writing]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tool = Tool(sys.argv[2], folder)

        def case(rng, i):
            for check in CHECKS:
                check(tool, rng, folder)
            if i in (0, 1):
                own = folder / f"command-{i}"
                own.mkdir()
                check_command(rng, own, [0, 3][i])

        run_cases(40, 1000, case)


main()
