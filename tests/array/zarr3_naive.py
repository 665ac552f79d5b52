"""Zarr version 3 as its specification says, chunk by chunk, with NumPy and numcodecs: what the library
is compared with where nothing else knows it all, and what damaged arrays are made with."""
import itertools
import json
import struct

import numcodecs
import numpy as np

NOTHING = (1 << 64) - 1
NAMES = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def make_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = make_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def compressor_of(codec):
    told = codec.get("configuration", {})
    if codec["name"] == "gzip":
        return numcodecs.GZip(told["level"])
    if codec["name"] == "zstd":
        return numcodecs.Zstd(told["level"])
    mix = ["noshuffle", "shuffle", "bitshuffle"].index(told["shuffle"])
    return numcodecs.Blosc(told["cname"], told["clevel"], mix, told["blocksize"])


def encode(values, codecs):
    for codec in codecs:
        if codec["name"] == "transpose":
            values = values.transpose(codec["configuration"]["order"])
        elif codec["name"] == "bytes":
            big = codec.get("configuration", {}).get("endian") == "big"
            data = np.asarray(values).astype(values.dtype.newbyteorder(">" if big else "<")).tobytes()
        elif codec["name"] == "crc32c":
            data += crc32c(data)
        elif codec["name"] == "blosc": # whose elements are those of the type it is given
            size = codec["configuration"]["typesize"]
            whole = data if len(data) % size else np.frombuffer(data, f"u{min(8, size)}")
            data = bytes(compressor_of(codec).encode(whole))
        else:
            data = bytes(compressor_of(codec).encode(data))
    return data


def decode(data, shape, dtype, codecs):
    order = list(range(len(shape)))
    for codec in reversed(codecs):
        if codec["name"] == "crc32c":
            assert crc32c(data[:-4]) == data[-4:], "a wrong checksum"
            data = data[:-4]
        elif codec["name"] == "transpose":
            order = codec["configuration"]["order"]
        elif codec["name"] == "bytes":
            big = codec.get("configuration", {}).get("endian") == "big"
            dtype = dtype.newbyteorder(">" if big else "<")
        else:
            data = bytes(compressor_of(codec).decode(data))
    values = np.frombuffer(data, dtype).reshape([shape[d] for d in order])
    return values.transpose(np.argsort(order)).astype(dtype.newbyteorder("="))


# --- metadata ---

def fill_text(fill):
    """Bits of floats as hexadecimal digits where their value has no text."""
    if fill.dtype.kind == "c":
        return [fill_text(fill.real), fill_text(fill.imag)]
    if fill.dtype.kind != "f" or np.isfinite(fill):
        return fill.item()
    if np.isnan(fill):
        return "0x" + fill.astype(fill.dtype.newbyteorder(">")).tobytes().hex()
    return "Infinity" if fill > 0 else "-Infinity"


def fill_value(text, dtype):
    if dtype.kind == "c":
        parts = [fill_value(part, np.dtype(f"f{dtype.itemsize // 2}")) for part in text]
        return np.array(parts).view(dtype)[0]
    if isinstance(text, str) and text.startswith("0x"):
        return np.frombuffer(bytes.fromhex(text[2:]), dtype.newbyteorder(">"))[0].astype(dtype)
    return np.array(float(text) if isinstance(text, str) else text).astype(dtype)[()]


class Spec:
    """Metadata; `codecs` are those of a tile, `shard` its multiples or None."""

    def __init__(self, shape, dtype, fill, tile, codecs, shard=None, **more):
        self.shape, self.dtype, self.fill, self.tile, self.codecs = shape, dtype, fill, tile, codecs
        self.shard, self.first, self.keys = shard, more.get("first", False), more.get("keys", "default")
        self.separator = more.get("separator", "/")
        self.chunk = tile if shard is None else shard
        self.index_codecs = more.get("index_codecs", [
            {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}])

    def text(self):
        codecs = self.codecs
        if self.shard is not None:
            codecs = [{"name": "sharding_indexed", "configuration": {
                "chunk_shape": self.tile, "codecs": codecs, "index_codecs": self.index_codecs,
                "index_location": "start" if self.first else "end"}}]
        bits = "" if self.dtype.kind == "b" else 8 * self.dtype.itemsize
        return json.dumps({
            "zarr_format": 3, "node_type": "array", "shape": self.shape,
            "data_type": f"{NAMES[self.dtype.kind]}{bits}", "codecs": codecs,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": self.chunk}},
            "chunk_key_encoding": {"name": self.keys, "configuration": {"separator": self.separator}},
            "fill_value": fill_text(self.fill), "attributes": {"kept": "yes"}})

    def key(self, index):
        if self.keys == "v2":
            return self.separator.join(map(str, index)) or "0"
        return self.separator.join(["c", *map(str, index)])


def load_spec(path):
    told = json.loads((path / "zarr.json").read_text())
    codecs, keys = told["codecs"], told["chunk_key_encoding"]
    dtype, more = np.dtype(told["data_type"]), {}
    tile, shard = tuple(told["chunk_grid"]["configuration"]["chunk_shape"]), None
    if codecs[0]["name"] == "sharding_indexed":
        inner = codecs[0]["configuration"]
        tile, shard, codecs = tuple(inner["chunk_shape"]), tile, inner["codecs"]
        more = {"first": inner["index_location"] == "start", "index_codecs": inner["index_codecs"]}
    return Spec(tuple(told["shape"]), dtype, fill_value(told["fill_value"], dtype), tile, codecs, shard,
                keys=keys["name"], separator=keys["configuration"]["separator"], **more)


# --- chunks ---

def grid(shape, chunk):
    return itertools.product(*(range(-(-size // part)) for size, part in zip(shape, chunk)))


def box(index, chunk):
    return tuple(slice(i * size, (i + 1) * size) for i, size in zip(index, chunk))


def is_fill(values, fill):
    return values.tobytes() == np.full(values.shape, fill, values.dtype).tobytes()


def build_shard(rng, spec, values):
    """Tiles in any order, with gaps between; what is all fill may be missing."""
    tiles = list(grid(spec.shard, spec.tile))
    index = np.full((len(tiles), 2), NOTHING, np.uint64)
    room = len(encode(index, spec.index_codecs))
    body, base = b"", room if spec.first else 0
    for i in rng.sample(range(len(tiles)), len(tiles)):
        part = values[box(tiles[i], spec.tile)]
        if is_fill(part, spec.fill) and rng.random() < 0.7:
            continue
        body += bytes(rng.choice([0, 0, 5]))
        data = encode(part, spec.codecs)
        index[i] = base + len(body), len(data)
        body += data
    told = encode(index, spec.index_codecs)
    return told + body if spec.first else body + told


def write(rng, path, values, spec):
    path.mkdir()
    (path / "zarr.json").write_text(spec.text())
    chunk = spec.chunk
    whole = np.full([-(-size // part) * part for size, part in zip(spec.shape, chunk)], spec.fill,
                    spec.dtype)
    whole[tuple(slice(0, size) for size in spec.shape)] = values
    for index in grid(spec.shape, chunk):
        part = whole[box(index, chunk)]
        if is_fill(part, spec.fill) and rng.random() < 0.7:
            continue
        file = path / spec.key(index)
        file.parent.mkdir(parents=True, exist_ok=True)
        sharded = spec.shard is not None
        file.write_bytes(build_shard(rng, spec, part) if sharded else encode(part, spec.codecs))


def read_shard(spec, data):
    tiles = list(grid(spec.shard, spec.tile))
    room = len(encode(np.zeros((len(tiles), 2), np.uint64), spec.index_codecs))
    told = data[:room] if spec.first else data[len(data) - room:]
    values = np.full(spec.shard, spec.fill, spec.dtype)
    index = decode(told, (len(tiles), 2), np.dtype("u8"), spec.index_codecs)
    for where, (offset, size) in zip(tiles, index.tolist()):
        if (offset, size) != (NOTHING, NOTHING):
            values[box(where, spec.tile)] = decode(data[offset:offset + size], spec.tile, spec.dtype,
                                                   spec.codecs)
    return values


def read(path):
    spec = load_spec(path)
    chunk = spec.chunk
    whole = np.full([-(-size // part) * part for size, part in zip(spec.shape, chunk)], spec.fill,
                    spec.dtype)
    for index in grid(spec.shape, chunk):
        file = path / spec.key(index)
        if file.exists():
            data = file.read_bytes()
            whole[box(index, chunk)] = (decode(data, spec.tile, spec.dtype, spec.codecs)
                                        if spec.shard is None else read_shard(spec, data))
    return whole[tuple(slice(0, size) for size in spec.shape)]
