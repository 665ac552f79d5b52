#!/usr/bin/python3
"""check_trace.py FOLDER [FILES/]RANKS WRITTEN READ [EVENTS]: the traces in a folder are those of one job of
so many ranks, whole, consistent, and tell what was written and read: so many bytes by all ranks together,
and as many moved as the file of events tells."""
import re
import sys
from collections import defaultdict
from pathlib import Path


def check(holds, what):
    if not holds:
        sys.exit(f"check_trace: {what}")


def parse(path):
    lines = path.read_text().split("\n")
    check(lines[0] == "weir-trace 1" and lines[-2:] == ["end", ""], f"{path}: not whole")
    records = defaultdict(list)
    for line in lines:
        first, _, rest = line.partition(" ")
        records[first].append(rest)
    return records


def numbers(lines, skip=0):
    return [[int(w) for w in line.split()[skip:]] for line in lines]


def check_rank(path, ranks, complete):
    """Bytes wanted, by direction, and bytes moved, by direction."""
    r = parse(path)
    job, rank = path.name.split(".")[:2]
    check(r["job"] == [job] and r["rank"] == [f"{rank} {ranks}"], f"{path}: whose is it")
    check(r["complete"] == [complete], f"{path}: complete {r['complete']}")
    count, width = numbers(r["bins"])[0]
    length = int(r["length"][0])
    check(0 < count <= 256 and count * width >= length, f"{path}: bins")
    spent = defaultdict(int)
    in_bin = defaultdict(int)
    for line in r["time"]:
        phase, index, ns = line.split()
        spent[phase] += int(ns)
        in_bin[int(index)] += int(ns)
    check(all(ns <= width + 1 for ns in in_bin.values()), f"{path}: a bin has more than its time")
    wanted, moved, called = defaultdict(int), defaultdict(int), 0
    for line in r["cell"]:
        number, direction, row, index, size = line.split()
        check(int(row) < 64 and int(index) < count, f"{path}: {line}")
        moved[direction] += int(size)
    for line in r["call"]:
        words = line.split()
        times, want, move, runs, ns, exchange, access, wait, longest, errors = map(int, words[5:])
        check(exchange + access + wait == ns and 0 <= longest <= ns, f"{path}: call {line}")
        check(times and not errors, f"{path}: call {line}")
        wanted[words[2]] += want
        called += move
    check(called == sum(moved.values()), f"{path}: calls moved {called}, cells {dict(moved)}")
    check(len(r["shape"]) == len(r["call"]), f"{path}: shapes")
    check(r["plan"] and all("plan: " in plan for plan in r["plan"]), f"{path}: no plan")
    check(sum(ns for who, ns in numbers(r["waited"])) == spent["wait"], f"{path}: waited")
    return wanted, moved


def main():
    folder, ranks, *expected = sys.argv[1:5]
    count, _, ranks = ranks.rpartition("/")
    complete = "0" if expected[0] == "killed" else "1"
    files = sorted(Path(folder).glob("*.weir"))
    check(len(files) == int(count or ranks) and len({f.name[:16] for f in files}) == 1, f"files {files}")
    check(not list(Path(folder).glob("*.part")) or complete == "0", "a part is left")
    wanted, moved = defaultdict(int), defaultdict(int)
    for path in files:
        for sums, own in zip((wanted, moved), check_rank(path, ranks, complete)):
            for direction, size in own.items():
                sums[direction] += size
    if complete == "0":
        return
    check([wanted["write"], wanted["read"]] == [int(w) for w in expected], f"wanted {dict(wanted)}")
    if len(sys.argv) > 5:
        events = defaultdict(int)
        for direction, done in re.findall(r" (read|write) .* done=(\d+)", Path(sys.argv[5]).read_text()):
            events[direction] += int(done)
        check(events == moved, f"moved {dict(moved)}, events {dict(events)}")


main()
