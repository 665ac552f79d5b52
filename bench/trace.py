#!/usr/bin/python3
"""Suite `trace`: what WEIR_TRACE costs: the cases of suite hpio with a trace, against the same
without one, in turns there and back in one process. usage: trace.py mpirun... -n RANKS [--quick]"""
import os
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
GOAL = ">=0.97"


def main():
    quick = [word for word in sys.argv[1:] if word == "--quick"]
    launcher = [word for word in sys.argv[1:] if word != "--quick"]
    folder = BIN.parent / "bench" / "trace"
    run = peers.run([*launcher, str(BIN / "bench_hpio"), f"{folder}.bin", *quick,
                     "--traced", str(folder)], "trace", "ompio")
    shutil.rmtree(folder)
    speeds = {"hpio": [], "tiny": []}
    for case, rows in run.items():
        part, name, op = case
        turns = [((first + last) / 2, (second + third) / 2) for first, second, third, last in rows]
        peers.say_ratio(f"{name}, {launcher[-1]} ranks", op, "speed", "-", "without a trace", turns)
        speeds[part].append(peers.median([without / traced for traced, without in turns]))
    for part, goal in (("hpio", GOAL), ("tiny", "-")):
        peers.say_mean(launcher[-1], f"{part}, with a trace, against without", goal, speeds[part])


if __name__ == "__main__":
    main()
