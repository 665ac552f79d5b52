#!/usr/bin/python3
"""Suite `door`: MPI calls through libweir_mpiio, against the peers and against Weir's own calls."""
import importlib.util
import os
import pathlib
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
DOOR = "libweir_mpiio"
GOALS = {"set_view, derived and back": ">=1", "open and close": ">=1",
         "write_ordered of 800 bytes a rank": ">=1", "write_shared of 800 bytes a rank": ">=1"}
LOOKS = 1000  # in a step of bench_door


def through_door(launcher):
    """The launcher with the door preloaded into the program."""
    return [*launcher, "env", f"LD_PRELOAD={BIN.parent / 'lib' / DOOR}.so"]


def run_all(launcher, program, *arguments):
    """{who: what peers.run returns}, the door first."""
    command = [*map(str, program), str(BIN.parent / "bench" / "door.bin"), *arguments]
    runs = {DOOR: peers.run([*through_door(launcher), *command], "door", "ompio")}
    for peer in peers.PEERS[launcher[0]]:
        runs[peer] = peers.run([*launcher, *command], "door", peer)
    return runs


def say_against_peers(runs, ranks, goals):
    ours = runs.pop(DOOR)
    for case in ours:
        _, name, op = case
        peer, time = peers.fastest(runs, case, 0)
        goal = goals.get(name, "-")
        peers.say("figure", f"{name}, {ranks} ranks", op, "speed", goal, "s", DOOR, peer)
        for row in ours[case]:
            peers.say("sample", f"{name}, {ranks} ranks", op, row[0], time)


def say_tiny(runs, ranks):
    name = "read_at_all of 800 bytes a rank"
    times = [1e6 * row[0] for row in runs[DOOR]["door", name, "call"]]
    goal = "<=4" if ranks == 2 else "-"
    peers.say_value(f"{name}, {ranks} ranks", "time of a call", goal, "µs", DOOR, times)


def say_passing(runs, ranks):
    """What the door adds to functions that wait for other things, and takes from the other cases."""
    for case in [case for case in runs[DOOR] if case[1].startswith("MPI_")]:
        name = case[1].replace(" beside a transfer", "")
        others = {peer: runs[peer] for peer in runs if peer != DOOR}
        _, time = peers.fastest(others, (case[0], name, case[2]), 0)
        more = [(row[0] - time) / LOOKS * 1e9 for row in runs[DOOR][case]]
        peers.say_value(f"{case[1]}, {ranks} ranks", "time that the door adds", "<50", "ns", DOOR, more)
    for run in runs.values():
        for case in [case for case in run if case[1].startswith("MPI_")]:
            del run[case]


def say_loss(launcher, ranks, suite, quick, *arguments):
    """How much slower than Weir's own calls, in the same run."""
    command = [*through_door(launcher), str(BIN / f"bench_{suite}"), *arguments,
               str(BIN.parent / "bench" / "door.bin"), *quick]
    run = peers.run(command, "door", "ompio")
    for op in ("read", "write"):
        ratios = [peers.median([row[peers.PEER] / row[peers.OURS] for row in rows])
                  for case, rows in run.items() if case[0] == suite and case[2] == op]
        peers.say_mean(ranks, f"{suite}, {op}: the door's time, in own calls'", "<=1.1", ratios)


def main():
    quick = [word for word in sys.argv[1:] if word == "--quick"]
    launcher = [word for word in sys.argv[1:] if word != "--quick"]
    ranks = int(launcher[-1])
    runs = run_all(launcher, [BIN / "bench_door"], *quick)
    say_tiny(runs, ranks)
    say_passing(runs, ranks)
    tiny = {} if ranks == 2 else {"read_at_all of 800 bytes a rank": ">=1"}
    say_against_peers(runs, ranks, {**(GOALS if ranks > 2 else {}), **tiny})
    say_loss(launcher, ranks, "etp", quick, str(HERE / "cases" / "etp_4k_16procs.tsv"))
    say_loss(launcher, ranks, "hpio", quick)
    if ranks == 4 and launcher[0] == "mpirun.openmpi" and importlib.util.find_spec("h5py"):
        runs = run_all(launcher, ["/usr/bin/python3", HERE / "h5_columns.py"], *quick)
        runs.pop("romio321", None)
        say_against_peers(runs, ranks, {"h5py 4096 x 4096 f8 by columns": ">=3"})


if __name__ == "__main__":
    main()
