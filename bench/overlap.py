#!/usr/bin/python3
"""Suite `overlap`: accesses in the background, through bench_overlap.

Efficiency is (phase + access - both) / min(phase, access): 1 if the shorter of the two is free, 0
if one comes after the other. Gain is what both take less than one after the other, in percent.
"""
import csv
import os
import pathlib
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
GOALS = {"plain, computing": 0.85, "collective, computing": 0.85, "collective, messages": 0.7}
LITTLE = 0.6
JUDGED = ("io", "auto")  # modes that have goals of efficiency
PHASE, ACCESS, BOTH = 0, 1, 2


def efficiency(times):
    return (times[PHASE] + times[ACCESS] - times[BOTH]) / min(times[PHASE], times[ACCESS])


def gain(times):
    return 100 * (1 - times[BOTH] / (times[PHASE] + times[ACCESS]))


def say(case, ranks, figure, goal, unit, values):
    peers.say_value(f"{case}, {ranks} ranks", figure, goal, unit, "weir", values)


def say_efficiency(run, case, ranks, goal):
    _, name, how = case
    say(name, ranks, f"efficiency, {how}", goal, "times", [efficiency(times) for times in run[case]])


def report_goals(run, ranks):
    for case in [case for case in run if case[0] in ("goal", "little")]:
        part, name, how = case
        least = LITTLE if part == "little" else GOALS[name.rsplit(",", 1)[0]]
        say_efficiency(run, case, ranks, f">={least}" if how in JUDGED else "-")
        say(name, ranks, f"both, in one after the other, {how}", "<=1.05" if how != "none" else "-",
            "times", [times[BOTH] / (times[PHASE] + times[ACCESS]) for times in run[case]])


def report_paper(run, ranks):
    """Our gains beside the paper's best."""
    ours = {"plain writes with computing": ("plain, computing, write", "nonblocking"),
            "collective write, only file access in background, with computing":
                ("collective, computing, write", "io"),
            "collective write, only file access in background, with communication":
                ("collective, messages, write", "io")}
    with open(HERE / "cases" / "threads.tsv", encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            name, how = ours[row.pop("experiment")]
            if ("goal", name, how) not in run:  # a quick run
                continue
            paper = ", ".join(f"{machine} {value}" for machine, value in row.items())
            say(name, ranks, f"gain, {how} (paper: {paper})", "-", "%",
                [gain(times) for times in run["goal", name, how]])


def report_system(run, who, storage, ranks, goal="-"):
    for case in [case for case in run if case[0] == "system"]:
        say(f"MPI-IO, {storage}, {case[1]}", ranks, f"efficiency, {case[2]}, {who}", goal, "times",
            [efficiency(times) for times in run[case]])


def report_door(launcher, arguments, ranks):
    """The door's forms on the storage of the experiments."""
    environment = ["env", f"LD_PRELOAD={BIN.parent / 'lib' / 'libweir_mpiio.so'}",
                   "WEIR_FAULT=bandwidth:400", "WEIR_COLLECTIVE=always"]
    run = peers.run([*launcher, *environment, *arguments, "--system"], "overlap", "ompio")
    report_system(run, "libweir_mpiio", "paced", ranks, f">={GOALS['collective, computing']}")


def main():
    launcher = [word for word in sys.argv[1:] if word != "--quick"]
    quick = [word for word in sys.argv[1:] if word == "--quick"]
    ranks = int(launcher[-1])
    arguments = [str(BIN / "bench_overlap"), str(BIN.parent / "bench" / "overlap.bin"), *quick]
    program = [*launcher, *arguments]
    first, *others = peers.PEERS[launcher[0]]
    run = peers.run(program, "overlap", first)
    report_goals(run, ranks)
    report_paper(run, ranks)
    for case in [case for case in run if case[0] in ("table", "priority")]:
        say_efficiency(run, case, ranks, "-")
    report_system(run, first, "page cache", ranks)
    for peer in others:
        run = peers.run([*program, "--split"], "overlap", peer)  # romio321's iwrite_all ends in a signal
        report_system(run, peer, "page cache", ranks)
    report_door(launcher, arguments, ranks)


if __name__ == "__main__":
    main()
