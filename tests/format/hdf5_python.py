#!/usr/bin/python3
"""Datasets of HDF5 files: what h5py and netCDF4-python write is where the library says, and they and
HDF5's tools read what it makes. usage: hdf5_python.py HDF5_TOOL SEED CASES"""
import itertools
import os
import random
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

try:
    import h5py
    import netCDF4
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)

TYPES = "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
ZLIB, SHUFFLE, FLETCHER32 = 2, 6, 7
EINVAL, EFORMAT, ENOENT, EEXIST, EACCESS, EUNSUPPORTED = -1, -5, -6, -7, -8, -13


class Refused(Exception):
    pass


class Tool:
    def __init__(self, path):
        self.process = subprocess.Popen([path], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, *words):
        """The lines of the answer, as words."""
        try:
            self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        lines = []
        for line in iter(self.process.stdout.readline, "\n"):
            if not line:
                print("".join(" ".join(line) for line in lines) or "the tool ended")
                sys.exit(77 if self.process.wait() == 77 else f"{words} ended the tool")
            lines.append(line.split())
        if lines and lines[0][0] == "error":
            raise Refused(int(lines[0][1]), " ".join(lines[0][2:]))
        return lines

    def look(self, path, name):
        return Told(self.ask("look", path, name))

    def refuses(self, code, text, *words):
        try:
            answer = self.ask(*words)
        except Refused as refused:
            assert refused.args[0] == code and text in refused.args[1], (words, refused)
        else:
            raise AssertionError((words, answer))


class Told:
    """What the tool says of a dataset."""

    def __init__(self, lines):
        self.tile, self.codecs, self.at = None, [], {}
        for word, *rest in lines:
            if word in ("shape", "tile"):
                setattr(self, word, tuple(map(int, rest)))
            elif word == "codec":
                self.codecs.append(tuple(map(int, rest)))
            elif word == "at":
                number, *place = map(int, rest)
                self.at[number] = place
            else:
                setattr(self, word, rest[0])
        order = ">" if int(self.swapped) else "<"
        self.dtype = np.dtype(self.type).newbyteorder(order)
        self.fill = np.frombuffer(bytes.fromhex(self.fill), self.type)[0]

    def decode(self, data, skipped):
        for i, (kind, _, element) in reversed(list(enumerate(self.codecs))):
            if skipped >> i & 1:
                continue
            if kind == ZLIB:
                data = zlib.decompress(data)
            elif kind == FLETCHER32:
                data = data[:-4]
            elif kind == SHUFFLE:
                data = np.frombuffer(data, "u1").reshape(element, -1).T.tobytes()
        return data

    def read(self, path):
        data = Path(path).read_bytes()
        if self.tile is None:
            offset, size = int(self.offset), int(self.bytes)
            return np.frombuffer(data[offset:offset + size], self.dtype).reshape(self.shape)
        grid = [-(-s // t) for s, t in zip(self.shape, self.tile)]
        out = np.full([g * t for g, t in zip(grid, self.tile)], self.fill, self.dtype)
        assert int(self.tiles) == max(1, np.prod(grid)) or 0 in grid, (self.tiles, grid)
        for number, (offset, size, skipped) in self.at.items():
            assert offset + size <= len(data)
            at = np.unravel_index(number, grid)
            values = np.frombuffer(self.decode(data[offset:offset + size], skipped), self.dtype)
            place = tuple(slice(i * t, i * t + t) for i, t in zip(at, self.tile))
            out[place] = values.reshape(self.tile)
        return out[tuple(slice(s) for s in self.shape)]


def values_of(rng, code, shape):
    values = np.random.default_rng(rng.randrange(1 << 30)).integers(0, 100, shape)
    return (values % 2 if code == "bool" else values).astype(code)


def check_same(tool, path, name, values, fill=0):
    told = tool.look(path, name)
    assert told.type == values.dtype.newbyteorder("=").str[1:] or told.type == "bool", told.type
    assert told.dtype == values.dtype, (told.dtype, values.dtype)
    assert told.shape == values.shape and told.fill == fill, (told.shape, told.fill)
    assert np.array_equal(told.read(path), values), (path, name)
    return told


# --- reading ---

def check_types(tool, folder):
    path, wanted = folder / "types.h5", {}
    with h5py.File(path, "w") as out:
        for code, order, chunks in itertools.product(TYPES, "<>", (None, (2, 5))):
            dtype = np.dtype(code).newbyteorder(order)
            values = np.arange(21).reshape(3, 7).astype(code).astype(dtype)
            name = f"{code}/{'big' if order == '>' else 'little'}/{'chunks' if chunks else 'run'}"
            fill = None if code == "bool" else np.array(5, dtype)[()]
            out.create_dataset(name, data=values, chunks=chunks, fillvalue=fill)
            wanted[name] = values, fill or 0
    for name, (values, fill) in wanted.items():
        check_same(tool, path, name, values, fill)


def add_random(rng, out, name):
    """A dataset with chunks, some of which may be missing; its values."""
    rank, code = rng.randint(1, 4), rng.choice(TYPES)
    shape = tuple(rng.randint(1, 9) for _ in range(rank))
    chunks = tuple(rng.randint(1, 4) for _ in range(rank))
    most = tuple(rng.choice([None, 20]) for _ in range(rank)) if rng.random() < 0.5 else None
    if most is None:
        chunks = tuple(min(c, s) for c, s in zip(chunks, shape))
    fill = None if code == "bool" else np.array(rng.randint(0, 9), code)[()]
    data = out.create_dataset(name, shape, code, chunks=chunks, maxshape=most, fillvalue=fill,
                              shuffle=rng.random() < 0.5, fletcher32=rng.random() < 0.5,
                              compression=rng.choice([None, 1, 9]))
    box = tuple(slice(*sorted((rng.randint(0, s), rng.randint(0, s)))) for s in shape)
    data[box] = values_of(rng, code, shape)[box]
    if most and rng.random() < 0.5:
        data.resize([rng.randint(0, 20) for _ in shape])
    return data[...], fill or 0


def check_random(tool, rng, folder):
    path = folder / "random.h5"
    how = {"libver": rng.choice(["earliest", "latest"]), **rng.choice(
        [{}, {"userblock_size": 512}, {"userblock_size": 4096}, {"fs_strategy": "page"}])}
    with h5py.File(path, "w", **how) as out:
        wanted = {name: add_random(rng, out, name) for name in ("a", "b/c", "b/d/e")}
        scalar = values_of(rng, "f8", ())
        out["scalar"] = scalar
        out.create_dataset("empty", (3, 0, 4), "i4")
        out.create_dataset("empty_chunks", (0, 4), "i4", chunks=(2, 2), maxshape=(None, 4))
        out["b/link"] = h5py.SoftLink("/a")
    for name, (values, fill) in wanted.items():
        check_same(tool, path, name, values, fill)
    check_same(tool, path, "/b/link", *wanted["a"])
    assert tool.look(path, "scalar").read(path)[()] == scalar
    check_same(tool, path, "empty", np.zeros((3, 0, 4), "i4"))
    check_same(tool, path, "empty_chunks", np.zeros((0, 4), "i4"))
    told = {words[0]: words[1:] for words in tool.ask("list", path)}
    assert set(told) == {"a", "b/c", "b/d/e", "scalar", "empty", "empty_chunks"}, told
    assert told["scalar"] == ["f8", "1"] and told["empty"] == ["i4", "1"], told
    path.unlink()


def check_early(tool, folder):
    """Chunks that have their place without having been written."""
    path = folder / "early.h5"
    for version in ("earliest", "latest"):
        with h5py.File(path, "w", libver=version) as out:
            create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            create.set_chunk((2, 3))
            create.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            space = h5py.h5s.create_simple((5, 7))
            h5py.h5d.create(out.id, b"x", h5py.h5t.STD_I32LE, space, create)
            out["x"][1:, 2:] = 3
            values = out["x"][...]
        assert len(check_same(tool, path, "x", values).at) == 9


def check_busy(tool, folder):
    with h5py.File(folder / "busy.h5", "w", locking=True) as out:
        out["x"] = np.zeros(3)
        out.flush()
        tool.refuses(EACCESS, "for writing", "look", folder / "busy.h5", "x")
    tool.look(folder / "busy.h5", "x")


def check_skipped(tool, folder):
    """Chunks that went through some of the filters only."""
    path, values = folder / "skipped.h5", np.arange(24, dtype="<i4")
    with h5py.File(path, "w") as out:
        data = out.create_dataset("x", (24,), "<i4", chunks=(8,), shuffle=True, compression=4)
        shuffled = values[:8].view("u1").reshape(8, 4).T.tobytes()
        data.id.write_direct_chunk((0,), shuffled, 2)
        data.id.write_direct_chunk((8,), zlib.compress(values[8:16].tobytes()), 1)
        data.id.write_direct_chunk((16,), values[16:].tobytes(), 3)
    told = check_same(tool, path, "x", values)
    assert [skipped for _, _, skipped in told.at.values()] == [2, 1, 3], told.at
    assert told.codecs == [(SHUFFLE, 0, 4), (ZLIB, 4, 0)], told.codecs


def check_netcdf(tool, folder):
    path, values = folder / "four.nc", np.arange(60, dtype="f4").reshape(3, 20)
    with netCDF4.Dataset(path, "w") as out:
        out.createDimension("t", None)
        out.createDimension("x", 20)
        group = out.createGroup("inner")
        group.createVariable("v", "f4", ("t", "x"), zlib=True, fill_value=-1)[:] = values
        out.createVariable("w", "i2", ("x",))[:] = np.arange(20)
    check_same(tool, path, "inner/v", values, -1)
    check_same(tool, path, "w", np.arange(20, dtype="i2"), netCDF4.default_fillvals["i2"])


# --- what is refused ---

def make_strange(folder, path):
    with h5py.File(path, "w") as out:
        out.create_group("group")
        out["text"] = "words"
        out["records"] = np.zeros(3, [("a", "i4"), ("b", "f8")])
        out["pairs"] = np.zeros(3, [("r", ">f4"), ("i", "<f4")])
        out["colours"] = np.zeros(3, h5py.enum_dtype({"red": 0, "blue": 1}))
        out["lists"] = np.array([np.zeros(2), np.zeros(3)], h5py.vlen_dtype("f8"))
        out["null"] = h5py.Empty("f4")
        out["wide"] = np.zeros([1] * 17)
        out.create_dataset("late", (4,), "f8")
        out.create_dataset("lzf", data=np.zeros(100), chunks=(10,), compression="lzf")
        out.create_dataset("external", (4,), "f8", external=[(folder / "x.bin", 0, 32)])[:] = 1
        out["elsewhere"] = h5py.ExternalLink(str(folder / "types.h5"), "i4/little/run")
        out["dangling"] = h5py.SoftLink("/nothing")
        packed = h5py.h5t.STD_I32LE.copy()
        packed.set_precision(17)
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        space = h5py.h5s.create_simple((4,))
        h5py.h5d.create(out.id, b"packed", packed, space)
        create.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(out.id, b"compact", h5py.h5t.STD_I32LE, space, create)
        layout = h5py.VirtualLayout((4,), "i4")
        layout[:] = h5py.VirtualSource(folder / "types.h5", "i4/little/run", (3, 7))[0, :4]
        out.create_virtual_dataset("virtual", layout)


def check_refusals(tool, folder):
    path = folder / "strange.h5"
    make_strange(folder, path)
    for name, text in {
            "text": "holds text", "records": "holds records", "pairs": "holds records",
            "colours": "enumerated", "lists": "lists of any length", "null": "no elements",
            "wide": "17 dimensions", "late": "no data yet", "lzf": "filter lzf (number 32000)",
            "external": "is external", "elsewhere": "another file", "packed": "17 bits",
            "compact": "is compact", "virtual": "is virtual"}.items():
        tool.refuses(EUNSUPPORTED, text, "look", path, name)
    tool.refuses(ENOENT, "is a group", "look", path, "group")
    tool.refuses(ENOENT, "colours, compact", "look", path, "-")
    for name in ("nothing", "dangling", "group/x", "no/where", "late/x"):
        tool.refuses(ENOENT, "no such dataset in the file; it has", "look", path, name)
    tool.refuses(ENOENT, "open", "look", folder / "none.h5", "x")
    (folder / "text.h5").write_text("this is no HDF5 file" * 99)
    tool.refuses(EFORMAT, "signature", "look", folder / "text.h5", "x")
    whole = (folder / "types.h5").read_bytes()
    (folder / "cut.h5").write_bytes(whole[:len(whole) // 2])
    tool.refuses(EFORMAT, "truncated", "look", folder / "cut.h5", "x")
    assert tool.ask("begins", path) == [["1"]] and tool.ask("begins", folder / "text.h5") == [["0"]]


def check_damage(tool, folder):
    """Chunks whose place or size the file gets wrong."""
    path = folder / "damaged.h5"
    with h5py.File(path, "w") as out:
        out.create_dataset("x", data=np.arange(64.), chunks=(16,))
    told = tool.look(path, "x")
    whole = path.read_bytes()
    offset, size, _ = told.at[2]
    entry = whole.index(size.to_bytes(4, "little") + bytes(4) + (32).to_bytes(8, "little"))
    for at, value, text in ((24, 1 << 40, ""), (24, len(whole) - 8, ""), (0, 100, "100 bytes")):
        length = 8 if at else 4
        path.write_bytes(whole[:entry + at] + value.to_bytes(length, "little")
                         + whole[entry + at + length:])
        tool.refuses(EFORMAT, text, "look", path, "x")
    assert offset == int.from_bytes(whole[entry + 24:entry + 32], "little")
    with h5py.File(path, "w") as out:
        out["a"] = out["b"] = out["c"] = 1.
        place = h5py.h5o.get_info(out["b"].id).addr
    whole = bytearray(path.read_bytes())
    whole[place:place + 4] = b"\xff" * 4
    path.write_bytes(whole)
    told = tool.ask("list", path)  # what comes before the damage
    assert told[0][0] == "a" and told[-1][0] == "error", told


# --- writing ---

def encode(values, codecs):
    data = values.tobytes()
    for codec in codecs.split(","):
        if codec.startswith("zlib"):
            data = zlib.compress(data, 3)
        elif codec.startswith("shuffle"):
            data = np.frombuffer(data, "u1").reshape(-1, values.itemsize).T.tobytes()
    return data


def check_made(path, name, told, values, fill):
    """Writes values where told, unless they are there, and reads them with HDF5."""
    with open(path, "r+b") as file:
        if told.tile is None and values.size:
            file.seek(int(told.offset))
            file.write(values.tobytes())
        for number, (offset, size, _) in told.at.items():
            file.seek(offset)
            file.write(tiles_of(values, told.tile, fill)[number].tobytes())
    with h5py.File(path) as made:
        data = made[name]
        assert data.dtype == values.dtype and data.chunks == told.tile, (data.dtype, data.chunks)
        assert data.fillvalue == fill, (data.fillvalue, fill)
        assert np.array_equal(data[...], values), (path, name)


def tiles_of(values, tile, fill):
    grid = [-(-s // t) for s, t in zip(values.shape, tile)]
    whole = np.full([g * t for g, t in zip(grid, tile)], fill, values.dtype)
    whole[tuple(slice(s) for s in values.shape)] = values
    return [whole[tuple(slice(i * t, i * t + t) for i, t in zip(at, tile))]
            for at in np.ndindex(*grid)]


def check_make(tool, rng, folder, code, number):
    path, name = folder / f"made{number}.h5", rng.choice(["x", "/x", "a/b/x"])
    shape = [rng.randint(1, 9) for _ in range(rng.randint(0, 4))]
    tile = [rng.randint(1, 12) for _ in shape] if rng.random() < 0.6 else []
    dtype = np.dtype(code).newbyteorder(rng.choice("<>"))
    codecs = "-"
    if tile and rng.random() < 0.7:
        codecs = rng.choice(["zlib:3", f"shuffle:{dtype.itemsize},zlib:3", f"shuffle:{dtype.itemsize}"])
    fill = values_of(rng, code, ())[()]
    values = values_of(rng, code, shape).astype(dtype)
    swapped = int(dtype.byteorder == ">")
    told = Told(tool.ask("make", path, name, code, swapped, ",".join(map(str, shape)) or "-",
                         ",".join(map(str, tile)) or "-", codecs, fill.tobytes().hex()))
    assert told.dtype == dtype and told.shape == tuple(shape) and told.fill == fill, told.__dict__
    if codecs != "-":
        check_pack(tool, rng, folder, (path, name, codecs, told, values, fill))
        return
    check_made(path, name, told, values, fill)


def check_pack(tool, rng, folder, case):
    """Some of the tiles, in any order; the others are of the fill value."""
    path, name, codecs, told, values, fill = case
    tiles = tiles_of(values, told.tile, fill)
    assert not told.at and int(told.tiles) == len(tiles), told.at
    some = rng.sample(range(len(tiles)), min(len(tiles), 50, rng.randint(1, 60)))
    for i in some:
        (folder / f"tile{i}").write_bytes(encode(tiles[i], codecs))
    tool.ask("pack", path, name, *(f"{i}={folder / f'tile{i}'}" for i in some))
    for i in set(range(len(tiles))) - set(some):
        grid = [-(-s // t) for s, t in zip(told.shape, told.tile)]
        at = np.unravel_index(i, grid)
        values[tuple(slice(a * t, a * t + t) for a, t in zip(at, told.tile))] = fill
    again = check_same(tool, path, name, values, fill)
    assert sorted(again.at) == sorted(some)
    again.at = {}  # nothing is to be written anymore
    check_made(path, name, again, values, fill)


def check_edges(tool, folder):
    path = folder / "large.h5"
    told = Told(tool.ask("make", path, "x", "f8", 0, "1000,1000", "-", "-", "-"))
    assert int(told.offset) % 4096 == 0 and path.stat().st_size >= int(told.offset) + 8000000
    with h5py.File(path) as made:
        assert made["x"].id.get_offset() == int(told.offset) and not made["x"][...].any()
    tool.refuses(EEXIST, "", "make", path, "x", "f8", 0, "3", "-", "-", "-")
    told = Told(tool.ask("make", folder / "t.h5", "x", "f8", 0, "300,200", "100,100", "-", "-"))
    assert len(told.at) == 6 and all(at % 4096 == 0 for at, _, _ in told.at.values()), told.at
    Told(tool.ask("make", folder / "z.h5", "x", "f8", 0, "3,0", "2,2", "zlib:1", "-"))
    Told(tool.ask("make", folder / "f.h5", "x", "f8", 0, "9", "2", "zlib:1,fletcher32", "-"))
    before = sorted(folder.iterdir())
    for code, text, *words in (
            (EUNSUPPORTED, "of codecs HDF5 has", "x", "f8", 0, "3", "2", "zstd", "-"),
            (EUNSUPPORTED, "shuffle of 8", "x", "f8", 0, "3", "2", "shuffle:4", "-"),
            (EUNSUPPORTED, "single value", "x", "f8", 0, "-", "2", "-", "-"),
            (EINVAL, "no such dataset", "/", "f8", 0, "3", "-", "-", "-")):
        tool.refuses(code, text, "make", folder / "n.h5", *words)
    assert sorted(folder.iterdir()) == before, set(folder.iterdir()) - set(before)
    tool.refuses(ENOENT, "", "make", folder / "no" / "n.h5", "x", "f8", 0, "3", "-", "-", "-")
    tool.refuses(ENOENT, "feeder", "pack", folder / "f.h5", "x", f"0={folder / 'none'}")
    tool.refuses(EINVAL, "chunk 5", "pack", folder / "f.h5", "x", f"5={folder / 'large.h5'}")
    tool.refuses(EINVAL, "no codecs", "pack", folder / "t.h5", "x")
    for command in (["h5dump", "-H"], ["h5ls", "-v"], ["h5debug"]):
        for name in ("large.h5", "t.h5", "z.h5", "f.h5"):
            subprocess.run([*command, folder / name], check=True, stdout=subprocess.DEVNULL)


def main():
    print(f"seed {sys.argv[2]}")
    rng, tool = random.Random(int(sys.argv[2])), Tool(sys.argv[1])
    tool.ask("begins", "/dev/null")
    files = len(os.listdir(f"/proc/{tool.process.pid}/fd"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_types(tool, folder)
        check_refusals(tool, folder)
        check_early(tool, folder)
        check_busy(tool, folder)
        check_skipped(tool, folder)
        check_netcdf(tool, folder)
        check_damage(tool, folder)
        check_edges(tool, folder)
        for i in range(int(sys.argv[3])):
            check_random(tool, rng, folder)
            check_make(tool, rng, folder, TYPES[i % len(TYPES)], i)
    assert len(os.listdir(f"/proc/{tool.process.pid}/fd")) == files, "a file was left open"


main()
