#!/usr/bin/python3
"""Suite `sieve`: sections of arrays: PASSION's tables 4 and 5, one process against numpy.memmap, many
against h5py's collective read. usage: sieve.py mpirun... -n RANKS [--quick]"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
FOLDER = BIN.parent / "bench"
N = 8192  # of the matrix that numpy.memmap reads too, f8
SECTIONS = [  # lo, hi, step by dimension
    ((0, N, 2), (1000, 5000, 1)),
    ((0, N, 1), (1024, 1536, 1)),
    ((0, N, 4), (0, N, 4)),
    ((1, N, 3), (0, N, 2)),
    ((0, N, 16), (0, N, 64)),
    ((0, N, 1), (100, 108, 1)),
]
READ_BY = "weir_array_read"


def slices(section):
    return tuple(slice(*part) for part in section)


def text(section):
    return ",".join(":".join(map(str, part)) for part in section)


def forget_pages(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def time_memmap(numpy, path, section, cold):
    """One slicing copy into memory that is there; the map is new, as in a program that starts."""
    if cold:
        forget_pages(path)
    matrix = numpy.load(path, mmap_mode="r")
    out = numpy.ones(matrix[slices(section)].shape)
    if not cold:
        numpy.copyto(out, matrix[slices(section)])  # the map's pages are there
    start = time.perf_counter()
    numpy.copyto(out, matrix[slices(section)])
    return time.perf_counter() - start


def time_ours(command, path, section, state):
    """The same by a program of its own, which ends: pages that it has mapped cannot be forgotten."""
    states = ["warm", "warm"] if state == "warm" else [state]
    ended = subprocess.run([*command, "serve", path], text=True, capture_output=True, check=True,
                           input="".join(f"{state} {text(section)}\n" for state in states))
    return float(ended.stdout.split()[-1])


def compare_memmap(launcher, quick):
    numpy = importlib.import_module("numpy")
    path = FOLDER / "sieve-memmap.npy"
    subprocess.run([BIN / "weir", "create", path, "--shape", f"{N},{N}", "--iota", "--overwrite"],
                   check=True)
    for state, goal in (("warm", ">=1"), ("cold", ">=3")):
        for section in SECTIONS:
            name = f"[{text(section)}] of {N} x {N} f8"
            peers.say("figure", name, state, "speed", goal, "s", READ_BY, "numpy.memmap")
            for _ in range(3 if quick else 7):
                theirs = time_memmap(numpy, path, section, state == "cold")
                ours = time_ours([*launcher, BIN / "bench_sieve"], path, section, state)
                peers.say("sample", name, state, ours, theirs)
    compare_device(launcher, quick, path)
    path.unlink()


def compare_device(launcher, quick, path):
    """Against plain io_uring past the page cache, where that can be had."""
    for section in SECTIONS:
        name, figure = f"[{text(section)}] of {N} x {N} f8", "cold, against the device"
        pairs = []
        for _ in range(3 if quick else 7):
            try:
                pairs.append([time_ours([*launcher, BIN / "bench_sieve"], path, section, state)
                              for state in ("cold", "device")])
            except subprocess.CalledProcessError:
                peers.say("note", "skipped", "there is no io_uring, or nothing past the page cache")
                return
        peers.say("figure", name, figure, "speed", ">=0.9", "s", READ_BY, "plain io_uring")
        for ours, plain in pairs:
            peers.say("sample", name, figure, ours, plain)


def compare_h5py(launcher, quick):
    ranks = int(launcher[-1])
    ours = peers.run([*launcher, str(BIN / "bench_sieve"), "blocks", str(FOLDER / "sieve.npy"),
                      *quick], "sieve", "ompio")
    theirs = peers.run([*launcher, "/usr/bin/python3", str(HERE / "h5_blocks.py"),
                        str(FOLDER / "sieve.h5"), *quick], "sieve", "ompio")
    for case, rows in ours.items():
        _, name, op = case
        peers.say("figure", f"{name}, {ranks} ranks", op, "speed", ">=5", "s",
                  "weir_array_read_distributed", "h5py, collective")
        reference = peers.median([row[0] for row in theirs[case]])
        for row in rows:
            peers.say("sample", f"{name}, {ranks} ranks", op, row[0], reference)


def main():
    quick = [word for word in sys.argv[1:] if word == "--quick"]
    launcher = [word for word in sys.argv[1:] if word != "--quick"]
    if launcher[-1] != "1":
        if launcher[0] == "mpirun.openmpi" and importlib.util.find_spec("h5py"):
            compare_h5py(launcher, quick)
        return
    subprocess.run([*launcher, BIN / "bench_sieve", "tables", FOLDER,
                    HERE / "cases" / "passion_sieving.tsv", *quick], check=True)
    if importlib.util.find_spec("numpy"):
        compare_memmap(launcher, quick)


if __name__ == "__main__":
    main()
