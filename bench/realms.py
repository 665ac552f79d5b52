#!/usr/bin/python3
"""Suite `realms`: who is responsible for what of a file, through bench_realms."""
import os
import pathlib
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
FILE = BIN.parent / "bench" / "realms.bin"
BEHIND, PEER, NEITHER, PERSISTENT = range(4)  # columns of `steps`


def run(launcher, what, peer="ompio"):
    return peers.run([*launcher, str(BIN / "bench_realms"), what, str(FILE), *quick()], "realms",
                     peer)


def quick():
    return [word for word in sys.argv[1:] if word == "--quick"]


def say(name, figure, kind, goal, ours, reference, samples):
    peers.say("figure", name, figure, kind, goal, "s", ours, reference)
    for pair in samples:
        peers.say("sample", name, figure, *pair)


def report_steps(launcher, ranks):
    runs = {peer: run(launcher, "steps", peer) for peer in peers.PEERS[launcher[0]]}
    for case in peers.cases(runs, "steps"):
        name = f"{case[1]}, {ranks} ranks"
        for peer, found in runs.items():
            say(name, f"persistent, aligned, write-behind, against {peer}", "speed", ">=5",
                "write_behind=enable", peer, [(row[BEHIND], row[PEER]) for row in found[case]])
        rows = [row for found in runs.values() for row in found[case]]
        say(name, "persistent and aligned, against neither", "speed", ">=1.5",
            "realms=persistent", "realms=even", [(row[PERSISTENT], row[NEITHER]) for row in rows])
        say(name, "write-behind, against neither", "speed", ">=0.97", "write_behind=enable",
            "realms=even", [(row[BEHIND], row[NEITHER]) for row in rows])
    for case in peers.cases(runs, "slow"):
        say(f"{case[1]}, {ranks} ranks", "write-behind, against neither, a write takes 150 µs more",
            "speed", ">=3", "write_behind=enable", "realms=even",
            [row for found in runs.values() for row in found[case]])


def report_access(launcher, ranks):
    for (_, name, op), rows in run(launcher, "access").items():
        ways = {way: peers.median([row[place] for row in rows])
                for place, way in ((1, "sieve"), (2, "list"))}
        best = min(ways, key=ways.get)
        place = 1 if best == "sieve" else 2
        say(f"{name}, {ranks} ranks", f"{op}, auto against {best}, the better", "slowdown", "<=1.1",
            "access=auto", f"access={best}", [(row[0], row[place]) for row in rows])


def report_balance(launcher, ranks):
    found = run(launcher, "balance")
    for (part, name, op), rows in found.items():
        name = f"{name}, {ranks} ranks"
        if part == "imbalance":
            for place, way, goal in ((0, "balanced", "<=1.1"), (1, "even", "-")):
                peers.say_value(name, f"most data of an aggregator, realms={way}", goal, "of mean",
                                way, [row[place] for row in rows])
        else:
            goal = ">=1.5" if "MB/s" in name else "-"
            say(name, f"{op}, against even realms", "speed", goal, "realms=balanced",
                "realms=even", rows)


def report_fair(launcher, ranks):
    rows = [row for _ in range(3) for rows in run(launcher, "fair").values() for row in rows]
    peers.say("figure", f"read, modify and write beside large writes, {ranks} ranks",
              "longest, in the longest of the others", "slowdown", "<=10", "s", "of 512 KiB",
              "writes of 16 MiB")
    for row in rows:
        peers.say("sample", f"read, modify and write beside large writes, {ranks} ranks",
                  "longest, in the longest of the others", *row)


def report_messages(launcher, ranks):
    os.environ["WEIR_RANKS_PER_NODE"] = "4"
    for (_, name, op), rows in run(launcher, "messages").items():
        peers.say("figure", f"{name}, {ranks} ranks, 4 a node", f"{op}, messages between nodes",
                  "speed", ">=4", "messages", "exchange=leaders", "exchange=p2p")
        for row in rows:
            peers.say("sample", f"{name}, {ranks} ranks, 4 a node",
                      f"{op}, messages between nodes", *row)
    del os.environ["WEIR_RANKS_PER_NODE"]


def report_planning(launcher):
    times = {}
    for (_, name, _), rows in run(launcher, "planning").items():
        times[int(name.split()[0])] = rows[0][0]
        last = name.startswith("100000")
        peers.say_value(f"planning, {name}", "time", "<=1" if last else "-", "s", "plan",
                        [row[0] for row in rows])
        peers.say_value(f"planning, {name}", "memory", "<=200" if last else "-", "bytes a rank",
                        "plan", [row[1] for row in rows])
    least, most = min(times), max(times)
    peers.say_value("planning", f"growth of time from {least} to {most} ranks", "<=1.5",
                    "of growth of ranks", "plan",
                    [times[most] / times[least] / (most / least)])


def main():
    launcher = [word for word in sys.argv[1:] if word != "--quick"]
    ranks = int(launcher[-1])
    if ranks == 1:
        report_planning(launcher)
        return
    report_steps(launcher, ranks)
    report_balance(launcher, ranks)
    if ranks == 4:
        report_access(launcher, ranks)
        report_fair(launcher, ranks)
    if ranks == 16:
        report_messages(launcher, ranks)


if __name__ == "__main__":
    main()
