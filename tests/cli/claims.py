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
    return [json.loads(line) for line in open(name)]


def same(a, b, order=None):
    a, b = np.asarray(a), np.asarray(b)
    if order and a.ndim > 1 and not a.flags[f"{order}_CONTIGUOUS"]:
        return False
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


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
