"""What suites beside the system's MPI-IO share: runs their program once for each peer and compares.

The program prints the lines of contest.h. Each case is compared with the peer whose collective call
is the fastest, ours measured in the same run. Called by run.py with a launcher:
    SUITE.py mpirun... -n RANKS [--quick]
"""
import collections
import math
import os
import pathlib
import subprocess
import sys

PEERS = {"mpirun.openmpi": ("ompio", "romio321"), "mpiexec.mpich": ("romio",)}
OURS, PEER = 0, 1  # columns of a repetition
NAME = "weir_file_*_all"


def median(values):
    return sorted(values)[len(values) // 2]


def run(command, suite, peer):
    """What parse returns of the command's output, with that peer."""
    ended = subprocess.run(command, env={**os.environ, "OMPI_MCA_io": peer}, capture_output=True,
                           text=True)
    if ended.returncode:
        sys.exit(f"{suite}.py: {peer}: {ended.stderr.strip().splitlines()[:1]}")
    return parse(ended.stdout)


def parse(text):
    """{(part, case, op): [(ours, peer, ...)]}, None where a contestant was left out."""
    found = collections.defaultdict(list)
    for line in text.splitlines():
        *case, numbers = line.split("\t", 3)
        found[tuple(case)].append(
            tuple(None if text == "-" else float(text) for text in numbers.split("\t")))
    return found


def measure(suite, *arguments):
    """({peer: what run returns}, number of ranks)"""
    launcher = [word for word in sys.argv[1:] if word != "--quick"]
    quick = [word for word in sys.argv[1:] if word == "--quick"]
    bin_dir = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
    file = bin_dir.parent / "bench" / f"{suite}.bin"
    command = [*launcher, str(bin_dir / f"bench_{suite}"), *arguments, str(file), *quick]
    runs = {peer: run(command, suite, peer) for peer in PEERS[launcher[0]]}
    return runs, int(launcher[-1])


def cases(runs, part):
    return [case for case in next(iter(runs.values())) if case[0] == part]


def column(runs, peer, case, place):
    return [times[place] for times in runs[peer][case] if times[place] is not None]


def fastest(runs, case, place=PEER):
    """The peer that is fastest in this column, and its median time."""
    times = {peer: median(column(runs, peer, case, place)) for peer in runs}
    peer = min(times, key=times.get)
    return peer, times[peer]


def say(*fields):
    print(*fields, sep="\t", flush=True)


def say_ratio(name, figure, kind, goal, reference, samples, unit="s"):
    say("figure", name, figure, kind, goal, unit, NAME, reference)
    for ours, theirs in samples:
        say("sample", name, figure, ours, theirs)


def say_value(name, figure, goal, unit, ours, values):
    say("figure", name, figure, "value", goal, unit, ours, "-")
    for value in values:
        say("sample", name, figure, value, "-")


def pairs(runs, peers, case, place):
    """(ours, another's) of all repetitions both took part in."""
    return [(times[OURS], times[place]) for peer in peers for times in runs[peer][case]
            if times[place] is not None]


def say_speed(runs, case, ranks, goal):
    """Says how much faster than the fastest peer; the median of that."""
    _, name, op = case
    peer, _ = fastest(runs, case)
    samples = pairs(runs, [peer], case, PEER)
    say_ratio(f"{name}, {ranks} ranks", op, "speed", goal, peer, samples)
    return median([theirs / ours for ours, theirs in samples])


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def say_mean(ranks, figure, goal, ratios):
    say_value(f"geometric mean, {ranks} ranks", figure, goal, "times", NAME,
              [geometric_mean(ratios)])
