#!/usr/bin/python3
"""Damaged and hostile arrays in tiles: what cannot be is an error of one line that names file and tile,
and takes no more memory than a tile; other tiles are read. usage: tiles_hostile.py WEIR FORMATS_TOOL
MPIRUN..."""
import json
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

try:
    import h5py
    import numcodecs
    import numpy as np
    import zarr3_naive
except ImportError as missing:
    print(missing)
    sys.exit(77)

from formats_support import Refused, Tool, check_same, run_cases

WEIR, MPIRUN = sys.argv[1], sys.argv[3:]
MEMORY = 512 << 20  # of a process: what MPI takes, and some
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
CODECS = {"none": [], "gzip": [{"name": "gzip", "configuration": {"level": 5}}],
          "zstd": [{"name": "zstd", "configuration": {"level": 3, "checksum": False}}],
          "blosc": [{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "typesize": 4,
                                                        "blocksize": 0, "shuffle": "shuffle"}}],
          "crc32c": [{"name": "crc32c"}]}
SHAPE, TILE = (8, 8), (4, 4)
VALUES = np.arange(1, 65, dtype="f4").reshape(SHAPE)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(*arguments, ranks=0):
    before = [*MPIRUN, str(ranks)] if ranks else []
    return subprocess.run([*before, WEIR, *map(str, arguments)], capture_output=True, text=True,
                          preexec_fn=None if ranks else limit)


def refuses(texts, *arguments, ranks=0):
    """One line with all of them."""
    ended = run(*arguments, ranks=ranks)
    lines = [line for line in ended.stderr.splitlines() if line.startswith("weir ")]
    assert ended.returncode == 1 and len(lines) == 1, (arguments, ended)
    assert ranks or (ended.stderr.count("\n") == 1 and not ended.stdout), (arguments, ended)
    assert all(text in lines[0] for text in texts), (texts, lines)


class Reader:
    """By the tool, which must not take more memory either, on some number of ranks."""

    def __init__(self, path, folder):
        self.tool, self.rng = Tool(path, folder, limit), random.Random(1)

    def fails(self, path, *texts):
        try:
            self.tool.read(self.rng, path)
        except Refused as refused:
            assert all(text in str(refused) for text in texts), (texts, refused)
        else:
            raise AssertionError(f"{path} is read")

    def gives(self, path, section, wanted):
        check_same(self.tool.read(self.rng, path, section)[1], wanted)

    def others(self, path):
        """All tiles but number 1."""
        self.gives(path, "0:4:1,0:4:1", VALUES[:4, :4])
        self.gives(path, "4:8:1,0:8:1", VALUES[4:])


def make(path, codecs, shard=None, **more):
    """Nothing is fill, so that all is there."""
    shutil.rmtree(path, ignore_errors=True)
    spec = zarr3_naive.Spec(SHAPE, VALUES.dtype, np.array(0, "f4"), TILE, [LITTLE, *codecs], shard, **more)
    zarr3_naive.write(random.Random(1), path, VALUES, spec)
    return spec


# --- tiles of their own ---

def damages(codec, data):
    """Bytes that are no such tile."""
    big, small = bytes(4 * 17), bytes(4 * 15)
    whole = CODECS[codec]
    yield data[:len(data) // 2]
    yield b""
    yield data[:1]
    yield data[:-1]
    yield data + b"\0"
    yield data + bytes(1 << 20)
    if whole:
        yield b"\xff" * len(data)
        for what in (big, small, b""):
            chunk = np.frombuffer(what, "f4")
            yield zarr3_naive.encode(chunk, [LITTLE, *whole])


def check_files(reader, folder):
    for codec in CODECS:
        path = folder / f"{codec}.zarr"
        make(path, CODECS[codec])
        file = path / "c/0/1"
        data = file.read_bytes()
        for bad in damages(codec, data):
            file.write_bytes(bad)
            reader.fails(path, f"{file}: tile 1: ")
        reader.others(path)
        refuses([f"{file}: tile 1: "], "convert", path, folder / "new.npy", "--quiet")
    refuses([f"{file}: tile 1: "], "reduce", path, "--quiet", ranks=3)
    file.unlink()
    file.mkdir()
    refuses([f"{file}: tile 1: "], "get", path)
    assert not (folder / "new.npy").exists() and not list(folder.glob("*partial*"))


def check_bombs(reader, folder):
    """Of zeros, of which a MiB takes a KiB or less: a tile is still 64 bytes, in a small chunk."""
    path = folder / "bomb.zarr"
    gibs = zlib.compressobj(9, zlib.DEFLATED, 31)
    mib = bytes(1 << 20)
    bombs = {"gzip": b"".join([*(gibs.compress(mib) for _ in range(256)), gibs.flush()]),
             "zstd": numcodecs.Zstd(3).encode(bytes(1 << 28)),
             "blosc": numcodecs.Blosc("zstd", 5).encode(bytes(1 << 28))}
    for codec, bomb in bombs.items():
        make(path, CODECS[codec])
        (path / "c/0/1").write_bytes(bomb)
        reader.fails(path, f"{path}/c/0/1: tile 1: ")
        # the same in a chunk that is not too long, and in ones that only claim it
        (path / "c/0/1").write_bytes(bomb[:40000])
        reader.fails(path, f"{path}/c/0/1: tile 1: ")
        reader.others(path)
    make(path, CODECS["zstd"])  # a frame of 16 MiB, in 0.5 KiB
    (path / "c/0/1").write_bytes(numcodecs.Zstd(3).encode(bytes(1 << 24)))
    reader.fails(path, f"{path}/c/0/1: tile 1: ")
    make(path, CODECS["blosc"])  # a header that tells of 2 GiB
    data = bytearray((path / "c/0/1").read_bytes())
    data[4:8] = struct.pack("<I", 0x7fffff00)
    (path / "c/0/1").write_bytes(data)
    reader.fails(path, f"{path}/c/0/1: tile 1: ")
    reader.others(path)


def check_flips(tool, rng, folder):
    """A bit of a chunk: with a checksum it is an error, without one an error or other data."""
    codec = rng.choice(list(CODECS))
    summed = rng.random() < 0.5
    path = folder / "flip.zarr"
    shard = rng.choice([None, (8, 4)])
    make(path, CODECS[codec] + CODECS["crc32c"] * (summed and codec != "crc32c"), shard)
    file = path / "c/0/1"
    data = bytearray(file.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)
    try:
        (_, _, shape), got = tool.read(rng, path)
    except Refused as refused:
        assert f"{file}: tile " in str(refused), refused
    else:
        assert shape == SHAPE
        whole = summed or codec == "crc32c"  # it was between the tiles of a shard
        check_same(got[:, :8 if whole else 4], VALUES[:, :8 if whole else 4])
    check_same(tool.read(rng, path, "0:8:1,0:4:1")[1], VALUES[:, :4])


# --- shards ---

def index_of(data, entries):
    """Of a shard with its index at the end."""
    return np.frombuffer(data[-(entries * 16 + 4):-4], "<u8").reshape(entries, 2).copy()


def with_index(data, index):
    told = index.astype("<u8").tobytes()
    return data[:-(len(told) + 4)] + told + zarr3_naive.crc32c(told)


def check_shards(reader, folder):
    """Tiles 0 to 3 are in one shard; only what is wrong with tile 1 is an error."""
    path = folder / "shard.zarr"
    file = path / "c/0/0"
    for codec in ("none", "zstd"):
        make(path, CODECS[codec], (8, 8))
        data, size = file.read_bytes(), len(file.read_bytes())
        good = index_of(data, 4)
        for entry in [(size, 1), (size + 1, 1), (1 << 63, 1), ((1 << 64) - 2, 64), (0, 1 << 63),
                      (0, size + 1), (0, (1 << 64) - 1), ((1 << 64) - 1, 64), (size - 10, 64),
                      (int(good[1][0]), 1 << 40), (int(good[1][0]), 0), (int(good[1][0]) + 1, 3)]:
            index = good.copy()
            index[1] = entry
            file.write_bytes(with_index(data, index))
            reader.fails(path, f"{file}: tile 1: ")
        reader.others(path)
        index = good.copy()  # overlapping ones are just read
        index[1] = index[0]
        file.write_bytes(with_index(data, index))
        reader.gives(path, "0:4:1,4:8:1", VALUES[:4, :4])
        index[1] = (1 << 64) - 1
        file.write_bytes(with_index(data, index))
        reader.gives(path, "0:4:1,4:8:1", np.zeros((4, 4), "f4"))
        for bad in (data[:-1] + bytes([data[-1] ^ 1]), data[:-8] + bytes([data[-8] ^ 1]) + data[-7:],
                    data[:-1], data[:40], data[:67], b"", data + b"\0"):
            file.write_bytes(bad)
            reader.fails(path, f"{file}: tile ", "index")
    path = folder / "plain.zarr"  # an index without a checksum
    make(path, [], (8, 8), index_codecs=[LITTLE], first=True)
    file = path / "c/0/0"
    data = file.read_bytes()
    file.write_bytes(data[:16] + struct.pack("<QQ", 1 << 40, 64) + data[32:])
    refuses([f"{file}: tile 1: "], "get", path)
    reader.others(path)
    file.write_bytes(data[:63])
    reader.fails(path, f"{file}: tile ", "index")


# --- metadata ---

def check_metadata(reader, folder):
    """Shapes and chunks beyond memory, and beyond numbers: nothing is taken on their word."""
    path = folder / "huge.zarr"
    path.mkdir()

    def tells(**more):
        told = {"zarr_format": 3, "node_type": "array", "shape": [1 << 20, 1 << 20],
                "data_type": "float32", "fill_value": 0,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1024, 1024]}},
                "chunk_key_encoding": {"name": "default"}, "codecs": [LITTLE, *CODECS["zstd"]]}
        told.update(more)
        (path / "zarr.json").write_text(json.dumps(told))

    def chunks(*sizes):
        return {"name": "regular", "configuration": {"chunk_shape": sizes}}

    def shards(*sizes):
        return [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": sizes, "codecs": [LITTLE], "index_codecs": [LITTLE], "index_location": "end"}}]

    tells()  # 4 TiB, none of it there
    reader.gives(path, "70000:70001:1,5:7:1", np.zeros((1, 2), "f4"))
    (path / "c/68").mkdir(parents=True)
    (path / "c/68/0").write_bytes(b"bad")
    refuses([f"{path}/c/68/0: tile {68 << 10}: "], "get", f"{path}[70000, 5:7]")
    for more in ({"chunk_grid": chunks(1 << 20, 1 << 20)},            # a tile of 4 TiB
                 {"chunk_grid": chunks(1 << 31, 1 << 31)},            # of 16 EiB
                 {"chunk_grid": chunks(1 << 62, 1 << 62)},
                 {"shape": [1 << 62, 1 << 62]},
                 {"shape": [1 << 40, 1 << 40]}):
        tells(**more)
        ended = run("get", f"{path}[70000, 5:7]")
        assert ended.returncode == 1 and ended.stderr.count("\n") == 1, (more, ended)
        assert str(path) in ended.stderr and not ended.stdout, (more, ended)
    tells(chunk_grid=chunks(1 << 20, 1 << 20), codecs=shards(1, 1))  # an index of 16 TiB
    reader.gives(path, "70000:70001:1,5:7:1", np.zeros((1, 2), "f4"))
    (path / "c/0").mkdir()
    (path / "c/0/0").write_bytes(bytes(100))
    refuses([f"{path}/c/0/0: tile ", "index"], "get", f"{path}[70000, 5:7]")
    for text in ("", "{", "[]", "null", "[" * 100000, '{"zarr_format": 3}', "\0" * 100,
                 json.dumps({"zarr_format": 3, "node_type": "group"})):
        (path / "zarr.json").write_text(text)
        reader.fails(path, str(path))
    for what in ("cast_value", "sharding_indexed2", "lz4"):
        tells(codecs=[LITTLE, {"name": what}])
        reader.fails(path, str(path), what)


# --- HDF5 ---

def check_hdf5(reader, folder):
    path = folder / "x.h5"
    for filters in ({"compression": "gzip"}, {"fletcher32": True}, {"compression": "gzip", "shuffle": True}):
        with h5py.File(path, "w") as out:
            theirs = out.create_dataset("x", data=VALUES, chunks=TILE, **filters)
            where = theirs.id.get_chunk_info_by_coord((0, 4))
        data = bytearray(path.read_bytes())
        middle = where.byte_offset + where.size // 2
        data[middle:middle + 4] = bytes(b ^ 255 for b in data[middle:middle + 4])
        path.write_bytes(data)
        reader.fails(f"{path}:/x", f"{path}: tile 1: ")
        reader.others(f"{path}:/x")
    bomb = zlib.compress(bytes(60 << 20), 9)  # larger ones of so small a chunk HDF5 does not write
    for bad in (bomb, bomb[:-9], zlib.compress(bytes(68)), zlib.compress(bytes(60)), b"\0"):
        with h5py.File(path, "w") as out:
            theirs = out.create_dataset("x", data=VALUES, chunks=TILE, compression="gzip")
            theirs.id.write_direct_chunk((0, 4), bad)
        reader.fails(f"{path}:/x", f"{path}: tile 1: ")
        reader.others(f"{path}:/x")
    whole = path.read_bytes()
    for size in (0, 4, 8, 100, 1000, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        reader.fails(f"{path}:/x", str(path))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reader = Reader(sys.argv[2], folder)
        check_files(reader, folder)
        check_bombs(reader, folder)
        check_shards(reader, folder)
        check_metadata(reader, folder)
        check_hdf5(reader, folder)
        run_cases(100, 5000, lambda rng, _: check_flips(reader.tool, rng, folder))


main()
