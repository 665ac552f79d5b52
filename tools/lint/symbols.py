#!/usr/bin/python3
"""Checks the names that shared libraries export and that objects define for each other."""
import argparse
import os
import subprocess
import sys


def symbols(options, file):
    """(place, name) of every symbol nm lists, or None if it cannot read the file."""
    nm = subprocess.run(["nm", "-A", "-P", "--defined-only", *options, file],
                        capture_output=True, text=True)
    if nm.returncode:
        return None
    found = []
    for line in nm.stdout.splitlines():
        place, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        if kind != "A":  # version nodes
            found.append((place, name.split("@")[0]))
    return found


def check(file, options, prefixes, what):
    if "mpiio" in os.path.basename(file):
        prefixes += ("MPI_", "PMPI_")
    found = symbols(options, file)
    if not found:
        return [f"{file}:1: nm finds no symbols: not a library, or one that offers nothing"]
    return [f"{place}:1: {what} {name}, which does not start with {' or '.join(prefixes)}"
            for place, name in found if not name.startswith(prefixes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lib", nargs="*", help="shared library")
    parser.add_argument("--internal", nargs="+", action="extend", default=[], metavar="FILE",
                        help="static archive or object")
    args = parser.parse_args()
    if not args.lib and not args.internal:
        parser.error("nothing to check")
    findings = []
    for file in args.lib:
        findings += check(file, ["-D"], ("weir_",), "exports")
    for file in args.internal:
        findings += check(file, ["-g"], ("wr_", "weir_"), "defines")
    print("\n".join(findings) or "symbols: ok")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
