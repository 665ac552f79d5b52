#!/usr/bin/python3
"""Prints the ten slowest tests of some runs, beside the seconds that tests/budget.txt gives them.
usage: slowest.py BUILD/times.xml..., of ctest --output-junit; a run that is missing is left out"""
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent / "lint"))
from budget import read_budget  # noqa: E402

SHOWN = 10


def main():
    budget, rows, total = read_budget(), [], {}
    for path in map(Path, sys.argv[1:]):
        if not path.exists():
            continue
        build = path.parent.name
        for case in xml.parse(path).getroot().iter("testcase"):
            seconds = float(case.get("time"))
            rows.append((seconds, build, case.get("name")))
            total[build] = total.get(build, 0) + seconds
    print("slowest tests                    seconds  budget")
    for seconds, build, name in sorted(rows, reverse=True)[:SHOWN]:
        print(f"  {build:8}{name:23}{seconds:8.1f}{budget.seconds(build, name) or '-':>8}")
    for build, seconds in total.items():
        print(f"  {build:8}{'in all, one by one':23}{seconds:8.0f}{budget.limit(build):8}")


if __name__ == "__main__":
    main()
