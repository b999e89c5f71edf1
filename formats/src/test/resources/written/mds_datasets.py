"""Writes the MDS datasets beside it and what is in them (mds-truth.json in the manifest's terms), by the published
layout of version 2 and not by any reader's code.

    python3 mds_datasets.py FOLDER

Needs numpy, xxhash and the command zstd.
"""
import gzip
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys

import numpy as np
import xxhash

CODES = {"uint8": 8, "int8": 9, "uint16": 16, "int16": 17, "float16": 18, "uint32": 32, "int32": 33, "float32": 34,
         "uint64": 64, "int64": 65, "float64": 66}


def fixed_size(encoding):
    base, *rest = encoding.split(":")
    if base == "int":
        return 8
    if base in CODES:
        return np.dtype(base).itemsize
    if base == "ndarray" and len(rest) == 2:
        return int(np.prod([int(d) for d in rest[1].split(",")])) * np.dtype(rest[0]).itemsize
    return None


def dynamic(array, typed):
    largest = max(array.shape)
    width = 0 if largest < 1 << 8 else 1 if largest < 1 << 16 else 2
    head = b"" if typed else bytes([CODES[array.dtype.name]])
    return (head + bytes([array.ndim << 2 | width]) + np.array(array.shape, "<u%d" % (1 << width)).tobytes()
            + array.tobytes())


def record_digest(values):
    digest = hashlib.sha256()
    for value in values:
        digest.update(struct.pack("<II", 0, len(value)) + value)
    return digest.hexdigest()


def shard(columns, samples):
    names = sorted(columns)
    config = json.dumps({"column_names": names}).encode()
    bodies = []
    for sample in samples:
        sizes = [len(sample[n]) for n in names if fixed_size(columns[n]) is None]
        bodies.append(np.array(sizes, "<u4").tobytes() + b"".join(sample[n] for n in names))
    start = 4 + 4 * (len(samples) + 1) + len(config)
    offsets = np.cumsum([start] + [len(b) for b in bodies])
    return struct.pack("<I", len(samples)) + offsets.astype("<u4").tobytes() + config + b"".join(bodies)


def part(name, data, hashes):
    def digest(algorithm):
        return (getattr(xxhash, algorithm) if algorithm.startswith("xxh") else
                lambda d: hashlib.new(algorithm, d))(data).hexdigest()
    return {"basename": name, "bytes": len(data), "hashes": {a: digest(a) for a in hashes}}


def write(folder, name, columns, samples, per_shard, compression=None, hashes=(), keep_raw=False, split=None,
          arrays=None):
    home = os.path.join(folder, name)
    shutil.rmtree(home, ignore_errors=True)
    names = sorted(columns)
    shards = []
    truths = []
    for number, first in enumerate(range(0, len(samples), per_shard)):
        data = shard(columns, samples[first:first + per_shard])
        base = "shard.%05d.mds" % number if split is None else "%s/shard.%05d.mds" % (split[number % len(split)], number)
        path = os.path.join(home, base)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        zipped = None
        if compression:
            extension = compression.split(":")[0]
            packed = gzip.compress(data, mtime=0) if extension == "gz" else subprocess.run(
                ["zstd", "-q", "-c", "-%s" % (compression.split(":") + ["3"])[1]], input=data,
                stdout=subprocess.PIPE, check=True).stdout
            zipped = part(base + "." + extension, packed, hashes)
            with open(path + "." + extension, "wb") as file:
                file.write(packed)
        if keep_raw or not compression:
            with open(path, "wb") as file:
                file.write(data)
        shards.append({"column_encodings": [columns[n] for n in names], "column_names": names,
                       "column_sizes": [fixed_size(columns[n]) for n in names], "compression": compression,
                       "format": "mds", "hashes": list(hashes), "raw_data": part(base, data, hashes),
                       "samples": len(samples[first:first + per_shard]), "size_limit": 1 << 26, "version": 2,
                       "zip_data": zipped})
        truths.append({"samples": shards[-1]["samples"], "raw": base, "zip": zipped and zipped["basename"],
                       "hashes": list(hashes), "compression": compression})
    with open(os.path.join(home, "index.json"), "w") as file:
        json.dump({"shards": shards, "version": 2}, file, sort_keys=True)
    described = []
    for n in names:
        values = [s[n] for s in samples]
        column = {"column": n, "encoding": columns[n], "record_digest": record_digest(values),
                  "bytes_total": sum(map(len, values)), "first_sha256": hashlib.sha256(values[0]).hexdigest()}
        if columns[n] in ("str", "json", "str_int", "str_float", "str_decimal"):
            column["first_text"] = values[0].decode()
        if fixed_size(columns[n]) is not None:
            column["array"] = {"name": n, "nbytes": sum(map(len, values)),
                               "sha256": hashlib.sha256(b"".join(values)).hexdigest()}
        if arrays and n in arrays:
            column["shapes"] = [list(a.shape) for a in arrays[n]]
            column["dtypes"] = sorted({a.dtype.name for a in arrays[n]})
        described.append(column)
    return {"path": name, "samples": len(samples), "shards": truths, "columns": described}


def scalars(rng):
    columns = {"c_" + name: name for name in CODES}
    columns.update(i="int", text="str", big="str_int", real="str_float", exact="str_decimal", blob="bytes", js="json",
                   image="ndarray:uint8:2,3,4", row="ndarray:float64:5", jpeg="jpeg:90", raw="pil")
    samples = []
    for i in range(37):
        sample = {"c_" + n: rng.randbytes(np.dtype(n).itemsize) for n in CODES}
        sample.update(i=struct.pack("<q", i - 18), text=("" if i % 3 == 0 else "é" * (i % 11)).encode(),
                      big=str(-3 ** i).encode(), real=b"1e-7", exact=b"0.10", blob=rng.randbytes(i * i % 300),
                      js=json.dumps({"i": i, "n": None}).encode(), image=rng.randbytes(24), row=rng.randbytes(40),
                      jpeg=b"\xff\xd8" + rng.randbytes(i), raw=struct.pack("<III", 2, 1, 3) + b"RGB" + rng.randbytes(6))
        samples.append(sample)
    return columns, samples


def arrays(rng):
    columns = {"any": "ndarray", "f32": "ndarray:float32", "z": "uint8"}
    samples, values = [], {"any": [], "f32": []}
    for i in range(30):
        dtype = list(CODES)[i % len(CODES)]
        shape = [(1,), (2, 3), (300,), (1, 2, 3, 4), (70_000,)][i % 5 if i != 29 else 4] if i % 5 < 4 or i == 29 else (7,)
        a = np.frombuffer(rng.randbytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype).reshape(shape)
        f = np.frombuffer(rng.randbytes(12 * (i + 1)), "<f4").reshape(i + 1, 3)
        values["any"].append(a)
        values["f32"].append(f)
        samples.append({"any": dynamic(a, False), "f32": dynamic(f, True), "z": bytes([i])})
    return columns, samples, values


def main():
    folder = sys.argv[1]
    rng = random.Random(5)
    columns, samples = scalars(rng)
    truths = [write(folder, "scalars", columns, samples, 10, hashes=["md5", "sha256", "xxh64", "sha3_256"]),
              write(folder, "gzipped", columns, samples, 20, compression="gz:9", hashes=["sha1"]),
              write(folder, "zstd_and_raw", columns, samples, 25, compression="zstd:7", keep_raw=True),
              write(folder, "merged", columns, samples, 9, split=["a", "b/c"], compression="zstd",
                    hashes=["xxh64", "blake2s"])]
    columns, samples, values = arrays(rng)
    truths.append(write(folder, "arrays", columns, samples, 1000, arrays=values))
    with open(os.path.join(folder, "mds-truth.json"), "w") as file:
        json.dump(truths, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
