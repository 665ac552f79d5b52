#!/usr/bin/python3
"""Suite `dra`: the DRA door against DRA in libga, by the same program linked with and without it.
usage: dra.py mpirun... -n RANKS [--quick]"""
import collections
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
FILE = BIN.parent / "bench" / "dra"
QUICK = "--quick" in sys.argv
LAUNCHER = [word for word in sys.argv[1:] if word != "--quick"]
GA = {"ARMCI_USE_WIN_ALLOCATE": "0"} if "mpich" in LAUNCHER[0] else {}


def run(program, *arguments, **settings):
    """{(case, op): [seconds]}"""
    command = [*LAUNCHER, str(BIN / program), arguments[0], str(FILE), *map(str, arguments[1:])]
    ended = subprocess.run(command, env={**os.environ, **GA, **settings}, capture_output=True,
                           text=True)
    if ended.returncode:
        sys.exit(f"dra.py: {' '.join(command)}: {ended.stderr.strip().splitlines()[:2]}")
    found = collections.defaultdict(list)
    for line in ended.stdout.splitlines():
        _, case, op, seconds = line.split("\t")
        found[case, op].append(float(seconds))
    return found


def both(*arguments):
    """What run returns for ours and for libga's, run by turns."""
    ours, theirs = collections.defaultdict(list), collections.defaultdict(list)
    for _ in range(1 if QUICK else 3):
        for program, found in (("bench_dra", ours), ("bench_dra_ga", theirs)):
            for key, seconds in run(program, *arguments).items():
                found[key] += seconds
    return ours, theirs


def say(name, figure, kind, goal, ours, reference, pairs):
    peers.say("figure", name, figure, kind, goal, "s", ours, reference)
    for pair in pairs:
        peers.say("sample", name, figure, *pair)


def report_whole(name, n):
    ours, theirs = both("whole", n)
    for op in ("write", "read"):
        say(name, f"{op}, no hint", "speed", ">=3", "weir", "DRA, no hint",
            zip(ours["none", op], theirs["none", op]))
        say(name, f"{op}, against its best hint", "speed", ">=1", "weir, no hint", "DRA, squares",
            zip(ours["none", op], theirs["hint", op]))
        say(name, f"{op}, against plain calls", "slowdown", "<=2", "weir, no hint",
            "calls of 1 MiB", zip(ours["none", op], ours["plain", op]))


def report_lines(name, n):
    ours, theirs = both("lines", n)
    for line, wrong, best in (("row", "columns", "rows"), ("column", "rows", "columns")):
        for what in ("write", "read"):
            op = f"{what} a {line}"
            say(name, f"{op}, against the wrong hint", "speed", ">=40", "weir, no hint",
                f"DRA, {wrong}", zip(ours["none", op], theirs[wrong, op]))
            say(name, f"{op}, both with the wrong hint", "speed", "-", f"weir, {wrong}",
                f"DRA, {wrong}", zip(ours[wrong, op], theirs[wrong, op]))
            say(name, f"{op}, against the best hint", "slowdown", "<=10", "weir, no hint",
                f"DRA, {best}", zip(ours["none", op], theirs[best, op]))


def report_section(name, n):
    """Paper 004, figures 5 and 6: against I/O processes and memory."""
    for io_ranks in (1, 2, 4):
        for memory in (1, 2, 8):
            found = run("bench_dra", "section", n, io_ranks, memory << 20)
            reference = run("bench_dra_ga", "section", n, io_ranks) if memory == 1 else reference
            for (case, op), seconds in found.items():
                say(f"{name}, {case}", f"{op}, {io_ranks} I/O ranks, {memory} MiB", "speed",
                    ">=1.5", "weir", f"DRA, {io_ranks} I/O ranks", zip(seconds, reference[case, op]))


def report_matmul(name, n):
    ours, theirs = both("matmul", n)
    say(name, "multiply", "speed", ">=1", "weir", "DRA",
        zip(ours["all", "multiply"], theirs["all", "multiply"]))
    for found, who in ((ours, "weir"), (theirs, "DRA")):
        rates = [2e-9 * n ** 3 / seconds for seconds in found["all", "multiply"]]
        peers.say_value(name, f"rate, {who}", "-", "Gflop/s", who, rates)
        peers.say_value(name, f"efficiency against the in-core part, {who}", "-", "of 1", who,
                        [part / whole for part, whole in zip(found["in core", "multiply"],
                                                             found["all", "multiply"])])


def report_riscf(name, n):
    found = run("bench_dra", "riscf", n, WEIR_FAULT="bandwidth:200")
    peers.say_value(name, "share of paced reads that is hidden", ">=0.8", "of 1", "weir",
                    found["read ahead", "hidden"])


def main():
    if not (BIN / "bench_dra").exists():
        peers.say("note", "skipped", "Global Arrays were not found when this was built")
        return
    ranks = LAUNCHER[-1]
    n = 2000 if QUICK else 4000
    report_whole(f"{n} x {n} doubles, {ranks} ranks", n)
    report_lines(f"a line of {n} x {n} doubles, {ranks} ranks", n)
    size = 2000 if QUICK else 10000
    report_section(f"{size // 2} x {size // 2} of {size} x {size}, {ranks} ranks", size)
    size = 1000 if QUICK else 2400
    report_matmul(f"product of {size} x {size}, {ranks} ranks", size)
    report_riscf(f"RI-SCF pattern, {ranks} ranks", 1600)


if __name__ == "__main__":
    main()
