#!/usr/bin/python3
"""Programs built with the last release still run: nothing that is public has changed since in a way
they could notice, unless the version says so.

The public headers are what is compared, as a library of empty functions made of them: no private
type is seen, nor a path. The dump of the last release is tools/lint/weir-VERSION.abi.

usage: abi.py LIBRARY...   the libraries export what the headers declare; the headers fit the dump
       abi.py --renew      the headers' dump takes the place of the last one: at a release
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
INCLUDE = HERE.parent.parent / "include"
APART = "dra.h"  # of another library
FUNCTION = re.compile(r"^WEIR_API ([^;{]*?\b(weir_\w+)\([^;]*\));", re.M)
# What the headers need of the system's, which is not ours to compare.
SYSTEM = {"mpi.h": "typedef struct mpi_communicator *MPI_Comm;\n",
          "stddef.h": "typedef unsigned long size_t;\n",
          "stdint.h": "typedef long int64_t;\n"}
DUMP = ("--load-all-types --no-show-locs --no-comp-dir-path --no-corpus-path --no-elf-needed "
        "--no-architecture --no-write-default-sizes --no-parameter-names").split()
COMPARE = "--non-reachable-types --no-added-syms --no-show-locs --no-corpus-path".split()
LOST = re.compile(r"([1-9]\d*) (removed|changed)", re.I)
INCOMPATIBLE = """abi: programs built with {old} may not run with this. Raise WEIR_VERSION_MINOR in
include/weir/version.h (once the major version is not 0: that one). At a release, or if a struct has
only given of its reserve: make abi"""


def run(*command, codes=(0,)):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in codes:
        sys.exit(f"abi: {command[0]}: {ended.stderr.strip() or ended.stdout.strip()}")
    return ended


def version():
    text = (INCLUDE / "weir" / "version.h").read_text()
    return tuple(int(re.search(rf"WEIR_VERSION_{part} (\d+)", text)[1])
                 for part in ("MAJOR", "MINOR"))


def declared():
    """What the headers declare, by name."""
    found = {}
    for header in sorted((INCLUDE / "weir").glob("*.h")):
        if header.name != APART:
            code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
            found |= {name: function for function, name in FUNCTION.findall(code)}
    return found


def dump(target):
    """Writes what the headers promise."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for name, text in SYSTEM.items():
            (work / name).write_text(text)
        empty = [f"{text} {{ __builtin_trap(); }}" for _, text in sorted(declared().items())]
        (work / "weir.c").write_text("\n".join(["#include <weir/weir.h>", *empty, ""]))
        run("gcc", "-std=c11", "-g", "-fno-eliminate-unused-debug-types", "-w", "-shared", "-fPIC",
            f"-I{work}", f"-I{INCLUDE}", f"-ffile-prefix-map={work}=.", "-o", f"{work}/weir.so",
            f"{work}/weir.c")
        run("abidw", *DUMP, "--out-file", str(target), f"{work}/weir.so")


def check_exports(library):
    lines = run("nm", "-D", "--defined-only", library).stdout.splitlines()
    exported = {line.split()[-1] for line in lines if line.split()[-1].startswith("weir_")}
    wrong = sorted(exported ^ declared().keys())
    if wrong:
        sys.exit(f"abi: only in {library} or only in the headers: {' '.join(wrong)}")


def compare(old):
    before = tuple(map(int, old.stem.removeprefix("weir-").split(".")))
    with tempfile.TemporaryDirectory() as folder:
        dump(f"{folder}/now.abi")
        found = run("abidiff", *COMPARE, str(old), f"{folder}/now.abi", codes=(0, 4, 12))
    free = version() > before if before[0] == 0 else version()[0] > before[0]
    if LOST.search(found.stdout.split("\n\n")[0]) and not free:
        print(found.stdout.strip())
        sys.exit(INCOMPATIBLE.format(old=".".join(map(str, before))))


def main():
    dumps = sorted(HERE.glob("weir-*.abi"))
    if sys.argv[1:] == ["--renew"]:
        for old in dumps:
            old.unlink()
        dump(HERE / "weir-{}.{}.abi".format(*version()))
        return
    for library in sys.argv[1:]:
        check_exports(library)
    if len(dumps) != 1:
        sys.exit(f"abi: {len(dumps)} dumps of a last release in {HERE}")
    compare(dumps[0])


if __name__ == "__main__":
    main()
