#!/usr/bin/python3
"""Runs a program through the door, which must serve it; the program checks what it gets.

usage: run_program.py DOOR MPI PROGRAM RANKS LAUNCHER...

PROGRAM takes the name of a file that it may make. Exit status 77: there is no such program here."""
import sys
import tempfile
from pathlib import Path

from run_client import Runner, why_skip


def main():
    door, mpi, program, ranks = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]
    skip = why_skip(program, mpi)
    if skip:
        print("skipped:", skip)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runner = Runner(door, program, [*sys.argv[5:], ranks], folder)
        runner.run(runner.door, folder / "file")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as e:
        sys.exit(f"failed: {e}")
