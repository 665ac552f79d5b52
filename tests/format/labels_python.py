#!/usr/bin/python3
"""Attributes and names of dimensions go from format to format, as netCDF4-python, xarray, zarr-python
and h5py have them. usage: labels_python.py WEIR SEED CASES MPIRUN..."""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import h5py
    import netCDF4
    import numpy as np
    import xarray
    import zarr
except ImportError as missing:
    print(missing)
    sys.exit(77)

WEIR, MPIRUN = sys.argv[1], sys.argv[4:]


def weir(*arguments, ranks=0):
    before = [*MPIRUN, str(ranks)] if ranks else []
    ended = subprocess.run([*before, WEIR, *map(str, arguments)], check=True, text=True,
                           stdout=subprocess.PIPE)
    return ended.stdout


def info(path, ranks=0):
    return json.loads(weir("info", "--json", path, ranks=ranks))


def convert(old, new, *options, ranks=0):
    weir("convert", old, new, "--overwrite", *options, ranks=ranks)
    return new


def plain(value):
    """An attribute as JSON has it."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    return value.item() if isinstance(value, np.generic) else value


def same(a, b):
    """NaN is NaN."""
    return repr(a) == repr(b)


def check(got, wanted, what):
    got = {key: plain(value) for key, value in got.items()}
    assert same(sorted(got.items()), sorted(wanted.items())), (what, got, wanted)


# --- what others see ---


def check_netcdf(path, name, attributes, names, what):
    with netCDF4.Dataset(path) as there:
        variable = there
        for part in name.split("/"):
            variable = variable[part]
        check({key: variable.getncattr(key) for key in variable.ncattrs()}, attributes, what)
        assert list(variable.dimensions) == names, (what, variable.dimensions)


def check_xarray(variable, attributes, names, what):
    check({k: v for k, v in variable.attrs.items() if k != "_FillValue"},
          {k: v for k, v in attributes.items() if k != "_FillValue"}, what)
    if "_FillValue" in attributes:
        assert same(plain(variable.attrs["_FillValue"]), attributes["_FillValue"]), what
    assert list(variable.dims) == names, (what, variable.dims)


def check_hdf5(path, name, attributes, names):
    with h5py.File(path) as there:
        found = there[name]
        own = ("DIMENSION_LIST", "DIMENSION_LABELS", "CLASS", "NAME", "REFERENCE_LIST")
        check({k: v for k, v in found.attrs.items() if k not in own}, attributes, path)
        if "CLASS" not in found.attrs:
            assert [d[0].name.split("/")[-1] for d in found.dims] == names, path
    subprocess.run(["h5dump", "-A", path], check=True, stdout=subprocess.DEVNULL)


def check_zarr2(path, attributes, names):
    there = zarr.open(str(path), mode="r")
    found = there.attrs.asdict()
    assert found.pop("_ARRAY_DIMENSIONS") == names, found
    check(found, attributes, path)
    if "_FillValue" in attributes:
        assert same(plain(there.fill_value), attributes["_FillValue"]), there.fill_value


# --- cases ---


def random_text(rng):
    return "".join(rng.choice("abcXYZ 09_\"\\\n\té°漢😀'{}[],:") for _ in range(rng.randint(0, 20)))


def random_value(rng, big):
    kind = rng.randrange(6)
    if kind == 0:
        return random_text(rng)
    if kind == 1:
        return rng.randint(-2**31, 2**31 - 1)
    if kind == 2:
        return [rng.randint(-100, 100) for _ in range(rng.randint(2, 9))]
    if kind == 3:
        return [rng.choice([0.5, -3.25e300, float("nan"), float("inf"), 1e-310]) for _ in range(3)]
    return rng.choice([0.0, -1.5, 0.1, 1e20, 123456789.0]) if kind == 4 or not big else "x" * 9000


def random_case(rng):
    code, dims = rng.choice(["i2", "i4", "f4", "f8"]), rng.randint(0, 4)
    names = [rng.choice(["time", "lat", "x", "é", "a b"]) + str(i) for i in range(dims)]
    if dims > 1 and rng.random() < 0.3:
        names[1] = names[0]
    size = {name: rng.randint(1, 5) for name in names}
    attributes = {f"a{i}{rng.choice(['', '_b', 'é', ' c'])}": random_value(rng, i == 3)
                  for i in range(rng.randint(1, 9))}
    if rng.random() < 0.7:
        attributes["_FillValue"] = rng.choice([-9.0, float("nan")] if code[0] == "f" else [-99])
    if rng.random() < 0.5:
        attributes["valid_range"] = [0.0, 0.5] if code[0] == "f" else [0, 100]
    return code, names, [size[name] for name in names], attributes


def make(path, kind, case):
    code, names, shape, attributes = case
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(code)
    with netCDF4.Dataset(path, "w", format=kind) as out:
        for name, size in dict(zip(names, shape)).items():
            out.createDimension(name, size)
        variable = out.createVariable("v", code, names, fill_value=attributes.get("_FillValue"))
        variable.set_auto_maskandscale(False)
        for key, value in attributes.items():
            if key == "valid_range":
                variable.setncattr(key, np.array(value, code))
            elif isinstance(value, int) and key != "_FillValue":
                variable.setncattr(key, np.int32(value))
            elif key != "_FillValue":
                variable.setncattr(key, value)
        variable[...] = values
    return values


def seen_by_xarray(path, engine, **options):
    opened = xarray.open_dataset(path, engine=engine, decode_cf=False, **options)
    try:
        return opened["v"].variable.load()
    finally:
        opened.close()


def check_random(rng, folder, number):
    """.nc -> .zarr -> .h5 -> .nc -> Zarr v2 -> .nc"""
    case = random_case(rng)
    code, names, shape, attributes = case
    kind = ["NETCDF3_CLASSIC", "NETCDF4", "NETCDF3_64BIT_DATA"][number % 3]
    values = make(folder / "a.nc", kind, case)
    ranks = number % 3
    first = f"{folder / 'a.nc'}:/v"
    found = info(first)
    check(found["attributes"], attributes, first)
    assert found["names"] == names, found
    three = convert(first, folder / "b.zarr", ranks=ranks)
    found = info(three)
    check(found["attributes"], attributes, three)
    assert found["names"] == names, found
    strict = json.loads((three / "zarr.json").read_text(), parse_constant=lambda text: 1 / 0)
    assert strict.get("dimension_names", []) == names
    codec = ["--codec", "gzip"] if shape and number % 2 else []
    convert(three, f"{folder / 'c.h5'}:/g/v", *codec)
    check_hdf5(folder / "c.h5", "g/v", attributes, names)
    check_netcdf(folder / "c.h5", "g/v", attributes, names, "c.h5")
    convert(f"{folder / 'c.h5'}:/g/v", f"{folder / 'd.nc'}:/v", ranks=ranks)
    check_netcdf(folder / "d.nc", "v", attributes, names, "d.nc")
    if len(set(names)) == len(names):
        check_xarray(seen_by_xarray(folder / "d.nc", "netcdf4"), attributes, names, "d.nc")
        check_xarray(seen_by_xarray(folder / "c.h5", "netcdf4", group="g"), attributes, names, "c.h5")
    group = zarr.open_group(str(folder / "e"), mode="w")
    assert group is not None
    two = convert(f"{folder / 'd.nc'}:/v", folder / "e" / "v", "--format", "zarr2")
    if names:
        check_zarr2(two, attributes, names)
        if len(set(names)) == len(names):
            check_xarray(seen_by_xarray(str(folder / "e"), "zarr", consolidated=False), attributes,
                         names, "zarr v2")
    convert(two, f"{folder / 'f.nc'}:/v")
    check_netcdf(folder / "f.nc", "v", attributes, names, "f.nc")
    with netCDF4.Dataset(folder / "f.nc") as last:
        last.set_auto_maskandscale(False)
        assert np.array_equal(last["v"][...], values), case


def check_coordinates(folder):
    """A variable of its own dimension; and one that has the name of a dimension."""
    make(folder / "a.nc", "NETCDF3_CLASSIC", ("f8", ["v"], [4], {"units": "m"}))
    convert(f"{folder / 'a.nc'}:/v", f"{folder / 'v.h5'}:/v")
    check_netcdf(folder / "v.h5", "v", {"units": "m"}, ["v"], "v.h5")
    assert info(f"{folder / 'v.h5'}:/v")["names"] == ["v"]
    make(folder / "a.nc", "NETCDF3_CLASSIC", ("f8", ["t", "v"], [4, 3], {"units": "m"}))
    convert(f"{folder / 'a.nc'}:/v", f"{folder / 'v.h5'}:/v")
    assert info(f"{folder / 'v.h5'}:/v")["names"] == ["t", "v"]
    for _ in range(2):  # what only names dimensions does not keep a file from being replaced
        convert(f"{folder / 'a.nc'}:/v", f"{folder / 'w.nc4'}:/w")
    check_netcdf(folder / "w.nc4", "w", {"units": "m"}, ["t", "v"], "w.nc4")


def check_others(folder):
    """What h5py, zarr-python and people who write JSON make."""
    with h5py.File(folder / "o.h5", "w") as out:
        made = out.create_dataset("x", data=np.zeros((2, 3)))
        made.dims[1].label = "second"
        made.attrs["fixed"] = np.bytes_(b"abc")
        made.attrs["list"] = ["a", "bé", ""]
        made.attrs["half"] = np.float16(0.5)
        made.attrs["large"] = np.uint64(2**64 - 1)
        made.attrs["one"] = [5]
        made.attrs["plane"] = np.zeros((2, 2))
        made.attrs["flag"] = True
        made.attrs["none"] = h5py.Empty("f4")
        made.attrs["nothing"] = h5py.Empty("S1")
    found = info(f"{folder / 'o.h5'}:/x")
    assert found["names"] == [None, "second"], found
    check(found["attributes"], {"fixed": "abc", "list": ["a", "bé", ""], "half": 0.5, "one": 5,
                                "large": 2**64 - 1, "none": [], "nothing": ""}, "o.h5")
    convert(f"{folder / 'o.h5'}:/x", f"{folder / 'o2.h5'}:/x")
    assert info(f"{folder / 'o2.h5'}:/x")["attributes"] == found["attributes"]
    assert info(f"{folder / 'o2.h5'}:/x")["names"] == ["dim_0", "second"]
    made = zarr.create((4, 4), chunks=(2, 2), dtype="f4", fill_value=-7, store=str(folder / "o2"))
    made.attrs.update({"_ARRAY_DIMENSIONS": ["y", "x"], "deep": {"a": [1, {"b": None}]}, "no": False})
    made[:2] = 1
    found = info(folder / "o2")
    assert found["names"] == ["y", "x"] and found["tiles"] == 2, found
    check(found["attributes"], {"deep": {"a": [1, {"b": None}]}, "no": False, "_FillValue": -7.0}, "o2")
    convert(folder / "o2", f"{folder / 'o.nc'}:/x")
    check_netcdf(folder / "o.nc", "x", {"deep": '{"a": [1, {"b": null}]}', "no": "false",
                                        "_FillValue": -7.0}, ["y", "x"], "o.nc")
    (folder / "o2" / ".zattrs").write_text("{ malformed")
    assert info(folder / "o2")["attributes"] == {}
    convert(folder / "o2", folder / "o3.npy")
    assert info(folder / "o3.npy")["names"] == []


def check_stored(rng, folder):
    """Bytes and chunks that are there, by any number of ranks."""
    values = np.zeros((40, 30), "i4")
    values[:7, :9] = rng.randint(1, 100)
    np.save(folder / "s.npy", values)
    for options in ([], ["--shard", "20,20"], ["--codec", "zstd"], ["--format", "zarr2"]):
        convert(folder / "s.npy", folder / "s.zarr", "--chunk", "5,5", *options)
        files = [p for p in (folder / "s.zarr").rglob("*") if p.is_file() and
                 p.name not in ("zarr.json", ".zarray", ".zattrs")]
        found = info(folder / "s.zarr", ranks=rng.randint(1, 3))
        assert found["tiles"] == 4, (options, found)
        assert found["stored"] == sum(p.stat().st_size for p in files), (options, found)
    text = weir("info", folder / "s.zarr")
    assert "ratio" in text and "4 of 48 chunks" in text, text
    convert(folder / "s.npy", f"{folder / 's.h5'}:/s", "--chunk", "5,5", "--codec", "gzip")
    assert info(f"{folder / 's.h5'}:/s")["tiles"] == 4


def check_info(folder):
    """At most 20 lines, of at most 200 characters of a value."""
    attributes = {f"a{i:02}": "é" * 300 for i in range(25)}
    make(folder / "a.nc", "NETCDF3_CLASSIC", ("i2", ["t"], [2], attributes))
    lines = weir("info", f"{folder / 'a.nc'}:/v").splitlines()
    assert "  dimensions   t" in lines, lines
    shown = [line for line in lines if " = " in line]
    assert len(shown) == 20 and max(map(len, shown)) < 150, shown
    assert "and 5 more" in lines[-1], lines


def main():
    print(f"seed {sys.argv[2]}")
    rng = random.Random(int(sys.argv[2]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_coordinates(folder)
        check_others(folder)
        check_stored(rng, folder)
        check_info(folder)
        for i in range(int(sys.argv[3])):
            check_random(rng, folder, i)


main()
