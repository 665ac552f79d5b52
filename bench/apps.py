#!/usr/bin/python3
"""Suite `apps`: operators on arrays that do not fit in memory, against plain reading and writing,
numpy.memmap and BLAS, with and without prefetch, together and alone.
usage: apps.py mpirun... -n RANKS [--quick]"""
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


def run(launcher, what, *arguments):
    return peers.run([*launcher, str(BIN / "bench_apps"), what, str(FOLDER),
                      *map(str, arguments)], "apps", "ompio")


def say_pairs(name, figure, kind, goal, ours, reference, rows):
    peers.say("figure", name, figure, kind, goal, "s", ours, reference)
    for row in rows:
        peers.say("sample", name, figure, row[0], row[1])


def transpose_memmap(n):
    """Seconds of numpy's copy of the transposed matrix, files in the page cache."""
    numpy = importlib.import_module("numpy")
    path, out = FOLDER / "apps-a.npy", FOLDER / "apps-t.npy"
    matrix = numpy.load(path, mmap_mode="r")
    target = numpy.lib.format.open_memmap(out, "w+", matrix.dtype, (n, n))
    target[:] = 0
    start = time.perf_counter()
    target[:] = matrix.T
    took = time.perf_counter() - start
    del target, matrix
    out.unlink()
    return took


def run_transpose(launcher, quick):
    n, memory = (4096, 16) if quick else (16384, 256)
    for (_, name, op), rows in run(launcher, "transpose", n, memory).items():
        name += f", {memory} MiB a rank"
        say_pairs(name, "time, in that of reading and writing", "slowdown", "<=2",
                  "weir_array_transpose", "pread and pwrite of 4 MiB", rows)
        if importlib.util.find_spec("numpy"):
            say_pairs(name, "against a copy of the transposed map", "speed", ">=3",
                      "weir_array_transpose", "numpy.memmap",
                      [(row[0], transpose_memmap(n)) for row in rows])
            run_command(n)
    (FOLDER / "apps-a.npy").unlink()


def seconds_of(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run_command(n):
    """The command on the warm matrix, its start included, against numpy.memmap in this process,
    with a map that is new each time."""
    numpy = importlib.import_module("numpy")
    path, out = FOLDER / "apps-a.npy", FOLDER / "apps-o.npy"

    def weir(*arguments):
        return lambda: subprocess.run([str(BIN / "weir"), *arguments], check=True,
                                      stdout=subprocess.DEVNULL)

    def get(section):
        return weir("get", f"{path}[{section}]", "-o", str(out), "--overwrite")

    def matrix():
        return numpy.load(path, mmap_mode="r")

    def four():
        a = matrix()
        return a.min(), a.max(), a.mean(), a.std()

    contests = (
        ("reduce, against the mean alone", ">=0.9", weir("reduce", str(path)),
         lambda: matrix().mean()),
        ("reduce, against four statistics", ">=3", weir("reduce", str(path)), four),
        ("get of a column", ">=1", get(":, 777"),
         lambda: numpy.save(out, matrix()[:, 777])),
        ("get of every 7th row and 11th column", ">=1", get("::7, ::11"),
         lambda: numpy.save(out, matrix()[::7, ::11])),
    )
    for figure, goal, ours, theirs in contests:
        ours()  # all of it is warm
        say_pairs(f"weir on {n} x {n} f8, one process", figure, "speed", goal, "weir",
                  "numpy.memmap", [(seconds_of(ours), seconds_of(theirs)) for _ in range(5)])
    out.unlink()


def run_matmul(launcher, quick):
    n, memory = (2048, 16) if quick else (8192, 256)
    for (_, name, op), rows in run(launcher, "matmul", n, memory).items():
        say_pairs(f"{name}, {memory} MiB a rank", "speed, in that of BLAS in memory", "speed",
                  ">=0.85", "weir_array_multiply", "cblas_dgemm", rows)


def run_prefetch(launcher, quick):
    for (_, name, op), rows in run(launcher, "prefetch", 2048 if quick else 6144).items():
        say_pairs(f"{name}, storage as slow as computing", "with prefetch", "speed", ">=1.3",
                  "prefetch=1", "prefetch=0", rows)


def table(name):
    lines = (HERE / "cases" / name).read_text().splitlines()
    return [dict(zip(lines[0].split("\t"), line.split("\t"))) for line in lines[1:]]


def run_access(launcher, ranks, quick):
    paper = {(row["app"], row["n"], row["procs"]): row for row in table("etp_apps.tsv")}
    for n in (1024,) if quick else (1024, 2048, 4096):
        for (app, size, op), rows in run(launcher, "access", n).items():
            name = f"{app} {size} x {size}, {ranks} ranks"
            say_pairs(name, "together against alone", "speed", "-", "collective",
                      "one call a piece", rows)
            row = paper.get((app, size, str(ranks)))
            if row:
                times = float(row["direct"]) / float(row["dynamic"])
                peers.say("note", name, f"in the paper {times:.2f} times")


def run_slabs(launcher, ranks, quick):
    paper = {(row["window"], row["slabs"]): row for row in table("passion_median.tsv")
             if row["procs"] == str(ranks)}
    for (_, case, op), rows in run(launcher, "slabs", 1024 if quick else 2048).items():
        name = f"median {case}, {ranks} ranks"
        say_pairs(name, "with prefetch", "speed", "-", "prefetch=1", "prefetch=0", rows)
        row = paper.get((case.split()[0], case.split()[3]))
        if row:
            times = float(row["no_prefetch"]) / float(row["prefetch"])
            peers.say("note", name, f"in the paper {times:.2f} times")


def main():
    quick = "--quick" in sys.argv
    launcher = [word for word in sys.argv[1:] if word != "--quick"]
    ranks = int(launcher[-1])
    if ranks == 2:
        run_transpose(launcher, quick)
        run_matmul(launcher, quick)
        run_prefetch(launcher, quick)
    else:
        run_access(launcher, ranks, quick)
        run_slabs(launcher, ranks, quick)


if __name__ == "__main__":
    main()
