#!/usr/bin/python3
"""Checks the names that shared libraries export and that objects define for each other."""
import argparse
import os
import subprocess
import sys


# What the library never calls, however it is spelled in the source, and who may all the same.
BANNED = {
    "printing": ("printf puts putchar putc fputs fputc fwrite fprintf vprintf vfprintf perror "
                 "dprintf psignal __printf_chk __fprintf_chk", ()),
    "ending the process": ("exit _exit _Exit quick_exit abort __assert_fail MPI_Abort PMPI_Abort "
                           "raise kill", ()),
    "sleeping or yielding": ("sleep usleep nanosleep clock_nanosleep sched_yield pthread_yield poll "
                             "select pthread_cond_wait pthread_cond_timedwait sem_wait thrd_sleep",
                             ("wait.c.o",)),
    "allocating past wr_alloc": ("malloc calloc realloc strdup aligned_alloc posix_memalign",
                                 ("memory.c.o", "local.c.o")),
    "reading the environment": ("getenv secure_getenv environ", ("tunables.c.o", "tunables_unknown.c.o")),
}


def banned(file):
    """Findings about what the archive's objects call."""
    why = {name: (reason, allowed) for reason, (names, allowed) in BANNED.items()
           for name in names.split()}
    findings = []
    for place, name in symbols([], file, "--undefined-only") or []:
        reason, allowed = why.get(name, ("", ()))
        if reason and not place.rstrip("]").endswith(allowed or ("\0",)):
            findings.append(f"{place}:1: calls {name}: {reason}")
    return findings


def symbols(options, file, which="--defined-only"):
    """(place, name) of every symbol nm lists, or None if it cannot read the file."""
    nm = subprocess.run(["nm", "-A", "-P", which, *options, file],
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
        prefixes += ("MPI_", "PMPI_", "mpi_file_", "mpi_register_")  # the last are Fortran's names
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
        findings += banned(file)
    print("\n".join(findings) or "symbols: ok")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
