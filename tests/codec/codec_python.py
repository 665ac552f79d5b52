#!/usr/bin/python3
"""Python reads what the codecs write, and they read what Python writes: its zlib and gzip,
numcodecs, and the filters of HDF5.
usage: codec_python.py CODEC_TOOL"""
import gzip
import subprocess
import sys
import tempfile
import zlib

try:
    import h5py
    import numcodecs
    import numpy as np
    from numcodecs.blosc import Blosc
except ImportError as error:
    print(error)
    sys.exit(77)

TOOL = sys.argv[1]
SIZES = (0, 1, 4001, 300000)
NOT_EMPTY = SIZES[1:]  # of nothing numcodecs reads no Zstd and no Blosc, not even its own


def run(direction, codecs, element, data, *more):
    """What the tool makes of it; None: this build has no such codec."""
    result = subprocess.run([TOOL, direction, codecs, str(element), *map(str, more)], input=data,
                            capture_output=True)
    if result.returncode == 2:
        print(result.stderr.decode().strip())
        return None
    assert result.returncode == 0, (codecs, result.stderr)
    return result.stdout


def sample(size, element):
    """Smooth numbers, and an end that is random and need not be a whole element."""
    steps = np.cumsum(np.ones(size // element + 1)).astype(f"u{min(element, 8)}")
    noise = np.random.default_rng(size).bytes(size // 8)
    return (steps.repeat(max(1, element // 8)).tobytes()[:size - len(noise)] + noise)[:size]


def both_ways(codecs, element, write, read, sizes=SIZES):
    """read and write are Python's."""
    for size in sizes:
        data = sample(size, element)
        data += bytes(size - len(data))
        ours = run("encode", codecs, element, data)
        if ours is None:
            return
        assert read(ours) == data, (codecs, element, size)
        assert run("decode", codecs, element, write(data), size) == data, (codecs, element, size)


def check_python():
    both_ways("zlib:6", 4, lambda data: zlib.compress(data, 9), zlib.decompress)
    both_ways("gzip:1", 4, lambda data: gzip.compress(data, 5), gzip.decompress)
    # several members
    both_ways("gzip", 4, lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]),
              gzip.decompress)


def check_numcodecs():
    for codecs, theirs in (("zlib:4", numcodecs.Zlib(7)), ("gzip:4", numcodecs.GZip(7)),
                           ("zstd:4", numcodecs.Zstd(7)), ("zstd:-2:checksum", numcodecs.Zstd(1))):
        both_ways(codecs, 4, theirs.encode, lambda data, codec=theirs: bytes(codec.decode(data)),
                  NOT_EMPTY if "zstd" in codecs else SIZES)


def check_blosc():
    shuffles = {"noshuffle": Blosc.NOSHUFFLE, "shuffle": Blosc.SHUFFLE,
                "bitshuffle": Blosc.BITSHUFFLE}
    cases = [(name, shuffle, element) for name in numcodecs.blosc.list_compressors()
             for shuffle, element in (("noshuffle", 1), ("shuffle", 4), ("bitshuffle", 8))]
    for name, shuffle, element in cases:
        theirs = Blosc(name, 3, shuffles[shuffle])

        def write(data, theirs=theirs, element=element):
            whole = len(data) % element == 0
            return theirs.encode(np.frombuffer(data, f"u{element}") if whole else data)
        both_ways(f"blosc:{name}:5:{shuffle}", element, write,
                  lambda data, theirs=theirs: bytes(theirs.decode(data)), NOT_EMPTY)


def chunk(kind, count, options):
    """The elements of a data set of one chunk, and the chunk's bytes in the file."""
    with tempfile.NamedTemporaryFile() as file, h5py.File(file.name, "w") as h5:
        values = np.arange(count).astype(kind) * 3 + 1
        name = h5.create_dataset("a", data=values, chunks=(count,), **options)
        h5.flush()
        _, stored = name.id.read_direct_chunk((0,))
        return values.tobytes(), bytes(stored)


def check_hdf5():
    for kind in ("u1", "<i2", "<f4", "<f8", "<c16"):
        element = np.dtype(kind).itemsize
        for count in (1, 3, 1001, 50000):
            for codecs, options in (("fletcher32", {"fletcher32": True}),
                                    ("shuffle", {"shuffle": True}),
                                    ("shuffle,fletcher32", {"shuffle": True, "fletcher32": True})):
                data, stored = chunk(kind, count, options)
                assert run("encode", codecs, element, data) == stored, (codecs, kind, count)
    for count in (1001, 50000):
        options = {"shuffle": True, "fletcher32": True, "compression": 4}
        data, stored = chunk("<f4", count, options)
        back = run("decode", "shuffle,zlib,fletcher32", 4, stored, len(data))
        assert back in (data, None), count


if __name__ == "__main__":
    check_python()
    check_numcodecs()
    check_blosc()
    check_hdf5()
