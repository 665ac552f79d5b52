#!/usr/bin/python3
"""Links a program that uses every name of libga's objects for EAF and SF, with the door before GA:
no name comes twice, none comes from those objects, and GA itself still does.

test_link.py COMPILER DOOR LIBGA PREFIX[,PREFIX...] FLAGS..."""
import re
import subprocess
import sys
import tempfile

# The table of shared files, which no program can use: its type is in no header.
PRIVATE = {"SF"}


def defined(archive):
    """{object: names} of the global functions and data that an archive defines."""
    lines = subprocess.run(["nm", "-A", "-P", "-g", "--defined-only", archive], text=True,
                           capture_output=True, check=True).stdout.splitlines()
    found = {}
    for line in lines:
        member, name = re.match(r".*\[(.*)\]: (\S+) ", line).groups()
        found.setdefault(member, set()).add(name)
    return found


def main():
    compiler, door, libga, prefixes, *flags = sys.argv[1:]
    prefixes = tuple(prefixes.split(","))
    ga = defined(libga)
    objects = {member for member, names in ga.items()
               if any(name.startswith(prefixes) for name in names)}
    wanted = set().union(*(ga[member] for member in objects)) - PRIVATE
    assert len(wanted) > 20, f"only {sorted(wanted)} found in {libga}"
    missing = wanted - set().union(*defined(door).values())
    assert not missing, f"{door} lacks {sorted(missing)}"

    names = sorted(wanted | {"NGA_Create", "GA_Initialize"})
    source = "".join(f"extern char {name}[];\n" for name in names)
    source += "const char *const all[] = {" + ", ".join(names) + "};\n"
    source += "int main(void) { return all[0] == all[1]; }\n"
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/all.c", "w") as file:
            file.write(source)
        made = subprocess.run([compiler, "-w", "-fno-builtin", f"{folder}/all.c", "-o", f"{folder}/all",
                               f"-Wl,-Map={folder}/map", door, *flags],
                              capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        with open(f"{folder}/map") as file:
            # "archive(member)" at the start of a line: what was taken, before who asked for it
            taken = set(re.findall(r"^\S*libga-\w+\.a\(([^)]+)\)", file.read(), re.M))
    assert taken, "nothing of GA was linked"
    assert not taken & objects, f"taken from {libga}: {sorted(taken & objects)}"
    print(f"{len(wanted)} names of {sorted(objects)}, none of them from GA")


main()
