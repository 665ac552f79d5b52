#!/usr/bin/python3
"""Evaluates claims about arrays, one Python expression a line of a file, in the folder it is in."""
import json
import os
import sys

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15


def load(name):
    return np.load(name)


def iota(shape, dtype):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def mix(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def stream(seed, count):
    numbers = np.arange(1, count + 1, dtype=np.uint64)
    return mix(mix(np.array([seed], np.uint64)) + numbers * np.uint64(GOLDEN))


def real(x, dtype):
    bits = np.finfo(dtype).nmant + 1
    return ((x >> np.uint64(64 - bits)) * 2.0 ** -bits).astype(dtype)


def random(seed, shape, dtype):
    """What weir create --random makes, by its definition in src/front/cli/numbers.h."""
    dtype, count = np.dtype(dtype), int(np.prod(shape, dtype=int))
    if dtype.kind == "c":
        pairs = real(stream(seed, 2 * count), f"f{dtype.itemsize // 2}")
        return pairs.view(dtype).reshape(shape)
    x = stream(seed, count)
    if dtype.kind == "f":
        return real(x, dtype).reshape(shape)
    return (x >> np.uint64(63) if dtype.kind == "b" else x).astype(dtype).reshape(shape)


def text(name, dtype):
    """Printed elements."""
    words = open(name).read().split()
    kind = {"c": complex, "f": float}.get(np.dtype(dtype).kind, int)
    return np.array([kind(word) for word in words], dtype)


def lines(name):
    """Numbers of words by line."""
    return [len(line.split()) for line in open(name)]


def objects(name):
    return [json.loads(line) for line in open(name, encoding="utf-8")]


def same(a, b, order=None):
    a, b = np.asarray(a), np.asarray(b)
    if order and a.ndim > 1 and not a.flags[f"{order}_CONTIGUOUS"]:
        return False
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def save(name, array):
    np.save(name, array)
    return True


def median(a, window):
    """Of the windows around elements, edges repeated."""
    padded = np.pad(a, window // 2, mode="edge") if a.size else np.zeros((0, 0), a.dtype)
    rows, columns = a.shape
    shifts = [(i, j) for i in range(window) for j in range(window)]
    stack = [padded[i:i + rows, j:j + columns] for i, j in shifts] if a.size else [a]
    return np.partition(stack, len(stack) // 2, axis=0)[len(stack) // 2]


def relax(a):
    """One iteration, and the largest change."""
    b = a.copy()
    b[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) * a.dtype.type(0.25)
    return b, np.abs(b - a).max(initial=0)


def laplace(a, iterations, tolerance=0):
    change, done = np.inf, 0
    while change > tolerance and not 0 < iterations <= done:
        a, change = relax(a)
        done += 1
    return a


def told(a, iterations):
    """What weir laplace prints."""
    change = relax(laplace(a, iterations - 1))[1]
    return f"iterations {iterations}, residual {float(change):.17g}\n"


def account(name, command, dry_run, ranks, line=0):
    """What --json has told, if it can be right."""
    told = objects(name)[line]
    known = ("moved", "amplification", "resident")
    assert told["command"] == command and told["dry_run"] == dry_run and told["ranks"] == ranks, told
    assert all((told[key] is None) == dry_run for key in known if key != "amplification"), told
    if command == "fill" and dry_run:
        assert told["seconds"] is None and told["rate"] is None
    else:
        assert 0 < told["seconds"] < 60
        wanted = told["read"] + told["written"]
        assert abs(told["rate"] - wanted / told["seconds"]) < 1e-3 * told["rate"] + 1, told
    if not dry_run:
        assert told["amplification"] >= 0.99 and told["resident"] > 0 and told["memory"] > 0, told
    return told


def accounts(name, ranks):
    """Whether what a dry run expects is what is done then."""
    commands = ("transpose", "matmul", "convert", "median", "laplace", "reduce", "fill")
    for i, command in enumerate(commands):
        expected = account(name, command, True, ranks, i)
        told = account(name, command, False, ranks, i + len(commands))
        assert (expected["read"], expected["written"]) == (told["read"], told["written"]), told
        assert expected["plan"] == told["plan"], told
        if command != "fill":  # what is not in the page cache is read with 16 MiB more
            assert 0.7 * told["memory"] < expected["memory"] < 1.5 * told["memory"] + (16 << 20), told
    assert objects(name)[11]["iterations"] == 3 and objects(name)[12]["count"] == 300 * 200
    return True


def told_of(name, a):
    """Whether weir reduce --json has printed the statistics of an array."""
    found, numbers = objects(name)[0], a[~np.isnan(a)].astype("f8")
    if found["count"] != a.size or found["nans"] != a.size - numbers.size:
        return False
    if not numbers.size:
        return found["min"] is found["max"] is found["mean"] is found["std"] is None
    return (found["min"] == numbers.min() and found["max"] == numbers.max() and
            np.isclose(found["mean"], numbers.mean(), 1e-12) and
            np.isclose(found["std"], numbers.std(), 1e-12))


os.chdir(os.path.dirname(sys.argv[1]) or ".")
wrong = 0
for claim in open(sys.argv[1]).read().splitlines():
    try:
        problem = "" if eval(claim) else "not true"
    except (OSError, ValueError, IndexError, SyntaxError) as error:
        problem = error
    if problem:
        wrong += 1
        print(f"{claim}: {problem}")
sys.exit(wrong > 0)
