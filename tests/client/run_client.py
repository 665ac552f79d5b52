#!/usr/bin/python3
"""Runs a client program on the system's MPI-IO and through the door, and compares the files.

usage: run_client.py DOOR MPI PROGRAM RANKS LAUNCHER...

PROGRAM takes steps: `write FILE`; `read FILE`, by other parts than it was written, checks every
value; `spoiled FILE` must find a wrong one. Exit status 77: there is no such client here."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SAID, MARK, SECONDS = "weir: info: MPI-IO by weir", b"weir-client-mark", 60
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
# ROMIO, which both MPIs have: OMPIO of Open MPI 4.1 misreads a union of hyperslabs on 4 ranks. Where
# nobody wrote, ROMIO leaves zeros, but in some runs not if it sieves writes, so it must not.
HINTS = "romio_cb_write disable\nromio_ds_write disable\n"
# Rounds, realms and exchanges, which small files would not need.
TIGHT = {"WEIR_HINTS": "collective=always;window=4K"}


def ways(program, ranks):
    """Settings of the door. Python takes seconds to start, so it has one way for each number."""
    if ranks != "4":
        return [{}]
    return [TIGHT] if program.suffix == ".py" else [{}, TIGHT]


def why_skip(program, mpi):
    """Why a client in Python cannot run; None if it can."""
    if program.suffix != ".py":
        return None
    os.environ["H5PY_ALWAYS_USE_MPI"] = "1"
    try:
        import mpi4py
        mpi4py.rc.initialize = False
        from mpi4py import MPI
        if NAMES[mpi] not in MPI.Get_library_version():
            return f"mpi4py is not built for {NAMES[mpi]}"
        if program.name.startswith("h5py"):
            import h5py
            if not h5py.get_config().mpi:
                return "h5py is built without MPI"
    except ImportError as e:
        return str(e)
    return None


def compare(ours, theirs):
    """The first difference between two files; None if there is none."""
    a, b = ours.read_bytes(), theirs.read_bytes()
    if len(a) != len(b):
        return f"{ours.name} has {len(a)} bytes, {theirs.name} {len(b)}"
    differ = [k for k in range(len(a)) if a[k] != b[k]] if a != b else []
    return f"{len(differ)} bytes of {ours.name} differ, first {differ[0]}" if differ else None


class Runner:
    def __init__(self, door, program, launcher, folder):
        python = ["/usr/bin/python3"] if program.suffix == ".py" else []
        self.program, self.launcher = [*python, program], launcher
        self.log, self.errors, hints = folder / "log", folder / "errors", folder / "hints"
        hints.write_text(HINTS)
        self.system = {"OMPI_MCA_io": "^ompio", "ROMIO_HINTS": hints}
        self.door = {"LD_PRELOAD": door, "WEIR_LOG": "info"}

    def run(self, settings, *steps):
        """All steps in one run; it must succeed, through the door exactly if the settings say."""
        words = [f"{name}={value}" for name, value in settings.items()]
        command = [*self.launcher, "env", *words, *self.program, *steps]
        with open(self.log, "w") as log, open(self.errors, "w") as errors:
            job = subprocess.Popen(command, stdout=log, stderr=errors)
            try:
                job.wait(SECONDS)
            except subprocess.TimeoutExpired:
                job.terminate()  # the launcher ends its ranks
                job.wait()
        out, err = self.log.read_text(), self.errors.read_text()
        what = " ".join(map(str, steps))
        assert job.returncode == 0, f"{what}: exit status {job.returncode}\n{out}{err}"
        serves = "LD_PRELOAD" in settings and settings.get("WEIR_DOOR") != "off"
        assert err.count(SAID) == serves, f"{what}: not who it should be: {err}"


def main():
    door, mpi, program, ranks = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]
    skip = why_skip(program, mpi)
    if skip:
        print("skipped:", skip)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours, theirs, spoiled = folder / "ours", folder / "theirs", folder / "spoiled"
        runner = Runner(door, program, [*sys.argv[5:], ranks], folder)
        runner.run(runner.system, "write", theirs, "read", theirs)
        for settings in ways(program, ranks):
            ours.unlink(missing_ok=True)
            runner.run({**runner.door, **settings}, "write", ours, "read", ours, "read", theirs)
            differ = compare(ours, theirs)
            assert not differ, f"{differ} {settings}"
        data = bytearray(ours.read_bytes())
        data[data.index(MARK)] ^= 1
        spoiled.write_bytes(data)
        assert compare(spoiled, theirs)
        runner.run(runner.system, "read", ours, "spoiled", spoiled)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as e:
        sys.exit(f"failed: {e}")
