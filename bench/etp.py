#!/usr/bin/python3
"""Suite `etp`: the sections of the extended two-phase paper, through bench_etp."""
import pathlib
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

GOALS = {16: (">=7", ">=4", ">=1.0"), 4: (">=5", ">=3", ">=1.0"), 2: (">=2.5", ">=2.5", ">=0.9")}
ALONE = 2  # the column of a peer's independent call


def report_alone(runs, case, ranks):
    """Ours against a peer's independent call, where that is faster than all collective ones."""
    peer, time = peers.fastest(runs, case, ALONE)
    if time < peers.fastest(runs, case)[1]:
        _, name, op = case
        peers.say_ratio(f"{name}, {ranks} ranks", f"{op}, against independent", "slowdown", "<=1.2",
                        f"{peer}, independent", peers.pairs(runs, [peer], case, ALONE))


def main():
    table = pathlib.Path(__file__).resolve().parent / "cases" / "etp_4k_16procs.tsv"
    runs, ranks = peers.measure("etp", str(table))
    read_goal, write_goal, least = GOALS.get(ranks, ("-", "-", "-"))
    ratios = {"read": [], "write": []}
    for case in peers.cases(runs, "etp"):
        ratios[case[2]].append(peers.say_speed(runs, case, ranks, least))
        report_alone(runs, case, ranks)
    peers.say_mean(ranks, "read", read_goal, ratios["read"])
    peers.say_mean(ranks, "write", write_goal, ratios["write"])


if __name__ == "__main__":
    main()
