#!/usr/bin/python3
"""What programs in Fortran leave behind: arrays that NumPy reads with the same indices, and the other
way round; one line of an error that nobody asked for; and nothing of what was not closed.
usage: fortran_python.py PROGRAM LAUNCHER..."""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PROGRAM, LAUNCHER = sys.argv[1], sys.argv[2:]
i, j, k = np.meshgrid(range(1, 3), range(1, 4), range(1, 5), indexing="ij")
NUMBERS = i + 5 * j + 25 * k


def run(what, folder, ranks=2):
    launcher = [*LAUNCHER, str(ranks)] if ranks else []
    return subprocess.run([*launcher, PROGRAM, what, str(folder)], capture_output=True, text=True,
                          timeout=60)


def check(right, what, ended=None):
    if not right:
        sys.exit(f"{what}: wrong\n{ended.stdout if ended else ''}{ended.stderr if ended else ''}")


def ends_well(what, folder, ranks=2):
    ended = run(what, folder, ranks)
    check(ended.returncode == 0 and "after" in ended.stdout, what, ended)
    return ended


def arrays(folder):
    ends_well("write", folder)
    for name in "i1 i2 i4 i8 f4 f8 c8 c16".split():
        found = np.load(folder / f"{name}.npy")
        wanted = NUMBERS - 1j * NUMBERS if name.startswith("c") else NUMBERS
        check(found.dtype == np.dtype(name) and found.flags.f_contiguous, f"type of {name}")
        check((found == wanted).all(), name)
        check(found[1, 2, 3] == wanted[1, 2, 3], f"u(2, 3, 4) of {name}")
    check((np.load(folder / "bool.npy") == (NUMBERS % 2 == 1)).all(), "bool")
    for order in "CF":
        for swap in "<>":
            for dtype in "i4", "f8", "?":
                held = (NUMBERS % 2 if dtype == "?" else NUMBERS).astype(swap + dtype, order=order)
                np.save(folder / f"{order}{swap}{dtype}.npy", held)
    ends_well("read", folder)
    ends_well("alone", folder, ranks=None)


def errors(folder):
    """The line is there once, after what was printed, and nobody hangs."""
    for what, line in (("together", "missing.npy"), ("some", "index 5 in dimension 3"),
                       ("one", "the argument is no integer, real")):
        ended = run(what, folder, 3)
        lines = [text for text in ended.stderr.splitlines() if text.startswith("weir: ")]
        check(ended.returncode != 0 and "after" not in ended.stdout, what, ended)
        check("before" in ended.stdout, f"{what}: what was printed", ended)
        check(len(lines) == 1 and line in lines[0], f"{what}: one line", ended)


def unclosed(folder):
    ended = ends_well("unclosed", folder)
    check(not ended.stderr.strip() and "no slab" not in ended.stdout, "unclosed", ended)
    check(not (folder / "never.npy").exists(), "an array that was never closed has a name")
    check(len(list(folder.glob("never.npy.partial-*"))) == 1, "what was written is there")


with tempfile.TemporaryDirectory() as work:
    arrays(Path(work))
    errors(Path(work))
    unclosed(Path(work))
print("right")
