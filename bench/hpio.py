#!/usr/bin/python3
"""Suite `hpio`: regular regions as in the paper on flexible collective I/O, through bench_hpio."""
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

MEAN = {16: ">=3.5", 2: ">=1.3"}
LEAST = {16: ">=1.5"}
DENSE = {"read": "<=1.3", "write": "<=1.1"}
TINY = {2: (4, 0), 4: (20, 0.5), 16: (100, 0.5)}  # µs, or this part of the fastest peer's time
MEMORY = ("<32", "<1")  # MiB, on aggregators and elsewhere


def report_plain(runs, case, ranks, place, goal):
    """Against the same bytes in 1 MiB pieces from two processes, each with one buffer; and, for
    comparison, with memory for all of them."""
    _, name, op = case
    for figure, bound in ((f"{op}, against plain", goal),
                          (f"{op}, against plain into memory of that size", "-")):
        peers.say_ratio(f"{name}, {ranks} ranks", figure, "slowdown", bound,
                        f"p{op}, 1 MiB, 2 processes", peers.pairs(runs, runs, case, place))
        place += 1


def report_regions(runs, ranks):
    ratios = {"read": [], "write": []}
    for case in peers.cases(runs, "hpio"):
        ratios[case[2]].append(peers.say_speed(runs, case, ranks, LEAST.get(ranks, "-")))
        if len(next(iter(runs.values()))[case][0]) > peers.PEER + 1:
            report_plain(runs, case, ranks, peers.PEER + 1, "<=1.8")
    peers.say_mean(ranks, "read and write", MEAN.get(ranks, "-"), ratios["read"] + ratios["write"])
    for op, list_of_op in ratios.items():
        peers.say_mean(ranks, op, "-", list_of_op)


def report_tiny(runs, ranks):
    for case in peers.cases(runs, "tiny"):
        _, name, op = case
        _, peer_time = peers.fastest(runs, case)
        goal = "-"
        if ranks in TINY:
            most, part = TINY[ranks]
            goal = f"<={max(most, part * 1e6 * peer_time):.3g}"
        ours = [1e6 * time for peer in runs for time in peers.column(runs, peer, case, peers.OURS)]
        peers.say_value(f"{name}, {ranks} ranks", "time of a call", goal, "µs", peers.NAME, ours)
        peers.say_speed(runs, case, ranks, "-")


def report_memory(run, part, ranks, goals, who):
    for case in [case for case in run if case[0] == part]:
        _, name, op = case
        for place, where in enumerate(("aggregators", "elsewhere")):
            peers.say_value(f"{name}, {ranks} ranks", f"{op}, {where}, {who}", goals[place], "MiB",
                            who, [row[place] for row in run[case]])


def main():
    runs, ranks = peers.measure("hpio")
    report_regions(runs, ranks)
    for case in peers.cases(runs, "dense"):
        report_plain(runs, case, ranks, 1, DENSE[case[2]])
    report_tiny(runs, ranks)
    report_memory(next(iter(runs.values())), "memory", ranks, MEMORY, peers.NAME)
    for peer, run in runs.items():
        report_memory(run, "peer memory", ranks, ("-", "-"), peer)


if __name__ == "__main__":
    main()
