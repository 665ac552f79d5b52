#!/usr/bin/python3
"""Suite `python`: the package, one process against numpy.memmap and the same in C, many against
h5py's collective calls. usage: python.py mpirun... -n RANKS [--quick]"""
import importlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import time
import timeit

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import peers

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
FOLDER, PACKAGE = BIN.parent / "bench", BIN.parent / "python"
QUICK = "--quick" in sys.argv
LAUNCHER = [word for word in sys.argv[1:] if word != "--quick"]
RANKS = int(LAUNCHER[-1])

ROWS, COLUMNS = 4096, 8192  # of the matrix that numpy.memmap reads too: 256 MiB
SECTIONS = [
    ("one row", "1000"),
    ("100 rows", "1000:1100"),
    ("a box", "1000:3000, 2000:4000"),
    ("every second row", "::2"),
    ("a strided box", "100:1000:3, 50:2000:2"),
    ("a block of columns", ":, 1000:1500"),
    ("one column", ":, 1234"),
    ("all", "..."),
]
MOST = 5 if QUICK else 15  # samples of a figure, and seconds after which it needs no more
ENOUGH = 1 if QUICK else 3
SHORT = 0.02  # a sample repeats a step until this much time has passed
MEMORY = 64 << 20  # of a slab loop


def say(name, figure, kind, goal, names, samples, unit="s"):
    peers.say("figure", name, figure, kind, goal, unit, *names)
    for sample in samples:
        peers.say("sample", name, figure, *sample)


def seconds_of(step, prepare):
    """Of a step that needs no preparation, on average of some."""
    if prepare:
        prepare()
    start, times, taken = time.perf_counter(), 0, 0
    while taken < (0 if prepare else SHORT) or not times:
        step()
        times += 1
        taken = time.perf_counter() - start
    return taken / times


def pairs(ours, theirs, prepare=None):
    """Samples of both, by turns, as long as there is time; the first of each does not count."""
    found, end = [], time.perf_counter() + ENOUGH
    ours()
    theirs()
    while len(found) < MOST and (not found or time.perf_counter() < end):
        found.append((seconds_of(ours, prepare), seconds_of(theirs, prepare)))
    return found


class Server:
    """bench_python, which does what it is told."""

    def __init__(self, *arguments):
        self.command = [str(BIN / "bench_python"), *map(str, arguments)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def do(self, verb):
        """The seconds it took."""
        print(verb, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"python.py: {' '.join(self.command[1:])}: failed to {verb}")
        return float(answer)


def store(paths):
    """What is written to pages that are clean has to mark them first."""
    for path in paths:
        with open(path, "rb") as file:
            os.fdatasync(file.fileno())


def section_steps(numpy, array, matrix, key, paths):
    """{operation: (ours, NumPy's, what comes before)}"""
    out = numpy.ones(matrix[key].shape)
    write = lambda: array.__setitem__(key, out), lambda: matrix.__setitem__(key, out)
    return {
        "read": (lambda: array[key], lambda: numpy.array(matrix[key])),
        "read into memory that is there": (lambda: array.read(key, out=out),
                                           lambda: numpy.copyto(out, matrix[key])),
        "write what is stored": (*write, lambda: store(paths)),
        "write what was just written": write,
    }


def run_sections(numpy, weir):
    """Of files of their own, all in the page cache: what one writes does not slow the other."""
    paths = FOLDER / "python-ours.npy", FOLDER / "python-theirs.npy"
    for path in paths:
        numpy.save(path, numpy.arange(ROWS * COLUMNS, dtype="f8").reshape(ROWS, COLUMNS))
    matrix = numpy.load(paths[1], mmap_mode="r+")
    with weir.open(paths[0], "r+") as array:
        for name, text in SECTIONS:
            key = eval(f"s[{text}]", {"s": numpy.s_})
            for op, steps in section_steps(numpy, array, matrix, key, paths).items():
                say(f"{name}, [{text}] of {ROWS} x {COLUMNS} f8", f"{op}, against numpy.memmap",
                    "speed", ">=1", ("weir.Array", "numpy.memmap"), pairs(*steps))
            if not numpy.array_equal(array[key], matrix[key]):
                sys.exit(f"python.py: [{text}] is another section")
    for path in paths:
        path.unlink()


def run_new(numpy, weir):
    """From creating a file to closing it."""
    paths = FOLDER / "python-ours.npy", FOLDER / "python-theirs.npy"

    def remove():
        for path in paths:
            path.unlink(missing_ok=True)

    for name, text in SECTIONS[-1:] + SECTIONS[5:6]:
        key = eval(f"s[{text}]", {"s": numpy.s_})
        data = numpy.ones(numpy.broadcast_to(0.0, (ROWS, COLUMNS))[key].shape)

        def ours():
            with weir.create(paths[0], (ROWS, COLUMNS), "f8", overwrite=True) as array:
                array[key] = data

        def theirs():
            numpy.lib.format.open_memmap(paths[1], "w+", "f8", (ROWS, COLUMNS))[key] = data

        say(f"{name}, [{text}] of a new array", "write, against numpy.memmap", "speed", ">=1",
            ("weir.create", "numpy.memmap"), pairs(ours, theirs, remove))
        remove()


CALLS = [("a[5]", "row"), ("a.read(5, out=row)", "row"), ("a[3, 4]", "element"),
         ("a[5] = row", "write"), ("a.read_all(5)", "row_all")]


def run_calls(numpy, weir):
    path, times = FOLDER / "python-small.npy", 20000
    numpy.save(path, numpy.ones((100, 60)))
    with weir.open(path, "r+") as array, Server("calls", path) as server:
        for call, verb in CALLS:
            timer = timeit.Timer(call, globals={"a": array, "row": numpy.ones(60)})
            values = []
            for _ in range(1 + (7 if QUICK else 15)):
                seconds = server.do(verb)
                values.append(((timer.timeit(times) / times - seconds) * 1e6, "-"))
            say(f"{call}, rows of 60 f8", "time over that of the call in C", "value", "<=3",
                ("weir.Array", "-"), values[1:], "µs")
    path.unlink()


def run_slabs(numpy, weir):
    rows, columns = (1024 if QUICK else 8192), 16384
    paths = FOLDER / "python-in.npy", FOLDER / "python-out.npy"
    for path in paths:
        with weir.create(path, (rows, columns), "f8", overwrite=True) as array:
            for slab in weir.slabs([], [array]):
                slab.outputs[0][...] = 1.5
    with weir.open(paths[0]) as a, weir.open(paths[1], "r+") as b:

        def loop():
            start = time.perf_counter()
            for slab in weir.slabs([a], [b], memory=MEMORY):
                numpy.multiply(slab.inputs[0], 2, out=slab.outputs[0])
            return time.perf_counter() - start

        with Server("slabs", *paths, MEMORY) as server:
            samples = []
            for repetition in range(6 if QUICK else 16):
                first = loop() if repetition % 2 else None  # no side always has the other's dirt
                in_c = server.do("loop")
                samples.append((first or loop(), in_c))
        if b[rows - 1, columns - 1] != 3:
            sys.exit("python.py: a slab loop wrote something else")
    size = rows * columns * 16 >> 20
    say(f"slab loop over {size} MiB, {MEMORY >> 20} MiB of memory", "out = 2 * in", "speed",
        ">=0.95", ("weir.slabs", "weir_slabs_next"), samples[1:])
    for path in paths:
        path.unlink()


def run_columns():
    """Against h5py on each MPI-IO that there is."""
    command = [*LAUNCHER, "/usr/bin/python3", str(HERE / "python_columns.py"), str(PACKAGE),
               str(FOLDER)] + ["--quick"] * QUICK
    for peer in peers.PEERS[LAUNCHER[0]]:
        for (_, name, op), samples in peers.run(command, "python", peer).items():
            say(f"{name}, {RANKS} ranks", f"{op}, against h5py on {peer}", "speed", ">=3",
                ("weir.Array, collective", "h5py, collective"), samples)


def missing(*modules):
    """Says what is not here."""
    names = [name for name in modules if not importlib.util.find_spec(name)]
    for name in names:
        peers.say("note", f"{RANKS} ranks" if RANKS > 1 else "one process",
                  f"skipped: {name} is not installed")
    return names


def main():
    sys.path.insert(0, str(PACKAGE))
    if not (PACKAGE / "weir" / "_weir.abi3.so").exists():
        peers.say("note", "skipped", "Python's headers were not found when this was built")
    elif RANKS > 1:
        if not missing("numpy", "mpi4py", "h5py"):
            run_columns()
    elif not missing("numpy"):
        numpy, weir = map(importlib.import_module, ("numpy", "weir"))
        run_sections(numpy, weir)
        run_new(numpy, weir)
        run_calls(numpy, weir)
        run_slabs(numpy, weir)


if __name__ == "__main__":
    main()
