#!/usr/bin/python3
"""Suite `predict`: the seconds that --dry-run expects of operators, against those they take, inputs in
the page cache and not. usage: predict.py mpirun... -n RANKS [--quick]

A virtual machine may get memory from its host when it is touched for the first time, and give it
back when it is free: then the first file written takes several times as long as the next. So a file
of the output's size is written and removed before each command."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
FOLDER = BIN.parent / "bench"
QUICK = "--quick" in sys.argv
LAUNCHER = [word for word in sys.argv[1:] if word != "--quick"]
RANKS = int(LAUNCHER[-1])
REPETITIONS = 1 if QUICK else 5
GOAL = "<=1.3"  # one may be so many times the other

Case = collections.namedtuple("Case", "name command inputs output cold")
MATRIX = {256: (4096, 8192), 512: (8192, 8192), 1024: (8192, 16384), 128: (4096, 4096)}  # MiB


def cases():
    size = 256 if QUICK else 1024
    yield Case(f"transpose of {size} MiB", ["transpose"], [size], "t.npy", False)
    size = 256 if QUICK else 512
    yield Case(f"convert of {size} MiB, f8 to f4", ["convert", "--dtype", "f4"], [size], "t.npy",
               False)
    yield Case("matmul of 4096 x 4096", ["matmul"], [128, 128], "t.npy", False)
    if QUICK:
        return
    yield Case("convert of 512 MiB", ["convert"], [512], "t.npy", False)
    yield Case("convert of 256 MiB to Zarr, zstd:1", ["convert", "--codec", "zstd:1"], [256],
               "t.zarr", False)
    yield Case("transpose of 512 MiB, cold", ["transpose"], [512], "t.npy", True)
    yield Case("matmul of 4096 x 4096, cold", ["matmul"], [128, 128], "t.npy", True)


def array(size):
    path = FOLDER / f"predict-{size}.npy"
    if not path.exists():
        shape = ",".join(map(str, MATRIX[size]))
        subprocess.run([BIN / "weir", "create", path, "--shape", shape, "--random", "1"], check=True)
    return path


def prepare(case):
    """The input is in the page cache or not, nothing waits for the disk, free memory is real."""
    for path in map(array, case.inputs):
        with open(path, "rb", buffering=0) as file:
            os.fsync(file)
            if case.cold:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            else:
                while file.read(8 << 20):
                    pass
    prime = FOLDER / "predict-prime"
    piece = bytes(4 << 20)
    with open(prime, "wb", buffering=0) as file:
        for _ in range(max(case.inputs) * 5 // 4 // 4):
            file.write(piece)
    prime.unlink()


def seconds(case, *more):
    prepare(case)
    output = FOLDER / f"predict-{case.output}"
    command = [*LAUNCHER, str(BIN / "weir"), *case.command, *map(str, map(array, case.inputs)),
               str(output), "--json", *more]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if output.is_dir():
        shutil.rmtree(output)
    output.unlink(missing_ok=True)
    if ended.returncode:
        sys.exit(f"predict.py: {case.name}: {ended.stderr.strip().splitlines()[:1]}")
    return json.loads(ended.stdout)["seconds"]


def main():
    FOLDER.mkdir(exist_ok=True)
    for case in cases():
        found = [(seconds(case, "--dry-run"), seconds(case)) for _ in range(REPETITIONS)]
        name = f"{case.name}, {RANKS} rank{'s' if RANKS > 1 else ''}"
        ratio = peers.median([a for a, _ in found]) / peers.median([b for _, b in found])
        peers.say_value(name, "expected and taken, medians, the larger by the smaller", GOAL, "times",
                        "weir --dry-run", [max(ratio, 1 / ratio)])
        peers.say("note", name, "expected by taken: "
                  + ", ".join(f"{a / b:.2f}" for a, b in found))
    for size in MATRIX:
        (FOLDER / f"predict-{size}.npy").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
