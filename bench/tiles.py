#!/usr/bin/python3
"""Suite `tiles`: arrays in tiles, encoded and not, and in files of other programs: against parallel
HDF5, zarr-python, h5py and DRA, the codecs alone, and the same of a .npy file.
usage: tiles.py mpirun... -n RANKS [--quick]"""
import filecmp
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
FOLDER = BIN.parent / "bench"
QUICK = "--quick" in sys.argv
LAUNCHER = [word for word in sys.argv[1:] if word != "--quick"]
RANKS = int(LAUNCHER[-1])
BY = f"{RANKS} ranks" if RANKS > 1 else "one rank"


def run(part, n):
    return peers.run([*LAUNCHER, str(BIN / "bench_tiles"), part, str(FOLDER), str(n)]
                     + ["--quick"] * QUICK, "tiles", "ompio")


def say(name, figure, kind, goal, ours, reference, pairs, unit="s"):
    peers.say("figure", name, figure, kind, goal, unit, ours, reference)
    for pair in pairs:
        peers.say("sample", name, figure, *pair)


def seconds_of(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run_encoded():
    """By 4 ranks, shuffle and deflate, in tiles of 128 x 128 x 32."""
    for (_, name, op), rows in run("encoded", 512 if QUICK else 2048).items():
        if name == "ratio":
            peers.say("note", "deflate", f"makes {rows[0][0]:.2f} times less of the field")
            continue
        for place, format in enumerate(("HDF5", "Zarr")):
            case = f"{format} with deflate, {name}, {BY}"
            if len(rows[0]) > 3:
                say(case, f"{op}, against parallel HDF5", "speed", ">=3", "weir",
                    "HDF5, collective", [(row[place], row[3]) for row in rows])
            say(case, f"{op}, against the codec on all cores", "speed", ">=0.85", "weir",
                "codec alone", [(row[place], row[2]) for row in rows])


def run_shards():
    for (_, name, op), rows in run("shards", 256 if QUICK else 512).items():
        say(f"{name}, zstd, {BY}", f"{op}, against a loop by hand", "speed", ">=0.8",
            "weir_array_read_all", "open, pread and decode", rows)


def say_directions(found):
    """What is slow in one direction, against the direction that is fast."""
    for (_, name, op), rows in found.items():
        planes = len(rows[0]) > 2
        directions = ("[k, :, :]", "[:, k, :]", "[:, :, k]") if planes else ("row", "column")
        medians = [peers.median([row[d] for row in rows]) for d in range(len(directions))]
        worst, best = (medians.index(choose(medians)) for choose in (max, min))
        say(f"{name}, {BY}", f"{op}, the slowest direction", "slowdown", "<=2",
            directions[worst], directions[best], [(row[worst], row[best]) for row in rows])


def run_lines():
    n = 1000 if QUICK else 4000
    before = run_dra(n)
    lines = run("lines", n)
    after = run_dra(n)
    say_directions(lines)
    say_directions(run("planes", 128 if QUICK else 512))
    for (_, name, op), rows in lines.items() if before else ():
        case = "lines", "columns", f"{op} a column"
        theirs = peers.median([row[0] for row in before[case] + after[case]])
        say(f"{name}, {BY}", f"{op} a column, against DRA", "slowdown",
            "<=3" if "HDF5" in name else "-",  # in Zarr a tile is a file, which is replaced
            "weir_array_*_all", "DRA, columns", [(row[1], theirs) for row in rows])


def run_dra(n):
    """Lines by DRA, with the hint that makes columns its best among others; None: not here."""
    if RANKS == 1:
        return None
    if not (BIN / "bench_dra_ga").exists():
        peers.say("note", "DRA", "Global Arrays were not found when this was built")
        return None
    settings = {"ARMCI_USE_WIN_ALLOCATE": "0"} if "mpich" in LAUNCHER[0] else {}
    command = [*LAUNCHER, str(BIN / "bench_dra_ga"), "lines", str(FOLDER / "tiles-dra"), str(n)]
    ended = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"tiles.py: DRA: {ended.stderr.strip().splitlines()[:2]}")
    return peers.parse(ended.stdout)


def run_sections():
    for (_, name, op), rows in run("sections", 1000 if QUICK else 4000).items():
        for place, format in ((1, "HDF5"), (2, "NetCDF")):
            say(f"{name}, {format}, {BY}", f"{op}, against .npy", "speed", ">=0.95", format,
                ".npy", [(row[place], row[0]) for row in rows])


class Server:
    """bench_tiles as one rank that does what it is told."""

    def __enter__(self):
        self.process = subprocess.Popen([*LAUNCHER, str(BIN / "bench_tiles"), "serve", str(FOLDER),
                                         "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def do(self, *words):
        """The seconds it took."""
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"tiles.py: bench_tiles: failed to {words[0]}")
        return float(answer)


def run_zarr(server):
    """Version 2, all of an array, chunks of 64^3: from creating or opening to closing."""
    numpy, zarr, numcodecs = map(importlib.import_module, ("numpy", "zarr", "numcodecs"))
    n = 128 if QUICK else 256
    server.do("field", n)
    data = numpy.load(FOLDER / "tiles-field.npy")
    ours, theirs = FOLDER / "tiles-ours.zarr", FOLDER / "tiles-theirs.zarr"
    for codec, compressor in (("blosc:lz4:5:shuffle", numcodecs.Blosc("lz4", 5, 1)),
                              ("zlib:1", numcodecs.Zlib(1))):

        def write():
            array = zarr.open(str(theirs), "w", shape=data.shape, chunks=(64,) * 3, dtype="f4",
                              compressor=compressor)
            array[...] = data

        pairs = {"write": [], "read": []}
        for _ in range(3 if QUICK else 5):
            shutil.rmtree(ours, ignore_errors=True)
            shutil.rmtree(theirs, ignore_errors=True)
            pairs["write"].append((server.do("write", ours, codec), seconds_of(write)))
            pairs["read"].append((server.do("read", ours), seconds_of(
                lambda: zarr.open(str(theirs), "r")[...])))
        server.do("read", theirs)
        if not numpy.array_equal(zarr.open(str(ours), "r")[...], data):
            sys.exit("tiles.py: zarr-python reads another array")
        for op, samples in pairs.items():
            say(f"Zarr v2, {codec}, {n}^3 f4, one rank", f"{op}, against zarr-python", "speed",
                ">=3", "weir", "zarr-python", samples)
        shutil.rmtree(ours)
        shutil.rmtree(theirs)
    (FOLDER / "tiles-field.npy").unlink()


def run_h5py(server):
    """Sections of a contiguous dataset that is open, into memory that is there; the first time of
    each does not count."""
    numpy, h5py = map(importlib.import_module, ("numpy", "h5py"))
    n = 1000 if QUICK else 4000
    ours, theirs = FOLDER / "tiles-ours.h5", FOLDER / "tiles-theirs.h5"
    with h5py.File(theirs, "w") as file:
        file["x"] = numpy.arange(n * n, dtype="f8").reshape(n, n)
    shutil.copy(theirs, ours)
    server.do("open", f"{ours}:/x")
    half = n // 4 + 3
    with h5py.File(theirs, "r+") as file:
        data = file["x"]
        for name, (a, b, c, d) in (("200 rows", (half, half + 200, 0, n)),
                                   ("200 columns", (0, n, half, half + 200)),
                                   ("a box of half", (half, half + n // 2, half, half + n // 2))):
            out, part = numpy.zeros((b - a, d - c)), numpy.s_[a:b, c:d]
            pairs = {"get": [], "put": []}
            for _ in range(4 if QUICK else 10):
                pairs["get"].append((server.do("get", a, b, c, d),
                                     seconds_of(lambda: data.read_direct(out, part))))
                pairs["put"].append((server.do("put", a, b, c, d),
                                     seconds_of(lambda: data.write_direct(out, None, part))))
            right = numpy.add.outer(numpy.arange(a, b) * n, numpy.arange(c, d))
            if not numpy.array_equal(out, right):
                sys.exit("tiles.py: h5py reads another section")
            for verb, op in (("get", "read"), ("put", "write")):
                say(f"{name} of {n} x {n} f8, HDF5, one rank", f"{op}, against h5py", "speed",
                    ">=3", "weir", "h5py", pairs[verb][1:])
    server.do("close")
    ours.unlink()
    theirs.unlink()


def run_columns():
    """By blocks of columns, against h5py's collective calls, run by turns."""
    ours, theirs = {}, {}
    for _ in range(1 if QUICK else 2):
        for found, more in (
                (ours, run("columns", 4096)),
                (theirs, peers.run([*LAUNCHER, "/usr/bin/python3", str(HERE / "h5_columns.py"),
                                    str(FOLDER / "tiles-columns.h5")] + ["--quick"] * QUICK,
                                   "tiles", "ompio"))):
            for (_, name, op), rows in more.items():
                found.setdefault((name, op), []).extend(row[0] for row in rows)
    for (name, op), times in ours.items():
        reference = peers.median(theirs[f"h5py {name}", op])
        say(f"{name}, HDF5, {BY}", f"{op}, against h5py", "speed", ">=3", "weir",
            "h5py, collective", [(seconds, reference) for seconds in times])


PEAK = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"""


def peak(*arguments):
    """MiB that the largest of the processes had resident at most."""
    launcher = LAUNCHER if RANKS > 1 else []
    command = [*launcher, str(BIN / "weir"), *map(str, arguments)]
    return float(subprocess.run(["/usr/bin/python3", "-c", PEAK, *command], check=True, text=True,
                                stdout=subprocess.PIPE).stdout.split()[-1])


def run_memory():
    """What `weir convert` takes at most, against --memory and what `weir info` takes."""
    shape = (128, 512, 512) if QUICK else (1024, 512, 512)
    old, tiles, back = (FOLDER / f"tiles-{name}" for name in ("old.npy", "new.zarr", "back.npy"))
    subprocess.run([BIN / "weir", "create", old, "--shape", ",".join(map(str, shape)), "--dtype",
                    "f4", "--iota", "--overwrite"], check=True)
    for side, memory in ((128, 64), (256, 256)):
        least = peak("info", old) + memory
        told = ("--memory", f"{memory}M", "--overwrite")
        taken = (("from .npy", peak("convert", old, tiles, "--codec", "zstd:3", "--chunk",
                                    ",".join([str(side)] * 3), *told)),
                 ("to .npy", peak("convert", tiles, back, *told)))
        if not filecmp.cmp(old, back, shallow=False):
            sys.exit("tiles.py: weir convert and back gives another array")
        for figure, most in taken:
            say(f"{'x'.join(map(str, shape))} f4, Zarr, zstd, chunks of {side}^3, {BY}",
                f"{figure}: resident memory of a rank at its peak", "slowdown", "<=1.05",
                f"weir convert --memory {memory}M", "--memory and what weir info takes",
                [(most, least)], "MiB")
        shutil.rmtree(tiles)
        back.unlink()
    old.unlink()


def has(*modules):
    return all(importlib.util.find_spec(name) for name in modules)


def main():
    run_lines()
    run_sections()
    run_memory()
    if RANKS > 1:
        run_encoded()
        if LAUNCHER[0] == "mpirun.openmpi" and has("h5py", "mpi4py"):
            run_columns()
        return
    run_shards()
    with Server() as server:
        if has("zarr"):
            run_zarr(server)
        if has("h5py"):
            run_h5py(server)


if __name__ == "__main__":
    main()
