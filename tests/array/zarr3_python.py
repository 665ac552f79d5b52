#!/usr/bin/python3
"""Arrays of Zarr version 3, of all types and codecs, in shards and not: zarr3_naive.py writes what is
read here, and reads what is written here, by 1 to 7 ranks. usage: zarr3_python.py FORMATS_TOOL"""
import shutil
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import zarr3_naive
except ImportError as missing:
    print(missing)
    sys.exit(77)

from formats_support import (TYPES, Tool, check_same, name_of, random_fill, random_section, random_shape,
                             random_tile, random_values, run_cases, slices_of)


def bytes_codec(rng):
    return {"name": "bytes", "configuration": {"endian": rng.choice(["little", "big"])}}


def random_codecs(rng, dtype, dimensions):
    """As metadata has them; with a transposition in any order."""
    order = rng.sample(range(dimensions), dimensions)
    level, cname = rng.randint(1, 9), rng.choice("lz4 zstd zlib lz4hc blosclz".split())
    blosc = {"cname": cname, "clevel": level, "typesize": dtype.itemsize, "blocksize": 0,
             "shuffle": rng.choice("noshuffle shuffle bitshuffle".split())}
    codecs = [{"name": "transpose", "configuration": {"order": order}}] * rng.choice([0, 0, 1])
    codecs.append(bytes_codec(rng))
    codecs += rng.choice([[], [{"name": "gzip", "configuration": {"level": level}}],
                          [{"name": "zstd", "configuration": {"level": level, "checksum": False}}],
                          [{"name": "blosc", "configuration": blosc}]])
    return codecs + [{"name": "crc32c"}] * rng.choice([0, 0, 1])


def random_spec(rng, dtype, shape):
    tile = random_tile(rng, shape)
    shard = tuple(size * rng.randint(1, 3) for size in tile) if rng.random() < 0.6 else None
    index_codecs = [bytes_codec(rng)] + [{"name": "crc32c"}] * rng.choice([0, 1])
    return zarr3_naive.Spec(shape, dtype, random_fill(rng, dtype), tile,
                            random_codecs(rng, dtype, len(shape)), shard, first=rng.random() < 0.5,
                            keys=rng.choice(["default", "v2"]), separator=rng.choice("./"),
                            index_codecs=index_codecs)


def check_reading(tool, rng, folder):
    """In the end some is written here, too."""
    dtype, shape, path = np.dtype(rng.choice(TYPES)), random_shape(rng), folder / "theirs"
    spec, values = random_spec(rng, dtype, shape), None
    values, section = np.full(shape, spec.fill, dtype), random_section(rng, shape)
    taken = ... if section == "()" else slices_of(section)
    values[taken] = random_values(rng, values[taken].shape, dtype)
    zarr3_naive.write(rng, path, values, spec)
    for _ in range(3):
        section = random_section(rng, shape)
        (kind, _, told), got = tool.read(rng, path, section)
        assert (kind[1:], told) == (name_of(dtype), shape), (kind, told)
        check_same(got, values if section == "()" else values[slices_of(section)], section, spec.text())
    section = random_section(rng, shape)
    taken = ... if section == "()" else slices_of(section)
    values[taken] = new = random_values(rng, values[taken].shape, dtype)
    tool.change(rng, path, section, new)
    check_same(zarr3_naive.read(path), values, section, spec.text())
    shutil.rmtree(path)


def check_writing(tool, rng, folder):
    dtype, shape, path = np.dtype(rng.choice(TYPES)), random_shape(rng), folder / "ours"
    values, fill = random_values(rng, shape, dtype), random_fill(rng, dtype)
    tile, shard = random_tile(rng, shape), None
    if rng.random() < 0.6:
        shard = tuple(size * rng.randint(1, 3) for size in tile)
    if rng.random() < 0.3:
        values[...] = fill
    codec = rng.choice(["-", "gzip", "zstd:7", "blosc", "blosc:zstd:3:bitshuffle", "crc32c", "zstd,crc32c"])
    tool.write(rng, path, values, format="zarr", tile=tile, shard=shard, codec=codec, fill=fill,
               order=rng.choice("CF"))
    check_same(zarr3_naive.read(path), values, tile, shard, codec)
    check_same(tool.read(rng, path)[1], values, tile, shard, codec)
    shutil.rmtree(path)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tool = Tool(sys.argv[1], folder)

        def case(rng, _):
            check_reading(tool, rng, folder)
            check_writing(tool, rng, folder)

        run_cases(60, 2000, case)


main()
