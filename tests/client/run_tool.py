#!/usr/bin/python3
"""A tool that wraps MPI_File_ functions, and the door, in one program: who comes first in LD_PRELOAD.

usage: run_tool.py DOOR TOOL PROGRAM RANKS LAUNCHER...

With the tool first it counts every call, which it passes on by PMPI_ names, and the door serves it.
With the door first the door serves all the same, and the tool sees nothing, unless the door is off."""
import sys
import tempfile
from pathlib import Path

from run_client import Runner

# What tool_client.c does on each rank.
CALLS = {"open": 1, "write_at": 3, "read_at_all": 2, "iwrite_at": 1, "iwrite_all": 0, "write_ordered": 1,
         "close": 1}


def counts(text):
    """What the tool said: its one line is `tool: name number name number ...`."""
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith("tool:")]
    assert len(lines) == 1, f"the tool should say one line: {text}"
    return dict(zip(lines[0][::2], map(int, lines[0][1::2])))


def main():
    door, tool, program, ranks = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runner = Runner(door, program, [*sys.argv[5:], str(ranks)], folder)
        for order, switch, times in ((f"{tool}:{door}", "on", ranks), (f"{door}:{tool}", "on", 0),
                                     (f"{door}:{tool}", "off", ranks)):
            runner.run({**runner.door, "LD_PRELOAD": order, "WEIR_DOOR": switch}, folder / "file")
            got = counts(runner.log.read_text())
            wanted = {call: number * times for call, number in CALLS.items()}
            assert got == wanted, f"{order}, {switch}: {got}, not {wanted}"
            # the tool names iwrite_all, the program does not
            assert "THREAD_MULTIPLE" not in runner.errors.read_text(), "MPI has another thread level"


if __name__ == "__main__":
    try:
        main()
    except AssertionError as e:
        sys.exit(f"failed: {e}")
