#!/usr/bin/python3
"""Arrays of Zarr version 3: zarrita reads what is written here, with and without shards, and writes
what is read here, by 1 to 7 ranks.
usage: zarrita_python.py FORMATS_TOOL ZARRITA.MJS, which is below the folder of node's packages"""
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)

from formats_support import (Tool, check_same, name_of, random_fill, random_section, random_shape,
                             random_tile, random_values, run_cases, slices_of)

TYPES = "bool i1 i2 i4 i8 u1 u2 u4 u8 f4 f8".split()


class Zarrita:
    def __init__(self, script, folder):
        self.outside, self.inside = folder / "from-zarrita", folder / "to-zarrita"
        self.process = subprocess.Popen(["node", script], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, command, **request):
        self.process.stdin.write(json.dumps({"command": command, **request}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, (request, answer["error"])
        return answer

    def read(self, path, section):
        answer = self.ask("read", path=str(path), out=str(self.outside), section=triples(section))
        values = np.fromfile(self.outside, answer["dtype"])
        strides = [step * values.itemsize for step in answer["stride"]]
        return np.lib.stride_tricks.as_strided(values, answer["shape"], strides)

    def write(self, path, values, section, **options):
        self.inside.write_bytes(values[slices_of(section)].tobytes())
        self.ask("write", path=str(path), **{"from": str(self.inside)}, shape=values.shape,
                 section=triples(section), dtype=values.dtype.name, **options)


def triples(section):
    return None if section == "()" else [list(map(int, p.split(":"))) for p in section.split(",")]


def some_shape(rng):
    """Of single elements zarrita is told otherwise, and not at all of nothing."""
    return tuple(max(1, size) for size in random_shape(rng)) or (1,)


def some_section(rng, shape):
    """Not empty."""
    parts = []
    for size in shape:
        lo = rng.randrange(size)
        parts.append(f"{lo}:{rng.randint(lo + 1, size)}:{rng.choice([1, 1, 2, 3])}")
    return ",".join(parts)


def some_values(rng, shape, dtype):
    """Bits of NaN need not outlast JavaScript."""
    values = random_values(rng, shape, dtype)
    return np.where(np.isnan(values), dtype.type("nan"), values) if dtype.kind == "f" else values


def some_fill(rng, dtype, plain=False):
    """Such that JavaScript's numbers hold it."""
    fill = random_fill(rng, dtype, plain)
    return np.array(3, dtype) if dtype.kind in "iu" and abs(fill.item()) > 1 << 53 else fill


def random_codec(rng):
    """As it is named here."""
    level, mixed = rng.randint(1, 9), rng.choice("noshuffle shuffle bitshuffle".split())
    first = rng.choice(["-", f"gzip:{level}", f"zstd:{level}", f"blosc:lz4:{level}:{mixed}",
                        f"blosc:zstd:{level}:{mixed}", f"blosc:zlib:{level}:{mixed}"])
    if rng.random() < 0.3:
        return "crc32c" if first == "-" else first + ",crc32c"
    return first


def check_writing(tool, zarrita, rng, folder):
    dtype, shape = np.dtype(rng.choice(TYPES)), some_shape(rng)
    values, fill, path = some_values(rng, shape, dtype), some_fill(rng, dtype), folder / "ours.zarr"
    tile, shard, codec = random_tile(rng, shape), None, random_codec(rng)
    if rng.random() < 0.5:
        shard = tuple(size * rng.randint(1, 3) for size in tile)
    if rng.random() < 0.5: # some tiles are all fill
        values[tuple(slice(0, size // 2) for size in shape)] = fill
    tool.write(rng, path, values, tile=tile, shard=shard, codec=codec, fill=fill,
               order=rng.choice("CF"))
    for section in (",".join(f"0:{size}:1" for size in shape), some_section(rng, shape)):
        check_same(zarrita.read(path, section), values[slices_of(section)], tile, shard, codec, section)
    shutil.rmtree(path)


def check_reading(tool, zarrita, rng, folder):
    """Chunks are missing, and some sections are written here in the end."""
    dtype, shape = np.dtype(rng.choice(TYPES)), some_shape(rng)
    fill, path = some_fill(rng, dtype, plain=True), folder / "theirs.zarr"
    order = list(range(len(shape)))
    rng.shuffle(order)
    ends = ["little", "big"] if dtype.itemsize > 1 else ["little"]
    codecs = [{"name": "bytes", "configuration": {"endian": rng.choice(ends)}}]
    if rng.random() < 0.3:
        codecs.insert(0, {"name": "transpose", "configuration": {"order": order}})
    codecs += rng.choice([[], [{"name": "gzip", "configuration": {"level": 5}}],
                          [{"name": "zstd", "configuration": {"level": 3, "checksum": False}}],
                          [{"name": "blosc", "configuration": {
                              "cname": rng.choice(["lz4", "zstd"]), "clevel": 5, "blocksize": 0,
                              "shuffle": "shuffle", "typesize": dtype.itemsize}}]])
    told = fill.item() if dtype.kind != "f" or np.isfinite(fill) else \
        {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(fill)]
    values, section = np.full(shape, fill, dtype), some_section(rng, shape)
    values[slices_of(section)] = some_values(rng, values[slices_of(section)].shape, dtype)
    zarrita.write(path, values, section, chunks=random_tile(rng, shape), codecs=codecs, fillValue=told,
                  chunkSeparator=rng.choice("./"))
    for _ in range(3):
        section = random_section(rng, shape)
        (kind, _, told), got = tool.read(rng, path, section)
        assert (kind[1:], told) == (name_of(dtype), shape), (kind, told)
        check_same(got, values if section == "()" else values[slices_of(section)], codecs, section)
    section = some_section(rng, shape)
    values[slices_of(section)] = new = some_values(rng, values[slices_of(section)].shape, dtype)
    tool.change(rng, path, section, new)
    check_same(zarrita.read(path, ",".join(f"0:{size}:1" for size in shape)), values, codecs)
    shutil.rmtree(path)


def main():
    script = Path(sys.argv[2])
    if not shutil.which("node"):
        print("there is no node")
        sys.exit(77)
    if not any((parent / "node_modules/zarrita").is_dir() for parent in script.parents):
        print("there is no zarrita: make setup test gets it, where npm can")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tool, zarrita = Tool(sys.argv[1], folder), Zarrita(script, folder)

        def case(rng, _):
            check_writing(tool, zarrita, rng, folder)
            check_reading(tool, zarrita, rng, folder)

        run_cases(30, 1000, case)


main()
