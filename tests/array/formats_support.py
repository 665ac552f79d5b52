"""What tests of formats share: random arrays and sections, and arrays by formats_tool."""
import os
import random
import subprocess
import sys
import time

import numpy as np

TYPES = "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()


class Refused(Exception):
    pass


class Tool:
    """formats_tool, which goes on until the end; `folder` is for what goes to and fro."""

    def __init__(self, path, folder, before=None):
        self.inside, self.outside = folder / "to-tool", folder / "from-tool"
        self.process = subprocess.Popen([path], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, preexec_fn=before)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{words} ended the tool, status {self.process.wait()}")
        if line.startswith("error "):
            raise Refused(line.strip())
        return line.split()[1:]

    def write(self, rng, path, values, *, format="-", order="C", tile=None, shard=None, codec="-",
              fill=None):
        values = np.asarray(values, values.dtype.newbyteorder("="))
        self.inside.write_bytes(values.tobytes())
        digits = "-" if fill is None else np.array(fill, values.dtype).tobytes().hex()
        self.ask("write", rng.randint(1, 7), rng.randint(0, 3), path, format, name_of(values.dtype),
                 order, sizes(values.shape), sizes(tile), sizes(shard), codec, digits, self.inside)

    def read(self, rng, path, section="()", most=7):
        """What it is as (type, order, shape), and the values of a section, dense by rows."""
        kind, order, _, *shape = self.ask("read", rng.randint(1, most), rng.randint(0, 3), path, section,
                                          self.outside)
        values = np.fromfile(self.outside, dtype_of(kind[1:]))
        taken = () if section == "()" else slices_of(section)
        whole = np.broadcast_to(values.dtype.type(), tuple(map(int, shape)))
        return (kind, order, whole.shape), values.reshape(whole[taken].shape)

    def change(self, rng, path, section, values):
        self.inside.write_bytes(np.asarray(values, values.dtype.newbyteorder("=")).tobytes())
        self.ask("change", rng.randint(1, 7), rng.randint(0, 3), path, section, self.inside)


def name_of(dtype):
    return "bool" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize}"


def dtype_of(name):
    return np.dtype(name)


def sizes(shape):
    return "-" if shape is None else ",".join(map(str, shape)) or "()"


def check_same(got, wanted, *about):
    """Also every NaN, and whatever the byte order is."""
    got, wanted = (np.asarray(v, np.asarray(v).dtype.newbyteorder("=")) for v in (got, wanted))
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), (got.dtype, got.shape, *about)
    if got.tobytes() == wanted.tobytes():
        return
    bits = [np.frombuffer(v.tobytes(), f"V{v.dtype.itemsize}") for v in (got, wanted)]
    bad = np.flatnonzero(bits[0] != bits[1])
    where = np.unravel_index(bad[0], got.shape)
    raise AssertionError(f"{len(bad)} of {got.size} {got.dtype} of {got.shape} differ, first "
                         f"{got[where]!r}, not {wanted[where]!r}, at {where}", *about)


def slices_of(section):
    return tuple(slice(*map(int, part.split(":"))) for part in section.split(","))


def random_shape(rng):
    return tuple(rng.choice([0, 1, 1, 2, 3, 5, 8, 13, 20]) if rng.random() < 0.9 else 40
                 for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4])))


def random_tile(rng, shape):
    """Of any size up to one that is larger than the array."""
    return tuple(rng.randint(1, max(1, size + 3)) for size in shape)


def random_values(rng, shape, dtype):
    """Some compress well, some not at all; floats are also NaN and infinite."""
    draw = np.random.default_rng(rng.randrange(1 << 30))
    if rng.random() < 0.5:
        values = draw.integers(0, 3, shape).astype(dtype)
    else:
        count = int(np.prod(shape, dtype=int))
        values = np.frombuffer(draw.bytes(count * dtype.itemsize), dtype).reshape(shape).copy()
        if dtype.kind == "b":
            values = values.view("u1").astype("u1") % 2 == 1
    return np.asarray(values, dtype)


def random_section(rng, shape):
    parts = []
    for size in shape:
        lo, hi = sorted((rng.randint(0, size), rng.randint(0, size)))
        parts.append(f"{lo}:{hi}:{rng.choice([1, 1, 2, 3])}")
    return ",".join(parts) if parts and rng.random() < 0.8 else "()"


def random_fill(rng, dtype, plain=False):
    """As the type has it; `plain`: such that zarr-python and zarrita know it, to which -0.0 is 0.0
    and a complex number re + 1j * im."""
    if dtype.kind == "b":
        return np.array(rng.random() < 0.5)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array(rng.choice([0, 1, info.min, info.max, rng.randint(info.min, info.max)]), dtype)
    numbers = [0.0, 1.5, float("nan"), float("inf"), float("-inf"), 0.1] + [-0.0] * (not plain)
    if dtype.kind == "f":
        return np.array(rng.choice(numbers), dtype)
    if plain:
        return np.array(complex(rng.choice([1.5, float("nan"), float("inf")]), 2.5), dtype)
    return np.array(complex(rng.choice(numbers), rng.choice(numbers)), dtype)


def run_cases(sample, long, case):
    """case(rng, i) for each, with a seed that a failure tells; the names are those of check.c."""
    seed = int(os.environ.get("WEIR_TEST_SEED", time.time_ns() % 1000000000))
    count = int(os.environ.get("WEIR_TEST_CASES", long if "WEIR_TEST_LONG" in os.environ else sample))
    print(f"WEIR_TEST_SEED={seed}", flush=True)
    for i in range(count):
        try:
            case(random.Random(seed + i), i)
        except BaseException:
            print(f"in case {i} of seed {seed}: WEIR_TEST_CASES=1 WEIR_TEST_SEED={seed + i}")
            raise
