"""Reads PNG files of 8 bits a channel, without libpng, and finds what pictures of arrays have."""
import struct
import zlib

import numpy

FRAME = (60, 60, 60)


def unfilter(kind, line, above):
    """A line, given the one above, both arrays of bytes."""
    if kind == 1:
        return numpy.cumsum(line.reshape(-1, 3), axis=0, dtype="u1").ravel()
    if kind == 2:
        return line + above
    left, corner, out = [0] * 3, [0] * 3, []
    for i, (byte, up) in enumerate(zip(line.tolist(), above.tolist())):
        a, c = left[i % 3], corner[i % 3]
        if kind == 3:
            byte += (a + up) >> 1
        else:
            far_a, far_up, far_c = abs(up - c), abs(a - c), abs(a + up - 2 * c)
            byte += a if far_a <= far_up and far_a <= far_c else up if far_up <= far_c else c
        left[i % 3], corner[i % 3] = byte & 255, up
        out.append(byte & 255)
    return numpy.array(out, "u1")


class Picture:
    """pixel[y][x] is (red, green, blue)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        assert data[:8] == b"\x89PNG\r\n\x1a\n", path
        at, packed = 8, b""
        while at < len(data):
            length, kind = struct.unpack_from(">I4s", data, at)
            body = data[at + 8:at + 8 + length]
            assert zlib.crc32(kind + body) == struct.unpack_from(">I", data, at + 8 + length)[0]
            if kind == b"IHDR":
                self.width, self.height, depth, colour = struct.unpack_from(">IIBB", body)
                assert (depth, colour) == (8, 2), (depth, colour)
            elif kind == b"IDAT":
                packed += body
            at += 12 + length
        lines = numpy.frombuffer(zlib.decompress(packed), "u1").reshape(self.height, -1)
        above, self.pixel = numpy.zeros(3 * self.width, "u1"), []
        for line in lines:
            above = unfilter(line[0], line[1:], above) if line[0] else line[1:]
            self.pixel.append(list(map(tuple, above.reshape(-1, 3).tolist())))
        self.find_boxes()

    def find_boxes(self):
        """Inside of the frames of the plot and of the scale, as [left, top, right, bottom)."""
        rows = [y for y in range(self.height) if self.longest(self.pixel[y])[1] > self.width / 4]
        top, bottom = rows[0], rows[-1]
        left, length = self.longest(self.pixel[top])
        self.plot = (left + 1, top + 1, left + length - 1, bottom)
        x = left + length
        while x < self.width and not self.is_edge(x):
            x += 1
        self.scale = None
        if x < self.width:
            y = (top + bottom) // 2
            right = x + 1
            while not self.is_edge(right):
                right += 1
            low = y
            while self.pixel[low][right] == FRAME:
                low += 1
            high = y
            while self.pixel[high][right] == FRAME:
                high -= 1
            self.scale = (x + 1, high + 2, right, low - 1)

    def is_edge(self, x):
        _, top, _, bottom = self.plot
        middle = (top + bottom) // 2
        return all(self.pixel[y][x] == FRAME for y in range(middle - 8, middle + 8))

    @staticmethod
    def longest(line):
        best, start = (0, 0), None
        for x, colour in enumerate(line + [None]):
            if colour == FRAME and start is None:
                start = x
            elif colour != FRAME and start is not None:
                best = max(best, (start, x - start), key=lambda run: run[1])
                start = None
        return best

    def at(self, row, column):
        """The pixel at two parts, 0 to 1, of the plot."""
        left, top, right, bottom = self.plot
        return self.pixel[top + int(row * (bottom - top))][left + int(column * (right - left))]

    def shade(self, part):
        """The colour of a part, 0 to 1, of the scale, from below."""
        left, top, right, bottom = self.scale
        return self.pixel[bottom - 1 - int(part * (bottom - top - 1))][(left + right) // 2]

    def has(self, colour):
        """In the plot: edges of letters have all greys."""
        left, top, right, bottom = self.plot
        return any(colour in line[left:right] for line in self.pixel[top:bottom])


def lightness(colour):
    """Of OKLab."""
    r, g, b = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
               for c in (v / 255 for v in colour)]
    l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s


def near(a, b, most=6):
    return all(abs(x - y) <= most for x, y in zip(a, b))
