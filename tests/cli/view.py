#!/usr/bin/python3
"""What weir view draws: known colours at known places. usage: view.py WEIR, in an empty folder"""
import os
import subprocess
import sys

import numpy

from png import Picture, lightness, near

NAN, HIGH, LOW = (158, 158, 158), (226, 40, 150), (30, 200, 230)


def draw(array, *options, bracket=""):
    numpy.save("x.npy", array)
    subprocess.run([sys.argv[1], "view", "x.npy" + bracket, "-o", "x.png", *options], check=True)
    return Picture("x.png")


def text(array, columns=60, lines=20, bracket="", options=()):
    numpy.save("x.npy", array)
    return subprocess.run([sys.argv[1], "view", "x.npy" + bracket, *options], check=True, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "COLUMNS": str(columns),
                                                       "LINES": str(lines)}).stdout


def test_size():
    p = draw(numpy.arange(20000.0).reshape(100, 200), "--size", "230x165")
    assert (p.width, p.height) == (230, 165)
    left, top, right, bottom = p.plot
    assert abs((right - left) - 2 * (bottom - top)) <= 2, p.plot  # elements are square
    p = draw(numpy.zeros((280, 600)))
    left, top, right, bottom = p.plot
    assert (right - left, bottom - top) == (600, 280), p.plot  # a pixel each


def test_scale():
    """The least number is at the bottom, shades rise in even steps, cells have those of their number."""
    p = draw(numpy.arange(256.0).reshape(16, 16), "--size", "230x165")
    shades = [lightness(p.shade(i / 8)) for i in range(9)]
    steps = [b - a for a, b in zip(shades, shades[1:])]
    assert min(steps) > 0 and max(steps) < 1.5 * min(steps), steps
    for row, column in (0, 0), (15, 15), (7, 3), (12, 9):
        want = p.shade((16 * row + column) / 255)
        assert near(p.at((row + 0.5) / 16, (column + 0.5) / 16), want, 12), (row, column)
    for name in "diverging", "grey":
        p = draw(numpy.arange(-128.0, 128).reshape(16, 16), "--size", "230x165", "--colours", name)
        shades = [lightness(p.shade(i / 4)) for i in range(5)]
        peak = 2 if name == "diverging" else 4
        assert shades.index(max(shades)) == peak, (name, shades)
    middle = draw(numpy.arange(-10.0, 40).reshape(5, 10), "--colours", "diverging", "--size", "230x165").at(0.1, 0.96)
    assert lightness(middle) > 0.9, middle  # near 0, though most numbers are above


def test_kinds():
    a = numpy.ones((8, 8))
    a[0, 0], a[0, 7], a[7, 0] = numpy.nan, numpy.inf, -numpy.inf
    p = draw(a, "--size", "230x165")
    assert (p.at(0.06, 0.06), p.at(0.06, 0.94), p.at(0.94, 0.06)) == (NAN, HIGH, LOW)
    right = p.plot[2]
    legend = {c for line in p.pixel for c in line[right + 2:]}
    assert {NAN, HIGH, LOW} <= legend
    p = draw(numpy.ones((8, 8)), "--size", "230x165")
    assert not (p.has(NAN) or p.has(HIGH) or p.has(LOW))
    a = numpy.zeros((4, 4))
    a[2, 2] = 5
    p = draw(a, "--log", "--size", "230x165")
    assert p.at(0.1, 0.1) == LOW and p.at(0.6, 0.6) != LOW
    assert draw(numpy.full((3, 3), numpy.nan), "--size", "230x165").at(0.5, 0.5) == NAN


def test_reduce():
    """A single odd element is in the greatest, not in the least; one that is no number is in all."""
    a = numpy.zeros((4000, 400))
    a[2005, 205] = 1
    places = {}
    for name in "mean", "min", "max":
        p = draw(a, "--reduce", name, "--range", "0,1", "--size", "230x165")
        left, top, right, bottom = p.plot
        inside = [c for line in p.pixel[top:bottom] for c in line[left:right]]
        places[name] = sum(c != p.at(0, 0) for c in inside)
    assert places["max"] > 0 and places["min"] == 0, places
    a[2005, 205] = numpy.nan
    for name in "mean", "min", "max":
        assert draw(a, "--reduce", name, "--size", "230x165").has(NAN), name
    a = numpy.zeros((16, 16))
    a[::2] = 1
    p = draw(a, "--size", "230x165", bracket="[::2, ::-1]")
    assert "1" in text(a, bracket="[::2, ::-1]").splitlines()[-1]


def test_ranges():
    a = numpy.arange(100.0).reshape(10, 10)
    a[9, 9] = 1e6
    p = draw(a, "--size", "230x165", "--percentile", "0,90")
    assert near(p.at(0.95, 0.95), p.shade(1)) and near(p.at(0.85, 0.95), p.shade(1), 40)
    assert lightness(draw(a, "--size", "230x165").at(0.85, 0.95)) < 0.25
    told = text(a, options=["--range", "-5,7"]).splitlines()[-1]
    assert told.startswith("-5 ") and told.endswith(" 7"), told
    told = text(a + 1, options=["--log", "--range", "1,100"]).splitlines()
    assert "logarithmic" in told[0] and told[-1].startswith("1 "), told


def test_types():
    for kind in "?", "i1", "u2", "u8", "f2", ">f8", "c8", "c16":
        told = text((numpy.arange(64).reshape(8, 8) % 2).astype(kind))
        assert told.splitlines()[-1].startswith("0 ") and told.splitlines()[-1].endswith(" 1"), told
        assert ("magnitude" in told) == (kind[0] == "c"), told
    assert text(numpy.full((4, 4), 3 + 4j)).splitlines()[-1].startswith("2.5 "), "magnitude is 5"


def test_overflow():
    """Means of numbers whose sum is too large are numbers."""
    for of, least, most in ([2.0 ** 1023] * 2, "4.494e+307", "1.348e+308"), ([-1.5e308, 1.5e308], "-1.5e+308", "1.5e+308"):
        told = text(numpy.repeat(numpy.array(of), 100 * 200).reshape(200, 200), options=["--memory", "64K"])
        assert "inf" not in told and "NaN" not in told, told
        last = told.splitlines()[-1].split()
        assert (last[0], last[-1]) == (least, most), told
    told = text(numpy.array([1.5e308, 1.5e308, -1.5e308, -1.5e308] * 400))
    assert "inf" not in told and "NaN" not in told, told
    a = numpy.full((200, 200), 1e308)
    assert "inf" not in text(numpy.full((9, 9), 1.7e308)), "the end of the scale"
    a[0, 0], a[199, 199], a[199, 198] = numpy.inf, numpy.inf, -numpy.inf
    told = text(a)
    assert "^ +inf" in told and "? NaN" in told, told


def test_axes():
    """Indices are those of the array."""
    told = text(numpy.zeros((100, 100)), bracket="[20:60:2, 50::-1]").splitlines()
    rows = [line.split()[0] for line in told[1:-2] if line[:3].strip()]
    columns = told[-2].split()
    assert rows == ["20", "40"] and told[6].startswith(" 40 "), told
    assert columns == sorted(columns, key=int, reverse=True) and columns[0] == "50" and columns[-1] == "0", columns
    told = text(numpy.zeros((9, 9)), bracket="[[7, 1, 5]]").splitlines()
    assert [line.split()[0] for line in told[1:-2] if line[:2].strip()] == ["7", "1", "5"], told


def test_curve():
    a = numpy.sin(numpy.arange(500) / 25.0)
    p = draw(a, "--size", "230x165")
    left, top, right, bottom = p.plot
    peak = min(range(top, bottom), key=lambda y: lightness(p.pixel[y][left + (right - left) * 39 // 500]))
    assert peak < top + 20, peak
    assert "*" in text(a)


def test_characters():
    a = numpy.repeat(numpy.arange(10.0)[None], 10, 0)
    a[9, 9], a[9, 0] = numpy.nan, numpy.inf
    told = text(a, columns=40, lines=18)
    assert "\033" not in told and max(map(len, told.splitlines())) <= 40, told
    line = told.splitlines()[1].split(None, 1)[1]
    assert line.replace(line[0], "") != "" and line.endswith("@@"), line
    assert "?" in told and "? NaN" in told and "^ +inf" in told, told


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
