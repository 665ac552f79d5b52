#!/usr/bin/python3
"""Proves packages.txt complete: every program run and every system header read comes from a
package it names, or that a machine with gcc and make has anyway; what the library itself reads, from
the groups that every goal needs."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GIVEN = {"gcc", "make", "libc6-dev"}
LIBRARY = {"[library]", "[openmpi]", "[mpich]"}
FIELDS = "${Package}\t${Essential}\t${Priority}\t${Pre-Depends}, ${Depends}\t${Provides}\n"


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


class Installed:
    """The installed packages and the dependencies between them."""

    def __init__(self):
        self.needs, self.provided, self.always = {}, {}, set()
        for line in output("dpkg-query", "-W", "-f", FIELDS).splitlines():
            name, essential, priority, depends, provides = line.split("\t")
            self.needs[name] = depends
            if essential == "yes" or priority == "required":
                self.always.add(name)
            for virtual in re.findall(r"(?:^|, )([^ ,]+)", provides):
                self.provided.setdefault(virtual, name)

    def depends(self, package):
        """Direct dependencies; of alternatives the first that is installed."""
        found = set()
        for clause in self.needs.get(package, "").split(","):
            names = [re.split(r"[ :(]", name.strip())[0] for name in clause.split("|")]
            names = [name if name in self.needs else self.provided.get(name) for name in names]
            found.update([name for name in names if name][:1])
        return found

    def closure(self, packages):
        found, todo = set(), list(packages)
        while todo:
            package = todo.pop()
            if package not in found:
                found.add(package)
                todo += self.depends(package)
        return found

    def behind(self, packages):
        """What metapackages stand for: clang-14 for clang, libclang-rt-14-dev for -rt-dev."""
        return {real for meta in packages for real in self.depends(meta)
                if real != meta and re.sub(r"-\d+(\.\d+)*(?=-|$)", "", real) == meta}

    def near(self, packages):
        """Whose headers may be read by who has these: their own, those next to them, gcc's."""
        real = self.behind(packages)
        direct = [self.depends(name) for name in real | {n for n in packages if n.endswith("-dev")}]
        return self.closure(GIVEN).union(packages, real, *direct)


def spellings(path):
    """Names under which dpkg may know a file: before links, after them, before the /usr merge."""
    names = [path]
    if re.match(r"/(usr/(?!local/)|s?bin/|lib)", path):
        names.append(os.path.realpath(path))
    return names + [name[4:] if name.startswith("/usr/") else "/usr" + name for name in names]


def owners_of(paths):
    names = {path: spellings(path) for path in paths}
    patterns = sorted({re.sub(r"([*?\[\\])", r"\\\1", n) for ns in names.values() for n in ns})
    owners = {}
    for i in range(0, len(patterns), 1000):
        for line in output("dpkg", "-S", *patterns[i:i + 1000]).splitlines():
            packages, _, path = line.partition(": ")
            if not packages.startswith("diversion by"):
                owners[path] = {name.split(":")[0] for name in packages.split(", ")}
    return {path: next((owners[n] for n in names[path] if n in owners), set()) for path in paths}


def executed(log):
    """(line, path) of each program run, and of the interpreters of scripts, which strace omits."""
    pending, runs = {}, []
    for number, line in enumerate(Path(log).read_text(errors="replace").splitlines(), 1):
        pid = line.partition(" ")[0]
        start = re.match(r'\d*\s*execve\("([^"]+)"', line)
        if start and line.endswith("<unfinished ...>"):
            pending[pid] = (number, start[1])
        elif start or "execve resumed>" in line:
            run = (number, start[1]) if start else pending.pop(pid, None)
            if run and line.endswith("= 0"):
                runs.append(run)
    # A thread's execve resumes under another process id, so what is left did run.
    for number, path in runs + list(pending.values()):
        yield number, path
        if os.access(ROOT / path, os.R_OK):
            with open(ROOT / path, "rb") as script:
                shebang = re.match(rb"#!\s*(/\S+)", script.readline(200))
            if shebang:
                yield number, shebang[1].decode()


def check(places, ours, allowed, verb):
    """One finding for each package that is not allowed, and for each file that no package owns."""
    findings = {}
    foreign = [path for path in places if path[0] == "/" and not path.startswith(ours)]
    for path, owners in owners_of(foreign).items():
        if not owners:
            findings[path] = f"{places[path]}: {verb} {path}, which no package owns"
        elif not owners & allowed:
            name = min(owners)
            findings.setdefault(name, f"{places[path]}: {verb} {path} of {name}, not in the list")
    return list(findings.values())


def listed_in(path):
    """Each package and its line; those that the library needs."""
    listed, make, group = {}, set(), ""
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        for name in line.split("#")[0].split():
            if name[0] == "[":
                group = name
                continue
            listed[name] = number
            if group in LIBRARY:
                make.add(name)
    return listed, make


def headers_of(build):
    """(header, whether the library itself reads it), once each."""
    found, library = {}, False
    for line in output("ninja", "-C", build, "-t", "deps").splitlines():
        if line[:1] not in ("", " "):
            library = bool(re.match(r"CMakeFiles/weir_(?!dra)", line))
        elif line.startswith("    /"):
            found[line[4:]] = found.get(line[4:], False) or library
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--exec-log", required=True, help="of strace -f -qq -e trace=execve")
    parser.add_argument("--deps", nargs="+", default=[], metavar="BUILD_DIR")
    args = parser.parse_args()
    listed, make = listed_in(args.packages)
    packages = Installed()
    policy = output("apt-cache", "policy", *listed)
    known = {*packages.needs, *re.findall(r"^(\S+):\n.*\n  Candidate: [^(]", policy, re.M)}
    findings = [f"{args.packages}:{line}: apt knows no package {name}"
                for name, line in listed.items() if name not in known]

    tools = {path: f"{args.exec_log}:{line}" for line, path in executed(args.exec_log)}
    headers = {build: headers_of(build) for build in args.deps}
    findings += [f"{place}:1: nothing found: not the trace or the folder of a build?"
                 for place, found in [(args.exec_log, tools), *headers.items()] if not found]
    own = {path: f"{build}:1" for build, paths in headers.items() for path, library in paths.items()
           if library}
    headers = {path: f"{build}:1" for build, paths in headers.items() for path in paths}
    ours = [str(ROOT), tempfile.gettempdir(), "/tmp", "/proc/self", "/run/cluster", *args.deps]
    ours = tuple(os.path.abspath(folder) + "/" for folder in ours)

    findings += check(tools, ours, packages.closure({*packages.always, *GIVEN, *listed}), "runs")
    findings += check(headers, ours, packages.near(listed), "reads")
    compiler = packages.closure({"clang"})  # its headers are read by its own builds
    findings += check(own, ours, packages.near(make) | compiler, "the library reads")
    print("\n".join(findings) or "packages: ok")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
