#!/usr/bin/python3
"""Checks that the tests of a push stay within tests/budget.txt, which says what they may take. Only
what is declared counts, so that a busy machine changes nothing."""
import json
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "tests/budget.txt"
SUITES = {"asan": 1, "tsan": 2}  # columns; any other build is native
MOST = 15  # seconds of one test
CORES = 2


class Budget:
    """Seconds of each test by suite: native, asan, tsan."""

    def __init__(self, limits, default, tests, lines):
        self.limits, self.default, self.tests, self.lines = limits, default, tests, lines

    def seconds(self, build, name):
        return self.tests.get(name, self.default)[SUITES.get(build, 0)]

    def limit(self, build):
        return self.limits[SUITES.get(build, 0)]


def read_budget():
    rows, lines = {}, {}
    for number, line in enumerate(FILE.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if words:
            if len(words) != 4:
                sys.exit(f"tests/budget.txt:{number}: not 'test native asan tsan'")
            rows[words[0]] = [float(word) if word != "-" else None for word in words[1:]]
            lines[words[0]] = number
    return Budget(rows.pop("limit"), rows.pop("default"), rows, lines)


def tests_of(build):
    """(name, cores it keeps busy) of each test of a push."""
    listing = subprocess.check_output(["ctest", "--test-dir", build, "-L", "push",
                                       "--show-only=json-v1"])
    for test in json.loads(listing)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        yield test["name"], min(properties.get("PROCESSORS", 1), CORES)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: budget.py BUILD_DIR...")
    budget, findings, used = read_budget(), [], set()
    for build in map(Path, sys.argv[1:]):
        total = 0
        for name, cores in tests_of(build):
            seconds = budget.seconds(build.name, name)
            used.add((name, SUITES.get(build.name, 0)))
            if seconds is None:
                findings.append(f"tests/budget.txt:{budget.lines[name]}: no {build.name} seconds")
                continue
            total += seconds * cores / CORES
        limit = budget.limit(build.name)
        print(f"{build.name}: {total:.0f} of {limit:.0f} s")
        if total > limit:
            findings.append(f"tests/budget.txt:{budget.lines['limit']}: the tests of {build.name} "
                            f"take {total:.0f} s, more than {limit:.0f}")
    for name, columns in budget.tests.items():
        for column, seconds in enumerate(columns):
            if seconds is not None and (name, column) not in used:
                findings.append(f"tests/budget.txt:{budget.lines[name]}: no push runs {name} there")
            if seconds is not None and seconds > MOST:
                findings.append(f"tests/budget.txt:{budget.lines[name]}: more than {MOST} s")
    print("\n".join(findings) or "budget: ok")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
