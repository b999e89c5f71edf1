# SPDX-License-Identifier: Apache-2.0
"""Writes the Parquet files of src/test/resources/parquet, and expected.json: what their writers' libraries have in them.

pip install numpy pyarrow polars duckdb
python src/test/python/parquet_fixtures.py src/test/resources/parquet

The digests are those of `penstock inspect --digest`: see io.penstock.format.TableInspection.
"""

import hashlib
import json
import os
import struct
import sys

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import nested_fixtures

ROWS = 160
rng = np.random.default_rng(20261121)


def maybe(make, nulls):
    return [None if nulls and rng.random() < 0.3 else make(i) for i in range(ROWS)]


def word(length):
    return "".join(chr(97 + int(c)) for c in rng.integers(0, 26, length))


def octets(length):
    return rng.integers(0, 256, length, dtype=np.uint8).tobytes()


def numbers(type_, low, high):
    return lambda _: rng.integers(low, high).item()


def table(nulls):
    def array(make, type_):
        return pa.array(maybe(make, nulls), type_)

    struct_type = pa.struct([("bytes", pa.binary()), ("path", pa.string()),
                             ("size", pa.struct([("w", pa.int16()), ("rois", pa.list_(pa.int32()))]))])
    return pa.table({
        "i8": array(numbers("i8", -128, 128), pa.int8()),
        "u8": array(numbers("u8", 0, 256), pa.uint8()),
        "i16": array(numbers("i16", -2**15, 2**15), pa.int16()),
        "u16": array(numbers("u16", 0, 2**16), pa.uint16()),
        "i32": array(numbers("i32", -2**31, 2**31), pa.int32()),
        "u32": array(numbers("u32", 0, 2**32), pa.uint32()),
        "i64": array(numbers("i64", -2**62, 2**62), pa.int64()),
        "u64": pa.array(maybe(lambda _: rng.integers(0, 2**64, dtype=np.uint64).item(), nulls), pa.uint64()),
        "few": array(numbers("few", 0, 3), pa.int32()),
        "rising": array(lambda i: i * 1000 + int(rng.integers(0, 50)), pa.int64()),
        "f16": array(lambda _: np.float16(rng.normal()), pa.float16()),
        "f32": array(lambda _: float(np.float32(rng.normal())), pa.float32()),
        "f64": array(lambda _: rng.normal(), pa.float64()),
        "flag": array(lambda _: bool(rng.random() < 0.5), pa.bool_()),
        "nothing": pa.array([None] * ROWS, pa.int32()),
        "text": array(lambda _: word(int(rng.integers(0, 12))), pa.string()),
        "code": array(lambda _: "xyz"[int(rng.integers(0, 3))], pa.string()),
        "path": array(lambda i: f"some/folder/{i:05d}.jpg", pa.string()),
        "blob": array(lambda _: octets(int(rng.integers(0, 20))), pa.binary()),
        "hash": array(lambda _: octets(5), pa.binary(5)),
        "ids": array(lambda _: rng.integers(0, 50000, int(rng.integers(0, 20))).tolist(), pa.list_(pa.int32())),
        "tokens": array(lambda _: rng.integers(0, 65536, int(rng.integers(0, 9))).tolist(), pa.list_(pa.uint16())),
        "flags": array(lambda _: (rng.random(int(rng.integers(0, 4))) < 0.5).tolist(), pa.list_(pa.bool_())),
        "image": array(lambda i: {"bytes": octets(7), "path": None if i % 5 == 0 else f"p{i}",
                                  "size": {"w": i, "rois": list(range(i % 4))}}, struct_type),
        "day": array(numbers("day", 0, 20000), pa.date32()),
        "time": array(numbers("time", 0, 2**50), pa.timestamp("us")),
        "lists": pa.array([[[1, 2], [i]] for i in range(ROWS)], pa.list_(pa.list_(pa.int32()))),
        "map": pa.array([[("a", i)] for i in range(ROWS)], pa.map_(pa.string(), pa.int32())),
    })


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def is_number(type_):
    return (pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_)
            or pa.types.is_temporal(type_))


def values(array):
    if pa.types.is_boolean(array.type):
        return np.array(array.to_pylist(), dtype=np.bool_).tobytes()
    if pa.types.is_temporal(array.type):
        array = array.cast(pa.int64() if array.type.bit_width == 64 else pa.int32())
    return array.to_numpy(zero_copy_only=False).tobytes()


def json_column(name, present):
    return columns(name, pa.array([nested_fixtures.text(value) for value in present], pa.string()))


def columns(name, array):
    """What inspect says of a column: a list of its arrays."""
    type_ = array.type
    if pa.types.is_struct(type_):
        return [column for i, child in enumerate(array.flatten())
                for column in columns(f"{name}.{type_.field(i).name}", child)]
    found = []
    if array.null_count:
        valid = np.array(array.is_valid().to_pylist(), dtype=np.bool_)
        found.append({"name": name + ".valid", "shape": [len(array)], "sha256": sha256(valid.tobytes())})
    present = array.drop_null()
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        if not is_number(type_.value_type):
            return found + json_column(name, present)
        lengths = np.array([-1 if v is None else len(v) for v in array.to_pylist()], dtype="<i4")
        items = present.flatten()
        found.append({"name": name + ".lengths", "shape": [len(array)], "sha256": sha256(lengths.tobytes())})
        found.append({"name": name + ".values", "stored_dtype": str(type_.value_type), "shape": [len(items)],
                      "sha256": sha256(values(items))})
    elif is_number(type_):
        found.append({"name": name, "stored_dtype": str(type_), "shape": [len(present)],
                      "sha256": sha256(values(present))})
    elif pa.types.is_map(type_):
        return found + json_column(name, present)
    else:
        text = pa.types.is_string(type_) or pa.types.is_large_string(type_)
        data = [v.encode() if text else v for v in present.to_pylist()]
        digest = hashlib.sha256(b"".join(struct.pack("<II", 0, len(v)) + v for v in data)).hexdigest()
        found.append({"name": name, "strings" if text else "binaries": len(data), "record_digest": digest,
                      "bytes_total": sum(map(len, data))})
    return found


def main(folder):
    os.makedirs(folder, exist_ok=True)
    expected = {}

    def expect(name, data):
        data = data.combine_chunks()
        arrays = [c.chunk(0) if c.num_chunks else pa.array([], c.type) for c in data.columns]
        expected[name] = {"rows": len(data), "columns": [
            column for label, array in zip(data.column_names, arrays) for column in columns(label, array)]}

    def write(name, data, **options):
        pq.write_table(data, os.path.join(folder, name), **options)
        expect(name, data)

    full, some = table(False), table(True)
    small = {"data_page_size": 200, "row_group_size": 70, "write_page_checksum": True}
    for version in ("1.0", "2.0"):
        for compression in ("none", "snappy", "gzip", "zstd", "lz4"):
            write(f"{compression}-v{version[0]}.parquet", some, compression=compression, data_page_version=version, **small)
        plain = {"use_dictionary": False, "data_page_version": version, "data_page_size": 200, "compression": "none"}
        whole = ["i32", "i64", "u16", "u64", "few", "rising", "day", "time", "nothing"]
        texts = ["text", "code", "path", "blob"]
        mixed = some.select(whole + texts + ["hash", "f16", "f32", "f64", "flag", "ids", "flags"])
        write(f"plain-v{version[0]}.parquet", mixed, **plain)
        write(f"delta-v{version[0]}.parquet", mixed, **plain, column_encoding={
            **{c: "DELTA_BINARY_PACKED" for c in whole}, **{c: "DELTA_LENGTH_BYTE_ARRAY" for c in texts},
            **{c: "BYTE_STREAM_SPLIT" for c in ("hash", "f16", "f32", "f64")}, "flag": "RLE",
            "ids.list.element": "DELTA_BINARY_PACKED", "flags.list.element": "RLE"})
        write(f"shared-v{version[0]}.parquet", full.select(texts + ["hash", "i32", "i64"]), **plain, column_encoding={
            **{c: "DELTA_BYTE_ARRAY" for c in texts + ["hash"]}, "i32": "BYTE_STREAM_SPLIT", "i64": "BYTE_STREAM_SPLIT"})
    write("dictionary-overflows.parquet", full, dictionary_pagesize_limit=100, data_page_size=100)
    write("no-arrow-schema.parquet", full.drop_columns(["lists", "map"]), store_schema=False, version="2.4")
    write("empty.parquet", full.slice(0, 0))
    with pq.ParquetWriter(os.path.join(folder, "no-row-group.parquet"), full.schema):
        pass
    expect("no-row-group.parquet", full.slice(0, 0))
    fixed = pa.list_(pa.float32(), 3)
    write("fixed-lists.parquet", pa.table({
        "all": pa.array([[i, i + 0.5, -i] for i in range(ROWS)], fixed),
        "some": pa.array([None if i % 3 == 0 else [i, i + 0.5, -i] for i in range(ROWS)], fixed)}))
    item = pa.field("item", pa.int64(), nullable=False)
    schema = pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("l", pa.list_(item), nullable=False),
                        pa.field("b", pa.binary(), nullable=False)])
    write("required.parquet", pa.table([pa.array(range(ROWS), pa.int32()), pa.array([[i] * (i % 3) for i in range(ROWS)],
          pa.list_(item)), pa.array([b"x%d" % i for i in range(ROWS)])], schema=schema), use_compliant_nested_type=False)
    write("long-values.parquet", pa.table({"text": pa.array(["x" * 30000 + str(i) for i in range(12)] + [None],
                                                            pa.large_string())}), compression="zstd")
    plainer = some.drop_columns(["f16", "hash", "map", "lists"])
    pl.from_arrow(plainer).write_parquet(os.path.join(folder, "polars.parquet"), row_group_size=64, data_page_size=300)
    expect("polars.parquet", pq.read_table(os.path.join(folder, "polars.parquet")))
    connection = duckdb.connect()
    connection.register("data", plainer)
    for version in ("v1", "v2"):
        path = os.path.join(folder, f"duckdb-{version}.parquet")
        connection.execute(f"copy data to '{path}' (format parquet, parquet_version {version})")
        # DuckDB's own reading: pyarrow does not read the second version's empty blocks of differences.
        expect(os.path.basename(path), connection.execute(f"select * from '{path}'").fetch_arrow_table())
    with open(os.path.join(folder, "expected.json"), "w") as out:
        json.dump(expected, out, indent=0)
    with open(os.path.join(folder, "snappy.bin"), "wb") as out:
        for data in (b"", b"a", b"ab" * 500, bytes(100000), octets(70000), octets(10) * 9000,
                     b"".join(struct.pack("<i", int(t)) for t in rng.zipf(1.3, 5000) % 50000),
                     " ".join(word(int(n)) for n in rng.integers(1, 4, 9000)).encode(), octets(65) * 3):
            block = pa.compress(data, codec="snappy", asbytes=True)
            out.write(struct.pack("<II", len(data), len(block)) + hashlib.sha256(data).digest() + block)


if __name__ == "__main__":
    main(sys.argv[1])
