#!/usr/bin/python3
"""What weir prints, writes and computes of sections, against NumPy.

usage: contents.py PART WEIR LAUNCHER...   PART is text, put or numbers; the launcher takes a number
of ranks and a command. WEIR_TEST_SEED and WEIR_TEST_CASES repeat a run, or make it longer.
"""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

PART, WEIR, LAUNCHER = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]
SEED = int(os.environ.get("WEIR_TEST_SEED", np.random.default_rng().integers(1 << 30)))
CASES = int(os.environ.get("WEIR_TEST_CASES", 0))
TYPES = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
REAL = TYPES[:12]
np.seterr(all="ignore")
warnings.simplefilter("ignore")


def command(ranks, *words):
    return (LAUNCHER + [str(ranks)] if ranks > 1 else []) + [WEIR] + [str(word) for word in words]


def weir(*words, ranks=1, status=0, stdin=""):
    ended = subprocess.run(command(ranks, *words), input=stdin, capture_output=True, text=True)
    assert ended.returncode == status, f"{words}, {ranks} ranks: {ended.returncode} {ended.stderr}"
    return ended.stdout


def objects(text):
    return json.loads(text.strip().splitlines()[-1])


def refuses(status, text, *words, ranks=1, stdin=""):
    """One line that says why, and nothing else."""
    ended = subprocess.run(command(ranks, *words), input=stdin, capture_output=True, text=True)
    lines = [line for line in ended.stderr.splitlines() if line.startswith("weir ")]
    assert ended.returncode == status and not ended.stdout, f"{words}: {ended}"
    assert len(lines) == 1 and text in lines[0], f"{words}: {ended.stderr}"
    assert ranks > 1 or ended.stderr.count("\n") == 1, f"{words}: {ended.stderr}"
    assert not [name for name in os.listdir(".") if "partial" in name], f"{words}: left something behind"


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# --- random arrays and sections ---


def floats(random, dtype, shape):
    kind = random.integers(8)
    if kind == 0:
        x = random.random(shape)
    elif kind == 1:
        x = random.normal(size=shape) * 10.0 ** random.integers(-8, 10)
    elif kind == 2:
        x = np.round(random.normal(size=shape) * 100, int(random.integers(4)))
    elif kind == 3:
        x = random.normal(size=shape) * 10.0 ** random.integers(-5, 5, shape)
    elif kind == 4:
        x = random.integers(-1000, 1000, shape).astype("f8")
    elif kind == 5:
        x = 2.0 ** random.integers(-60, 60, shape)
    elif kind == 6:
        x = random.integers(-3, 3, shape) * 10.0 ** random.integers(-320, 300)
    else:
        bits = random.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        x = np.frombuffer(bits, dtype).reshape(shape)
    x = np.array(x).astype(dtype)
    if x.size and random.integers(3) == 0:
        x.reshape(-1)[random.integers(0, x.size, 3)] = random.choice([np.nan, np.inf, -np.inf, -0.0])
    return x


def array(random, dtype, shape):
    kind = np.dtype(dtype).kind
    if kind == "f":
        return floats(random, dtype, shape)
    if kind == "c":
        x = np.empty(shape, dtype)
        x.real, x.imag = (floats(random, f"f{x.itemsize // 2}", shape) for _ in range(2))
        return x
    bits = int(random.integers(1, 64))
    x = random.integers(0, 1 << bits, shape, dtype=np.uint64).astype(dtype)
    return -x if kind == "i" and random.integers(2) else x


def shape_of(random, most=4):
    dimensions = int(random.choice([0, 1, 1, 2, 2, 3, 4])) % (most + 1)
    sizes = [0, 1, 2, 3, 5, 6, 7, 8, 20, 40, 300]
    odds = [.03, .1, .1, .15, .1, .1, .12, .1, .1, .05, .05]
    return tuple(int(n) for n in random.choice(sizes, dimensions, p=odds))


def bracket(random, shape):
    """Slices, indices, and perhaps one list at the front; repeated indices only to be read."""
    items = []
    for d, n in enumerate(shape):
        kind = random.integers(6)
        if kind == 0 and n:
            items.append(str(random.integers(-n, n)))
        elif kind == 1 and not d and n:
            items.append(str([int(i) for i in random.permutation(n)[:random.integers(1, 5)]]))
        elif kind == 2:
            items.append(f"::{random.choice([-3, -1, 2])}")
        elif kind == 3:
            items.append(f"{random.integers(-n - 1, n + 1)}:{random.integers(-n - 1, n + 1)}")
        else:
            items.append(":")
    text = f"[{', '.join(items) or '...'}]"
    try:
        eval(f"x{text}", {"x": np.zeros(shape)})
    except IndexError:
        return "[...]"
    listed = text.startswith("[[") and any(item.lstrip("-").isdigit() for item in items[1:])
    return "[...]" if listed else text  # where NumPy and weir differ, weir refuses


def take(x, text):
    return eval(f"x{text}", {"x": x})


# --- parts ---


def text_case(i):
    random = np.random.default_rng([SEED, i])
    shape, name = shape_of(random), f"text-{i}.npy"
    np.save(name, array(random, TYPES[random.integers(len(TYPES))], shape))
    x, section = np.load(name), bracket(random, shape)
    for where, y in (("", x), (section, take(x, section))):
        told = weir("get", name + where)
        assert told == str(y) + "\n", f"case {i}: {x.dtype} {shape} {where}:\n{y}\n{told}"
    if x.ndim:
        whole = np.array2string(x, threshold=sys.maxsize)
        assert weir("get", name, "--all", "--memory", 100) == f"{whole}\n", f"case {i}: --all"
    os.remove(name)


def alone_case(i):
    """Every digit of single elements, as text with commas has them."""
    random, dtype = np.random.default_rng([SEED, i]), TYPES[i % len(TYPES)]
    x = np.frombuffer(random.bytes(4000 * np.dtype(dtype).itemsize), dtype)
    if dtype == "?":
        x = random.integers(0, 2, 4000).astype("u1").view("?")
    if dtype in ("f4", "f8"):
        lowest, highest = {"f4": (-149, 127), "f8": (-1074, 1023)}[dtype]
        powers = 2.0 ** random.integers(lowest, highest, 1000)
        x = np.concatenate([x, powers, np.round(random.normal(size=1000), 4)]).astype(dtype)
    np.save(f"alone-{i}.npy", x)
    words = weir("get", f"alone-{i}.npy", "-o", "-").split("\n")[:-1]
    wanted = [str(int(v)) if dtype == "?" else str(v) for v in x]
    wrong = [pair for pair in zip(words, wanted) if pair[0] != pair[1]]
    assert len(words) == len(wanted) and not wrong, f"{dtype}: {wrong[:5]}"
    os.remove(f"alone-{i}.npy")


def terminal(columns, *words):
    """What is printed on a terminal of so many columns."""
    inner, outer = pty.openpty()
    fcntl.ioctl(outer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(command(1, *words), stdout=outer, stdin=subprocess.DEVNULL)
    os.close(outer)
    told = b""
    try:
        while block := os.read(inner, 65536):
            told += block
    except OSError:  # the terminal has ended
        pass
    os.close(inner)
    assert not child.wait(), f"{words}: {child.returncode}"
    return told.decode().replace("\r\n", "\n")


def check_width():
    x = np.random.default_rng(SEED).normal(size=(30, 50))
    np.save("wide.npy", x)
    for columns in (40, 200):
        with np.printoptions(linewidth=columns):
            assert terminal(columns, "get", "wide.npy") == f"{x}\n", f"{columns} columns"
        lines = terminal(columns, "hist", "wide.npy").splitlines()
        assert len(lines) == 11 and max(map(len, lines)) <= columns, lines


def check_powers():
    """Of f2 the shortest digits of a power of two are not always the nearest: 2^-6 is 1.563e-02."""
    for dtype in ("f2", "f4", "f8"):
        x = np.array([2.0 ** i for i in range(-24, 16)]).astype(dtype)
        np.save("powers.npy", x)
        assert weir("get", "powers.npy") == f"{x}\n", weir("get", "powers.npy")


def check_huge():
    """Of an array that nobody could read, the corners are there at once."""
    np.save("huge.npy", np.zeros((3, 4)))
    with open("huge.npy", "r+b") as file:
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (300000, 300000), }"
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 4086) + header.ljust(4085).encode() + b"\n")
        file.truncate(4096 + 300000 * 300000 * 8)
        file.seek(4096 + (300000 * 300000 - 2) * 8)
        file.write(struct.pack("<d", 7))
    told = weir("get", "huge.npy").splitlines()
    assert told[0] == "[[0. 0. 0. ... 0. 0. 0.]" and told[-1] == " [0. 0. 0. ... 0. 7. 0.]]", told
    trace = ["strace", "-f", "-qq", "-y", "-o", "trace", "-e", "trace=read,pread64,preadv,preadv2,mmap"]
    subprocess.run(trace + command(1, "get", "huge.npy"), check=True, stdout=subprocess.DEVNULL)
    calls = [line for line in open("trace") if "huge.npy>" in line and ") = " in line]
    read = sum(int(line.rsplit("= ")[1]) for line in calls if "mmap" not in line)
    assert calls and read < 1 << 20 and not any("mmap" in line for line in calls), calls
    weir("hist", "huge.npy", "--dry-run", "--memory", "64K") # what was tried does not go on to the end
    os.remove("huge.npy")


def check_pipes():
    np.save("long.npy", np.arange(10 ** 6).reshape(1000, 1000))
    for before in ("", "trap '' PIPE; "):
        shell = f"{before}{WEIR} get long.npy --plain | head -1 | wc -l; echo ${{PIPESTATUS[0]}}"
        ended = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
        assert ended.stdout.split() == ["1", "141"] and not ended.stderr, ended
    with open("/dev/full", "w") as full:
        for words in (["get", "long.npy", "-o", "-"], ["hist", "long.npy"], ["diff", "long.npy", "wide.npy"]):
            ended = subprocess.run(command(1, *words), stdout=full, stderr=subprocess.PIPE, text=True)
            wanted = 2 if words[0] == "diff" else 1
            assert ended.returncode == wanted and "cannot be written" in ended.stderr, ended


def check_bare():
    """Elements alone are by rows, as tofile has them, whatever the array's order; and are replaced."""
    x = np.arange(60, dtype="i4").reshape(3, 4, 5)
    np.save("c.npy", x)
    np.save("f.npy", np.asfortranarray(x))
    for ranks, name in ((1, "f.npy"), (3, "f.npy"), (2, "c.npy")):
        weir("get", name, "-o", "f.raw", "--overwrite", ranks=ranks)
        assert same(np.fromfile("f.raw", "i4").reshape(x.shape), x), f"{name}, {ranks} ranks"
    for order in "CF":
        np.save("back.npy", np.zeros(x.shape, "i4", order))
        weir("put", "back.npy", "f.raw")
        assert same(np.load("back.npy"), x), order
    for section, y in (("[1:, ::-2]", x[1:, ::-2]), ("[0, 0, 1]", x[0, 0, 1]), ("[:0]", x[:0])):
        os.chmod("f.raw", 0o600)
        weir("get", "f.npy" + section, "-o", "f.raw", "--overwrite", "--memory", 9000)
        assert open("f.raw", "rb").read() == y.tobytes() and os.stat("f.raw").st_mode & 0o777 == 0o600, section
    open("f.raw", "w").write("kept")
    os.symlink("f.raw", "link.raw")
    os.mkdir("folder.raw")
    os.mkfifo("pipe.bin")
    refuses(1, "f.raw: exists, and --overwrite was not given", "get", "f.npy", "-o", "f.raw")
    for name in ("link.raw", "folder.raw", "pipe.bin"):
        refuses(1, f"{name}: is there, is no file, and is left alone", "get", "f.npy", "-o", name, "--overwrite")
    for ranks in (1, 2):
        refuses(1, "No space left", "get", "f.npy", "-o", "f.raw", "--overwrite", "--hints", "fault=enospc:1",
                ranks=ranks)
    refuses(2, "none/x.raw: ", "get", "f.npy", "-o", "none/x.raw")
    refuses(2, "--chunk, --shard, --codec and --format are for arrays", "get", "f.npy", "-o", "y.raw", "--chunk", "1,1,1")
    assert open("f.raw").read() == "kept" and os.path.islink("link.raw")


def check_files():
    x = np.random.default_rng(SEED).normal(size=(40, 30)).astype("f4")
    np.save("m.npy", x)
    weir("get", "m.npy[::2, 5:]", "-o", "m.csv", "--memory", 1000)
    assert same(np.loadtxt("m.csv", "f4", delimiter=","), x[::2, 5:])
    refuses(1, "exists, and --overwrite was not given", "get", "m.npy", "-o", "m.csv")
    weir("get", "m.npy[3]", "-o", "m.csv", "--overwrite", ranks=2)
    assert same(np.loadtxt("m.csv", "f4"), x[3])
    weir("get", "m.npy[:, 1:3]", "-o", "m.bin", ranks=3)
    assert same(np.fromfile("m.bin", "f4").reshape(40, 2), x[:, 1:3])
    check_bare()
    refuses(2, "write text, only .npy files", "get", "m.npy", "-o", "m.txt")
    refuses(2, "get -o and put take .csv, .bin and .raw, too", "get", "m.npy", "-o", "m.txt")
    refuses(2, "csv has one or two", "get", "text.npy", "-o", "x.csv")
    refuses(2, "No such file", "get", "m.npy", "-o", "none/x.csv")
    refuses(2, "exclude each other", "get", "m.npy", "--all", "--plain")
    os.mkdir("disk")
    if not subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "disk"], capture_output=True).returncode:
        refuses(1, "No space left", "get", "long.npy", "-o", "disk/x.csv")
        assert not os.listdir("disk")
        subprocess.run(["umount", "disk"], check=True)


def check_rows():
    """Of arrays by columns NetCDF and HDF5 get the same by rows, unless they were to be by columns."""
    x = np.random.default_rng(SEED).normal(size=(6, 5, 4))
    np.save("columns.npy", np.asfortranarray(x))
    np.save("matrix.npy", np.asfortranarray(x[0]))
    made = subprocess.run(command(1, "create", "rows.h5:/x", "--shape", 2), capture_output=True, text=True)
    assert not made.returncode or "HDF5" in made.stderr, made  # a build without it
    cases = [("rows.nc:/x", x, 1, "convert", "columns.npy"), ("rows.h5:/x", x, 1, "convert", "columns.npy"),
             ("rows.h5:/x", x.T, 1, "transpose", "columns.npy"),
             ("rows.h5:/x", x[1:, ::2], 2, "get", "columns.npy[1:, ::2]", "-o"),
             ("rows.h5:/x", x.max(1), 1, "reduce", "columns.npy", "--axis", 1, "--kind", "max", "-o"),
             ("rows.h5:/x", x[0], 1, "median", "matrix.npy", "--window", 1)]
    for new, wanted, ranks, *words in cases[:1] if made.returncode else cases:
        weir(*words, new, "--overwrite", ranks=ranks)
        weir("get", new, "-o", "got.npy", "--overwrite")
        got = np.load("got.npy")
        assert same(got, wanted) and got.flags.c_contiguous, f"{words} {new}:\n{got}\n{wanted}"
    for words in (["convert", "columns.npy", "rows.nc:/y"], ["create", "rows.h5:/y", "--shape", "2,2"]):
        refuses(2, "store by rows: --order C", *words, "--order", "F")
    weir("reduce", "columns.npy")
    weir("convert", "columns.npy", "columns.zarr")
    assert '"transpose"' in open("columns.zarr/zarr.json").read()


def text():
    np.save("text.npy", np.zeros((2, 2, 2)))
    with ThreadPoolExecutor(3) as pool:
        waits = [pool.submit(text_case, i) for i in range(CASES or 35)]
        waits += [pool.submit(alone_case, i) for i in range(len(TYPES))]
        for wait in waits:
            wait.result()
    check_width()
    check_powers()
    check_huge()
    check_pipes()
    check_files()
    check_rows()


def put_case(i):
    random, ranks = np.random.default_rng([SEED, i]), {0: 3, 6: 2}.get(i % 12, 1)
    shape, dtype = tuple(random.integers(1, 9, random.integers(1, 4))), REAL[random.integers(12)]
    x, name = array(random, dtype, shape), f"put-{i}{['.npy', '.zarr', '.npy'][i % 3]}"
    np.save("put-from-%d.npy" % i, np.asarray(x, order="CF"[i % 2]))
    weir("convert", f"put-from-{i}.npy", name, "--overwrite")
    section = bracket(random, shape)
    there = take(x, section)
    some = tuple(n if random.integers(4) else 1 for n in there.shape)
    y = random.integers(-9, 99, some[random.integers(len(some) + 1):]).astype("f8" if dtype != "f2" else "f2")
    if there.size:
        np.save(f"put-y-{i}.npy", y)
        weir("put", name + section, f"put-y-{i}.npy", "--memory", 60, ranks=ranks)
        exec(f"x{section} = np.clip(y, 0, None) if dtype[0] in 'u' else y != 0 if dtype == '?' else y")
    kind = random.integers(3)
    z = random.integers(0, 2, there.shape)
    if kind == 0:
        weir("put", name + section, "-", stdin="\n".join(map(str, z.ravel())) if z.ndim < 2 else
             "\n".join(",".join(map(str, row)) for row in z.reshape(-1, max(1, z.shape[-1]))), ranks=ranks)
    elif kind == 1:
        z = z.astype(dtype)
        z.tofile(f"put-{i}.bin")
        if z.size:
            weir("put", name + section, f"put-{i}.bin", ranks=ranks)
    else:
        weir("put", name + section, "--value", 1, ranks=ranks)
        z[...] = 1
    exec(f"x{section} = z")
    weir("convert", name, f"put-to-{i}.npy", "--overwrite")
    assert same(np.load(f"put-to-{i}.npy"), x), f"case {i}: {dtype} {shape} {section}"


def bad_puts():
    refuses(2, "does not fit the section, which has (4, 4)", "put", "a.npy", "three.npy")
    refuses(2, "read and written at once", "put", "a.npy[0]", "a.npy[1]")
    refuses(2, "c8 does not convert to f8", "put", "a.npy[0]", "c8.npy")
    refuses(2, "3 numbers, and the section has 4", "put", "a.npy[0]", "--text", "1 2 3")
    for row, column in (("1,,2,3", 2), (",1,2,3", 1), ("1,2,3,", 4), ("1,2, ,3", 3), ("1, 2,3, # four", 4)):
        text = f"5,6,7,8\r\n\n{row}\r\n"
        refuses(2, f"line 3, column {column}: there is no number", "put", "a.npy[:2]", "-", stdin=text)
    refuses(2, "one too many at character 6", "put", "a.npy[1,2,3]", "--value", "1")
    refuses(1, "cut short", "put", "a.npy", "short.npy")
    refuses(1, "cut short", "put", "short.npy", "--value", "1")


def good_texts():
    """As others end lines, and as weir writes them."""
    np.save("t.npy", np.zeros((2, 2)))
    for text in ("1,2\r\n3,4\r\n", "\n1,2\n\n3,4", "1, 2 # x\n# 5,,\n\t3 ,4\n\n", "1 2\n3 4"):
        weir("put", "t.npy", "--value", "0")
        weir("put", "t.npy", "-", stdin=text)
        assert same(np.load("t.npy"), np.array([[1., 2], [3, 4]])), repr(text)


def bools():
    """What get prints is taken back."""
    weir("create", "b.npy", "--shape", 4, "--dtype", "bool", "--fill", "True")
    assert same(np.load("b.npy"), np.ones(4, "?"))
    weir("put", "b.npy", "-", stdin=weir("get", "b.npy")[1:-2].replace("True", "False", 1) + "\n")
    assert weir("get", "b.npy") == "[False  True  True  True]\n", weir("get", "b.npy")
    weir("put", "b.npy[1:3]", "--text", "false,true")
    weir("put", "b.npy[0]", "--value", "true")
    assert weir("get", "b.npy") == "[ True False  True  True]\n", weir("get", "b.npy")
    weir("fill", "b.npy", "False")
    assert same(np.load("b.npy"), np.zeros(4, "?"))
    weir("put", "b.npy[:2]", "--text", "1.000e+00,0.000e+00")  # as numpy.savetxt has them
    assert weir("get", "b.npy[:2]") == "[ True False]\n", weir("get", "b.npy")
    for word in ("yes", "TRUE", "2", "-1", "0.5"):
        refuses(2, f'value "{word}": must be 0 or 1, or False or True', "put", "b.npy", "--value", word)
    refuses(2, 'value "True": must be a number', "fill", "a.npy", "True")


def whole_numbers():
    """Integers as NumPy's savetxt writes them, exactly."""
    np.save("i8.npy", np.zeros((), "i8"))
    for word, number in (("1e3", 1000), ("1.5E+3", 1500), ("-2.0", -2), ("1.000000000000000000e+00", 1), ("0e999999999", 0),
                         ("1200e-2", 12), ("9223372036854775807.0", 2**63 - 1), ("-9.223372036854775808e18", -2**63),
                         ("0.0010e4", 10), ("0.0", 0), ("5.", 5), ("-7", -7)):
        weir("put", "i8.npy[()]", "--value", word)
        assert np.load("i8.npy") == number, word
    assert weir("get", "i8.npy[()]") == "-7\n" and weir("get", "a.npy[()]") == weir("get", "a.npy")
    for word in ("1.5", "9223372036854775806.5", "4503599627370496.5", "1e-3", "5e-1", "0x10", "1e", "1e+", "inf", "1.2.3",
                 "1e3e3", "1-2", "0.99999999999999999999", "1 ", "--1", "1e-99999999999999999999"):
        refuses(2, "must be a whole number", "put", "i8.npy", "--value", word)
    for word in ("1e19", "9223372036854775808", "9223372036854775808.0", "1e99999999999999999999", "18446744073709551616"):
        refuses(2, "is beyond what the type can hold", "put", "i8.npy", "--value", word)
    weir("put", "a.npy[()]", "--text", " ".join(map(str, range(16))))


def put():
    np.save("a.npy", np.arange(16.0).reshape(4, 4))
    np.save("three.npy", np.zeros(3))
    np.save("c8.npy", np.zeros(4, "c8"))
    with open("short.npy", "wb") as file:
        file.write(open("a.npy", "rb").read()[:-8])
    open("bad.csv", "w").write("1,2,3,4 # four\n5,six,7,8\n")
    open("odd.csv", "w").write("1,2,3\n4,5,6\n7,8\n")
    open("few.bin", "w").write("12345")
    os.mkdir("folder")
    kept = open("a.npy", "rb").read()
    bad_puts()
    good_texts()
    bools()
    whole_numbers()
    refuses(2, "does not fit the section, which has (4, 4)", "put", "a.npy", "three.npy", ranks=3)
    refuses(2, "3 numbers, and the section has 4", "put", "a.npy[0]", "--text", "1 2 3", ranks=3)
    refuses(1, "cut short", "put", "a.npy", "short.npy", ranks=2)
    refuses(2, 'bad.csv: line 2: "six" must be a number', "put", "a.npy[:2]", "bad.csv")
    refuses(2, "odd.csv: line 2 begins, but the row before it has 3 of 4", "put", "a.npy[:2]", "odd.csv")
    os.link("odd.csv", "odd.txt")
    refuses(1, "get -o and put take .csv, .bin and .raw, too", "put", "a.npy[:2]", "odd.txt")
    refuses(2, "few.bin: has 5 bytes, and the section takes 32", "put", "a.npy[0]", "few.bin")
    refuses(2, "No such file", "put", "a.npy[0]", "none.csv")
    refuses(2, "No such file", "put", "a.npy[0]", "none.npy")
    refuses(2, "No such file", "put", "none.npy", "--value", "1")
    refuses(1, "folder", "put", "a.npy[0]", "folder")
    refuses(2, 'value "x": must be a number', "put", "a.npy", "--value", "x")
    refuses(2, "takes a section of an array, and a file", "put", "a.npy")
    refuses(2, "takes a section of an array, and a file", "put", "a.npy", "three.npy", "--value", "1")
    refuses(2, "an index comes twice", "put", "a.npy[[0, 0]]", "--value", "1")
    os.chmod("a.npy", 0o444)
    if not subprocess.run(["setpriv", "--reuid", "65534", "true"], capture_output=True).returncode:
        ended = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups"] +
                               command(1, "put", "a.npy", "--value", "1"), capture_output=True, text=True)
        assert ended.returncode == 1 and "ermission denied" in ended.stderr, ended
    assert open("a.npy", "rb").read() == kept, "what was refused has changed an array"
    with ThreadPoolExecutor(3) as pool:
        for wait in [pool.submit(put_case, i) for i in range(CASES or 13)]:
            wait.result()


def diff_case(i):
    random, ranks = np.random.default_rng([SEED, i]), {0: 3, 6: 2}.get(i % 12, 1)
    shape, types = shape_of(random, 3), random.choice(TYPES, 2)
    x = array(random, types[0], shape)
    if "c" in types[0] + types[1] and x.dtype.kind in "fc":  # isclose takes infinite complex ones for NaN
        for part in (x.real, x.imag) if x.dtype.kind == "c" else (x,):
            part[...] = np.nan_to_num(part, nan=np.nan, posinf=1, neginf=-1) % 1000
    y = x.astype(types[1 if i % 2 else 0])
    if y.size:
        places = random.integers(0, y.size, random.integers(4))
        y.reshape(-1)[places] = (y.reshape(-1)[places] * 2 + 1).astype(y.dtype)
    rtol, atol = (random.choice([0, 1e-3, 0.6]) for _ in range(2))
    np.save(f"x-{i}.npy", np.asarray(x, order="CF"[i % 2]))
    np.save(f"y-{i}.npy", np.asarray(y, order="CF"[i // 2 % 2]))
    section = bracket(random, shape)
    a, b = (take(v, section).astype("c16" if "c" in types[0] + types[1] else "f8") for v in (x, y))
    differ = ~np.isclose(a, b, rtol, atol, equal_nan=True)
    exact = all(np.dtype(t).kind in "iub" for t in types) and not rtol and not atol
    if exact:
        differ = take(x, section) != take(y, section)
    words = ["diff", f"x-{i}.npy{section}", f"y-{i}.npy{section}", "--rtol", rtol, "--atol", atol, "--memory", 600]
    told = objects(weir(*words, "--json", ranks=ranks, status=int(differ.any())))
    case = f"case {i}: {types} {shape} {section} {rtol} {atol}: {told}"
    if types[0] != types[1] and "8" in types[0] + types[1] and not exact:
        return  # NumPy compares integers of 64 bits in other ways
    assert told["differences"] == differ.sum() and told["count"] == differ.size, case
    first = [int(n) for n in np.argwhere(differ)[0]] if differ.any() else None
    assert told["first"] == first and told["same"] == (not differ.any()), case
    size, distance = np.abs(b), np.where(a == b, 0, np.abs(a - b))
    distance = np.where(np.isnan(distance), 0, distance)
    relative = np.divide(distance, size, where=size > 0, out=np.zeros(size.shape))
    for name, most in (("absolute", distance), ("relative", relative)):
        most = np.nanmax(most, initial=0)
        assert told[name] is None if np.isinf(most) else np.isclose(told[name], most, 1e-9, 0), f"{case} {most}"


def quantile(x, p):
    """NumPy's, but for infinite neighbours, of which it takes none times infinity."""
    if not x.size or np.isnan(x).any() or np.isfinite(x).all():
        return np.quantile(x, p) if x.size else np.nan
    x, at = np.sort(x), p * (x.size - 1)
    low = int(at)
    return x[low] if low == at else x[low] + (x[low + 1] - x[low]) * (at - low)


def numbers_case(i):
    random, ranks = np.random.default_rng([SEED, i]), {0: 3, 6: 2}.get(i % 12, 1)
    shape, name = shape_of(random, 3), f"n-{i}.npy"
    x = array(random, REAL[random.integers(12)], shape)
    if x.dtype.kind == "f" and i % 3:
        x = np.nan_to_num(x, posinf=1, neginf=0) % 1000
    np.save(name, np.asarray(x, order="CF"[i % 2]))
    section = bracket(random, shape)
    y, case = take(x, section), f"case {i}: {x.dtype} {shape} {section}"
    wide = y.astype("f8").ravel()
    finite = wide[np.isfinite(wide)]
    spread, far = (np.ptp(finite), np.abs(finite).max()) if finite.size else (0, 0)
    sound = finite.size and 1e-9 * far + 1e-290 < (spread or 1) < 1e300  # for NumPy
    for extra in [["--range", "0,500"]] + ([[]] if sound else []):
        told = objects(weir("hist", name + section, "--json", "-n", 7, *extra, "--memory", "4K", ranks=ranks))
        wanted = np.histogram(finite, 7, (0, 500) if extra else None)[0]
        assert told["counts"] == list(wanted), f"{case}: {told} {wanted}"
        assert told["nans"] == np.isnan(wide).sum() and told["count"] == wide.size, case
        assert sum(told["counts"]) + told["nans"] + told["below"] + told["above"] == wide.size, case
    p = [0, 0.1, 0.5, 0.75, 0.999, 1]
    memory = random.choice(["200K", "2M"])
    told = objects(weir("quantile", name + section, "--json", "-p", ",".join(map(str, p)), "--memory", memory,
                        *(["--skip-nans"] if i % 2 else []), ranks=ranks))
    wanted = [quantile(wide[~np.isnan(wide)] if i % 2 else wide, part) for part in p]
    for value, number in zip(told["value"], wanted):
        assert value is None if not np.isfinite(number) else np.isclose(value, number, 1e-12, 1e-300), \
            f"{case}: {told} {wanted}"
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        return
    told = objects(weir("reduce", name + section, "--json", ranks=ranks))
    assert told["count"] == wide.size and (not wide.size or np.isclose(told["mean"], wide.mean(), 1e-9, 1e-300)), case
    if y.size:
        bounds = y.min().item(), y.max().item()
        assert (told["min"], told["max"]) == bounds, f"{case}: {told} {bounds}"
        assert type(told["min"]) is int or x.dtype.kind == "f", f"{case}: {told}"
    axes = tuple(d for d in range(x.ndim) if random.integers(2))
    if axes and x.size:
        kind = str(random.choice(["sum", "mean", "min", "max", "std"]))
        if kind in ("sum", "std") and x.dtype.kind == "f" and np.abs(x.astype("f8")).max() > 1e30:
            kind = "max"  # squares and sums leave NumPy's numbers
        weir("reduce", name, "--axis", ",".join(map(str, axes)), "--kind", kind, "-o", f"r-{i}.npy", ranks=ranks)
        wanted = getattr(np, kind)(x, axis=axes, **({} if kind in ("min", "max") or x.dtype.kind != "f" else
                                                    {"dtype": "f8"}))
        found = np.load(f"r-{i}.npy")
        assert found.shape == wanted.shape and np.allclose(found.astype("f8"), wanted.astype("f8"), 1e-3, 1e-3), case
        wide = x.dtype.kind in "biu" or kind in ("min", "max")
        assert not wide or found.dtype == wanted.dtype, f"{case}: {found.dtype} {wanted.dtype}"


def exact_case(dtype, ranks):
    """Least and largest integers that are the same double as others, in many places."""
    random, name = np.random.default_rng([SEED, ranks]), f"exact-{dtype}-{ranks}.npy"
    info = np.iinfo(dtype)
    for least, most in ((2 ** 53, 2 ** 53 + 9), (info.min, info.min + 999), (info.max - 999, info.max)):
        x = random.integers(least, most, 20001, dtype, endpoint=True)
        np.save(name, x)
        for section in ("", "[5::3]"):
            y = take(x, section or "[...]")
            told = objects(weir("reduce", name + section, "--json", "--memory", "20K", ranks=ranks))
            bounds = int(y.min()), int(y.max())
            assert (told["min"], told["max"]) == bounds, f"{x.dtype}{section} {told} {bounds}"
    lines = weir("reduce", name).splitlines()
    assert lines[:2] == [f"min    {x.min()}", f"max    {x.max()}"], lines


def check_passes():
    """What a dry run of quantile expects is the most, where little memory keeps nothing."""
    for dtype, memory, quantiles in (("f8", "300K", "0,0.3,0.5,0.7,1"), ("f8", "8M", "0.5"), ("u2", "300K", "0.5")):
        np.save("passes.npy", (np.random.default_rng(SEED).random((200, 300)) * 65536).astype(dtype))
        words = ["quantile", "passes.npy", "-p", quantiles, "--memory", memory, "--json"]
        plan, told = objects(weir(*words, "--dry-run")), objects(weir(*words))
        expected, least, most = re.search(r"; (\d) passes, (\d) to (\d) by what elements are$", plan["plan"]).groups()
        assert int(least) <= told["passes"] <= int(most) <= 8, f"{plan} {told}"
        size = 60000 * np.dtype(dtype).itemsize
        assert plan["read"] == int(expected) * size and told["read"] == told["passes"] * size, f"{plan} {told}"
        assert told["passes"] <= int(expected) <= told["passes"] + 1, f"{plan} {told}"
    plan = objects(weir("quantile", "passes.npy", "--json", "--dry-run"))
    assert "passes" not in plan["plan"] and plan["read"] == 120000, plan


def bad_numbers(name, ranks):
    more, trouble = (["a.npy"], 2) if name == "diff" else ([], 1)
    refuses(2, "No such file", name, "none.npy", *more, ranks=ranks)
    refuses(trouble, "cut short", name, "short.npy", *more, ranks=ranks)
    refuses(trouble, "Input/output error", name, "a.npy", *more, "--hints", "map=0;fault=eio:1", ranks=ranks)
    if name != "diff":
        refuses(2, "complex", name, "c8.npy", ranks=ranks)
    if ranks > 1:
        return
    refuses(trouble, "folder", name, "folder", *more)
    refuses(trouble, "the least that would do is", name, "a.npy", *more, "--memory", 10)
    refuses(trouble, "text.npy: ", name, "text.npy", *more)
    refuses(2, "outside dimension 0, which has 4, at character 2", name, "a.npy[9]", *more)


def numbers():
    np.save("a.npy", np.arange(16.0).reshape(4, 4))
    np.save("c8.npy", np.zeros(4, "c8"))
    with open("short.npy", "wb") as file:
        file.write(open("a.npy", "rb").read()[:-8])
    open("text.npy", "w").write("hello")
    os.mkdir("folder")
    for words in (["hist", "a.npy", "--range", "1,0"], ["hist", "a.npy", "-n", "0"], ["quantile", "a.npy", "-p", "2"],
                  ["diff", "a.npy"], ["diff", "a.npy", "a.npy", "--rtol", "-1"], ["reduce", "a.npy", "--axis", "0"],
                  ["reduce", "a.npy", "--axis", "2", "-o", "x.npy"], ["reduce", "a.npy", "--kind", "sum"]):
        refuses(2, words[0], *words)
    assert weir("diff", "a.npy", "a.npy[:2]", status=1) == \
        "shapes differ: a.npy has (4, 4), a.npy[:2] has (2, 4)\n"
    told = weir("diff", "a.npy[1:]", "a.npy[:-1]", status=1)
    assert told == ("differences  12 of 12\nfirst        a.npy[1, 0] is 4.0\n             a.npy[0, 0] is 0.0\n"
                    "absolute     4\nrelative     4\n"), told
    assert weir("diff", "a.npy", "c8.npy[0:1]", "-q", status=1, ranks=3) == ""
    np.save("ends.npy", np.array([np.inf, 1, -np.inf]))
    assert weir("reduce", "ends.npy").split()[:8] == "min -inf max inf mean nan std nan".split()
    assert [objects(weir("reduce", "ends.npy", "--json"))[key] for key in ("mean", "std")] == [None, None]
    np.save("nan.npy", np.full(5, np.nan))
    weir("diff", "nan.npy", "nan.npy")
    weir("diff", "nan.npy", "nan.npy", "--nans-differ", status=1)
    check_passes()
    with ThreadPoolExecutor(3) as pool:
        waits = [pool.submit(bad_numbers, name, 1) for name in ("diff", "hist", "quantile")]
        waits += [pool.submit(bad_numbers, ("hist", "diff", "quantile")[SEED % 3], 3)]
        for wait in waits: # others have unfinished files here
            wait.result()
        waits = [pool.submit(diff_case, i) for i in range(CASES or 16)]
        waits += [pool.submit(exact_case, *of) for of in (("i8", 1), ("u8", 1), (("i8", "u8")[SEED % 2], 3))]
        waits += [pool.submit(numbers_case, i) for i in range(CASES or 16)]
        for wait in waits:
            wait.result()


print(f"seed {SEED}")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    {"text": text, "put": put, "numbers": numbers}[PART]()
    os.chdir("/")
