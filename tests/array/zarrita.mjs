// Arrays of Zarr version 3 by zarrita, for zarrita_python.py: a request in JSON for each line, and an
// answer in JSON for each. What zarrita can only decode, node's own library encodes.
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

const Gzip = await zarr.registry.get("gzip")();
class GzipBothWays {
  kind = "bytes_to_bytes";
  static fromConfig(configuration) {
    return Object.assign(new GzipBothWays(), { configuration });
  }
  encode(bytes) {
    return new Uint8Array(gzipSync(bytes, { level: this.configuration.level }));
  }
  decode(bytes) {
    return new Gzip().decode(bytes);
  }
}
zarr.registry.set("gzip", () => GzipBothWays);

const types = {
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array,
  uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array, float32: Float32Array,
  float64: Float64Array,
};

function valuesOf(dtype, bytes) {
  const copy = new Uint8Array(bytes).buffer;
  return dtype === "bool" ? new zarr.BoolArray(copy) : new types[dtype](copy);
}

function slicesOf(section) {
  return section && section.map(([lo, hi, step]) => zarr.slice(lo, hi, step));
}

const commands = {
  async read({ path, out, section }) {
    const array = await zarr.open.v3(new FileSystemStore(path), { kind: "array" });
    const { data, shape, stride } = await zarr.get(array, slicesOf(section));
    writeFileSync(out, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return { dtype: array.dtype, shape, stride };
  },
  async write({ path, from, section, shape, chunks, ...options }) {
    const array = await zarr.create(new FileSystemStore(path), { shape, chunkShape: chunks, ...options });
    const sizes = section ? section.map(([lo, hi, step]) => Math.ceil((hi - lo) / step)) : shape;
    const stride = sizes.map((_, d) => sizes.slice(d + 1).reduce((all, size) => all * size, 1));
    const data = valuesOf(options.dtype, readFileSync(from));
    await zarr.set(array, slicesOf(section), { data, shape: sizes, stride });
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...request } = JSON.parse(line);
  const answer = await commands[command](request).catch((error) => ({ error: `${error.stack}` }));
  console.log(JSON.stringify(answer));
}
