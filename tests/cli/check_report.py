#!/usr/bin/env python3
"""Compares what weir report says with what traces say, read in another way.
usage: check_report.py FOLDER < JSON"""
import glob
import json
import sys


def read_traces(folder, job):
    """Sums over all ranks, by name."""
    sums = {}

    def add(name, value):
        sums[name] = sums.get(name, 0) + int(value)

    for path in glob.glob(f"{folder}/{job}.*.weir"):
        for line in open(path, encoding="utf-8", errors="replace"):
            word = line.split()
            if word[0] == "cell":
                add(f"cell {word[2]}", word[5])
            elif word[0] == "time":
                add(word[1], word[3])
            elif word[0] == "call":
                add(f"wanted {word[3]}", word[7])
                add(f"moved {word[3]}", word[8])
                add("calls", word[6])
                add("spent", word[10])
            elif word[0] == "length":
                add("length", word[1])
            elif word[0] == "errors":
                add("errors", word[1])
    return sums


def total(lines):
    return sum(sum(line) for line in lines)


def main():
    report = json.load(sys.stdin)
    sums = read_traces(sys.argv[1], report["job"])

    def near(what, got, wanted, slack=0.0):
        if abs(got - wanted) > slack + 1e-3 * abs(wanted):
            sys.exit(f"{what}: {got} is not {wanted}")

    cells = report["columns"] * 64
    for d in ("read", "write"):
        near(f"wanted {d}", report["wanted"][d], sums.get(f"wanted {d}", 0))
        near(f"moved {d}", report["moved"][d], sums.get(f"cell {d}", 0))
        near(f"rows {d}", total(report["rows"][d]), sums.get(f"cell {d}", 0), len(report["rows"][d]) * cells)
        if report["files"] <= 12:
            near(f"offsets {d}", sum(total(f[d]) for f in report["offsets"]), sums.get(f"cell {d}", 0),
                 len(report["offsets"]) * cells)
    near("moved", sum(report["moved"].values()), sums.get("moved read", 0) + sums.get("moved write", 0))
    for phase in ("exchange", "access", "wait"):
        near(phase, total(report["bands"][phase]), sums.get(phase, 0), 64 * cells)
    near("traced", total(report["bands"]["traced"]), sums["length"], 64 * cells)
    near("share", report["share"]["calls"], sums.get("spent", 0) / max(sums["length"], 1), 1e-3)
    near("calls", sum(c["count"] for c in report["calls"]), sums.get("calls", 0))
    near("errors", report["errors"], sums.get("errors", 0))
    if [c["slowest"] for c in report["calls"]] != sorted((c["slowest"] for c in report["calls"]), reverse=True):
        sys.exit("calls are not in order")
    if not report["advice"] or report["complete"] != (report["traces"] == report["ranks"] and not report["cut"]
                                                      and not report["unfinished"]):
        sys.exit("advice or complete")


main()
